/* trend.html and trend.md: one view, two templates. */
#include "base/fmt.h"
#include "base/sort.h"
#include "features/compare/stats.h"
#include "features/nights/trend.h"
#include "tables/runs.h"

enum { MAX_MOVED = 12 };

struct page {
  const struct nai_trend *trend;
  const struct nai_trend_series *series;
  const char *links; /* NULL: no drawings and no links */
  struct nai_time_column times;
};

static void put_value(struct nai_view *map, const char *key, const struct nai_trend_metric *m, double value) {
  nai_index_put_value(map, key, m->unit, m->basis, value);
}

/* A figure stands alone; in a table times have one unit. */
static const struct nai_time_column *times_of(const struct page *p) { return p->links ? NULL : &p->times; }

/* "+6.6 %" */
static void put_pct(struct nai_view *map, const char *key, double before, double after) {
  NAI_SCOPED(nai_buf) text = {0};
  if (before != 0 && isfinite(before)) {
    double pct = 100 * (after - before) / fabs(before);
    nai_buf_puts(&text, pct < 0 ? "-" : "+");
    nai_fmt_percent(&text, fabs(pct));
  }
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

void nai_trend_put_labels(struct nai_view *map, const char *json) {
  NAI_SCOPED(nai_buf) text = {0};
  for (; *json; json++)
    if (!strchr("{}\"", *json))
      nai_buf_putc(&text, *json);
  nai_view_put_buf(map, "labels", NAI_TEXT_FOREIGN, &text);
}

static void put_run(struct nai_view *map, const char *key, const struct page *p, uint32_t row) {
  struct RUNS_row run = RUNS_at(p->trend->index->runs, row);
  struct nai_view *view = nai_view_put_map(map, key);
  nai_view_put_text(view, "id", run.run_id);
  nai_trend_put_labels(view, run.labels_json);
  nai_view_put_text(view, "note", run.note);
  nai_trend_put_href(view, p->trend, p->links, row);
}

/* All captures of a run, as a shell finds them. */
static void put_captures(struct nai_buf *out, const struct page *p, uint32_t run) {
  const char *path = nai_get_str(p->trend->index->runs, run, RUNS_path), *slash = strrchr(path, '/');
  nai_buf_printf(out, "\"$STORE\"/%.*s/*", (int)(slash ? slash - path : (ptrdiff_t)strlen(path)), path);
}

/* The command that compares the last run before a change with the first one after it. */
static void put_command(struct nai_view *map, const struct page *p, uint32_t good, uint32_t bad) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_buf_puts(&text, "nsys-ai compare --base ");
  put_captures(&text, p, good);
  nai_buf_puts(&text, " --new ");
  put_captures(&text, p, bad);
  nai_view_put_buf(map, "command", NAI_TEXT_CODE, &text);
}

/* "f1-3": a metric's drawing on the page. */
static void put_place(struct nai_view *map, const char *key, const struct page *p, const struct nai_trend_metric *m) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_buf_printf(&text, "f%td-%td", p->series - p->trend->series, m - p->series->metrics);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

static void put_duration(struct nai_view *map, const char *key, double ns) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_duration(&text, ns);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

static int put_kernels(struct nai_view *map, const struct page *p, const struct nai_trend_metric *m,
                       const struct nai_change *change, struct nai_err *err) {
  struct nai_trend_kernel kernels[NAI_TREND_MAX_KERNELS];
  struct nai_view *list = nai_view_put_list(map, "kernels");
  uint32_t count;
  NAI_TRY(nai_trend_kernels(kernels, &count, p->trend, m, change, err));
  nai_view_put_bool(map, "none_slower", count && kernels[0].after < kernels[0].before && nai_trend_is_worse(m, change));
  for (uint32_t i = 0; i < count; i++) {
    struct nai_view *kernel = nai_view_add_map(list);
    nai_view_put_code(kernel, "name", kernels[i].name);
    nai_view_put_bool(kernel, "faster", kernels[i].after < kernels[i].before);
    put_duration(kernel, "before", kernels[i].before);
    put_duration(kernel, "after", kernels[i].after);
  }
  return NAI_OK;
}

