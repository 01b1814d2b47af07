#pragma once
#include "tables/declare.h"

#define CALL_ROUNDS_COLUMNS(C, T)                                                                                   \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                                \
  C(T, round_calls, LABEL, "CUDA functions of a round, in order; calls of one function in a row once", .key = true, \
    .order = 3)                                                                                                     \
  C(T, kind, NAME, "timed: events are recorded around the launches, as tuning and benchmarks do; else wait")        \
  C(T, round_count, COUNT, "rounds: from the first launch behind a wait to the next one", .sum = true)              \
  C(T, launch_count, COUNT, "launches in them", .sum = true)                                                        \
  C(T, launches_per_round, MEAN, "launch_count by round_count")                                                     \
  C(T, total_time_ns, TIME, "time of the rounds, the sum of its parts", .sum = true, .order = -1)                   \
  C(T, launch_ns, TIME, "part in calls that launch", .sum = true)                                                   \
  C(T, copy_ns, TIME, "part in copies", .sum = true)                                                                \
  C(T, allocation_ns, TIME, "part in calls that allocate or free", .sum = true)                                     \
  C(T, wait_ns, TIME, "part in calls that wait", .sum = true)                                                       \
  C(T, other_calls_ns, TIME, "part in other CUDA calls", .sum = true)                                               \
  C(T, host_ns, TIME, "part between calls", .sum = true)                                                            \
  C(T, mean_launch_ns, AVERAGE, "launch_ns by launch_count")                                                        \
  C(T, start_ns, START, "start of the first round")                                                                 \
  C(T, end_ns, END, "end of the last one")
NAI_TABLE(CALL_ROUNDS, call_rounds, "Rounds of CUDA calls",
          "Twenty or more rounds of launches and waits of one process, of a run whose kernels were not recorded",
          "whether the GPU worked in that time")
