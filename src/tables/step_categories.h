#pragma once
#include "tables/declare.h"

#define STEP_CATEGORIES_COLUMNS(C, T)                                                                 \
  C(T, pid, PID, "process", .key = true, .order = 1)                                                  \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 2)                                             \
  C(T, category, NAME, "kind of work (rules/kernel-classes.rules)", .key = true, .order = 4)          \
  C(T, median_kernel_count, COUNT, "median of the steady steps: kernels")                             \
  C(T, median_ns, LESS(TIME), "median of the steady steps: summed kernel durations")                  \
  C(T, total_ns, LESS(TIME), "summed kernel durations in all steady steps", .sum = true, .order = -3) \
  C(T, pct_of_kernel_time, PCT, "of the kernel durations of these steps", .sum = true)                \
  C(T, pct_of_steps, PCT, "of the durations of these steps; kernels may overlap")
NAI_TABLE(STEP_CATEGORIES, step_categories, "Kernel time of a step",
          "Kernels of one kind of work in the steady steps of one process on one GPU",
          "kernels inside graphs traced as envelopes; what a kernel does beyond its name", .csv = true)
