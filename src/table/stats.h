/* Grouping and statistics of durations. */
#ifndef NAI_TABLE_STATS_H
#define NAI_TABLE_STATS_H

#include "base/err.h"

#include <stdint.h>

/* Durations (end - start) brought together by group: group g is values[first[g]] .. values[first[g+1]-1]. */
struct nai_buckets {
  int64_t *values; /* ns (base/big.h) */
  uint32_t *first; /* groups + 1 entries */
  uint32_t groups;
};
#define NAI_NO_GROUP UINT32_MAX /* rows of this group are left out */
NAI_MUST_CHECK int nai_buckets_build(struct nai_buckets *out, uint32_t n, const uint32_t *group, uint32_t groups,
                                     const int64_t *start, const int64_t *end, const char *scratch_dir,
                                     struct nai_err *err);
void nai_buckets_free(struct nai_buckets *buckets);

/* Statistics of a set of durations, ns. All 0 (quantiles NaN) for an empty set. */
struct nai_stats {
  int64_t count, total, min, max;
  double mean, p50, p90, p99;
  double stddev; /* of the sample (n - 1), 0 for fewer than two */
};
/* Reorders `values`. */
struct nai_stats nai_stats_of(int64_t *values, uint32_t count);
struct nai_stats nai_bucket_stats(const struct nai_buckets *buckets, uint32_t group);

/* 100 * part / whole, 0 when whole is 0. */
double nai_percent(double part, double whole);

#endif
