#include "index/index.h"

#include "base/sort.h"
#include "base/fs.h"
#include "base/text.h"
#include "table/csv.h"
#include "table/columns.h"
#include "table/severity.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct nai_column_def runs_columns[] = {
    [NAI_INDEX_RUN_ID] = NAI_NAME_COLUMN("run_id", "the run", .key = true),
    [NAI_INDEX_RUN_SERIES] = NAI_LABEL_COLUMN("series", "what it belongs to: series of a store, group of a batch"),
    [NAI_INDEX_RUN_UTC] = {"utc_ns", NAI_I64, NAI_ID, "start of the capture in UTC, ns since 1970"},
    [NAI_INDEX_RUN_LABELS] = NAI_LABEL_COLUMN("labels_json", "labels given by the user, as a JSON object"),
    [NAI_INDEX_RUN_STATUS] = NAI_LABEL_COLUMN("status", "ok, refused, failed, crashed, timeout or missing"),
    [NAI_INDEX_RUN_VERDICT] = NAI_LABEL_COLUMN("verdict", "of a gate: pass, regressed, suspect, error"),
    [NAI_INDEX_RUN_EXIT] = {"exit_code", NAI_I64, NAI_ID, "exit status of the analysis"},
    [NAI_INDEX_RUN_ERROR] = NAI_LABEL_COLUMN("error", "why it failed"),
    [NAI_INDEX_RUN_TOOL] = NAI_LABEL_COLUMN("tool_version", "version of nsys-ai that analysed it"),
    [NAI_INDEX_RUN_BYTES] = NAI_BYTES_COLUMN("input_bytes", "size of the trace, or of all its captures"),
    [NAI_INDEX_RUN_PATH] = NAI_LABEL_COLUMN("path", "directory of the report, from the index"),
    [NAI_INDEX_RUN_GPUS] = NAI_COUNT_COLUMN("gpu_count", "GPUs that ran something"),
    [NAI_INDEX_RUN_WINDOW] = NAI_TIME_COLUMN("window_ns", "first to last GPU operation"),
    [NAI_INDEX_RUN_SEVERITY] = NAI_LABEL_COLUMN("severity", "of the worst finding"),
    [NAI_INDEX_RUN_HIGH] = NAI_COUNT_COLUMN("high", "findings of severity high"),
    [NAI_INDEX_RUN_MEDIUM] = NAI_COUNT_COLUMN("medium", "of severity medium"),
    [NAI_INDEX_RUN_LOW] = NAI_COUNT_COLUMN("low", "of severity low"),
    [NAI_INDEX_RUN_INFO] = NAI_COUNT_COLUMN("info", "of severity info"),
    [NAI_INDEX_RUN_WORST_RULE] = NAI_LABEL_COLUMN("worst_rule", "rule of the most important finding"),
    [NAI_INDEX_RUN_WORST_TITLE] = NAI_LABEL_COLUMN("worst_title", "that finding in one line"),
    [NAI_INDEX_RUN_AT_STAKE] = NAI_TIME_COLUMN("at_stake_ns", "its time at stake on the worst GPU"),
    [NAI_INDEX_RUN_PCT] = NAI_PCT_COLUMN("pct_of_active", "that, of the GPU's active time"),
    [NAI_INDEX_RUN_ENVIRONMENT] = NAI_LABEL_COLUMN("environment", "what it ran on, as far as a store compares it"),
    [NAI_INDEX_RUN_NOTE] = NAI_LABEL_COLUMN("note", "annotations of the run"),
    [NAI_INDEX_RUN_RECORD] = NAI_LABEL_COLUMN("record", "hash of the store's own record of the run"),
};
static const struct nai_schema runs_schema = NAI_SCHEMA("runs", "Runs", "One run", runs_columns);

