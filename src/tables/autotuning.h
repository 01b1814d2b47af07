#pragma once
#include "tables/declare.h"

#define AUTOTUNING_COLUMNS(C, T)                                                                          \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 2)                                                 \
  C(T, pid, PID, "process", .key = true, .order = 4)                                                      \
  C(T, family, LABEL, "what the variants have in common: kernel name, digits as #", .key = true)          \
  C(T, variant_count, COUNT,                                                                              \
    "variants that were tried: kernel names, or launches with other blocks, registers or shared memory")  \
  C(T, kernel_count, COUNT, "kernels of the trial", .sum = true)                                          \
  C(T, time_ns, LESS(TIME), "from the first one's start to the last one's end", .sum = true, .order = -1) \
  C(T, lost_ns, LESS(TIME), "summed durations of the variants that were never used again", .sum = true)   \
  C(T, kernel_name, KERNEL_NAME, "the variant that is used afterwards")                                   \
  C(T, used_count, COUNT, "how often it runs afterwards")                                                 \
  C(T, start_ns, START, "start of the trial", .key = true, .order = 3)                                    \
  C(T, end_ns, END, "end of the trial")
NAI_TABLE(AUTOTUNING, autotuning, "Autotuning",
          "One trial of variants of a kernel, of which one or two are used afterwards",
          "trials across kernel families, trials with other kernels between them, winners not used ten times")
