#pragma once
#include "tables/declare.h"

#define COMPARED_VALUES_COLUMNS(C, T)            \
  C(T, side, LABEL, "base or new")               \
  C(T, capture, LABEL, "name of the run")        \
  C(T, metric, NAME, "id of the metric")         \
  C(T, unit, LABEL, "of the value")              \
  C(T, better, LABEL, "lower, higher or either") \
  C(T, value, MEAN, "of this capture")
NAI_TABLE(COMPARED_VALUES, compared_values, "Values", "One metric of one capture")
