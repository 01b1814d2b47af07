#pragma once
#include "tables/declare.h"

#define MEMOP_EVENTS_COLUMNS(C, T)                                                                      \
  C(T, start_ns, EVENT_START, "start")                                                                  \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                             \
  C(T, kind, ID32, "0 memcpy, 1 memset", .filled = true, .values = 2)                                   \
  C(T, device_id, DEVICE, "GPU, as in table gpus", .filled = true, .always = true)                      \
  C(T, process, PROCESS, "row of table processes, -1 when unknown")                                     \
  C(T, context_id, ID32, "CUDA context")                                                                \
  C(T, stream_id, STREAM, "CUDA stream")                                                                \
  C(T, correlation_id, ID, "joins with api_events within one process; NULL or 0 for none")              \
  C(T, bytes, BYTES, "bytes moved or set", .sum = true, .filled = true)                                 \
  C(T, copy_kind, ID32, "CUPTI memcpy kind, 64 for decompression, NULL for memset")                     \
  C(T, src_kind, ID32, "CUPTI memory kind of the source")                                               \
  C(T, dst_kind, ID32, "CUPTI memory kind of the destination")                                          \
  C(T, graph_id, ID32, "CUDA graph the operation belongs to, NULL for none")                            \
  C(T, graph_exec_id, ID32, "executable graph it ran in, where the export says so")                     \
  C(T, graph_node_id, ID, "node of the graph, NULL for none; joins with graph_node_events")             \
  C(T, virtual_address, ID, "address of migrated pages, NULL for none")                                 \
  C(T, migration, ID32, "1 for pages of unified memory that moved: no API call's work, on no stream")   \
  C(T, migration_cause, ID32, "1 prefetch, 2 page fault, 3 speculative, 4 eviction, 5 access counters") \
  C(T, src_cuda_device, ID32, "CUDA ordinal copied from, where the export says so")                     \
  C(T, dst_cuda_device, ID32, "CUDA ordinal copied to, where the export says so")                       \
  C(T, copy_count, CELL(I32, COUNT), "copies of a batch, NULL where the export lacks it")
NAI_TABLE(MEMOP_EVENTS, memop_events, "Memory operations", "One memcpy or memset on a GPU")

enum { NAI_MEMOP_COPY, NAI_MEMOP_SET };
/* copy_kind of what the decompression engine does: a copy whose bytes are those that it reads. CUPTI has no such kind.
 */
enum { NAI_COPY_DECOMPRESSION = 64 };
NAI_EVENT_COLUMNS(MEMOP_EVENTS)
