#pragma once
#include "tables/declare.h"

#define GRAPH_EVENTS_COLUMNS(C, T)                                                         \
  C(T, start_ns, EVENT_START, "start")                                                     \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                \
  C(T, device_id, DEVICE, "GPU, as in table gpus", .filled = true, .always = true)         \
  C(T, process, PROCESS, "row of table processes, -1 when unknown")                        \
  C(T, context_id, ID32, "CUDA context")                                                   \
  C(T, stream_id, STREAM, "CUDA stream")                                                   \
  C(T, correlation_id, ID, "joins with api_events within one process; NULL or 0 for none") \
  C(T, graph_id, ID32, "CUDA graph the operation belongs to, NULL for none")               \
  C(T, graph_exec_id, ID32, "executable graph")
NAI_TABLE(GRAPH_EVENTS, graph_events, "Graph launches", "One CUDA graph launch traced as one envelope")
NAI_EVENT_COLUMNS(GRAPH_EVENTS)
