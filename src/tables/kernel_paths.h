#pragma once
#include "tables/declare.h"

#define KERNEL_PATHS_COLUMNS(C, T)                                                                                    \
  C(T, kernel_name, KERNEL_NAME, "demangled kernel name", .key = true, .order = 2)                                    \
  C(T, category, LABEL, "kind of work (rules/kernel-classes.rules)")                                                  \
  C(T, nvtx_path, RANGE_NAME, "NVTX ranges around its launch, outermost first, digits as #", .key = true, .order = 3) \
  C(T, call_count, COUNT, "executions on all GPUs", .sum = true)                                                      \
  C(T, total_time_ns, LESS(TIME), "summed durations", .sum = true, .order = -1)                                       \
  C(T, steady_call_count, COUNT, "executions launched in steady steps; without launch records, begun in them",        \
    .sum = true)                                                                                                      \
  C(T, steady_time_ns, LESS(TIME), "summed durations of these", .sum = true)
NAI_TABLE(KERNEL_PATHS, kernel_paths, "Kernels by NVTX path",
          "One kernel name launched inside one chain of NVTX ranges", "code outside of ranges")
