/* How far two clocks lie apart, from the ends of collectives that end together. Internal to src/features/ranks. */
#pragma once

#include <stdint.h>

struct nai_rank_clock {
  int64_t offset;   /* median of the differences */
  int64_t residual; /* 1.4826 MAD of them, once the drift is taken off where that makes them more alike */
  double drift;     /* parts of 1 */
};
/* deltas[k] at times[k], ascending; n > 0. `room` has space for n. O(n). */
struct nai_rank_clock nai_rank_clock_of(const int64_t *deltas, const int64_t *times, uint32_t n, int64_t *room);

/* 1.4826 times the median absolute deviation; v is lost. */
int64_t nai_rank_spread(int64_t *v, uint32_t n, int64_t centre);

#define NAI_RANK_MOST_DRIFT 200e-6 /* parts of 1 that a clock is fast at most */
