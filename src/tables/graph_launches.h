#pragma once
#include "tables/declare.h"

#define GRAPH_LAUNCHES_COLUMNS(C, T)                                                                          \
  C(T, pid, PID, "process", .order = 4)                                                                       \
  C(T, device_id, DEVICE, "GPU", .order = 3)                                                                  \
  C(T, start_ns, START, "start of its first node", .order = 2)                                                \
  C(T, end_ns, END, "end of its last node")                                                                   \
  C(T, duration_ns, LENGTH, "the envelope", .order = -1)                                                      \
  C(T, graph_id, ID32, "graph, a number within the process", .order = 5)                                      \
  C(T, graph_exec_id, ID32, "executable graph, NULL where the export does not tell")                          \
  C(T, traced_by, LABEL, "node: each node was recorded; graph: one envelope per launch, its content unknown") \
  C(T, node_count, COUNT, "operations, NULL in mode graph")                                                   \
  C(T, kernel_count, COUNT, "kernels, NULL in mode graph")                                                    \
  C(T, kernel_time_ns, TIME, "their summed durations")                                                        \
  C(T, idle_inside_ns, LENGTH, "the GPU ran nothing within the envelope; NULL in mode graph")                 \
  C(T, idle_before_ns, LENGTH, "the gap that it ended, as far as it lies in the launch call or behind it")    \
  C(T, launch_api_ns, LENGTH, "duration of the launch call, NULL where it is not in the trace")               \
  C(T, launch_api_start_ns, CELL(I64, TIMESTAMP_NS), "its start", .order = 6)
NAI_TABLE(GRAPH_LAUNCHES, graph_launches, "Launches of CUDA graphs", "One launch of a CUDA graph on one GPU",
          "what graphs cannot; launches beyond the 10,000 longest")
