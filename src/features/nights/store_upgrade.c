/* Upgrading: captures that another version of this program analyzed are analyzed again, where their events are kept. */
#include "base/fs.h"
#include "base/temporary.h"
#include "base/threads.h"
#include "features/nights/store_internal.h"
#include "pipeline/analyze.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A run, and of its captures those that were analyzed again, each in a directory of its own. */
struct upgrade {
  struct nai_temporary again[NAI_STORE_MAX_CAPTURES];
  bool made[NAI_STORE_MAX_CAPTURES], any;
};

static void upgrade_free(struct upgrade *u) {
  for (int i = 0; i < NAI_STORE_MAX_CAPTURES; i++)
    nai_temporary_remove(&u->again[i]);
}

static int name_again(char out[PATH_MAX], const struct upgrade *u, int capture, struct nai_err *err) {
  return nai_store_join(out, u->again[capture].path, "run", err);
}

static int analyze(struct upgrade *u, int capture, const char *path, const struct nai_store_upgrading *how,
                   struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  struct nai_options options;
  struct stat st;
  char out[PATH_MAX];
  if (lstat(path, &st) != 0)
    return nai_err_sys(err, nai_fs_is_absent(errno) ? NAI_EINPUT : NAI_EIO, errno, "cannot examine \"%s\"", path);
  if (S_ISLNK(st.st_mode))
    return nai_err_set(err, NAI_EINPUT, "\"%s\" is no capture of the store's own", path);
  NAI_TRY(nai_run_open(&run, path, err));
  if (!how->metric_count && nai_manifest_is_of_this_program(nai_run_manifest(run)))
    return NAI_OK;
  NAI_TRY(nai_temporary_beside(&u->again[capture], path, err));
  NAI_TRY(name_again(out, u, capture, err));
  nai_options_init(&options);
  options.out = out;
  options.threads = nai_cpu_count();
  for (size_t i = 0; i < how->metric_count; i++)
    options.metrics[options.metric_count++] = how->metrics[i];
  NAI_TRY(nai_analyze_again(&u->made[capture], run, &options, err));
  u->any |= u->made[capture];
  return NAI_OK;
}

/* In one step; a directory of the store's goes under a hidden name, which is removed. */
static int publish(const char *path, const char *again, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  NAI_SCOPED(nai_buf) pack = {0};
  if (nai_fs_is_dir(path)) {
    int failed = renameat2(AT_FDCWD, again, AT_FDCWD, path, RENAME_EXCHANGE) == 0 ? 0 : errno;
    bool unable = failed == EINVAL || failed == ENOSYS || failed == EOPNOTSUPP; /* the file system is */
    return failed ? nai_err_sys(err, unable ? NAI_EINPUT : NAI_EIO, failed, "cannot replace \"%s\"", path) : NAI_OK;
  }
  NAI_TRY(nai_run_open(&run, again, err));
  NAI_TRY(nai_run_pack(&pack, run, err));
  return nai_fs_replace(path, pack.data, pack.len, err);
}

/* The summary and reports go first: who is killed in between leaves none, and the next index reads the captures. */
static int publish_all(const struct upgrade *u, const struct nai_store *store, const struct nai_store_run *run,
                       const char *directory, struct nai_err *err) {
  char path[PATH_MAX], again[PATH_MAX];
  NAI_TRY(nai_store_join(path, directory, NAI_STORE_SUMMARY, err));
  if (unlink(path) != 0 && errno != ENOENT)
    return nai_err_sys(err, NAI_EIO, errno, "cannot remove \"%s\"", path);
  NAI_TRY(nai_store_join(path, directory, NAI_STORE_REPORTS, err)); /* pages of the captures as they were */
  if (nai_fs_is_dir(path))
    NAI_TRY(nai_store_remove_tree(path, err));
  for (int i = 0; i < run->captures; i++) {
    if (!u->made[i])
      continue;
    NAI_TRY(nai_store_directory(path, store, run, i, err));
    NAI_TRY(name_again(again, u, i, err));
    NAI_TRY(publish(path, again, err));
  }
  return nai_store_summarize(store, run, directory, err);
}

/* All captures of a run, or none: their values are put together. */
static int upgrade(bool *any, const struct nai_store *store, const struct nai_store_run *run,
                   const struct nai_store_upgrading *how, struct nai_err *err) {
  NAI_SCOPED(upgrade) u = {.any = false};
  char directory[PATH_MAX], path[PATH_MAX];
  NAI_TRY(nai_store_directory(directory, store, run, -1, err));
  NAI_TRY(nai_store_join(path, directory, "captures", err));
  if (!how->dry_run)
    nai_temporary_sweep(path);
  int rc = nai_store_check_ours(store, run, err);
  if (rc)
    return rc == NAI_EUSAGE ? err->code = NAI_EINPUT : rc;
  for (int i = 0; i < run->captures; i++) {
    NAI_TRY(nai_store_directory(path, store, run, i, err));
    NAI_TRY(analyze(&u, i, path, how, err));
  }
  *any = u.any;
  if (how->dry_run)
    return NAI_OK;
  NAI_TRY(nai_store_join(path, directory, NAI_STORE_SUMMARY, err));
  if (u.any)
    return publish_all(&u, store, run, directory, err);
  return nai_fs_exists(path) ? NAI_OK : nai_store_summarize(store, run, directory, err); /* one before ended early */
}

int nai_store_upgrade(const struct nai_store *store, const struct nai_store_upgrading *how, struct nai_err *err) {
  for (uint32_t i = 0; i < store->count; i++) {
    const struct nai_store_run *run = &store->runs[i];
    struct nai_err why = {0};
    bool any = false;
    if (!run->captures)
      continue;
    int rc = run->thinned ? nai_err_set(&why, NAI_EINPUT, "its captures were thinned out")
                          : upgrade(&any, store, run, how, &why);
    if (rc && (rc != NAI_EINPUT || nai_fs_is_unread(&why)))
      return nai_err_set(err, rc, "%s", why.msg);
    if (rc || any)
      how->tell(how->ctx, run, rc ? why.msg : NULL);
  }
  return NAI_OK;
}
