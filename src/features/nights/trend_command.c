/* nsys-ai trend: how the metrics of a store went. */
#include "base/escape.h"
#include "base/fmt.h"
#include "base/fs.h"
#include "features/nights/fleet.h"
#include "features/nights/store_command.h"
#include "table/json.h"
#include "tables/runs.h"

enum { MAX_METRICS = 64 };

struct trend_args {
  const char *store, *series, *out, *anchor;
  const char *metrics[MAX_METRICS], *labels[NAI_STORE_MAX_LABELS];
  size_t metric_count, label_count;
  bool all, gate, json, quiet;
};

#define NAI_CLI_ARGS struct trend_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(text, store, "store", "DIR", "the store", .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(text, out, "out", "DIR", "directory for trend.md, trend.html and trend.json", .letter = 'o',
                   .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(text, series, "series", "NAME", "this series only: NAME, or NAME/ENVIRONMENT", .otherwise = "all"),
    NAI_CLI_LIST(texts, labels, label_count, "label", "KEY=VALUE",
                 "runs with this label only; repeatable: with all of them", .otherwise = "all"),
    NAI_CLI_LIST(texts, metrics, metric_count, "metric", "ID", "this metric; ID may end in *; repeatable",
                 .otherwise = "those that gate"),
    NAI_CLI_OPTION(text, anchor, "anchor", "BASELINE", "measure creep against this baseline of the store",
                   .otherwise = "the baseline release, if there is one"),
    NAI_CLI_SWITCH(
        on, all, "all",
        "a row per series in place of a drawing per metric, the worst first: fleet.html, fleet.md, fleet.csv and fleet.prom"),
    NAI_CLI_SWITCH(
        on, gate, "gate",
        "exit 1 when the two newest runs of a gated metric lie beyond their history, or its level beyond the anchor; 7 "
        "when the newest run failed or lacks a gated metric that earlier ones have, or nothing gates"),
    NAI_CLI_SWITCH(on, json, "json", "print one line of JSON that sums it up"),
    NAI_CLI_SWITCH(on, quiet, "quiet", "print nothing but errors", .letter = 'q'),
    {0},
};

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct trend_args *a = memory;
  (void)operands, (void)count;
  if (!a->store || !a->out)
    return nai_err_set(err, NAI_EUSAGE, "--%s DIR is missing", a->store ? "out" : "store");
  if (a->all && a->json)
    return nai_err_set(err, NAI_EUSAGE, "--json is of single series; of all there is fleet.csv");
  return NAI_OK;
}

static void put_real(struct nai_json *json, const char *key, double value) {
  NAI_SCOPED(nai_buf) text = {0};
  if (!isnan(value))
    nai_fmt_real(&text, value, 6);
  nai_json_key(json, key);
  nai_json_decimal(json, nai_buf_str(&text));
}

static void put_metric(struct nai_json *json, const struct nai_trend_metric *m) {
  nai_json_begin_object(json, NAI_JSON_INLINE);
  nai_json_put_text(json, "metric", m->metric);
  nai_json_put_text(json, "unit", m->unit);
  nai_json_put_text(json, "state", nai_trend_state_name(m->state));
  nai_json_put_int(json, "changes", m->found.count);
  put_real(json, "newest", m->newest);
  put_real(json, "baseline", m->usual);
  nai_json_end(json);
}

static int print_json(const struct nai_trend *trend, const struct trend_args *a, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_json json;
  nai_json_open(&json, &text, NAI_JSON_INLINE);
  nai_json_put_text(&json, "schema_version", "1.0");
  nai_json_put_text(&json, "out", a->out);
  nai_json_put_bool(&json, "failed", nai_trend_has_failed(trend));
  nai_json_put_bool(&json, "undecided", nai_trend_is_undecided(trend));
  nai_json_put_array(&json, "series", NAI_JSON_INLINE);
  for (uint32_t s = 0; s < trend->series_count; s++) {
    const struct nai_trend_series *series = &trend->series[s];
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    nai_json_put_text(&json, "series", series->series);
    nai_json_put_int(&json, "runs", series->run_count);
    nai_json_put_int(&json, "failed_runs", series->failed_count);
    nai_json_put_int(&json, "undecided_runs", series->undecided_count);
    nai_json_put_array(&json, "metrics", NAI_JSON_INLINE);
    for (uint32_t i = 0; i < series->metric_count; i++)
      put_metric(&json, &series->metrics[i]);
    nai_json_end(&json);
    nai_json_end(&json);
  }
  nai_json_close(&json);
  return nai_cmd_print(&text, err);
}

