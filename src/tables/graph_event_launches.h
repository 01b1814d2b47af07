#pragma once
#include "tables/kernel_launches.h"

#define GRAPH_EVENT_LAUNCHES_COLUMNS(C, T) OP_LAUNCH_COLUMNS(C, T)
NAI_TABLE(GRAPH_EVENT_LAUNCHES, graph_event_launches, "Launches of graphs",
          "One row of graph_events, in the same order")
