#pragma once
#include "tables/declare.h"

#define NVTX_PROJECTION_EVENTS_COLUMNS(C, T)                                                                           \
  C(T, range, CELL(I32, ID), "row of nvtx_events", .refers = "nvtx_events", .filled = true)                            \
  C(T, range_name, RANGE_NAME, "canonical NVTX name")                                                                  \
  C(T, node, ID32, "row of nvtx_nodes: its place in the tree; NULL: start/end, or not nested", .refers = "nvtx_nodes") \
  C(T, style, LABEL, "push/pop or start/end")                                                                          \
  C(T, pid, PID, "process")                                                                                            \
  C(T, tid, TID, "thread")                                                                                             \
  C(T, device_id, DEVICE, "GPU; NULL: several together")                                                               \
  C(T, whole, CELL(I32, ID), "1: all that the instance launched; 0: its part on one of several GPUs", .values = 2)     \
  C(T, is_inside, CELL(I32, ID), "1: the range lies in one of the same name on its thread", .values = 2)               \
  C(T, start_ns, EVENT_START, "first start of its operations")                                                         \
  C(T, end_ns, EVENT_END, "last end of them")                                                                          \
  C(T, span_ns, NS, "from start to end")                                                                               \
  C(T, own_busy_ns, NS, "time in it with operations of its own running")                                               \
  C(T, busy_ns, NS, "time in it with anything running on these GPUs")                                                  \
  C(T, idle_ns, NS, "time in it with nothing running")                                                                 \
  C(T, range_start_ns, CELL(I64, TIMESTAMP_NS), "start of the range on the host")                                      \
  C(T, range_ns, NS, "duration of the range on the host")                                                              \
  C(T, start_lag_ns, NS, "from the range's start to the first operation's")                                            \
  C(T, end_lag_ns, NS, "from the range's end to the last operation's; negative: the work ended before")                \
  C(T, op_count, COUNT, "operations on GPUs", .sum = true)                                                             \
  C(T, launch_count, COUNT, "calls that launched them")                                                                \
  C(T, stream_count, COUNT, "streams")                                                                                 \
  C(T, kernel_ns, NS, "summed durations of kernels")                                                                   \
  C(T, comm_ns, NS, "of these: communication")                                                                         \
  C(T, graph_ns, NS, "summed durations of CUDA graphs traced as a whole")                                              \
  C(T, copy_ns, NS, "summed durations of copies and memsets")
NAI_TABLE(NVTX_PROJECTION_EVENTS, nvtx_projection_events, "Ranges on the GPU, one by one",
          "One NVTX range with work on GPUs; of a range with work on several, a row for each of them and one for all")
