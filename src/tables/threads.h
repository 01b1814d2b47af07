#pragma once
#include "tables/declare.h"

#define THREADS_COLUMNS(C, T)                                             \
  C(T, global_tid, ID, "serialized thread id of the export", .key = true) \
  C(T, process, PROCESS, "row of table processes, -1 when unknown")       \
  C(T, pid, PID, "process id")                                            \
  C(T, tid, CELL(I64, ID), "thread id", .role = NAI_ROLE_THREAD)          \
  C(T, thread_name, NAME, "thread name")
NAI_TABLE(THREADS, threads, "Threads", "One thread with API calls, NVTX ranges or OS runtime calls")
