/* Retention: what the index and comparisons are made of stays, and can be read; what can be made again from a trace may
 * go. */
#include "base/fs.h"
#include "base/temporary.h"
#include "features/compare/side.h"
#include "features/nights/store_internal.h"
#include "rundir/outdir.h"
#include "table/set.h"
#include "tables/book.h"
#include "tables/kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what stays ------------------------------------------------------------------------------- */

/* What comparisons and the index read. The rest is for people, or made of events. */
static bool is_kept_table(const char *name) {
  bool kept = strcmp(name, nai_kernels_schema.name) == 0;
  for (const struct nai_schema *const *schema = nai_compared_tables; *schema; schema++)
    kept |= strcmp(name, (*schema)->name) == 0;
  return kept;
}

/* Of a file that holds no more than one table. */
static bool is_kept(const char *file) {
  static const char prefix[] = "stages/", suffix[] = ".ntab";
  char name[NAME_MAX];
  size_t len = strlen(file), around = strlen(prefix) + strlen(suffix);
  if (strncmp(file, prefix, strlen(prefix)) != 0 || len < around || strcmp(file + len - strlen(suffix), suffix) != 0)
    return strcmp(file, NAI_MANIFEST_PATH) == 0;
  snprintf(name, sizeof name, "%.*s", (int)(len - around), file + strlen(prefix));
  return is_kept_table(name);
}

/* Lists of files may be forged. */
bool nai_store_may_prune(const char *file) { return !is_kept(file) && nai_outdir_is_of_run(file) == 1; }

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
    NAI_TRY(nai_store_list(ids, nai_strings_get(&baseline->ids, i), err));
  return NAI_OK;
}

static int remove_file(int64_t *bytes, const struct nai_run *run, const char *file, bool dry_run, struct nai_err *err) {
  struct stat st;
  int fd = nai_fs_open_at(nai_run_directory(run), file); /* through no link */
  if (fd < 0)
    return NAI_OK;
  bool removed = fstat(fd, &st) == 0 && (dry_run || unlinkat(nai_run_directory(run), file, 0) == 0);
  int failed = errno;
  close(fd);
  if (!removed)
    return nai_err_sys(err, NAI_EIO, failed, "cannot remove \"%s/%s\"", nai_run_path(run), file);
  *bytes += st.st_size;
  return NAI_OK;
}

/* The tables of a stage's file that stay. */
struct kept {
  struct nai_table **tables;
  size_t count;
  int64_t bytes; /* of those that go */
};

static void kept_free(struct kept *kept) {
  for (size_t i = 0; i < kept->count; i++)
    nai_table_free(kept->tables[i]);
  free(kept->tables);
}

static int open_kept(struct kept *kept, const struct nai_run *run, const char *file, const struct nai_table *list,
                     struct nai_err *err) {
  kept->tables = calloc((size_t)list->rows + 1, sizeof(struct nai_table *));
  NAI_TRY(nai_memory_check(kept->tables, err));
  for (int64_t row = 0; row < list->rows; row++) {
    const char *name = nai_get_str(list, row, TABLE_SET_table_name);
    bool empty = !nai_get_i64(list, row, TABLE_SET_row_count);
    int64_t bytes = nai_get_i64(list, row, TABLE_SET_size_bytes);
    if (!is_kept_table(name))
      kept->bytes += bytes > 0 && bytes < INT64_C(1) << 40 ? bytes : 0; /* lists may be forged */
    else
      NAI_TRY(nai_table_set_open(&kept->tables[kept->count++], nai_run_directory(run), file, list, row,
                                 empty ? nai_book_find_named(name) : NULL, err));
  }
  return NAI_OK;
}

