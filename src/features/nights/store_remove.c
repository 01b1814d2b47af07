/* Taking runs out of a store, which were put into it by mistake. What others refer to stays. */
#include "base/fs.h"
#include "base/temporary.h"
#include "features/nights/store_internal.h"
#include "rundir/outdir.h"

#include <dirent.h>
#include <sys/stat.h>

/* --- what refers to it ------------------------------------------------------------------------ */

static int check_baseline(void *id, const char *name, const struct nai_store_baseline *baseline, struct nai_err *err) {
  if (nai_strings_find(&baseline->ids, id, strlen(id)) == NAI_NO_STRING)
    return NAI_OK;
  return nai_err_set(err, NAI_EUSAGE, "the baseline \"%.100s\" names the run \"%.100s\": set it to other runs first",
                     name, (const char *)id);
}

/* --- what lies there -------------------------------------------------------------------------- */

/* Adds "captures/N/FILE" for each file that the store has put there. */
static int list_capture(struct nai_strings *ours, const struct nai_store *store, const struct nai_store_run *run,
                        int capture, struct nai_err *err) {
  NAI_OWNED(nai_run) *opened = NULL;
  char path[PATH_MAX];
  struct stat st = {0};
  NAI_TRY(nai_store_directory(path, store, run, capture, err));
  if (lstat(path, &st) != 0 && !nai_fs_is_absent(errno))
    return nai_err_sys(err, NAI_EIO, errno, "cannot examine \"%s\"", path);
  if (S_ISREG(st.st_mode)) {
    snprintf(path, sizeof path, "captures/%d", capture);
    return nai_strings_put(NULL, ours, path, err);
  }
  int rc = nai_run_open(&opened, path, err);
  if (rc)
    return nai_err_wrap(err, rc, "it cannot be told what lies in \"%s\"; remove that directory yourself", path);
  const struct nai_strings *files = &nai_run_manifest(opened)->files;
  for (uint32_t i = 0; i <= files->count; i++) {
    const char *file = i < files->count ? nai_strings_get(files, i) : NAI_MANIFEST_PATH;
    if (i < files->count && nai_outdir_is_of_run(file) == 0) /* a forged list makes nobody's files the store's */
      continue;
    if ((size_t)snprintf(path, sizeof path, "captures/%d/%s", capture, file) >= sizeof path)
      return nai_err_nomem(err);
    NAI_TRY(nai_strings_put(NULL, ours, path, err));
  }
  return NAI_OK;
}

static int check_ours(const char *root, const char *inner, const struct nai_strings *ours, int depth,
                      struct nai_err *err);

/* An entry of the directory `inner` below `root`. */
static int check_entry(const char *root, const char *inner, const char *entry, const struct nai_strings *ours,
                       int depth, struct nai_err *err) {
  char path[PATH_MAX], name[PATH_MAX];
  struct stat st;
  if (strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0)
    return NAI_OK;
  if (*inner)
    NAI_TRY(nai_store_join(name, inner, entry, err));
  else
    snprintf(name, sizeof name, "%s", entry);
  NAI_TRY(nai_store_join(path, root, name, err));
  if (lstat(path, &st) != 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot examine \"%s\"", path);
  if (S_ISDIR(st.st_mode) && depth)
    return check_ours(root, name, ours, depth - 1, err);
  return S_ISREG(st.st_mode) && nai_strings_find(ours, name, strlen(name)) != NAI_NO_STRING
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE, "\"%s\" is not the store's: move it away first", path);
}

/* Below the run's directory `root`, in `inner` ("" for itself), everything is a directory or one of `ours`. */
static int check_ours(const char *root, const char *inner, const struct nai_strings *ours, int depth,
                      struct nai_err *err) {
  char path[PATH_MAX];
  int rc = NAI_OK;
  NAI_TRY(nai_store_join(path, root, inner, err));
  DIR *directory = opendir(path);
  if (!directory)
    return nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", path);
  for (const struct dirent *e; !rc && (e = readdir(directory));)
    rc = check_entry(root, inner, e->d_name, ours, depth, err);
  closedir(directory);
  return rc;
}

/* Of a run whose record cannot be read nobody knows how many there were. */
static int list_captures(struct nai_strings *ours, const struct nai_store *store, const struct nai_store_run *run,
                         struct nai_err *err) {
  char path[PATH_MAX];
  for (int i = 0; i < (run->damaged ? NAI_STORE_MAX_CAPTURES : run->captures); i++) {
    snprintf(path, sizeof path, NAI_STORE_REPORTS "/%d.html", i);
    NAI_TRY(nai_strings_put(NULL, ours, path, err));
    NAI_TRY(nai_store_directory(path, store, run, i, err));
    if (!(run->damaged || run->thinned) || nai_fs_exists(path))
      NAI_TRY(list_capture(ours, store, run, i, err));
  }
  return NAI_OK;
}

int nai_store_check_ours(const struct nai_store *store, const struct nai_store_run *run, struct nai_err *err) {
  enum { DEPTH = 4 }; /* captures, N, stages */
  NAI_SCOPED(nai_strings) ours = {0};
  char path[PATH_MAX];
  NAI_TRY(nai_strings_put(NULL, &ours, "run.json", err));
  NAI_TRY(nai_strings_put(NULL, &ours, NAI_STORE_SUMMARY, err));
  NAI_TRY(nai_strings_put(NULL, &ours, NAI_TEMPORARY_MARK, err));
  NAI_TRY(list_captures(&ours, store, run, err));
  NAI_TRY(nai_store_directory(path, store, run, -1, err));
  return check_ours(path, "", &ours, DEPTH, err);
}

static int check(const struct nai_store *store, const char *id, struct nai_err *err) {
  const struct nai_store_run *run = nai_store_find(store, id);
  if (!run)
    return nai_err_set(err, NAI_EUSAGE, "the store has no run \"%.100s\"", id);
  if (run->expected)
    return nai_err_set(err, NAI_EUSAGE,
                       "the history of later runs begins with the run \"%.100s\" (%s): take its line out of "
                       "annotations.csv first",
                       id, run->note);
  NAI_TRY(nai_store_each_baseline(store, check_baseline, (char *)run->id, err));
  return nai_store_check_ours(store, run, err);
}

/* --- removing --------------------------------------------------------------------------------- */

/* Under a hidden name first, so that the run is there whole or not at all; what a killed process leaves is swept. */
int nai_store_remove_tree(const char *path, struct nai_err *err) {
  char inside[PATH_MAX];
  struct nai_temporary aside = {0};
  NAI_TRY(nai_temporary_beside(&aside, path, err));
  int rc = NAI_OK;
  if (!nai_fs_join(inside, sizeof inside, aside.path, "run") || rename(path, inside) != 0)
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot remove \"%s\"", path);
  if (!nai_temporary_remove(&aside) && !rc)
    rc = nai_err_set(err, NAI_EIO, "cannot remove all of \"%s\"; the next command tries again", path);
  return rc;
}

int nai_store_remove(struct nai_store *store, const char *const *ids, size_t count, struct nai_err *err) {
  char path[PATH_MAX];
  for (size_t i = 0; i < count; i++)
    NAI_TRY(check(store, ids[i], err));
  for (size_t i = 0; i < count; i++) {
    const struct nai_store_run *run = nai_store_find(store, ids[i]);
    nai_store_sweep_run(store, run);
    if (nai_store_directory(path, store, run, -1, NULL) == NAI_OK && nai_fs_is_dir(path)) /* or named twice */
      NAI_TRY(nai_store_remove_tree(path, err));
  }
  store->count = 0; /* those are gone */
  return NAI_OK;
}
