#pragma once
#include "tables/declare.h"

#define GRAPH_CALLS_COLUMNS(C, T)                                                                                 \
  C(T, pid, PID, "process", .key = true, .order = 1)                                                              \
  C(T, operation, NAME, "launch, capture, build (of nodes), instantiate, update, upload or destroy", .key = true, \
    .order = 3)                                                                                                   \
  C(T, device_id, DEVICE, "the GPU of the process that ran nothing for longest under these calls")                \
  C(T, call_count, COUNT, "calls", .sum = true)                                                                   \
  C(T, total_time_ns, LESS(TIME), "summed durations", .sum = true, .order = -2)                                   \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                                               \
  C(T, gpu_idle_ns, LESS(TIME), "part of this time in which that GPU ran nothing", .sum = true)                   \
  C(T, later_count, COUNT, "after the first fifth of the run's GPU window: calls", .sum = true)                   \
  C(T, later_time_ns, LESS(TIME), "after the first fifth of the run's GPU window: summed durations", .sum = true) \
  C(T, later_gpu_idle_ns, LESS(TIME),                                                                             \
    "after the first fifth of the run's GPU window: time in which that GPU ran nothing", .sum = true)             \
  C(T, later_per_launch, LESS(MEAN), "after the first fifth of the run's GPU window: calls per graph launch")     \
  C(T, api_name, LABEL, "function of the longest call")                                                           \
  C(T, tid, TID, "thread of the longest call")                                                                    \
  C(T, longest_start_ns, START, "start of the longest call")                                                      \
  C(T, longest_end_ns, END, "end of the longest call")
NAI_TABLE(GRAPH_CALLS, graph_calls, "Calls on CUDA graphs", "One kind of call on CUDA graphs in one process",
          "which graph a call is about; whether calls of the first fifth are warm-up")
