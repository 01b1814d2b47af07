#include "base/spill_array.h"

#include "base/fs.h"
#include "base/threads.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 1 << 20, MIN_FILE_BYTES = 1 << 19, MOST_KEPT_BYTES = 1 << 28 };

/* Directly before the memory itself: how to free it. As long as malloc aligns. */
struct header {
  size_t mapped_bytes; /* 0: from malloc, where the header begins; else the memory begins a page into a mapping */
  union {
    uintptr_t forks;     /* of a mapping in use: kept.forks when it was made */
    struct header *next; /* of a kept one */
  };
};

/* Freed mappings that are used again: to touch a new page takes five times as long as to clear an old one. Not those
 * that were there at a fork(): parent and child have the same pages, and either may still read what the other frees. */
static struct {
  pthread_mutex_t mutex;
  bool forks_are_seen;
  uintptr_t forks; /* so many */
  size_t bytes;
  struct header *first;
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void) { pthread_mutex_lock(&kept.mutex); }

static void in_parent(void) {
  kept.forks++;
  pthread_mutex_unlock(&kept.mutex);
}

static void in_child(void) {
  kept.first = NULL;
  kept.bytes = 0;
  in_parent();
}

static void watch_forks(void) { kept.forks_are_seen = pthread_atfork(before_fork, in_parent, in_child) == 0; }

static struct header *header_of(void *memory) { return (struct header *)memory - 1; }

/* The smallest kept mapping of at least `total` and less than twice as many bytes, or NULL. */
static void *use_again(size_t total) {
  NAI_LOCKED(&kept.mutex);
  struct header **best = NULL;
  for (struct header **at = &kept.first; *at; at = &(*at)->next)
    if ((*at)->mapped_bytes >= total && (*at)->mapped_bytes / 2 < total &&
        (!best || (*at)->mapped_bytes < (*best)->mapped_bytes))
      best = at;
  if (!best)
    return NULL;
  struct header *found = *best;
  *best = found->next;
  kept.bytes -= found->mapped_bytes;
  found->forks = kept.forks;
  return found + 1;
}

static bool keep(struct header *header) {
  NAI_LOCKED(&kept.mutex);
  if (!kept.forks_are_seen || header->forks != kept.forks || header->mapped_bytes > MOST_KEPT_BYTES - kept.bytes)
    return false;
  header->next = kept.first;
  kept.first = header;
  kept.bytes += header->mapped_bytes;
  return true;
}

/* 0 or errno. *cleared: it is zeroed. */
static int map_file(void **out, bool *cleared, const char *directory, size_t bytes) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  size_t total = bytes + PAGE;
  (void)pthread_once(&once, watch_forks);
  *out = use_again(total);
  *cleared = !*out;
  if (*out)
    return 0;
  NAI_CLOSED int fd = nai_fs_unnamed(directory);
  if (fd < 0)
    return errno;
  NAI_TRY(nai_fs_reserve(fd, total));
  char *mapping = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED)
    return errno;
  (void)madvise(mapping, total, MADV_HUGEPAGE); /* page by page, to touch it takes up to four times as long */
  *out = mapping + PAGE;
  NAI_LOCKED(&kept.mutex);
  *header_of(*out) = (struct header){.mapped_bytes = total, .forks = kept.forks};
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
  bool cleared;
  int failed = map_file(out, &cleared, directory, bytes);
  if (failed)
    return nai_err_sys(err, NAI_EIO, failed, "cannot reserve %zu bytes in \"%s\"", bytes, directory);
  if (!cleared)
    memset((char *)*out + unset, 0, bytes - unset);
  return NAI_OK;
}

void *nai_spill_array_grow(void *memory, const char *directory, size_t old_bytes, size_t bytes) {
  size_t mapped_bytes = memory ? header_of(memory)->mapped_bytes : 0;
  bool cleared;
  void *fresh = NULL;
  if (mapped_bytes / 2 <= bytes && mapped_bytes >= bytes + PAGE)
    return memory;
  if (!directory || bytes < MIN_FILE_BYTES || map_file(&fresh, &cleared, directory, bytes) != 0) {
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
  else if (!keep(header))
    munmap((char *)memory - PAGE, header->mapped_bytes);
}
