#pragma once
#include "tables/declare.h"

#define IDLE_CAUSES_COLUMNS(C, T)                                                                                    \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                            \
  C(T, cause, NAME, "why the GPU had nothing to do", .key = true, .order = 3, .labels = nai_cause_labels)            \
  C(T, part_count, LESS(COUNT), "idle gaps with a part of this cause; a gap may have parts of several", .sum = true) \
  C(T, total_ns, LESS(NS_MS), "summed length of the parts", .sum = true, .order = -2)                                \
  C(T, pct_of_idle, PCT, "of this GPU's idle time")                                                                  \
  C(T, longest_ns, LESS(TIME), "longest part of one gap")                                                            \
  C(T, pct_of_window, LESS(PCT), "of this GPU's window")                                                             \
  C(T, what, LABEL,                                                                                                  \
    "the function, overhead or NVTX range that took most of it; of queue_drained the wait and the ranges "           \
    "around it; empty where it took less than 5 %")                                                                  \
  C(T, what_ns, LESS(TIME), "time that this took; of host_code in the gaps of gpu_idle_gaps only")                   \
  C(T, active_ns, LESS(TIME),                                                                                        \
    "of total_ms: within active spans (active_spans); findings are about this part; rows of a GPU add up "           \
    "to idle_ms of gpu_active",                                                                                      \
    .sum = true)                                                                                                     \
  C(T, active_count, LESS(COUNT), "of part_count: within active spans", .sum = true)                                 \
  C(T, active_longest_ns, LESS(TIME), "longest part of one gap within active spans")                                 \
  C(T, active_longest_start_ns, START, "start of that gap")                                                          \
  C(T, active_longest_end_ns, END, "end of that gap")                                                                \
  C(T, active_what, LABEL, "what took most of active_ns; empty where that is less than 5 %")                         \
  C(T, active_what_ns, LESS(TIME), "time that this took")                                                            \
  C(T, longest_start_ns, START, "start of the gap with the longest part")                                            \
  C(T, longest_end_ns, END, "end of the gap with the longest part")
NAI_TABLE(IDLE_CAUSES, idle_causes, "Idle time by cause",
          "One cause on one GPU; the rows of a GPU add up to its idle time",
          "what has to change: a cause is what was recorded of the launching thread at that moment", .csv = true)
