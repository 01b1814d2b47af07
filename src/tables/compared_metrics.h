#pragma once
#include "tables/declare.h"

#define COMPARED_METRICS_COLUMNS(C, T)                                                                  \
  C(T, metric, NAME, "id of the metric", .key = true)                                                   \
  C(T, title, LABEL, "what people call it")                                                             \
  C(T, unit, LABEL, "of the values")                                                                    \
  C(T, better, LABEL, "lower, higher or either")                                                        \
  C(T, kind, LABEL, "exact or noisy")                                                                   \
  C(T, basis, LABEL, "step, second or total")                                                           \
  C(T, gated, ID32, "1: a gate asks for it")                                                            \
  C(T, base_captures, COUNT, "captures of the base with a value")                                       \
  C(T, new_captures, COUNT, "captures of the new side with a value")                                    \
  C(T, base_median, MEAN, "median over the base's captures")                                            \
  C(T, new_median, MEAN, "median over the new side's captures")                                         \
  C(T, shift, MEAN, "new minus base: Hodges-Lehmann")                                                   \
  C(T, shift_pct, PCT, "of the base's median; NULL where that is 0")                                    \
  C(T, ci_low, MEAN, "95 % interval of the shift; NULL with too few captures")                          \
  C(T, ci_high, MEAN, "its upper end")                                                                  \
  C(T, p, CELL(F64, TEXT), "Mann-Whitney U, two-sided", .role = NAI_ROLE_METRIC)                        \
  C(T, q, CELL(F64, TEXT),                                                                              \
    "p corrected for the number of metrics that are not gated (Benjamini-Hochberg); from 6 captures a " \
    "side on",                                                                                          \
    .role = NAI_ROLE_METRIC)                                                                            \
  C(T, cliff_delta, MEAN, "Cliff's delta, -1 to 1")                                                     \
  C(T, budget, MEAN, "how much worse it may be, as applied")                                            \
  C(T, noise, MEAN, "noise floor of the metric")                                                        \
  C(T, verdict, LABEL, "regressed, changed, suspect, improved, within budget, not proven, same, ...")   \
  C(T, reason, LABEL, "what the verdict rests on, or what is missing")
NAI_TABLE(COMPARED_METRICS, compared_metrics, "Metrics", "One metric of both sides")
