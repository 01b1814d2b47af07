#include "table/stats.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/sort.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static const double quantiles[] = {0.25, 0.50, 0.75, 0.90, 0.99};
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

static double *quantile_of(struct nai_stats *s, int q) {
  double *const all[QUANTILES] = {&s->p25, &s->p50, &s->p75, &s->p90, &s->p99};
  return all[q];
}

/* --- sums ------------------------------------------------------------------------------------- */

struct sums {
  uint32_t count;
  int64_t min, max;
  wide total;
  uwide squares; /* wraps where a value is beyond any duration */
};

static inline void add(struct sums *s, int64_t value) {
  if (!s->count)
    s->min = s->max = value;
  s->count++;
  s->total += value;
  s->squares += (uwide)((wide)value * value);
  s->min = value < s->min ? value : s->min;
  s->max = value > s->max ? value : s->max;
}

/* Everything but the quantiles. */
static struct nai_stats summarise(const struct sums *sums) {
  uint32_t n = sums->count;
  struct nai_stats s = {.count = n, .min = sums->min, .max = sums->max};
  for (int q = 0; q < QUANTILES; q++)
    *quantile_of(&s, q) = NAN;
  if (!n)
    return s;
  s.total = sums->total > INT64_MAX ? INT64_MAX : sums->total < INT64_MIN ? INT64_MIN : (int64_t)sums->total;
  s.mean = (double)sums->total / n;
  if (s.min < 0 || s.total > INT64_MAX / 2) {
    s.stddev = NAN;
  } else if (n > 1) {
    /* Exact integers as far as they go, so that nothing cancels: total^2 / n in whole and remainder. total^2 < 2^124.
     */
    uwide square = (uwide)s.total * (uwide)s.total, whole = square / n, rest = square % n;
    s.stddev = sqrt(((double)(sums->squares - whole) - (double)rest / n) / (n - 1));
  }
  return s;
}

static void set_quantiles(struct nai_stats *s, const double at[QUANTILES]) {
  for (int q = 0; q < QUANTILES; q++)
    *quantile_of(s, q) = at[q];
}

