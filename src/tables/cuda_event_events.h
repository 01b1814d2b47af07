#pragma once
#include "tables/declare.h"

#define CUDA_EVENT_EVENTS_COLUMNS(C, T)                                                    \
  C(T, time_ns, START, "when the event completed, NULL in older exports")                  \
  C(T, device_id, DEVICE, "GPU, as in table gpus; -1 when it ran nothing", .filled = true) \
  C(T, process, PROCESS, "row of table processes, -1 when it is none of those")            \
  C(T, context_id, ID32, "CUDA context")                                                   \
  C(T, stream_id, STREAM, "CUDA stream, NULL for none")                                    \
  C(T, correlation_id, ID, "joins with api_events within one process; NULL or 0 for none") \
  C(T, event_id, ID32, "CUDA event")                                                       \
  C(T, event_sync_id, ID, "which record of it; sync_events.event_sync_id")
NAI_TABLE(CUDA_EVENT_EVENTS, cuda_event_events, "CUDA events", "One CUDA event record")