static void put_run(struct nai_view *map, const char *key, const struct nai_trend *trend, uint32_t row) {
  struct nai_view *run = nai_view_put_map(map, key);
  nai_view_put_text(run, "id", nai_get_str(trend->index->runs, row, RUNS_run_id));
  nai_trend_put_labels(run, nai_get_str(trend->index->runs, row, RUNS_labels_json));
}

/* Since which run what is wrong now is so, and the run of the newest change, if that is another one. */
static void put_runs(struct nai_view *map, const struct nai_trend *trend, const struct nai_trend_metric *m) {
  struct nai_change begin = {0};
  bool begun = m->state >= NAI_TREND_WARN && nai_trend_begin(&begin, m);
  const struct nai_change *newest = m->found.count ? &m->found.changes[m->found.count - 1] : NULL;
  if (begun)
    put_run(map, "since", trend, nai_trend_bad_run(m, &begin));
  if (newest && !(begun && newest->at == begin.at))
    put_run(map, "changed", trend, nai_trend_bad_run(m, newest));
}

/* A line per series, and one per metric that is not steady or has changed. */
static int print_summary(const struct nai_trend *trend, const struct trend_args *a, struct nai_err *err) {
  NAI_OWNED(nai_view) *view = nai_view_new();
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_view *list = nai_view_put_list(view, "series");
  for (uint32_t s = 0; s < trend->series_count; s++) {
    const struct nai_trend_series *series = &trend->series[s];
    struct nai_view *map = nai_view_add_map(list), *metrics = nai_view_put_list(map, "metrics");
    nai_view_put_trusted(map, "series", series->series);
    nai_view_put_int(map, "runs", series->run_count);
    nai_view_put_bool(map, "one_run", series->run_count == 1);
    nai_view_put_int(map, "failed", series->failed_count);
    if (series->undecided_count)
      nai_view_put_int(map, "undecided", series->undecided_count);
    for (uint32_t i = 0; i < series->metric_count; i++) {
      const struct nai_trend_metric *m = &series->metrics[i];
      NAI_SCOPED(nai_buf) made_up = {0};
      if (m->state < NAI_TREND_WARN && !m->found.count && !m->is_made_up)
        continue;
      struct nai_view *metric = nai_view_add_map(metrics);
      nai_view_put_text(metric, "metric", m->metric);
      nai_view_put_trusted(metric, "state", nai_trend_state_name(m->state));
      nai_view_put_int(metric, "changes", m->found.count);
      nai_view_put_bool(metric, "one_change", m->found.count == 1);
      put_runs(metric, trend, m);
      if (m->is_made_up)
        nai_trend_put_made_up(&made_up, series, m);
      nai_view_put_buf(metric, "made_up", NAI_TEXT_TRUSTED, &made_up);
    }
  }
  nai_trend_put_unjudged(view, trend);
  nai_view_put_text(view, "out", a->out);
  NAI_TRY(nai_index_render(&text, "trend.txt", view, NAI_ESCAPE_TERMINAL, err));
  return nai_cmd_print_lines(&text, err);
}

