#include "table/stats.h"

#include "base/big.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

__extension__ typedef __int128 wide;

int nai_buckets_build(struct nai_buckets *out, uint32_t n, const uint32_t *group, uint32_t groups, const int64_t *start,
                      const int64_t *end, const char *scratch_dir, struct nai_err *err) {
  out->groups = groups;
  out->first = calloc((size_t)groups + 2, sizeof *out->first);
  if (!out->first)
    return nai_err_nomem(err);
  out->values = nai_big_new(scratch_dir, ((size_t)n + 1) * sizeof *out->values, err);
  if (!out->values)
    return NAI_ELIMIT;
  uint32_t *at = out->first + 1; /* counts, then running positions, which end as the next group's start */
  for (uint32_t i = 0; i < n; i++)
    if (group[i] != NAI_NO_GROUP)
      at[group[i]]++;
  uint32_t total = 0;
  for (uint32_t g = 0; g < groups; g++) {
    uint32_t count = at[g];
    at[g] = total;
    total += count;
  }
  for (uint32_t i = 0; i < n; i++)
    if (group[i] != NAI_NO_GROUP)
      out->values[at[group[i]]++] = end[i] - start[i];
  return NAI_OK;
}

void nai_buckets_free(struct nai_buckets *buckets) {
  if (!buckets)
    return;
  nai_big_free(buckets->values);
  free(buckets->first);
}

struct nai_stats nai_stats_of(int64_t *values, uint32_t count) {
  struct nai_stats s = {.count = count, .p50 = NAN, .p90 = NAN, .p99 = NAN};
  if (!count)
    return s;
  wide squares = 0;
  s.min = s.max = values[0];
  for (uint32_t i = 0; i < count; i++) {
    s.total += values[i];
    squares += (wide)values[i] * values[i];
    s.min = values[i] < s.min ? values[i] : s.min;
    s.max = values[i] > s.max ? values[i] : s.max;
  }
  s.mean = (double)s.total / count;
  /* Exact integers as far as they go, so that nothing cancels: total^2 / n in whole and remainder. total^2 < 2^124. */
  if (count > 1) {
    wide square = (wide)s.total * s.total;
    s.stddev = sqrt(((double)(squares - square / count) - (double)(square % count) / count) / (count - 1));
  }
  double quantiles[3];
  nai_quantiles_i64(quantiles, values, count, (const double[]){0.50, 0.90, 0.99}, 3);
  s.p50 = quantiles[0];
  s.p90 = quantiles[1];
  s.p99 = quantiles[2];
  return s;
}

struct nai_stats nai_bucket_stats(const struct nai_buckets *buckets, uint32_t group) {
  uint32_t first = buckets->first[group];
  return nai_stats_of(buckets->values + first, buckets->first[group + 1] - first);
}

double nai_percent(double part, double whole) { return whole > 0 ? 100.0 * part / whole : 0.0; }
