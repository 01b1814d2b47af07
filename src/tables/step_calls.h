#pragma once
#include "tables/declare.h"

#define STEP_CALLS_COLUMNS(C, T)                                                                               \
  C(T, pid, PID, "process", .key = true)                                                                       \
  C(T, step, ID, "number of the step in its process, from 0", .key = true)                                     \
  C(T, state, LABEL, "steady, warm-up, paused, or truncated by the capture: on the process's first GPU")       \
  C(T, blocking_calls, LESS(COUNT), "calls that wait for the GPU, by all threads of the process", .sum = true) \
  C(T, pageable_copies, LESS(COUNT), "copies that it launched from or to pageable memory", .sum = true)
NAI_TABLE(STEP_CALLS, step_calls, "Waits of steps", "One step of one process with its calls that wait",
          "waits and copies whose CUDA calls were not traced")
