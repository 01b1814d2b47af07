#pragma once
#include "tables/declare.h"

#define NVTX_EVENTS_COLUMNS(C, T)                                                                                    \
  C(T, start_ns, EVENT_START, "start")                                                                               \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                                          \
  C(T, thread, THREAD, "row of table threads")                                                                       \
  C(T, name, RANGE_NAME, "canonical range name", .filled = true)                                                     \
  C(T, kind, ID32, "0 push/pop, 1 start/end, 2 mark", .filled = true, .values = 3)                                   \
  C(T, export_row_offset, ID,                                                                                        \
    "rowid in the export's NVTX_EVENTS, where the raw name is, minus the number of the row here, from 0")            \
  C(T, domain, ID32, "row of table nvtx_domains", .refers = "nvtx_domains")                                          \
  C(T, category, ID, "category number in its domain, NULL or 0 for none")                                            \
  C(T, color, ID, "ARGB, NULL for none")                                                                             \
  C(T, end_thread, CELL(I32, ID),                                                                                    \
    "row of table threads: where a start/end range ended, NULL for the thread it began on", .role = NAI_ROLE_THREAD, \
    .refers = "threads")                                                                                             \
  C(T, seq, ID, "PyTorch's sequence number behind the name, NULL for none")                                          \
  C(T, sizes, ID32, "row of table nvtx_sizes, NULL for none", .refers = "nvtx_sizes")                                \
  C(T, op_id, ID, "PyTorch's number of the operation behind the name, NULL for none")
NAI_TABLE(NVTX_EVENTS, nvtx_events, "NVTX ranges and marks", "One NVTX range or mark")

enum { NAI_NVTX_PUSH_POP, NAI_NVTX_START_END, NAI_NVTX_MARK };
NAI_EVENT_COLUMNS(NVTX_EVENTS)
