#pragma once
#include "tables/declare.h"

#define SCHED_EVENTS_COLUMNS(C, T)                                                                    \
  C(T, time_ns, EVENT_START, "when")                                                                  \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those")                           \
  C(T, global_tid, ID, "serialized thread id of the export")                                          \
  C(T, cpu, ID32, "CPU")                                                                              \
  C(T, is_in, ID32, "1 begins to run, 0 stops")                                                       \
  C(T, thread_state, ID32,                                                                            \
    "1 running, 2 interruptible, 3 uninterruptible, 6 unscheduled, 7 waiting; NULL in older exports") \
  C(T, thread_block, ID32, "why it stopped; only where is_in is 0")
NAI_TABLE(SCHED_EVENTS, sched_events, "Scheduling", "One thread that begins or stops running on a CPU")
NAI_EVENT_COLUMNS(SCHED_EVENTS)
