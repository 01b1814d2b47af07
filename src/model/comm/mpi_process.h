/* Processes that call MPI: their ranks, and how efficient all of them are. */
#pragma once

#include "model/model.h"

/* Its rank in MPI_COMM_WORLD; NAI_NULL_I64 where its threads are told several, or none. */
int64_t nai_mpi_rank_of(const struct nai_model *m, int32_t process);

/* What MPI takes of a process. */
struct nai_mpi_process {
  int64_t pid, rank, span_ns, useful_ns, gpu_busy_ns; /* NAI_NULL_I64 unknown */
};
/* A rank that several have becomes unknown. */
void nai_mpi_drop_twice(int64_t *ranks, uint32_t n);
/* The row of mpi_efficiency; none for one process. */
void nai_mpi_put_efficiency(struct nai_table *out, const struct nai_mpi_process *v, uint32_t n);
