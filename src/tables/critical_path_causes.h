#pragma once
#include "tables/declare.h"

#define CRITICAL_PATH_CAUSES_COLUMNS(C, T)                                                                          \
  C(T, scope, LABEL, "window; step: all steady steps; unit: repetitions of the largest unit", .key = true,          \
    .order = -1)                                                                                                    \
  C(T, device_id, DEVICE, "GPU on which steps or units end; NULL for the window", .key = true, .order = 2)          \
  C(T, pid, PID, "process of the steps or units; NULL for the window", .key = true, .order = 3)                     \
  C(T, cause, NAME, "what the time is: kernel, copy, host_bound, launch_call, ... (docs/analyses.md)", .key = true, \
    .order = 5, .labels = nai_path_labels)                                                                          \
  C(T, category, LABEL, "of kernels: their category", .key = true, .order = 6)                                      \
  C(T, duration_ns, NS_MS, "time on the critical path; rows of a scope add up to its wall time", .sum = true,       \
    .order = -4)                                                                                                    \
  C(T, pct_of_wall, PCT, "of the wall time of the scope")                                                           \
  C(T, per_repetition_ns, MEAN_TIME, "per step or repetition; of the window all of it")                             \
  C(T, segment_count, COUNT, "segments of the path", .sum = true)                                                   \
  C(T, longest_ns, TIME, "longest of them")                                                                         \
  C(T, longest_start_ns, START, "its start")                                                                        \
  C(T, longest_end_ns, END, "its end")                                                                              \
  C(T, near_critical_ns, TIME,                                                                                      \
    "in segments with a margin of 5 \u00b5s or less: what is beside the path there is next", .sum = true)           \
  C(T, what, LABEL,                                                                                                 \
    "kernel, direction, function, or for host code the innermost NVTX range (without one the call behind it) "      \
    "that takes most of it")                                                                                        \
  C(T, what_ns, TIME, "time that this takes")
NAI_TABLE(CRITICAL_PATH_CAUSES, critical_path_causes, "Critical path by cause",
          "What the critical path of the window, of the steady steps or of the repetitions of a unit consists of",
          "whether a wait could be removed; what threads hand to each other")
