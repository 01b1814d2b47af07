/* The index of a store, from an earlier one as far as that still holds. */
#include "features/nights/store_internal.h"

#include "base/fs.h"

#include <stdio.h>
#include <string.h>

/* A capture that cannot be read is the run's fault; anything else ends the whole. */
static int add_captures(struct nai_index *index, int64_t row, const struct nai_store *store,
                        const struct nai_store_run *run, struct nai_err *err) {
  char directory[PATH_MAX];
  struct nai_err failed = {0};
  int rc = NAI_OK;
  for (int i = 0; i < run->captures && !rc; i++) {
    rc = nai_store_directory(directory, store, run, i, &failed);
    if (!rc)
      rc = nai_index_add_capture(index, row, i, directory, directory + strlen(store->path) + 1, &failed);
  }
  if (rc == NAI_ELIMIT)
    return nai_err_set(err, rc, "%s", failed.msg);
  if (rc && nai_fs_is_unread(&failed))
    nai_err_set(&index->unread, NAI_EIO, "the run \"%.100s\" could not be read: %s", run->id, failed.msg);
  if (rc) {
    nai_set_str(index->runs, row, RUNS_status, "damaged");
    nai_set_str(index->runs, row, RUNS_error, failed.msg);
  }
  return NAI_OK;
}

static int add_run(struct nai_index *index, const struct nai_store *store, const struct nai_store_run *run,
                   struct nai_err *err) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "runs/%s/%s/captures/0", run->series, run->id);
  const struct RUNS_row row =
      NAI_ROW(RUNS, .run_id = run->id, .series = run->series, .utc_ns = run->utc_ns, .labels_json = run->labels,
              .status = run->status, .verdict = run->verdict, .error = run->error, .input_bytes = run->bytes,
              .path = run->captures ? path : NULL, .environment = run->environment, .note = run->note,
              .record = run->record);
  return add_captures(index, nai_index_add(index, &row), store, run, err);
}

int nai_store_index(struct nai_index *out, const struct nai_store *store, struct nai_err *err) {
  NAI_SCOPED(nai_index) earlier = {0};
  char path[PATH_MAX];
  bool found = false;
  snprintf(path, sizeof path, "%s/index.sqlite", store->path);
  NAI_TRY(nai_index_new(out, err));
  out->title = "Runs";
  out->what = "run";
  out->group = "series";
  out->directory = store->path;
  NAI_TRY(nai_index_load(&found, &earlier, path, err));
  for (uint32_t i = 0; i < store->count; i++)
    if (!found || !nai_index_copy(out, &earlier, store->runs[i].id, store->runs[i].record))
      NAI_TRY(add_run(out, store, &store->runs[i], err));
  return nai_index_sort(out, err);
}
