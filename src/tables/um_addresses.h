#pragma once
#include "tables/declare.h"

#define UM_ADDRESSES_COLUMNS(C, T)                                                                             \
  C(T, pid, PID, "process", .key = true, .order = 3)                                                           \
  C(T, address, ID, "virtual address that moves and faults tell", .key = true, .order = 4)                     \
  C(T, migrated_bytes, LESS(BYTES), "moved either way", .sum = true, .order = -1)                              \
  C(T, migration_count, COUNT, "moves", .sum = true)                                                           \
  C(T, to_gpu_bytes, BYTES, "of migrated_bytes: from the host to a GPU", .sum = true)                          \
  C(T, to_host_bytes, BYTES, "of migrated_bytes: from a GPU to the host", .sum = true)                         \
  C(T, migration_ns, LESS(TIME), "summed durations of the moves", .sum = true)                                 \
  C(T, gb_per_s, GB_PER_S, "migrated_bytes over migration_ns")                                                 \
  C(T, gpu_faults, LESS(COUNT), "page faults of GPUs; NULL without page-fault rows", .sum = true, .order = -2) \
  C(T, cpu_faults, LESS(COUNT), "page faults of CPUs", .sum = true)                                            \
  C(T, first_start_ns, START, "first move or fault")                                                           \
  C(T, last_end_ns, END, "last one")
NAI_TABLE(UM_ADDRESSES, um_addresses, "Unified memory by address",
          "One address of unified memory: the 1,000 with most bytes, then faults",
          "which allocation it is part of; moves whose address the export lacks")
