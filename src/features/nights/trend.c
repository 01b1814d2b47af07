#include "features/nights/trend.h"
#include "base/sort.h"

#include "features/compare/compare.h"
#include "tables/index_metrics.h"
#include "tables/runs.h"

const char *nai_trend_state_name(enum nai_trend_state state) {
  static const char *const names[NAI_TREND_STATES] = {
      [NAI_TREND_STEADY] = "steady", [NAI_TREND_TOO_SHORT] = "too short", [NAI_TREND_GONE] = "gone",
      [NAI_TREND_WARN] = "warn",     [NAI_TREND_FAIL] = "fail",           [NAI_TREND_CREEP] = "creep"};
  return names[state];
}

void nai_trend_free(struct nai_trend *trend) { nai_arena_free(&trend->arena); }

/* --- collecting ------------------------------------------------------------------------------- */

struct collecting {
  struct nai_arena *arena; /* of the trend */
  const struct nai_index *index;
  const struct nai_store *store;
  const struct nai_trend_options *options;
};

static bool is_wanted(const struct nai_trend_options *o, const char *metric, const char *gate) {
  for (size_t i = 0; i < o->metric_count; i++) {
    size_t n = strlen(o->metrics[i]);
    if (n && o->metrics[i][n - 1] == '*' ? strncmp(o->metrics[i], metric, n - 1) == 0
                                         : strcmp(o->metrics[i], metric) == 0)
      return true;
  }
  return !o->metric_count && strcmp(gate, "gate") == 0;
}

/* The series' entry for a metric, by name and basis; new ones go to the end. A metric whose basis changes is two. */
static int find_metric(struct nai_trend_metric **out, struct nai_trend_series *s, uint32_t *capacity,
                       const struct collecting *c, const struct INDEX_METRICS_row *row, struct nai_err *err) {
  for (uint32_t i = 0; i < s->metric_count; i++)
    if (strcmp(s->metrics[i].metric, row->metric) == 0 && strcmp(s->metrics[i].basis, row->basis) == 0) {
      *out = &s->metrics[i];
      return NAI_OK;
    }
  NAI_TRY(NAI_ROOM(s->metrics, *capacity, s->metric_count, c->arena, err));
  struct nai_trend_metric *m = *out = &s->metrics[s->metric_count++];
  *m = (struct nai_trend_metric){.metric = row->metric, .unit = row->unit, .better = row->better, .basis = row->basis};
  NAI_TRY(NAI_NEW(m->values, c->arena, s->run_count, err));
  if (nai_metric_is_remainder(m->metric, m->basis))
    NAI_TRY(NAI_NEW(m->steps, c->arena, s->run_count, err));
  return NAI_NEW(m->runs, c->arena, s->run_count, err);
}

/* What the newest run says of the metric itself. */
static void take_rule(struct nai_trend_metric *m, const struct INDEX_METRICS_row *row) {
  m->gate = row->gate;
  m->absent = row->absent;
  m->rule.exact = strcmp(row->kind, "exact") == 0;
  m->rule.noise_pct = row->noise_pct;
  m->rule.noise = row->noise;
  m->budget_pct = row->budget_pct;
  m->budget = row->budget;
}

/* The median of a metric's values in the captures of its run, whose rows are [row, end). */
static double value_of(const struct nai_table *t, const struct INDEX_METRICS_row *metric, int64_t row, int64_t end) {
  double values[NAI_STORE_MAX_CAPTURES];
  uint32_t n = 0;
  if (!nai_get_i64(t, end - 1, INDEX_METRICS_capture)) /* of one capture names differ */
    return metric->value;
  for (; row < end && n < NAI_STORE_MAX_CAPTURES; row++) {
    double value = nai_get_f64(t, row, INDEX_METRICS_value);
    if (isfinite(value) && strcmp(nai_get_str(t, row, INDEX_METRICS_metric), metric->metric) == 0 &&
        strcmp(nai_get_str(t, row, INDEX_METRICS_basis), metric->basis) == 0)
      values[n++] = value;
  }
  return nai_median(values, n);
}

