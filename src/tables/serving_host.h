#pragma once
#include "tables/declare.h"

#define SERVING_HOST_COLUMNS(C, T)                                                                           \
  C(T, engine, ID, "engine", .key = true, .order = 1, .refers = "serving_engines.engine")                    \
  C(T, cause, LABEL, "what the thread of the steps did between two of them", .key = true)                    \
  C(T, total_ns, LESS(TIME), "time, summed over steady steps", .sum = true)                                  \
  C(T, gpu_idle_ns, LESS(TIME), "the part in which the GPU had no work: all that can be saved", .order = -2, \
    .sum = true)                                                                                             \
  C(T, pct_of_periods, LESS(PCT), "gpu_idle, of the periods of these steps", .sum = true)
NAI_TABLE(SERVING_HOST, serving_host, "Host between steps",
          "One cause of host time between the ranges of two steps of an engine",
          "what other processes did: scheduling, tokenizing, detokenizing")
