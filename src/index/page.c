/* index.html and its Markdown twin: one view, two templates. */
#include "base/fmt.h"
#include "index/summary.h"
#include "rundir/run.h"
#include "table/json.h"
#include "table/severity.h"
#include "tables/index_findings.h"
#include "tables/index_metrics.h"

enum { MARKDOWN_ROWS = 20, MARKDOWN_ERRORS = 40 };

static void put_report(struct nai_view *map, const struct nai_index *index, const char *path) {
  char report[PATH_MAX];
  struct nai_err unread = {0};
  nai_view_put_text(map, "report", nai_run_find_report(report, index->directory, path, &unread) ? report : NULL);
  nai_view_lacks(map, &unread);
}

static bool is_ok(const struct RUNS_row *run) { return nai_index_is_analyzed(run->status); }

static void put_cell(struct nai_view *map, const char *key, const struct nai_index *index, int64_t row, int column,
                     enum nai_unit unit) {
  struct nai_value value = nai_table_value(index->runs, row, column);
  nai_view_put_value(map, key, unit, &value);
}

/* Rules that fired in a run, separated by spaces: by them the page filters. */
static void put_rules_of(struct nai_view *map, const struct nai_index *index, const char *run) {
  NAI_SCOPED(nai_buf) text = {0};
  int64_t count, first = nai_index_rows_of(&count, index->findings, run);
  for (int64_t i = first; i < first + count; i++)
    nai_buf_printf(&text, "%s ", nai_get_str(index->findings, i, INDEX_FINDINGS_rule));
  nai_view_put_buf(map, "rules", NAI_TEXT_FOREIGN, &text);
}

/* --- where the time of a run went ----------------------------------------------------------------------- */

enum { PARTS = 4 };
static const struct {
  const char *metric, *title, *color; /* metric: the beginning of its id; "step" or "second" follows */
} parts[PARTS] = {{"gpu.compute.per_", "compute", "#3b6fb6"},
                  {"gpu.exposed_comm.per_", "exposed communication", "#b5651d"},
                  {"gpu.exposed_copy.per_", "exposed copies", "#d0569b"},
                  {"gpu.idle.per_", "idle", "#9a9a9a"}};

/* Shares in percent: the four add up to the step, or to the second. False where one is not known. */
static bool find_shares(double out[PARTS], const struct nai_index *index, const char *run) {
  int64_t count, first = nai_index_rows_of(&count, index->metrics, run);
  double sum = 0;
  for (int k = 0; k < PARTS; k++)
    out[k] = NAN;
  for (int64_t i = first; i < first + count; i++) {
    struct INDEX_METRICS_row m = INDEX_METRICS_at(index->metrics, i);
    for (int k = 0; k < PARTS; k++)
      if (m.capture == 0 && strncmp(m.metric, parts[k].metric, strlen(parts[k].metric)) == 0)
        out[k] = m.value;
  }
  for (int k = 0; k < PARTS; k++)
    sum += out[k];
  for (int k = 0; k < PARTS; k++)
    out[k] = 100 * out[k] / sum;
  return sum > 0; /* not for NaN */
}

/* "compute 77.0 %, idle 23.0 %" as a bar of width 100. */
static void put_bar(struct nai_view *map, const struct nai_index *index, const char *run) {
  double shares[PARTS], at = 0;
  if (!find_shares(shares, index, run))
    return;
  struct nai_view *list = nai_view_put_list(nai_view_put_map(map, "bar"), "parts");
  for (int k = 0; k < PARTS; k++) {
    if (!(shares[k] > 0))
      continue;
    struct nai_view *part = nai_view_add_map(list);
    nai_view_put_trusted(part, "title", parts[k].title);
    nai_view_put_trusted(part, "color", parts[k].color);
    nai_index_put_value(part, "share", "percent", "", shares[k]);
    nai_view_put_real(part, "x", at, 2);
    nai_view_put_real(part, "width", shares[k], 2);
    at += shares[k];
  }
}

