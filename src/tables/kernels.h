#pragma once
#include "tables/declare.h"

#define KERNELS_COLUMNS(C, T)                                                                             \
  C(T, kernel_name, KERNEL_NAME, "demangled kernel name", .key = true, .order = 2)                        \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 3)                                                 \
  C(T, call_count, COUNT, "executions", .sum = true)                                                      \
  C(T, total_time_ns, LESS(NS_MS), "summed durations", .sum = true, .order = -1)                          \
  C(T, avg_duration_ns, AVERAGE, "mean duration")                                                         \
  C(T, min_duration_ns, LENGTH, "shortest duration")                                                      \
  C(T, max_duration_ns, LENGTH, "longest duration")                                                       \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                                       \
  C(T, p90_duration_ns, AVERAGE, "90th percentile of durations")                                          \
  C(T, p99_duration_ns, AVERAGE, "99th percentile of durations")                                          \
  C(T, stddev_duration_ns, AVERAGE, "sample standard deviation of durations; n - 1; 0 for one execution") \
  C(T, pct_total_kernel_time, PCT, "of all kernel durations on all GPUs", .sum = true)                    \
  C(T, short_name, LABEL, "name for people, unique in this trace")                                        \
  C(T, category, LABEL, "kind of work (rules/kernel-classes.rules)")                                      \
  C(T, longest_start_ns, START, "start of the longest execution")                                         \
  C(T, longest_end_ns, END, "end of the longest execution")                                               \
  C(T, pct_of_device_kernel_time, PCT, "of all kernel durations on this GPU")                             \
  C(T, graph_call_count, COUNT, "executions that belong to a CUDA graph", .sum = true)
NAI_TABLE(KERNELS, kernels, "Top kernels", "One kernel name on one GPU, by total time",
          "kernels inside CUDA graphs traced as envelopes; overlap: totals are summed durations", .csv = true)
