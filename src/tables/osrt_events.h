#pragma once
#include "tables/declare.h"

#define OSRT_EVENTS_COLUMNS(C, T)                                                    \
  C(T, start_ns, EVENT_START, "start")                                               \
  C(T, end_ns, EVENT_END, "end, exclusive")                                          \
  C(T, thread, THREAD, "row of table threads")                                       \
  C(T, name, NAME, "function", .filled = true)                                       \
  C(T, nesting_level, CELL(I32, COUNT), "calls around it; 0 for the outermost ones") \
  C(T, callchain_id, ID32, "callchain_frames of kind 2", .refers = "callchain_frames.callchain_id")
NAI_TABLE(OSRT_EVENTS, osrt_events, "OS runtime calls", "One operating-system runtime call")
NAI_EVENT_COLUMNS(OSRT_EVENTS)
