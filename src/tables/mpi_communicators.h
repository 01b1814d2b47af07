#pragma once
#include "tables/declare.h"

#define MPI_COMMUNICATORS_COLUMNS(C, T)                                                  \
  C(T, rank, ID32, "MPI rank of the process that has it")                                \
  C(T, communicator, ID, "handle within that process")                                   \
  C(T, communicator_uid, ID, "number that is the same in all processes")                 \
  C(T, local_rank, ID32, "rank of the process in it: what calls name the other side by") \
  C(T, member_count, CELL(I32, COUNT), "how many ranks are in it")
NAI_TABLE(MPI_COMMUNICATORS, mpi_communicators, "MPI communicators", "One communicator as one rank has it")