static int put_change(struct nai_view *list, const struct page *p, const struct nai_trend_metric *m,
                      const struct nai_change *change, struct nai_err *err) {
  const struct nai_trend_metric *moved[MAX_MOVED];
  uint32_t n = nai_trend_moved(moved, MAX_MOVED, p->series, m, change);
  struct nai_view *map = nai_view_add_map(list);
  NAI_SCOPED(nai_buf) text = {0};
  nai_index_put_below(map, "before", times_of(p), m->unit, m->basis, change->before);
  nai_index_put_below(map, "after", times_of(p), m->unit, m->basis, change->after);
  put_pct(map, "pct", change->before, change->after);
  nai_buf_printf(&text, change->p < 1e-4 ? "%.0e" : "%.4f", change->p);
  nai_view_put_buf(map, "p", NAI_TEXT_TRUSTED, &text);
  nai_buf_clear(&text);
  nai_view_put_text(map, "metric", m->metric);
  nai_view_put_trusted(map, "direction",
                       strcmp(m->better, "either") == 0 ? "changed"
                       : nai_trend_is_worse(m, change)  ? "worse"
                                                        : "better");
  put_run(map, "good", p, nai_trend_good_run(m, change));
  put_run(map, "bad", p, nai_trend_bad_run(m, change));
  put_command(map, p, nai_trend_good_run(m, change), nai_trend_bad_run(m, change));
  for (uint32_t i = 0; i < n; i++)
    nai_buf_printf(&text, "%s%s", i ? ", " : "", moved[i]->metric);
  nai_view_put_buf(map, "moved", NAI_TEXT_FOREIGN, &text);
  return put_kernels(map, p, m, change, err);
}

static void put_spike(struct nai_view *spike, const struct page *p, const struct nai_trend_metric *m, uint32_t i) {
  put_run(spike, "run", p, m->runs[i]);
  put_value(spike, "value", m, m->values[i]);
}

/* All of them, the newest first and few of them unfolded; for those who want few words their number and the newest. */
static void put_spikes(struct nai_view *map, const struct page *p, const struct nai_trend_metric *m) {
  enum { UNFOLDED = 3 };
  struct nai_view *list = nai_view_put_list(map, "spikes"), *more = NULL;
  uint32_t count = 0, newest = 0;
  for (uint32_t i = m->count; i-- > 0;)
    if (m->found.spikes[i]) {
      if (count == UNFOLDED)
        more = nai_view_put_list(nai_view_put_map(map, "more_spikes"), "folded");
      put_spike(nai_view_add_map(more ? more : list), p, m, i);
      newest = count++ ? newest : i;
    }
  nai_view_put_int(map, "spike_count", count);
  nai_view_put_int(map, "more_spike_count", count > UNFOLDED ? count - UNFOLDED : 0);
  nai_view_put_bool(map, "one_more_spike", count == UNFOLDED + 1);
  if (count)
    put_spike(nai_view_put_map(map, "newest_spike"), p, m, newest);
}

