/* Copies from the GPU whose host memory is likely used for the first time. */
#pragma once

#include "model/model.h"

/* Sets ns[row] of memop_events, all 0 at first, to what a copy took longer than it would have to memory in use. `rows`,
 * in order of time, are copies between the host's pageable memory and one GPU; they are reordered. `values` has room
 * for as many. */
NAI_MUST_CHECK int nai_first_touch(int64_t *ns, const struct nai_model *model, uint32_t *rows, uint32_t n,
                                   int64_t *values, struct nai_err *err);
