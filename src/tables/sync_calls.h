#pragma once
#include "tables/declare.h"

/* What sync_calls and sync_by_pid both say. */
#define SYNC_TIME_COLUMNS(C, T)                                                                                     \
  C(T, api_name, NAME, "API function", .key = true, .order = 3)                                                     \
  C(T, class, LABEL, "blocking, ordering or poll; only blocking calls make the host wait", .key = true, .order = 1) \
  C(T, call_count, LESS(COUNT), "calls", .sum = true)                                                               \
  C(T, total_time_ns, LESS(TIME), "summed durations", .sum = true, .order = -2)                                     \
  C(T, avg_duration_ns, AVERAGE, "mean duration")                                                                   \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                                                 \
  C(T, p90_duration_ns, AVERAGE, "90th percentile of durations")                                                    \
  C(T, max_duration_ns, LENGTH, "longest duration")                                                                 \
  C(T, pct_of_thread_window, LESS(PCT),                                                                             \
    "of the summed windows (first to last API call) of the threads that made these calls")                          \
  C(T, gpu_busy_pct, MORE(PCT),                                                                                     \
    "share of this time in which the process's GPUs were busy; empty, like what follows from it, where "            \
    "nothing of them is recorded")                                                                                  \
  C(T, top_nvtx_range, RANGE_NAME, "innermost NVTX range with most of this time")                                   \
  C(T, longest_start_ns, START, "start of the longest call")                                                        \
  C(T, longest_end_ns, END, "end of the longest call")
#define SYNC_IDLE_COLUMNS(C, T)                                                                           \
  C(T, gpu_idle_ns, LESS(TIME), "part of this time in which the process's GPUs ran nothing", .sum = true) \
  C(T, pct_of_thread_window_gpu_idle, LESS(PCT), "gpu_idle_ms, of the same thread windows")

#define SYNC_CALLS_COLUMNS(C, T)                \
  SYNC_TIME_COLUMNS(C, T)                       \
  C(T, pid, PID, "process of the longest call") \
  C(T, tid, TID, "thread of the longest call")  \
  SYNC_IDLE_COLUMNS(C, T)
NAI_TABLE(
    SYNC_CALLS, sync_calls, "Synchronization", "One synchronizing API function",
    "waits by polling, in condition variables or in NCCL's host code; whether a wait on a busy GPU costs anything",
    .csv = true)
