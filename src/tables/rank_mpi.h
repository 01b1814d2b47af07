#pragma once
#include "tables/declare.h"

#define RANK_MPI_COLUMNS(C, T)                                                                              \
  C(T, rank, NAME, "rank", .key = true, .order = 3)                                                         \
  C(T, class, LABEL, "as in mpi_calls", .key = true, .order = 4)                                            \
  C(T, function, NAME, "MPI function", .key = true, .order = 5)                                             \
  C(T, call_count, COUNT, "calls")                                                                          \
  C(T, total_ns, NS, "summed durations", .order = -2)                                                       \
  C(T, exposed_ns, NS, "active time in which such a call runs and its GPUs do nothing; NULL without a GPU", \
    .order = -1)                                                                                            \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                                         \
  C(T, max_ns, NS, "longest duration")                                                                      \
  C(T, sent_bytes, BYTES, "message sizes, of collectives what is sent; NULL where no call tells")
NAI_TABLE(RANK_MPI, rank_mpi, "MPI by rank", "One MPI function on one rank",
          "whether a call waited or transferred, and for whom. Verified on generated exports only")