static const struct nai_column_def metrics_columns[] = {
    [NAI_INDEX_METRIC_RUN] = NAI_LABEL_COLUMN("run_id", "the run", .key = true),
    [NAI_INDEX_METRIC_CAPTURE] = {"capture", NAI_I64, NAI_ID, "capture of the run, from 0", .key = true},
    [NAI_INDEX_METRIC_NAME] = NAI_NAME_COLUMN("metric", "id of the metric", .key = true),
    [NAI_INDEX_METRIC_UNIT] = NAI_LABEL_COLUMN("unit", "of value"),
    [NAI_INDEX_METRIC_BETTER] = NAI_LABEL_COLUMN("better", "lower or higher"),
    [NAI_INDEX_METRIC_VALUE] = {"value", NAI_F64, NAI_COUNT, "of the capture", .role = NAI_ROLE_METRIC},
    [NAI_INDEX_METRIC_N] = NAI_COUNT_COLUMN("n", "samples inside the capture (steps)"),
    [NAI_INDEX_METRIC_Q25] = {"q25", NAI_F64, NAI_COUNT, "first quartile inside the capture", .role = NAI_ROLE_METRIC},
    [NAI_INDEX_METRIC_Q75] = {"q75", NAI_F64, NAI_COUNT, "third quartile inside the capture", .role = NAI_ROLE_METRIC},
    [NAI_INDEX_METRIC_BASIS] = NAI_LABEL_COLUMN("basis", "step, second or total: what it is a value of"),
    [NAI_INDEX_METRIC_KIND] = NAI_LABEL_COLUMN("kind", "exact or noisy"),
    [NAI_INDEX_METRIC_GATE] = NAI_LABEL_COLUMN("gate", "gate, guard or none"),
    [NAI_INDEX_METRIC_NOISE_PCT] = NAI_PCT_COLUMN("noise_pct", "noise floor, of the value"),
    [NAI_INDEX_METRIC_NOISE] = {"noise", NAI_F64, NAI_COUNT, "noise floor, in the row's unit", .role = NAI_ROLE_METRIC},
    [NAI_INDEX_METRIC_BUDGET_PCT] = NAI_PCT_COLUMN("budget_pct", "budget, of the value"),
    [NAI_INDEX_METRIC_BUDGET] = {"budget", NAI_F64, NAI_COUNT,
                                 "budget, in the row's unit, that of the step time included", .role = NAI_ROLE_METRIC},
};
static const struct nai_schema metrics_schema =
    NAI_SCHEMA("metrics", "Metrics", "One metric of one capture", metrics_columns);

static const struct nai_column_def findings_columns[] = {
    [NAI_INDEX_FINDING_RUN] = NAI_LABEL_COLUMN("run_id", "the run", .key = true),
    [NAI_INDEX_FINDING_CAPTURE] = {"capture", NAI_I64, NAI_ID, "capture of the run, from 0", .key = true},
    [NAI_INDEX_FINDING_NUMBER] = {"finding", NAI_I64, NAI_ID, "number in the capture's report, from 1", .key = true},
    [NAI_INDEX_FINDING_RULE] = NAI_NAME_COLUMN("rule", "rule that found it"),
    [NAI_INDEX_FINDING_SEVERITY] = NAI_LABEL_COLUMN("severity", "high, medium, low or info"),
    [NAI_INDEX_FINDING_SCOPE] = NAI_LABEL_COLUMN("scope", "what it is about"),
    [NAI_INDEX_FINDING_TITLE] = NAI_LABEL_COLUMN("title", "the finding in one line"),
    [NAI_INDEX_FINDING_AT_STAKE] = NAI_TIME_COLUMN("at_stake_ns", "time at stake on the worst GPU"),
    [NAI_INDEX_FINDING_PCT] = NAI_PCT_COLUMN("pct_of_active", "that, of the GPU's active time"),
    [NAI_INDEX_FINDING_PATH] = NAI_LABEL_COLUMN("path", "directory of the report, from the index"),
};
static const struct nai_schema findings_schema =
    NAI_SCHEMA("findings", "Findings", "One finding of one capture", findings_columns);

