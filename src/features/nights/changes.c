#include "features/nights/changes.h"

#include "features/compare/stats.h"

static const double WEAK_P = 0.01, STRONG_P = 0.001, LEAST_RELATIVE = 0.02;
enum { SPIKE_SD = 5 };

/* --- spikes ----------------------------------------------------------------------------------- */

/* -1, 0, 1: below, within, above what the neighbours allow; `limit` is that bound. */
static int side_of(double *limit, const double *values, uint32_t count, uint32_t at) {
  double near[2 * NAI_TREND_NEIGHBOURS];
  size_t n = 0;
  uint32_t first = at > NAI_TREND_NEIGHBOURS ? at - NAI_TREND_NEIGHBOURS : 0;
  for (uint32_t i = first; i < count && i <= at + NAI_TREND_NEIGHBOURS; i++)
    if (i != at)
      near[n++] = values[i];
  if (n < NAI_TREND_SEGMENT)
    return 0;
  double median = nai_median(near, n), reach = SPIKE_SD * nai_robust_sd(near, n);
  int side = values[at] > median + reach ? 1 : values[at] < median - reach ? -1 : 0;
  *limit = median + side * reach;
  return side;
}

/* A value far from its neighbours is brought near them if it stands alone: two in a row on one side may be a new level,
 * whose first values must not be cut off. */
static void tame_spikes(double *tame, bool *spikes, const double *values, uint32_t count) {
  int before = 0, side;
  double limit = 0, next_limit = 0;
  side = count ? side_of(&limit, values, count, 0) : 0;
  for (uint32_t i = 0; i < count; i++) {
    int after = i + 1 < count ? side_of(&next_limit, values, count, i + 1) : 0;
    spikes[i] = side && side != before && side != after;
    tame[i] = spikes[i] ? limit : values[i];
    before = side;
    side = after;
    limit = next_limit;
  }
}

/* --- E-divisive ------------------------------------------------------------------------------- */

/* With the sums of all distances inside of either part and between them kept up to date, each split costs O(count). */
void nai_e_divisive(uint32_t *split, double *q, const double *v, uint32_t count) {
  double left = 0, right = 0, between = 0;
  *split = 0;
  *q = -INFINITY;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = i + 1; j < count; j++)
      right += fabs(v[i] - v[j]);
  for (uint32_t at = 1; at < count; at++) { /* value at - 1 goes from the right part to the left one */
    double to_left = 0, to_right = 0;
    for (uint32_t i = 0; i + 1 < at; i++)
      to_left += fabs(v[at - 1] - v[i]);
    for (uint32_t i = at; i < count; i++)
      to_right += fabs(v[at - 1] - v[i]);
    left += to_left;
    right -= to_right;
    between += to_right - to_left;
    double m = at, n = count - at;
    if (at < NAI_TREND_SEGMENT || count - at < NAI_TREND_SEGMENT)
      continue;
    double value = m * n / (m + n) * (2 / (m * n) * between - 2 / (m * (m - 1)) * left - 2 / (n * (n - 1)) * right);
    if (value > *q) {
      *q = value;
      *split = at;
    }
  }
}

struct points {
  uint32_t *at;
  uint32_t count;
};

static void add_point(struct points *points, uint32_t at) {
  uint32_t i = points->count;
  while (i && points->at[i - 1] > at)
    i--;
  if (i && points->at[i - 1] == at)
    return;
  memmove(&points->at[i + 1], &points->at[i], (points->count - i) * sizeof *points->at);
  points->at[i] = at;
  points->count++;
}

/* Splits a window, and its parts, as long as the parts differ. At most NAI_TREND_WINDOW / NAI_TREND_SEGMENT splits. */
static void split_window(struct points *points, const double *v, uint32_t first, uint32_t end) {
  struct {
    uint32_t first, end;
  } stack[2 * NAI_TREND_WINDOW];
  int depth = 0;
  stack[depth].first = first;
  stack[depth++].end = end;
  while (depth) {
    uint32_t a = stack[--depth].first, b = stack[depth].end, split;
    double q;
    nai_e_divisive(&split, &q, v + a, b - a);
    if (!split || nai_welch_p(v + a, split, v + a + split, b - a - split) > WEAK_P)
      continue;
    add_point(points, a + split);
    stack[depth].first = a;
    stack[depth++].end = a + split;
    stack[depth].first = a + split;
    stack[depth++].end = b;
  }
}

/* --- merging ---------------------------------------------------------------------------------- */

struct merging {
  const double *v; /* without spikes */
  uint32_t count;
  const struct nai_trend_rule *rule;
  struct points points;
};

static uint32_t begin_of(const struct merging *m, uint32_t i) { return i ? m->points.at[i - 1] : 0; }
static uint32_t end_of(const struct merging *m, uint32_t i) {
  return i + 1 < m->points.count ? m->points.at[i + 1] : m->count;
}

