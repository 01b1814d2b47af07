#pragma once
#include "tables/declare.h"

#define MEMORY_GROWTH_COLUMNS(C, T)                                                               \
  C(T, pid, PID, "process", .key = true, .order = 2)                                              \
  C(T, device_id, DEVICE, "GPU; empty for memory of the host", .key = true, .order = 3)           \
  C(T, memory_kind, NAME, "kind of memory", .key = true)                                          \
  C(T, memory_kind_id, ID32, "number behind it: CUPTI memory kind", .key = true, .order = 4)      \
  C(T, steps, COUNT, "steady steps looked at")                                                    \
  C(T, first_bytes, BYTES, "held when the first of them began")                                   \
  C(T, last_bytes, BYTES, "held when the last of them began")                                     \
  C(T, grew_bytes, LESS(BYTES), "the difference", .order = -1)                                    \
  C(T, growth_bytes_per_step, LESS(CELL(F64, BYTES)),                                             \
    "median of the slopes between all pairs of steps (Theil-Sen): single steps do not change it", \
    .role = NAI_ROLE_METRIC)                                                                      \
  C(T, growth_pct_per_step, LESS(PCT), "of what is held at the median step")                      \
  C(T, first_start_ns, START, "when the first of them began")                                     \
  C(T, last_start_ns, END, "when the last of them began")
NAI_TABLE(MEMORY_GROWTH, memory_growth, "Growth of memory",
          "Memory of one kind that a process holds at the beginnings of its steps",
          "whether growth is a leak or a cache that fills up; growth inside a caching allocator's reserve")
