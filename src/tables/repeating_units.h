#pragma once
#include "tables/declare.h"

#define REPEATING_UNITS_COLUMNS(C, T)                                                                              \
  C(T, pid, PID, "process", .key = true)                                                                           \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                                      \
  C(T, context_id, ID32, "CUDA context")                                                                           \
  C(T, stream_id, STREAM, "CUDA stream")                                                                           \
  C(T, unit, ID, "number of the unit, from the largest", .key = true)                                              \
  C(T, kernel_count, COUNT, "kernels of the stream in one repetition; 0 of ranges, where no GPU work is recorded") \
  C(T, repetitions, COUNT, "how often it begins")                                                                  \
  C(T, match_pct, PCT, "kernels inside it that are the same one repetition later")                                 \
  C(T, median_ns, LESS(TIME), "median time from one repetition to the next")                                       \
  C(T, cv_pct, LESS(PCT), "standard deviation of these times, of their mean")                                      \
  C(T, period_ns, LESS(TIME), "mean time from one repetition to the next, without the first and the last one")     \
  C(T, compute_ns, TIME, "of it with a compute kernel or a graph running on the GPU")                              \
  C(T, exposed_comm_ns, LESS(TIME), "of it with communication and no compute")                                     \
  C(T, exposed_copy_ns, LESS(TIME), "of it with copies or sets only")                                              \
  C(T, idle_ns, LESS(TIME), "of it with nothing running")                                                          \
  C(T, level, LABEL, "what it probably is: layer or microbatch; NULL: unknown")                                    \
  C(T, nvtx_path, RANGE_NAME, "NVTX range around its first launch, digits as #; of ranges: their name")            \
  C(T, first_kernel, KERNEL_NAME, "its first kernel")                                                              \
  C(T, start_ns, START, "start of the first repetition")                                                           \
  C(T, end_ns, END, "end of the last one")
NAI_TABLE(
    REPEATING_UNITS, repeating_units, "Repeating units",
    "A sequence of kernels that a process repeats on its busiest stream, without evidence that it is a step",
    "whether a unit is a layer or a microbatch where no range has its index; units with fewer than three repetitions")
