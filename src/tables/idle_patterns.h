#pragma once
#include "tables/declare.h"

#define IDLE_PATTERNS_COLUMNS(C, T)                                                                   \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                         \
  C(T, cause, NAME, "cause of the largest part of each gap", .key = true, .labels = nai_cause_labels) \
  C(T, next_op, KERNEL_NAME, "operation that ends the gaps", .key = true)                             \
  C(T, launch_api, LABEL, "API call that launched it", .key = true)                                   \
  C(T, nvtx_range, RANGE_NAME, "innermost NVTX range around the launch", .key = true)                 \
  C(T, gap_count, LESS(COUNT), "gaps", .sum = true)                                                   \
  C(T, total_ns, LESS(TIME), "summed length", .sum = true)                                            \
  C(T, cause_ns, LESS(TIME), "of it with this cause", .sum = true)                                    \
  C(T, median_ns, AVERAGE, "median length")                                                           \
  C(T, longest_ns, LESS(TIME), "longest gap")                                                         \
  C(T, longest_start_ns, START, "start of the longest gap")                                           \
  C(T, longest_end_ns, END, "end of the longest gap")
NAI_TABLE(
    IDLE_PATTERNS, idle_patterns, "Repeated idle gaps",
    "Gaps of 4 \u00b5s or more within active spans of one GPU with the same cause before the same operation; the 1,000 with most time",
    "whether gaps of one pattern have one reason", .csv = true)
