#pragma once
#include "tables/declare.h"

#define NVTX_PROJECTION_COLUMNS(C, T)                                                                                  \
  C(T, range_name, RANGE_NAME, "canonical NVTX name", .key = true, .order = 2)                                         \
  C(T, style, LABEL, "push/pop or start/end", .key = true, .order = 3)                                                 \
  C(T, device_id, DEVICE, "GPU; NULL: several together", .key = true, .order = 4)                                      \
  C(T, whole, CELL(I32, ID), "1: all GPUs that the name used; 0: its part on one of several", .values = 2)             \
  C(T, gpu_count, COUNT, "GPUs that the row speaks of")                                                                \
  C(T, instances, COUNT, "instances of the name, with work or without")                                                \
  C(T, instances_with_work, COUNT, "of these: launched something here")                                                \
  C(T, total_span_ns, LESS(TIME),                                                                                      \
    "summed spans; a span is from the first start to the last end of what an instance launched; instances inside one " \
    "of the same name are left out, here and below",                                                                   \
    .order = -1)                                                                                                       \
  C(T, avg_span_ns, AVERAGE, "mean span")                                                                              \
  C(T, p50_span_ns, AVERAGE, "median span")                                                                            \
  C(T, min_span_ns, LENGTH, "shortest span")                                                                           \
  C(T, max_span_ns, LENGTH, "longest span")                                                                            \
  C(T, stddev_span_ns, AVERAGE, "standard deviation of spans")                                                         \
  C(T, own_busy_ns, TIME, "in the spans: time with the instance's own work running")                                   \
  C(T, busy_ns, TIME, "in the spans: time with anything running on these GPUs")                                        \
  C(T, idle_ns, LESS(TIME), "in the spans: time with nothing running")                                                 \
  C(T, idle_pct, LESS(PCT), "idle, of the spans")                                                                      \
  C(T, other_pct, PCT, "busy, but not with the instance's own work, of the spans")                                     \
  C(T, range_time_ns, LESS(TIME), "summed durations of the same instances on the host")                                \
  C(T, avg_range_ns, AVERAGE, "mean duration on the host")                                                             \
  C(T, p50_start_lag_ns, AVERAGE, "median time from the range's start to the start of its work")                       \
  C(T, p90_start_lag_ns, AVERAGE, "90th percentile of these")                                                          \
  C(T, union_span_ns, TIME, "time in which at least one of the spans of a process was, summed over processes")         \
  C(T, overlap_pct, PCT, "of the summed spans: more than that, as spans of one instance and the next overlap")         \
  C(T, op_count, COUNT, "operations on GPUs")                                                                          \
  C(T, launch_count, COUNT, "calls that launched them")                                                                \
  C(T, max_stream_count, COUNT, "most streams of one instance")                                                        \
  C(T, kernel_time_ns, TIME, "summed durations of kernels")                                                            \
  C(T, comm_time_ns, TIME, "of these: communication")                                                                  \
  C(T, graph_time_ns, TIME, "summed durations of CUDA graphs traced as a whole")                                       \
  C(T, copy_time_ns, TIME, "summed durations of copies and memsets")                                                   \
  C(T, longest_start_ns, START, "start of the longest span")                                                           \
  C(T, longest_end_ns, END, "end of the longest span")                                                                 \
  C(T, pid, PID, "process of the longest span")                                                                        \
  C(T, tid, TID, "thread of the longest span")                                                                         \
  C(T, p25_span_ns, AVERAGE,                                                                                           \
    "where p75_span is three times as long or more, so that few spans are near the median: the 25th percentile; "      \
    "else NULL")                                                                                                       \
  C(T, p75_span_ns, AVERAGE, "there, the 75th percentile")
NAI_TABLE(NVTX_PROJECTION, nvtx_projection, "NVTX ranges on the GPU",
          "The work that all instances of a range name launched, on GPUs",
          "work that other threads launched for the range, as PyTorch's backward pass; what an instance waited for",
          .csv = true)
