/* What else changed when a metric did. Internal to src/features/nights. */
#pragma once

#include "features/nights/trend.h"

/* Other metrics of the series whose changes lie within one run of this one; each once. Tells how many were put into
 * `out`, which has room for `room`. */
uint32_t nai_trend_moved(const struct nai_trend_metric **out, uint32_t room, const struct nai_trend_series *series,
                         const struct nai_trend_metric *metric, const struct nai_change *change);

/* A kernel whose time differs between the runs before and after, by at least 2 % of all kernel time. */
struct nai_trend_kernel {
  const char *name;     /* of the index */
  double before, after; /* ns per GPU and steady step (without steps, per second), medians of up to four runs; 0: the
                           kernel was not among the 50 largest */
};
enum { NAI_TREND_MAX_KERNELS = 5 };
/* The largest differences first. */
NAI_MUST_CHECK int nai_trend_kernels(struct nai_trend_kernel out[NAI_TREND_MAX_KERNELS], uint32_t *count,
                                     const struct nai_trend *trend, const struct nai_trend_metric *metric,
                                     const struct nai_change *change, struct nai_err *err);
