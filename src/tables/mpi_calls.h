#pragma once
#include "tables/declare.h"

#define MPI_CALLS_COLUMNS(C, T)                                                                                       \
  C(T, pid, PID, "process", .key = true, .order = 4)                                                                  \
  C(T, rank, ID32, "its MPI rank; NULL unknown")                                                                      \
  C(T, device_id, DEVICE, "its GPU; NULL without one, or with several")                                               \
  C(T, class, LABEL,                                                                                                  \
    "setup, wait, p2p, post (nonblocking or persistent), collective, icollective, sync, rma, file, pack or other",    \
    .key = true, .order = 5)                                                                                          \
  C(T, function, NAME, "MPI function", .key = true, .order = 3)                                                       \
  C(T, call_count, COUNT, "calls", .sum = true)                                                                       \
  C(T, row_count, COUNT, "rows of the export: a wait has one per request", .sum = true)                               \
  C(T, open_count, COUNT, "calls without an end in the export; they count as 0 ns", .sum = true)                      \
  C(T, total_time_ns, LESS(NS_MS), "summed durations", .sum = true, .order = -2)                                      \
  C(T, exposed_ns, LESS(NS_MS),                                                                                       \
    "active time in which such a call runs and no GPU of the process does anything; NULL without a GPU", .order = -1) \
  C(T, exposed_pct, LESS(PCT), "that, of the active time of the process's GPUs")                                      \
  C(T, p50_duration_ns, AVERAGE, "median duration")                                                                   \
  C(T, max_duration_ns, LENGTH, "longest duration")                                                                   \
  C(T, sent_bytes, BYTES, "message sizes, of collectives what is sent; NULL where no call tells", .sum = true)        \
  C(T, received_bytes, BYTES, "of collectives what is received; NULL where no call tells", .sum = true)               \
  C(T, staged_bytes, BYTES, "copied between host and GPU by CUDA calls inside these calls, on their threads",         \
    .sum = true)                                                                                                      \
  C(T, staged_exposed_ns, LESS(NS_MS), "their share of exposed memory copies", .sum = true)                           \
  C(T, longest_start_ns, START, "start of the longest call")                                                          \
  C(T, longest_end_ns, END, "end of the longest call")
NAI_TABLE(
    MPI_CALLS, mpi_calls, "MPI calls", "One MPI function in one process",
    "whether a call waited or transferred, and for whom: that takes all ranks; traffic of GPUs that MPI starts by "
    "itself. Built after NVIDIA's description: verified on generated exports only",
    .csv = true)
