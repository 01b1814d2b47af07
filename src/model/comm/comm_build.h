/* How the part COMM is built, in this order. Internal to src/model. */
#pragma once

#include "model/build.h"
#include "model/comm/comm.h"

/* A range of NCCL's on a thread. */
enum nai_comm_call_kind {
  NAI_COMM_COLLECTIVE,
  NAI_COMM_GROUP_START,
  NAI_COMM_GROUP_END,
  NAI_COMM_INIT,
  NAI_COMM_ADVANCED /* of nsys -t nccl */
};
struct nai_comm_call {
  int64_t start, end;
  const char *op; /* of a collective */
  uint8_t kind;
  struct nai_payload payload;
  uint32_t in_group; /* of the end of a group: its collectives lie among so many calls in front of it */
  uint32_t kernels;  /* launched inside */
  const char *redop;
  int64_t category;           /* nsys -t nccl: of NVTX, that of its communicator; none is below 1 */
  struct nai_interval on_gpu; /* nsys -t nccl: on all channels of the GPU; empty unknown */
  uint32_t channels;
};
/* Those of a thread, in order; they do not overlap. */
struct nai_comm_calls {
  struct nai_comm_call *v;
  uint32_t count, capacity;
};

/* The calls of NCCL, and what their payloads say; of them inits stay. */
NAI_MUST_CHECK int nai_comm_read_calls(struct nai_model *model, struct nai_err *err);
/* What each kernel was asked to do, by the call that issued it. */
NAI_MUST_CHECK int nai_comm_attribute(struct nai_model *model, struct nai_err *err);
/* The number of each process in its communicators, and of how many, by their initialisations. */
struct nai_comm_selves {
  struct nai_keyset comms, pairs; /* ids; process << 32 | number of the id */
  int64_t *ranks;                 /* by pair */
  int64_t *sizes, *parents;       /* by id; 0 where none tells */
};
NAI_MUST_CHECK int nai_comm_selves(struct nai_comm_selves *selves, const struct nai_comm *comm, struct nai_arena *arena,
                                   struct nai_err *err);
/* NAI_COMM_UNKNOWN where no initialisation tells, or the process has several. */
int64_t nai_comm_self(const struct nai_comm_selves *selves, int32_t process, int64_t comm);
/* Ranks of a communicator; 0 where no initialisation tells. */
int64_t nai_comm_size(const struct nai_comm_selves *selves, int64_t comm);
/* What it was split from; 0 for none, or unknown. */
int64_t nai_comm_parent(const struct nai_comm_selves *selves, int64_t comm);
/* Adds the messages behind a kernel, of the calls first to last that count, to nai_comm.peers: sends, receives, and
 * what ncclAlltoAll sends each rank to each other one, where both the own rank and their number are known. */
struct nai_comm_traffic {
  struct nai_keyset comms, places, peers; /* ids; rank << 32 | number of the id; number of the place << 32 | peer */
};
NAI_MUST_CHECK int nai_comm_add_traffic(struct nai_comm_traffic *traffic, struct nai_model *model,
                                        const struct nai_comm_selves *selves, const struct nai_comm_item *item,
                                        const struct nai_comm_call *first, const struct nai_comm_call *last,
                                        struct nai_err *err);
/* Sorts the kernels into lines, matches those of different GPUs, and splits what their kernels took. */
NAI_MUST_CHECK int nai_comm_match(struct nai_model *model, struct nai_err *err);
/* exposed, charged, active_charged of all items. */
NAI_MUST_CHECK int nai_comm_expose(struct nai_model *model, struct nai_err *err);

/* Lines of different GPUs laid over the first of them: partners[k * stride + i] = item of line i that belongs to the
 * k-th of the first one, NAI_NO_ROW for none. */
struct nai_comm_cluster {
  struct nai_comm *comm;
  struct nai_comm_line **lines;
  uint32_t count, stride, rows;
  uint32_t *partners;
};
/* Whether the kernels in column `line` of partners end together with the first line's; by how much its clock is ahead
 * (correction), and the median absolute deviation of that (mad), go to *to. */
NAI_MUST_CHECK int nai_comm_clock(bool *together, struct nai_comm_line *to, const struct nai_comm_cluster *cluster,
                                  uint32_t line, struct nai_err *err);
/* One communicator, whose lines are known to belong together: makes sets and splits what their kernels took. */
void nai_comm_split(struct nai_comm_cluster *cluster);

/* Shares exposed time among the kernels that run at each instant, so that shares add up to it: shares[i] of item
 * first + i, of the items of one GPU in start order. */
NAI_MUST_CHECK int nai_comm_charge(int64_t *shares, const struct nai_comm_item *items, uint32_t count,
                                   const struct nai_intervals *exposed, struct nai_arena *arena, struct nai_err *err);
