#pragma once
#include "tables/declare.h"

#define MPI_SIZES_COLUMNS(C, T)                                                     \
  C(T, pid, PID, "process", .key = true, .order = 1)                                \
  C(T, class, LABEL, "as in mpi_calls", .key = true, .order = 2)                    \
  C(T, from_bytes, BYTES, "messages of this size or more", .key = true, .order = 3) \
  C(T, below_bytes, BYTES, "and below that; NULL: no limit")                        \
  C(T, call_count, COUNT, "calls", .sum = true)                                     \
  C(T, sent_bytes, BYTES, "message sizes", .sum = true)                             \
  C(T, total_time_ns, LESS(NS_MS), "summed durations", .sum = true)
NAI_TABLE(MPI_SIZES, mpi_sizes, "MPI message sizes", "MPI calls of one kind with messages of similar size",
          "sizes of waits, which the calls that posted them tell")