struct nai_stats nai_stats_of(int64_t *values, uint32_t count) {
  struct sums sums = {0};
  for (uint32_t i = 0; i < count; i++)
    add(&sums, values[i]);
  struct nai_stats s = summarise(&sums);
  double at[QUANTILES];
  nai_quantiles_i64(at, values, count, quantiles, QUANTILES);
  set_quantiles(&s, at);
  return s;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* A group keeps its values while they are few. Past that it counts them in buckets whose width grows with the value (64
 * per power of two), and a second pass brings together the values of those buckets that hold a quantile. */
enum {
  KEPT = 2048,
  DIGITS = 6,
  NEGATIVE = 64, /* one bucket per power of two below zero */
  BUCKETS = NEGATIVE + ((63 - DIGITS + 1) << DIGITS)
};

/* Ascends with the value. */
static inline uint32_t bucket_of(int64_t v) {
  if (v < 0)
    return (uint32_t)__builtin_clzll((uint64_t)~v | 1);
  if (v < 1 << DIGITS)
    return NEGATIVE + (uint32_t)v;
  int shift = 63 - __builtin_clzll((uint64_t)v) - DIGITS;
  return NEGATIVE + ((uint32_t)shift << DIGITS) + (uint32_t)(v >> shift);
}

/* Buckets that hold a quantile. */
struct wanted {
  uint8_t number[BUCKETS];        /* 1, 2, ... in their order, 0 for others */
  uint32_t behind[2 * QUANTILES]; /* by number - 1: where the next of its values goes, in the end where they end */
};

struct group {
  struct sums sums;
  int64_t *values; /* while few: all, once they are two; after the buckets are known: those of the wanted ones */
  uint32_t kept, room;
  uint32_t *buckets; /* counts of BUCKETS buckets, NULL while few */
  struct wanted *wanted;
};

static int open_buckets(struct group *g, struct nai_err *err) {
  g->buckets = calloc(BUCKETS, sizeof *g->buckets);
  NAI_TRY(nai_memory_check(g->buckets, err));
  for (uint32_t i = 0; i < g->kept; i++)
    g->buckets[bucket_of(g->values[i])]++;
  free(g->values);
  g->values = NULL;
  g->kept = g->room = 0;
  return NAI_OK;
}

static int keep(struct group *g, int64_t value, struct nai_err *err) {
  if (g->kept == KEPT) {
    NAI_TRY(open_buckets(g, err));
    g->buckets[bucket_of(value)]++;
    return NAI_OK;
  }
  if (g->sums.count == 1) /* many names occur once: that value is in the sums */
    return NAI_OK;
  NAI_TRY(nai_memory_check(nai_array_room(&g->values, &g->room, g->kept + 1, sizeof *g->values), err));
  if (g->sums.count == 2)
    g->values[g->kept++] = (int64_t)(g->sums.total - value);
  g->values[g->kept++] = value;
  return NAI_OK;
}

typedef int on_block(struct group *groups, uint32_t count, const uint32_t *group, const int64_t *value,
                     struct nai_err *err);

static int count_block(struct group *groups, uint32_t count, const uint32_t *group, const int64_t *value,
                       struct nai_err *err) {
  for (uint32_t i = 0; i < count; i++) {
    if (group[i] == NAI_NO_GROUP)
      continue;
    struct group *g = &groups[group[i]];
    add(&g->sums, value[i]);
    if (g->buckets)
      g->buckets[bucket_of(value[i])]++;
    else
      NAI_TRY(keep(g, value[i], err));
  }
  return NAI_OK;
}

static int collect_block(struct group *groups, uint32_t count, const uint32_t *group, const int64_t *value,
                         struct nai_err *err) {
  (void)err;
  for (uint32_t i = 0; i < count; i++) {
    struct group *g = group[i] == NAI_NO_GROUP ? NULL : &groups[group[i]];
    uint8_t wanted = g && g->wanted ? g->wanted->number[bucket_of(value[i])] : 0;
    if (wanted)
      g->values[g->wanted->behind[wanted - 1]++] = value[i];
  }
  return NAI_OK;
}

static int for_each_block(struct group *groups, const struct nai_values *values, on_block *fn, struct nai_err *err) {
  uint32_t group[NAI_VALUES_BLOCK];
  int64_t value[NAI_VALUES_BLOCK];
  for (uint32_t first = 0, count; first < values->rows; first += count) {
    count = values->rows - first < NAI_VALUES_BLOCK ? values->rows - first : NAI_VALUES_BLOCK;
    values->block(values->ctx, first, count, group, value);
    NAI_TRY(fn(groups, count, group, value, err));
  }
  return NAI_OK;
}

/* The bucket of the value at a rank; *below: values in buckets before it. */
static uint32_t bucket_at(const struct group *g, size_t rank, size_t *below) {
  uint32_t b = 0;
  *below = 0;
  for (; *below + g->buckets[b] <= rank; b++)
    *below += g->buckets[b];
  return b;
}

static int want_buckets(struct group *g, struct nai_err *err) {
  size_t below;
  uint32_t room = 0, number = 0;
  g->wanted = calloc(1, sizeof *g->wanted);
  NAI_TRY(nai_memory_check(g->wanted, err));
  for (int q = 0; q < QUANTILES; q++) {
    struct nai_rank at = nai_rank_of(quantiles[q], g->sums.count);
    g->wanted->number[bucket_at(g, at.below, &below)] = 1;
    if (at.fraction > 0)
      g->wanted->number[bucket_at(g, at.below + 1, &below)] = 1;
  }
  for (uint32_t b = 0; b < BUCKETS; b++)
    if (g->wanted->number[b]) {
      g->wanted->behind[number] = room;
      room += g->buckets[b];
      g->wanted->number[b] = (uint8_t)++number;
    }
  g->values = malloc(room * sizeof *g->values);
  return g->values ? NAI_OK : nai_err_nomem(err);
}

/* The value at a rank of the whole group. */
static int64_t value_at(struct group *g, size_t rank) {
  size_t below;
  uint32_t bucket = bucket_at(g, rank, &below), count = g->buckets[bucket];
  int64_t *values = g->values + g->wanted->behind[g->wanted->number[bucket] - 1] - count;
  nai_select_i64(values, count, rank - below);
  return values[rank - below];
}

static struct nai_stats finish(struct group *g) {
  struct nai_stats s = summarise(&g->sums);
  double at[QUANTILES];
  if (s.min == s.max) {
    for (int q = 0; q < QUANTILES; q++)
      at[q] = s.count ? (double)s.min : NAN;
  } else if (!g->buckets) {
    nai_quantiles_i64(at, g->values, g->kept, quantiles, QUANTILES);
  } else {
    for (int q = 0; q < QUANTILES; q++) {
      struct nai_rank rank = nai_rank_of(quantiles[q], g->sums.count);
      int64_t low = value_at(g, rank.below), high = rank.fraction > 0 ? value_at(g, rank.below + 1) : low;
      at[q] = nai_interpolate(low, high, rank.fraction);
    }
  }
  set_quantiles(&s, at);
  return s;
}

static int make_stats(struct nai_stats *stats, struct group *all, uint32_t groups, const struct nai_values *values,
                      struct nai_err *err) {
  bool again = false;
  NAI_TRY(for_each_block(all, values, count_block, err));
  for (uint32_t g = 0; g < groups; g++) {
    if (!all[g].buckets || all[g].sums.min == all[g].sums.max)
      continue;
    NAI_TRY(want_buckets(&all[g], err));
    again = true;
  }
  if (again)
    NAI_TRY(for_each_block(all, values, collect_block, err));
  for (uint32_t g = 0; g < groups; g++)
    stats[g] = finish(&all[g]);
  return NAI_OK;
}

int nai_group_stats(struct nai_stats *stats, uint32_t groups, const struct nai_values *values, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(values->directory);
  struct group *all;
  NAI_TRY(NAI_NEW(all, &arena, groups, err));
  int rc = make_stats(stats, all, groups, values, err);
  for (uint32_t g = 0; g < groups; g++) {
    free(all[g].values);
    free(all[g].buckets);
    free(all[g].wanted);
  }
  return rc;
}

void nai_duration_block(const void *durations, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct nai_durations *d = durations;
  int64_t start[NAI_VALUES_BLOCK];
  nai_unpack(start, &d->start, first, count);
  nai_unpack(value, &d->end, first, count);
  for (uint32_t i = 0; i < count; i++) {
    value[i] -= start[i];
    group[i] = nai_at_text(&d->group, first + i);
  }
}

double nai_percent(double part, double whole) { return whole > 0 ? 100.0 * part / whole : 0.0; }

double nai_quantile(const double *ascending, size_t count, double q) {
  double at = q * (double)(count - 1);
  size_t low = (size_t)at;
  return low + 1 < count ? ascending[low] + (at - (double)low) * (ascending[low + 1] - ascending[low])
                         : ascending[count - 1];
}