/* A gate that decided nothing says so where nothing else does, a line for each reason. */
static int note_unjudged(const struct nai_trend *trend, struct nai_err *err) {
  NAI_OWNED(nai_view) *view = nai_view_new();
  NAI_SCOPED(nai_buf) text = {0};
  nai_trend_put_unjudged(view, trend);
  NAI_TRY(nai_index_render(&text, "trend_unjudged.txt", view, NAI_ESCAPE_TERMINAL, err));
  char *rest = NULL;
  for (char *line = text.len ? strtok_r(text.data, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
    nai_cmd_note(line);
  return NAI_OK;
}

/* Where the store lies from the page, so that both can be given away together. */
static int put_link(struct nai_buf *out, const char *page, const char *store, struct nai_err *err) {
  char path[PATH_MAX];
  NAI_TRY(nai_fs_relative(path, sizeof path, page, store, err));
  nai_escape_url(out, path, strlen(path));
  return NAI_OK;
}

/* The exit status. */
static int gate(const struct trend_args *a, bool failed, bool undecided) {
  enum { UNDECIDED = 7 };
  return !a->gate ? NAI_OK : failed ? 1 : undecided ? UNDECIDED : NAI_OK;
}

static int report(const struct nai_store *store, const struct nai_store_baseline *anchor, const struct trend_args *a,
                  struct nai_err *err) {
  const struct nai_trend_options how = {.series = a->series,
                                        .metrics = a->metrics,
                                        .metric_count = a->metric_count,
                                        .anchor = anchor,
                                        .anchor_name = a->anchor ? a->anchor : "release"};
  NAI_SCOPED(nai_index) index = {0};
  NAI_SCOPED(nai_trend) trend = {.arena = NAI_ARENA(NULL)};
  NAI_SCOPED(nai_buf) link = {0};
  NAI_TRY(put_link(&link, a->out, store->path, err));
  NAI_TRY(nai_buf_check(&link, err));
  NAI_TRY(nai_store_index(&index, store, NAI_STORE_READ, err));
  NAI_TRY(nai_trend_find(&trend, &index, store, &how, err));
  NAI_TRY(nai_trend_write(&trend, a->out, nai_buf_str(&link), nai_cmd_note, err));
  if (a->json)
    NAI_TRY(print_json(&trend, a, err));
  else if (!a->quiet)
    NAI_TRY(print_summary(&trend, a, err));
  bool undecided = nai_trend_is_undecided(&trend);
  if (a->gate && (a->json || a->quiet) && (undecided || !nai_trend_is_judged(&trend)))
    NAI_TRY(note_unjudged(&trend, err));
  if (index.unread.code)
    return nai_err_set(err, index.unread.code, "%s", index.unread.msg);
  return gate(a, nai_trend_has_failed(&trend), undecided);
}

/* All series at a glance. */
static int report_all(const char *store, const struct nai_store_baseline *anchor, const struct trend_args *a,
                      struct nai_err *err) {
  const struct nai_fleet_options how = {.trend = {.series = a->series,
                                                  .metrics = a->metrics,
                                                  .metric_count = a->metric_count,
                                                  .anchor = anchor,
                                                  .anchor_name = a->anchor ? a->anchor : "release"},
                                        .labels = a->labels,
                                        .label_count = a->label_count};
  NAI_SCOPED(nai_fleet) fleet = NAI_FLEET;
  NAI_SCOPED(nai_buf) link = {0}, text = {0};
  NAI_TRY(put_link(&link, a->out, store, err));
  NAI_TRY(nai_buf_check(&link, err));
  NAI_TRY(nai_fleet_find(&fleet, store, &how, err));
  for (uint32_t i = 0; i < fleet.count; i++)
    for (uint32_t k = 0; k < fleet.rows[i].notes.count; k++)
      nai_cmd_note(nai_strings_get(&fleet.rows[i].notes, k));
  NAI_TRY(nai_fleet_write(&fleet, a->out, nai_buf_str(&link), nai_cmd_note, err));
  NAI_TRY(nai_fleet_print(&text, &fleet, a->out, err));
  if (!a->quiet)
    NAI_TRY(nai_cmd_print(&text, err));
  return gate(a, nai_fleet_has_failed(&fleet), nai_fleet_is_undecided(&fleet));
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct trend_args *a = memory;
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  NAI_SCOPED(nai_store_baseline) anchor = {0};
  NAI_SCOPED(nai_strings) baselines = {0};
  (void)operands, (void)count;
  NAI_TRY(nai_store_open(&store, a->store, false, err));
  NAI_TRY(nai_store_baselines(&baselines, &store, err));
  bool has_anchor = a->anchor || nai_strings_find(&baselines, "release", strlen("release")) != NAI_NO_STRING;
  if (has_anchor)
    NAI_TRY(nai_store_baseline(&anchor, &store, a->anchor ? a->anchor : "release", err));
  if (a->all)
    return report_all(store.path, has_anchor ? &anchor : NULL, a, err);
  NAI_TRY(nai_store_read(&store, a->series, err));
  nai_cmd_note_damaged(&store);
  NAI_TRY(nai_store_keep_labelled(&store, a->labels, a->label_count, err));
  return report(&store, has_anchor ? &anchor : NULL, a, err);
}

NAI_CLI_COMMAND(
    nai_cmd_trend, .name = "trend", .synopsis = "",
    .summary = "show how the metrics of a store went, and where they changed",
    .description =
        "For every series of a store and every metric: its levels over the runs, the runs between which it changed and what "
        "else changed with it, spikes, where the newest run stands against its history, and how far the level has moved from "
        "a baseline. A change of environment is another series. With --all a row per series, the worst first. docs/nightly.md "
        "explains the rules.",
    .examples = "nsys-ai trend --store nights --out artifacts/trend\n"
                "nsys-ai trend --store nights --all --out artifacts/fleet\n"
                "nsys-ai trend --store nights --series llama --metric 'gpu.*' --out artifacts/trend\n"
                "nsys-ai trend --store nights --out artifacts/trend --anchor release-1.4 --gate",
    .options = options, .check = check, .run = run)
