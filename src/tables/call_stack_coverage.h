#pragma once
#include "tables/declare.h"

#define CALL_STACK_COVERAGE_COLUMNS(C, T)                                                                        \
  C(T, pid, PID, "process", .key = true, .order = 1)                                                             \
  C(T, api_count, COUNT, "CUDA calls; calls inside of others are not counted", .sum = true)                      \
  C(T, with_stack_count, COUNT, "of them with a stack", .sum = true)                                             \
  C(T, gpu_time_with_site_pct, PCT, "of the time of kernels, graphs and copies: the launching call has a stack") \
  C(T, graph_launch_pct, PCT, "of that time: only the launch of its CUDA graph has one")                         \
  C(T, resolved_frame_pct, PCT, "of the frames of different stacks: functions with a name")                      \
  C(T, python_frame_pct, PCT, "of these frames: lines or functions of Python")                                   \
  C(T, shortest_call_ns, LENGTH, "shortest call with a stack; stacks are recorded of calls above a threshold")
NAI_TABLE(CALL_STACK_COVERAGE, call_stack_coverage, "Coverage of call stacks", "One process",
          "whether calls without a stack are like those with one: short calls have none by default")
