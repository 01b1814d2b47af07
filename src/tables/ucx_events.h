#pragma once
#include "tables/declare.h"

#define UCX_EVENTS_COLUMNS(C, T)                                                        \
  C(T, start_ns, EVENT_START, "start")                                                  \
  C(T, end_ns, EVENT_END, "end, exclusive; of a call that had not ended its start")     \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those")             \
  C(T, name, NAME, "function", .filled = true)                                          \
  C(T, bytes, CELL(I64, BYTES), "of the message; NULL: the call has none", .sum = true) \
  C(T, peer_worker, ID, "worker at the other end, as in ucx_workers; NULL: the call does not name one")
NAI_TABLE(UCX_EVENTS, ucx_events, "UCX calls", "One call of UCX's protocol layer (UCP)")
