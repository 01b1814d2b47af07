#pragma once
#include "tables/declare.h"

#define GEMM_SHAPES_COLUMNS(C, T)                                                                                    \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 2)                                                            \
  C(T, op, RANGE_NAME, "operation: the NVTX range with the sizes", .key = true, .order = 3)                          \
  C(T, batch, COUNT, "products in one operation; of attention query heads", .key = true, .order = 4)                 \
  C(T, m, COUNT, "rows of the result; of attention the length of queries", .key = true, .order = 5)                  \
  C(T, n, COUNT, "columns of the result; of attention the length of keys", .key = true, .order = 6)                  \
  C(T, k, COUNT, "what is summed over; of attention the size of a head", .key = true, .order = 7)                    \
  C(T, dtype, LABEL, "what is multiplied: fp8, bf16, fp16, tf32, fp32; NULL unknown", .key = true, .order = 8)       \
  C(T, count, COUNT, "operations that ran", .sum = true)                                                             \
  C(T, kernel_count, COUNT, "kernels behind them", .sum = true)                                                      \
  C(T, total_time_ns, LESS(TIME),                                                                                    \
    "summed durations of these kernels: also the helpers of a product, such as the sum of a split one", .sum = true, \
    .order = -1)                                                                                                     \
  C(T, flop_per_op, MEAN, "floating-point operations of one; attention without a mask")                              \
  C(T, bytes_per_op, MEAN, "bytes of one: every value read or written once; NULL where the type is unknown")         \
  C(T, achieved_tflops, MORE(MEAN), "operations over time, 10^12 per second")                                        \
  C(T, peak_tflops, MEAN, "dense peak of this GPU for the data type, NULL unknown")                                  \
  C(T, roofline_ns, TIME,                                                                                            \
    "what they take at least: the longer of operations at the peak, and of every value read or written "             \
    "once at the memory's bandwidth",                                                                                \
    .sum = true)                                                                                                     \
  C(T, bound, LABEL, "which of the two is longer: compute or memory")                                                \
  C(T, pct_of_roofline, MORE(PCT), "roofline_ms of total_time_ms; NULL where it would be above 100")                 \
  C(T, excess_ns, LESS(TIME), "the difference", .sum = true)                                                         \
  C(T, aligned, LABEL,                                                                                               \
    "whether n and k are multiples of 16 bytes, as tensor cores want: yes or no; NULL where the type is "            \
    "unknown")                                                                                                       \
  C(T, note, LABEL, "why there is no roofline, or what it rests on")                                                 \
  C(T, longest_kernel, LABEL, "the longest kernel")                                                                  \
  C(T, wave_efficiency_pct, MORE(PCT),                                                                               \
    "of the longest kernel: waves of blocks, of the next whole number (kernel_shape)")                               \
  C(T, longest_start_ns, START, "its start")                                                                         \
  C(T, longest_end_ns, END, "its end")
NAI_TABLE(GEMM_SHAPES, gemm_shapes, "Sizes of matrix products",
          "Matrix products or attention of one operation with the same sizes on one GPU",
          "causal masks; what caches hold; clocks below boost", .csv = true)
