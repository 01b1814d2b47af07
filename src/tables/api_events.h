#pragma once
#include "tables/declare.h"

#define API_EVENTS_COLUMNS(C, T)                                                                    \
  C(T, start_ns, EVENT_START, "start")                                                              \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                         \
  C(T, thread, THREAD, "row of table threads")                                                      \
  C(T, name, NAME, "API function without its _vNNNN and _ptsz/_ptds suffix", .filled = true)        \
  C(T, correlation_id, ID, "joins with api_events within one process; NULL or 0 for none")          \
  C(T, event_class, ID32, "0 runtime API, 1 driver API; others as in ENUM_NSYS_EVENT_CLASS")        \
  C(T, return_value, ID32, "what the call returned, 0 for success")                                 \
  C(T, callchain_id, ID32, "callchain_frames of kind 1", .refers = "callchain_frames.callchain_id") \
  C(T, suffix, LABEL, "what follows the name in the export, such as _v7000; NULL for nothing")
NAI_TABLE(API_EVENTS, api_events, "CUDA API calls", "One CUDA runtime or driver API call")
NAI_EVENT_COLUMNS(API_EVENTS)
