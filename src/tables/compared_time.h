#pragma once
#include "tables/declare.h"

#define COMPARED_TIME_COLUMNS(C, T)                                                        \
  C(T, part, NAME, "id of the part", .key = true)                                          \
  C(T, parent, LABEL, "the part it is in; the parts of one add up to it")                  \
  C(T, title, LABEL, "what people call it")                                                \
  C(T, depth, ID32, "0 for the whole")                                                     \
  C(T, base_time_ns, MEAN_TIME, "time in the base, per GPU and step or run")               \
  C(T, new_time_ns, MEAN_TIME, "time in the new side, per GPU and step or run")            \
  C(T, delta_ns, LESS(MEAN_TIME), "new minus base; NULL where it is not of the same work") \
  C(T, delta_pct_of_whole, PCT, "of the base's whole")                                     \
  C(T, base_sum_ns, NS, "over all captures of the base")                                   \
  C(T, new_sum_ns, NS, "over all captures of the new side")
NAI_TABLE(COMPARED_TIME, compared_time, "Time", "A part of the time of a GPU; the parts of one parent add up to it")
