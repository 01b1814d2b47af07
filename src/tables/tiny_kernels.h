#pragma once
#include "tables/declare.h"

#define TINY_KERNELS_COLUMNS(C, T)                                                           \
  C(T, kernel_name, KERNEL_NAME, "demangled kernel name", .key = true, .order = 2)           \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 3)                                    \
  C(T, call_count, LESS(COUNT), "executions of 5 \u00b5s or less", .sum = true, .order = -1) \
  C(T, total_time_ns, LESS(TIME), "their summed durations", .sum = true)                     \
  C(T, avg_duration_ns, AVERAGE, "their mean duration")                                      \
  C(T, pct_of_device_kernels, LESS(PCT), "of all kernel executions on this GPU")             \
  C(T, short_name, LABEL, "name for people")
NAI_TABLE(TINY_KERNELS, tiny_kernels, "Tiny kernels", "Executions of 5 \u00b5s or less, by kernel name and GPU",
          "whether they could be fused or left out; kernels inside graphs traced as envelopes", .csv = true)
