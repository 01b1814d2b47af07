/* From a baseline selector to runs. */
#include "features/compare/command.h"

#include "base/fs.h"
#include "rundir/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(struct nai_strings *paths, const char *path, struct nai_err *err) {
  return nai_strings_add(paths, path, strlen(path)) == NAI_NO_STRING ? nai_err_nomem(err) : NAI_OK;
}

static bool is_run(const char *directory) {
  char path[PATH_MAX];
  return (size_t)snprintf(path, sizeof path, "%s/" NAI_MANIFEST_PATH, directory) < sizeof path && nai_fs_exists(path);
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* In the order of bytes, whatever the locale. */
static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* The run directories in a directory. */
static int add_runs_in(struct nai_strings *paths, const char *directory, struct nai_err *err) {
  struct dirent **entries = NULL;
  uint32_t before = paths->count;
  int n = scandir(directory, &entries, visible, by_name), rc = NAI_OK;
  if (n < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot read the baseline \"%s\"", directory);
  for (int i = 0; i < n; i++) {
    char path[PATH_MAX];
    if (!rc && (size_t)snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name) < sizeof path &&
        is_run(path))
      rc = add(paths, path, err);
    free(entries[i]);
  }
  free(entries);
  if (!rc && paths->count == before)
    rc = nai_err_set(err, NAI_EINPUT, "the baseline \"%s\" is no run and holds none", directory);
  return rc;
}

int nai_cmd_baseline(struct nai_strings *paths, const char *selector, struct nai_err *err) {
  if (nai_fs_is_dir(selector) && !is_run(selector))
    return add_runs_in(paths, selector, err);
  if (nai_fs_exists(selector))
    return add(paths, selector, err);
  return nai_err_set(
      err, NAI_EINPUT,
      "there is no baseline \"%s\": give a run, a trace, or a directory of runs; last-good, median:N, run:ID "
      "and names need --store",
      selector);
}