/* The step time of a run, of whose rows the first is given; NaN: it has no steps. */
static double step_of(const struct nai_table *t, int64_t first, int64_t end) {
  for (int64_t i = first; i < end && !nai_get_i64(t, i, INDEX_METRICS_capture); i++)
    if (strcmp(nai_get_str(t, i, INDEX_METRICS_metric), "step.time.median") == 0) {
      struct INDEX_METRICS_row row = INDEX_METRICS_at(t, i);
      return value_of(t, &row, i, end);
    }
  return NAN;
}

/* Rows of metrics are by run, capture, name; a run's captures of one metric are put together by name. A metric that
 * never had a value (it was infinite, say) has no trend. */
static int take_run(struct nai_trend_series *s, uint32_t *capacity, const struct collecting *c, uint32_t run,
                    struct nai_err *err) {
  const struct nai_table *t = c->index->metrics;
  int64_t count, first = nai_index_rows_of(&count, t, nai_get_str(c->index->runs, run, RUNS_run_id));
  for (int64_t i = first; i < first + count; i++) {
    struct nai_trend_metric *m = NULL;
    if (nai_get_i64(t, i, INDEX_METRICS_capture) != 0)
      break;
    if (!is_wanted(c->options, nai_get_str(t, i, INDEX_METRICS_metric), nai_get_str(t, i, INDEX_METRICS_gate)))
      continue;
    struct INDEX_METRICS_row row = INDEX_METRICS_at(t, i);
    double value = value_of(t, &row, i, first + count);
    if (!isfinite(value)) /* as the median of no values is */
      continue;
    NAI_TRY(find_metric(&m, s, capacity, c, &row, err));
    if (m->count && m->runs[m->count - 1] == run) /* whatever the index holds, there is room for one value per run */
      continue;
    take_rule(m, &row);
    int64_t definition = row.definition == NAI_NULL_I64 ? 1 : row.definition;
    if (m->count && definition != m->definition)
      m->defined_from = m->count;
    m->definition = definition;
    if (m->steps)
      m->steps[m->count] = step_of(t, first, first + count);
    m->values[m->count] = value;
    m->runs[m->count++] = run;
  }
  return NAI_OK;
}

/* --- judging the newest run ------------------------------------------------------------------- */

static double or_zero(double value) { return isnan(value) ? 0 : value; }

static double budget_of(const struct nai_trend_metric *m, double level) {
  return fmax(or_zero(m->budget_pct) / 100 * fabs(level), or_zero(m->budget));
}

static double sign_of(const struct nai_trend_metric *m) { return strcmp(m->better, "higher") == 0 ? -1 : 1; }

/* A change that is known and accepted lies behind run `from`, up to run `to`: those between failed or are ignored. */
static bool is_expected_between(const struct collecting *c, uint32_t from, uint32_t to) {
  for (uint32_t row = from + 1; row <= to; row++) {
    const struct nai_store_run *run = nai_store_find(c->store, nai_get_str(c->index->runs, row, RUNS_run_id));
    if (run && run->expected)
      return true;
  }
  return false;
}

/* Up to NAI_HISTORY_MAX good values before `at`, not across a change that is known and accepted; how many there are. */
static size_t history_of(double history[NAI_HISTORY_MAX], const double *values, const struct nai_trend_metric *m,
                         const struct collecting *c, uint32_t at) {
  size_t n = 0;
  for (uint32_t i = at; i-- > m->defined_from && n < NAI_HISTORY_MAX;) {
    const struct nai_store_run *run = nai_store_find(c->store, nai_get_str(c->index->runs, m->runs[i], RUNS_run_id));
    if (is_expected_between(c, m->runs[i], m->runs[i + 1]))
      break;
    if (!run || nai_store_is_good(run))
      history[n++] = values[i];
  }
  return n;
}

/* NaN: too few. */
static double limit_at(double *usual, const struct nai_trend_metric *m, const struct collecting *c, uint32_t at) {
  double history[NAI_HISTORY_MAX];
  size_t n = history_of(history, m->values, m, c, at);
  *usual = NAN;
  if (n < NAI_HISTORY_MIN)
    return NAN;
  *usual = nai_median(history, n);
  return nai_history_limit(history, n, budget_of(m, *usual));
}

