#pragma once
#include "tables/declare.h"

#define PROFILE_TARGETS_COLUMNS(C, T)                                                                              \
  C(T, kernel_name, KERNEL_NAME, "demangled kernel name", .key = true, .order = 3)                                 \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                          \
  C(T, function, LABEL, "the function's name; of one that only launches another, the other's")                     \
  C(T, kernel_filter, LABEL,                                                                                       \
    "what ncu --kernel-name takes: its own name; of one that the export has cut, an expression for how it begins") \
  C(T, pid, PID, "process of the call")                                                                            \
  C(T, call_count, COUNT, "executions", .sum = true)                                                               \
  C(T, total_time_ns, LESS(TIME), "summed durations", .order = -2)                                                 \
  C(T, pct_of_device_kernel_time, PCT, "of all kernel durations on this GPU")                                      \
  C(T, active_ns, LESS(TIME), "time within active spans in which it runs, once or several at a time")              \
  C(T, pct_of_active, PCT, "active_ms, of the GPU's active time")                                                  \
  C(T, category, LABEL, "kind of work (rules/kernel-classes.rules)")                                               \
  C(T, launch_skip, COUNT,                                                                                         \
    "launches of the function by the process before this call: ncu --launch-skip; counted in order of launches")   \
  C(T, duration_ns, LENGTH, "of this call")                                                                        \
  C(T, geometry, LABEL, "blocks and threads of this call, in words; NULL where the export does not tell")          \
  C(T, input_bytes, BYTES,                                                                                         \
    "copied from the host to this GPU: per call where there are as many copies as calls or more, else altogether") \
  C(T, pass_ns, LENGTH, "for reading input_bytes once at the rate of the GPU's memory; NULL below 1 \u00b5s")      \
  C(T, passes, LESS(MEAN), "the call, in such passes")                                                             \
  C(T, start_ns, START, "start of this call")                                                                      \
  C(T, end_ns, END, "end of this call")
NAI_TABLE(
    PROFILE_TARGETS, profile_targets, "Calls to profile",
    "One kernel with 1 % of a GPU's kernel time or more, and the call that stands for its time: the one nearest to "
    "the mean duration, weighted by duration",
    "what a kernel reads and computes; launches that began before the capture")
