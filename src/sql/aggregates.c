/* Aggregates: the length of a union of intervals, quantiles, deviation. */
#include "sql/internal.h"

#include "base/sort.h"

/* What an aggregate gathers, in SQLite's memory, so that its limit counts it. */
struct gathered {
  void *items;
  uint64_t count, capacity;
  double q; /* of percentile() */
};

static void *add(sqlite3_context *context, struct gathered *g, size_t bytes) {
  if (g->count == g->capacity) {
    uint64_t capacity = g->capacity ? g->capacity * 2 : 64;
    void *more = sqlite3_realloc64(g->items, capacity * bytes);
    if (!more) {
      sqlite3_result_error_nomem(context);
      return NULL;
    }
    g->items = more;
    g->capacity = capacity;
  }
  return (char *)g->items + g->count++ * bytes;
}

/* --- union_ns(start, end) ------------------------------------------------------------------------ */

struct interval {
  int64_t start, end;
};

static void union_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  struct gathered *g = sqlite3_aggregate_context(context, sizeof *g);
  (void)argc;
  if (!g || sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
    return;
  int64_t start = sqlite3_value_int64(argv[0]), end = sqlite3_value_int64(argv[1]);
  struct interval *last = g->count ? (struct interval *)g->items + g->count - 1 : NULL;
  if (end <= start)
    return;
  if (last && start >= last->start && start <= last->end) { /* rows mostly come by start */
    last->end = end > last->end ? end : last->end;
    return;
  }
  struct interval *item = add(context, g, sizeof *item);
  if (item)
    *item = (struct interval){start, end};
}

NAI_ORDER(compare_intervals, struct interval, {a->start, b->start})

static void union_final(sqlite3_context *context) {
  struct gathered *g = sqlite3_aggregate_context(context, 0);
  int64_t total = 0, reached = INT64_MIN;
  struct interval *v = g ? g->items : NULL;
  if (v)
    qsort(v, g->count, sizeof *v, compare_intervals);
  for (uint64_t i = 0; v && i < g->count; i++) {
    int64_t from = v[i].start > reached ? v[i].start : reached;
    if (v[i].end > from && __builtin_add_overflow(total, v[i].end - from, &total))
      total = INT64_MAX;
    reached = v[i].end > reached ? v[i].end : reached;
  }
  sqlite3_result_int64(context, total);
  if (g)
    sqlite3_free(g->items);
}

/* --- quantiles ----------------------------------------------------------------------------------- */

static void gather(sqlite3_context *context, sqlite3_value *value, struct gathered *g) {
  if (!g || sqlite3_value_type(value) == SQLITE_NULL)
    return;
  double *item = add(context, g, sizeof *item);
  if (item)
    *item = sqlite3_value_double(value);
}

static void quantile_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  struct gathered *g = sqlite3_aggregate_context(context, sizeof *g);
  (void)argc;
  gather(context, argv[0], g);
}

static void percentile_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  struct gathered *g = sqlite3_aggregate_context(context, sizeof *g);
  double percent = sqlite3_value_double(argv[1]);
  (void)argc;
  if (sqlite3_value_numeric_type(argv[1]) == SQLITE_NULL || percent < 0 || percent > 100) {
    sqlite3_result_error(context, "percentile(x, p): p is 0 to 100", -1);
    return;
  }
  if (g)
    g->q = percent / 100;
  gather(context, argv[0], g);
}

/* Linear between closest ranks, as everywhere in the reports. */
static void put_quantile(sqlite3_context *context, struct gathered *g, double q) {
  if (!g || !g->count) {
    sqlite3_result_null(context);
    return;
  }
  double *v = g->items;
  qsort(v, g->count, sizeof *v, nai_by_f64);
  struct nai_rank rank = nai_rank_of(q, g->count);
  double low = v[rank.below], high = rank.fraction > 0 ? v[rank.below + 1] : low;
  sqlite3_result_double(context, low + (high - low) * rank.fraction);
  sqlite3_free(g->items);
}

static void percentile_final(sqlite3_context *context) {
  struct gathered *g = sqlite3_aggregate_context(context, 0);
  put_quantile(context, g, g ? g->q : 0);
}

static void quantile_final(sqlite3_context *context) {
  put_quantile(context, sqlite3_aggregate_context(context, 0), *(const double *)sqlite3_user_data(context));
}

/* --- stddev -------------------------------------------------------------------------------------- */

struct moments {
  int64_t count;
  double mean, squares;
};

static void stddev_step(sqlite3_context *context, int argc, sqlite3_value **argv) {
  struct moments *m = sqlite3_aggregate_context(context, sizeof *m);
  (void)argc;
  if (!m || sqlite3_value_type(argv[0]) == SQLITE_NULL)
    return;
  double x = sqlite3_value_double(argv[0]), before = x - m->mean;
  m->mean += before / (double)++m->count;
  m->squares += before * (x - m->mean);
}

static void stddev_final(sqlite3_context *context) {
  const struct moments *m = sqlite3_aggregate_context(context, 0);
  if (m && m->count > 1)
    sqlite3_result_double(context, sqrt(m->squares / (double)(m->count - 1)));
  else
    sqlite3_result_null(context);
}

int nai_aggregates_add(sqlite3 *sqlite) {
  static const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  static const struct {
    const char *name;
    int arguments;
    double q;
    void (*step)(sqlite3_context *, int, sqlite3_value **);
    void (*final)(sqlite3_context *);
  } list[] = {
      {"union_ns", 2, 0, union_step, union_final},       {"p50", 1, 0.5, quantile_step, quantile_final},
      {"p90", 1, 0.9, quantile_step, quantile_final},    {"p99", 1, 0.99, quantile_step, quantile_final},
      {"median", 1, 0.5, quantile_step, quantile_final}, {"percentile", 2, 0, percentile_step, percentile_final},
      {"stddev", 1, 0, stddev_step, stddev_final},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    NAI_TRY(sqlite3_create_function_v2(sqlite, list[i].name, list[i].arguments, flags, (void *)&list[i].q, NULL,
                                       list[i].step, list[i].final, NULL));
  return SQLITE_OK;
}
