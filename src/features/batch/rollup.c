/* From statuses and reports to the index: one process, in the order of the manifest, so that how often and where items
 * were analysed leaves no trace. */
#include "features/batch/batch.h"

#include "base/fs.h"
#include "base/hash.h"
#include "index/index.h"
#include "table/json.h"
#include "tables/runs.h"

static void print_labels(struct nai_buf *out, const struct nai_batch_manifest *m, const struct nai_batch_item *item) {
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_INLINE);
  for (uint32_t i = 0; item->labels && i < m->label_count; i++)
    nai_json_put_text(&json, m->labels[i], item->labels[i]);
  nai_json_finish(&json);
}

/* A report that cannot be read makes its item a failed one; anything else of that kind would stop the whole. */
static int add_report(struct nai_index *index, int64_t row, const struct nai_batch *b, uint32_t i, const char *path,
                      struct nai_batch_status *status, struct nai_err *err) {
  char directory[PATH_MAX];
  struct nai_err failed = {0};
  nai_batch_path(directory, sizeof directory, b, "items", b->manifest.items[i].id, "");
  int rc = nai_index_add_capture(index, row, 0, directory, path, &failed);
  if (rc == NAI_ELIMIT)
    return nai_err_set(err, rc, "%s", failed.msg);
  if (rc) {
    status->outcome = NAI_BATCH_MISSING;
    nai_set_str(index->runs, row, RUNS_status, nai_batch_outcome_name(status->outcome));
    nai_set_str(index->runs, row, RUNS_error, failed.msg);
  }
  return NAI_OK;
}

static int add_item(struct nai_index *index, struct nai_batch_counts *counts, const struct nai_batch *b, uint32_t i,
                    struct nai_err *err) {
  const struct nai_batch_item *item = &b->manifest.items[i];
  NAI_SCOPED(nai_batch_status) status = {0};
  NAI_SCOPED(nai_buf) labels = {0};
  char path[NAI_BATCH_ID_MAX + 16];
  NAI_TRY(nai_batch_status_read(&status, b, i, err));
  if (b->manifest.label_count)
    print_labels(&labels, &b->manifest, item);
  snprintf(path, sizeof path, "items/%s", item->id);
  bool missing = status.outcome == NAI_BATCH_MISSING;
  const struct RUNS_row run =
      NAI_ROW(RUNS, .run_id = item->id, .series = item->group, .labels_json = nai_buf_str(&labels),
              .status = nai_batch_outcome_name(status.outcome),
              .exit_code = status.exit >= 0 ? status.exit : NAI_NULL_I64,
              .error = missing ? "not analyzed, or killed: finish with --resume" : status.error,
              .tool_version = missing || status.outcome == NAI_BATCH_OK ? NULL : nai_version_of_program(),
              .input_bytes = item->stamp.bytes, .path = status.outcome == NAI_BATCH_OK ? path : NULL);
  int64_t row = nai_index_add(index, &run);
  if (status.outcome == NAI_BATCH_OK)
    NAI_TRY(add_report(index, row, b, i, path, &status, err));
  counts->of[status.outcome]++;
  if (status.outcome == NAI_BATCH_OK && nai_get_i64(index->runs, row, RUNS_gpu_count) == 0) {
    nai_set_str(index->runs, row, RUNS_status, nai_index_no_gpu);
    counts->no_gpu++;
  }
  index->runs->oom |= labels.oom;
  return NAI_OK;
}

static int write_markdown(struct nai_index *index, const struct nai_batch *b, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/batch.md", b->out);
  NAI_TRY(nai_index_sort(index, err));
  NAI_TRY(nai_index_markdown(&text, index, err));
  return nai_fs_replace(path, nai_buf_str(&text), text.len, err);
}

int nai_batch_rollup(struct nai_batch_counts *counts, const struct nai_batch *b, struct nai_err *err) {
  NAI_SCOPED(nai_index) index = {0};
  *counts = (struct nai_batch_counts){0};
  NAI_TRY(nai_index_new(&index, err));
  index.title = "Batch";
  index.what = "trace";
  index.group = "group";
  for (uint32_t i = 0; i < b->manifest.count; i++)
    NAI_TRY(add_item(&index, counts, b, i, err));
  NAI_TRY(write_markdown(&index, b, err));
  return nai_index_write(&index, b->out, err); /* index.html comes last: who waits for the roll-up waits for it */
}
