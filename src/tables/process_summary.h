#pragma once
#include "tables/declare.h"

#define PROCESS_SUMMARY_COLUMNS(C, T)                                                                               \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                                \
  C(T, process_name, NAME, "executable, or what its main thread is called")                                         \
  C(T, devices, LABEL, "GPUs it used; device ids, separated by spaces")                                             \
  C(T, kernel_count, COUNT, "kernel executions", .sum = true)                                                       \
  C(T, kernel_time_ns, LESS(TIME), "summed kernel durations", .sum = true, .order = -1)                             \
  C(T, pct_of_total_kernel_time, PCT, "of all kernel durations", .sum = true)                                       \
  C(T, memcpy_bytes, LESS(BYTES), "bytes copied; sets and page migrations not included", .sum = true)               \
  C(T, api_calls, LESS(COUNT), "CUDA API calls", .sum = true)                                                       \
  C(T, blocked_ns, LESS(TIME), "time its threads waited in blocking calls (union per thread, summed)", .sum = true) \
  C(T, nvtx_coverage_pct, MORE(PCT), "its kernel time launched inside NVTX ranges; NULL without kernels or ranges")
NAI_TABLE(PROCESS_SUMMARY, process_summary, "Processes", "One process with CUDA activity or NVTX",
          "work that another process did for this one; processes of the job that were not traced", .was = "pids",
          .csv = true)