static int put_metric(struct nai_view *list, const struct page *p, const struct nai_trend_metric *m,
                      struct nai_err *err) {
  struct nai_view *map = nai_view_add_map(list);
  put_place(map, "place", p, m);
  nai_view_put_text(map, "metric", m->metric);
  nai_view_put_trusted(map, "per", nai_index_basis_words(m->basis));
  nai_view_put_text(map, "better", m->better);
  nai_view_put_trusted(map, "state", nai_trend_state_name(m->state));
  nai_view_put_bool(map, "alarm", m->state >= NAI_TREND_WARN);
  nai_view_put_bool(map, "gated", strcmp(m->gate, "gate") == 0);
  nai_view_put_int(map, "runs", m->count);
  nai_index_put_below(map, "newest", times_of(p), m->unit, m->basis, m->newest);
  nai_index_put_below(map, "usual", times_of(p), m->unit, m->basis, m->usual);
  nai_index_put_below(map, "limit", times_of(p), m->unit, m->basis, m->limit);
  put_pct(map, "newest_pct", m->usual, m->newest);
  nai_view_put_bool(map, "has_usual", !isnan(m->usual));
  nai_view_put_trusted(map, "direction", strcmp(m->better, "higher") == 0 ? "less" : "more");
  nai_view_put_bool(map, "has_anchor", !isnan(m->anchor));
  put_value(map, "anchor", m, m->anchor);
  put_spikes(map, p, m);
  struct nai_view *changes = nai_view_put_list(map, "changes");
  for (uint32_t i = 0; i < m->found.count; i++)
    NAI_TRY(put_change(changes, p, m, &m->found.changes[i], err));
  if (p->links)
    nai_trend_put_chart(map, p->trend, m, p->links);
  return NAI_OK;
}

static int rank_of(const struct nai_trend_metric *m) {
  static const int ranks[NAI_TREND_STATES] = {[NAI_TREND_FAIL] = 0, [NAI_TREND_CREEP] = 1, [NAI_TREND_WARN] = 2};
  return m->state >= NAI_TREND_WARN ? ranks[m->state] : m->found.count || m->is_made_up ? 3 : 4;
}

/* What asks for attention first. */
/* Of equals by name: that is their order in the series. */
NAI_ORDER_BY(by_urgency, struct nai_trend_metric *const, rank_of(*a) - rank_of(*b), NAI_SIGN(*a, *b))

/* What got worse, for those who read no further; and what looks so, but is what shorter parts of a step leave over. */
static int put_worse(struct nai_view *worse, struct nai_view *made_up, const struct page *p,
                     const struct nai_trend_metric *m, struct nai_err *err) {
  struct nai_change begin;
  bool alarm = m->state >= NAI_TREND_WARN, begun = nai_trend_begin(&begin, m);
  if (!alarm && !begun)
    return NAI_OK;
  bool is_worse = alarm || !begin.is_made_up;
  NAI_SCOPED(nai_buf) why = {0};
  if (!is_worse)
    nai_trend_put_made_up(&why, p->series, m);
  struct nai_view *map = nai_view_add_map(is_worse ? worse : made_up);
  nai_view_put_buf(map, "why", NAI_TEXT_TRUSTED, &why);
  put_place(map, "place", p, m);
  nai_view_put_text(map, "metric", m->metric);
  nai_view_put_text(map, "series", p->trend->series_count > 1 ? p->series->series : NULL);
  nai_view_put_bool(map, "alarm", alarm);
  nai_view_put_trusted(map, "state", alarm ? nai_trend_state_name(m->state) : "worse");
  bool crept = m->state == NAI_TREND_CREEP && !isnan(m->anchor);
  double before = is_worse && !alarm ? begin.before : crept ? m->anchor : m->usual;
  nai_view_put_trusted(map, "what", is_worse && !alarm ? "before" : crept ? "at the anchor" : "baseline");
  put_value(map, "newest", m, m->newest);
  put_value(map, "before", m, before);
  put_pct(map, "pct", before, m->newest);
  if (!begun)
    return NAI_OK;
  put_run(map, "since", p, nai_trend_bad_run(m, &begin));
  put_run(map, "good", p, nai_trend_good_run(m, &begin));
  put_command(map, p, nai_trend_good_run(m, &begin), nai_trend_bad_run(m, &begin));
  return put_kernels(map, p, m, &begin, err);
}

static void put_failed(struct nai_view *map, const struct page *p) {
  struct nai_view *list = nai_view_put_list(map, "failed");
  for (uint32_t i = 0; i < p->series->run_count; i++) {
    struct RUNS_row run = RUNS_at(p->trend->index->runs, p->series->first_run + i);
    if (strcmp(run.status, "ok") == 0)
      continue;
    struct nai_view *failed = nai_view_add_map(list);
    nai_view_put_text(failed, "id", run.run_id);
    nai_view_put_text(failed, "error", run.error);
  }
}

