#include "base/spill_array.h"

#include "base/fs.h"

#include <sys/mman.h>

enum { PAGE = 4096, MIN_FILE_BYTES = 1 << 19 };

/* Directly before the memory itself: how to free it. As long as malloc aligns. */
struct header {
  size_t mapped_bytes; /* 0: from malloc, where the header begins; else the memory begins a page into a mapping */
  size_t unused;
};

static struct header *header_of(void *memory) { return (struct header *)memory - 1; }

/* 0 or errno. */
static int map_file(void **out, const char *directory, size_t bytes) {
  size_t total = bytes + PAGE;
  NAI_CLOSED int fd = nai_fs_unnamed(directory);
  if (fd < 0)
    return errno;
  NAI_TRY(nai_fs_reserve(fd, total));
  char *mapping = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED)
    return errno;
  *out = mapping + PAGE;
  header_of(*out)->mapped_bytes = total;
  return 0;
}

/* Plain memory in place of plain memory or of nothing. */
static void *resize_plain(void *memory, size_t bytes) {
  struct header *header = realloc(memory ? header_of(memory) : NULL, sizeof *header + bytes);
  if (!header)
    return NULL;
  header->mapped_bytes = 0;
  return header + 1;
}

int nai_spill_array_new(void **out, const char *directory, size_t bytes, struct nai_err *err) {
  *out = NULL;
  if (!directory || bytes < MIN_FILE_BYTES) {
    struct header *header = calloc(1, sizeof *header + bytes);
    *out = header ? header + 1 : NULL;
    return header ? NAI_OK : nai_err_nomem(err);
  }
  int failed = map_file(out, directory, bytes);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot reserve %zu bytes in \"%s\"", bytes, directory) : NAI_OK;
}

void *nai_spill_array_grow(void *memory, const char *directory, size_t old_bytes, size_t bytes) {
  bool mapped = memory && header_of(memory)->mapped_bytes;
  void *fresh = NULL;
  if (!directory || bytes < MIN_FILE_BYTES || map_file(&fresh, directory, bytes) != 0) {
    if (!mapped)
      return resize_plain(memory, bytes);
    fresh = resize_plain(NULL, bytes);
  }
  if (!fresh)
    return NULL;
  if (memory)
    memcpy(fresh, memory, old_bytes < bytes ? old_bytes : bytes);
  nai_spill_array_free(memory);
  return fresh;
}

void nai_spill_array_free(void *memory) {
  if (!memory)
    return;
  struct header *header = header_of(memory);
  if (header->mapped_bytes)
    munmap((char *)memory - PAGE, header->mapped_bytes);
  else
    free(header);
}
