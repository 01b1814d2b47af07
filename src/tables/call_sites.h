#pragma once
#include "tables/declare.h"

#define CALL_SITES_COLUMNS(C, T)                                                                                       \
  C(T, label, LABEL, "line or function of the program: file:LINE function, or function (library)", .key = true,        \
    .order = 3)                                                                                                        \
  C(T, scope, LABEL,                                                                                                   \
    "call: it made the launching call; captured: it captured the node of a CUDA graph; graph_launch: it launched the " \
    "graph, which is not where its kernels come from",                                                                 \
    .key = true, .order = 4, .labels = nai_scope_labels)                                                               \
  C(T, pid, PID, "process", .key = true, .order = 5)                                                                   \
  C(T, device_id, DEVICE, "GPU; NULL: calls of a process that used several, or none", .key = true, .order = 6)         \
  C(T, site_kind, LABEL,                                                                                               \
    "what the label is: python, native (the program's own); python_framework, framework, library; module: no "         \
    "function has a name; none: no call stack",                                                                        \
    .labels = nai_site_labels)                                                                                         \
  C(T, kernel_count, COUNT, "kernels", .sum = true)                                                                    \
  C(T, kernel_time_ns, TIME, "their summed durations", .sum = true)                                                    \
  C(T, graph_count, COUNT, "CUDA graphs traced as a whole", .sum = true)                                               \
  C(T, graph_time_ns, TIME, "their summed durations", .sum = true)                                                     \
  C(T, copy_count, COUNT, "memory copies and memsets", .sum = true)                                                    \
  C(T, copy_bytes, BYTES, "bytes that they moved or set", .sum = true)                                                 \
  C(T, copy_time_ns, TIME, "their summed durations", .sum = true)                                                      \
  C(T, gpu_time_ns, TIME, "kernels, graphs and copies together", .sum = true, .order = -1)                             \
  C(T, pct_of_gpu_time, PCT, "of the kernels, graphs and copies of the GPU; read with call_stack_coverage")            \
  C(T, wait_count, COUNT, "calls that wait for the GPU", .sum = true)                                                  \
  C(T, wait_ns, TIME, "time in them", .sum = true)                                                                     \
  C(T, allocation_count, COUNT, "calls that allocate or free memory", .sum = true)                                     \
  C(T, allocation_bytes, BYTES, "bytes allocated, where allocations are recorded", .sum = true)                        \
  C(T, api_count, COUNT, "CUDA calls; calls inside of others are not counted", .sum = true)                            \
  C(T, api_ns, TIME, "time in them", .sum = true)                                                                      \
  C(T, idle_ns, TIME, "idle time of the GPU in its calls, and after its waits", .sum = true, .order = -2)              \
  C(T, wait_idle_ns, TIME, "of it in waits and after them", .sum = true)                                               \
  C(T, pct_of_wait_idle, PCT, "of all such time of the GPU")                                                           \
  C(T, allocation_idle_ns, TIME, "of it in calls that allocate or free memory", .sum = true)                           \
  C(T, stack_count, COUNT, "different call stacks", .sum = true)
NAI_TABLE(CALL_SITES, call_sites, "GPU time by call site",
          "One line or function of the program, of one process on one GPU; all rows together are the run",
          "calls without a recorded stack (call_stack_coverage); durations without the profiler's backtraces. Python "
          "frames: verified on generated exports only",
          .csv = true)
