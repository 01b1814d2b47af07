#pragma once
#include "tables/declare.h"

/* The first columns of kernel_launches, memop_launches and graph_event_launches. */
#define OP_LAUNCH_COLUMNS(C, T)                                                                                     \
  C(T, call, ID32, "row of api_events: the call that launched it, NULL when none is in the trace",                  \
    .refers = "api_events")                                                                                         \
  C(T, latency_ns, CELL(I64, NS), "from the call's start to its own")                                               \
  C(T, queue_ns, CELL(I64, NS), "from the call's end to its start; NULL when it began before that")                 \
  C(T, node, ID32, "row of nvtx_nodes: the innermost range around the call, NULL for none", .refers = "nvtx_nodes") \
  C(T, range_name, RANGE_NAME, "canonical name of that range")                                                      \
  C(T, path, LABEL, "names from the outermost range around the call to that one, joined by \" > \"")

#define KERNEL_LAUNCHES_COLUMNS(C, T)                                   \
  OP_LAUNCH_COLUMNS(C, T)                                               \
  C(T, category, LABEL, "kernel category (rules/kernel-classes.rules)") \
  C(T, short_name, LABEL, "name for people, different for different kernels")
NAI_TABLE(KERNEL_LAUNCHES, kernel_launches, "Launches of kernels", "One row of kernel_events, in the same order")
