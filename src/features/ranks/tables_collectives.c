/* Tables about collectives of ranks: rank_ops, transfers, collectives. */
#include "features/ranks/write.h"

#include "model/comm/comm.h"
#include "tables/collectives.h"
#include "tables/rank_ops.h"
#include "tables/transfers.h"

/* --- operations of ranks ---------------------------------------------------------------------- */

struct op_sums {
  int64_t count, duration, wait;
};

/* Operations are few; `of_what` is the operation of each kind of collective. */
struct ops {
  const struct nai_ranks *r;
  uint32_t *of_what, *first; /* first: a kind of each operation */
  uint32_t count;
  struct op_sums *sums; /* of one rank */
};

static const char *op_name(const struct nai_ranks *r, uint32_t what) {
  const char *op = nai_ranks_name(r, r->whats[what].op);
  return op ? op : "unknown";
}

/* Puts an operation in its place by name: the order must not tell in which one the traces were given. */
static void add_op(struct ops *o, uint32_t what) {
  uint32_t at = o->count++;
  for (; at > 0 && strcmp(op_name(o->r, o->first[at - 1]), op_name(o->r, what)) > 0; at--)
    o->first[at] = o->first[at - 1];
  o->first[at] = what;
}

static uint32_t find_op(const struct ops *o, uint32_t what) {
  uint32_t op = 0;
  while (op < o->count && o->r->whats[o->first[op]].op != o->r->whats[what].op)
    op++;
  return op;
}

static int list_ops(struct ops *o, struct nai_arena *arena, struct nai_err *err) {
  uint32_t kinds = o->r->what_keys.count;
  NAI_TRY(NAI_NEW(o->of_what, arena, kinds, err));
  NAI_TRY(NAI_NEW(o->first, arena, kinds, err));
  NAI_TRY(NAI_NEW(o->sums, arena, kinds, err));
  for (uint32_t w = 0; w < kinds; w++)
    if (find_op(o, w) == o->count)
      add_op(o, w);
  for (uint32_t w = 0; w < kinds; w++)
    o->of_what[w] = find_op(o, w);
  return NAI_OK;
}

static void add_line(struct ops *o, const struct nai_rank_line *line) {
  const struct nai_rank_group *group = &o->r->groups[line->group];
  const struct nai_rank_call *calls = o->r->ranks[line->rank].calls + line->first + line->begin;
  for (uint32_t k = 0; k < group->collectives; k++) {
    struct op_sums *s = &o->sums[o->of_what[calls[k].what]];
    int64_t ns = calls[k].end - calls[k].start;
    s->count++;
    s->duration += ns;
    s->wait += ns - group->transfer[k];
  }
}

static void put_rank(struct nai_table *t, struct ops *o, const char *label) {
  for (uint32_t i = 0; i < o->count; i++) {
    struct op_sums s = o->sums[i];
    bool together = o->r->whats[o->first[i]].together;
    if (s.count)
      NAI_ADD(RANK_OPS, t, .rank = label, .op = op_name(o->r, o->first[i]), .count = s.count, .duration_ns = s.duration,
              .wait_ns = together ? s.wait : NAI_NULL_I64,
              .transfer_ns = together ? s.duration - s.wait : NAI_NULL_I64);
    o->sums[i] = (struct op_sums){0};
  }
}

int nai_ranks_put_ops(struct nai_table *t, const struct nai_ranks *r, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct ops o = {.r = r};
  NAI_TRY(list_ops(&o, &arena, err));
  for (uint32_t i = 0, l = 0; i < r->rank_count; i++) {
    for (; l < r->line_count && r->lines[l].rank == i; l++)
      if (r->lines[l].group != NAI_NO_RANK)
        add_line(&o, &r->lines[l]);
    put_rank(t, &o, r->ranks[i].label);
  }
  return NAI_OK;
}

/* --- collectives ------------------------------------------------------------------------------ */

static int64_t bytes_or_null(const struct nai_rank_what *what) { return what->bytes >= 0 ? what->bytes : NAI_NULL_I64; }

static struct nai_comm_rates rates_of(const struct nai_ranks *r, const struct nai_rank_group *group,
                                      const struct nai_rank_what *what, int64_t ns) {
  const struct nai_rank_line *line = &r->lines[r->members[group->first]];
  return nai_comm_rates(nai_ranks_name(r, what->op), what->bytes, line->size > 0 ? line->size : NAI_COMM_UNKNOWN, ns);
}

