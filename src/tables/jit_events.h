#pragma once
#include "tables/declare.h"

#define JIT_EVENTS_COLUMNS(C, T)                                                           \
  C(T, start_ns, EVENT_START, "start")                                                     \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those")                \
  C(T, name, LABEL, "operation")                                                           \
  C(T, correlation_id, ID, "joins with api_events within one process; NULL or 0 for none") \
  C(T, entry_type, ID32, "1 PTX to binary, 2 NVVM IR to PTX")                              \
  C(T, operation_type, ID32, "1 cache load, 2 cache store, 3 compile")                     \
  C(T, cuda_device, ID32, "CUDA ordinal")                                                  \
  C(T, jit_correlation_id, ID, "joins compilation, load and store of one unit")            \
  C(T, cache_bytes, CELL(I64, BYTES), "size of what is cached")
NAI_TABLE(JIT_EVENTS, jit_events, "JIT compilation", "One compilation, load or store of device code")
