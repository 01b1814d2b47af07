#pragma once
#include "tables/declare.h"

#define LAUNCH_BREAKDOWN_COLUMNS(C, T)                                                                          \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                       \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                            \
  C(T, launch_count, COUNT, "calls that launched work on this GPU", .sum = true)                                \
  C(T, api_p50_ns, AVERAGE, "median duration of these calls")                                                   \
  C(T, api_p90_ns, AVERAGE, "90th percentile of their durations")                                               \
  C(T, call_to_start_ns, TIME,                                                                                  \
    "start of the call to start of its first operation, summed: exactly the sum of the next four", .sum = true) \
  C(T, in_api_ns, LESS(TIME), "of that: the call had not returned", .sum = true)                                \
  C(T, stream_wait_ns, TIME, "of that: it had, and its stream was busy", .sum = true)                           \
  C(T, device_wait_ns, TIME, "of that: only other streams of the GPU were busy", .sum = true)                   \
  C(T, gap_after_api_ns, LESS(TIME), "of that: nothing ran on the GPU", .sum = true)                            \
  C(T, launch_floor_ns, AVERAGE,                                                                                \
    "call to start of the fastest tenth of the launches that found the GPU idle; empty with fewer than 20")     \
  C(T, cpu_lead_p50_ns, MORE(CELL(F64, NS)),                                                                    \
    "median of the work still ahead in the stream when a call returned: the end of all that began there "       \
    "before, minus the call's end, not below 0",                                                                \
    .role = NAI_ROLE_METRIC, .display_units = NAI_AS_US)                                                        \
  C(T, starved_count, LESS(COUNT), "calls that returned with nothing ahead in the stream", .sum = true)         \
  C(T, starved_pct, LESS(PCT), "of the launches")                                                               \
  C(T, negative_latency_count, COUNT,                                                                           \
    "operations that start before their call: clocks disagree; they count in no part", .sum = true)
NAI_TABLE(LAUNCH_BREAKDOWN, launch_breakdown, "Launch latency", "Launches of one process on one GPU",
          "what the launching thread could have done in that time; launches whose call is not in the trace",
          .csv = true)
