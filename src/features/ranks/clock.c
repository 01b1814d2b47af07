#include "features/ranks/clock.h"

#include "base/sort.h"

#include <math.h>

enum { FEWEST = 16 }; /* pairs that a drift is seen in */

int64_t nai_rank_spread(int64_t *v, uint32_t n, int64_t centre) {
  for (uint32_t i = 0; i < n; i++)
    v[i] = v[i] > centre ? v[i] - centre : centre - v[i];
  return (int64_t)(1.4826 * (double)nai_median_i64(v, n) + 0.5);
}

/* Of the n / 2 pairs (k, k + n / 2) the median slope, as in Theil's method without all pairs. */
static double drift_of(const int64_t *deltas, const int64_t *times, uint32_t n, int64_t *room) {
  uint32_t half = n / 2;
  if (half < FEWEST)
    return 0;
  for (uint32_t k = 0; k < half; k++) { /* in thousandths of a part per million */
    int64_t apart_ns = times[k + half] - times[k];
    room[k] = apart_ns > 0 ? (int64_t)((double)(deltas[k + half] - deltas[k]) / (double)apart_ns * 1e9) : 0;
  }
  double drift = (double)nai_median_i64(room, half) / 1e9;
  return fabs(drift) <= NAI_RANK_MOST_DRIFT ? drift : 0;
}

struct nai_rank_clock nai_rank_clock_of(const int64_t *deltas, const int64_t *times, uint32_t n, int64_t *room) {
  struct nai_rank_clock clock = {0, 0, 0};
  for (uint32_t k = 0; k < n; k++)
    room[k] = deltas[k];
  clock.offset = nai_median_i64(room, n);
  clock.residual = nai_rank_spread(room, n, clock.offset);
  double drift = drift_of(deltas, times, n, room);
  int64_t middle = times[n / 2];
  for (uint32_t k = 0; k < n; k++)
    room[k] = deltas[k] - (int64_t)floor(drift * (double)(times[k] - middle) + 0.5);
  int64_t left = nai_rank_spread(room, n, nai_median_i64(room, n));
  if (left < clock.residual) {
    clock.drift = drift;
    clock.residual = left;
  }
  return clock;
}
