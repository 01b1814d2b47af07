#pragma once
#include "tables/declare.h"

#define NVTX_BY_PID_COLUMNS(C, T)                                                                                    \
  C(T, pid, PID, "process", .key = true, .order = 1)                                                                 \
  C(T, range_name, RANGE_NAME, "canonical NVTX name", .key = true, .order = 3)                                       \
  C(T, nvtx_count, COUNT, "instances", .sum = true)                                                                  \
  C(T, nvtx_total_time_ns, LESS(TIME), "summed durations of instances not inside one of the same name", .order = -2) \
  C(T, attributed_kernel_time_ns, LESS(TIME), "kernels launched inside the range or ranges in it")                   \
  C(T, attributed_kernel_count, COUNT, "those kernels")                                                              \
  C(T, pid_attribution_coverage_pct, MORE(PCT), "kernel time of the process inside any range")
NAI_TABLE(NVTX_BY_PID, nvtx_by_pid, "NVTX ranges by process", "One canonical NVTX range name in one process",
          "GPU work launched by threads without ranges; why a range took as long as it did")
