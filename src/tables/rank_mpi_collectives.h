#pragma once
#include "tables/declare.h"

#define RANK_MPI_COLLECTIVES_COLUMNS(C, T)                                                                    \
  C(T, rank, NAME, "rank", .key = true, .order = 3)                                                           \
  C(T, function, NAME, "MPI function", .key = true, .order = 4)                                               \
  C(T, call_count, COUNT, "calls matched with those of the other ranks")                                      \
  C(T, transfer_ns, NS, "of each the shortest call of all ranks, which waits for nobody")                     \
  C(T, wait_ns, NS, "the rest; NULL where a rank may leave before all are in", .order = -2)                   \
  C(T, wait_idle_ns, NS, "of it, in which no GPU of the rank does anything; NULL without a GPU", .order = -1) \
  C(T, late_count, COUNT, "calls to which this rank was the last, by 2 us and 2 % of the transfer")           \
  C(T, caused_wait_ns, NS, "what the others waited in these")                                                 \
  C(T, longest_ns, NS, "the longest wait")
NAI_TABLE(
    RANK_MPI_COLLECTIVES, rank_mpi_collectives, "MPI collectives", "Calls of one MPI function on one rank",
    "ranks that are not given, which may be what the others wait for; nonblocking collectives; what a function that "
    "lets a rank leave early waits for. Verified on generated exports only")
