#pragma once
#include "tables/declare.h"

#define SERVING_ENGINES_COLUMNS(C, T)                                                                                  \
  C(T, engine, ID, "number of the engine, from 0", .key = true)                                                        \
  C(T, format, LABEL, "whose range names tell its steps")                                                              \
  C(T, process_ids, LABEL, "its processes")                                                                            \
  C(T, device_ids, LABEL, "its GPUs")                                                                                  \
  C(T, ranks, COUNT, "processes and GPUs that compute the same steps together")                                        \
  C(T, role, LABEL, "one GPU, tensor parallel, pipeline parallel, or unknown: names without numbers are all alike")    \
  C(T, pid, PID, "the rank whose numbers the other tables hold: numbers of ranks do not add up")                       \
  C(T, device_id, DEVICE, "its GPU")                                                                                   \
  C(T, agreement_pct, PCT, "step names that the ranks share, the least of them")                                       \
  C(T, steps, COUNT, "steps with work on this GPU")                                                                    \
  C(T, kind_source, LABEL, "what tells prefill from decode: names; inferred from CUDA graphs")                         \
  C(T, tokens_known, ID32, "1: the names tell requests, else 0")                                                       \
  C(T, draft_tokens, COUNT, "tokens that each request guesses ahead (speculative decoding); 0 for none, NULL unknown") \
  C(T, engine_start_ns, TIME, "from the first CUDA call of the process to its first steady step, in no rate")          \
  C(T, window_ns, TIME, "from the first to the last work of the steps")                                                \
  C(T, pause_count, COUNT, "times the GPU had nothing to do between steps for long, in no rate")                       \
  C(T, pause_ns, TIME, "summed length of these")                                                                       \
  C(T, first_start_ns, START, "start of the first step's work")                                                        \
  C(T, last_end_ns, END, "end of the last one's")                                                                      \
  C(T, note, LABEL, "what limits the numbers")
NAI_TABLE(
    SERVING_ENGINES, serving_engines, "Serving engines",
    "One engine that serves a language model: the ranks that compute the same steps",
    "what clients see: latency, queueing, time to first token, requests; whether a pause is a lack of requests or a "
    "frontend that stalls")
