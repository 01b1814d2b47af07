#pragma once
#include "tables/declare.h"

#define SAMPLE_EVENTS_COLUMNS(C, T)                                            \
  C(T, time_ns, EVENT_START, "when")                                           \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those")    \
  C(T, global_tid, ID, "serialized thread id of the export")                   \
  C(T, cpu, ID32, "CPU")                                                       \
  C(T, thread_state, ID32, "as in sched_events")                               \
  C(T, cpu_cycles, CELL(I64, COUNT), "0 for stacks taken on a context switch") \
  C(T, callchain_id, ID, "callchain_frames of kind 0", .refers = "callchain_frames.callchain_id")
NAI_TABLE(SAMPLE_EVENTS, sample_events, "CPU samples", "One sample of a thread")
NAI_EVENT_COLUMNS(SAMPLE_EVENTS)
