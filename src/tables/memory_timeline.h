#pragma once
#include "tables/declare.h"

#define MEMORY_TIMELINE_COLUMNS(C, T)                                                                       \
  C(T, pid, PID, "process", .key = true, .order = 1)                                                        \
  C(T, device_id, DEVICE, "GPU; empty for memory of the host", .key = true, .order = 2)                     \
  C(T, memory_kind, NAME, "kind of memory", .key = true)                                                    \
  C(T, memory_kind_id, ID32, "number behind it: CUPTI memory kind", .key = true, .order = 3)                \
  C(T, point, ID, "number of the point, by time, from 1", .key = true, .order = 4)                          \
  C(T, time_ns, START, "from then on the values hold, until the next point")                                \
  C(T, live_bytes, BYTES,                                                                                   \
    "in use: allocations besides pools, and the used part of pools. What was allocated before the capture " \
    "is not in it")                                                                                         \
  C(T, reserved_bytes, BYTES, "the same with whole pools; never less than live_bytes")
NAI_TABLE(MEMORY_TIMELINE, memory_timeline, "Memory over time",
          "What memory of one kind held from a moment on; of very many events the extremes",
          "what was allocated before the first point")
