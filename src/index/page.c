/* index.html and its Markdown twin: one view, two templates. */
#include "index/index.h"

#include "base/fmt.h"
#include "base/fs.h"
#include "render/json.h"
#include "table/severity.h"
#include "tables/index_findings.h"
#include "tables/index_metrics.h"
#include "tables/runs.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARKDOWN_ROWS = 20, MARKDOWN_ERRORS = 40 };

static const char *run_text(const struct nai_index *index, int64_t row, int column) {
  return nai_get_str(index->runs, row, column);
}

bool nai_index_has_report(const struct nai_index *index, const char *path) {
  char file[PATH_MAX];
  return *path && (!index->directory ||
                   ((size_t)snprintf(file, sizeof file, "%s/%s/report.html", index->directory, path) < sizeof file &&
                    nai_fs_exists(file)));
}

static void put_value(struct nai_view *map, const char *key, const char *unit, const char *basis, double value) {
  struct nai_buf text = {0};
  nai_index_put_value(&text, unit, basis, value);
  nai_view_put_trusted(map, key, nai_buf_str(&text));
  nai_view_inherit(map, &text);
  nai_buf_free(&text);
}

static void put_cell(struct nai_view *map, const char *key, const struct nai_index *index, int64_t row, int column,
                     enum nai_unit unit) {
  struct nai_value value = nai_table_value(index->runs, row, column);
  nai_view_put_value(map, key, unit, &value);
}

/* Rules that fired in a run, separated by spaces: by them the page filters. */
static void put_rules_of(struct nai_view *map, const struct nai_index *index, const char *run) {
  struct nai_buf text = {0};
  int64_t count, first = nai_index_rows_of(&count, index->findings, run);
  for (int64_t i = first; i < first + count; i++)
    nai_buf_printf(&text, "%s ", nai_get_str(index->findings, i, INDEX_FINDINGS_rule));
  nai_view_put_text(map, "rules", nai_buf_str(&text));
  nai_view_inherit(map, &text);
  nai_buf_free(&text);
}

static void put_run(struct nai_view *list, const struct nai_index *index, int64_t row) {
  struct nai_view *map = nai_view_add_map(list);
  bool ok = strcmp(run_text(index, row, RUNS_status), "ok") == 0;
  nai_view_put_text(map, "id", run_text(index, row, RUNS_run_id));
  nai_view_put_int(map, "row", row);
  nai_view_put_bool(map, "ok", ok);
  const char *path = run_text(index, row, RUNS_path);
  nai_view_put_text(map, "path", ok && nai_index_has_report(index, path) ? path : NULL);
  nai_view_put_text(map, "series", run_text(index, row, RUNS_series));
  nai_view_put_text(map, "labels", run_text(index, row, RUNS_labels_json));
  nai_view_put_text(map, "status", run_text(index, row, RUNS_status));
  nai_view_put_text(map, "verdict", run_text(index, row, RUNS_verdict));
  nai_view_put_text(map, "error", run_text(index, row, RUNS_error));
  nai_view_put_text(map, "severity", run_text(index, row, RUNS_severity));
  nai_view_put_int(map, "severity_order", nai_severity_from_name(run_text(index, row, RUNS_severity)));
  nai_view_put_text(map, "worst", run_text(index, row, RUNS_worst_title));
  put_cell(map, "pct", index, row, RUNS_pct_of_active, NAI_PCT);
  put_cell(map, "gpus", index, row, RUNS_gpu_count, NAI_COUNT);
  put_cell(map, "window", index, row, RUNS_window_ns, NAI_NS);
  put_cell(map, "bytes", index, row, RUNS_input_bytes, NAI_BYTES);
  put_rules_of(map, index, run_text(index, row, RUNS_run_id));
}

static int put_runs(struct nai_view *view, const struct nai_index *index, int64_t most, struct nai_err *err) {
  struct nai_view *runs = nai_view_put_list(view, "runs"), *failed = nai_view_put_list(view, "failed");
  uint32_t *order = NULL;
  int64_t shown = 0, errors = 0;
  int rc = nai_index_order(&order, index, err);
  for (int64_t i = 0; i < index->runs->rows && !rc; i++) {
    bool ok = strcmp(run_text(index, order[i], RUNS_status), "ok") == 0;
    if (!ok && errors++ < (most < INT64_MAX ? MARKDOWN_ERRORS : most))
      put_run(failed, index, order[i]);
    bool found = ok && *run_text(index, order[i], RUNS_worst_title); /* a short list has no room for the rest */
    if ((found || most == INT64_MAX) && shown++ < most)
      put_run(runs, index, order[i]);
  }
  nai_view_put_int(view, "run_count", index->runs->rows);
  nai_view_put_trusted(view, "run_s", index->runs->rows == 1 ? "" : "s");
  nai_view_put_bool(view, "any_failed", errors > 0);
  nai_view_put_int(view, "failed_count", errors);
  nai_view_put_int(view, "ok_count", index->runs->rows - errors);
  nai_view_put_bool(view, "any_runs", shown > 0);
  nai_view_put_bool(view, "more_runs", shown > most);
  nai_view_put_int(view, "found_count", shown);
  nai_view_put_bool(view, "more_failed", errors > MARKDOWN_ERRORS);
  free(order);
  return rc;
}

