/* Collectives with known answers: what each rank waited for and what was transferred, booked as planned. */
#pragma once

#include "gen/plan.h"

/* How a payload's header is written: four words of 64 bits, the last of which says where the payload begins; or two
 * pairs of 32 bits, the size, and the size of all. */
enum nai_gen_header { NAI_GEN_HEADER_OFFSET, NAI_GEN_HEADER_TOTAL };

/* What NCCL's ranges carry, by the last part of the schema id. */
enum nai_gen_nccl_schema {
  NAI_GEN_NCCL_ALL_GATHER = 4,
  NAI_GEN_NCCL_ALL_REDUCE = 5,
  NAI_GEN_NCCL_SEND = 9,
  NAI_GEN_NCCL_RECV = 10,
  NAI_GEN_NCCL_INIT = 11
};
struct nai_gen_payload {
  enum nai_gen_nccl_schema schema;
  enum nai_gen_header header;
  uint64_t communicator;
  int64_t bytes;           /* of a message */
  int number;              /* reduction or peer */
  int ranks, rank, device; /* NAI_GEN_NCCL_INIT */
  int cut;                 /* bytes missing at the end */
};
/* Writes the schemas of NCCL's payloads, once per process as exports do. */
void nai_gen_nccl_schemas(struct nai_gen_plan *plan, int domain, int processes);
/* Attaches a payload to the innermost open range of the thread. */
void nai_gen_attach(struct nai_gen_plan *plan, int thread, int domain, const struct nai_gen_payload *payload);

/* The same of JSON. */
void nai_gen_attach_json(struct nai_gen_plan *plan, int thread, int category, const char *json);

enum { NAI_GEN_MOST_RANKS = 8 };
struct nai_gen_collective {
  const char *op; /* as a report calls it; a literal */
  int kernel, ranks;
  int thread[NAI_GEN_MOST_RANKS], stream[NAI_GEN_MOST_RANKS];
  int64_t start[NAI_GEN_MOST_RANKS]; /* when each rank comes, on the clock that all share */
  int64_t shift[NAI_GEN_MOST_RANKS]; /* by how much the rank's GPU is ahead of that clock in the trace */
  int64_t end;                       /* of all */
  int64_t bytes;                     /* message size that a report must find */
  int graph_id;                      /* its kernel is the only node of this CUDA graph; 0: launched by itself */
};
/* Launches rank `rank`'s kernel of a collective now, and books what it waited and transferred. */
void nai_gen_join_collective(struct nai_gen_plan *plan, const struct nai_gen_collective *collective, int rank);