/* Beyond its history for the worse; `known` tells whether there is a history at all. */
static bool is_beyond(bool *known, const struct nai_trend_metric *m, const struct collecting *c, uint32_t at) {
  double usual, limit = limit_at(&usual, m, c, at);
  *known = !isnan(limit);
  return *known && sign_of(m) * (m->values[at] - usual) > limit;
}

/* NaN where one of them is. */
static double median_of_all(const double *values, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (isnan(values[i]))
      return NAN;
  return nai_median(values, n);
}

/* The step time in the history of a value; NaN: unknown, or the metric is none that a step leaves over. */
static double step_before(const struct nai_trend_metric *m, const struct collecting *c, uint32_t at) {
  double history[NAI_HISTORY_MAX];
  return m->steps ? median_of_all(history, history_of(history, m->steps, m, c, at)) : (double)NAN;
}

/* Whether the step is no longer than before by what its remainder may grow: then its other parts got shorter. */
static bool is_made_up_at(const struct nai_trend_metric *m, const struct collecting *c, uint32_t at) {
  double usual, limit = limit_at(&usual, m, c, at);
  return m->steps && m->steps[at] - step_before(m, c, at) <= limit;
}

/* A value that has no history of its own is held against the newest one's. */
static uint32_t begin_of_newest(const struct nai_trend_metric *m, const struct collecting *c) {
  uint32_t since = m->count - 1;
  for (; since - 1 > m->defined_from && !is_expected_between(c, m->runs[since - 1], m->runs[since]); since--) {
    bool known = false, beyond = is_beyond(&known, m, c, since - 1);
    if (!known)
      beyond = sign_of(m) * (m->values[since - 1] - m->usual) > m->limit;
    if (!beyond)
      break;
  }
  return since;
}

/* The median of the anchor's runs; `of` stands beside the metric's values. */
static double anchor_of(const struct nai_trend_metric *m, const double *of, const struct collecting *c) {
  double values[NAI_STORE_MAX_CAPTURES];
  size_t n = 0;
  for (uint32_t i = m->defined_from; c->options->anchor && i < m->count && n < NAI_STORE_MAX_CAPTURES; i++) {
    const char *id = nai_get_str(c->index->runs, m->runs[i], RUNS_run_id);
    if (nai_strings_find(&c->options->anchor->ids, id, strlen(id)) != NAI_NO_STRING)
      values[n++] = of[i];
  }
  return n ? median_of_all(values, n) : NAN;
}

/* The level since `from` is further from the anchor's than it may be, and so is the step that it is a part of. */
static bool is_creeping(const struct nai_trend_metric *m, const struct collecting *c, uint32_t from) {
  uint32_t n = m->count - from;
  if (isnan(m->anchor) || !(budget_of(m, m->anchor) > 0) ||
      sign_of(m) * (nai_median(m->values + from, n) - m->anchor) <= m->creep_limit)
    return false;
  return !m->steps || !(median_of_all(m->steps + from, n) - anchor_of(m, m->steps, c) <= m->creep_limit);
}

static void judge(struct nai_trend_metric *m, const struct collecting *c) {
  bool known = false;
  uint32_t last = m->count - 1, level = m->found.count ? m->found.changes[m->found.count - 1].at : m->defined_from;
  m->newest = m->values[last];
  m->limit = limit_at(&m->usual, m, c, last);
  m->anchor = anchor_of(m, m->values, c);
  m->creep_limit = 2 * budget_of(m, m->anchor);
  m->state = NAI_TREND_STEADY;
  if (strcmp(m->better, "either") == 0)
    return;
  if (is_beyond(&known, m, c, last)) {
    m->since = begin_of_newest(m, c);
    m->is_made_up = is_made_up_at(m, c, last);
    m->step_usual = step_before(m, c, last);
  }
  if (m->since && !m->is_made_up)
    m->state = is_beyond(&known, m, c, last - 1) && !is_made_up_at(m, c, last - 1) ? NAI_TREND_FAIL : NAI_TREND_WARN;
  else if (is_creeping(m, c, level))
    m->state = NAI_TREND_CREEP;
  else if (!known)
    m->state = NAI_TREND_TOO_SHORT;
}

