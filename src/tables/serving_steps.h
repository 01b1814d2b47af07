#pragma once
#include "tables/declare.h"

#define SERVING_STEPS_COLUMNS(C, T)                                                                               \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                              \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 3)                                                         \
  C(T, step, ID, "number of the step in its process, as in table steps", .key = true, .order = 4)                 \
  C(T, engine, ID, "engine", .refers = "serving_engines.engine")                                                  \
  C(T, label, NAME, "name of the range that begins it")                                                           \
  C(T, kind, LABEL, "decode, prefill, mixed, draft, empty or unknown")                                            \
  C(T, state, LABEL, "steady, warm-up, paused, or truncated by the capture")                                      \
  C(T, context_requests, COUNT, "requests whose prompt is computed", .sum = true)                                 \
  C(T, context_tokens, COUNT, "tokens of these; what a cache holds is not counted", .sum = true)                  \
  C(T, generation_requests, COUNT, "requests that get a token", .sum = true)                                      \
  C(T, generation_tokens, COUNT, "tokens computed for these", .sum = true)                                        \
  C(T, kv_tokens, COUNT, "lengths of their sequences, summed")                                                    \
  C(T, cpu_start_ns, CELL(I64, TIMESTAMP_NS), "start of its range")                                               \
  C(T, cpu_end_ns, CELL(I64, TIMESTAMP_NS), "end of its range")                                                   \
  C(T, gpu_start_ns, START, "start of the first operation launched from its start to the next one's", .order = 1) \
  C(T, gpu_end_ns, END, "end of the last one of these")                                                           \
  C(T, period_ns, LESS(TIME), "to the start of the next step's work; none before a pause")                        \
  C(T, span_ns, LESS(TIME), "from gpu_start to gpu_end")                                                          \
  C(T, busy_ns, LESS(TIME), "time in it in which its work runs")                                                  \
  C(T, idle_inside_ns, LESS(TIME), "span without busy")                                                           \
  C(T, idle_before_ns, LESS(TIME), "from the end of all earlier steps' work to gpu_start")                        \
  C(T, overlap_ns, TIME, "time of the span in which an earlier step's work had not ended")                        \
  C(T, interval_ns, LESS(TIME),                                                                                   \
    "between tokens: from the end of the last step with generation requests to its own end")                      \
  C(T, comm_ns, LESS(TIME), "time in which its communication kernels run")                                        \
  C(T, kernel_count, COUNT, "kernels that it launched", .sum = true)                                              \
  C(T, launch_calls, LESS(COUNT), "API calls that launched its work", .sum = true)                                \
  C(T, graph_launches, COUNT, "of these: launches of CUDA graphs", .sum = true)                                   \
  C(T, graph_key, ID, "the graphs that it launched: equal numbers, equal graphs")                                 \
  C(T, host_between_ns, LESS(TIME), "on the host: from the end of its range to the next one's start")             \
  C(T, pause_before, ID32, "1: a pause lies before it, else 0")
NAI_TABLE(SERVING_STEPS, serving_steps, "Serving steps",
          "One step of an engine on one GPU, with the requests and tokens that its range names",
          "which request a token belongs to, how many guessed tokens were accepted, what a prefix cache saved")
