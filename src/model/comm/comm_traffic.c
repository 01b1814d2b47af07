/* Who sends how much to whom: sends and receives, added up by communicator, sender and peer. */
#include "model/comm/comm_build.h"

#include <string.h>

static int peer_of(struct nai_comm_peer **out, struct nai_comm_traffic *t, struct nai_model *m, uint32_t rank,
                   const struct nai_payload *p, struct nai_err *err) {
  struct nai_comm *c = m->comm;
  int64_t comm = p->value[NAI_PAYLOAD_COMM], peer = p->value[NAI_PAYLOAD_PEER];
  bool added;
  uint32_t number = nai_keyset_add(&t->comms, comm, &added);
  uint32_t place = nai_keyset_add(&t->places, nai_key_pair(rank, number), &added);
  uint32_t at = nai_keyset_add(&t->peers, nai_key_pair(place, (uint32_t)peer), &added);
  if (t->comms.oom || t->places.oom || t->peers.oom)
    return nai_err_nomem(err);
  NAI_TRY(NAI_ROOM(c->peers, c->peer_capacity, at, &m->arena, err));
  if (added)
    c->peers[at] = (struct nai_comm_peer){.rank = rank, .comm = comm, .peer = peer};
  c->peer_count = t->peers.count;
  *out = &c->peers[at];
  return NAI_OK;
}

/* A message with its size and the rank at its other end. */
static bool tells(const struct nai_comm_call *call) {
  const struct nai_payload *p = &call->payload;
  return call->kind == NAI_COMM_COLLECTIVE && nai_payload_has(p, NAI_PAYLOAD_COMM) &&
         nai_payload_has(p, NAI_PAYLOAD_PEER) && nai_payload_has(p, NAI_PAYLOAD_BYTES) &&
         p->value[NAI_PAYLOAD_PEER] >= 0 && p->value[NAI_PAYLOAD_PEER] < UINT32_MAX;
}

int nai_comm_add_traffic(struct nai_comm_traffic *t, struct nai_model *m, const struct nai_comm_item *item,
                         const struct nai_comm_call *first, const struct nai_comm_call *last, struct nai_err *err) {
  for (const struct nai_comm_call *call = first; call <= last; call++) {
    if (!tells(call))
      continue;
    bool send = strcmp(call->op, "Send") == 0;
    if (!send && strcmp(call->op, "Recv") != 0)
      continue;
    struct nai_comm_peer *peer = NULL;
    NAI_TRY(peer_of(&peer, t, m, item->rank, &call->payload, err));
    /* Kernels of one group share its messages. */
    double share = 1.0 / last->kernels, bytes = (double)call->payload.value[NAI_PAYLOAD_BYTES] * share;
    peer->sends += send ? share : 0;
    peer->sent += send ? bytes : 0;
    peer->receives += send ? 0 : share;
    peer->received += send ? 0 : bytes;
  }
  return NAI_OK;
}