static double window_of(const struct RUNS_row *run) {
  return run->window_ns == NAI_NULL_I64 ? (double)NAN : (double)run->window_ns;
}

/* `number` is its place in the index; `row` that in this table of runs. */
static void put_run(struct nai_view *list, const struct nai_index *index, int64_t row, uint32_t number,
                    const struct nai_time_column *windows) {
  struct RUNS_row run = RUNS_at(index->runs, row);
  struct nai_view *map = nai_view_add_map(list);
  nai_view_put_text(map, "id", run.run_id);
  nai_view_put_int(map, "row", number);
  nai_view_put_bool(map, "ok", is_ok(&run));
  put_report(map, index, is_ok(&run) ? run.path : "");
  nai_view_put_text(map, "series", run.series);
  nai_view_put_text(map, "labels", run.labels_json);
  nai_view_put_text(map, "status", run.status);
  nai_view_put_text(map, "verdict", run.verdict);
  nai_view_put_text(map, "error", run.error);
  nai_view_put_text(map, "severity", run.severity);
  nai_view_put_int(map, "severity_order", nai_severity_from_name(run.severity));
  nai_view_put_text(map, "worst", run.worst_title);
  put_cell(map, "saving", index, row, RUNS_saving_ns, NAI_NS);
  nai_view_put_real(map, "pct_order", isnan(run.pct_of_capture) ? -1 : run.pct_of_capture, 4);
  if (!isnan(run.pct_of_capture))
    put_cell(map, "pct", index, row, RUNS_pct_of_capture, NAI_PCT);
  put_cell(map, "gpus", index, row, RUNS_gpu_count, NAI_COUNT);
  nai_index_put_below(map, "window", windows, "ns", "", window_of(&run));
  put_cell(map, "bytes", index, row, RUNS_input_bytes, NAI_BYTES);
  put_rules_of(map, index, run.run_id);
  put_bar(map, index, run.run_id);
}

static void put_counts(struct nai_view *view, const struct nai_index_sums *sums) {
  nai_view_put_int(view, "run_count", sums->entry_count);
  nai_view_put_trusted(view, "run_s", sums->entry_count == 1 ? "" : "s");
  nai_view_put_bool(view, "any_failed", sums->failed > 0);
  nai_view_put_int(view, "failed_count", sums->failed);
  nai_view_put_int(view, "ok_count", sums->entry_count - sums->failed);
}

/* Of a text about all runs: what was found in the worst, and what failed. */
static void put_worst(struct nai_view *view, const struct nai_index *index, const struct nai_index_sums *sums) {
  struct nai_view *runs = nai_view_put_list(view, "runs"), *refused = nai_view_put_list(view, "failed");
  int64_t found = 0, errors = 0;
  for (uint32_t i = 0; i < sums->entry_count; i++) {
    uint32_t row = sums->entries[i].row;
    struct RUNS_row run = RUNS_at(index->runs, row);
    if (!is_ok(&run) && errors++ < MARKDOWN_ERRORS)
      put_run(refused, index, row, row, NULL);
    if (is_ok(&run) && *run.worst_title && found++ < MARKDOWN_ROWS) /* a short list has no room for the rest */
      put_run(runs, index, row, row, NULL);
  }
  nai_view_put_bool(view, "any_runs", found > 0);
  nai_view_put_bool(view, "more_runs", found > MARKDOWN_ROWS);
  nai_view_put_int(view, "found_count", found);
  nai_view_put_bool(view, "more_failed", errors > MARKDOWN_ERRORS);
}

static double saving_of(const struct nai_index_rule *rule) {
  return rule->saving_ns == NAI_NULL_I64 ? (double)NAN : (double)rule->saving_ns;
}

