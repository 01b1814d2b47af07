#pragma once
#include "tables/declare.h"

/* Phases, in the order of the rows: value, and how reports call it. */
#define NAI_CAPTURE_PHASES(X)                            \
  X(NOT_RECORDED, "not_recorded", "not recorded")        \
  X(BEFORE, "before_cuda", "before CUDA")                \
  X(SET_UP, "set_up", "setup")                           \
  X(GPU, "gpu", "active")                                \
  X(BETWEEN, "between", "pauses")                        \
  X(CALLS, "cuda_calls", "from first to last CUDA call") \
  X(AFTER, "after", "afterwards")                        \
  X(HOST, "host", "on the host")                         \
  X(EXITED, "exited", "after the program ended")
#define NAI_CAPTURE_PHASE(id, name, label) NAI_CAPTURE_##id,
enum nai_capture_phase { NAI_CAPTURE_PHASES(NAI_CAPTURE_PHASE) NAI_CAPTURE_PHASE_COUNT };
#undef NAI_CAPTURE_PHASE

/* Whether something is known of it: shares of the capture are of these. */
static inline bool nai_capture_phase_is_recorded(int phase) {
  return phase != NAI_CAPTURE_NOT_RECORDED && phase != NAI_CAPTURE_EXITED;
}
/* The part in which the program waits for somebody: no share of the capture counts it. */
#define NAI_CAPTURE_INPUT "input"
/* Whether a GPU works in a part of it. */
static inline bool nai_capture_part_is_busy(const char *part) {
  return strcmp(part, "compute") == 0 || strcmp(part, "communication") == 0 || strcmp(part, "copy") == 0;
}
#define CAPTURE_TIME_COLUMNS(C, T)                                                                                  \
  C(T, phase, NAME,                                                                                                 \
    "not_recorded; before_cuda, the first CUDA call; set_up: until the first GPU work, and spans of setup; gpu: "   \
    "active spans of any GPU; between: all GPUs pause, or check results; after: the last GPU work; cuda_calls and " \
    "host where no GPU work or no CUDA call is recorded; exited: behind the program's exit",                        \
    .key = true, .labels = nai_phase_labels)                                                                        \
  C(T, part, NAME,                                                                                                  \
    "what of the phase: compute, communication, copy and idle (each where no GPU does what is named before it); "   \
    "first_use; profiler; launch, wait, copy, allocation, other calls; ranges; input, os_wait and io, OS runtime "  \
    "calls of the thread with most CUDA calls (input: a call of 100 ms or more that reads what somebody types); "   \
    "host, the rest",                                                                                               \
    .key = true, .labels = nai_part_labels)                                                                         \
  C(T, duration_ns, NS_MS, "time in it", .sum = true)                                                               \
  C(T, pct_of_capture, PCT, "the same, of the capture")                                                             \
  C(T, counted, ID32, "1: shares of the capture are of such parts: recorded, and no waiting for input")             \
  C(T, start_ns, START, "where it begins first")                                                                    \
  C(T, end_ns, END, "where it ends last")
NAI_TABLE(CAPTURE_TIME, capture_time, "Time of the capture",
          "One part of the capture's wall time; the parts add up to the capture",
          "what the host did where neither ranges nor calls are recorded")
