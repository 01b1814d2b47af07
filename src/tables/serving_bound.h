#pragma once
#include "tables/declare.h"

#define SERVING_BOUND_COLUMNS(C, T)                                                         \
  C(T, engine, ID, "engine", .key = true, .order = 1, .refers = "serving_engines.engine")   \
  C(T, device_id, DEVICE, "its GPU")                                                        \
  C(T, bytes_low, BYTES, "what a decode step reads at least, as --model-weights says")      \
  C(T, bytes_high, BYTES, "the same at most; more than bytes_low for a mixture of experts") \
  C(T, bound_low_ns, TIME, "bytes_low at the bandwidth of the GPU's memory")                \
  C(T, bound_high_ns, TIME, "the same of bytes_high")                                       \
  C(T, busy_ns, LESS(TIME), "time in which a decode step's work runs, median")              \
  C(T, share_low_pct, PCT, "bound_low, of busy")                                            \
  C(T, share_high_pct, PCT, "bound_high, of busy")                                          \
  C(T, reason, LABEL, "why there is no share")
NAI_TABLE(SERVING_BOUND, serving_bound, "Decode and the weights",
          "How near decode steps come to the time in which the GPU's memory delivers the weights",
          "what a step reads: that is said by the user; whether other reads or the caches matter")
