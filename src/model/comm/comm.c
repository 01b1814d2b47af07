/* What is asked of communication kernels, their communicators and ranks. */
#include "model/comm/comm.h"

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

bool nai_comm_same_kind(const struct nai_model *m, const struct nai_comm_item *a, const struct nai_comm_item *b) {
  const struct nai_comm_name *x = nai_comm_name_of(m, a), *y = nai_comm_name_of(m, b);
  return same_text(a->op, b->op) && same_text(x->dtype, y->dtype) && same_text(x->family, y->family);
}

int64_t nai_comm_own_rank(const struct nai_comm *c, uint32_t number) {
  int64_t rank = NAI_NULL_I64, largest = 0;
  for (uint32_t i = 0; i < c->rank_count; i++)
    if (i != number && c->ranks[i].process == c->ranks[number].process)
      return NAI_NULL_I64;
  for (uint32_t i = 0; i < c->init_count; i++) {
    const struct nai_payload *p = &c->inits[i].payload;
    if (c->inits[i].process != c->ranks[number].process || !nai_payload_has(p, NAI_PAYLOAD_RANK) ||
        !nai_payload_has(p, NAI_PAYLOAD_RANKS) || p->value[NAI_PAYLOAD_RANKS] <= largest)
      continue;
    largest = p->value[NAI_PAYLOAD_RANKS];
    rank = p->value[NAI_PAYLOAD_RANK];
  }
  return rank;
}

const char *nai_comm_id(char room[NAI_COMM_ID_MAX], int64_t comm) {
  snprintf(room, NAI_COMM_ID_MAX, "0x%016" PRIx64, (uint64_t)comm);
  return room;
}
