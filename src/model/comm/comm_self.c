/* The number that a process has in a communicator, as its initialisation says. */
#include "model/comm/comm_build.h"

enum { SEVERAL = -2 }; /* a process with more than one GPU in it: nothing tells which is whose */

struct capacity {
  uint32_t ranks, sizes, parents;
};

static int add_init(struct nai_comm_selves *selves, struct capacity *capacity, const struct nai_comm_init *init,
                    struct nai_arena *arena, struct nai_err *err) {
  const struct nai_payload *p = &init->payload;
  bool added;
  if (!nai_payload_has(p, NAI_PAYLOAD_COMM))
    return NAI_OK;
  uint32_t comm = nai_keyset_add(&selves->comms, p->value[NAI_PAYLOAD_COMM], &added);
  NAI_TRY(NAI_ROOM(selves->sizes, capacity->sizes, comm, arena, err));
  NAI_TRY(NAI_ROOM(selves->parents, capacity->parents, comm, arena, err));
  if (added)
    selves->sizes[comm] = selves->parents[comm] = 0;
  if (nai_payload_has(p, NAI_PAYLOAD_PARENT))
    selves->parents[comm] = p->value[NAI_PAYLOAD_PARENT];
  if (nai_payload_has(p, NAI_PAYLOAD_RANKS) && p->value[NAI_PAYLOAD_RANKS] > 0)
    selves->sizes[comm] = p->value[NAI_PAYLOAD_RANKS];
  if (!nai_payload_has(p, NAI_PAYLOAD_RANK))
    return NAI_OK;
  uint32_t at = nai_keyset_add(&selves->pairs, nai_key_pair(init->process, comm), &added);
  NAI_TRY(NAI_ROOM(selves->ranks, capacity->ranks, at, arena, err));
  if (added)
    selves->ranks[at] = p->value[NAI_PAYLOAD_RANK];
  else if (selves->ranks[at] != p->value[NAI_PAYLOAD_RANK])
    selves->ranks[at] = SEVERAL;
  return NAI_OK;
}

int nai_comm_selves(struct nai_comm_selves *selves, const struct nai_comm *comm, struct nai_arena *arena,
                    struct nai_err *err) {
  struct capacity capacity = {0};
  *selves = (struct nai_comm_selves){.comms = {.arena = arena}, .pairs = {.arena = arena}};
  for (uint32_t i = 0; i < comm->init_count; i++)
    NAI_TRY(add_init(selves, &capacity, &comm->inits[i], arena, err));
  return selves->comms.oom || selves->pairs.oom ? nai_err_nomem(err) : NAI_OK;
}

int64_t nai_comm_size(const struct nai_comm_selves *selves, int64_t comm) {
  uint32_t known = nai_keyset_find(&selves->comms, comm);
  return known == UINT32_MAX ? 0 : selves->sizes[known];
}

int64_t nai_comm_parent(const struct nai_comm_selves *selves, int64_t comm) {
  uint32_t known = nai_keyset_find(&selves->comms, comm);
  return known == UINT32_MAX ? 0 : selves->parents[known];
}

int64_t nai_comm_self(const struct nai_comm_selves *selves, int32_t process, int64_t comm) {
  uint32_t known = nai_keyset_find(&selves->comms, comm);
  uint32_t at = known == UINT32_MAX ? known : nai_keyset_find(&selves->pairs, nai_key_pair(process, known));
  return at == UINT32_MAX || selves->ranks[at] < 0 ? NAI_COMM_UNKNOWN : selves->ranks[at];
}
