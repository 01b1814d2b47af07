/* Taking runs out of a store, which were put into it by mistake. What others refer to stays. */
#include "features/nights/store_internal.h"

#include "base/fs.h"
#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- what refers to it ------------------------------------------------------------------------ */

static int check_baseline(void *id, const char *name, const struct nai_store_baseline *baseline, struct nai_err *err) {
  if (nai_strings_find(&baseline->ids, id, strlen(id)) == NAI_NO_STRING)
    return NAI_OK;
  return nai_err_set(err, NAI_EUSAGE, "the baseline \"%.100s\" names the run \"%.100s\": set it to other runs first",
                     name, (const char *)id);
}

/* --- what lies there -------------------------------------------------------------------------- */

static int too_long(struct nai_err *err) { return nai_err_set(err, NAI_EUSAGE, "the name of the store is too long"); }

/* Adds "captures/N/FILE" for each file that the store has put there. */
static int list_capture(struct nai_strings *ours, const struct nai_store *store, const struct nai_store_run *run,
                        int capture, struct nai_err *err) {
  char path[PATH_MAX];
  struct nai_run *opened = NULL;
  if (!nai_store_directory(path, sizeof path, store, run, capture))
    return too_long(err);
  int rc = nai_run_open(&opened, path, err);
  if (rc)
    return nai_err_wrap(err, rc, "it cannot be told what lies in \"%s\"; remove that directory yourself", path);
  const struct nai_strings *files = &nai_run_manifest(opened)->files;
  for (uint32_t i = 0; i <= files->count && !rc; i++) {
    int n = snprintf(path, sizeof path, "captures/%d/%s", capture,
                     i < files->count ? nai_strings_get(files, i) : NAI_MANIFEST_PATH);
    if (n < 0 || (size_t)n >= sizeof path || nai_strings_add(ours, path, (size_t)n) == NAI_NO_STRING)
      rc = nai_err_nomem(err);
  }
  nai_run_close(opened);
  return rc;
}

/* Below the run's directory `root`, in `inner` ("" for itself), everything is a directory or one of `ours`. */
static int check_ours(const char *root, const char *inner, const struct nai_strings *ours, int depth,
                      struct nai_err *err) {
  char path[PATH_MAX], name[PATH_MAX];
  struct stat st;
  int rc = NAI_OK;
  if (!nai_fs_join(path, sizeof path, root, inner))
    return too_long(err);
  DIR *directory = opendir(path);
  if (!directory)
    return nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", path);
  for (const struct dirent *e; !rc && (e = readdir(directory));) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
      continue;
    int n = snprintf(name, sizeof name, "%s%s%s", inner, *inner ? "/" : "", e->d_name);
    if (n < 0 || (size_t)n >= sizeof name || !nai_fs_join(path, sizeof path, root, name))
      rc = too_long(err);
    else if (lstat(path, &st) != 0)
      rc = nai_err_sys(err, NAI_EIO, errno, "cannot examine \"%s\"", path);
    else if (S_ISDIR(st.st_mode) && depth)
      rc = check_ours(root, name, ours, depth - 1, err);
    else if (!S_ISREG(st.st_mode) || nai_strings_find(ours, name, (size_t)n) == NAI_NO_STRING)
      rc = nai_err_set(err, NAI_EUSAGE, "\"%s\" is not the store's: move it away first", path);
  }
  closedir(directory);
  return rc;
}

static int check(const struct nai_store *store, const char *id, struct nai_err *err) {
  enum { DEPTH = 4 }; /* captures, N, stages */
  const struct nai_store_run *run = nai_store_find(store, id);
  struct nai_strings ours = {0};
  char path[PATH_MAX];
  if (!run)
    return nai_err_set(err, NAI_EUSAGE, "the store has no run \"%.100s\"", id);
  if (run->expected)
    return nai_err_set(err, NAI_EUSAGE,
                       "the history of later runs begins with the run \"%.100s\" (%s): take its line out of "
                       "annotations.csv first",
                       id, run->note);
  int rc = nai_store_each_baseline(store, check_baseline, run->id, err);
  if (!rc && (nai_strings_add(&ours, "run.json", strlen("run.json")) == NAI_NO_STRING ||
              nai_strings_add(&ours, NAI_TEMPORARY_MARK, strlen(NAI_TEMPORARY_MARK)) == NAI_NO_STRING))
    rc = nai_err_nomem(err);
  for (int i = 0; i < run->captures && !rc; i++)
    rc = list_capture(&ours, store, run, i, err);
  if (!rc)
    rc = nai_store_directory(path, sizeof path, store, run, -1) ? check_ours(path, "", &ours, DEPTH, err)
                                                                : too_long(err);
  nai_strings_free(&ours);
  return rc;
}

/* --- removing --------------------------------------------------------------------------------- */

/* Under a hidden name first, so that the run is there whole or not at all; what a killed process leaves is swept. */
static int remove_run(const struct nai_store *store, const struct nai_store_run *run, struct nai_err *err) {
  char path[PATH_MAX], inside[PATH_MAX];
  struct nai_temporary aside = {0};
  if (!nai_store_directory(path, sizeof path, store, run, -1))
    return too_long(err);
  int rc = nai_temporary_beside(&aside, path, err);
  if (!rc && (!nai_fs_join(inside, sizeof inside, aside.path, "run") || rename(path, inside) != 0))
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot remove \"%s\"", path);
  if (!nai_temporary_remove(&aside) && !rc)
    rc = nai_err_set(err, NAI_EIO, "cannot remove all of \"%s\"; the next command tries again", path);
  return rc;
}

int nai_store_remove(struct nai_store *store, const char *const *ids, size_t count, struct nai_err *err) {
  int rc = NAI_OK;
  for (size_t i = 0; i < count && !rc; i++)
    rc = check(store, ids[i], err);
  for (size_t i = 0; i < count && !rc; i++) {
    const struct nai_store_run *run = nai_store_find(store, ids[i]);
    char path[PATH_MAX];
    if (nai_store_directory(path, sizeof path, store, run, -1) && nai_fs_is_dir(path)) /* or named twice */
      rc = remove_run(store, run, err);
  }
  return rc ? rc : nai_store_reopen(store, err);
}
