#pragma once
#include "tables/declare.h"

#define STEP_SEARCH_COLUMNS(C, T)                                                                      \
  C(T, pid, PID, "process", .key = true)                                                               \
  C(T, method, NAME, "what tells its steps: user, nvtx, kernels or none", .labels = nai_method_labels) \
  C(T, steps, COUNT, "steps found")                                                                    \
  C(T, reason, LABEL, "why there are none")
NAI_TABLE(STEP_SEARCH, step_search, "Search for steps",
          "One process that repeats something on a GPU: what tells its steps, or why it has none",
          "whether a name lies; steps of loops that take turns; kernels without a launch in the trace")
