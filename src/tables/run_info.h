#pragma once
#include "tables/declare.h"

#define RUN_INFO_COLUMNS(C, T)                                                                         \
  C(T, gpu_count, COUNT, "GPUs that ran something")                                                    \
  C(T, process_count, COUNT, "processes with CUDA activity or NVTX")                                   \
  C(T, window_ns, LESS(TIME), "first operation start to last operation end over all GPUs")             \
  C(T, kernel_count, LESS(COUNT), "kernel executions")                                                 \
  C(T, nvtx_range_count, COUNT, "NVTX ranges")                                                         \
  C(T, graph_envelope_count, COUNT, "CUDA graph launches traced as one envelope")                      \
  C(T, profiler_overhead_ns, LESS(TIME), "profiler overhead inside the window (union over threads)")   \
  C(T, profiler_overhead_pct, LESS(PCT), "of the window")                                              \
  C(T, dropped_rows, LESS(COUNT),                                                                      \
    "rows of the export left out as invalid, in damaged tables, or missing: checks rows-... of "       \
    "data_quality")                                                                                    \
  C(T, diagnostics_warnings, LESS(COUNT), "warnings nsys gave while capturing")                        \
  C(T, diagnostics_errors, LESS(COUNT), "errors nsys gave while capturing")                            \
  C(T, unmatched_launches, LESS(COUNT), "kernels, copies, sets and graphs without launching API call") \
  C(T, kernel_time_ns, LESS(TIME), "summed kernel durations")                                          \
  C(T, window_start_ns, START, "start of the window")                                                  \
  C(T, window_end_ns, END, "end of the window")                                                        \
  C(T, api_call_count, LESS(COUNT), "CUDA API calls")                                                  \
  C(T, memory_operation_count, LESS(COUNT), "copies and memsets")
NAI_TABLE(RUN_INFO, run_info, "Run", "The whole run", "what was not recorded: numbers are of what the export holds")
