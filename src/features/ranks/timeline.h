/* All ranks of a job on one timeline. */
#pragma once

#include "features/ranks/ranks.h"

/* Everything of the traces whose clocks are known, as a Perfetto file: times by the clock of one rank, a flow per
 * matched collective. `shown`: how many these are. NAI_EINPUT for none, NAI_EUSAGE for more than NAI_EXPORT_MAX_PLACES.
 */
NAI_MUST_CHECK int nai_ranks_put_timeline(uint32_t *shown, struct nai_buf *out, struct nai_ranks *ranks,
                                          struct nai_err *err);