static void put_rules(struct nai_view *view, const struct nai_index *index, const struct nai_index_sums *s) {
  struct nai_view *list = nai_view_put_list(view, "findings");
  const struct nai_index_rule *rules = s->rules;
  struct nai_time_column savings = {0};
  double analyzed = (double)(s->entry_count - s->failed);
  for (uint32_t i = 0; i < s->rule_count; i++)
    nai_time_column_add(&savings, saving_of(&rules[i]));
  for (uint32_t i = 0; i < s->rule_count; i++) {
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_text(map, "rule", rules[i].id);
    nai_view_put_text(map, "title", rules[i].title);
    nai_view_put_text(map, "severity", nai_severity_name(rules[i].severity));
    nai_view_put_int(map, "runs", rules[i].runs);
    nai_index_put_value(map, "share", "percent", "", 100.0 * rules[i].runs / analyzed);
    nai_index_put_below(map, "saving", &savings, "ns", "", saving_of(&rules[i]));
    put_report(map, index, rules[i].path);
    nai_view_put_text(map, "run", rules[i].run);
  }
  nai_view_put_bool(view, "any_finding", s->rule_count > 0);
}

/* Programs that share nothing have hundreds of their own each. */
static bool is_shared(const struct nai_index_spread *s, const struct nai_index_sums *sums) {
  return 2 * s->runs >= sums->ok;
}

static void put_metrics(struct nai_view *view, const struct nai_index_sums *sums) {
  struct nai_view *list = nai_view_put_list(view, "metrics");
  struct nai_time_column times = {0};
  uint32_t left = 0;
  for (uint32_t i = 0; i < sums->spread_count; i++) {
    const struct nai_index_spread *s = &sums->spreads[i];
    if (is_shared(s, sums)) {
      nai_index_add_time(&times, s->unit, s->least);
      nai_index_add_time(&times, s->unit, s->most);
    }
  }
  for (uint32_t i = 0; i < sums->spread_count; i++) {
    const struct nai_index_spread *s = &sums->spreads[i];
    if (!is_shared(s, sums)) {
      left++;
      continue;
    }
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_text(map, "metric", s->metric);
    bool is_goal = strcmp(s->gate, "context") != 0; /* a GPU is busy that copies all the time */
    nai_view_put_text(map, "better", is_goal ? s->better : "");
    nai_view_put_trusted(map, "per", nai_index_basis_words(s->basis));
    nai_view_put_bool(map, "gated", strcmp(s->gate, "none") != 0);
    nai_view_put_int(map, "runs", s->runs);
    nai_index_put_below(map, "least", &times, s->unit, s->basis, s->least);
    nai_index_put_below(map, "median", &times, s->unit, s->basis, s->median);
    nai_index_put_below(map, "most", &times, s->unit, s->basis, s->most);
    bool alike = !(s->least < s->most) || !is_goal || strcmp(s->better, "either") == 0;
    nai_view_put_text(map, "worst", alike ? "" : s->worst);
  }
  nai_view_put_bool(view, "any_left", left > 0);
  nai_view_put_int(view, "left_count", left);
}

/* --- index.html ----------------------------------------------------------------------------------- */

static void print_value(struct nai_json *json, struct nai_buf *text, const struct INDEX_METRICS_row *m) {
  nai_buf_clear(text);
  nai_index_print_value(text, m->unit, m->basis, m->value);
  nai_json_begin_array(json, NAI_JSON_INLINE);
  nai_json_text(json, m->metric);
  nai_json_text(json, m->run_id);
  nai_json_text(json, nai_buf_str(text));
  nai_json_value(json, NAI_COUNT, &(struct nai_value){.type = NAI_F64, .f = m->value});
  nai_json_end(json);
}

