#pragma once
#include "tables/declare.h"

#define RANK_MPI_SIZES_COLUMNS(C, T)                                    \
  C(T, rank, NAME, "rank", .key = true)                                 \
  C(T, class, LABEL, "as in mpi_calls", .key = true)                    \
  C(T, from_bytes, BYTES, "messages of this size or more", .key = true) \
  C(T, below_bytes, BYTES, "and below that; NULL: no limit")            \
  C(T, call_count, COUNT, "calls")                                      \
  C(T, sent_bytes, BYTES, "message sizes")                              \
  C(T, total_ns, NS, "summed durations")
NAI_TABLE(RANK_MPI_SIZES, rank_mpi_sizes, "MPI message sizes by rank",
          "MPI calls of one rank and kind with messages of similar size")
