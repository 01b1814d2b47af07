#pragma once
#include "tables/declare.h"

#define UVM_KERNELS_COLUMNS(C, T)                                                                           \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 3)                                                   \
  C(T, kernel_name, KERNEL_NAME, "kernel", .key = true, .order = 4)                                         \
  C(T, call_count, COUNT, "executions", .sum = true)                                                        \
  C(T, covered_count, COUNT, "executions in which memory moved", .sum = true)                               \
  C(T, total_time_ns, TIME, "summed durations", .sum = true, .order = -2)                                   \
  C(T, covered_ns, LESS(TIME), "of it while memory moved or faults were handled", .sum = true, .order = -1) \
  C(T, covered_pct, LESS(PCT), "the same as a share")                                                       \
  C(T, most_covered_ns, TIME, "covered part of the execution that has most of it")                          \
  C(T, most_covered_start_ns, START, "start of that execution")                                             \
  C(T, most_covered_end_ns, END, "end of that execution")
NAI_TABLE(UVM_KERNELS, uvm_kernels, "Kernels and unified memory",
          "The executions of one kernel on one GPU that managed memory moves to or from",
          "how long a kernel stood still, and on which pages")
