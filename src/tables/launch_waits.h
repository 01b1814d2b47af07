#pragma once
#include "tables/declare.h"

#define LAUNCH_WAITS_COLUMNS(C, T)                                                                                   \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 1)                                                            \
  C(T, launch_count, COUNT, "operations whose launch is known, within active spans")                                 \
  C(T, waited_count, COUNT, "of them: the first behind a wait that ended when the GPU had nothing left to do",       \
    .better = NAI_BETTER_LOWER)                                                                                      \
  C(T, waited_pct, PCT, "of the launches", .better = NAI_BETTER_LOWER)                                               \
  C(T, idle_ns, TIME, "idle time before these, as far as their waits can explain it: the three parts",               \
    .better = NAI_BETTER_LOWER, .sum = true)                                                                         \
  C(T, in_wait_ns, TIME, "part with the cause blocking_call: until the wait returned", .better = NAI_BETTER_LOWER,   \
    .sum = true)                                                                                                     \
  C(T, behind_wait_ns, TIME, "part with the cause queue_drained: until the next launch began",                       \
    .better = NAI_BETTER_LOWER, .sum = true)                                                                         \
  C(T, in_launch_ns, TIME, "part with the cause in_launch_call: inside the next launch", .better = NAI_BETTER_LOWER, \
    .sum = true)                                                                                                     \
  C(T, call, LABEL, "the function that waited, with most of idle_ns")                                                \
  C(T, call_ns, TIME, "its part of idle_ns")                                                                         \
  C(T, longest_ns, TIME, "most of idle_ns in one gap", .better = NAI_BETTER_LOWER)                                   \
  C(T, longest_start_ns, START, "start of that gap")                                                                 \
  C(T, longest_end_ns, END, "end of that gap")
NAI_TABLE(LAUNCH_WAITS, launch_waits, "Idle between launches",
          "One GPU: launches behind a wait, and the idle time before them", "whether the host needs what it waits for")
