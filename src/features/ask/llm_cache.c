/* Texts of models, kept: the same request is paid for once. A failure here is none of the answer. */
#include "features/ask/internal.h"

#include "base/cache.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/temporary.h"

#include <sys/stat.h>

enum { MAX_BYTES = 1 << 16 };

bool nai_llm_cache_path(char out[NAI_LLM_PATH], const char *url, const char *body) {
  char place[PATH_MAX];
  uint64_t first = nai_hash_text(nai_hash_text(1, url), body), second = nai_hash_text(nai_hash_text(2, url), body);
  if (!nai_cache_place(place, "llm"))
    return false;
  int len = snprintf(out, NAI_LLM_PATH, "%s/%016" PRIx64 "%016" PRIx64, place, first, second);
  return len > 0 && len < NAI_LLM_PATH;
}

bool nai_llm_cache_read(struct nai_buf *text, const char *path) {
  struct nai_err ignored;
  if (nai_fs_read(text, path, MAX_BYTES, NAI_EIO, &ignored) == NAI_OK && text->len)
    return true;
  nai_buf_clear(text); /* of what could be read */
  return false;
}

void nai_llm_cache_write(const char *path, const struct nai_buf *text) {
  char directory[NAI_LLM_PATH];
  struct nai_temporary aside;
  struct nai_err ignored;
  snprintf(directory, sizeof directory, "%s", path);
  *strrchr(directory, '/') = '\0';
  if (nai_fs_mkdir_all(directory, &ignored) || chmod(directory, 0700) || nai_temporary_file(&aside, path, &ignored))
    return;
  if (fchmod(aside.fd, 0600) || nai_fs_write_all(aside.fd, nai_buf_str(text), text->len) ||
      nai_temporary_become(&aside, path))
    nai_temporary_remove(&aside);
}
