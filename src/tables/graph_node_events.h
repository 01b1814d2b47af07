#pragma once
#include "tables/declare.h"

#define GRAPH_NODE_EVENTS_COLUMNS(C, T)                                     \
  C(T, start_ns, EVENT_START, "start")                                      \
  C(T, end_ns, EVENT_END, "end, exclusive")                                 \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those") \
  C(T, name, LABEL, "API function")                                         \
  C(T, event_class, ID32, "as in ENUM_NSYS_EVENT_CLASS")                    \
  C(T, graph_node_id, ID, "node: kernel_events.graph_node_id")              \
  C(T, original_graph_node_id, ID, "node it was cloned from, NULL for none")
NAI_TABLE(GRAPH_NODE_EVENTS, graph_node_events, "Graph nodes", "One creation of a CUDA graph node")
NAI_EVENT_COLUMNS(GRAPH_NODE_EVENTS)
