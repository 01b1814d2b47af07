#pragma once
#include "tables/kernel_launches.h"

#define MEMOP_LAUNCHES_COLUMNS(C, T)                      \
  OP_LAUNCH_COLUMNS(C, T)                                 \
  C(T, direction, LABEL, "Host-to-Device ..., or memset") \
  C(T, src_memory, LABEL, "kind of the source's memory")  \
  C(T, dst_memory, LABEL, "kind of the target's memory")
NAI_TABLE(MEMOP_LAUNCHES, memop_launches, "Launches of memory operations", "One row of memop_events, in the same order")
