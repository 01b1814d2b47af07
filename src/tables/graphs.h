#pragma once
#include "tables/declare.h"

#define GRAPHS_COLUMNS(C, T)                                                                                    \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                            \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 3)                                                       \
  C(T, graph_id, ID32, "graph, a number within the process", .key = true, .order = 4)                           \
  C(T, graph_exec_id, ID32, "executable graph, NULL where the export does not tell", .key = true, .order = 5)   \
  C(T, traced_by, LABEL, "node: each node was recorded; graph: one envelope per launch, its content unknown",   \
    .key = true, .order = 6)                                                                                    \
  C(T, launch_count, COUNT, "launches that ran something on this GPU", .sum = true)                             \
  C(T, launches_per_s, PER_S, "launches, from the first one's start to the last one's end")                     \
  C(T, launch_api_ns, LESS(TIME), "summed durations of the launch calls", .sum = true)                          \
  C(T, api_p50_ns, AVERAGE, "median duration of a launch call")                                                 \
  C(T, api_p90_ns, AVERAGE, "90th percentile of their durations")                                               \
  C(T, envelope_ns, TIME, "first node's start to last node's end, summed", .sum = true, .order = -1)            \
  C(T, envelope_p50_ns, AVERAGE, "the same, median")                                                            \
  C(T, nodes_per_launch, MEAN,                                                                                  \
    "median of the operations of a launch; of graph, nodes that the export says were created for this "         \
    "graph")                                                                                                    \
  C(T, kernel_count, COUNT, "kernels of all launches, NULL in mode graph", .sum = true)                         \
  C(T, kernel_time_ns, TIME, "their summed durations", .sum = true)                                             \
  C(T, idle_inside_ns, LESS(TIME), "the GPU ran nothing within envelopes; NULL in mode graph", .sum = true)     \
  C(T, idle_inside_pct, LESS(PCT), "of the envelopes")                                                          \
  C(T, idle_before_ns, LESS(TIME), "the GPU waited for the launch call, or for the launch to arrive behind it", \
    .sum = true)                                                                                                \
  C(T, stream_launch_p50_ns, AVERAGE,                                                                           \
    "median of the process's calls that launch a kernel outside of graphs, NULL for none")                      \
  C(T, cpu_saved_per_launch_ns, MORE(CELL(F64, NS)),                                                            \
    "time on the CPU that a launch saves: nodes by that median (4 \u00b5s without it), minus the launch call; " \
    "negative where it costs more",                                                                             \
    .role = NAI_ROLE_METRIC, .display_units = NAI_AS_US)                                                        \
  C(T, longest_start_ns, START, "start of the longest envelope")                                                \
  C(T, longest_end_ns, END, "end of the longest envelope")
NAI_TABLE(GRAPHS, graphs, "CUDA graphs", "One CUDA graph of one process on one GPU",
          "what ran inside a graph traced as an envelope; how long a graph takes when nobody traces it", .csv = true)
