#pragma once
#include "tables/declare.h"

#define NVTX_RANGES_COLUMNS(C, T)                                                                                \
  C(T, range_name, RANGE_NAME, "canonical NVTX name", .key = true, .order = 2)                                   \
  C(T, count, COUNT, "instances; nested ones included", .sum = true)                                             \
  C(T, total_time_ns, LESS(TIME),                                                                                \
    "summed durations of instances not inside one of the same name; so that recursion does not count "           \
    "twice",                                                                                                     \
    .order = -1)                                                                                                 \
  C(T, self_time_ns, LESS(TIME), "summed durations minus ranges inside", .sum = true)                            \
  C(T, avg_duration_ns, AVERAGE, "mean duration of all instances")                                               \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                                              \
  C(T, p90_duration_ns, AVERAGE, "90th percentile of durations")                                                 \
  C(T, max_duration_ns, LENGTH, "longest duration")                                                              \
  C(T, attributed_kernel_time_ns, LESS(TIME),                                                                    \
    "kernels launched inside the range or ranges in it; each kernel once per name")                              \
  C(T, self_kernel_time_ns, LESS(TIME), "kernels for which this is the innermost range", .sum = true)            \
  C(T, attributed_kernel_count, COUNT, "kernels behind attributed_kernel_time_ms")                               \
  C(T, pct_total_kernel_time, PCT, "attributed, of all kernel durations on all GPUs")                            \
  C(T, longest_start_ns, START, "start of the longest instance")                                                 \
  C(T, longest_end_ns, END, "end of the longest instance")                                                       \
  C(T, pid, PID, "process of the longest instance")                                                              \
  C(T, tid, TID, "thread of the longest instance")                                                               \
  C(T, attributed_gpu_time_ns, LESS(TIME),                                                                       \
    "kernels, CUDA graphs traced as a whole, copies and memsets launched inside the range or ranges in it, "     \
    "summed")                                                                                                    \
  C(T, self_gpu_time_ns, LESS(TIME), "those for which this is the innermost range", .sum = true)                 \
  C(T, attributed_graph_time_ns, LESS(TIME), "of attributed_gpu_time_ns: CUDA graphs traced as a whole")         \
  C(T, attributed_copy_time_ns, LESS(TIME), "of attributed_gpu_time_ns: copies and memsets")                     \
  C(T, p25_duration_ns, AVERAGE,                                                                                 \
    "where p75 is three times as long or more, so that few are near the median: the 25th percentile; else NULL") \
  C(T, p75_duration_ns, AVERAGE, "there, the 75th percentile")
NAI_TABLE(NVTX_RANGES, nvtx_ranges, "NVTX ranges", "One canonical NVTX range name",
          "GPU work launched by threads without ranges; why a range took as long as it did", .csv = true)
