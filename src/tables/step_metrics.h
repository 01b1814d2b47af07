#pragma once
#include "tables/phase_metrics.h"

#define STEP_METRICS_COLUMNS(C, T)                                                          \
  METRIC_COLUMNS(C, T)                                                                      \
  C(T, pid, PID, "process", .key = true, .order = 5)                                        \
  C(T, step, ID, "number of the step in its process, from 0", .key = true, .order = 6)      \
  C(T, state, LABEL, "steady, warm-up, paused, or truncated by the capture")                \
  C(T, start_ns, START, "start of the step's window on the GPU; of cards on its first GPU") \
  C(T, end_ns, END, "end of the window")
NAI_TABLE(STEP_METRICS, step_metrics, "Metrics by step", "One sampled metric in one step of a process on a GPU",
          "work of another step or process in the same window; steps shorter than 20 samples")
