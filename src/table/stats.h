/* Statistics of durations and other integers, exact, by group. */
#pragma once

#include "base/arena.h"
#include "table/column.h"

/* Statistics of a set of values, in their unit. All 0 (quantiles NaN) for an empty set. */
struct nai_stats {
  int64_t count, total, min, max; /* total saturates */
  double mean, p25, p50, p75, p90, p99;
  double stddev; /* of the sample (n - 1), 0 for fewer than two; NaN with negative values or a total beyond 2^62 */
};
/* Whether few values are near the median: a median alone says little. As far apart as two modes of a kernel. */
static inline bool nai_stats_quartiles_apart(const struct nai_stats *s) { return s->p75 >= 3 * s->p25 && s->count > 3; }
/* Reorders `values`. */
struct nai_stats nai_stats_of(int64_t *values, uint32_t count);

/* What takes time of its own, as bits: what is not asked for becomes NaN. */
enum nai_stats_part {
  NAI_P25 = 1,
  NAI_P50 = 1 << 1,
  NAI_P75 = 1 << 2,
  NAI_P90 = 1 << 3,
  NAI_P99 = 1 << 4,
  NAI_STDDEV = 1 << 5,
  NAI_ALL_STATS = (1 << 6) - 1
};

/* The same, with room for up to `most` values: quicker where there are many. */
struct nai_stats_room;
NAI_MUST_CHECK int nai_stats_room_in(struct nai_stats_room **room, uint32_t most, struct nai_arena *arena,
                                     struct nai_err *err);
struct nai_stats nai_stats_in(struct nai_stats_room *room, int64_t *values, uint32_t count, unsigned parts);

/* Rows with a group and a value each: arrays, or `block` tells those of rows first .. first + count - 1, each time that
 * it is asked. */
struct nai_values {
  uint32_t rows;
  void (*block)(const void *ctx, uint32_t first, uint32_t count, uint32_t *group, int64_t *value);
  const void *ctx;
  const char *directory;  /* for what is held per row and group (base/spill_array.h) */
  const uint32_t *groups; /* NULL: `block` tells them */
  const int64_t *values;
  unsigned parts; /* enum nai_stats_part; 0: all */
  int threads;    /* at most; 0: the caller's alone */
  /* instead of NAI_STDDEV: of values of a group in the order of their rows; or NULL */
  double (*deviation)(const int64_t *values, uint32_t count);
};
enum { NAI_VALUES_BLOCK = 1024 }; /* most rows asked for at once */
#define NAI_NO_GROUP UINT32_MAX   /* rows of this group are left out */
/* stats[g] of the values of each group g < groups. */
NAI_MUST_CHECK int nai_group_stats(struct nai_stats *stats, uint32_t groups, const struct nai_values *values,
                                   struct nai_err *err);

/* A `block` for durations: value = end - start. */
struct nai_durations {
  struct nai_column group, start, end; /* NULL as the group: NAI_NO_GROUP */
};
void nai_duration_block(const void *durations, uint32_t first, uint32_t count, uint32_t *group, int64_t *value);

/* Quantile q (0..1) of ascending values, at least one, by linear interpolation between closest ranks. */
double nai_quantile(const double *ascending, size_t count, double q);

/* 100 * part / whole, 0 when whole is 0. */
double nai_percent(double part, double whole);
