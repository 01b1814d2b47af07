#pragma once
#include "tables/declare.h"

#define NVTX_TREE_COLUMNS(C, T)                                                                           \
  C(T, node_id, ID, "number of this node", .key = true)                                                   \
  C(T, parent_id, ID, "node around it, -1 for outermost ranges", .refers = "nvtx_tree")                   \
  C(T, pid, PID, "process")                                                                               \
  C(T, tid, TID, "thread")                                                                                \
  C(T, thread_name, LABEL, "thread name")                                                                 \
  C(T, range_name, RANGE_NAME, "canonical NVTX name")                                                     \
  C(T, count, COUNT, "instances", .sum = true)                                                            \
  C(T, total_time_ns, LESS(TIME), "summed durations")                                                     \
  C(T, self_time_ns, LESS(TIME), "minus ranges inside", .sum = true)                                      \
  C(T, attributed_kernel_time_ns, LESS(TIME), "kernels launched inside")                                  \
  C(T, self_kernel_time_ns, LESS(TIME), "kernels for which this is the innermost range", .sum = true)     \
  C(T, projected_time_ns, LESS(TIME), "summed spans of its instances on each GPU, as in nvtx_projection") \
  C(T, longest_start_ns, START, "start of the longest instance")                                          \
  C(T, longest_end_ns, END, "end of the longest instance")
NAI_TABLE(NVTX_TREE, nvtx_tree, "NVTX tree",
          "All instances of a range name inside the same chain of names on one thread",
          "GPU work of threads without ranges; how long a range's kernels ran after it ended", .csv = true)
