/* What the files of the analysis of idle gaps share. */
#ifndef NAI_ANALYSES_IDLE_H
#define NAI_ANALYSES_IDLE_H

#include "analyses/analysis.h"
#include "derive/idle/idle.h"

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
/* The row of active_spans that holds `time` on a GPU, from row `at` on; -1 past the last. Spans partition the window in
 * order. */
int64_t nai_active_span_at(const struct nai_table *spans, int64_t at, int32_t device, int64_t time);
/* "thread 144 python3"; returns `room`. */
enum { NAI_THREAD_LABEL_MAX = 512 };
const char *nai_thread_label(char room[NAI_THREAD_LABEL_MAX], const struct nai_model *model, int32_t thread);
/* Innermost NVTX range around a launch, NULL for none. */
const char *nai_launch_range(const struct nai_model *model, uint32_t launch);

#endif
