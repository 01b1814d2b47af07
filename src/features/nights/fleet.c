#include "features/nights/fleet.h"

#include "base/threads.h"
#include "features/nights/store_internal.h"
#include "rundir/run.h"
#include "tables/fleet.h"

void nai_fleet_free(struct nai_fleet *fleet) {
  for (uint32_t i = 0; i < fleet->count; i++) {
    nai_table_free(fleet->rows[i].row);
    nai_strings_free(&fleet->rows[i].notes);
  }
  nai_arena_free(&fleet->arena);
  *fleet = (struct nai_fleet)NAI_FLEET;
}

bool nai_fleet_has_failed(const struct nai_fleet *fleet) {
  bool failed = false;
  for (uint32_t i = 0; i < fleet->count; i++)
    failed |= fleet->rows[i].has_failed;
  return failed;
}

/* Runs of its name go on in another environment. */
static bool has_moved(const struct nai_fleet *fleet, const struct nai_table *row) {
  struct FLEET_row own = FLEET_at(row, 0);
  for (uint32_t i = 0; i < fleet->count && fleet->rows[i].row && own.newest_utc_ns != NAI_NULL_I64; i++) {
    struct FLEET_row other = FLEET_at(fleet->rows[i].row, 0);
    if (nai_trend_same_name(own.series, other.series) && other.newest_utc_ns > own.newest_utc_ns)
      return true;
  }
  return false;
}

bool nai_fleet_is_undecided(const struct nai_fleet *fleet) {
  bool undecided = false, gates = false;
  for (uint32_t i = 0; i < fleet->count && fleet->rows[i].row; i++) {
    const struct nai_fleet_row *row = &fleet->rows[i];
    bool asked = (row->is_undecided && !undecided) || (row->gates && !gates);
    if (!asked || has_moved(fleet, row->row))
      continue;
    undecided |= row->is_undecided;
    gates |= row->gates;
  }
  return undecided || !gates;
}

/* --- one series ------------------------------------------------------------------------------- */

static int urgency_of(const struct nai_trend_metric *m) {
  static const int ranks[NAI_TREND_STATES] = {[NAI_TREND_FAIL] = 0,      [NAI_TREND_CREEP] = 1, [NAI_TREND_WARN] = 3,
                                              [NAI_TREND_TOO_SHORT] = 5, [NAI_TREND_GONE] = 6,  [NAI_TREND_STEADY] = 5};
  return nai_trend_is_lost(m) ? 2 : ranks[m->state];
}

/* The metric that is worst off; of several the step time, else the first. */
static const struct nai_trend_metric *worst_metric(const struct nai_trend_series *s) {
  const struct nai_trend_metric *worst = NULL;
  for (uint32_t i = 0; i < s->metric_count; i++) {
    const struct nai_trend_metric *m = &s->metrics[i];
    int order = worst ? urgency_of(m) - urgency_of(worst) : -1;
    if (order < 0 || (order == 0 && strcmp(m->metric, "step.time.median") == 0))
      worst = m;
  }
  return worst;
}

static double pct_of(const struct nai_change *change) {
  return change->before != 0 ? 100 * (change->after - change->before) / fabs(change->before) : (double)NAN;
}

/* The newest change of all metrics; of several at one run the largest. */
static const struct nai_trend_metric *newest_change(const struct nai_change **change,
                                                    const struct nai_trend_series *s) {
  const struct nai_trend_metric *found = NULL;
  for (uint32_t i = 0; i < s->metric_count; i++) {
    const struct nai_trend_metric *m = &s->metrics[i];
    const struct nai_change *c = m->found.count ? &m->found.changes[m->found.count - 1] : NULL;
    if (!c)
      continue;
    int64_t later = found ? (int64_t)nai_trend_bad_run(m, c) - nai_trend_bad_run(found, *change) : 1;
    if (later > 0 || (later == 0 && fabs(pct_of(c)) > fabs(pct_of(*change)))) {
      found = m;
      *change = c;
    }
  }
  return found;
}

static int keep_values(struct nai_fleet_row *out, const struct nai_trend_metric *m, struct nai_arena *arena,
                       struct nai_err *err) {
  uint32_t count = m->count < NAI_FLEET_VALUES ? m->count : NAI_FLEET_VALUES;
  NAI_TRY(NAI_NEW(out->values, arena, count, err));
  memcpy(out->values, m->values + m->count - count, count * sizeof *out->values);
  out->value_count = count;
  return NAI_OK;
}

static void put_change(struct FLEET_row *row, struct nai_fleet_row *out, const struct nai_trend *t,
                       const struct nai_trend_series *s) {
  const struct nai_change *change = NULL;
  const struct nai_trend_metric *m = newest_change(&change, s);
  if (!m)
    return;
  struct RUNS_row run = RUNS_at(t->index->runs, nai_trend_bad_run(m, change));
  row->changed_metric = m->metric;
  row->changed_pct = pct_of(change);
  row->worse = nai_trend_is_worse(m, change);
  row->changed_run = run.run_id;
  row->changed_labels_json = *run.labels_json ? run.labels_json : NULL;
  if (row->worse && out->rank > 4)
    out->rank = 4;
}

