#pragma once
#include "tables/declare.h"

#define LAUNCH_WAITS_COLUMNS(C, T)                                                                                   \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                            \
  C(T, place, RANGE_NAME,                                                                                            \
    "NVTX ranges around the waits, outermost first, digits as #; empty without ranges; other places: all that have " \
    "less than a quarter of the GPU's idle time behind waits, and rounds unlike the others of their loop",           \
    .key = true, .order = 3)                                                                                         \
  C(T, kind, NAME, "loop: 20 waits or more, with 4 launches or fewer to the next one on average; else wait")         \
  C(T, call, LABEL, "the function that waited, with most of idle_ns")                                                \
  C(T, call_ns, TIME, "its part of idle_ns")                                                                         \
  C(T, wait_count, LESS(COUNT), "waits that left the GPU without work", .sum = true)                                 \
  C(T, launch_count, COUNT, "operations from these waits to the next ones", .sum = true)                             \
  C(T, launches_per_wait, MEAN, "launch_count by wait_count")                                                        \
  C(T, round_calls, LABEL, "loop: CUDA functions that at least every other round calls, in order of first call")     \
  C(T, idle_ns, LESS(TIME),                                                                                          \
    "idle time until the host leads again, the sum of its parts: of a wait no more than it took; of a loop all, "    \
    "without rounds that idle over 10 times as long as the median",                                                  \
    .sum = true, .order = -2)                                                                                        \
  C(T, idle_pct, LESS(PCT), "of the GPU's active time")                                                              \
  C(T, in_wait_ns, LESS(TIME), "part with the cause blocking_call: until the wait returned", .sum = true)            \
  C(T, behind_wait_ns, LESS(TIME), "part with the cause queue_drained: until launches began", .sum = true)           \
  C(T, in_launch_ns, LESS(TIME), "part with the cause in_launch_call: inside launches", .sum = true)                 \
  C(T, allocation_ns, LESS(TIME), "loop: part with the cause allocation", .sum = true)                               \
  C(T, cuda_call_ns, LESS(TIME), "loop: part with the cause cuda_call", .sum = true)                                 \
  C(T, host_code_ns, LESS(TIME), "loop: part with the cause host_code, of gaps with 20 \u00b5s of it or less",       \
    .sum = true)                                                                                                     \
  C(T, latency_ns, LESS(TIME), "loop: part with the cause launch_latency", .sum = true)                              \
  C(T, longest_ns, LESS(TIME), "most of idle_ns behind one wait")                                                    \
  C(T, longest_start_ns, START, "start of the first gap there")                                                      \
  C(T, longest_end_ns, END, "end of the last gap there")
NAI_TABLE(LAUNCH_WAITS, launch_waits, "Waits by place",
          "One place in the program whose waits leave a GPU without work, and what idles until the host leads again",
          "whether the host needs what it waits for")
