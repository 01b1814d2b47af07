#include "base/stamp.h"

#include "base/hash.h"

#include "base/std.h"
#include <sys/stat.h>

static int64_t mtime_ns(const struct stat *st) {
  return (int64_t)((uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec); /* forged ones wrap */
}

static uint64_t stamp_beside(const char *path) {
  static const char *const suffixes[] = {"-wal", "-journal"};
  uint64_t hash = 0;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char other[PATH_MAX];
    struct stat st;
    if ((size_t)snprintf(other, sizeof other, "%s%s", path, suffixes[i]) < sizeof other && stat(other, &st) == 0 &&
        st.st_size > 0)
      hash = nai_hash_int(nai_hash_int(nai_hash_text(hash, suffixes[i]), st.st_size), mtime_ns(&st));
  }
  return hash;
}

int nai_stamp_of(struct nai_stamp *out, const char *path) {
  struct stat st;
  *out = (struct nai_stamp){0};
  if (stat(path, &st) != 0)
    return errno;
  *out = (struct nai_stamp){.bytes = st.st_size, .mtime_ns = mtime_ns(&st), .beside = stamp_beside(path)};
  return 0;
}

bool nai_stamp_equal(const struct nai_stamp *a, const struct nai_stamp *b) {
  return a->bytes == b->bytes && a->mtime_ns == b->mtime_ns && a->beside == b->beside;
}