static int put_rules(struct nai_view *view, const struct nai_index *index, struct nai_err *err) {
  struct nai_view *list = nai_view_put_list(view, "findings");
  struct nai_index_rule *rules = NULL;
  uint32_t count;
  int rc = nai_index_rules(&rules, &count, index, err);
  for (uint32_t i = 0; i < count && !rc; i++) {
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_text(map, "rule", rules[i].id);
    nai_view_put_text(map, "title", rules[i].title);
    nai_view_put_text(map, "severity", nai_severity_name(rules[i].severity));
    nai_view_put_int(map, "runs", rules[i].runs);
    put_value(map, "share", "percent", "", 100.0 * rules[i].runs / (double)index->runs->rows);
    put_value(map, "stake", "ns", "", rules[i].at_stake_ns == NAI_NULL_I64 ? NAN : (double)rules[i].at_stake_ns);
    nai_view_put_text(map, "path", nai_index_has_report(index, rules[i].path) ? rules[i].path : NULL);
    nai_view_put_text(map, "run", rules[i].run);
  }
  nai_view_put_bool(view, "any_finding", count > 0);
  free(rules);
  return rc;
}

static int put_metrics(struct nai_view *view, const struct nai_index *index, struct nai_err *err) {
  struct nai_view *list = nai_view_put_list(view, "metrics");
  struct nai_index_spread *spreads = NULL;
  uint32_t count;
  int rc = nai_index_spreads(&spreads, &count, index, err);
  for (uint32_t i = 0; i < count && !rc; i++) {
    const struct nai_index_spread *s = &spreads[i];
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_text(map, "metric", s->metric);
    nai_view_put_text(map, "better", s->better);
    nai_view_put_trusted(map, "per", nai_index_basis_words(s->basis));
    nai_view_put_bool(map, "gated", strcmp(s->gate, "none") != 0);
    nai_view_put_int(map, "runs", s->runs);
    put_value(map, "least", s->unit, s->basis, s->least);
    put_value(map, "median", s->unit, s->basis, s->median);
    put_value(map, "most", s->unit, s->basis, s->most);
    bool alike = !(s->least < s->most) || strcmp(s->better, "either") == 0;
    nai_view_put_text(map, "worst", alike ? "" : nai_get_str(index->metrics, s->worst, INDEX_METRICS_run_id));
  }
  free(spreads);
  return rc;
}

/* Every metric of every run, for the page's column of choice: [["metric", "run", "text", number]]. */
static int print_values(struct nai_buf *out, const struct nai_index *index, struct nai_err *err) {
  const struct nai_table *t = index->metrics;
  struct nai_buf text = {0};
  struct nai_json json;
  nai_json_init(&json, out, true);
  nai_json_begin_array(&json, NAI_JSON_LINES);
  for (int64_t i = 0; i < t->rows; i++) {
    double value = nai_get_f64(t, i, INDEX_METRICS_value);
    if (!isfinite(value) || nai_get_i64(t, i, INDEX_METRICS_capture) != 0)
      continue;
    nai_buf_clear(&text);
    nai_index_put_value(&text, nai_get_str(t, i, INDEX_METRICS_unit), nai_get_str(t, i, INDEX_METRICS_basis), value);
    nai_json_begin_array(&json, NAI_JSON_INLINE);
    nai_json_text(&json, nai_get_str(t, i, INDEX_METRICS_metric));
    nai_json_text(&json, nai_get_str(t, i, INDEX_METRICS_run_id));
    nai_json_text(&json, nai_buf_str(&text));
    nai_json_value(&json, NAI_COUNT, &(struct nai_value){.type = NAI_F64, .f = value});
    nai_json_end(&json);
  }
  nai_json_end(&json);
  nai_json_finish(&json);
  out->oom |= text.oom;
  nai_buf_free(&text);
  return nai_buf_check(out, err);
}

/* Titles of columns, and which of them are there at all. */
static void put_names(struct nai_view *view, const struct nai_index *index) {
  bool series = false, verdict = false;
  for (int64_t row = 0; row < index->runs->rows; row++) {
    series |= *run_text(index, row, RUNS_series) != '\0';
    verdict |= *run_text(index, row, RUNS_verdict) != '\0';
  }
  nai_view_put_text(view, "title", index->title);
  nai_view_put_trusted(view, "what", index->what);
  nai_view_put_trusted(view, "what_title", strcmp(index->what, "run") == 0 ? "Run" : "Trace");
  nai_view_put_trusted(view, "group", index->group);
  nai_view_put_bool(view, "has_series", series);
  nai_view_put_bool(view, "has_verdict", verdict);
}

static int put_all(struct nai_view *view, const struct nai_index *index, int64_t most, struct nai_err *err) {
  put_names(view, index);
  int rc = put_runs(view, index, most, err);
  if (!rc)
    rc = put_rules(view, index, err);
  return rc ? rc : put_metrics(view, index, err);
}

int nai_index_page(struct nai_buf *out, const struct nai_index *index, struct nai_err *err) {
  struct nai_view *view = nai_view_new();
  struct nai_buf values = {0};
  int rc = put_all(view, index, INT64_MAX, err);
  if (!rc)
    rc = print_values(&values, index, err);
  nai_view_put_borrowed(view, "values", nai_buf_str(&values), values.len);
  if (!rc)
    rc = nai_index_render(out, "index.html", view, NAI_ESCAPE_HTML, err);
  nai_view_free(view);
  nai_buf_free(&values);
  return rc;
}

int nai_index_markdown(struct nai_buf *out, const struct nai_index *index, struct nai_err *err) {
  struct nai_view *view = nai_view_new();
  int rc = put_all(view, index, MARKDOWN_ROWS, err);
  if (!rc)
    rc = nai_index_render(out, "index.md", view, NAI_ESCAPE_MARKDOWN, err);
  nai_view_free(view);
  return rc;
}
