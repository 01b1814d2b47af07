#pragma once
#include "tables/declare.h"

#define MEMORY_USE_COLUMNS(C, T)                                                                                    \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                                \
  C(T, device_id, DEVICE, "GPU; empty for memory of the host", .key = true, .order = 3)                             \
  C(T, memory_kind, NAME, "kind of memory", .key = true)                                                            \
  C(T, memory_kind_id, ID32, "number behind it: CUPTI memory kind", .key = true, .order = 4)                        \
  C(T, alloc_count, COUNT, "allocations", .sum = true)                                                              \
  C(T, free_count, COUNT, "releases", .sum = true)                                                                  \
  C(T, allocated_bytes, BYTES, "bytes of all allocations together", .sum = true)                                    \
  C(T, peak_bytes, LESS(BYTES),                                                                                     \
    "most memory held at one time: allocations besides pools, and whole pools. What was allocated before "          \
    "the capture is not in it",                                                                                     \
    .order = -1)                                                                                                    \
  C(T, peak_used_bytes, BYTES, "the same with the used part of pools only")                                         \
  C(T, peak_ns, START, "when peak_bytes was reached first")                                                         \
  C(T, capacity_bytes, BYTES, "memory of the GPU; empty for other kinds")                                           \
  C(T, peak_pct_of_capacity, LESS(PCT), "peak_bytes of it")                                                         \
  C(T, end_bytes, BYTES, "held after the last event")                                                               \
  C(T, end_count, COUNT, "allocations that were never released")                                                    \
  C(T, unknown_frees, COUNT, "releases of what was allocated before the capture", .sum = true)                      \
  C(T, reused_addresses, COUNT, "allocations where another was not released yet: its release is lost", .sum = true) \
  C(T, mismatched_frees, COUNT, "releases that tell another size than the allocation", .sum = true)                 \
  C(T, pool_trims, LESS(COUNT), "times that pools gave memory back", .sum = true)                                   \
  C(T, pool_trimmed_bytes, LESS(BYTES), "how much", .sum = true)
NAI_TABLE(MEMORY_USE, memory_use, "Memory use", "Memory of one kind that a process allocated on one GPU",
          "contexts, code, libraries' own memory, other processes; tensors inside a caching allocator's segments")
