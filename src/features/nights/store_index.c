/* The index of a store: what its runs say, from the summary that lies beside the captures of each. */
#include "features/nights/store_internal.h"

#include "base/fs.h"

/* Of captures that lie in `directory`, and will at last where the store keeps the run. *why says why one cannot be
 * read. */
static int add_captures(struct nai_index *index, int64_t row, const struct nai_store *store,
                        const struct nai_store_run *run, const char *directory, struct nai_err *why,
                        struct nai_err *err) {
  char from[PATH_MAX], path[PATH_MAX], name[32];
  int rc = NAI_OK;
  for (int i = 0; i < run->captures && !rc; i++) {
    snprintf(name, sizeof name, "captures/%d", i);
    NAI_TRY(nai_store_join(from, directory, name, err));
    NAI_TRY(nai_store_directory(path, store, run, i, err));
    rc = nai_index_add_capture(index, row, i, from, path + strlen(store->path) + 1, why);
  }
  return rc == NAI_ELIMIT ? nai_err_set(err, rc, "%s", why->msg) : NAI_OK;
}

static int add_row(int64_t *row, struct nai_index *index, const struct nai_store_run *run, struct nai_err *err) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "runs/%s/%s/captures/0", run->series, run->id);
  *row = nai_index_add(index, &(struct RUNS_row)NAI_ROW(
                                  RUNS, .run_id = run->id, .series = run->group, .utc_ns = run->utc_ns,
                                  .labels_json = run->labels, .status = run->status, .verdict = run->verdict,
                                  .error = run->error, .input_bytes = run->bytes, .path = run->captures ? path : NULL,
                                  .environment = run->environment, .note = run->note, .record = run->record));
  return nai_table_check(index->runs, err);
}

/* --- summaries -------------------------------------------------------------------------------- */

enum { MAX_SUMMARY_BYTES = 64 << 20 };

/* Nothing of the store's records, which may change, goes into it. */
int nai_store_summarize(const struct nai_store *store, const struct nai_store_run *run, const char *directory,
                        struct nai_err *err) {
  NAI_SCOPED(nai_index) index = {0};
  NAI_SCOPED(nai_buf) bytes = {0};
  struct nai_err why = {0};
  char path[PATH_MAX];
  NAI_TRY(nai_index_new(&index, err));
  int64_t row = nai_index_add(&index, &(struct RUNS_row)NAI_ROW(RUNS, .run_id = run->id));
  NAI_TRY(add_captures(&index, row, store, run, directory, &why, err));
  if (why.code)
    return nai_err_set(err, why.code, "%s", why.msg);
  NAI_TRY(nai_index_pack(&bytes, &index, err));
  NAI_TRY(nai_store_join(path, directory, NAI_STORE_SUMMARY, err));
  return nai_fs_replace(path, nai_buf_str(&bytes), bytes.len, err);
}

static int take_summary(bool *taken, struct nai_index *index, int64_t row, const char *directory, struct nai_err *err) {
  NAI_SCOPED(nai_buf) bytes = {0};
  struct nai_err ignored;
  char path[PATH_MAX];
  *taken = false;
  NAI_TRY(nai_store_join(path, directory, NAI_STORE_SUMMARY, err));
  int rc = nai_fs_read(&bytes, path, MAX_SUMMARY_BYTES, NAI_EINPUT, &ignored);
  if (rc == NAI_ELIMIT)
    return nai_err_nomem(err);
  return rc ? NAI_OK : nai_index_unpack(taken, index, row, &bytes, err);
}

int nai_store_has_summary(bool *has, const struct nai_store *store, const struct nai_store_run *run,
                          struct nai_err *err) {
  NAI_SCOPED(nai_index) index = {0};
  char directory[PATH_MAX];
  int64_t row;
  NAI_TRY(nai_store_directory(directory, store, run, -1, err));
  NAI_TRY(nai_index_new(&index, err));
  NAI_TRY(add_row(&row, &index, run, err));
  return take_summary(has, &index, row, directory, err);
}

/* A capture that cannot be read is the run's fault; anything else ends the whole. */
static int read_captures(struct nai_index *index, int64_t row, const struct nai_store *store,
                         const struct nai_store_run *run, const char *directory, struct nai_err *err) {
  struct nai_err why = {0};
  NAI_TRY(add_captures(index, row, store, run, directory, &why, err));
  if (why.code && nai_fs_is_unread(&why))
    nai_err_set(&index->unread, NAI_EIO, "the run \"%.100s\" could not be read: %s", run->id, why.msg);
  if (why.code) {
    nai_set_str(index->runs, row, RUNS_status, "damaged");
    nai_set_str(index->runs, row, RUNS_error, why.msg);
  }
  return NAI_OK;
}

/* Where the summary cannot be written, the next one reads the captures again. */
static int add_run(struct nai_index *index, const struct nai_store *store, const struct nai_store_run *run, bool keep,
                   struct nai_err *err) {
  char directory[PATH_MAX];
  struct nai_err ignored;
  int64_t row;
  bool taken;
  NAI_TRY(add_row(&row, index, run, err));
  if (!run->captures)
    return NAI_OK;
  NAI_TRY(nai_store_directory(directory, store, run, -1, err));
  NAI_TRY(take_summary(&taken, index, row, directory, err));
  if (taken)
    return NAI_OK;
  NAI_TRY(read_captures(index, row, store, run, directory, err));
  return keep && nai_store_summarize(store, run, directory, &ignored) == NAI_ELIMIT ? nai_err_nomem(err) : NAI_OK;
}

int nai_store_index(struct nai_index *out, const struct nai_store *store, enum nai_store_summaries how,
                    struct nai_err *err) {
  NAI_TRY(nai_index_new(out, err));
  out->only_metrics = how == NAI_STORE_METRICS;
  out->title = "Runs";
  out->what = "run";
  out->group = "series";
  out->directory = store->path;
  for (uint32_t i = 0; i < store->count; i++)
    NAI_TRY(add_run(out, store, &store->runs[i], how == NAI_STORE_KEEP, err));
  return nai_index_sort(out, err);
}
