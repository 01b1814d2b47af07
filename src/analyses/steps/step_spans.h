/* What the ranges that begin steps launched, on each GPU. */
#pragma once

#include "analyses/analysis.h"

struct nai_step_span {
  int64_t start, end, busy_ns;
};
struct nai_step_spans {
  struct nai_keyset known; /* row of nvtx_events, index of the GPU */
  struct nai_step_span *at;
  uint32_t capacity;
  struct nai_arena *arena;
};
/* None where no range begins a step, or ranges are not mapped to kernels. */
NAI_MUST_CHECK int nai_step_spans_find(struct nai_step_spans *out, const struct nai_model *model,
                                       struct nai_arena *arena, struct nai_err *err);
/* NULL: the range launched nothing there. */
const struct nai_step_span *nai_step_span_of(const struct nai_step_spans *spans, uint32_t range, uint32_t gpu);
