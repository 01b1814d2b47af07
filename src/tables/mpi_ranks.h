#pragma once
#include "tables/declare.h"

#define MPI_RANKS_COLUMNS(C, T)                                             \
  C(T, thread, THREAD, "row of table threads, -1 when it is none of those") \
  C(T, global_tid, ID, "serialized thread id of the export")                \
  C(T, rank, ID32, "MPI rank")
NAI_TABLE(MPI_RANKS, mpi_ranks, "MPI ranks", "One thread that called MPI")
