#pragma once
#include "tables/declare.h"

#define SERVING_CURVE_COLUMNS(C, T)                                                       \
  C(T, engine, ID, "engine", .key = true, .order = 1, .refers = "serving_engines.engine") \
  C(T, sizes, COUNT, "batch sizes that occur at least 5 times")                           \
  C(T, base_ns, LESS(TIME), "time of a decode step that its requests do not add to")      \
  C(T, base_error_ns, TIME, "standard error of that")                                     \
  C(T, request_ns, LENGTH, "what a further request adds")                                 \
  C(T, request_error_ns, LENGTH, "standard error of that")                                \
  C(T, r_squared_pct, PCT, "variation that the line explains")                            \
  C(T, worst_ns, TIME, "largest distance of a batch size's median from the line")         \
  C(T, base_pct, PCT, "base, of the time at the median batch size")                       \
  C(T, median_requests, COUNT, "the median batch size")                                   \
  C(T, reason, LABEL, "why there is no line, or how far to trust it")
NAI_TABLE(SERVING_CURVE, serving_curve, "Decode time by batch size",
          "The line through the median times of decode steps by batch size",
          "times at other batch sizes; how the length of sequences counts")
