#pragma once
#include "tables/declare.h"

#define MEMORY_USAGE_EVENTS_COLUMNS(C, T)                                                  \
  C(T, time_ns, EVENT_START, "when")                                                       \
  C(T, device_id, DEVICE, "GPU, as in table gpus; -1 when it ran nothing", .filled = true) \
  C(T, process, PROCESS, "row of table processes, -1 when it is none of those")            \
  C(T, context_id, ID32, "CUDA context")                                                   \
  C(T, stream_id, STREAM, "CUDA stream, NULL for none")                                    \
  C(T, correlation_id, ID, "joins with api_events within one process; NULL or 0 for none") \
  C(T, operation, ID32, "0 allocation, 1 release")                                         \
  C(T, memory_kind, ID32, "CUPTI memory kind")                                             \
  C(T, address, ID, "virtual address")                                                     \
  C(T, bytes, CELL(I64, BYTES), "size", .sum = true, .filled = true)                       \
  C(T, pc, ID, "program counter of the call")                                              \
  C(T, name, LABEL, "variable, NULL for none")                                             \
  C(T, pool_address, ID, "memory pool, NULL for none")                                     \
  C(T, pool_release_threshold, CELL(I64, BYTES), "bytes the pool keeps")                   \
  C(T, pool_bytes, CELL(I64, BYTES), "size of the pool")                                   \
  C(T, pool_used_bytes, CELL(I64, BYTES), "bytes of the pool in use")                      \
  C(T, imported_pool_address, ID, "pool of another process, NULL for none")
NAI_TABLE(MEMORY_USAGE_EVENTS, memory_usage_events, "Memory allocations", "One allocation or release of memory")
NAI_EVENT_COLUMNS(MEMORY_USAGE_EVENTS)
