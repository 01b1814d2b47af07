#pragma once
#include "tables/declare.h"

#define MPI_EFFICIENCY_COLUMNS(C, T)                                                                    \
  C(T, process_count, COUNT, "processes that call MPI", .key = true)                                    \
  C(T, span_ns, TIME, "the longest span of a process")                                                  \
  C(T, mean_useful_ns, TIME, "mean time outside of MPI")                                                \
  C(T, max_useful_ns, TIME, "longest time outside of MPI")                                              \
  C(T, max_useful_pid, PID, "process that it is of")                                                    \
  C(T, max_useful_rank, ID32, "its rank; NULL unknown")                                                 \
  C(T, load_balance_pct, MORE(PCT), "mean of max_useful_ns")                                            \
  C(T, communication_efficiency_pct, MORE(PCT), "max_useful_ns, of the span")                           \
  C(T, parallel_efficiency_pct, MORE(PCT), "product of the two: mean time outside of MPI, of the span") \
  C(T, gpu_load_balance_pct, MORE(PCT),                                                                 \
    "mean of the longest busy time of a process's GPUs; NULL where one is unknown")                     \
  C(T, gpu_busy_pct, MORE(PCT), "mean busy time, of the span; NULL where one is unknown")
NAI_TABLE(MPI_EFFICIENCY, mpi_efficiency, "MPI efficiencies", "All processes that call MPI",
          "transfer and serialization efficiency, which take a simulated network; ranks that were not captured. "
          "Built after NVIDIA's description: verified on generated exports only")
