#pragma once
#include "tables/declare.h"

#define CRITICAL_PATH_STEPS_COLUMNS(C, T)                                                                      \
  C(T, scope, LABEL, "step, or unit: a repetition of the largest one", .values = 2)                            \
  C(T, device_id, DEVICE, "GPU on which it ends")                                                              \
  C(T, pid, PID, "its process")                                                                                \
  C(T, step, ID, "number of the step as in table steps, of the repetition from 0")                             \
  C(T, steady, ID, "1: counted in critical_path_causes")                                                       \
  C(T, start_ns, EVENT_START, "its first operation on the GPU starts")                                         \
  C(T, end_ns, EVENT_END, "the next one's does")                                                               \
  C(T, cause, NAME, "what the time is: kernel, copy, host_bound, launch_call, ...", .labels = nai_path_labels) \
  C(T, duration_ns, NS, "time on its critical path; rows of a step add up to the time from start to end")
NAI_TABLE(CRITICAL_PATH_STEPS, critical_path_steps, "Critical path by step",
          "One cause on the critical path of one step or repetition", "whether a wait could be removed")
