/* How much of a stretch of time is busy, for many stretches that mostly ascend. Internal to src/analyses. */
#ifndef NAI_ANALYSES_BUSY_TIME_H
#define NAI_ANALYSES_BUSY_TIME_H

#include "base/err.h"
#include "table/intervals.h"

/* Busy time before moments that mostly ascend. */
struct nai_busy_cursor {
  size_t next;    /* the first interval that ends after the moment */
  int64_t before; /* summed length of those in front of it */
};

/* A set of busy time and its sum before every SUM_EVERY-th interval. */
struct nai_busy {
  const struct nai_intervals *set;
  int64_t *sums;
  struct nai_busy_cursor from, to;
};
/* The set is borrowed, and must stay as it is. Free `sums` with free. */
NAI_MUST_CHECK int nai_busy_new(struct nai_busy *b, const struct nai_intervals *set, struct nai_err *err);
/* Busy time from start to end, 0 when end is not later. Amortised O(1) where both ascend, else O(log n). */
int64_t nai_busy_within(struct nai_busy *b, int64_t start, int64_t end);

#endif
