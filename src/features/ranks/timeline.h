/* All ranks of a job on one timeline. */
#pragma once

#include "features/export/export.h"
#include "features/ranks/ranks.h"

/* The clock of a trace, against that of the rank that most others are compared with; no time becomes negative. False:
 * it is not known. */
bool nai_ranks_place(struct nai_export_place *out, const struct nai_ranks *ranks, uint32_t source);

/* How many traces have clocks that are known against one rank's. */
uint32_t nai_ranks_on_timeline(const struct nai_ranks *ranks);
/* Everything of these, at most NAI_EXPORT_MAX_PLACES, as a Perfetto file: times by the clock of that rank, a flow per
 * matched collective. NAI_EINPUT when the clocks of no two traces can be compared. */
NAI_MUST_CHECK int nai_ranks_put_timeline(struct nai_buf *out, struct nai_ranks *ranks, struct nai_err *err);