static void put_collective(struct nai_table *t, const struct nai_ranks *r, uint32_t g, uint32_t k) {
  const struct nai_rank_group *group = &r->groups[g];
  const struct nai_rank_call *call = nai_ranks_call(r, group, 0, k);
  const struct nai_rank_what *what = &r->whats[call->what];
  struct nai_rank_moment m = nai_ranks_moment(r, group, k);
  struct nai_comm_rates rates = rates_of(r, group, what, m.transfer);
  uint32_t late = nai_ranks_late_rank(r, group, k);
  NAI_ADD(COLLECTIVES, t, .group = g, .number = k, .op = op_name(r, call->what),
          .dtype = nai_ranks_name(r, what->dtype), .message_bytes = bytes_or_null(what), .member_count = group->count,
          .step = (int64_t)nai_ranks_bucket(r, group, k) * r->per_bucket, .reference_start_ns = call->start,
          .transfer_ns = m.transfer, .skew_ns = m.skew, .wait_ns = m.wait, .duration_ns = m.duration,
          .late_rank = late == NAI_NO_RANK ? NULL : r->ranks[late].label,
          .late_by_ns = late == NAI_NO_RANK ? NAI_NULL_I64 : m.margin, .algbw = rates.algorithm, .busbw = rates.bus);
}

int nai_ranks_put_collectives(struct nai_table *t, const struct nai_ranks *r, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_key *keys;
  uint32_t *first, count = 0;
  NAI_TRY(NAI_NEW(keys, &arena, (size_t)r->split, err));
  NAI_TRY(NAI_NEW(first, &arena, r->group_count, err));
  for (uint32_t g = 0, n = 0; g < r->group_count; n += r->groups[g++].collectives) {
    first[g] = n;
    for (uint32_t k = 0; k < r->groups[g].collectives; k++)
      if (r->whats[nai_ranks_call(r, &r->groups[g], 0, k)->what].together)
        keys[count++] = (struct nai_key){UINT64_MAX - (uint64_t)r->groups[g].skew[k], n + k};
  }
  NAI_TRY(nai_sort_keys(keys, count, err));
  for (uint32_t i = 0; i < count && i < NAI_RANKS_MOST_COLLECTIVES; i++) {
    uint32_t g = r->group_count - 1;
    while (first[g] > keys[i].value)
      g--;
    put_collective(t, r, g, keys[i].value - first[g]);
  }
  return NAI_OK;
}

/* --- transfers -------------------------------------------------------------------------------- */

static void put_transfer(struct nai_table *t, const struct nai_ranks *r, uint32_t g, const struct nai_key *keys,
                         uint32_t count, int64_t *room) {
  const struct nai_rank_group *group = &r->groups[g];
  const struct nai_rank_what *what = &r->whats[keys[0].key];
  int64_t longest = 0, size = r->lines[r->members[group->first]].size;
  for (uint32_t i = 0; i < count; i++) {
    room[i] = group->transfer[keys[i].value];
    longest = room[i] > longest ? room[i] : longest;
  }
  int64_t usual = (int64_t)nai_quantile_i64(room, count, 0.25), median = (int64_t)nai_quantile_i64(room, count, 0.5);
  struct nai_rank_slow slow = nai_ranks_slow(r, group, keys, count, usual);
  NAI_ADD(TRANSFERS, t, .group = g, .op = op_name(r, (uint32_t)keys[0].key), .dtype = nai_ranks_name(r, what->dtype),
          .message_bytes = bytes_or_null(what), .rank_count = size > 0 ? size : NAI_NULL_I64, .count = count,
          .usual_ns = usual, .median_ns = median, .max_ns = longest, .slow_count = slow.count,
          .slow_excess_ns = slow.excess_ns, .busbw = rates_of(r, group, what, median).bus);
}

int nai_ranks_put_transfers(struct nai_table *t, const struct nai_ranks *r, struct nai_err *err) {
  for (uint32_t g = 0; g < r->group_count; g++) {
    NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
    struct nai_key *keys;
    int64_t *room;
    NAI_TRY(NAI_NEW(room, &arena, r->groups[g].collectives, err));
    NAI_TRY(nai_ranks_by_kind(&keys, r, &r->groups[g], &arena, err));
    for (uint32_t i = 0, j; i < r->groups[g].collectives; i = j) {
      for (j = i; j < r->groups[g].collectives && keys[j].key == keys[i].key;)
        j++;
      if (r->whats[keys[i].key].together)
        put_transfer(t, r, g, keys + i, j - i, room);
    }
  }
  return NAI_OK;
}
