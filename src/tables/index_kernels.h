#pragma once
#include "tables/declare.h"

#define INDEX_KERNELS_COLUMNS(C, T)                                                   \
  C(T, run_id, LABEL, "the run", .key = true, .order = 1)                             \
  C(T, capture, ID, "capture of the run, from 0", .key = true, .order = 2)            \
  C(T, name, KERNEL_NAME, "full kernel name, over all GPUs", .key = true, .order = 3) \
  C(T, category, LABEL, "kind of kernel")                                             \
  C(T, kernel_count, COUNT, "executions")                                             \
  C(T, total_time_ns, TIME, "summed durations")                                       \
  C(T, median_ns, AVERAGE, "median duration, on the GPU with most of its time")       \
  C(T, rate_ns, AVERAGE, "summed durations per GPU and steady step; without steps, per second of the window")
NAI_TABLE_NAMED(INDEX_KERNELS, index_kernels, "kernels", "Kernels", "One of a capture's 50 kernels with most time")