/* --- series ----------------------------------------------------------------------------------- */

NAI_ORDER_BY(by_name, struct nai_trend_metric, strcmp(a->metric, b->metric), strcmp(a->basis, b->basis))

/* The step beside a change of what it leaves over: level against level. */
static bool is_change_made_up(const struct nai_trend_metric *m, uint32_t i) {
  const struct nai_change *change = &m->found.changes[i];
  uint32_t first = i ? change[-1].at : m->defined_from, end = i + 1 < m->found.count ? change[1].at : m->count;
  if (!m->steps || change->after <= change->before)
    return false;
  double before = median_of_all(m->steps + first, change->at - first),
         after = median_of_all(m->steps + change->at, end - change->at);
  return after - before <= budget_of(m, change->before);
}

/* A new definition is no change of the program: what is before it is another series of numbers. */
static int find_in_definition(struct nai_trend_metric *m, const struct collecting *c, struct nai_err *err) {
  const double *values = m->values + m->defined_from;
  uint32_t count = m->count - m->defined_from;
  bool *spikes;
  m->rule.history_noise = m->rule.exact ? NAN : nai_history_noise(values, count);
  NAI_TRY(nai_trend_changes(&m->found, values, count, &m->rule, c->arena, err));
  NAI_TRY(NAI_NEW(spikes, c->arena, m->count, err));
  for (uint32_t i = 0; i < count; i++)
    spikes[m->defined_from + i] = m->found.spikes[i];
  m->found.spikes = spikes;
  for (uint32_t i = 0; i < m->found.count; i++)
    m->found.changes[i].at += m->defined_from;
  for (uint32_t i = 0; i < m->found.count; i++)
    m->found.changes[i].is_made_up = is_change_made_up(m, i);
  return NAI_OK;
}

/* What the newest run that measured something has no value of cannot be judged. */
static void find_gone(struct nai_trend_series *s, const struct collecting *c) {
  for (uint32_t i = 0; i < s->metric_count; i++) {
    struct nai_trend_metric *m = &s->metrics[i];
    uint32_t last = m->runs[m->count - 1];
    if (last == s->newest_measured)
      continue;
    m->state = NAI_TREND_GONE;
    m->is_missing = strcmp(m->absent, "zero") != 0 && !is_expected_between(c, last, s->newest_measured);
    m->newest = m->usual = m->limit = NAN;
    m->since = 0;
    m->is_made_up = false;
  }
}

static int find_changes(struct nai_trend_series *s, const struct collecting *c, struct nai_err *err) {
  if (s->metric_count)
    qsort(s->metrics, s->metric_count, sizeof *s->metrics, by_name);
  for (uint32_t i = 0; i < s->metric_count; i++) {
    struct nai_trend_metric *m = &s->metrics[i];
    NAI_TRY(find_in_definition(m, c, err));
    judge(m, c);
  }
  find_gone(s, c);
  return NAI_OK;
}

static int take_runs(struct nai_trend_series *s, const struct collecting *c, struct nai_err *err) {
  uint32_t capacity = 0;
  for (uint32_t i = s->first_run; i < s->first_run + s->run_count; i++) {
    struct RUNS_row run = RUNS_at(c->index->runs, i);
    const struct nai_store_run *known = nai_store_find(c->store, run.run_id);
    if (strcmp(run.status, "ok") != 0 || (known && known->ignored) || run.utc_ns == NAI_NULL_I64)
      continue;
    s->newest_measured = i;
    NAI_TRY(take_run(s, &capacity, c, i, err));
  }
  return NAI_OK;
}

