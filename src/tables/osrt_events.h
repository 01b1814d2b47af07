#pragma once
#include "tables/declare.h"

#define OSRT_EVENTS_COLUMNS(C, T)                                                                                   \
  C(T, start_ns, START, "start", .filled = true)                                                                    \
  C(T, end_ns, END, "end, exclusive", .filled = true)                                                               \
  C(T, thread, CELL(I32, ID), "row of table threads", .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true) \
  C(T, name, NAME, "function", .filled = true)                                                                      \
  C(T, nesting_level, CELL(I32, COUNT), "calls around it; 0 for the outermost ones")                                \
  C(T, callchain_id, ID32, "callchain_frames of kind 2", .refers = "callchain_frames.callchain_id")
NAI_TABLE(OSRT_EVENTS, osrt_events, "OS runtime calls", "One operating-system runtime call")
NAI_EVENT_COLUMNS(OSRT_EVENTS)
