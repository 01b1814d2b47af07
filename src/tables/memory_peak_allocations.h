#pragma once
#include "tables/declare.h"

#define MEMORY_PEAK_ALLOCATIONS_COLUMNS(C, T)                                                \
  C(T, pid, PID, "process", .key = true, .order = 1)                                         \
  C(T, device_id, DEVICE, "GPU; empty for memory of the host", .key = true, .order = 2)      \
  C(T, memory_kind, LABEL, "kind of memory", .key = true)                                    \
  C(T, memory_kind_id, ID32, "number behind it: CUPTI memory kind", .key = true, .order = 3) \
  C(T, rank, COUNT, "1 for the largest", .key = true, .order = 4)                            \
  C(T, bytes, BYTES, "size", .sum = true)                                                    \
  C(T, pct_of_peak, PCT, "of peak_bytes; of memory in pools of what they hold")              \
  C(T, allocated_ns, START, "when it was allocated")                                         \
  C(T, released_ns, END, "when it was released; empty for never")                            \
  C(T, api_name, NAME, "call that allocated it")                                             \
  C(T, nvtx_range, RANGE_NAME, "innermost NVTX range around the call")                       \
  C(T, caller, LABEL, "function that made the call, where CUDA calls have callchains")       \
  C(T, variable, LABEL, "variable, where the export tells one")
NAI_TABLE(MEMORY_PEAK_ALLOCATIONS, memory_peak_allocations, "Largest allocations at the peak",
          "One of the ten largest allocations that were live when memory of a kind was at its peak",
          "what a caching allocator's segments hold; who allocated what was there before the capture", .csv = true)
