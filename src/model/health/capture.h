/* What a capture holds besides the program's work, and what it lacks. */
#pragma once

#include "model/model.h"

/* Whether a row of overhead_events is the profiler's own time. Needs NAI_PART(EVIDENCE). */
typedef bool nai_overhead_fn(const struct nai_model *model, int64_t overhead_row);
bool nai_is_profilers(const struct nai_model *model, int64_t overhead_row);
/* Overhead of some kind within a stretch of time: rows, and their time as a union. */
struct nai_overhead_sum {
  int64_t rows, ns;
};
NAI_MUST_CHECK int nai_overhead_within(struct nai_overhead_sum *sum, const struct nai_model *model,
                                       nai_overhead_fn *counts, int64_t start, int64_t end, struct nai_err *err);
/* Operations whose launching call is not in the export, but for pages that move by themselves. Needs
 * NAI_PART(LAUNCHES). */
int64_t nai_without_launch(const struct nai_model *model);
/* Time in which graphs run that are recorded as envelopes, on whatever GPU, ns. */
NAI_MUST_CHECK int nai_graphs_time(int64_t *ns, const struct nai_model *model, struct nai_err *err);