/* Nothing happened to it. */
static bool is_flat(const struct nai_trend_metric *m) {
  bool spikes = false;
  for (uint32_t i = 0; i < m->count; i++)
    spikes |= m->found.spikes[i];
  return m->state < NAI_TREND_WARN && !m->found.count && !m->is_made_up && !spikes;
}

static int put_series(struct nai_view *list, struct nai_view *worse, struct nai_view *made_up, const struct page *p,
                      struct nai_err *err) {
  const struct nai_trend_series *s = p->series;
  struct nai_view *map = nai_view_add_map(list), *metrics = nai_view_put_list(map, "metrics"),
                  *flat = nai_view_put_list(map, "flat");
  enum { MAX_OPEN = 5 }; /* failed nights that are not folded */
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const struct nai_trend_metric **order;
  uint32_t changes = 0, flat_count = 0;
  nai_view_put_text(map, "series", s->series);
  nai_view_put_text(map, "environment", s->environment);
  nai_view_put_int(map, "runs", s->run_count);
  nai_view_put_trusted(map, "run_s", s->run_count == 1 ? "" : "s");
  nai_view_put_bool(map, "any_metric", s->metric_count > 0);
  nai_view_put_int(map, "failed_count", s->failed_count);
  nai_view_put_int(map, "undecided_count", s->undecided_count);
  nai_view_put_int(map, "ignored_count", s->ignored_count);
  nai_view_put_bool(map, "any_failed", s->failed_count > 0);
  nai_view_put_bool(map, "few_failed", s->failed_count <= MAX_OPEN);
  put_failed(map, p);
  NAI_TRY(NAI_NEW(order, &arena, s->metric_count, err));
  for (uint32_t i = 0; i < s->metric_count; i++)
    order[i] = &s->metrics[i];
  qsort(order, s->metric_count, sizeof *order, by_urgency);
  for (uint32_t i = 0; i < s->metric_count; i++) {
    changes += order[i]->found.count;
    NAI_TRY(put_worse(worse, made_up, p, order[i], err));
    NAI_TRY(put_metric(is_flat(order[i]) ? flat : metrics, p, order[i], err));
    flat_count += is_flat(order[i]);
  }
  nai_view_put_bool(map, "any_change", changes > 0);
  nai_view_put_bool(map, "any_flat", flat_count > 0);
  nai_view_put_int(map, "flat_count", flat_count);
  return NAI_OK;
}

static struct nai_time_column find_times(const struct nai_trend_series *series) {
  struct nai_time_column times = {0};
  for (uint32_t i = 0; i < series->metric_count; i++) {
    nai_index_add_time(&times, series->metrics[i].unit, series->metrics[i].newest);
    nai_index_add_time(&times, series->metrics[i].unit, series->metrics[i].usual);
  }
  return times;
}

/* --- what is not judged ----------------------------------------------------------------------- */

/* Series whose newest run measured nothing, and those that have none since their name goes on in another environment.
 */
static void put_unmeasured(struct nai_view *view, const struct nai_trend *t) {
  struct nai_view *failed = nai_view_put_list(view, "unmeasured"), *moved = nai_view_put_list(view, "moved");
  bool any = false;
  for (uint32_t i = 0; i < t->series_count; i++) {
    const struct nai_trend_series *s = &t->series[i];
    struct RUNS_row run = RUNS_at(t->index->runs, s->newest_run);
    if (!s->moved_to && !s->newest_failed)
      continue;
    any |= !s->moved_to;
    struct nai_view *map = nai_view_add_map(s->moved_to ? moved : failed);
    nai_view_put_text(map, "series", s->series);
    nai_view_put_text(map, "id", run.run_id);
    nai_view_put_text(map, "error", run.error);
    nai_view_put_text(map, "to", s->moved_to);
  }
  nai_view_put_bool(view, "any_unmeasured", any);
}

