/* What a process repeats whose GPU work is not recorded: its outermost NVTX ranges. Internal to src/analyses/steps. */
#pragma once

#include "analyses/analysis.h"

/* Adds rows of repeating_units: at most four per process, those with most time first. */
NAI_MUST_CHECK int nai_range_units_put(const struct nai_node_io *io, struct nai_table *units, struct nai_err *err);
