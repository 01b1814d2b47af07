#pragma once
#include "tables/declare.h"

#define STEP_IDLE_COLUMNS(C, T)                                                                       \
  C(T, pid, PID, "process", .key = true, .order = 1)                                                  \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 2)                                             \
  C(T, cause, NAME, "why the GPU had nothing to do, a word of idle_causes", .key = true, .order = 4,  \
    .labels = nai_cause_labels)                                                                       \
  C(T, median_ns, LESS(TIME), "median of the steady steps: idle time of this cause in a step")        \
  C(T, total_ns, LESS(TIME), "idle time of this cause in all steady steps", .sum = true, .order = -3) \
  C(T, pct_of_steps, LESS(PCT), "of the durations of these steps")
NAI_TABLE(STEP_IDLE, step_idle, "Idle time per step",
          "One cause of idle time in the steady steps of one process on one GPU",
          "what has to change: a cause is what was recorded of the launching thread at that moment")
