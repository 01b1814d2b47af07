/* Keeps what the server has stored within bounds: what was not asked for for longest goes first. */
#include "features/mcp/internal.h"

#include "base/array.h"
#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { IN_USE_S = 600 };

struct kept {
  char path[PATH_MAX];
  int64_t used_s, bytes;
};

static int64_t size_of(char *path) {
  char *const paths[] = {path, NULL};
  int64_t bytes = 0;
  FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  for (FTSENT *entry; tree && (entry = fts_read(tree));)
    if (entry->fts_info == FTS_F)
      bytes += entry->fts_statp->st_size;
  if (tree)
    fts_close(tree);
  return bytes;
}

static int by_use(const void *a, const void *b) {
  const struct kept *x = a, *y = b;
  return x->used_s < y->used_s ? -1 : x->used_s > y->used_s;
}

/* Names of the server's own making only: the directory may be the user's, with other things in it. */
static bool is_ours(const char *name) {
  return strchr("rce", name[0]) && name[0] && name[1] == '-' && strlen(name) == 18 &&
         strspn(name + 2, "0123456789abcdef") == 16;
}

static uint32_t list_kept(struct kept **list, const struct nai_agent *agent) {
  uint32_t count = 0, capacity = 0;
  DIR *directory = opendir(agent->cache);
  struct dirent *entry;
  struct stat st;
  while (directory && (entry = readdir(directory))) {
    if (!is_ours(entry->d_name) || !nai_array_room(list, &capacity, count, sizeof **list))
      continue;
    struct kept *kept = &(*list)[count];
    snprintf(kept->path, sizeof kept->path, "%s/%.18s", agent->cache, entry->d_name);
    if (lstat(kept->path, &st) || !S_ISDIR(st.st_mode))
      continue;
    kept->used_s = st.st_mtim.tv_sec;
    kept->bytes = size_of(kept->path);
    count++;
  }
  if (directory)
    closedir(directory);
  return count;
}

void nai_agent_sweep(const struct nai_agent *agent) {
  NAI_FREED struct kept *list = NULL;
  struct nai_err ignored;
  int64_t bytes = 0, now = time(NULL);
  uint32_t count = list_kept(&list, agent);
  for (uint32_t i = 0; i < count; i++)
    bytes += list[i].bytes;
  if (count)
    qsort(list, count, sizeof *list, by_use);
  for (uint32_t i = 0; i < count && bytes > agent->cache_bytes && now - list[i].used_s > IN_USE_S; i++)
    if (nai_fs_remove_tree(list[i].path, &ignored) == NAI_OK)
      bytes -= list[i].bytes;
}

void nai_agent_touch(const char *path) { utimensat(AT_FDCWD, path, NULL, 0); }
