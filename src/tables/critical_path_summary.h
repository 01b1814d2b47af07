#pragma once
#include "tables/declare.h"

#define CRITICAL_PATH_SUMMARY_COLUMNS(C, T)                                                                       \
  C(T, scope, LABEL, "window; step: all steady steps; unit: repetitions of the largest unit", .key = true,        \
    .order = -1)                                                                                                  \
  C(T, device_id, DEVICE, "GPU on which steps or units end; NULL for the window", .key = true, .order = 2)        \
  C(T, pid, PID, "process of the steps or units; NULL for the window", .key = true, .order = 3)                   \
  C(T, repetitions, COUNT, "steps or repetitions; 1 for the window")                                              \
  C(T, wall_ns, NS_MS, "their summed wall time, which the path fills exactly")                                    \
  C(T, per_repetition_ns, LESS(MEAN_TIME), "mean time of one")                                                    \
  C(T, summary, LABEL, "the largest causes in words; NULL where refused")                                         \
  C(T, state, LABEL,                                                                                              \
    "what can be simulated: ok; bound_only: savings are bounds; path_only: no savings, the path holds; refused: " \
    "the graph does not hold")                                                                                    \
  C(T, reason, LABEL, "why not ok")                                                                               \
  C(T, inferred_count, COUNT, "segments that no record tells: hand-offs, waits without a record, full queues")    \
  C(T, unexplained_pct, PCT, "of the path: delays that nothing recorded explains")                                \
  C(T, not_recorded_pct, PCT, "of the path: before the first thing that it reaches")
NAI_TABLE(CRITICAL_PATH_SUMMARY, critical_path_summary, "Critical path in short",
          "The critical path of the window, of the steady steps or of the repetitions of a unit",
          "whether a wait could be removed; what threads hand to each other")
