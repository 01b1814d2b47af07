#pragma once
#include "tables/declare.h"

#define COMPARED_TREE_COLUMNS(C, T)                                                                        \
  C(T, node_id, ID, "number of this node", .key = true)                                                    \
  C(T, parent_id, ID, "node around it, -1 for outermost ranges")                                           \
  C(T, depth, CELL(I32, COUNT), "ranges around it")                                                        \
  C(T, range_name, RANGE_NAME, "canonical NVTX name")                                                      \
  C(T, state, LABEL, "both, only_base or only_new")                                                        \
  C(T, base_count, MEAN, "instances in the base, per GPU and step or run")                                 \
  C(T, new_count, MEAN, "instances in the new side, per GPU and step or run")                              \
  C(T, base_time_ns, MEAN_TIME, "summed durations in the base, per GPU and step or run")                   \
  C(T, new_time_ns, MEAN_TIME, "summed durations in the new side, per GPU and step or run")                \
  C(T, delta_ns, MEAN_TIME, "new minus base, per GPU and step or run")                                     \
  C(T, base_kernel_time_ns, MEAN_TIME, "kernels launched inside, in the base, per GPU and step or run")    \
  C(T, new_kernel_time_ns, MEAN_TIME, "kernels launched inside, in the new side, per GPU and step or run") \
  C(T, kernel_delta_ns, MEAN_TIME, "new minus base, per GPU and step or run")
NAI_TABLE(COMPARED_TREE, compared_tree, "NVTX tree",
          "One range name inside one chain of names, on all threads together; steps of every state count")
