#pragma once
#include "tables/declare.h"

#define DIAGNOSTIC_EVENTS_COLUMNS(C, T)                                                   \
  C(T, time_ns, EVENT_START, "when")                                                      \
  C(T, process, PROCESS, "row of table processes, -1 when it is none of those")           \
  C(T, severity, ID32, "1 information, 2 warning, 3 error, 4 detail")                     \
  C(T, source, ID32, "as in ENUM_DIAGNOSTIC_SOURCE_TYPE")                                 \
  C(T, clock, ID32, "which clock the time is of, as in ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE") \
  C(T, text, LABEL, "what nsys said")
NAI_TABLE(DIAGNOSTIC_EVENTS, diagnostic_events, "Diagnostics", "One message of nsys while capturing")
