#pragma once
#include "tables/declare.h"

#define FLEET_COLUMNS(C, T)                                                                           \
  C(T, series, LABEL, "series of the store: NAME/ENVIRONMENT", .key = true)                           \
  C(T, environment, LABEL, "what its runs ran on")                                                    \
  C(T, run_count, COUNT, "its runs")                                                                  \
  C(T, failed_count, COUNT, "of them failed, or cannot be read")                                      \
  C(T, state, LABEL, "of the gated metric that is worst off: fail, creep, warn, too short or steady") \
  C(T, metric, NAME, "that metric; where none is worse than others, the step time")                   \
  C(T, unit, LABEL, "of newest and usual")                                                            \
  C(T, basis, LABEL, "step, second or total: what they are values of")                                \
  C(T, newest, MEAN, "its newest value")                                                              \
  C(T, usual, MEAN, "median of the history of the newest run")                                        \
  C(T, changed_metric, NAME, "metric with the newest change")                                         \
  C(T, changed_pct, PCT, "how much it changed, of the level before")                                  \
  C(T, worse, COUNT, "1: for the worse")                                                              \
  C(T, changed_run, LABEL, "first run of the level after")                                            \
  C(T, changed_labels_json, LABEL, "labels of that run, such as its commit, as a JSON object")        \
  C(T, newest_run, LABEL, "the newest run")                                                           \
  C(T, newest_utc_ns, ID, "start of its first capture in UTC, ns since 1970")                         \
  C(T, newest_status, LABEL, "ok, failed or damaged")                                                 \
  C(T, newest_verdict, LABEL, "of a gate: pass, fail, undecided, error")
NAI_TABLE(FLEET, fleet, "Fleet", "One series of a store, the worst first")
