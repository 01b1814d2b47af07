#pragma once
#include "tables/declare.h"

#define SERVING_BATCH_COLUMNS(C, T)                                                       \
  C(T, engine, ID, "engine", .key = true, .order = 1, .refers = "serving_engines.engine") \
  C(T, bucket, LABEL, "requests in the step: 1, 2, 3-4, 5-8, ...", .key = true)           \
  C(T, least_requests, COUNT, "the fewest of them", .order = 2)                           \
  C(T, steps, COUNT, "steady decode steps")                                               \
  C(T, median_requests, COUNT, "requests in one, median")                                 \
  C(T, median_period_ns, LESS(TIME), "time of one, median; NULL for fewer than 5")        \
  C(T, tokens_per_s, MORE(PER_S), "requests per period; NULL for fewer than 5")           \
  C(T, graph_pct, PCT, "of them launch a CUDA graph")
NAI_TABLE(SERVING_BATCH, serving_batch, "Serving by batch size",
          "Decode steps of one engine with about as many requests", "batch sizes that did not occur")
