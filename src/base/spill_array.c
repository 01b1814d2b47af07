#include "base/spill_array.h"

#include "base/fs.h"
#include "base/threads.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MIN_FILE_BYTES = 1 << 19, MOST_KEPT_BYTES = 1 << 28 };

/* Directly before the memory itself: how to free it. As long as malloc aligns. */
struct header {
  size_t mapped_bytes; /* 0: from malloc, where the header begins; else the memory begins a page into a mapping */
  struct header *next; /* of the kept ones */
};

/* Freed mappings that are used again: to touch a new page takes five times as long as to clear an old one. */
static struct {
  pthread_mutex_t mutex;
  pid_t process; /* a child shares the pages of its parent, which uses them on */
  size_t bytes;
  struct header *first;
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct header *header_of(void *memory) { return (struct header *)memory - 1; }

/* The smallest kept mapping of at least `total` and less than twice as many bytes, or NULL. */
static void *use_again(size_t total) {
  NAI_LOCKED(&kept.mutex);
  struct header **best = NULL;
  for (struct header **at = kept.process == getpid() ? &kept.first : NULL; at && *at; at = &(*at)->next)
    if ((*at)->mapped_bytes >= total && (*at)->mapped_bytes / 2 < total &&
        (!best || (*at)->mapped_bytes < (*best)->mapped_bytes))
      best = at;
  if (!best)
    return NULL;
  struct header *found = *best;
  *best = found->next;
  kept.bytes -= found->mapped_bytes;
  return found + 1;
}

static bool keep(struct header *header) {
  NAI_LOCKED(&kept.mutex);
  if (kept.process != getpid()) {
    kept.process = getpid();
    kept.first = NULL;
    kept.bytes = 0;
  }
  if (header->mapped_bytes > MOST_KEPT_BYTES - kept.bytes)
    return false;
  header->next = kept.first;
  kept.first = header;
  kept.bytes += header->mapped_bytes;
  return true;
}

/* 0 or errno. *cleared: it is zeroed. */
static int map_file(void **out, bool *cleared, const char *directory, size_t bytes) {
  size_t total = bytes + PAGE;
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
  bool cleared;
  int failed = map_file(out, &cleared, directory, bytes);
  if (failed)
    return nai_err_sys(err, NAI_EIO, failed, "cannot reserve %zu bytes in \"%s\"", bytes, directory);
  if (!cleared)
    memset(*out, 0, bytes);
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
