/* Ranges, phases and copies are compared alike: their tables have the same columns, and are filled and read as
 * compared_ranges. Internal to src/features/compare. */
#pragma once

#include "tables/compared_copies.h"
#include "tables/compared_phases.h"
#include "tables/compared_ranges.h"

#define NAI_IS_LIKE_RANGES(T, name, base, candidate, delta)                                                            \
  _Static_assert((int)T##_##name == COMPARED_RANGES_range_name && (int)T##_base_count == COMPARED_RANGES_base_count && \
                     (int)T##_new_count == COMPARED_RANGES_new_count &&                                                \
                     (int)T##_##base == COMPARED_RANGES_base_time_ns &&                                                \
                     (int)T##_##candidate == COMPARED_RANGES_new_time_ns &&                                            \
                     (int)T##_##delta == COMPARED_RANGES_delta_ns && (int)T##_state == COMPARED_RANGES_state &&        \
                     (int)T##_COLUMN_COUNT == COMPARED_RANGES_COLUMN_COUNT,                                            \
                 "columns as in compared_ranges")
NAI_IS_LIKE_RANGES(COMPARED_PHASES, phase, base_time_ns, new_time_ns, delta_ns);
NAI_IS_LIKE_RANGES(COMPARED_COPIES, direction, base_bytes, new_bytes, delta_bytes);
