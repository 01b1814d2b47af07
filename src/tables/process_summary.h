#pragma once
#include "tables/declare.h"

#define PROCESS_SUMMARY_COLUMNS(C, T)                                                                          \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                           \
  C(T, process_name, NAME, "executable, or what its main thread is called")                                    \
  C(T, devices, LABEL, "GPUs it used; device ids, separated by spaces")                                        \
  C(T, kernel_count, COUNT, "kernel executions", .sum = true)                                                  \
  C(T, kernel_time_ns, TIME, "summed kernel durations", .better = NAI_BETTER_LOWER, .sum = true, .order = -1)  \
  C(T, pct_of_total_kernel_time, PCT, "of all kernel durations", .sum = true)                                  \
  C(T, memcpy_bytes, BYTES, "bytes copied; sets and page migrations not included", .better = NAI_BETTER_LOWER, \
    .sum = true)                                                                                               \
  C(T, api_calls, COUNT, "CUDA API calls", .better = NAI_BETTER_LOWER, .sum = true)                            \
  C(T, blocked_ns, TIME, "time its threads waited in blocking calls (union per thread, summed)",               \
    .better = NAI_BETTER_LOWER, .sum = true)                                                                   \
  C(T, nvtx_coverage_pct, PCT, "its kernel time launched inside NVTX ranges; NULL without kernels or ranges",  \
    .better = NAI_BETTER_HIGHER)
NAI_TABLE(PROCESS_SUMMARY, process_summary, "Processes", "One process with CUDA activity or NVTX",
          "work that another process did for this one; processes of the job that were not traced", .was = "pids",
          .csv = true)
