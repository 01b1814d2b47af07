/* What a pause of a GPU is recorded as. Internal to src/analyses. */
#ifndef NAI_ANALYSES_PAUSE_CAUSE_H
#define NAI_ANALYSES_PAUSE_CAUSE_H

#include "analyses/spans/spans.h"

/* The cause that covers most of a pause, the part that it covers, and what is behind it ("" when nothing is). */
struct nai_pause_cause {
  const char *cause;
  int64_t ns;
  char what[512];
};

/* Divides [pause->start, pause->end) of the thread that launches the operation behind it (the only thread with CUDA
 * calls, where there is no launch) among, each taking what those before left: records of the profiler; loading; the
 * launching call; the thread's other CUDA calls; its outermost OS calls. The rest is host code where OS calls or
 * samples were recorded, else unknown. */
NAI_MUST_CHECK int nai_pause_explain(struct nai_pause_cause *out, const struct nai_model *model,
                                     const struct nai_gpu *gpu, const struct nai_span *pause, struct nai_err *err);

#endif
