/* Cutting a GPU's window at its pauses. */
#pragma once

#include "base/err.h"
#include "model/model.h"

#include <stdbool.h>
#include <stdint.h>

/* A stretch of the window: work, or a pause. */
struct nai_span {
  int64_t start, end; /* ns */
  bool pause;
};

/* The window of a GPU as work, pause, work, ..., work: at least one, and `count` is odd. A gap between operations is a
 * pause when it is the longest one left, at least 10 % of the window without the pauses found before, at least 1 ms,
 * and at least 10 times the 99th percentile of the other gaps that are left; the first that is not ends the search. The
 * caller frees *spans. Nothing for a GPU that did nothing. */
NAI_MUST_CHECK int nai_spans_find(struct nai_span **spans, uint32_t *count, const struct nai_gpu *gpu,
                                  struct nai_err *err);

/* How much of [a, b) the set covers, ns. */
int64_t nai_intervals_overlap_ns(const struct nai_intervals *set, int64_t a, int64_t b);
