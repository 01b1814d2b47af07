/* All ranks of a job on one timeline. */
#pragma once

#include "features/export/export.h"
#include "features/ranks/write.h"

/* The clock of a trace, against that of the rank that most others are compared with; no time becomes negative. False:
 * it is not known. */
bool nai_ranks_place(struct nai_export_place *out, const struct nai_ranks *ranks, uint32_t source);

/* How many traces have clocks that are known against one rank's. */
uint32_t nai_ranks_on_timeline(const struct nai_ranks *ranks);
/* These as a Perfetto file: times by the clock of that rank, flows from the last to arrive. Of NAI_EXPORT_MAX_PLACES
 * everything, of further ranks what their GPUs did, in bins. NAI_EINPUT when the clocks of no two traces can be
 * compared.
 */
NAI_MUST_CHECK int nai_ranks_put_timeline(struct nai_buf *out, const struct nai_ranks_report *report,
                                          struct nai_ranks *ranks, struct nai_err *err);
