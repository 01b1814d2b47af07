#pragma once
#include "tables/declare.h"

#define SERVING_INTERFERENCE_COLUMNS(C, T)                                                                          \
  C(T, engine, ID, "engine", .key = true, .order = 1, .refers = "serving_engines.engine")                           \
  C(T, steps, COUNT, "token intervals with prompts in them")                                                        \
  C(T, prefill_only_steps, COUNT, "of these: requests that decode had no part in the step")                         \
  C(T, extra_ns, LESS(TIME), "what these take longer than an interval of as many requests without prompts, summed") \
  C(T, delayed_request_ns, LESS(TIME), "the same times the requests that wait")                                     \
  C(T, share_pct, LESS(PCT), "of the time between tokens of all requests")                                          \
  C(T, median_chunk_tokens, COUNT, "tokens of prompts in such an interval")                                         \
  C(T, longest_ns, LESS(TIME), "the longest of the intervals")                                                      \
  C(T, longest_start_ns, START, "its start")                                                                        \
  C(T, longest_end_ns, END, "its end")
NAI_TABLE(SERVING_INTERFERENCE, serving_interference, "Decode delayed by prefill",
          "What prompts cost the requests of one engine that decode",
          "which requests waited through a step of prompts only: as many are taken as decode before and after it")