/* What a program does by the call or the repetition: of captures without steps, in which nothing gates. */
static int take_others(struct nai_trend_series *s, const struct collecting *c, struct nai_err *err) {
  static const char *const metrics[] = {"unit.*", "kernel.top.*", "launch.api.median"};
  const struct nai_trend_options options = {.metrics = metrics, .metric_count = sizeof metrics / sizeof *metrics};
  return take_runs(s, &(struct collecting){c->arena, c->index, c->store, &options}, err);
}

/* Runs of unknown time come last; the newest is the last of those that have one, where any has. */
static uint32_t newest_run(const struct nai_index *index, uint32_t first, uint32_t end) {
  uint32_t at = end - 1;
  while (at > first && nai_get_i64(index->runs, at, RUNS_utc_ns) == NAI_NULL_I64)
    at--;
  return nai_get_i64(index->runs, at, RUNS_utc_ns) == NAI_NULL_I64 ? end - 1 : at;
}

bool nai_trend_same_name(const char *a, const char *b) {
  size_t n = strcspn(a, "/");
  return n == strcspn(b, "/") && strncmp(a, b, n) == 0;
}

/* Runs of one name may go on in another environment. */
static void find_moved(struct nai_trend *t) {
  const struct nai_table *runs = t->index->runs;
  for (uint32_t i = 0; i < t->series_count; i++) {
    int64_t newest = nai_get_i64(runs, t->series[i].newest_run, RUNS_utc_ns);
    for (uint32_t j = 0; j < t->series_count; j++) {
      int64_t other = nai_get_i64(runs, t->series[j].newest_run, RUNS_utc_ns);
      if (!nai_trend_same_name(t->series[i].series, t->series[j].series) || newest == NAI_NULL_I64 || other <= newest)
        continue;
      t->series[i].moved_to = t->series[j].series;
      newest = other;
    }
  }
}

static int add_series(struct nai_trend *trend, uint32_t *capacity, const struct collecting *c, uint32_t first,
                      uint32_t end, struct nai_err *err) {
  const struct nai_table *runs = c->index->runs;
  NAI_TRY(NAI_ROOM(trend->series, *capacity, trend->series_count, c->arena, err));
  struct nai_trend_series *s = &trend->series[trend->series_count++];
  *s = (struct nai_trend_series){.series = nai_get_str(runs, first, RUNS_series),
                                 .environment = nai_get_str(runs, first, RUNS_environment),
                                 .run_count = end - first,
                                 .first_run = first,
                                 .newest_run = newest_run(c->index, first, end)};
  s->newest_failed = strcmp(nai_get_str(runs, s->newest_run, RUNS_status), "ok") != 0;
  for (uint32_t i = first; i < end; i++) {
    struct RUNS_row run = RUNS_at(runs, i);
    const struct nai_store_run *known = nai_store_find(c->store, run.run_id);
    s->failed_count += strcmp(run.status, "ok") != 0;
    s->undecided_count += strcmp(run.verdict, "undecided") == 0;
    s->ignored_count += known && known->ignored;
  }
  NAI_TRY(take_runs(s, c, err));
  if (!s->metric_count && !c->options->metric_count)
    NAI_TRY(take_others(s, c, err));
  return find_changes(s, c, err);
}

int nai_trend_find(struct nai_trend *out, const struct nai_index *index, const struct nai_store *store,
                   const struct nai_trend_options *options, struct nai_err *err) {
  const struct collecting c = {&out->arena, index, store, options};
  const struct nai_table *runs = index->runs;
  uint32_t capacity = 0, metrics = 0;
  *out = (struct nai_trend){.arena = NAI_ARENA(NULL), .index = index};
  if (options->anchor)
    out->anchor = nai_arena_printf(&out->arena, "%s", options->anchor_name);
  NAI_TRY(nai_arena_check(&out->arena, err));
  for (uint32_t i = 0, j; i < runs->rows; i = j) {
    const char *series = nai_get_str(runs, i, RUNS_series);
    for (j = i + 1; j < runs->rows && strcmp(nai_get_str(runs, j, RUNS_series), series) == 0; j++)
      ;
    if (nai_store_matches(series, options->series))
      NAI_TRY(add_series(out, &capacity, &c, i, j, err));
  }
  for (uint32_t i = 0; i < out->series_count; i++)
    metrics += out->series[i].metric_count;
  find_moved(out);
  if (!out->series_count)
    return nai_err_set(err, NAI_EUSAGE, "the store has no run%s%s", options->series ? " of the series " : "",
                       options->series ? options->series : "");
  if (!metrics && options->metric_count)
    return nai_err_set(err, NAI_EUSAGE, "no run has a metric \"%.100s\"", options->metrics[0]);
  return NAI_OK;
}