static const struct nai_column_def kernels_columns[] = {
    [NAI_INDEX_KERNEL_RUN] = NAI_LABEL_COLUMN("run_id", "the run", .key = true),
    [NAI_INDEX_KERNEL_CAPTURE] = {"capture", NAI_I64, NAI_ID, "capture of the run, from 0", .key = true},
    [NAI_INDEX_KERNEL_NAME] = NAI_KERNEL_NAME_COLUMN("name", "full kernel name, over all GPUs", .key = true),
    [NAI_INDEX_KERNEL_CATEGORY] = NAI_LABEL_COLUMN("category", "kind of kernel"),
    [NAI_INDEX_KERNEL_COUNT] = NAI_COUNT_COLUMN("kernel_count", "executions"),
    [NAI_INDEX_KERNEL_TIME] = NAI_TIME_COLUMN("total_time_ns", "summed durations"),
    [NAI_INDEX_KERNEL_MEDIAN] = NAI_AVERAGE_COLUMN("median_ns", "median duration, on the GPU with most of its time"),
    [NAI_INDEX_KERNEL_RATE] = NAI_AVERAGE_COLUMN(
        "rate_ns", "summed durations per GPU and steady step; without steps, per second of the window"),
};
static const struct nai_schema kernels_schema =
    NAI_SCHEMA("kernels", "Kernels", "One of a capture's 50 kernels with most time", kernels_columns);

int nai_index_new(struct nai_index *out, struct nai_err *err) {
  *out = (struct nai_index){.title = "Index", .what = "run", .group = "series"};
  int rc = nai_table_new(&out->runs, &runs_schema, err);
  if (!rc)
    rc = nai_table_new(&out->metrics, &metrics_schema, err);
  if (!rc)
    rc = nai_table_new(&out->findings, &findings_schema, err);
  if (!rc)
    rc = nai_table_new(&out->kernels, &kernels_schema, err);
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
  put_text(t, row, NAI_INDEX_RUN_ID, run->id);
  put_text(t, row, NAI_INDEX_RUN_SERIES, run->series);
  if (run->utc_ns != NAI_NULL_I64)
    nai_set_i64(t, row, NAI_INDEX_RUN_UTC, run->utc_ns);
  put_text(t, row, NAI_INDEX_RUN_LABELS, run->labels);
  put_text(t, row, NAI_INDEX_RUN_STATUS, run->status);
  put_text(t, row, NAI_INDEX_RUN_VERDICT, run->verdict);
  if (run->exit >= 0)
    nai_set_i64(t, row, NAI_INDEX_RUN_EXIT, run->exit);
  put_text(t, row, NAI_INDEX_RUN_ERROR, run->error);
  put_text(t, row, NAI_INDEX_RUN_TOOL, run->tool);
  nai_set_i64(t, row, NAI_INDEX_RUN_BYTES, run->bytes);
  put_text(t, row, NAI_INDEX_RUN_PATH, run->path);
  put_text(t, row, NAI_INDEX_RUN_ENVIRONMENT, run->environment);
  put_text(t, row, NAI_INDEX_RUN_NOTE, run->note);
  put_text(t, row, NAI_INDEX_RUN_RECORD, run->record);
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
      {NAI_INDEX_METRIC_RUN, false}, {NAI_INDEX_METRIC_CAPTURE, false}, {NAI_INDEX_METRIC_NAME, false}};
  static const struct nai_sort_by findings[] = {
      {NAI_INDEX_FINDING_RUN, false}, {NAI_INDEX_FINDING_CAPTURE, false}, {NAI_INDEX_FINDING_NUMBER, false}};
  static const struct nai_sort_by kernels[] = {
      {NAI_INDEX_KERNEL_RUN, false}, {NAI_INDEX_KERNEL_CAPTURE, false}, {NAI_INDEX_KERNEL_NAME, false}};
  const struct nai_table *const tables[] = {index->runs, index->metrics, index->findings, index->kernels};
  int rc = NAI_OK;
  for (size_t i = 0; i < sizeof tables / sizeof *tables && !rc; i++)
    rc = nai_table_check(tables[i], err);
  if (!rc)
    rc = nai_table_sort(index->metrics, metrics, 3, err);
  if (!rc)
    rc = nai_table_sort(index->findings, findings, 3, err);
  return rc ? rc : nai_table_sort(index->kernels, kernels, 3, err);
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
