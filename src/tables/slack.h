#pragma once
#include "tables/declare.h"

#define SLACK_COLUMNS(C, T)                                                                                           \
  C(T, kind, LABEL, "kernel, copy, memset, graph or call; calls inside others are none", .values = 5)                 \
  C(T, row, CELL(I32, ID), "row of kernel_events, memop_events (copies and memsets), graph_events or api_events")     \
  C(T, device_id, DEVICE, "GPU; NULL for calls")                                                                      \
  C(T, pid, PID, "process of a call")                                                                                 \
  C(T, tid, TID, "thread of a call")                                                                                  \
  C(T, name, NAME, "kernel, direction or function")                                                                   \
  C(T, range_name, RANGE_NAME, "innermost NVTX range around the call, of operations around the one that launched it") \
  C(T, start_ns, EVENT_START, "start")                                                                                \
  C(T, end_ns, EVENT_END, "end")                                                                                      \
  C(T, duration_ns, NS, "from start to end")                                                                          \
  C(T, slack_ns, NS, "it may end so much later before the last operation of any GPU does; 0: critical")
NAI_TABLE(SLACK, slack, "Slack", "One operation or CUDA call",
          "nothing beyond the graph of dependencies: what threads wait for is not in it")