/* A run's directory may have been replaced, by a link to somebody's own, since it was opened. */
static bool is_still_there(const struct nai_run *run) {
  char path[PATH_MAX];
  NAI_CLOSED int stages = openat(nai_run_directory(run), "stages", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return stages >= 0 && nai_store_join(path, nai_run_path(run), "stages", NULL) == NAI_OK &&
         nai_fs_is_same(stages, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW) &&
         nai_fs_is_same(nai_run_directory(run), AT_FDCWD, nai_run_path(run), AT_SYMLINK_NOFOLLOW);
}

/* In the place of the file, in one step. */
static int write_kept(const struct kept *kept, const struct nai_run *run, const char *file, struct nai_err *err) {
  struct nai_temporary aside = {0};
  char path[PATH_MAX];
  NAI_TRY(nai_store_join(path, nai_run_path(run), file, err));
  NAI_TRY(nai_temporary_file(&aside, path, err));
  int rc = nai_table_set_write(kept->tables, kept->count, nai_book_has_named, aside.path, err);
  int failed = rc ? 0 : is_still_there(run) ? nai_temporary_become(&aside, path) : ESTALE;
  nai_temporary_remove(&aside);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot replace \"%s\"", path) : rc;
}

/* Of the file of a stage only the tables stay that are kept; what cannot be read stays as it is. */
static int prune_stage(int64_t *bytes, const struct nai_run *run, const char *file, const struct nai_table *list,
                       bool dry_run, struct nai_err *err) {
  NAI_SCOPED(kept) kept = {0};
  int rc = open_kept(&kept, run, file, list, err);
  if (rc == NAI_ESTALE)
    return NAI_OK;
  NAI_TRY(rc);
  if (!kept.count)
    return remove_file(bytes, run, file, dry_run, err);
  if (kept.bytes && !dry_run)
    NAI_TRY(write_kept(&kept, run, file, err));
  *bytes += kept.bytes;
  return NAI_OK;
}

/* Lists of files may be forged: no other file is rewritten. */
static bool is_of_stage(const char *file) { return fnmatch("stages/*.ntab", file, FNM_PATHNAME | FNM_PERIOD) == 0; }

static int prune_file(int64_t *bytes, const struct nai_run *run, const char *file, bool dry_run, struct nai_err *err) {
  NAI_OWNED(nai_table) *list = NULL;
  if (!is_of_stage(file) || nai_table_is_single_at(nai_run_directory(run), file))
    return nai_store_may_prune(file) ? remove_file(bytes, run, file, dry_run, err) : NAI_OK;
  int rc = nai_table_open_at(&list, nai_run_directory(run), file, &nai_table_set_schema, err);
  if (rc)
    return rc == NAI_ESTALE ? NAI_OK : rc; /* nobody knows whether what stays is in it */
  return prune_stage(bytes, run, file, list, dry_run, err);
}

static int prune_capture(int64_t *bytes, const char *directory, bool dry_run, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  struct stat st;
  if (lstat(directory, &st) != 0 || !S_ISDIR(st.st_mode)) /* a link leads to somebody's own run */
    return NAI_OK;
  int rc = nai_run_open(&run, directory, err);
  if (rc)
    return rc == NAI_EINPUT ? NAI_OK : rc; /* damaged: not ours to make worse */
  char stages[PATH_MAX];
  if (!dry_run && nai_store_join(stages, directory, "stages", NULL) == NAI_OK)
    nai_temporary_sweep(stages);
  for (uint32_t i = 0; i < nai_run_manifest(run)->files.count; i++)
    NAI_TRY(prune_file(bytes, run, nai_strings_get(&nai_run_manifest(run)->files, i), dry_run, err));
  return NAI_OK;
}

/* Who may lose nothing: what is referred to, failed or is said something of. */
static bool is_whole(const struct nai_store_run *run, int64_t newest, const struct nai_strings *baselines,
                     const struct nai_store_pruning *how) {
  return run->utc_ns == NAI_NULL_I64 || is_recent(run, newest, how->keep_days) || strcmp(run->status, "ok") != 0 ||
         strcmp(run->verdict, "fail") == 0 || *run->note || is_named(baselines, run->id) ||
         is_named(how->keep, run->id);
}

static int strip_run(int64_t *bytes, const struct nai_store *store, const struct nai_store_run *run, bool dry_run,
                     struct nai_err *err) {
  char directory[PATH_MAX];
  for (int c = 0; c < run->captures; c++)
    if (nai_store_directory(directory, store, run, c, NULL) == NAI_OK)
      NAI_TRY(prune_capture(bytes, directory, dry_run, err));
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
    NAI_TRY(strip_run(&bytes, store, run, how->dry_run, err));
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
