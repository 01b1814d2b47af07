#pragma once
#include "tables/declare.h"

/* Words of `kind`. */
#define NAI_SPAN_ACTIVE "active"
#define NAI_SPAN_SET_UP "set_up"
#define NAI_SPAN_CHECK "check"
#define NAI_SPAN_PAUSE "pause"

#define ACTIVE_SPANS_COLUMNS(C, T)                                                                          \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                               \
  C(T, span, ID32, "number of the span on its GPU, from 0, in time order", .key = true)                     \
  C(T, kind, NAME, "active, set_up, check or pause", .labels = nai_span_labels)                             \
  C(T, start_ns, START, "start")                                                                            \
  C(T, end_ns, END, "end, exclusive")                                                                       \
  C(T, duration_ns, NS_MS, "length", .sum = true)                                                           \
  C(T, compute_ns, NS_MS, "time with a compute kernel or a graph running", .sum = true)                     \
  C(T, exposed_comm_ns, NS_MS, "communication kernels and no compute running", .sum = true)                 \
  C(T, exposed_copy_ns, NS_MS, "copies or sets and no kernel running", .sum = true)                         \
  C(T, idle_ns, NS_MS, "time with nothing running", .sum = true)                                            \
  C(T, pct_of_window, PCT, "length, of the GPU's window")                                                   \
  C(T, operation_count, COUNT, "kernels, copies, sets and graph launches that start in it", .sum = true)    \
  C(T, kernel_count, COUNT, "kernels and graph launches that start in it", .sum = true)                     \
  C(T, kernel_time_ns, TIME, "their summed durations", .sum = true)                                         \
  C(T, cause, LABEL,                                                                                        \
    "what most of a pause is recorded as: the cause of its idle gap, or more finely; NULL for other kinds", \
    .labels = nai_cause_labels)                                                                             \
  C(T, what, LABEL, "the function or record behind the cause")                                              \
  C(T, cause_ns, TIME, "the part of the pause that the cause covers")
NAI_TABLE(ACTIVE_SPANS, active_spans, "Active spans",
          "One stretch of a GPU's window: work, or a pause between; the spans of a GPU partition its window",
          "graphics work and other programs on the GPU; whether a read is from a terminal", .csv = true)
