#include "base/spill_array.h"

#include "base/fs.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 1 << 20, MIN_FILE_BYTES = 1 << 19 };

/* Directly before the memory itself: how to free it. As long as malloc aligns. */
struct header {
  _Alignas(16) size_t mapped_bytes; /* 0: from malloc, where the header begins; else the memory begins a page into a
                                       mapping */
};

static struct header *header_of(void *memory) { return (struct header *)memory - 1; }

/* 0 or errno. Mappings that are freed are not kept: the kernel makes new ones of the same pages, of whatever size. */
static int map_file(void **out, const char *directory, size_t bytes) {
  size_t total = bytes + PAGE;
  NAI_CLOSED int fd = nai_fs_unnamed(directory);
  if (fd < 0)
    return errno;
  NAI_TRY(nai_fs_reserve(fd, total));
  char *mapping = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED)
    return errno;
  (void)madvise(mapping, total, MADV_HUGEPAGE); /* page by page, to touch it takes up to four times as long */
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

/* In large pages: to touch 512 small ones takes three times as long. Neighbors are merged only if asked for whole. */
static struct header *new_plain(size_t bytes, size_t unset) {
  struct header *header = unset ? malloc(sizeof *header + bytes) : calloc(1, sizeof *header + bytes);
  if (header && bytes >= LARGE)
    (void)madvise((char *)header - (uintptr_t)header % PAGE, bytes, MADV_HUGEPAGE);
  if (header && unset) {
    header->mapped_bytes = 0;
    memset((char *)(header + 1) + unset, 0, bytes - unset);
  }
  return header;
}

int nai_spill_array_new(void **out, const char *directory, size_t bytes, size_t unset, struct nai_err *err) {
  *out = NULL;
  if (!directory || bytes < MIN_FILE_BYTES) {
    struct header *header = new_plain(bytes, unset);
    *out = header ? header + 1 : NULL;
    return header ? NAI_OK : nai_err_nomem(err);
  }
  int failed = map_file(out, directory, bytes);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot reserve %zu bytes in \"%s\"", bytes, directory) : NAI_OK;
}

void *nai_spill_array_grow(void *memory, const char *directory, size_t old_bytes, size_t bytes) {
  size_t mapped_bytes = memory ? header_of(memory)->mapped_bytes : 0;
  void *fresh = NULL;
  if (mapped_bytes / 2 <= bytes && mapped_bytes >= bytes + PAGE)
    return memory;
  if (!directory || bytes < MIN_FILE_BYTES || map_file(&fresh, directory, bytes) != 0) {
    if (!mapped_bytes)
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
  if (!header->mapped_bytes)
    free(header);
  else
    munmap((char *)memory - PAGE, header->mapped_bytes);
}
