#pragma once
#include "tables/declare.h"

#define SERVING_STEPS_COLUMNS(C, T)                                                                                \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                               \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 3)                                                          \
  C(T, step, ID, "number of the step in its process, as in table steps", .key = true, .order = 4)                  \
  C(T, engine, ID, "engine", .refers = "serving_engines.engine")                                                   \
  C(T, label, NAME, "name of the range that begins it")                                                            \
  C(T, kind, LABEL, "decode, prefill, mixed, draft, empty or unknown")                                             \
  C(T, state, LABEL, "steady, warm-up, paused, or truncated by the capture")                                       \
  C(T, context_requests, COUNT, "requests whose prompt is computed", .sum = true)                                  \
  C(T, context_tokens, COUNT, "tokens of these; what a cache holds is not counted", .sum = true)                   \
  C(T, generation_requests, COUNT, "requests that get a token", .sum = true)                                       \
  C(T, generation_tokens, COUNT, "tokens computed for these", .sum = true)                                         \
  C(T, kv_tokens, COUNT, "lengths of their sequences, summed")                                                     \
  C(T, cpu_start_ns, CELL(I64, TIMESTAMP_NS), "start of its range")                                                \
  C(T, cpu_end_ns, CELL(I64, TIMESTAMP_NS), "end of its range")                                                    \
  C(T, gpu_start_ns, START, "start of the first operation launched from its start to the next one's", .order = 1)  \
  C(T, gpu_end_ns, END, "end of the last one of these")                                                            \
  C(T, period_ns, TIME, "to the start of the next step's work; none before a pause", .better = NAI_BETTER_LOWER)   \
  C(T, span_ns, TIME, "from gpu_start to gpu_end", .better = NAI_BETTER_LOWER)                                     \
  C(T, busy_ns, TIME, "time in it in which its work runs", .better = NAI_BETTER_LOWER)                             \
  C(T, idle_inside_ns, TIME, "span without busy", .better = NAI_BETTER_LOWER)                                      \
  C(T, idle_before_ns, TIME, "from the end of all earlier steps' work to gpu_start", .better = NAI_BETTER_LOWER)   \
  C(T, overlap_ns, TIME, "time of the span in which an earlier step's work had not ended")                         \
  C(T, interval_ns, TIME, "between tokens: from the end of the last step with generation requests to its own end", \
    .better = NAI_BETTER_LOWER)                                                                                    \
  C(T, comm_ns, TIME, "time in which its communication kernels run", .better = NAI_BETTER_LOWER)                   \
  C(T, kernel_count, COUNT, "kernels that it launched", .sum = true)                                               \
  C(T, launch_calls, COUNT, "API calls that launched its work", .better = NAI_BETTER_LOWER, .sum = true)           \
  C(T, graph_launches, COUNT, "of these: launches of CUDA graphs", .sum = true)                                    \
  C(T, graph_key, ID, "the graphs that it launched: equal numbers, equal graphs")                                  \
  C(T, host_between_ns, TIME, "on the host: from the end of its range to the next one's start",                    \
    .better = NAI_BETTER_LOWER)                                                                                    \
  C(T, pause_before, ID32, "1: a pause lies before it, else 0")
NAI_TABLE(SERVING_STEPS, serving_steps, "Serving steps",
          "One step of an engine on one GPU, with the requests and tokens that its range names",
          "which request a token belongs to, how many guessed tokens were accepted, what a prefix cache saved")
