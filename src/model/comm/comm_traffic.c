/* Who sends how much to whom: messages, added up by communicator, sender and peer. */
#include "model/comm/comm_build.h"

enum { MAX_RANKS = 1024 }; /* of a communicator, of whose exchanges a row for each other rank is made */

static int peer_of(struct nai_comm_peer **out, struct nai_comm_traffic *t, struct nai_model *m, uint32_t rank,
                   int64_t comm, int64_t peer, struct nai_err *err) {
  struct nai_comm *c = m->comm;
  bool added;
  uint32_t number = nai_keyset_add(&t->comms, comm, &added);
  uint32_t place = nai_keyset_add(&t->places, nai_key_pair(rank, number), &added);
  uint32_t at = nai_keyset_add(&t->peers, nai_key_pair(place, (uint32_t)peer), &added);
  NAI_TRY(nai_memory_check(!t->comms.oom && !t->places.oom && !t->peers.oom, err));
  NAI_TRY(NAI_ROOM(c->peers, c->peer_capacity, at, &m->arena, err));
  if (added)
    c->peers[at] = (struct nai_comm_peer){.rank = rank, .comm = comm, .peer = peer};
  c->peer_count = t->peers.count;
  *out = &c->peers[at];
  return NAI_OK;
}

/* Of a communicator that is known, and with a size. */
static bool tells(const struct nai_comm_call *call) {
  const struct nai_payload *p = &call->payload;
  return call->kind == NAI_COMM_COLLECTIVE && nai_payload_has(p, NAI_PAYLOAD_COMM) &&
         nai_payload_has(p, NAI_PAYLOAD_BYTES);
}

static int add_message(struct nai_comm_traffic *t, struct nai_model *m, uint32_t rank, const struct nai_comm_call *call,
                       double share, struct nai_err *err) {
  const struct nai_payload *p = &call->payload;
  bool send = strcmp(call->op, "Send") == 0;
  if ((!send && strcmp(call->op, "Recv") != 0) || !nai_payload_has(p, NAI_PAYLOAD_PEER) ||
      p->value[NAI_PAYLOAD_PEER] < 0 || p->value[NAI_PAYLOAD_PEER] >= UINT32_MAX)
    return NAI_OK;
  struct nai_comm_peer *peer = NULL;
  NAI_TRY(peer_of(&peer, t, m, rank, p->value[NAI_PAYLOAD_COMM], p->value[NAI_PAYLOAD_PEER], err));
  double bytes = (double)p->value[NAI_PAYLOAD_BYTES] * share;
  peer->sends += send ? share : 0;
  peer->sent += send ? bytes : 0;
  peer->receives += send ? 0 : share;
  peer->received += send ? 0 : bytes;
  return NAI_OK;
}

/* Each rank sends each other one as many bytes, and receives as many from it. */
static int add_exchange(struct nai_comm_traffic *t, struct nai_model *m, const struct nai_comm_selves *selves,
                        const struct nai_comm_item *item, const struct nai_comm_call *call, double share,
                        struct nai_err *err) {
  int64_t comm = call->payload.value[NAI_PAYLOAD_COMM];
  int64_t self = nai_comm_self(selves, nai_val_i32(&m->kernels.process, item->kernel), comm);
  int64_t ranks = nai_comm_size(selves, comm);
  if (self == NAI_COMM_UNKNOWN || ranks > MAX_RANKS)
    return NAI_OK;
  for (int64_t other = 0; other < ranks; other++) {
    struct nai_comm_peer *peer = NULL;
    if (other == self)
      continue;
    NAI_TRY(peer_of(&peer, t, m, item->rank, comm, other, err));
    double bytes = (double)call->payload.value[NAI_PAYLOAD_BYTES] * share;
    peer->sends += share;
    peer->receives += share;
    peer->sent += bytes;
    peer->received += bytes;
  }
  return NAI_OK;
}

int nai_comm_add_traffic(struct nai_comm_traffic *t, struct nai_model *m, const struct nai_comm_selves *selves,
                         const struct nai_comm_item *item, const struct nai_comm_call *first,
                         const struct nai_comm_call *last, struct nai_err *err) {
  double share = 1.0 / last->kernels; /* kernels of one group share its messages */
  for (const struct nai_comm_call *call = first; call <= last; call++) {
    if (!tells(call))
      continue;
    if (strcmp(call->op, "AllToAll") == 0)
      NAI_TRY(add_exchange(t, m, selves, item, call, share, err));
    else
      NAI_TRY(add_message(t, m, item->rank, call, share, err));
  }
  return NAI_OK;
}
