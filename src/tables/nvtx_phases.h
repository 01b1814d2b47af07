#pragma once
#include "tables/declare.h"

#define NVTX_PHASES_COLUMNS(C, T)                                                                                 \
  C(T, phase, NAME, "phase of the phase map, or unmapped", .key = true, .order = 3)                               \
  C(T, wall_time_ns, LESS(TIME), "time of threads with NVTX ranges spent in the phase", .sum = true, .order = -2) \
  C(T, pct_of_wall_time, PCT, "of those threads' time", .sum = true)                                              \
  C(T, gpu_time_ns, LESS(TIME),                                                                                   \
    "kernels, CUDA graphs traced as a whole, copies and memsets launched in the phase, summed", .sum = true,      \
    .order = -1)                                                                                                  \
  C(T, pct_of_gpu_time, PCT, "of all that on all GPUs; pages that move by themselves do not count", .sum = true)  \
  C(T, range_count, COUNT, "NVTX ranges in the phase", .sum = true)                                               \
  C(T, kernel_count, COUNT, "kernels launched in the phase", .sum = true)                                         \
  C(T, longest_start_ns, START, "start of the phase's longest range")                                             \
  C(T, longest_end_ns, END, "end of the phase's longest range")                                                   \
  C(T, pid, PID, "process of the longest range")                                                                  \
  C(T, tid, TID, "thread of the longest range")                                                                   \
  C(T, kernel_time_ns, LESS(TIME), "of gpu_time_ns: kernels", .sum = true)                                        \
  C(T, graph_time_ns, LESS(TIME), "of gpu_time_ns: CUDA graphs traced as a whole", .sum = true)                   \
  C(T, copy_time_ns, LESS(TIME), "of gpu_time_ns: copies and memsets", .sum = true)                               \
  C(T, instances, COUNT, "ranges named so that lie in no other of the phase and launched something here")         \
  C(T, span_ns, LESS(TIME),                                                                                       \
    "of these: summed spans on the GPU, each from the first start to the last end of what it launched; they may " \
    "overlap; NULL for unmapped")                                                                                 \
  C(T, span_busy_ns, TIME, "in the spans: time with anything running on the GPUs that they used")                 \
  C(T, span_idle_ns, LESS(TIME), "in the spans: time with nothing running")                                       \
  C(T, instance_time_ns, LESS(TIME), "summed durations of the same ranges on the host")
NAI_TABLE(NVTX_PHASES, nvtx_phases, "Phases", "One phase of the phase map",
          "time that the phase map misses, which stays in the phase around it", .csv = true)
