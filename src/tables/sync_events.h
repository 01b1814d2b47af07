#pragma once
#include "tables/declare.h"

#define SYNC_EVENTS_COLUMNS(C, T)                                                          \
  C(T, start_ns, EVENT_START, "start")                                                     \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                \
  C(T, process, PROCESS, "row of table processes, -1 when unknown")                        \
  C(T, context_id, ID32, "CUDA context")                                                   \
  C(T, stream_id, STREAM, "CUDA stream")                                                   \
  C(T, correlation_id, ID, "joins with api_events within one process; NULL or 0 for none") \
  C(T, sync_type, ID32, "CUPTI synchronization type; wrong by one in some nsys releases")  \
  C(T, event_id, ID32, "CUDA event waited for, NULL for none")                             \
  C(T, event_sync_id, ID, "which record of that event, NULL where the export lacks it")
NAI_TABLE(SYNC_EVENTS, sync_events, "Synchronization records", "One CUPTI synchronization record")
