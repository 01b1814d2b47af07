#pragma once
#include "tables/declare.h"

#define LAUNCH_RATES_COLUMNS(C, T)                                                                       \
  C(T, scope, NAME, "all, gpu or process", .key = true)                                                  \
  C(T, device_id, DEVICE, "GPU, where the row is about one", .key = true)                                \
  C(T, pid, PID, "process, where the row is about one", .key = true)                                     \
  C(T, kernel_count, COUNT, "kernel executions")                                                         \
  C(T, launch_calls, LESS(COUNT), "API calls that launched them; each counts once")                      \
  C(T, window_ns, LESS(CELL(I64, NS)), "first kernel start to last kernel end", .role = NAI_ROLE_METRIC, \
    .display_units = NAI_AS_S)                                                                           \
  C(T, kernels_per_s, PER_S, "kernels over the window")                                                  \
  C(T, launch_calls_per_s, PER_S, "launch calls over the window")                                        \
  C(T, p50_kernel_ns, AVERAGE, "median kernel duration")                                                 \
  C(T, p90_kernel_ns, AVERAGE, "90th percentile of kernel durations")                                    \
  C(T, p99_kernel_ns, AVERAGE, "99th percentile of kernel durations")                                    \
  C(T, pct_under_5us, PCT, "kernels shorter than 5 \u00b5s, of all kernels")                             \
  C(T, pct_under_10us, PCT, "kernels shorter than 10 \u00b5s, of all kernels")                           \
  C(T, pct_under_20us, PCT, "kernels shorter than 20 \u00b5s, of all kernels")                           \
  C(T, peak_kernels_per_10ms, COUNT, "most kernel starts in any 10 ms")                                  \
  C(T, api_p50_ns, AVERAGE, "median duration of the launch calls")                                       \
  C(T, launch_latency_p50_ns, AVERAGE,                                                                   \
    "median of kernel start minus API call start; waiting in the queue is part of it")                   \
  C(T, launch_latency_p90_ns, AVERAGE, "90th percentile of kernel start minus API call start")           \
  C(T, queue_delay_p50_ns, AVERAGE,                                                                      \
    "median of kernel start minus API call end, where the kernel started after the call returned")       \
  C(T, peak_start_ns, START, "start of the busiest 10 ms")                                               \
  C(T, peak_end_ns, END, "end of the busiest 10 ms")                                                     \
  C(T, kernel_time_ns, LESS(TIME), "summed kernel durations")                                            \
  C(T, scope_label, LABEL, "scope for people")
NAI_TABLE(LAUNCH_RATES, launch_rates, "Launch behavior", "All kernels, those of one GPU, or those of one process",
          "API calls that nsys left out: counts of calls are lower bounds", .was = "launch_storm")
