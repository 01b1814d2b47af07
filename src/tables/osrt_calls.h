#pragma once
#include "tables/declare.h"

#define OSRT_CALLS_COLUMNS(C, T)                                                                 \
  C(T, function, NAME, "operating-system runtime function", .key = true, .order = 2)             \
  C(T, call_count, COUNT, "outermost calls", .sum = true)                                        \
  C(T, total_time_ns, LESS(TIME), "summed durations over all threads", .sum = true, .order = -1) \
  C(T, avg_duration_ns, AVERAGE, "mean duration")                                                \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                              \
  C(T, p90_duration_ns, AVERAGE, "90th percentile of durations")                                 \
  C(T, max_duration_ns, LENGTH, "longest duration")
NAI_TABLE(OSRT_CALLS, osrt_calls, "OS runtime calls", "One operating-system function",
          "calls below the threshold of the capture (1 \u00b5s by default); what a wait waited for", .csv = true)
