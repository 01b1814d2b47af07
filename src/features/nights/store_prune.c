/* Retention: whole directories become one file, with all that can be asked of a run. */
#include "base/fs.h"
#include "base/temporary.h"
#include "features/compare/side.h"
#include "features/nights/store_internal.h"
#include "tables/kernels.h"

#include <fcntl.h>
#include <sys/stat.h>

/* --- what can be read ------------------------------------------------------------------------- */

static int check_table(struct nai_run *run, const struct nai_schema *schema, struct nai_err *err) {
  const struct nai_table *table;
  return nai_capture_open_table(&table, run, schema, err);
}

int nai_store_check_capture(struct nai_run *run, struct nai_err *err) {
  for (const struct nai_schema *const *schema = nai_compared_tables; *schema; schema++)
    NAI_TRY(check_table(run, *schema, err));
  return check_table(run, &nai_kernels_schema, err);
}

int nai_store_check_run(const struct nai_store *store, const struct nai_store_run *run, struct nai_err *err) {
  char path[PATH_MAX];
  for (int i = 0; i < run->captures; i++) {
    NAI_OWNED(nai_run) *capture = NULL;
    NAI_TRY(nai_store_directory(path, store, run, i, err));
    NAI_TRY(nai_run_open(&capture, path, err));
    NAI_TRY(nai_store_check_capture(capture, err));
  }
  return NAI_OK;
}

/* --- pruning ---------------------------------------------------------------------------------- */

static bool is_named(const struct nai_strings *ids, const char *id) {
  return ids && nai_strings_find(ids, id, strlen(id)) != NAI_NO_STRING;
}

/* `newest` is no earlier, and a forged record may say any time: the difference of two may not fit into 63 bits. */
static bool is_recent(const struct nai_store_run *run, int64_t newest, int64_t keep_days) {
  const uint64_t day_ns = UINT64_C(86400) * 1000000000;
  return (uint64_t)newest - (uint64_t)run->utc_ns <= (uint64_t)keep_days * day_ns;
}

static int add_ids(void *ids, const char *name, const struct nai_store_baseline *baseline, struct nai_err *err) {
  (void)name;
  for (uint32_t i = 0; i < baseline->ids.count; i++)
    NAI_TRY(nai_strings_put(NULL, ids, nai_strings_get(&baseline->ids, i), err));
  return NAI_OK;
}

/* A capture's directory gives way to one file, in one step: where the file system cannot do that, it stays. The
 * directory goes under a hidden name, which the next one removes should this one be killed. */
static int exchange(const char *path, const struct nai_buf *pack, struct nai_err *err) {
  char file[PATH_MAX];
  struct nai_temporary aside = {0};
  NAI_TRY(nai_temporary_beside(&aside, path, err));
  int rc = nai_store_join(file, aside.path, "run", err);
  if (!rc)
    rc = nai_fs_write(file, pack->data, pack->len, err);
  int failed = !rc && renameat2(AT_FDCWD, file, AT_FDCWD, path, RENAME_EXCHANGE) != 0 ? errno : 0;
  nai_temporary_remove(&aside);
  return failed && failed != EINVAL && failed != ENOSYS && failed != EOPNOTSUPP
           ? nai_err_sys(err, NAI_EIO, failed, "cannot replace \"%s\"", path)
           : rc;
}

static int pack_capture(int64_t *bytes, const char *directory, bool dry_run, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  NAI_SCOPED(nai_buf) pack = {0};
  struct stat st;
  if (lstat(directory, &st) != 0 || !S_ISDIR(st.st_mode)) /* a link leads to somebody's own run */
    return NAI_OK;
  int rc = nai_run_open(&run, directory, err);
  if (!rc)
    rc = nai_store_check_capture(run, err);
  if (rc)
    return rc == NAI_EINPUT ? NAI_OK : rc; /* damaged: not ours to make worse */
  NAI_TRY(nai_run_pack(&pack, run, err));
  if (!nai_fs_is_same(nai_run_directory(run), AT_FDCWD, directory, AT_SYMLINK_NOFOLLOW))
    return NAI_OK; /* somebody put something else there meanwhile */
  *bytes += nai_store_size_of(directory) - (int64_t)pack.len;
  return dry_run ? NAI_OK : exchange(directory, &pack, err);
}

/* Who may lose nothing: what is referred to, failed or is said something of. */
static bool is_whole(const struct nai_store_run *run, int64_t newest, const struct nai_strings *baselines,
                     const struct nai_store_pruning *how) {
  return run->utc_ns == NAI_NULL_I64 || is_recent(run, newest, how->keep_days) || strcmp(run->status, "ok") != 0 ||
         strcmp(run->verdict, "fail") == 0 || *run->note || is_named(baselines, run->id) ||
         is_named(how->keep, run->id);
}

/* A run that holds files of somebody else's, or cannot be read, is left alone. */
static int pack_run(int64_t *bytes, const struct nai_store *store, const struct nai_store_run *run, bool dry_run,
                    struct nai_err *err) {
  char directory[PATH_MAX], captures[PATH_MAX];
  struct nai_err why;
  NAI_TRY(nai_store_directory(directory, store, run, -1, err));
  NAI_TRY(nai_store_join(captures, directory, "captures", err));
  if (!dry_run)
    nai_temporary_sweep(captures);
  int rc = nai_store_check_ours(store, run, &why);
  if (rc)
    return rc == NAI_EUSAGE || rc == NAI_EINPUT ? NAI_OK : nai_err_set(err, rc, "%s", why.msg);
  for (int c = 0; c < run->captures; c++)
    if (nai_store_directory(directory, store, run, c, NULL) == NAI_OK)
      NAI_TRY(pack_capture(bytes, directory, dry_run, err));
  return NAI_OK;
}

static int prune_run(const struct nai_store *store, const struct nai_store_run *run, const char *thinned,
                     const struct nai_store_pruning *how, struct nai_err *err) {
  int64_t bytes = 0;
  if (thinned)
    NAI_TRY(nai_store_thin(&bytes, store, run, how->dry_run, err));
  if (!bytes)
    thinned = NULL;
  if (!thinned)
    NAI_TRY(pack_run(&bytes, store, run, how->dry_run, err));
  if (bytes && how->tell)
    how->tell(how->ctx, run, bytes, thinned);
  return NAI_OK;
}

int nai_store_prune(const struct nai_store *store, const struct nai_store_pruning *how, struct nai_err *err) {
  NAI_SCOPED(nai_strings) baselines = {0};
  struct nai_store_thinning so_far = {0};
  int64_t newest = NAI_NULL_I64;
  bool thins = how->weekly_days >= 0 || how->monthly_days >= 0;
  NAI_TRY(nai_store_each_baseline(store, add_ids, &baselines, err));
  for (uint32_t i = 0; i < store->count; i++)
    if (store->runs[i].utc_ns > newest)
      newest = store->runs[i].utc_ns;
  for (uint32_t i = 0; i < store->count; i++) {
    const struct nai_store_run *run = &store->runs[i];
    const char *reason = NULL;
    bool stays = false;
    if (is_whole(run, newest, &baselines, how))
      continue;
    if (thins && run->captures && !is_named(how->near, run->id))
      reason = nai_store_thin_reason(&stays, &so_far, run, newest, how);
    NAI_TRY(prune_run(store, run, stays ? NULL : reason, how, err));
  }
  return NAI_OK;
}
