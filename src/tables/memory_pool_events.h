#pragma once
#include "tables/declare.h"

#define MEMORY_POOL_EVENTS_COLUMNS(C, T)                                                   \
  C(T, time_ns, EVENT_START, "when")                                                       \
  C(T, device_id, DEVICE, "GPU, as in table gpus; -1 when it ran nothing", .filled = true) \
  C(T, process, PROCESS, "row of table processes, -1 when it is none of those")            \
  C(T, correlation_id, ID, "joins with api_events within one process; NULL or 0 for none") \
  C(T, operation, ID32, "CUPTI memory pool operation: 1 created, 2 destroyed, 3 trimmed")  \
  C(T, pool_type, ID32, "1 local, 2 imported")                                             \
  C(T, pool_address, ID, "memory pool")                                                    \
  C(T, min_bytes_to_keep, CELL(I64, BYTES), "what trimming leaves")                        \
  C(T, pool_release_threshold, CELL(I64, BYTES), "bytes the pool keeps")                   \
  C(T, pool_bytes, CELL(I64, BYTES), "size of the pool")                                   \
  C(T, pool_used_bytes, CELL(I64, BYTES), "bytes of the pool in use")
NAI_TABLE(MEMORY_POOL_EVENTS, memory_pool_events, "Memory pools", "One operation on a memory pool")
NAI_EVENT_COLUMNS(MEMORY_POOL_EVENTS)
