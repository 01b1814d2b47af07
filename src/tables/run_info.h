#pragma once
#include "tables/declare.h"

#define RUN_INFO_COLUMNS(C, T)                                                                                   \
  C(T, gpu_count, COUNT, "GPUs that ran something")                                                              \
  C(T, process_count, COUNT, "processes with CUDA activity or NVTX")                                             \
  C(T, window_ns, TIME, "first operation start to last operation end over all GPUs", .better = NAI_BETTER_LOWER) \
  C(T, kernel_count, COUNT, "kernel executions", .better = NAI_BETTER_LOWER)                                     \
  C(T, nvtx_range_count, COUNT, "NVTX ranges")                                                                   \
  C(T, graph_envelope_count, COUNT, "CUDA graph launches traced as one envelope")                                \
  C(T, profiler_overhead_ns, TIME, "profiler overhead inside the window (union over threads)",                   \
    .better = NAI_BETTER_LOWER)                                                                                  \
  C(T, profiler_overhead_pct, PCT, "of the window", .better = NAI_BETTER_LOWER)                                  \
  C(T, dropped_rows, COUNT,                                                                                      \
    "rows of the export left out as invalid, in damaged tables, or missing: checks rows-... of "                 \
    "data_quality",                                                                                              \
    .better = NAI_BETTER_LOWER)                                                                                  \
  C(T, diagnostics_warnings, COUNT, "warnings nsys gave while capturing", .better = NAI_BETTER_LOWER)            \
  C(T, diagnostics_errors, COUNT, "errors nsys gave while capturing", .better = NAI_BETTER_LOWER)                \
  C(T, unmatched_launches, COUNT, "kernels, copies, sets and graphs without launching API call",                 \
    .better = NAI_BETTER_LOWER)                                                                                  \
  C(T, kernel_time_ns, TIME, "summed kernel durations", .better = NAI_BETTER_LOWER)                              \
  C(T, window_start_ns, START, "start of the window")                                                            \
  C(T, window_end_ns, END, "end of the window")                                                                  \
  C(T, api_call_count, COUNT, "CUDA API calls", .better = NAI_BETTER_LOWER)                                      \
  C(T, memory_operation_count, COUNT, "copies and memsets", .better = NAI_BETTER_LOWER)
NAI_TABLE(RUN_INFO, run_info, "Run", "The whole run", "what was not recorded: numbers are of what the export holds")
