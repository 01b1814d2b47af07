#pragma once
#include "tables/declare.h"

#define GPU_IDLE_GAPS_COLUMNS(C, T)                                                                            \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                                  \
  C(T, gap_start_ns, START, "end of the last operation before", .key = true)                                   \
  C(T, gap_end_ns, END, "start of the next operation")                                                         \
  C(T, gap_ns, LESS(TIME), "length", .sum = true)                                                              \
  C(T, cause, NAME, "cause of the largest part of the gap, a word of idle_causes", .labels = nai_cause_labels) \
  C(T, next_op, KERNEL_NAME, "operation that ends the gap")                                                    \
  C(T, launch_api, LABEL, "API call that launched it")                                                         \
  C(T, launch_thread, LABEL, "thread that made the call")                                                      \
  C(T, host_activity, LABEL,                                                                                   \
    "the function, overhead or NVTX range that took most of the largest part; of host_code an OS runtime "     \
    "call or the innermost push/pop range; empty where that is less than a twentieth of the gap")              \
  C(T, nvtx_range, RANGE_NAME, "innermost NVTX range around the launch")                                       \
  C(T, pid, PID, "process of the launch")                                                                      \
  C(T, tid, TID, "thread of the launch")                                                                       \
  C(T, cause_ns, LESS(TIME), "length of the largest part", .sum = true)                                        \
  C(T, before_call_ns, LESS(TIME), "part of the gap before the launch call began", .sum = true)                \
  C(T, in_call_ns, LESS(TIME), "part of the gap inside the launch call", .sum = true)                          \
  C(T, after_call_ns, LESS(TIME), "part of the gap after the launch call had returned", .sum = true)           \
  C(T, wait_before, LABEL,                                                                                     \
    "the wait, with the ranges around it, that was over before and that a twentieth of the gap or more "       \
    "is charged to (queue_drained)")                                                                           \
  C(T, other_causes, LABEL,                                                                                    \
    "its other parts, longest first, each with its cause: queue_drained 8.00 ms, "                             \
    "in_launch_call 9.09 \u00b5s")
NAI_TABLE(GPU_IDLE_GAPS, gpu_idle_gaps, "Longest idle gaps",
          "One stretch of time in which a GPU ran nothing; the 10,000 longest",
          "what threads other than the launching one did; work submitted late by the driver or the operating system",
          .csv = true)
enum { NAI_MAX_IDLE_GAPS = 10000 }; /* rows: the longest */
