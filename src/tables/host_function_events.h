#pragma once
#include "tables/declare.h"

#define HOST_FUNCTION_EVENTS_COLUMNS(C, T)                                                              \
  C(T, start_ns, EVENT_START, "start")                                                                  \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                             \
  C(T, name, LABEL, "function, of callbacks; NULL unknown")                                             \
  C(T, side, ID32, "0 as the stream holds it, 1 its callback on the host", .filled = true, .values = 2) \
  C(T, device_id, DEVICE, "GPU of the stream, as in table gpus; -1 of callbacks", .filled = true)       \
  C(T, process, PROCESS, "row of table processes, -1 when it is none of those")                         \
  C(T, context_id, ID32, "CUDA context")                                                                \
  C(T, stream_id, STREAM, "CUDA stream")                                                                \
  C(T, correlation_id, ID, "joins with api_events within one process; NULL or 0 for none")              \
  C(T, graph_id, ID32, "CUDA graph it is a node of, NULL for none")
NAI_TABLE(HOST_FUNCTION_EVENTS, host_function_events, "Host functions", "One host function that a stream ran")
NAI_EVENT_COLUMNS(HOST_FUNCTION_EVENTS)

/* host_function_events: which table of the export. */
enum { NAI_HOST_IN_STREAM, NAI_HOST_CALLBACK };
