/* Which steps of a process on a GPU are typical, and which stand out. Definitions: docs/analyses.md, "Steps". */
#pragma once

#include "model/steps/steps.h"

enum nai_step_state {
  NAI_STEP_STEADY,
  NAI_STEP_WARM_UP,
  NAI_STEP_TRUNCATED,
  NAI_STEP_OTHER_KIND, /* of serving: not what most steps compute */
  NAI_STEP_PAUSED,     /* ten times as long as others for a pause of the GPU */
  NAI_STEP_STATES
};
const char *nai_step_state_name(
    enum nai_step_state state); /* "steady", "warm-up", "truncated", "other kind", "paused" */

/* Of the steps of one list. */
struct nai_step_stats {
  uint8_t *state;   /* per step: enum nai_step_state */
  uint8_t *outlier; /* per step */
  uint32_t states[NAI_STEP_STATES], outliers;
  int64_t median_ns, mad_ns, p90_ns, min_ns, max_ns; /* of steady steps; NAI_NULL_I64 without any */
  int64_t total_ns;                                  /* of steady steps */
  int64_t spread_ns, excess_ns; /* what steady steps, outliers are longer than the median; summed */
  int64_t warm_up_ns;
  double cv_pct;          /* NaN for fewer than two steady steps */
  struct nai_arena arena; /* private */
};
enum { NAI_OUTLIER_FEWEST = 5, NAI_DRIFT_FEWEST = 20 };
NAI_MUST_CHECK int nai_step_stats_new(struct nai_step_stats *out, const struct nai_process_steps *steps,
                                      const struct nai_step_list *list, struct nai_err *err);
void nai_step_stats_free(struct nai_step_stats *stats);
/* *out = change of duration per step (Theil-Sen): median of the slopes between all pairs of steady steps; of many steps
 * so many, evenly spaced. NaN for fewer than NAI_DRIFT_FEWEST steady ones. */
NAI_MUST_CHECK int nai_step_drift(double *out, const struct nai_step_stats *stats, const struct nai_step_list *list,
                                  struct nai_err *err);

/* Coefficient of variation, percent: NaN for fewer than two. */
double nai_step_cv_pct(const int64_t *ns, uint32_t count);
static inline int64_t nai_step_ns(const struct nai_gpu_step *step) { return step->end - step->start; }
/* Median of a whole number of steady steps, given as `value` of a step; the lower one of two. NAI_NULL_I64 without
 * steady steps. `room` has space for all steps. */
typedef int64_t nai_step_value_fn(const struct nai_process_steps *steps, const struct nai_gpu_step *step);
