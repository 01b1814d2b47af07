#include "base/cache.h"

#include "base/array.h"
#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { IN_USE_S = 600, MAX_DEPTH = 8 };

struct kept {
  char path[PATH_MAX];
  int64_t used_s, bytes;
};

bool nai_cache_place(char out[PATH_MAX], const char *name) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  bool own = base && *base == '/';
  if (!own && (!home || *home != '/'))
    return false;
  return snprintf(out, PATH_MAX, "%s%s/nsys-ai/%s", own ? base : home, own ? "" : "/.cache", name) < PATH_MAX;
}

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/* Of the files below a directory, as deep as this program makes any. */
static int64_t size_of(int place, const char *name, int depth) {
  int64_t bytes = 0;
  struct stat st;
  NAI_CLOSED_DIR DIR *directory = nai_fs_entries(place, name);
  for (const struct dirent *entry; directory && (entry = readdir(directory));) {
    if (is_dots(entry->d_name) || fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
      continue;
    if (S_ISREG(st.st_mode))
      bytes += st.st_size;
    else if (S_ISDIR(st.st_mode) && depth)
      bytes += size_of(dirfd(directory), entry->d_name, depth - 1);
  }
  return bytes;
}

static int by_use(const void *a, const void *b) {
  const struct kept *x = a, *y = b;
  return x->used_s < y->used_s ? -1 : x->used_s > y->used_s;
}

static uint32_t list_kept(struct kept **list, const char *place, bool (*is_own)(const char *name)) {
  uint32_t count = 0, capacity = 0;
  struct stat st;
  NAI_CLOSED_DIR DIR *directory = opendir(place);
  for (const struct dirent *entry; directory && (entry = readdir(directory));) {
    if (!is_own(entry->d_name) || !nai_array_room(list, &capacity, count, sizeof **list))
      continue;
    struct kept *kept = &(*list)[count];
    if (!nai_fs_join(kept->path, sizeof kept->path, place, entry->d_name) || lstat(kept->path, &st) ||
        !S_ISDIR(st.st_mode))
      continue;
    kept->used_s = st.st_mtim.tv_sec;
    kept->bytes = size_of(AT_FDCWD, kept->path, MAX_DEPTH);
    count++;
  }
  return count;
}

void nai_cache_sweep(const char *place, bool (*is_own)(const char *name), int64_t max_bytes) {
  NAI_FREED struct kept *list = NULL;
  struct nai_err ignored;
  int64_t bytes = 0, now = time(NULL);
  uint32_t count = list_kept(&list, place, is_own);
  for (uint32_t i = 0; i < count; i++)
    bytes += list[i].bytes;
  if (count)
    qsort(list, count, sizeof *list, by_use);
  for (uint32_t i = 0; i < count && bytes > max_bytes && now - list[i].used_s > IN_USE_S; i++)
    if (nai_fs_remove_tree(list[i].path, &ignored) == NAI_OK)
      bytes -= list[i].bytes;
}

void nai_cache_touch(const char *path) { utimensat(AT_FDCWD, path, NULL, 0); }
