/* Where does the work happen? Tables active_spans, gpu_active. */
#include "analyses/active_spans.h"
#include "analyses/analysis.h"

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)io, (void)err;
  return NAI_OK;
}

static const struct nai_schema *const schemas[] = {&nai_active_spans_schema, &nai_gpu_active_schema, NULL};
const struct nai_node nai_analysis_active_spans = {.name = "active_spans",
                                                   .outputs = schemas,
                                                   .parts = NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS),
                                                   .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) |
                                                             NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(THREADS) |
                                                             NAI_IN(OVERHEAD) | NAI_IN(OSRT) | NAI_IN(KERNEL_CONFIGS),
                                                   .run = run};
