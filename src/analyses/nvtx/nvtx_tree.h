/* Table nvtx_tree. */
#pragma once

#include "analyses/analysis.h"

/* `projected_ns`: per node of the model, the summed spans of its instances on each GPU. */
NAI_MUST_CHECK int nai_nvtx_tree_put(struct nai_table *table, const struct nai_model *model,
                                     const int64_t *projected_ns, struct nai_arena *arena, struct nai_err *err);
