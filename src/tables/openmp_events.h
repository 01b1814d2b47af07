#pragma once
#include "tables/declare.h"

#define OPENMP_EVENTS_COLUMNS(C, T)                                                                                   \
  C(T, start_ns, EVENT_START, "start")                                                                                \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                                           \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those")                                           \
  C(T, name, LABEL, "event")                                                                                          \
  C(T, kind, ID32,                                                                                                    \
    "0 thread, 1 parallel, 2 waiting at a synchronization, 3 synchronization, 4 task, 5 master, 6 reduction, 7 task " \
    "created, 8 task scheduled, 9 cancel, 10 waiting for a mutex, 11 critical section, 12 mutex released, 13 lock "   \
    "initialized, 14 lock destroyed, 15 work sharing, 16 dispatch, 17 flush",                                         \
    .filled = true, .values = 18)
NAI_TABLE(OPENMP_EVENTS, openmp_events, "OpenMP events", "One OpenMP event of the host",
          "work on GPUs: no event tells of target regions")

/* openmp_events: tables of the export, by kind. */
enum { NAI_OPENMP_KINDS = 18 };
