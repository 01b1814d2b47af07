#pragma once
#include "tables/declare.h"

#define SYSCALL_EVENTS_COLUMNS(C, T)           \
  C(T, start_ns, EVENT_START, "start")         \
  C(T, end_ns, EVENT_END, "end, exclusive")    \
  C(T, thread, THREAD, "row of table threads") \
  C(T, name, NAME, "system call", .filled = true)
NAI_TABLE(SYSCALL_EVENTS, syscall_events, "System calls", "One call of the kernel")
