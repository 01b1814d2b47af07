/* trend.json, and the table of changes. */
#include "features/nights/trend.h"
#include "rundir/publish.h"
#include "table/json.h"
#include "tables/changes.h"
#include "tables/runs.h"

enum { MAX_MOVED = 64 };

static const char *run_id(const struct nai_trend *t, uint32_t row) {
  return nai_get_str(t->index->runs, row, RUNS_run_id);
}

static void put_real(struct nai_json *json, const char *key, double value) {
  char text[40] = "";
  if (isfinite(value))
    snprintf(text, sizeof text, "%.9g", value);
  if (key)
    nai_json_key(json, key);
  nai_json_decimal(json, text);
}

static void put_values(struct nai_json *json, const struct nai_trend *t, const struct nai_trend_metric *m) {
  nai_json_put_array(json, "values", NAI_JSON_LINES);
  for (uint32_t i = 0; i < m->count; i++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "run", run_id(t, m->runs[i]));
    put_real(json, "value", m->values[i]);
    if (m->found.spikes[i])
      nai_json_put_bool(json, "spike", true);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_moved(struct nai_json *json, const struct nai_trend *t, const struct nai_trend_series *s,
                      const struct nai_trend_metric *m, const struct nai_change *change) {
  const struct nai_trend_metric *moved[MAX_MOVED];
  struct nai_trend_kernel kernels[NAI_TREND_MAX_KERNELS];
  uint32_t n = nai_trend_moved(moved, MAX_MOVED, s, m, change), count;
  struct nai_err err;
  nai_json_put_array(json, "moved_with", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < n; i++)
    nai_json_text(json, moved[i]->metric);
  nai_json_end(json);
  nai_json_put_array(json, "kernels", NAI_JSON_LINES);
  if (nai_trend_kernels(kernels, &count, t, m, change, &err) != NAI_OK)
    json->out->oom = true;
  for (uint32_t i = 0; i < count; i++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "name", kernels[i].name);
    put_real(json, "before_ns", kernels[i].before);
    put_real(json, "after_ns", kernels[i].after);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_changes(struct nai_json *json, const struct nai_trend *t, const struct nai_trend_series *s,
                        const struct nai_trend_metric *m) {
  nai_json_put_array(json, "changes", NAI_JSON_LINES);
  for (uint32_t i = 0; i < m->found.count; i++) {
    const struct nai_change *c = &m->found.changes[i];
    nai_json_begin_object(json, NAI_JSON_LINES);
    nai_json_put_text(json, "good_run", run_id(t, nai_trend_good_run(m, c)));
    nai_json_put_text(json, "bad_run", run_id(t, nai_trend_bad_run(m, c)));
    put_real(json, "before", c->before);
    put_real(json, "after", c->after);
    put_real(json, "pct", c->before != 0 ? 100 * (c->after - c->before) / fabs(c->before) : NAN);
    put_real(json, "p", c->p);
    nai_json_put_bool(json, "worse", nai_trend_is_worse(m, c));
    nai_json_put_text(json, "note", nai_get_str(t->index->runs, nai_trend_bad_run(m, c), RUNS_note));
    put_moved(json, t, s, m, c);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_metric(struct nai_json *json, const struct nai_trend *t, const struct nai_trend_series *s,
                       const struct nai_trend_metric *m) {
  NAI_SCOPED(nai_buf) made_up = {0};
  if (m->is_made_up)
    nai_trend_put_made_up(&made_up, s, m);
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_put_text(json, "metric", m->metric);
  nai_json_put_text(json, "unit", m->unit);
  nai_json_put_text(json, "basis", m->basis);
  nai_json_put_text(json, "better", m->better);
  nai_json_put_text(json, "gate", m->gate);
  nai_json_put_text(json, "state", nai_trend_state_name(m->state));
  nai_json_put_text(json, "since", m->since ? nai_get_str(t->index->runs, m->runs[m->since], RUNS_run_id) : NULL);
  nai_json_put_text(json, "made_up", made_up.len ? nai_buf_str(&made_up) : NULL);
  nai_json_put_text(json, "defined_since",
                    m->defined_from ? nai_get_str(t->index->runs, m->runs[m->defined_from], RUNS_run_id) : NULL);
  put_real(json, "newest", m->newest);
  put_real(json, "usual", m->usual);
  put_real(json, "limit", m->limit);
  put_real(json, "anchor", m->anchor);
  put_real(json, "history_noise_pct", 100 * m->rule.history_noise);
  put_changes(json, t, s, m);
  put_values(json, t, m);
  nai_json_end(json);
}

static void put_series(struct nai_json *json, const struct nai_trend *t, const struct nai_trend_series *s) {
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_put_text(json, "series", s->series);
  nai_json_put_text(json, "environment", s->environment);
  nai_json_put_int(json, "runs", s->run_count);
  nai_json_put_int(json, "failed", s->failed_count);
  nai_json_put_int(json, "undecided", s->undecided_count);
  nai_json_put_int(json, "ignored", s->ignored_count);
  nai_json_put_array(json, "metrics", NAI_JSON_LINES);
  for (uint32_t i = 0; i < s->metric_count; i++)
    put_metric(json, t, s, &s->metrics[i]);
  nai_json_end(json);
  nai_json_end(json);
}

static void print_json(struct nai_buf *out, const struct nai_trend *t) {
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_text(&json, "schema_version", "1.0");
  nai_json_put_text(&json, "version", NAI_VERSION);
  nai_json_put_text(&json, "anchor", t->anchor);
  nai_json_put_bool(&json, "failed", nai_trend_has_failed(t));
  nai_json_put_bool(&json, "undecided", nai_trend_is_undecided(t));
  nai_json_put_array(&json, "series", NAI_JSON_LINES);
  for (uint32_t i = 0; i < t->series_count; i++)
    put_series(&json, t, &t->series[i]);
  nai_json_close(&json);
}

int nai_trend_add_changes(struct nai_table *to, const struct nai_trend *t, struct nai_err *err) {
  for (uint32_t s = 0; s < t->series_count; s++)
    for (uint32_t i = 0; i < t->series[s].metric_count; i++) {
      const struct nai_trend_metric *m = &t->series[s].metrics[i];
      for (uint32_t c = 0; c < m->found.count; c++) {
        const struct nai_change *change = &m->found.changes[c];
        NAI_ADD(CHANGES, to, .series = t->series[s].series, .metric = m->metric, .basis = m->basis,
                .good_run = run_id(t, nai_trend_good_run(m, change)),
                .bad_run = run_id(t, nai_trend_bad_run(m, change)), .before = change->before, .after = change->after,
                .p = change->p);
      }
    }
  return nai_table_check(to, err);
}

int nai_trend_write(const struct nai_trend *t, const char *directory, const char *links, void (*note)(const char *line),
                    struct nai_err *err) {
  NAI_SCOPED(nai_publication) p = {0};
  NAI_SCOPED(nai_buf) json = {0}, markdown = {0}, page = {0};
  NAI_TRY(nai_publish_begin(&p, directory, "trend.json", note, err));
  print_json(&json, t);
  NAI_TRY(nai_publish_file(&p, "trend.json", &json, err));
  NAI_TRY(nai_trend_print(&markdown, t, NULL, err));
  NAI_TRY(nai_publish_file(&p, "trend.md", &markdown, err));
  NAI_TRY(nai_trend_print(&page, t, links, err));
  NAI_TRY(nai_publish_file(&p, "trend.html", &page, err));
  return nai_publish_commit(&p, err);
}
