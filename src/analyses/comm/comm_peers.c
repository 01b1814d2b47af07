/* Who sends how much to whom? Table comm_peers. */
#include "analyses/analysis.h"
#include "model/comm/comm.h"
#include "tables/comm_peers.h"

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)err;
  const struct nai_comm *c = io->model->comm;
  for (uint32_t i = 0; i < c->peer_count; i++) {
    const struct nai_comm_peer *p = &c->peers[i];
    const struct nai_comm_rank *rank = &c->ranks[p->rank];
    char id[NAI_COMM_ID_MAX];
    NAI_ADD(COMM_PEERS, io->out[0], .device_id = nai_model_device(io->model, rank->gpu),
            .pid = nai_model_pid(io->model, rank->process), .communicator = nai_comm_id(id, p->comm),
            .rank = p->self == NAI_COMM_UNKNOWN ? NAI_NULL_I64 : p->self, .peer = p->peer,
            .sent_count = llround(p->sends), .sent_bytes = llround(p->sent), .received_count = llround(p->receives),
            .received_bytes = llround(p->received));
  }
  return NAI_OK;
}

NAI_ANALYSIS(comm_peers, .outputs = NAI_SCHEMAS(&nai_comm_peers_schema), .parts = NAI_PART(COMM),
             .tables = NAI_IN(GPUS) | NAI_IN(PROCESSES), .run = run)
