/* What stretches of a thread's launching calls did on GPUs, where so many stretches overlap that summing up each of
 * them would take too long: calls are added from the last one to the first, O(log n) each, as is a question. */
#pragma once

#include "model/nvtx/projection.h"

/* A call that launched operations. */
struct nai_launch {
  int64_t start, end;
  uint32_t api;
};
struct nai_launched_op {
  uint32_t gpu, op;
};

/* The launching calls of a thread by start. Those of the i-th are ops[first_op[api]] .. ops[first_op[api + 1] - 1], by
 * GPU. */
struct nai_launches {
  const struct nai_model *m;
  const uint32_t *first_op;
  const struct nai_launched_op *ops;
  struct nai_launch *at;
  uint32_t count, capacity;
};

struct nai_projection_sweep;
NAI_MUST_CHECK int nai_projection_sweep_open(struct nai_projection_sweep **out, const struct nai_launches *launches,
                                             struct nai_arena *arena, struct nai_err *err);
/* Calls from number `first` on that end by `end`: a part for each GPU in the order of their first calls, without
 * `busy_ns`, and, in parts[count], what they launched on all GPUs together, of which only `launches` and `own_ns` are
 * said, where count > 1. `call` is a number of `launches`. `first` never ascends from question to question. */
uint32_t nai_projection_sweep_ask(struct nai_projection_sweep *sweep, uint32_t first, int64_t end,
                                  struct nai_projection *parts);

/* A sum to which operations and other sums can be added. */
#define NAI_NO_PROJECTION \
  ((struct nai_projection){.call = NAI_NO_ROW, .gpu = NAI_NO_ROW, .start = INT64_MAX, .end = INT64_MIN})
static inline void nai_projection_add(struct nai_projection *sum, const struct nai_projection *other) {
  sum->call = other->call < sum->call ? other->call : sum->call;
  sum->start = other->start < sum->start ? other->start : sum->start;
  sum->end = other->end > sum->end ? other->end : sum->end;
  sum->own_ns += other->own_ns;
  sum->kernel_ns += other->kernel_ns;
  sum->graph_ns += other->graph_ns;
  sum->copy_ns += other->copy_ns;
  sum->comm_ns += other->comm_ns;
  sum->ops += other->ops;
  sum->launches += other->launches;
  sum->streams += other->streams;
}
static inline void nai_projection_add_time(struct nai_projection *sum, const struct nai_op *op, int64_t ns) {
  sum->kernel_ns += op->type == NAI_OP_KERNEL ? ns : 0;
  sum->comm_ns += op->type == NAI_OP_KERNEL && op->communication ? ns : 0;
  sum->graph_ns += op->type == NAI_OP_GRAPH ? ns : 0;
  sum->copy_ns += op->type == NAI_OP_COPY || op->type == NAI_OP_SET ? ns : 0;
}
