#pragma once
#include "tables/sync_calls.h"

#define SYNC_BY_PID_COLUMNS(C, T)                    \
  C(T, pid, PID, "process", .key = true, .order = 4) \
  SYNC_TIME_COLUMNS(C, T)                            \
  C(T, tid, TID, "thread of the longest call")       \
  SYNC_IDLE_COLUMNS(C, T)
NAI_TABLE(
    SYNC_BY_PID, sync_by_pid, "Synchronization by process", "One synchronizing API function in one process",
    "waits by polling, in condition variables or in NCCL's host code; whether a wait on a busy GPU costs anything")
