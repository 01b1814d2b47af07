/* Time that the profiler and the driver take, and that graphs recorded as envelopes run. Needs NAI_PART(EVIDENCE). */
#pragma once

#include "model/model.h"

/* What a row of overhead_events is, in two questions. */
typedef bool nai_overhead_fn(const struct nai_model *model, int64_t overhead_row);
bool nai_is_loading(const struct nai_model *model, int64_t overhead_row);
bool nai_is_profilers(const struct nai_model *model, int64_t overhead_row);
/* Overhead of some kind within a stretch of time: rows, and their time as a union. */
struct nai_overhead_sum {
  int64_t rows, ns;
};
NAI_MUST_CHECK int nai_overhead_within(struct nai_overhead_sum *sum, const struct nai_model *model,
                                       nai_overhead_fn *counts, int64_t start, int64_t end, struct nai_err *err);
/* Time in which graphs run that are recorded as envelopes, on whatever GPU, ns. */
NAI_MUST_CHECK int nai_graphs_time(int64_t *ns, const struct nai_model *model, struct nai_err *err);
