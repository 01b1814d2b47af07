#pragma once
#include "tables/declare.h"

#define GPU_RESIDENCY_COLUMNS(C, T)                                                                        \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                  \
  C(T, owner, LABEL, "process: a process of the trace; other: everybody else", .key = true, .order = 3)    \
  C(T, pid, PID, "process; NULL for others", .key = true, .order = 4)                                      \
  C(T, slice_count, COUNT, "time slices", .sum = true)                                                     \
  C(T, resident_ns, TIME, "time in which a context of the owner was on the GPU", .sum = true, .order = -2) \
  C(T, pct_of_window, PCT, "of the GPU's window")                                                          \
  C(T, median_slice_ns, LENGTH, "median time slice")                                                       \
  C(T, open_count, COUNT, "slices that no row ends: they end with the window")                             \
  C(T, kernel_time_ns, TIME, "kernels of the process on this GPU; NULL for others", .sum = true)           \
  C(T, kernel_away_ns, LESS(TIME), "part of it in which the process was not on the GPU", .sum = true)      \
  C(T, kernel_away_pct, LESS(PCT), "that, of kernel_time_ns")
NAI_TABLE(
    GPU_RESIDENCY, gpu_residency, "GPU time slices", "One owner of a GPU's time, where context switches were traced",
    "who others are; what share each has under MPS, which is one context. Built after NVIDIA's description: verified "
    "on generated exports only")
