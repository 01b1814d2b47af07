#pragma once
#include "tables/declare.h"

#define ELEMENTWISE_SHAPES_COLUMNS(C, T)                                                                              \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 2)                                                             \
  C(T, op, RANGE_NAME, "operation: the NVTX range with the sizes", .key = true, .order = 3)                           \
  C(T, elements, COUNT, "values of the result", .key = true, .order = 4)                                              \
  C(T, values, COUNT, "values read and written: each of the inputs and of the result once", .key = true, .order = 5)  \
  C(T, dtype, LABEL, "type of all of them: bf16, fp16, fp32; NULL unknown, or several", .key = true, .order = 6)      \
  C(T, count, COUNT, "operations that ran", .sum = true)                                                              \
  C(T, kernel_count, COUNT, "kernels behind them", .sum = true)                                                       \
  C(T, total_time_ns, LESS(TIME), "summed durations of these kernels", .sum = true, .order = -1)                      \
  C(T, bytes_per_op, MEAN, "bytes of the values; NULL where the type is unknown")                                     \
  C(T, achieved_gb_per_s, MORE(GB_PER_S), "bytes over time")                                                          \
  C(T, limit_gb_per_s, GB_PER_S, "bandwidth of the GPU's memory, NULL unknown")                                       \
  C(T, pct_of_limit, MORE(PCT), "achieved_gb_per_s of it; NULL where the L2 cache can hold the values, or above 100") \
  C(T, note, LABEL, "why there is no percentage")                                                                     \
  C(T, longest_kernel, LABEL, "the longest kernel")                                                                   \
  C(T, longest_start_ns, START, "its start")                                                                          \
  C(T, longest_end_ns, END, "its end")
NAI_TABLE(ELEMENTWISE_SHAPES, elementwise_shapes, "Sizes of elementwise operations",
          "Elementwise operations with as many values on one GPU",
          "reads beyond one per value; what caches hold; operations without sizes in their range names")
