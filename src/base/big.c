#include "base/big.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER = 4096, MIN_FILE_BYTES = 4 << 20 };

/* Before the memory itself: how to free it. */
struct header {
  size_t mapped_bytes; /* 0: from calloc */
};

int nai_big_new(void **out, const char *directory, size_t bytes, struct nai_err *err) {
  size_t total = bytes + HEADER;
  struct header *header = NULL;
  if (!directory || bytes < MIN_FILE_BYTES) {
    header = calloc(1, total);
    *out = header ? (char *)header + HEADER : NULL;
    return header ? NAI_OK : nai_err_nomem(err);
  }
  int fd = nai_fs_unnamed(directory), failed = fd < 0 ? errno : 0;
  if (!failed)
    failed = posix_fallocate(fd, 0, (off_t)total);
  if (!failed) {
    header = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (header == MAP_FAILED)
      failed = errno;
  }
  if (fd >= 0)
    close(fd);
  *out = NULL;
  if (failed)
    return nai_err_sys(err, NAI_EIO, failed, "cannot reserve %zu bytes in \"%s\"", total, directory);
  header->mapped_bytes = total;
  *out = (char *)header + HEADER;
  return NAI_OK;
}

void nai_big_free(void *memory) {
  if (!memory)
    return;
  struct header *header = (void *)((char *)memory - HEADER);
  if (header->mapped_bytes)
    munmap(header, header->mapped_bytes);
  else
    free(header);
}
