#pragma once
#include "tables/declare.h"

#define NVTX_COVERAGE_COLUMNS(C, T)                                                                 \
  C(T, scope, NAME, "all or process", .key = true)                                                  \
  C(T, pid, PID, "process", .key = true)                                                            \
  C(T, kernel_time_ns, LESS(TIME), "summed kernel durations")                                       \
  C(T, attributed_kernel_time_ns, TIME, "part launched inside an NVTX range")                       \
  C(T, coverage_pct, MORE(PCT), "attributed, of the kernel time; NULL without kernels")             \
  C(T, kernel_count, COUNT, "kernel executions")                                                    \
  C(T, attributed_kernel_count, COUNT, "part launched inside an NVTX range")                        \
  C(T, range_count, COUNT, "NVTX ranges")                                                           \
  C(T, distinct_names, COUNT, "canonical names")                                                    \
  C(T, without_launch_ns, TIME,                                                                     \
    "kernels whose launching call is not in the export: in no range by nature. The finding on low " \
    "coverage leaves them out")
NAI_TABLE(NVTX_COVERAGE, nvtx_coverage, "NVTX coverage", "All processes, or one",
          "whether ranges say anything useful: one range around everything covers 100 %")
