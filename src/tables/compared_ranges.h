#pragma once
#include "tables/declare.h"

#define COMPARED_RANGES_COLUMNS(C, T)                                                                               \
  C(T, range_name, RANGE_NAME, "NVTX name, digits as # unless asked otherwise", .key = true, .order = 3)            \
  C(T, base_count, MEAN, "instances in the base, per capture, or what times are per")                               \
  C(T, new_count, MEAN, "instances in the new side, per capture, or what times are per")                            \
  C(T, base_time_ns, MEAN_TIME, "summed durations in the base, per capture, or what times are per", .order = -2)    \
  C(T, new_time_ns, MEAN_TIME, "summed durations in the new side, per capture, or what times are per", .order = -1) \
  C(T, delta_ns, MEAN_TIME, "new minus base, per capture, or what times are per")                                   \
  C(T, state, LABEL, "both, only_base or only_new")
NAI_TABLE(COMPARED_RANGES, compared_ranges, "NVTX ranges", "One range name in both sides' captures")
