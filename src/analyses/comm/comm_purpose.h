/* What a communicator is for. Internal to src/analyses/comm. */
#pragma once

#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/comm/comm.h"

struct nai_comm_purpose {
  const char *name;                            /* that the program gave it, NULL unknown */
  const char *purpose, *confidence, *evidence; /* purpose, evidence NULL: unknown */
};
/* Of kernels of one communicator on one GPU, by stream, with its members as the table has them. Texts are the arena's,
 * whose `oom` tells. */
void nai_comm_purpose_of(struct nai_comm_purpose *out, const struct nai_model *m, const uint32_t *items, uint32_t count,
                         const char *members, struct nai_arena *arena);
/* "nccl:all_to_all": what PyTorch calls the operation, NULL unknown. The arena's, too. */
const char *nai_comm_framework_op(const struct nai_model *m, const struct nai_comm_item *item, struct nai_arena *arena);
