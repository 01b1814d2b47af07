/* Internal to src/analyses. */
#pragma once

#include "analyses/memory/memory_track.h"
#include "tables/memory_timeline.h"

/* Adds the points of every use to `table`. */
NAI_MUST_CHECK int nai_memory_timeline_put(struct nai_table *table, const struct nai_model *model,
                                           const struct nai_memory_track *track, struct nai_err *err);
