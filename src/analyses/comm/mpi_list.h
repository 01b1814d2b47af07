/* MPI calls as the tables about MPI count them. Internal to src/analyses/comm. */
#pragma once

#include "analyses/analysis.h"
#include "model/comm/mpi_process.h"
#include "model/idle/process_gpu.h"
#include "tables/mpi_events.h"

enum nai_mpi_class {
  NAI_MPI_CLASS_SETUP,
  NAI_MPI_CLASS_WAIT,
  NAI_MPI_CLASS_P2P,
  NAI_MPI_CLASS_POST,
  NAI_MPI_CLASS_COLLECTIVE,
  NAI_MPI_CLASS_ICOLLECTIVE,
  NAI_MPI_CLASS_SYNC,
  NAI_MPI_CLASS_RMA,
  NAI_MPI_CLASS_FILES,
  NAI_MPI_CLASS_PACK,
  NAI_MPI_CLASS_OTHER,
  NAI_MPI_CLASSES
};

struct nai_mpi_call {
  int32_t process, thread;
  uint32_t name;                         /* string of mpi_events */
  int64_t start, end, sent, received;    /* NAI_NULL_I64 unknown */
  int64_t rows, staged_bytes, staged_ns; /* copies inside of it: bytes, and exposed time */
  bool open;
};

enum nai_mpi_class nai_mpi_class_of(const char *name);
/* Of known processes, in the node's arena: by process, name, start. */
NAI_MUST_CHECK int nai_mpi_collect(struct nai_mpi_call **calls, uint32_t *count, const struct nai_node_io *io,
                                   struct nai_err *err);

/* Puts a row of mpi_processes, the node's third table. `v`: the calls of one process. */
NAI_MUST_CHECK int nai_mpi_sum_process(struct nai_mpi_process *out, const struct nai_node_io *io,
                                       const struct nai_mpi_call *v, uint32_t n, int64_t rank,
                                       const struct nai_process_gpu *gpu, struct nai_err *err);
/* Puts the rows of mpi_pairs and mpi_collectives, the fifth and sixth. `rank_of`: of each process, NAI_NULL_I64
 * unknown; lost. */
NAI_MUST_CHECK int nai_mpi_put_pairs(const struct nai_node_io *io, int64_t *rank_of, struct nai_err *err);
