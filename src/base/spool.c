#include "base/spool.h"

#include "base/fs.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PENDING_BYTES = 128 * 1024, WORD = 8 };

static int open_file(struct nai_spool *s, const char *directory, struct nai_err *err) {
  if (s->fd)
    return NAI_OK;
  int fd = nai_fs_unnamed(directory);
  if (fd < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot create a scratch file in \"%s\"", directory);
  s->fd = fd + 1;
  s->directory = directory;
  return NAI_OK;
}

/* Writes what is pending; `behind` more bytes are to be there that do not count. */
static int flush(struct nai_spool *s, size_t behind, struct nai_err *err) {
  int failed = nai_fs_write_at(s->fd - 1, s->pending.data, s->pending.len, s->bytes + behind - s->pending.len);
  nai_buf_clear(&s->pending);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write a scratch file in \"%s\"", s->directory) : NAI_OK;
}

int nai_spool_put(struct nai_spool *s, const void *data, size_t bytes, const char *directory, struct nai_err *err) {
  nai_buf_put(&s->pending, data, bytes);
  s->bytes += bytes;
  NAI_TRY(nai_buf_check(&s->pending, err));
  if (s->pending.len < PENDING_BYTES)
    return NAI_OK;
  NAI_TRY(open_file(s, directory, err));
  return flush(s, 0, err);
}

int nai_spool_read(struct nai_spool *s, struct nai_err *err) {
  static const char word[WORD];
  nai_buf_put(&s->pending, word, sizeof word);
  NAI_TRY(nai_buf_check(&s->pending, err));
  if (!s->fd) {
    s->data = (const unsigned char *)s->pending.data;
    return NAI_OK;
  }
  NAI_TRY(flush(s, sizeof word, err));
  void *data = mmap(NULL, s->bytes + WORD, PROT_READ, MAP_SHARED, s->fd - 1, 0);
  int failed = data == MAP_FAILED ? errno : 0;
  close(s->fd - 1); /* the mapping keeps the file; there may be more spools than files a process may have open */
  s->fd = 0;
  nai_buf_free(&s->pending);
  if (failed)
    return nai_err_sys(err, NAI_EIO, failed, "cannot map a scratch file in \"%s\"", s->directory);
  s->data = data;
  return NAI_OK;
}

void nai_spool_free(struct nai_spool *s) {
  if (s->data && !s->pending.data)
    munmap((void *)s->data, s->bytes + WORD);
  if (s->fd)
    close(s->fd - 1);
  nai_buf_free(&s->pending);
  *s = (struct nai_spool){0};
}
