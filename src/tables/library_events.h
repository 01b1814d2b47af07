#pragma once
#include "tables/declare.h"

#define LIBRARY_EVENTS_COLUMNS(C, T)                                        \
  C(T, start_ns, EVENT_START, "start")                                      \
  C(T, end_ns, EVENT_END, "end, exclusive")                                 \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those") \
  C(T, name, LABEL, "function")                                             \
  C(T, library, ID32, "0 cuBLAS, 1 cuDNN", .filled = true, .values = 2)     \
  C(T, event_class, ID32, "as in ENUM_NSYS_EVENT_CLASS")
NAI_TABLE(LIBRARY_EVENTS, library_events, "Library calls", "One call of cuBLAS or cuDNN")

/* library_events: traced library functions. */
enum { NAI_LIBRARY_CUBLAS, NAI_LIBRARY_CUDNN };
