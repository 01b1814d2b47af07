#pragma once
#include "tables/declare.h"

#define RANGE_DEPTHS_COLUMNS(C, T) \
  C(T, depth, COUNT, "push/pop ranges around it on its thread, 255 for more; 0 for start/end ranges, NULL for marks")
NAI_TABLE(RANGE_DEPTHS, range_depths, "Depths of ranges", "One row of nvtx_events, in the same order")
