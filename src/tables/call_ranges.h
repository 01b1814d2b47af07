#pragma once
#include "tables/declare.h"

#define CALL_RANGES_COLUMNS(C, T)                                                                                   \
  C(T, class, LABEL, "blocking, ordering, poll, allocation or module; NULL for others")                             \
  C(T, node, ID32, "row of nvtx_nodes: the innermost range around the call, NULL for none", .refers = "nvtx_nodes") \
  C(T, range_name, RANGE_NAME, "canonical name of that range")                                                      \
  C(T, path, LABEL, "names from the outermost range around the call to that one, joined by \" > \"")                \
  C(T, range_row, ID32, "row of nvtx_events: the innermost push/pop range open when the call began, NULL for none", \
    .refers = "nvtx_events")
NAI_TABLE(CALL_RANGES, call_ranges, "Calls and their ranges", "One row of api_events, in the same order")
