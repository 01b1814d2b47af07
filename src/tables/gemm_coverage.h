#pragma once
#include "tables/declare.h"

#define GEMM_COVERAGE_COLUMNS(C, T)                                                                           \
  C(T, pid, PID, "process", .key = true)                                                                      \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                                 \
  C(T, matrix_time_ns, TIME, "summed durations of kernels of the categories gemm, convolution and attention", \
    .sum = true)                                                                                              \
  C(T, covered_time_ns, TIME, "of these, launched by operations whose sizes are known", .sum = true)          \
  C(T, covered_pct, PCT, "covered_time_ns of matrix_time_ns")                                                 \
  C(T, op_count, COUNT, "operations with known sizes that ran", .sum = true)                                  \
  C(T, flop, MEAN, "their floating-point operations; attention without a mask", .sum = true)                  \
  C(T, attention_flop_pct, PCT, "of flop: attention, at most half of it with a causal mask")                  \
  C(T, steady_steps, COUNT, "steady steps (table steps)")                                                     \
  C(T, steady_matrix_time_ns, TIME, "matrix_time_ns of what they launched", .sum = true)                      \
  C(T, steady_covered_time_ns, TIME, "covered_time_ns of that", .sum = true)                                  \
  C(T, steady_flop_per_step, MEAN, "flop of what they launched, per step")
NAI_TABLE(GEMM_COVERAGE, gemm_coverage, "Coverage by sizes", "One process on one GPU, where range names tell sizes",
          "how much the kernels without sizes compute")
