#pragma once
#include "tables/declare.h"

#define GRAPH_RANGES_COLUMNS(C, T)                                                                                     \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                                   \
  C(T, range_name, RANGE_NAME, "range in which the node was captured or added, NULL where there is none", .key = true, \
    .order = 3)                                                                                                        \
  C(T, resolution, LABEL,                                                                                              \
    "range, or why there is none: no range, no call (around the creation), not recorded (the node's "                  \
    "creation), ambiguous (several records of one node)",                                                              \
    .key = true, .order = 4)                                                                                           \
  C(T, kernel_count, COUNT, "kernels of graphs, over all launches", .sum = true)                                       \
  C(T, kernel_time_ns, LESS(TIME), "their summed durations", .sum = true, .order = -1)                                 \
  C(T, longest_kernel, LABEL, "the longest of them")                                                                   \
  C(T, longest_start_ns, START, "its start")                                                                           \
  C(T, longest_end_ns, END, "its end")
NAI_TABLE(GRAPH_RANGES, graph_ranges, "Ranges of graph nodes",
          "One NVTX range in which nodes of CUDA graphs of one process were made",
          "ranges of graphs captured before the capture began; graphs traced as envelopes")
