/* Sends and receives between two ranks of a larger communicator: whose kernels belong together is told by the peers in
 * NCCL's payloads, as far as both sides' own ranks are known. */
#include "analyses/comm/comm.h"

#include "base/array.h"
#include "base/keyset.h"

#include <stdlib.h>

enum { MAX_RANKS = 1 << 24, SEVERAL = -1 };

/* The rank of each process in each communicator, from initialisations; SEVERAL where a process has more than one. */
struct own_ranks {
  struct nai_keyset comms, keys; /* keys: process and number of the communicator */
  int64_t *rank;                 /* by key */
  uint32_t capacity;
};

static int64_t key_of(int32_t process, uint32_t comm) { return nai_key_pair(process, comm); }

static int take_init(struct own_ranks *own, int32_t process, const struct nai_payload *p, struct nai_err *err) {
  bool added;
  uint32_t comm = nai_keyset_add(&own->comms, p->value[NAI_PAYLOAD_COMM], &added);
  uint32_t at = nai_keyset_add(&own->keys, key_of(process, comm), &added);
  if (own->comms.oom || own->keys.oom ||
      (at == own->capacity && !nai_array_room(&own->rank, &own->capacity, at, sizeof *own->rank)))
    return nai_err_nomem(err);
  int64_t rank = p->value[NAI_PAYLOAD_RANK];
  own->rank[at] = added || own->rank[at] == rank ? rank : SEVERAL;
  return NAI_OK;
}

static int find_own_ranks(struct own_ranks *own, const struct nai_comm *c, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t t = 0; t < c->m->thread_count; t++)
    for (uint32_t i = 0; !rc && i < c->calls[t].count; i++) {
      const struct nai_payload *p = &c->calls[t].v[i].payload;
      if (c->calls[t].v[i].kind == NAI_COMM_INIT && c->m->thread_process[t] >= 0 &&
          nai_payload_has(p, NAI_PAYLOAD_COMM) && nai_payload_has(p, NAI_PAYLOAD_RANK))
        rc = take_init(own, c->m->thread_process[t], p, err);
    }
  return rc;
}

static int64_t own_rank(const struct own_ranks *own, int32_t process, int64_t comm) {
  uint32_t at = nai_keyset_find(&own->comms, comm);
  at = at == UINT32_MAX ? at : nai_keyset_find(&own->keys, key_of(process, at));
  return at == UINT32_MAX ? SEVERAL : own->rank[at];
}

/* Of two ranks the same number whoever asks. */
static int64_t pair_of(int64_t a, int64_t b) {
  bool possible = a >= 0 && b >= 0 && a != b && a < MAX_RANKS && b < MAX_RANKS;
  return !possible ? 0 : a < b ? (a << 24 | b) + 1 : (b << 24 | a) + 1;
}

int nai_comm_pairs(struct nai_comm *c, struct nai_err *err) {
  struct own_ranks own = {0};
  bool any = false;
  for (uint32_t i = 0; i < c->count; i++)
    any |= c->items[i].known_comm && c->items[i].ranks > 2 && c->items[i].peer >= 0;
  int rc = any ? find_own_ranks(&own, c, err) : NAI_OK;
  for (uint32_t i = 0; any && !rc && i < c->count; i++) {
    struct nai_comm_item *item = &c->items[i];
    if (item->known_comm && item->ranks > 2 && item->peer >= 0)
      item->pair = pair_of(own_rank(&own, c->ranks[item->rank].process, item->comm), item->peer);
  }
  nai_keyset_free(&own.comms);
  nai_keyset_free(&own.keys);
  free(own.rank);
  return rc;
}
