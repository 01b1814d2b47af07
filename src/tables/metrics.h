#pragma once
#include "base/arena.h"
#include "tables/declare.h"

/* A metric's id by its basis ("step", "second", "total"): NAME.per_step is NAME.per_second or NAME.total where it is
 * not per step. `id` itself, or a text of the arena's. Runs of earlier versions have the id without that. */
const char *nai_metric_id(struct nai_arena *arena, const char *id, const char *basis);

#define METRICS_COLUMNS(C, T)                                                                           \
  C(T, metric, NAME, "id of the metric", .key = true)                                                   \
  C(T, title, LABEL, "what people call it")                                                             \
  C(T, family, LABEL, "id with {} for a metric that exists per category, copy or range")                \
  C(T, unit, LABEL, "of value, q25, q75, noise and budget: ns, bytes, count, ...")                      \
  C(T, better, LABEL, "lower, higher or either")                                                        \
  C(T, kind, LABEL, "exact (a repetition gives the same value) or noisy")                               \
  C(T, gate, LABEL,                                                                                     \
    "gate (a regression fails a check), guard (limits what can be said), context (judged only where a " \
    "budget names it) or none")                                                                         \
  C(T, value, MEAN, "the run's value, in the row's unit")                                               \
  C(T, n, COUNT, "rows behind it, on the GPU with the fewest: steps, for a value per step")             \
  C(T, q25, MEAN, "first quartile over these rows; nothing for sums")                                   \
  C(T, q75, MEAN, "third quartile")                                                                     \
  C(T, basis, LABEL, "step, second (of the GPU window) or total: what it is a value of")                \
  C(T, source_table, LABEL, "table it was read from")                                                   \
  C(T, noise_pct, PCT, "noise floor, of the value")                                                     \
  C(T, noise, MEAN, "noise floor, in the row's unit")                                                   \
  C(T, budget_pct, PCT, "budget, of the value")                                                         \
  C(T, budget, MEAN, "budget, in the row's unit")                                                       \
  C(T, budget_step_pct, PCT, "budget, of the step time")                                                \
  C(T, absent, LABEL, "a run without it: error, zero or ignore")                                        \
  C(T, needs, LABEL, "capability of the export it needs")                                               \
  C(T, definition, ID, "number of its definition, from 1: values of another one are of something else")
NAI_TABLE(METRICS, metrics, "Metrics", "One number by which runs are compared",
          "the spread between captures: quartiles are within one capture", .csv = true)
