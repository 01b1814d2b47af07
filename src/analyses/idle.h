/* What the files of the analysis of idle gaps share. */
#ifndef NAI_ANALYSES_IDLE_H
#define NAI_ANALYSES_IDLE_H

#include "analyses/analysis.h"
#include "derive/idle.h"

extern const struct nai_schema nai_idle_causes;
/* Fills it. host: what the host did in its own code, per GPU, as far as somebody looked; spans: table active_spans,
 * NULL when all is active. */
NAI_MUST_CHECK int nai_put_idle_causes(struct nai_table *table, const struct nai_model *model,
                                       const struct nai_idle_shares *host, const struct nai_table *spans,
                                       struct nai_err *err);
/* Idle time of a GPU by cause in pauses, set-up and checks: what is not in active spans. */
NAI_MUST_CHECK int nai_idle_outside(int64_t ns[NAI_IDLE_CAUSES], const struct nai_model *model, uint32_t gpu,
                                    const struct nai_table *spans, struct nai_err *err);
/* What the operation that ends a gap is called; NULL for the end of the window. */
const char *nai_next_op_name(char room[NAI_KIND_NAME_MAX], const struct nai_model *model,
                             const struct nai_idle_gap *gap);
/* Innermost NVTX range around a launch, NULL for none. */
const char *nai_launch_range(const struct nai_model *model, uint32_t launch);

#endif
