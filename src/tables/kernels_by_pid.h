#pragma once
#include "tables/declare.h"

#define KERNELS_BY_PID_COLUMNS(C, T)                                                   \
  C(T, pid, PID, "process", .key = true, .order = 1)                                   \
  C(T, pid_total_kernel_time_ns, LESS(TIME), "summed kernel durations of the process") \
  C(T, pid_pct_of_total_kernel_time, PCT, "the process, of all kernel durations")      \
  C(T, kernel_name, KERNEL_NAME, "demangled kernel name", .key = true, .order = 3)     \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 4)                              \
  C(T, call_count, COUNT, "executions", .sum = true)                                   \
  C(T, total_time_ns, LESS(TIME), "summed durations", .sum = true, .order = -2)        \
  C(T, avg_duration_ns, AVERAGE, "mean duration")                                      \
  C(T, pct_of_pid_kernel_time, PCT, "of the process's kernel durations")               \
  C(T, pct_of_total_kernel_time, PCT, "of all kernel durations", .sum = true)
NAI_TABLE(KERNELS_BY_PID, kernels_by_pid, "Kernels by process", "One kernel name on one GPU in one process",
          "kernels whose process the export does not tell, which are in kernels only")