/* Every metric of its runs, for the page's column of choice: [["metric", "run", "text", number]]. */
static int print_values(struct nai_buf *out, const struct nai_index *index, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_json json;
  nai_json_init(&json, out, true);
  nai_json_begin_array(&json, NAI_JSON_LINES);
  for (int64_t i = 0; i < index->runs->rows; i++) {
    int64_t count, row = nai_index_rows_of(&count, index->metrics, nai_get_str(index->runs, i, RUNS_run_id));
    for (int64_t end = row + count; row < end; row++) {
      struct INDEX_METRICS_row m = INDEX_METRICS_at(index->metrics, row);
      if (isfinite(m.value) && m.capture == 0)
        print_value(&json, &text, &m);
    }
  }
  nai_json_finish(&json);
  out->oom |= text.oom;
  return nai_buf_check(out, err);
}

void nai_index_page_name(char out[NAI_INDEX_PAGE_NAME], int64_t part) {
  snprintf(out, NAI_INDEX_PAGE_NAME, part ? "index-part%" PRId64 ".html" : "index.html", part + 1);
}

static void put_parts(struct nai_view *view, const struct nai_index_part *part) {
  struct nai_view *list = nai_view_put_list(view, "parts_list");
  nai_view_put_bool(view, "first_part", part->number == 0);
  nai_view_put_bool(view, "many_parts", part->count > 1);
  for (int64_t i = 0; part->count > 1 && i < part->count; i++) {
    struct nai_view *map = nai_view_add_map(list);
    char name[NAI_INDEX_PAGE_NAME];
    nai_index_page_name(name, i);
    nai_view_put_int(map, "number", i + 1);
    nai_view_put_text(map, "href", name);
    nai_view_put_bool(map, "here", i == part->number);
  }
}

/* Titles of columns, and which of them are there at all. */
static void put_names(struct nai_view *view, const struct nai_index *index, const struct nai_index_sums *sums) {
  nai_view_put_text(view, "title", index->title);
  nai_view_put_trusted(view, "what", index->what);
  bool of_store = strcmp(index->what, "run") == 0;
  nai_view_put_trusted(view, "what_title", of_store ? "Run" : "Trace");
  nai_view_put_bool(view, "of_store", of_store);
  nai_view_put_trusted(view, "group", index->group);
  nai_view_put_bool(view, "has_series", sums->has_series);
  nai_view_put_bool(view, "has_verdict", sums->has_verdict);
}

/* What a text and every part of the page say. */
static void put_common(struct nai_view *view, const struct nai_index *index, const struct nai_index_sums *sums) {
  put_names(view, index, sums);
  put_counts(view, sums);
  put_rules(view, index, sums);
  put_metrics(view, sums);
}

int nai_index_print_part(struct nai_buf *out, const struct nai_index_part *part, struct nai_err *err) {
  NAI_OWNED(nai_view) *view = nai_view_new();
  struct nai_view *runs = nai_view_put_list(view, "runs");
  NAI_SCOPED(nai_buf) values = {0};
  put_common(view, part->index, part->sums);
  put_parts(view, part);
  struct nai_time_column windows = {0};
  for (int64_t i = 0; i < part->index->runs->rows; i++) {
    struct RUNS_row run = RUNS_at(part->index->runs, i);
    nai_time_column_add(&windows, window_of(&run));
  }
  for (int64_t i = 0; i < part->index->runs->rows; i++)
    put_run(runs, part->index, i, part->entries[i].row, &windows);
  NAI_TRY(print_values(&values, part->index, err));
  nai_view_put_borrowed(view, "values", nai_buf_str(&values), values.len);
  return nai_index_render(out, "index.html", view, NAI_ESCAPE_HTML, err);
}

int nai_index_markdown(struct nai_buf *out, const struct nai_index *index, struct nai_err *err) {
  NAI_OWNED(nai_view) *view = nai_view_new();
  NAI_SCOPED(nai_index_sums) sums = {0};
  NAI_TRY(nai_index_sums_add(&sums, index, err));
  NAI_TRY(nai_index_sums_finish(&sums, err));
  put_common(view, index, &sums);
  put_worst(view, index, &sums);
  return nai_index_render(out, "index.md", view, NAI_ESCAPE_MARKDOWN, err);
}
