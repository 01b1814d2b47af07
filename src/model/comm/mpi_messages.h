/* Point-to-point messages of MPI. Sends and receives of one communicator, source, destination and tag are matched in
 * their order, which MPI keeps. What may take another order takes its process out of the communicator. */
#pragma once

#include "base/keyset.h"
#include "model/model.h"
#include "table/intervals.h"

struct nai_mpi_message {
  int64_t communicator, tag, source, destination; /* world ranks; the other side's once they are matched */
  bool receives, blocks;
  int64_t start, end, request;
};

struct nai_mpi_collective {
  int64_t communicator, rank, root, start, end;
  int kind;
  int64_t transfer, caused; /* the shortest of its set, NAI_NULL_I64 unmatched; what others wait where it is late */
};

/* Of one capture, or of several: a caller moves their times onto one clock before they are matched. */
struct nai_mpi_messages {
  struct nai_arena *arena;
  struct nai_mpi_message *messages; /* by source, destination once they are matched */
  struct nai_mpi_wait {
    int64_t rank, request, start, end;
  } * waits;
  struct nai_mpi_member {
    int64_t communicator, local, world;
  } * members;
  struct nai_mpi_collective *collectives; /* by rank and function once they are matched */
  uint32_t message_count, message_capacity, wait_count, wait_capacity, member_count, member_capacity;
  uint32_t collective_count, collective_capacity;
  struct nai_keyset untold; /* who sends or receives in a communicator what does not match by order */
};
/* Adds those of processes whose world rank rank_of tells, NAI_NULL_I64 unknown. No rank stands for two processes. */
NAI_MUST_CHECK int nai_mpi_add_messages(struct nai_mpi_messages *all, const struct nai_model *m, const int64_t *rank_of,
                                        struct nai_err *err);
void nai_mpi_match_messages(struct nai_mpi_messages *all);

/* Matched messages of one process to another. */
struct nai_mpi_pair {
  int64_t count, late_send_count, late_send_ns, late_receive_count, late_receive_ns;
  struct nai_interval longest; /* wait for a send, until that; empty for none */
  struct nai_intervals late;   /* all of them; the arena's */
};
/* Behind the last message of the source and destination of the first. */
uint32_t nai_mpi_pair_end(const struct nai_mpi_messages *all, uint32_t first);
/* Nothing is late by no more than the clocks are in doubt. */
NAI_MUST_CHECK int nai_mpi_sum_pair(struct nai_mpi_pair *pair, const struct nai_mpi_messages *all, uint32_t first,
                                    uint32_t end, int64_t doubt_ns, struct nai_err *err);

/* The k-th collectives of all ranks of a communicator are one, as MPI demands; where they differ in function or root,
 * matching ends. Their lengths alone tell who waits: no clock is needed. */
struct MPI_EVENTS_row;
NAI_MUST_CHECK int nai_mpi_add_collective(struct nai_mpi_messages *all, const struct MPI_EVENTS_row *row, int64_t world,
                                          int64_t communicator, struct nai_err *err);
NAI_MUST_CHECK int nai_mpi_match_collectives(struct nai_mpi_messages *all, struct nai_err *err);
/* Those of one function on one rank. */
struct nai_mpi_collectives {
  const char *function; /* NULL: calls without an end */
  bool waits;           /* nobody leaves before all are in: what is longer than the shortest is waiting */
  int64_t count, transfer_ns, wait_ns, late_count, caused_ns; /* of those matched */
  struct nai_interval longest;                                /* wait */
  struct nai_intervals waiting;                               /* the arena's */
};
/* Behind the last collective of the rank and function of the first. */
uint32_t nai_mpi_collective_end(const struct nai_mpi_messages *all, uint32_t first);
NAI_MUST_CHECK int nai_mpi_sum_collectives(struct nai_mpi_collectives *sum, const struct nai_mpi_messages *all,
                                           uint32_t first, uint32_t end, struct nai_err *err);
