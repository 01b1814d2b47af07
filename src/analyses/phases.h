/* Time and kernels by phase of a phase map. Internal to src/analyses. */
#ifndef NAI_ANALYSES_PHASES_H
#define NAI_ANALYSES_PHASES_H

#include "derive/model.h"

struct nai_phase_sum {
  int64_t wall_ns, gpu_ns; /* time of threads; durations of kernels */
  int64_t kernels, ranges;
  uint32_t longest; /* nvtx_events row of the longest range, NAI_NO_ROW for none */
};

/* Fills sums[phase] of each phase < phases. At any time a thread is in the phase of the range begun last among its open
 * ones, of either kind, whose name has a phase: name_phase[name of nvtx_events], -1 for none. A kernel is in the phase
 * in which its API call started; a range without a phase of its own in the one in which it started. */
NAI_MUST_CHECK int nai_phase_sums(struct nai_phase_sum *sums, int phases, const struct nai_model *model,
                                  const int *name_phase, struct nai_err *err);

#endif
