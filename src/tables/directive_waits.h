#pragma once
#include "tables/declare.h"

#define DIRECTIVE_WAITS_COLUMNS(C, T)                                                                              \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                               \
  C(T, device_id, DEVICE, "GPU; NULL for none, or several")                                                        \
  C(T, wait_count, COUNT, "implicit waits", .sum = true)                                                           \
  C(T, wait_ns, LESS(TIME), "time in one, on any thread", .sum = true)                                             \
  C(T, idle_ns, LESS(TIME), "active time in it in which none of its GPUs does anything", .sum = true, .order = -1) \
  C(T, idle_pct, LESS(PCT), "that, of active time")                                                                \
  C(T, file, LABEL, "source file of the directive with most idle time; NULL unknown")                              \
  C(T, line, ID32, "its line")                                                                                     \
  C(T, line_wait_count, COUNT, "implicit waits there")                                                             \
  C(T, line_idle_ns, LESS(TIME), "idle time in them")                                                              \
  C(T, longest_start_ns, START, "start of the longest wait")                                                       \
  C(T, longest_end_ns, END, "end of the longest wait")
NAI_TABLE(DIRECTIVE_WAITS, directive_waits, "Implicit waits of OpenACC",
          "One process whose OpenACC constructs wait for the GPU",
          "waits of OpenMP target regions, and idle time that follows a wait. Built after NVIDIA's description: "
          "verified on generated exports only")
