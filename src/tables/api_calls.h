#pragma once
#include "tables/declare.h"

#define API_CALLS_COLUMNS(C, T)                                                                         \
  C(T, api_name, NAME, "CUDA function, without its version", .key = true, .order = 2)                   \
  C(T, call_count, LESS(COUNT), "calls of all threads; calls inside others, too", .sum = true)          \
  C(T, total_time_ns, LESS(TIME), "summed durations", .sum = true, .order = -1)                         \
  C(T, avg_duration_ns, AVERAGE, "mean duration")                                                       \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                                     \
  C(T, p90_duration_ns, AVERAGE, "90th percentile of durations")                                        \
  C(T, min_duration_ns, LENGTH, "shortest duration")                                                    \
  C(T, max_duration_ns, LENGTH, "longest duration")                                                     \
  C(T, stddev_duration_ns, AVERAGE, "standard deviation of durations")                                  \
  C(T, pct_of_api_time, PCT, "of the summed durations of all calls", .sum = true)                       \
  C(T, error_count, LESS(COUNT),                                                                        \
    "calls that returned an error; that work is not done yet is none; NULL: not recorded", .sum = true) \
  C(T, longest_start_ns, START, "start of the longest call")                                            \
  C(T, longest_end_ns, END, "end of the longest call")                                                  \
  C(T, pid, PID, "process of the longest call")                                                         \
  C(T, tid, TID, "thread of the longest call")
NAI_TABLE(API_CALLS, api_calls, "CUDA calls", "One function of CUDA's APIs",
          "whether the time inside a call cost anything; calls of threads that were not traced", .csv = true)
