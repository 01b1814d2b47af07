/* What the files of the analysis of idle gaps share. */
#pragma once

#include "analyses/analysis.h"
#include "model/idle/idle.h"
#include "tables/idle_causes.h"

/* What the host did in its own code on one GPU, as far as somebody looked: in all gaps, and in active spans. */
struct nai_idle_host {
  struct nai_idle_shares all, active;
};
/* Fills it. host: per GPU. */
NAI_MUST_CHECK int nai_put_idle_causes(struct nai_table *table, const struct nai_model *model,
                                       const struct nai_idle_host *host, struct nai_err *err);
/* Idle time of one GPU in active spans: without pauses, set-up and checks. As struct nai_gpu_idle has it. */
struct nai_idle_active {
  int64_t ns[NAI_IDLE_CAUSES], parts[NAI_IDLE_CAUSES], longest_ns[NAI_IDLE_CAUSES];
  struct nai_interval longest[NAI_IDLE_CAUSES];
  struct nai_idle_culprit what[NAI_IDLE_CAUSES];
};
NAI_MUST_CHECK int nai_idle_within_active(struct nai_idle_active *active, const struct nai_model *model, uint32_t gpu,
                                          struct nai_err *err);
/* Does a gap lie in active time? Of a model without that part, all do. *at: where to go on from for later gaps of the
 * GPU; 0 first. */
bool nai_idle_gap_active(uint32_t *at, const struct nai_model *model, uint32_t gpu, uint32_t number);
/* What the operation that ends a gap is called; NULL for the end of the window. */
const char *nai_next_op_name(char room[NAI_KIND_NAME_MAX], const struct nai_model *model,
                             const struct nai_idle_gap *gap);
/* "thread 144 python3"; returns `room`. */
enum { NAI_THREAD_LABEL_MAX = 512 };
const char *nai_thread_label(char room[NAI_THREAD_LABEL_MAX], const struct nai_model *model, int32_t thread);
/* Innermost NVTX range around a launch, NULL for none. */
const char *nai_launch_range(const struct nai_model *model, uint32_t launch);
