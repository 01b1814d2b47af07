#pragma once
#include "tables/declare.h"

#define CAPTURE_HEALTH_COLUMNS(C, T)                                               \
  C(T, check, NAME, "what was looked at", .key = true)                             \
  C(T, state, LABEL, "ok, note, problem, or unknown where the export cannot tell") \
  C(T, count, COUNT, "rows, launches or spans concerned")                          \
  C(T, time_ns, TIME, "time concerned")                                            \
  C(T, pct_of_capture, PCT, "time, of the capture")                                \
  C(T, detail, LABEL, "what was found, with numbers")                              \
  C(T, start_ns, START, "where it is, if it is one place")                         \
  C(T, end_ns, END, "its end")
NAI_TABLE(
    CAPTURE_HEALTH, capture_health, "Health of the capture",
    "One question on what the capture holds, to be asked before any number is judged",
    "the program's begin after --trim; a failure after the first kernel; context creation without a call of its own")
