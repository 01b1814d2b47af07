#pragma once
#include "tables/declare.h"

#define CHANGES_COLUMNS(C, T)                                                     \
  C(T, series, LABEL, "series of the store", .key = true)                         \
  C(T, metric, NAME, "id of the metric", .key = true)                             \
  C(T, basis, LABEL, "step, second or total: what it is a value of", .key = true) \
  C(T, good_run, LABEL, "last run of the level before")                           \
  C(T, bad_run, LABEL, "first run of the level after", .key = true)               \
  C(T, before, MEAN, "median before")                                             \
  C(T, after, MEAN, "median after")                                               \
  C(T, p, MEAN, "Welch, two-sided")
NAI_TABLE(CHANGES, changes, "Changes", "One change of one metric")
