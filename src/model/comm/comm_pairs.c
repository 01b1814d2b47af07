/* Sends and receives between two ranks of a larger communicator: whose kernels belong together is told by the peers in
 * NCCL's payloads, as far as both sides' own ranks are known. */
#include "model/comm/comm_build.h"

enum { MAX_RANKS = 1 << 24, SEVERAL = -1 };

/* The rank of each process in each communicator, from initialisations; SEVERAL where a process has more than one. */
struct own_ranks {
  struct nai_keyset comms, keys; /* keys: process and number of the communicator */
  int64_t *rank;                 /* by key */
  uint32_t capacity;
};

static int take_init(struct own_ranks *own, const struct nai_comm_init *init, struct nai_arena *arena,
                     struct nai_err *err) {
  const struct nai_payload *p = &init->payload;
  bool added;
  uint32_t comm = nai_keyset_add(&own->comms, p->value[NAI_PAYLOAD_COMM], &added);
  uint32_t at = nai_keyset_add(&own->keys, nai_key_pair(init->process, comm), &added);
  NAI_TRY(nai_memory_check(!own->comms.oom && !own->keys.oom, err));
  NAI_TRY(NAI_ROOM(own->rank, own->capacity, at, arena, err));
  int64_t rank = p->value[NAI_PAYLOAD_RANK];
  own->rank[at] = added || own->rank[at] == rank ? rank : SEVERAL;
  return NAI_OK;
}

static int find_own_ranks(struct own_ranks *own, const struct nai_comm *c, struct nai_arena *arena,
                          struct nai_err *err) {
  for (uint32_t i = 0; i < c->init_count; i++) {
    const struct nai_comm_init *init = &c->inits[i];
    if (init->process >= 0 && nai_payload_has(&init->payload, NAI_PAYLOAD_COMM) &&
        nai_payload_has(&init->payload, NAI_PAYLOAD_RANK))
      NAI_TRY(take_init(own, init, arena, err));
  }
  return NAI_OK;
}

static int64_t own_rank(const struct own_ranks *own, int32_t process, int64_t comm) {
  uint32_t at = nai_keyset_find(&own->comms, comm);
  at = at == UINT32_MAX ? at : nai_keyset_find(&own->keys, nai_key_pair(process, at));
  return at == UINT32_MAX ? SEVERAL : own->rank[at];
}

/* Of two ranks the same number whoever asks. */
static int64_t pair_of(int64_t a, int64_t b) {
  bool possible = a >= 0 && b >= 0 && a != b && a < MAX_RANKS && b < MAX_RANKS;
  return !possible ? 0 : a < b ? (a << 24 | b) + 1 : (b << 24 | a) + 1;
}

static bool has_peer(const struct nai_comm_item *item) {
  return item->known_comm && item->ranks > 2 && item->peer >= 0;
}

int nai_comm_pairs(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *work = &m->work->arenas[NAI_PART_COMM];
  struct own_ranks own = {.comms.arena = work, .keys.arena = work};
  struct nai_comm *c = m->comm;
  bool any = false;
  for (uint32_t i = 0; i < c->count; i++)
    any |= has_peer(&c->items[i]);
  if (!any)
    return NAI_OK;
  NAI_TRY(find_own_ranks(&own, c, work, err));
  for (uint32_t i = 0; i < c->count; i++) {
    struct nai_comm_item *item = &c->items[i];
    if (has_peer(item))
      item->pair = pair_of(own_rank(&own, c->ranks[item->rank].process, item->comm), item->peer);
  }
  return NAI_OK;
}
