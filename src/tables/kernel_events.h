#pragma once
#include "tables/declare.h"

#define KERNEL_EVENTS_COLUMNS(C, T)                                                             \
  C(T, start_ns, EVENT_START, "start")                                                          \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                     \
  C(T, name, KERNEL_NAME, "demangled kernel name", .filled = true)                              \
  C(T, device_id, DEVICE, "GPU, as in table gpus", .filled = true, .always = true)              \
  C(T, process, PROCESS, "row of table processes, -1 when unknown")                             \
  C(T, context_id, ID32, "CUDA context")                                                        \
  C(T, stream_id, STREAM, "CUDA stream")                                                        \
  C(T, correlation_id, ID, "joins with api_events within one process; NULL or 0 for none")      \
  C(T, config, ID32, "row of table kernel_configs", .refers = "kernel_configs", .filled = true) \
  C(T, graph_id, ID32, "CUDA graph the operation belongs to, NULL for none")                    \
  C(T, graph_exec_id, ID32, "executable graph it ran in, where the export says so")             \
  C(T, graph_node_id, ID, "node of the graph, NULL for none; joins with graph_node_events")     \
  C(T, green_context, ID32, "green context it ran in, NULL for none; joins with cuda_contexts")
NAI_TABLE(KERNEL_EVENTS, kernel_events, "Kernel executions", "One kernel execution on a GPU")
NAI_EVENT_COLUMNS(KERNEL_EVENTS)