/* --- asking ----------------------------------------------------------------------------------- */

bool nai_trend_is_worse(const struct nai_trend_metric *m, const struct nai_change *change) {
  return !change->is_made_up && strcmp(m->better, "either") != 0 && sign_of(m) * (change->after - change->before) > 0;
}

/* The newest change, if it is for the worse and nothing has undone it; NULL else. */
static const struct nai_change *newest_worse(const struct nai_trend_metric *m) {
  const struct nai_change *change = m->found.count ? &m->found.changes[m->found.count - 1] : NULL;
  return change && nai_trend_is_worse(m, change) ? change : NULL;
}

bool nai_trend_begin(struct nai_change *begin, const struct nai_trend_metric *m) {
  const struct nai_change *change = newest_worse(m);
  /* A level that is usual by now is not what the newest run is beyond. */
  bool is_older = change && m->since && sign_of(m) * (change->after - m->usual) <= m->limit;
  if (change && !is_older)
    *begin = *change;
  else if (m->since)
    *begin = (struct nai_change){.at = m->since, .before = m->usual, .after = m->newest, .is_made_up = m->is_made_up};
  return change || m->since;
}

uint32_t nai_trend_good_run(const struct nai_trend_metric *m, const struct nai_change *change) {
  return m->runs[change->at - 1];
}

uint32_t nai_trend_bad_run(const struct nai_trend_metric *m, const struct nai_change *change) {
  return m->runs[change->at];
}

static bool is_gated(const struct nai_trend_metric *m) { return strcmp(m->gate, "gate") == 0; }

bool nai_trend_has_failed(const struct nai_trend *trend) {
  for (uint32_t s = 0; s < trend->series_count; s++)
    for (uint32_t i = 0; i < trend->series[s].metric_count; i++) {
      const struct nai_trend_metric *m = &trend->series[s].metrics[i];
      if (is_gated(m) && (m->state == NAI_TREND_FAIL || m->state == NAI_TREND_CREEP))
        return true;
    }
  return false;
}

bool nai_trend_gates(const struct nai_trend_series *series) {
  for (uint32_t i = 0; i < series->metric_count; i++)
    if (is_gated(&series->metrics[i]) && series->metrics[i].state != NAI_TREND_GONE)
      return true;
  return false;
}

bool nai_trend_is_lost(const struct nai_trend_metric *m) {
  return m->is_missing && is_gated(m) && strcmp(m->absent, "error") == 0;
}

bool nai_trend_is_unknown(const struct nai_trend_series *series) {
  bool unknown = series->newest_failed;
  for (uint32_t i = 0; i < series->metric_count; i++)
    unknown |= nai_trend_is_lost(&series->metrics[i]);
  return unknown;
}

bool nai_trend_is_undecided(const struct nai_trend *trend) {
  bool unknown = false, gates = false;
  for (uint32_t s = 0; s < trend->series_count; s++) {
    const struct nai_trend_series *series = &trend->series[s];
    unknown |= nai_trend_is_unknown(series) && !series->moved_to;
    gates |= nai_trend_gates(series) && !series->moved_to;
  }
  return unknown || !gates;
}

bool nai_trend_is_judged(const struct nai_trend *trend) {
  for (uint32_t s = 0; s < trend->series_count; s++)
    for (uint32_t i = 0; i < trend->series[s].metric_count && !trend->series[s].moved_to; i++) {
      const struct nai_trend_metric *m = &trend->series[s].metrics[i];
      if (is_gated(m) && m->state != NAI_TREND_TOO_SHORT && m->state != NAI_TREND_GONE)
        return true;
    }
  return false;
}
