#pragma once
#include "tables/declare.h"

#define KERNEL_LAUNCH_TIMES_COLUMNS(C, T)                                                                           \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                                \
  C(T, tid, TID, "launching thread", .key = true, .order = 3)                                                       \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 4)                                                           \
  C(T, api_name, NAME, "call that launches", .key = true, .order = 5)                                               \
  C(T, kernel_name, KERNEL_NAME, "full kernel name", .key = true, .order = 6)                                       \
  C(T, kernel_count, COUNT, "kernels; each one of a graph counts with the graph's call", .sum = true)               \
  C(T, total_time_ns, LESS(TIME), "from the call's start to the later end of call and kernel, summed", .order = -1) \
  C(T, total_avg_ns, AVERAGE, "mean of that")                                                                       \
  C(T, total_p50_ns, AVERAGE, "median of that")                                                                     \
  C(T, api_avg_ns, AVERAGE, "mean duration of the calls")                                                           \
  C(T, api_p50_ns, AVERAGE, "median duration of the calls")                                                         \
  C(T, queued_count, COUNT, "kernels that began when their call had ended; the next three are of these")            \
  C(T, queue_avg_ns, AVERAGE, "mean time from the end of the call to the start of the kernel")                      \
  C(T, queue_p50_ns, AVERAGE, "median of that")                                                                     \
  C(T, queue_max_ns, LENGTH, "longest of that")                                                                     \
  C(T, kernel_avg_ns, AVERAGE, "mean duration of the kernels")                                                      \
  C(T, kernel_p50_ns, AVERAGE, "median duration of the kernels")
NAI_TABLE(KERNEL_LAUNCH_TIMES, kernel_launch_times, "Kernels from call to end",
          "The kernels of one name that one thread launched on one GPU by one function",
          "kernels whose launching call is not in the trace; whether queue time costs anything")
