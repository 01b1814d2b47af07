#include "index/index.h"

#include "base/sort.h"
#include "base/fs.h"
#include "base/text.h"
#include "table/csv.h"
#include "table/severity.h"
#include "tables/index_findings.h"
#include "tables/index_kernels.h"
#include "tables/index_metrics.h"
#include "tables/runs.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nai_index_new(struct nai_index *out, struct nai_err *err) {
  *out = (struct nai_index){.title = "Index", .what = "run", .group = "series"};
  int rc = nai_table_new(&out->runs, &nai_runs_schema, err);
  if (!rc)
    rc = nai_table_new(&out->metrics, &nai_index_metrics_schema, err);
  if (!rc)
    rc = nai_table_new(&out->findings, &nai_index_findings_schema, err);
  if (!rc)
    rc = nai_table_new(&out->kernels, &nai_index_kernels_schema, err);
  return rc;
}

void nai_index_free(struct nai_index *index) {
  nai_table_free(index->runs);
  nai_table_free(index->metrics);
  nai_table_free(index->findings);
  nai_table_free(index->kernels);
  *index = (struct nai_index){0};
}

/* What comes from file names, manifests and messages is as clean in the index as what comes from traces. */
static void put_text(struct nai_table *table, int64_t row, int column, const char *text) {
  struct nai_buf clean = {0};
  if (!text || !*text)
    return;
  nai_text_clean(&clean, text, strlen(text));
  nai_set_str(table, row, column, nai_buf_str(&clean));
  table->oom |= clean.oom;
  nai_buf_free(&clean);
}

int64_t nai_index_add(struct nai_index *index, const struct nai_index_run *run) {
  struct nai_table *t = index->runs;
  int64_t row = nai_table_add_row(t);
  put_text(t, row, RUNS_run_id, run->id);
  put_text(t, row, RUNS_series, run->series);
  if (run->utc_ns != NAI_NULL_I64)
    nai_set_i64(t, row, RUNS_utc_ns, run->utc_ns);
  put_text(t, row, RUNS_labels_json, run->labels);
  put_text(t, row, RUNS_status, run->status);
  put_text(t, row, RUNS_verdict, run->verdict);
  if (run->exit >= 0)
    nai_set_i64(t, row, RUNS_exit_code, run->exit);
  put_text(t, row, RUNS_error, run->error);
  put_text(t, row, RUNS_tool_version, run->tool);
  nai_set_i64(t, row, RUNS_input_bytes, run->bytes);
  put_text(t, row, RUNS_path, run->path);
  put_text(t, row, RUNS_environment, run->environment);
  put_text(t, row, RUNS_note, run->note);
  put_text(t, row, RUNS_record, run->record);
  return row;
}

int nai_index_utc(int64_t *utc_ns, struct nai_run *run, struct nai_err *err) {
  const struct nai_table *capture;
  int rc = nai_run_table(&capture, run, "capture", NULL, err);
  if (!rc)
    *utc_ns = nai_run_utc(run);
  return rc;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int write_text(const struct nai_buf *text, const char *directory, const char *name, struct nai_err *err) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  int rc = nai_buf_check(text, err);
  return rc ? rc : nai_fs_replace(path, nai_buf_str(text), text->len, err);
}

static int check(const struct nai_index *index, struct nai_err *err) {
  const struct nai_table *const tables[] = {index->runs, index->metrics, index->findings, index->kernels};
  int rc = NAI_OK;
  for (size_t i = 0; i < sizeof tables / sizeof *tables && !rc; i++)
    rc = nai_table_check(tables[i], err);
  return rc;
}

int nai_index_sort(struct nai_index *index, struct nai_err *err) {
  static const struct nai_sort_by metrics[] = {
      {INDEX_METRICS_run_id, false}, {INDEX_METRICS_capture, false}, {INDEX_METRICS_metric, false}};
  static const struct nai_sort_by findings[] = {
      {INDEX_FINDINGS_run_id, false}, {INDEX_FINDINGS_capture, false}, {INDEX_FINDINGS_finding, false}};
  static const struct nai_sort_by kernels[] = {
      {INDEX_KERNELS_run_id, false}, {INDEX_KERNELS_capture, false}, {INDEX_KERNELS_name, false}};
  const struct nai_table *const tables[] = {index->runs, index->metrics, index->findings, index->kernels};
  int rc = NAI_OK;
  for (size_t i = 0; i < sizeof tables / sizeof *tables && !rc; i++)
    rc = nai_table_check(tables[i], err);
  if (!rc)
    rc = nai_table_sort_by(index->metrics, metrics, 3, err);
  if (!rc)
    rc = nai_table_sort_by(index->findings, findings, 3, err);
  return rc ? rc : nai_table_sort_by(index->kernels, kernels, 3, err);
}

struct rows_of {
  const struct nai_table *table;
  const char *run_id;
};

static bool run_before(const void *ctx, size_t row) {
  const struct rows_of *of = ctx;
  return strcmp(nai_get_str(of->table, (int64_t)row, 0), of->run_id) < 0;
}

int64_t nai_index_rows_of(int64_t *count, const struct nai_table *table, const char *run_id) {
  int64_t first = (int64_t)nai_search(0, (size_t)table->rows, run_before, &(struct rows_of){table, run_id}),
          end = first;
  while (end < table->rows && strcmp(nai_get_str(table, end, 0), run_id) == 0)
    end++;
  *count = end - first;
  return first;
}

int nai_index_write(struct nai_index *index, const char *directory, struct nai_err *err) {
  const struct nai_table *const tables[] = {index->runs,    index->metrics, index->findings,
                                            index->kernels, index->more,    NULL};
  char path[PATH_MAX];
  struct nai_buf csv = {0}, page = {0};
  snprintf(path, sizeof path, "%s/index.sqlite", directory);
  index->directory = directory;
  int rc = check(index, err);
  if (!rc)
    rc = nai_index_sort(index, err);
  if (!rc)
    rc = nai_index_sqlite(path, tables, err);
  nai_csv_table(&csv, index->runs);
  if (!rc)
    rc = write_text(&csv, directory, "index.csv", err);
  if (!rc)
    rc = nai_index_page(&page, index, err);
  if (!rc)
    rc = write_text(&page, directory, "index.html", err);
  nai_buf_free(&csv);
  nai_buf_free(&page);
  return rc;
}
