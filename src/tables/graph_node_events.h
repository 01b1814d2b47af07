#pragma once
#include "tables/declare.h"

#define GRAPH_NODE_EVENTS_COLUMNS(C, T)                                                                     \
  C(T, start_ns, START, "start", .filled = true)                                                            \
  C(T, end_ns, END, "end, exclusive", .filled = true)                                                       \
  C(T, thread, CELL(I32, ID), "row of table threads, -1 when it is none of those", .role = NAI_ROLE_THREAD, \
    .refers = "threads", .filled = true)                                                                    \
  C(T, name, LABEL, "API function")                                                                         \
  C(T, event_class, ID32, "as in ENUM_NSYS_EVENT_CLASS")                                                    \
  C(T, graph_node_id, ID, "node: kernel_events.graph_node_id")                                              \
  C(T, original_graph_node_id, ID, "node it was cloned from, NULL for none")
NAI_TABLE(GRAPH_NODE_EVENTS, graph_node_events, "Graph nodes", "One creation of a CUDA graph node")
NAI_EVENT_COLUMNS(GRAPH_NODE_EVENTS)
