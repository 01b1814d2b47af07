#pragma once
#include "tables/declare.h"

#define COMPARED_COPIES_COLUMNS(C, T)                                                                                  \
  C(T, direction, NAME, "of copies, or memset", .key = true, .order = 3)                                               \
  C(T, base_count, MEAN, "operations in the base, per capture, or what times are per")                                 \
  C(T, new_count, MEAN, "operations in the new side, per capture, or what times are per")                              \
  C(T, base_bytes, CELL(F64, BYTES), "bytes in the base, per capture, or what times are per", .role = NAI_ROLE_METRIC, \
    .order = -2)                                                                                                       \
  C(T, new_bytes, CELL(F64, BYTES), "bytes in the new side, per capture, or what times are per",                       \
    .role = NAI_ROLE_METRIC, .order = -1)                                                                              \
  C(T, delta_bytes, CELL(F64, BYTES), "new minus base, per capture, or what times are per", .role = NAI_ROLE_METRIC)   \
  C(T, state, LABEL, "both, only_base or only_new")
NAI_TABLE(COMPARED_COPIES, compared_copies, "Copies", "One direction in both sides' captures")
