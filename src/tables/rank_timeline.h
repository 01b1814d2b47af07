#pragma once
#include "tables/declare.h"

#define RANK_TIMELINE_COLUMNS(C, T)                                                                           \
  C(T, rank, NAME, "rank", .key = true)                                                                       \
  C(T, bin, ID, "120 of equal length for all ranks, from 0", .key = true)                                     \
  C(T, start_ns, NS, "when it begins, since the first operation of any rank's GPU, by the clock of one rank") \
  C(T, compute_ns, NS, "in which the rank's GPU computes")                                                    \
  C(T, wait_ns, NS, "else waits for other ranks in matched collectives")                                      \
  C(T, transfer_ns, NS, "else communicates: transfers, and what was not matched, which may wait")             \
  C(T, copy_ns, NS, "else copies or sets memory")                                                             \
  C(T, mpi_ns, NS, "else idles while a process that uses it is in an MPI call")                               \
  C(T, idle_ns, NS, "else idles, from its first to its last operation")
NAI_TABLE(RANK_TIMELINE, rank_timeline, "Ranks over time", "What the GPU of one rank did in one stretch of time")
