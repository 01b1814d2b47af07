/* What is asked of communication kernels, their communicators and ranks. */
#include "model/comm/comm.h"

#include "base/buf.h"
#include "base/sort.h"
#include "tables/nvtx_domains.h"

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

bool nai_comm_is_between_two(const char *op) {
  static const char *const ops[] = {"SendRecv", "Send", "Recv", "Put", "Signal", "WaitSignal"};
  for (size_t i = 0; op && i < sizeof ops / sizeof *ops; i++)
    if (strcmp(op, ops[i]) == 0)
      return true;
  return false;
}

void nai_comm_ops_add(struct nai_comm_ops *ops, const char *op) {
  uint32_t k = 0;
  while (k < ops->count && strcmp(ops->v[k].op, op) != 0)
    k++;
  if (k == sizeof ops->v / sizeof *ops->v)
    return;
  if (k == ops->count)
    ops->v[ops->count++] = (struct nai_comm_op_count){op, 0};
  ops->v[k].count++;
}

NAI_ORDER(by_count, struct nai_comm_op_count, {b->count, a->count}, {strcmp(a->op, b->op), 0})

void nai_comm_ops_say(struct nai_buf *out, struct nai_comm_ops *ops) {
  qsort(ops->v, ops->count, sizeof *ops->v, by_count);
  for (uint32_t k = 0; k < ops->count; k++)
    nai_buf_printf(out, "%s%s %" PRId64, k ? ", " : "", ops->v[k].op, ops->v[k].count);
}

const char *nai_comm_given_name(const struct nai_model *m, const struct nai_comm_item *item) {
  const struct nai_table *t = m->tables[NAI_IN_NVTX_DOMAINS];
  int64_t process = m->comm->ranks[item->rank].process, domain = NAI_NULL_I64;
  for (int64_t i = 0; item->category > 0 && i < t->rows; i++)
    if (nai_get_i64(t, i, NVTX_DOMAINS_process) == process && strcmp(nai_get_str(t, i, NVTX_DOMAINS_name), "NCCL") == 0)
      domain = nai_get_i64(t, i, NVTX_DOMAINS_domain_id);
  for (int64_t i = 0; domain != NAI_NULL_I64 && i < t->rows; i++) {
    struct NVTX_DOMAINS_row row = NVTX_DOMAINS_at(t, i);
    if (row.process == process && row.domain_id == domain && row.category == item->category)
      return row.category_name;
  }
  return NULL;
}

const char *nai_comm_id(char room[NAI_COMM_ID_MAX], int64_t comm) {
  snprintf(room, NAI_COMM_ID_MAX, "0x%016" PRIx64, (uint64_t)comm);
  return room;
}