static struct nai_change judge(const struct merging *m, uint32_t i) {
  uint32_t a = begin_of(m, i), at = m->points.at[i], b = end_of(m, i);
  bool is_short = at - a < NAI_TREND_SEGMENT || b - at < NAI_TREND_SEGMENT;
  return (struct nai_change){.at = at,
                             .before = nai_median(m->v + a, at - a),
                             .after = nai_median(m->v + at, b - at),
                             .p = is_short ? 1 : nai_welch_p(m->v + a, at - a, m->v + at, b - at)};
}

static double or_zero(double value) { return isnan(value) ? 0 : value; }

/* How much a change exceeds what has to be exceeded; 1 and more is a change. The history's noise is that of one run
 * against another; levels are medians, of `runs` runs at least. */
static double magnitude(const struct nai_trend_rule *rule, const struct nai_change *change, uint32_t runs) {
  double difference = fabs(change->after - change->before), level = fabs(change->before);
  if (rule->exact)
    return difference > 0 ? INFINITY : 0;
  double history = or_zero(rule->history_noise) / sqrt(runs);
  double relative = fmax(fmax(LEAST_RELATIVE, or_zero(rule->noise_pct) / 100), history);
  double least = fmax(relative * level, or_zero(rule->noise));
  return least > 0 ? difference / least : difference > 0 ? INFINITY : 0;
}

/* Of the shorter side. */
static uint32_t runs_of(const struct merging *m, uint32_t i) {
  uint32_t before = m->points.at[i] - begin_of(m, i), after = end_of(m, i) - m->points.at[i];
  return before < after ? before : after;
}

/* Of two points too near to each other the one that divides what lies around them less well is weaker. */
static double strength(const struct merging *m, uint32_t i) {
  uint32_t a = i ? begin_of(m, i - 1) : 0, b = i + 1 < m->points.count ? end_of(m, i + 1) : m->count;
  uint32_t split = m->points.at[i] - a;
  double between = fabs(nai_median(m->v + a, split) - nai_median(m->v + m->points.at[i], b - m->points.at[i]));
  return between * sqrt((double)split * (double)(b - m->points.at[i]));
}

/* The point to give up next, -1 for none: the least certain one, then the smallest. */
static int64_t weakest(const struct merging *m) {
  int64_t worst = -1, smallest = -1;
  double p = STRONG_P, size = 1, worst_strength = 0;
  for (uint32_t i = 0; i < m->points.count; i++) {
    struct nai_change change = judge(m, i);
    double its = change.p >= p ? strength(m, i) : 0, its_size = magnitude(m->rule, &change, runs_of(m, i));
    if (change.p > p || (worst >= 0 && change.p == p && its < worst_strength)) {
      p = change.p;
      worst = i;
      worst_strength = its;
    }
    if (its_size < size) {
      size = its_size;
      smallest = i;
    }
  }
  return worst >= 0 ? worst : smallest;
}

static void merge(struct merging *m) {
  for (int64_t i; (i = weakest(m)) >= 0;) {
    m->points.count--;
    memmove(&m->points.at[i], &m->points.at[i + 1], (m->points.count - (uint32_t)i) * sizeof *m->points.at);
  }
}

/* --- all of it -------------------------------------------------------------------------------- */

static void find_weak(struct points *points, const double *v, uint32_t count) {
  for (uint32_t first = 0;; first += NAI_TREND_STEP) {
    bool last = first + NAI_TREND_WINDOW >= count;
    uint32_t end = last ? count : first + NAI_TREND_WINDOW;
    split_window(points, v, last && count > NAI_TREND_WINDOW ? count - NAI_TREND_WINDOW : first, end);
    if (last)
      break;
  }
}

int nai_trend_changes(struct nai_trend_found *out, const double *values, uint32_t count,
                      const struct nai_trend_rule *rule, struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_arena) own = NAI_ARENA(NULL);
  struct merging m = {.count = count, .rule = rule};
  double *tame;
  *out = (struct nai_trend_found){0};
  NAI_TRY(NAI_NEW(tame, &own, count, err));
  NAI_TRY(NAI_NEW(m.points.at, &own, (size_t)count + 1, err));
  NAI_TRY(NAI_NEW(out->spikes, arena, count, err));
  m.v = tame;
  tame_spikes(tame, out->spikes, values, count);
  find_weak(&m.points, tame, count);
  merge(&m);
  NAI_TRY(NAI_NEW(out->changes, arena, m.points.count, err));
  for (uint32_t i = 0; i < m.points.count; i++)
    out->changes[out->count++] = judge(&m, i);
  return NAI_OK;
}
