#pragma once
#include "tables/declare.h"

#define KERNEL_CATEGORIES_COLUMNS(C, T)                                                      \
  C(T, category, NAME, "kind of work (rules/kernel-classes.rules)", .key = true, .order = 2) \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 3)                                    \
  C(T, call_count, COUNT, "kernel executions", .sum = true)                                  \
  C(T, total_time_ns, LESS(NS_MS), "summed durations", .sum = true, .order = -1)             \
  C(T, pct_of_device_kernel_time, PCT, "of all kernel durations on this GPU")                \
  C(T, pct_total_kernel_time, PCT, "of all kernel durations on all GPUs", .sum = true)
NAI_TABLE(KERNEL_CATEGORIES, kernel_categories, "Kernel time by category", "One category on one GPU",
          "what a kernel does beyond its name; communication under an unknown name counts as compute", .csv = true)