static bool is_bad_night(const struct RUNS_row *run) {
  return strcmp(run->status, "ok") != 0 || (*run->verdict && strcmp(run->verdict, "pass") != 0);
}

static int put_row(struct nai_fleet_row *out, const struct nai_trend *t, const struct nai_trend_series *s,
                   struct nai_arena *arena, struct nai_err *err) {
  const struct nai_trend_metric *m = worst_metric(s);
  struct RUNS_row run = RUNS_at(t->index->runs, s->newest_run);
  char report[PATH_MAX];
  struct FLEET_row row = NAI_ROW(FLEET, .series = s->series, .environment = s->environment, .run_count = s->run_count,
                                 .failed_count = s->failed_count, .newest_run = run.run_id, .newest_utc_ns = run.utc_ns,
                                 .newest_status = run.status, .newest_verdict = *run.verdict ? run.verdict : NULL);
  out->rank = is_bad_night(&run) ? 2 : 5;
  out->has_failed = nai_trend_has_failed(t);
  out->is_undecided = nai_trend_is_unknown(s);
  out->gates = nai_trend_gates(s);
  if (m) {
    out->rank = urgency_of(m) < out->rank ? urgency_of(m) : out->rank;
    row.state = nai_trend_state_name(m->state);
    row.metric = m->metric, row.unit = m->unit, row.basis = m->basis;
    row.newest = m->newest, row.usual = m->usual;
    NAI_TRY(keep_values(out, m, arena, err));
  }
  put_change(&row, out, t, s);
  struct nai_err unread = {0};
  bool has = nai_run_find_report(report, t->index->directory, run.path, &unread);
  if (unread.code)
    return nai_err_set(err, unread.code, "%s", unread.msg);
  out->report = nai_arena_printf(arena, "%s", has ? report : "");
  NAI_TRY(nai_table_new(&out->row, &nai_fleet_schema, err));
  FLEET_add(out->row, &row);
  NAI_TRY(nai_arena_check(arena, err));
  return nai_table_check(out->row, err);
}

/* --- all -------------------------------------------------------------------------------------- */

struct finding {
  struct nai_fleet *fleet;
  const char *store;
  const struct nai_fleet_options *options;
  const struct nai_strings *series;
};

/* Of a series without a run that has the labels there is no row. */
static int keep_labelled(bool *any, struct nai_store *store, const struct finding *f, struct nai_err *err) {
  int rc = nai_store_keep_labelled(store, f->options->labels, f->options->label_count, err);
  *any = !rc && store->count;
  return rc == NAI_EUSAGE ? NAI_OK : rc;
}

static int find_row(void *ctx, int task, struct nai_err *err) {
  const struct finding *f = ctx;
  struct nai_fleet_row *out = &f->fleet->rows[task];
  struct nai_trend_options how = f->options->trend;
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  NAI_SCOPED(nai_index) index = {0};
  NAI_SCOPED(nai_trend) trend = {.arena = NAI_ARENA(NULL)};
  bool any;
  how.series = nai_strings_get(f->series, (uint32_t)task);
  NAI_TRY(nai_store_open(&store, f->store, false, err));
  NAI_TRY(nai_store_read(&store, how.series, err));
  NAI_TRY(nai_store_damage(&out->notes, &store, err));
  NAI_TRY(keep_labelled(&any, &store, f, err));
  if (!any)
    return NAI_OK;
  NAI_TRY(nai_store_index(&index, &store, NAI_STORE_METRICS, err));
  NAI_TRY(nai_trend_find(&trend, &index, &store, &how, err));
  NAI_TRY(put_row(out, &trend, &trend.series[0], &f->fleet->arena, err));
  return index.unread.code ? nai_err_set(err, index.unread.code, "%s", index.unread.msg) : NAI_OK;
}

/* The worst first, then by name; rows that are none last. */
static int by_rank(const void *pa, const void *pb) {
  const struct nai_fleet_row *a = pa, *b = pb;
  if (!a->row || !b->row)
    return !a->row - !b->row;
  if (a->rank != b->rank)
    return a->rank - b->rank;
  return strcmp(nai_get_str(a->row, 0, FLEET_series), nai_get_str(b->row, 0, FLEET_series));
}

int nai_fleet_find(struct nai_fleet *out, const char *path, const struct nai_fleet_options *options,
                   struct nai_err *err) {
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  NAI_SCOPED(nai_strings) series = {0};
  NAI_TRY(nai_store_open(&store, path, false, err));
  NAI_TRY(nai_store_series(&series, &store, options->trend.series, err));
  NAI_TRY(NAI_NEW(out->rows, &out->arena, series.count, err));
  out->count = series.count;
  struct finding f = {out, store.path, options, &series};
  NAI_TRY(nai_parallel(nai_cpu_count(), (int)series.count, find_row, &f, err));
  if (series.count)
    qsort(out->rows, out->count, sizeof *out->rows, by_rank);
  if (!out->count || !out->rows[0].row)
    return nai_err_set(err, NAI_EUSAGE, "the store has no run%s", options->label_count ? " with these labels" : "");
  return NAI_OK;
}