/* The metrics that the newest run lacks; tells whether there is one. */
static bool put_missing(struct nai_view *list, const struct nai_trend *t, const struct nai_trend_series *s) {
  enum { NAMED = 3 };
  struct nai_view *map = NULL, *metrics = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < s->metric_count; i++) {
    if (!s->metrics[i].is_missing)
      continue;
    if (!count) {
      map = nai_view_add_map(list);
      metrics = nai_view_put_list(map, "metrics");
      nai_view_put_text(map, "series", s->series);
      nai_view_put_text(map, "id", nai_get_str(t->index->runs, s->newest_measured, RUNS_run_id));
    }
    if (count++ >= NAMED)
      continue;
    struct nai_view *metric = nai_view_add_map(metrics);
    nai_view_put_bool(metric, "first", count == 1);
    nai_view_put_text(metric, "metric", s->metrics[i].metric);
  }
  if (count > NAMED)
    nai_view_put_int(map, "more", count - NAMED);
  if (count)
    nai_view_put_trusted(map, "them", count == 1 ? "it" : "them");
  return count > 0;
}

void nai_trend_put_unjudged(struct nai_view *view, const struct nai_trend *t) {
  struct nai_view *ungated = nai_view_put_list(view, "ungated"), *missing = nai_view_put_list(view, "missing");
  int64_t count = 0, judged = 0;
  for (uint32_t i = 0; i < t->series_count; i++) {
    const struct nai_trend_series *s = &t->series[i];
    if (s->moved_to)
      continue;
    for (uint32_t m = 0; m < s->metric_count; m++) {
      count += s->metrics[m].state == NAI_TREND_TOO_SHORT;
      judged += s->metrics[m].state != NAI_TREND_TOO_SHORT && s->metrics[m].state != NAI_TREND_GONE;
    }
    if (!put_missing(missing, t, s) && !s->newest_failed && !nai_trend_gates(s))
      nai_view_put_text(nai_view_add_map(ungated), "series", s->series);
  }
  put_unmeasured(view, t);
  nai_view_put_bool(view, "is_gated", nai_trend_is_judged(t));
  nai_view_put_bool(view, "any_judged", judged > 0);
  nai_view_put_bool(view, "any_short", count > 0);
  nai_view_put_bool(view, "any_unjudged", count > 0 || nai_view_truth(missing));
  nai_view_put_int(view, "short_count", count);
  nai_view_put_trusted(view, "short_s", count == 1 ? "" : "s");
  nai_view_put_int(view, "short_runs", NAI_HISTORY_MIN);
}

/* --- all of it -------------------------------------------------------------------------------- */

int nai_trend_print(struct nai_buf *out, const struct nai_trend *t, const char *links, struct nai_err *err) {
  NAI_OWNED(nai_view) *view = nai_view_new();
  struct nai_view *list = nai_view_put_list(view, "series"), *worse = nai_view_put_list(view, "worse"),
                  *made_up = nai_view_put_list(view, "made_up");
  for (uint32_t i = 0; i < t->series_count; i++)
    NAI_TRY(put_series(list, worse, made_up, &(struct page){t, &t->series[i], links, find_times(&t->series[i])}, err));
  nai_trend_put_unjudged(view, t);
  nai_view_put_bool(view, "any_worse", nai_view_truth(worse));
  nai_view_put_bool(view, "any_made_up", nai_view_truth(made_up));
  nai_view_put_text(view, "anchor", t->anchor);
  nai_view_put_bool(view, "has_failed", nai_trend_has_failed(t));
  return links ? nai_index_render(out, "trend.html", view, NAI_ESCAPE_HTML, err)
               : nai_index_render(out, "trend.md", view, NAI_ESCAPE_MARKDOWN, err);
}
