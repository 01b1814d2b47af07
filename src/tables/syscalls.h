#pragma once
#include "tables/declare.h"

#define SYSCALLS_COLUMNS(C, T)                                                                   \
  C(T, pid, ID, "process", .key = true, .order = 2)                                              \
  C(T, name, NAME, "system call", .key = true, .order = 3)                                       \
  C(T, call_count, COUNT, "calls", .sum = true)                                                  \
  C(T, total_time_ns, LESS(TIME), "summed durations over all threads", .sum = true, .order = -1) \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                              \
  C(T, max_duration_ns, LENGTH, "longest duration")                                              \
  C(T, launcher_idle_ns, LESS(TIME),                                                             \
    "active time in which a thread that launches GPU work is in it and no GPU of the process works")
NAI_TABLE(SYSCALLS, syscalls, "System calls", "One system call of one process",
          "what a call waited for; it lies in an OS runtime call as a rule: do not add the two. Built after NVIDIA's "
          "description: verified on generated exports only")
