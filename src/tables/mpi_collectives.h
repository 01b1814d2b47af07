#pragma once
#include "tables/declare.h"

#define MPI_COLLECTIVES_COLUMNS(C, T)                                                                               \
  C(T, pid, PID, "process", .key = true, .order = 3)                                                                \
  C(T, rank, ID32, "its rank")                                                                                      \
  C(T, function, NAME, "MPI function", .key = true, .order = 4)                                                     \
  C(T, call_count, COUNT, "calls matched with those of the other processes", .sum = true)                           \
  C(T, transfer_ns, TIME, "of each the shortest call of all processes, which waits for nobody", .sum = true)        \
  C(T, wait_ns, LESS(TIME), "the rest; NULL where a process may leave before all are in", .sum = true, .order = -2) \
  C(T, wait_idle_ns, LESS(TIME),                                                                                    \
    "of it, from the start of the call on, in which no GPU of the process does anything; NULL without a GPU",       \
    .order = -1)                                                                                                    \
  C(T, late_count, COUNT, "calls to which this process arrived last, by 2 us and 2 % of the transfer", .sum = true) \
  C(T, caused_wait_ns, LESS(TIME), "what the others waited in these", .sum = true)                                  \
  C(T, longest_start_ns, START, "start of the longest wait")                                                        \
  C(T, longest_end_ns, END, "end of it")
NAI_TABLE(
    MPI_COLLECTIVES, mpi_collectives, "MPI collectives",
    "Calls of one function in one process, where a capture has those of the others",
    "processes that are not in the capture, which may be what the others wait for; nonblocking collectives; what a "
    "function that lets a process leave early waits for. Built after NVIDIA's description: verified on generated "
    "exports only")
