#pragma once
#include "tables/declare.h"

#define DIRECTIVES_COLUMNS(C, T)                                                              \
  C(T, model, LABEL, "OpenACC or OpenMP", .key = true, .order = 2)                            \
  C(T, event_name, NAME, "event", .key = true, .order = 3)                                    \
  C(T, kind, ID32, "as in openacc_events and openmp_events", .key = true, .order = 4)         \
  C(T, file, LABEL, "source file of the directive; NULL: not known", .key = true, .order = 5) \
  C(T, line, ID32, "its line", .key = true, .order = 6)                                       \
  C(T, event_count, COUNT, "events of all threads; events inside others, too", .sum = true)   \
  C(T, total_time_ns, LESS(TIME), "summed durations", .sum = true, .order = -1)               \
  C(T, avg_duration_ns, AVERAGE, "mean duration")                                             \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                           \
  C(T, min_duration_ns, LENGTH, "shortest duration")                                          \
  C(T, max_duration_ns, LENGTH, "longest duration")                                           \
  C(T, bytes, BYTES, "of data events; NULL where none tells", .sum = true)                    \
  C(T, longest_start_ns, START, "start of the longest event")                                 \
  C(T, longest_end_ns, END, "end of the longest event")                                       \
  C(T, pid, PID, "process of the longest event")                                              \
  C(T, tid, TID, "thread of the longest event")
NAI_TABLE(DIRECTIVES, directives, "OpenACC and OpenMP", "The events of one name and place in the source",
          "what ran on the GPU for them (directive_kernels); target regions of OpenMP")
