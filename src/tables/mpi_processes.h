#pragma once
#include "tables/declare.h"

#define MPI_PROCESSES_COLUMNS(C, T)                                                                                  \
  C(T, pid, PID, "process", .key = true, .order = 2)                                                                 \
  C(T, rank, ID32, "its MPI rank; NULL unknown", .order = 1)                                                         \
  C(T, device_id, DEVICE, "its GPU; NULL without one, or with several")                                              \
  C(T, call_count, COUNT, "MPI calls", .sum = true)                                                                  \
  C(T, span_ns, TIME, "from the end of MPI_Init to MPI_Finalize; else from the first to the last call")              \
  C(T, mpi_ns, LESS(TIME), "part of it in MPI, on any thread", .sum = true)                                          \
  C(T, mpi_pct, LESS(PCT), "that, of the span")                                                                      \
  C(T, useful_ns, TIME, "the rest of the span; waiting for the own GPU counts as useful", .sum = true)               \
  C(T, exposed_ns, LESS(TIME),                                                                                       \
    "active time of its GPUs in which it is in MPI and none of them does anything; NULL without a GPU", .sum = true) \
  C(T, exposed_pct, LESS(PCT), "that, of the active time of its GPUs")                                               \
  C(T, gpu_busy_ns, TIME, "its GPUs at work within the span; NULL without a GPU, or where others use it, too")       \
  C(T, longest_start_ns, START, "start of its longest call")                                                         \
  C(T, longest_end_ns, END, "end of its longest call")
NAI_TABLE(MPI_PROCESSES, mpi_processes, "MPI by process", "One process that calls MPI",
          "whether a call waited or transferred, and for whom. Built after NVIDIA's description: verified on generated "
          "exports only")
