#pragma once
#include "tables/declare.h"

#define TIMELINE_PLACES_COLUMNS(C, T) \
  C(T, start_ns, START, "start")      \
  C(T, end_ns, END, "end, exclusive")
NAI_TABLE(TIMELINE_PLACES, timeline_places, "Places on the timeline",
          "One stretch of time of which the page keeps every event; none for a trace small enough to be kept whole")
