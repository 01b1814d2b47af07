#pragma once
#include "tables/declare.h"

#define CRITICAL_PATH_COLUMNS(C, T)                                                                                   \
  C(T, sequence, ID, "number of the segment, from the end of the window backwards", .key = true, .order = 1)          \
  C(T, start_ns, START, "start")                                                                                      \
  C(T, end_ns, END, "end: where the segment before it in this table starts, unless one is left out between")          \
  C(T, duration_ns, LENGTH, "length", .sum = true)                                                                    \
  C(T, margin_ns, NS,                                                                                                 \
    "by how much what decided may get shorter until something else decides; NULL: nothing else would")                \
  C(T, cause, NAME, "what the time is: kernel, copy, host_bound, launch_call, ... (docs/analyses.md)",                \
    .labels = nai_path_labels)                                                                                        \
  C(T, dependency, NAME, "what decided when it ended: host, call, wait, launch, stream, ...; NULL: nothing recorded") \
  C(T, category, LABEL, "of kernels: their category")                                                                 \
  C(T, name, NAME, "kernel, direction of a copy, or function; of host code the call behind it")                       \
  C(T, nvtx_range, RANGE_NAME, "innermost range around the call, or around the call that launched it")                \
  C(T, device_id, DEVICE, "GPU, of what runs there")                                                                  \
  C(T, stream_id, STREAM, "CUDA stream, of what runs there")                                                          \
  C(T, pid, PID, "process")                                                                                           \
  C(T, tid, TID, "thread, of what runs on the host")
NAI_TABLE(CRITICAL_PATH, critical_path, "Critical path",
          "One segment of the critical path of the window; of more than 2,000 the longest",
          "whether a wait could be removed; what threads hand to each other", .csv = true)
