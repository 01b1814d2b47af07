#pragma once
#include "tables/declare.h"

#define INDEX_METRICS_COLUMNS(C, T)                                                                      \
  C(T, run_id, LABEL, "the run", .key = true, .order = 1)                                                \
  C(T, capture, ID, "capture of the run, from 0", .key = true, .order = 2)                               \
  C(T, metric, NAME, "id of the metric", .key = true, .order = 3)                                        \
  C(T, unit, LABEL, "of value")                                                                          \
  C(T, better, LABEL, "lower or higher")                                                                 \
  C(T, value, MEAN, "of the capture")                                                                    \
  C(T, n, COUNT, "samples inside the capture (steps)")                                                   \
  C(T, q25, MEAN, "first quartile inside the capture")                                                   \
  C(T, q75, MEAN, "third quartile inside the capture")                                                   \
  C(T, basis, LABEL, "step, second or total: what it is a value of")                                     \
  C(T, kind, LABEL, "exact or noisy")                                                                    \
  C(T, gate, LABEL, "gate, guard or none")                                                               \
  C(T, noise_pct, PCT, "noise floor, of the value")                                                      \
  C(T, noise, MEAN, "noise floor, in the row's unit")                                                    \
  C(T, budget_pct, PCT, "budget, of the value")                                                          \
  C(T, budget, MEAN, "budget, in the row's unit, that of the step time included")                        \
  C(T, definition, ID, "number of the metric's definition: values of another one are of something else") \
  C(T, absent, LABEL, "what a run without it is: error, zero or ignore; empty: an earlier version wrote the run")
NAI_TABLE_NAMED(INDEX_METRICS, index_metrics, "metrics", "Metrics", "One metric of one capture")
