#pragma once
#include "tables/declare.h"

#define SERVING_SUMMARY_COLUMNS(C, T)                                                                             \
  C(T, engine, ID, "engine", .key = true, .order = 1, .refers = "serving_engines.engine")                         \
  C(T, kind, LABEL, "decode, prefill, mixed, draft, unknown; all: every one but empty steps", .key = true)        \
  C(T, steps, COUNT, "steps", .order = -2)                                                                        \
  C(T, steady_steps, COUNT, "of these: neither warm-up, paused nor truncated; everything below is of them")       \
  C(T, median_requests, COUNT, "requests in a step: decoding ones, of prefill those with a prompt")               \
  C(T, median_period_ns, LESS(TIME), "from the start of a step's GPU work to the next one's")                     \
  C(T, p90_period_ns, LESS(TIME), "nine tenths are not longer")                                                   \
  C(T, median_busy_ns, LESS(TIME), "time in which the step's work runs")                                          \
  C(T, median_idle_inside_ns, LESS(TIME), "idle time within it")                                                  \
  C(T, median_idle_before_ns, LESS(TIME), "idle time before it")                                                  \
  C(T, median_comm_ns, LESS(TIME), "time in which its communication kernels run")                                 \
  C(T, interval_p50_ns, LESS(TIME),                                                                               \
    "time per token and request, as steps show it: median; NULL for fewer than 20 steps")                         \
  C(T, interval_p90_ns, LESS(TIME), "the same, nine tenths; NULL for fewer than 100 steps")                       \
  C(T, interval_p99_ns, LESS(TIME), "the same, 99 of 100; NULL for fewer than 100 steps or 1,000 tokens")         \
  C(T, context_tokens, COUNT, "tokens of prompts computed")                                                       \
  C(T, prefill_tokens_per_s, MORE(PER_S), "the same per second of steps with prompts")                            \
  C(T, tokens_low, COUNT, "tokens made: one for each request in a step")                                          \
  C(T, tokens_high, COUNT, "the same if every guess was accepted; NULL where guessing is unknown")                \
  C(T, tokens_per_s_low, MORE(PER_S), "tokens_low per active second")                                             \
  C(T, tokens_per_s_high, MORE(PER_S), "tokens_high per active second")                                           \
  C(T, active_ns, TIME, "periods of these steps, without pauses")                                                 \
  C(T, graph_steps_pct, PCT, "steps that launch a CUDA graph")                                                    \
  C(T, padding_pct, LESS(PCT), "of the batches that graphs were captured for, at least so much is empty")         \
  C(T, median_launch_calls, LESS(COUNT), "API calls that launch a step's work")                                   \
  C(T, recompute_steps, LESS(COUNT), "steps that compute a preempted request again")                              \
  C(T, without_graph_ns, LESS(TIME), "what decode steps without a graph take longer than those with one, summed") \
  C(T, exposed_comm_pct, LESS(PCT), "communication without compute, of the periods")                              \
  C(T, note, LABEL, "what limits the numbers")
NAI_TABLE(SERVING_SUMMARY, serving_summary, "Serving",
          "Steps of one kind of one engine, on the rank that stands for it",
          "accepted tokens under speculative decoding; rates while the engine starts or pauses; the first token of a "
          "request, which its prefill makes",
          .csv = true)
