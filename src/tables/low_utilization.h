#pragma once
#include "tables/declare.h"

#define LOW_UTILIZATION_COLUMNS(C, T)                                             \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                         \
  C(T, start_ns, START, "start of the stretch", .key = true, .order = 2)          \
  C(T, end_ns, END, "end of it")                                                  \
  C(T, duration_ns, LESS(TIME), "its length", .sum = true)                        \
  C(T, busy_ns, TIME, "time in it with anything running on the GPU", .sum = true) \
  C(T, busy_pct, MORE(PCT), "the same, of the stretch")                           \
  C(T, idle_ns, LESS(TIME), "time in it with nothing running", .sum = true)
NAI_TABLE(LOW_UTILIZATION, low_utilization, "Stretches of low GPU utilization",
          "Neighboring thirtieths of a GPU's window in which it is busy for less than half of the time",
          "stretches shorter than a thirtieth of the window; why the GPU is idle: gpu_idle_gaps")
