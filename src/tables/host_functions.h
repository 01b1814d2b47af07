#pragma once
#include "tables/declare.h"

#define HOST_FUNCTIONS_COLUMNS(C, T)                                                                                   \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                                   \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 3)                                                              \
  C(T, context_id, ID32, "CUDA context", .key = true, .order = 4)                                                      \
  C(T, stream_id, STREAM, "CUDA stream", .key = true, .order = 5)                                                      \
  C(T, function, NAME, "function as its callbacks name it; NULL unknown", .key = true, .order = 6)                     \
  C(T, kind, LABEL, "stream, or graph: a node of a CUDA graph", .key = true, .order = 7)                               \
  C(T, call_count, COUNT, "executions", .sum = true)                                                                   \
  C(T, stream_time_ns, LESS(TIME), "summed time that they held the stream", .sum = true)                               \
  C(T, host_time_ns, TIME, "summed time of their callbacks on the host; NULL without callbacks", .sum = true)          \
  C(T, start_delay_ns, LESS(AVERAGE), "median time from the stream's start to the callback's; NULL without callbacks") \
  C(T, idle_ns, LESS(TIME), "idle time of the GPU because of them", .sum = true, .order = -1)                          \
  C(T, longest_start_ns, START, "start of the longest")                                                                \
  C(T, longest_end_ns, END, "end of the longest")
NAI_TABLE(HOST_FUNCTIONS, host_functions, "Host functions", "One function that a stream ran on the host",
          "whether the function is slow: waiting for the driver's thread counts, too; nodes of graphs that are traced "
          "as a whole. Built after NVIDIA's description: verified on generated exports only")
