/* Growth of memory from step to step. Internal to src/analyses. */
#pragma once

#include "analyses/memory/memory_track.h"
#include "tables/memory_growth.h"

/* Fills it. steps: table steps. */
NAI_MUST_CHECK int nai_memory_growth_put(struct nai_table *table, const struct nai_model *model,
                                         const struct nai_memory_track *track, const struct nai_table *steps,
                                         struct nai_err *err);
