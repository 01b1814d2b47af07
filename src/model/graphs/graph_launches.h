/* Launches of CUDA graphs, however they were traced. */
#pragma once

#include "model/model.h"

/* What one launch ran on one GPU. */
struct nai_graph_launch {
  uint32_t gpu, api; /* index of the GPU; row of api_events, NAI_NO_ROW for none */
  int32_t process;
  int32_t graph, exec; /* NAI_NULL_I32 unknown */
  bool by_node;        /* traced node by node; else as one envelope, and the next three are 0 */
  int64_t nodes, kernels, kernel_ns;
  int64_t start, end;     /* first node's start, last node's end */
  int64_t idle_inside_ns; /* of the GPU in between */
  int64_t idle_before_ns; /* the gap that the launch ended, as far as it lies in its call or is launch latency */
};
struct nai_graph_launches {
  struct nai_graph_launch *v; /* by GPU, start */
  uint32_t count, capacity;
  struct nai_arena arena; /* private */
};
NAI_MUST_CHECK int nai_graph_launches_find(struct nai_graph_launches *out, const struct nai_model *model,
                                           struct nai_err *err);
void nai_graph_launches_free(struct nai_graph_launches *launches);
