#pragma once
#include "tables/declare.h"

#define GRAPH_CREATION_EVENTS_COLUMNS(C, T)                                 \
  C(T, start_ns, EVENT_START, "start")                                      \
  C(T, end_ns, EVENT_END, "end, exclusive")                                 \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those") \
  C(T, name, LABEL, "API function")                                         \
  C(T, event_class, ID32, "as in ENUM_NSYS_EVENT_CLASS")                    \
  C(T, graph_id, ID, "graph")                                               \
  C(T, original_graph_id, ID, "graph it was cloned from, NULL for none")    \
  C(T, graph_exec_id, ID, "executable graph, NULL for none")
NAI_TABLE(GRAPH_CREATION_EVENTS, graph_creation_events, "Graph creations",
          "One creation, cloning or instantiation of a CUDA graph")
