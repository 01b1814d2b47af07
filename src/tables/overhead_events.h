#pragma once
#include "tables/declare.h"

#define OVERHEAD_EVENTS_COLUMNS(C, T)                                                                     \
  C(T, start_ns, EVENT_START, "start")                                                                    \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                               \
  C(T, thread, THREAD, "row of table threads")                                                            \
  C(T, name, NAME, "what took the time", .filled = true)                                                  \
  C(T, source, ID32, "0 profiler, 1 CUDA driver, 2 compilation of GPU code", .filled = true, .values = 3) \
  C(T, overhead_type, ID32,                                                                               \
    "of the profiler: 2 JIT, 3 buffer flush, 4 instrumentation, 5 resource; of CUDA: 6 module load, 7 "   \
    "lazy load, 8 command buffer full; NULL in older exports, where the name tells")                      \
  C(T, correlation_id, ID, "API call it lies in, NULL or 0 for none")
NAI_TABLE(OVERHEAD_EVENTS, overhead_events, "Overhead", "One stretch of profiler or CUDA driver overhead")
NAI_EVENT_COLUMNS(OVERHEAD_EVENTS)

enum { NAI_OVERHEAD_PROFILER, NAI_OVERHEAD_CUDA, NAI_OVERHEAD_JIT };
