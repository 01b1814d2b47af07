/* Tables about collectives of ranks: rank_ops, transfers, collectives. */
#include "features/ranks/tables_internal.h"

#include "analyses/comm/comm.h"
#include "features/ranks/internal.h"
#include "tables/collectives.h"
#include "tables/rank_ops.h"
#include "tables/transfers.h"

#include <stdlib.h>
#include <string.h>

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

static int list_ops(struct ops *o, struct nai_err *err) {
  size_t kinds = (size_t)o->r->what_keys.count + 1;
  o->of_what = malloc(kinds * sizeof *o->of_what);
  o->first = malloc(kinds * sizeof *o->first);
  o->sums = calloc(kinds, sizeof *o->sums);
  if (!o->of_what || !o->first || !o->sums)
    return nai_err_nomem(err);
  for (uint32_t w = 0; w < o->r->what_keys.count; w++)
    if (find_op(o, w) == o->count)
      add_op(o, w);
  for (uint32_t w = 0; w < o->r->what_keys.count; w++)
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
    const struct nai_rank_what *what = &o->r->whats[o->first[i]];
    if (!o->sums[i].count)
      continue;
    int64_t row = nai_table_add_row(t);
    nai_set_str(t, row, RANK_OPS_rank, label);
    nai_set_str(t, row, RANK_OPS_op, op_name(o->r, o->first[i]));
    nai_set_i64(t, row, RANK_OPS_count, o->sums[i].count);
    nai_set_i64(t, row, RANK_OPS_duration_ns, o->sums[i].duration);
    if (what->together) {
      nai_set_i64(t, row, RANK_OPS_wait_ns, o->sums[i].wait);
      nai_set_i64(t, row, RANK_OPS_transfer_ns, o->sums[i].duration - o->sums[i].wait);
    }
    o->sums[i] = (struct op_sums){0};
  }
}

int nai_ranks_put_ops(struct nai_table *t, const struct nai_ranks *r, struct nai_err *err) {
  struct ops o = {.r = r};
  int rc = list_ops(&o, err);
  for (uint32_t i = 0, l = 0; i < r->rank_count && !rc; i++) {
    for (; l < r->line_count && r->lines[l].rank == i; l++)
      if (r->lines[l].group != NAI_NO_RANK)
        add_line(&o, &r->lines[l]);
    put_rank(t, &o, r->ranks[i].label);
  }
  free(o.of_what);
  free(o.first);
  free(o.sums);
  return rc;
}

/* --- collectives ------------------------------------------------------------------------------ */

static void put_kind(struct nai_table *t, int64_t row, const int columns[3], const struct nai_ranks *r,
                     const struct nai_rank_what *what) {
  const char *op = nai_ranks_name(r, what->op);
  nai_set_str(t, row, columns[0], op ? op : "unknown");
  nai_set_str(t, row, columns[1], nai_ranks_name(r, what->dtype));
  if (what->bytes >= 0)
    nai_set_i64(t, row, columns[2], what->bytes);
}

static struct nai_comm_rates rates_of(const struct nai_ranks *r, const struct nai_rank_group *group,
                                      const struct nai_rank_what *what, int64_t ns) {
  const struct nai_rank_line *line = &r->lines[r->members[group->first]];
  return nai_comm_rates(nai_ranks_name(r, what->op), what->bytes, line->size > 0 ? line->size : NAI_COMM_UNKNOWN, ns);
}

static void put_collective(struct nai_table *t, const struct nai_ranks *r, uint32_t g, uint32_t k) {
  static const int kind[] = {COLLECTIVES_op, COLLECTIVES_dtype, COLLECTIVES_message_bytes};
  const struct nai_rank_group *group = &r->groups[g];
  const struct nai_rank_call *call = nai_ranks_call(r, group, 0, k);
  struct nai_rank_moment m = nai_ranks_moment(r, group, k);
  struct nai_comm_rates rates = rates_of(r, group, &r->whats[call->what], m.transfer);
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, COLLECTIVES_group, g);
  nai_set_i64(t, row, COLLECTIVES_number, k);
  put_kind(t, row, kind, r, &r->whats[call->what]);
  nai_set_i64(t, row, COLLECTIVES_member_count, group->count);
  nai_set_i64(t, row, COLLECTIVES_step, (int64_t)nai_ranks_bucket(r, group, k) * r->per_bucket);
  nai_set_i64(t, row, COLLECTIVES_reference_start_ns, call->start);
  nai_set_i64(t, row, COLLECTIVES_transfer_ns, m.transfer);
  nai_set_i64(t, row, COLLECTIVES_skew_ns, m.skew);
  nai_set_i64(t, row, COLLECTIVES_wait_ns, m.wait);
  nai_set_i64(t, row, COLLECTIVES_duration_ns, m.duration);
  if (group->late[k] != NAI_NO_RANK) {
    nai_set_str(t, row, COLLECTIVES_late_rank,
                r->ranks[r->lines[r->members[group->first + group->late[k]]].rank].label);
    nai_set_i64(t, row, COLLECTIVES_late_by_ns, m.margin);
  }
  nai_set_f64(t, row, COLLECTIVES_algbw, rates.algorithm);
  nai_set_f64(t, row, COLLECTIVES_busbw, rates.bus);
}

int nai_ranks_put_collectives(struct nai_table *t, const struct nai_ranks *r, struct nai_err *err) {
  uint32_t count = 0;
  struct nai_key *keys = malloc(((size_t)r->split + 1) * sizeof *keys);
  uint32_t *first = malloc(((size_t)r->group_count + 1) * sizeof *first);
  int rc = keys && first ? NAI_OK : nai_err_nomem(err);
  for (uint32_t g = 0, n = 0; g < r->group_count && !rc; n += r->groups[g++].collectives) {
    first[g] = n;
    for (uint32_t k = 0; k < r->groups[g].collectives; k++)
      if (r->whats[nai_ranks_call(r, &r->groups[g], 0, k)->what].together)
        keys[count++] = (struct nai_key){UINT64_MAX - (uint64_t)r->groups[g].skew[k], n + k};
  }
  if (!rc)
    rc = nai_sort_keys(keys, count, err);
  for (uint32_t i = 0; i < count && i < NAI_RANKS_MOST_COLLECTIVES && !rc; i++) {
    uint32_t g = r->group_count - 1;
    while (first[g] > keys[i].value)
      g--;
    put_collective(t, r, g, keys[i].value - first[g]);
  }
  free(keys);
  free(first);
  static const struct nai_sort_by order[] = {{COLLECTIVES_group, false}, {COLLECTIVES_number, false}};
  return rc ? rc : nai_table_sort_by(t, order, 2, err);
}

/* --- transfers -------------------------------------------------------------------------------- */

static void put_transfer(struct nai_table *t, const struct nai_ranks *r, uint32_t g, const struct nai_key *keys,
                         uint32_t count, int64_t *room) {
  static const int kind[] = {TRANSFERS_op, TRANSFERS_dtype, TRANSFERS_message_bytes};
  const struct nai_rank_group *group = &r->groups[g];
  const struct nai_rank_what *what = &r->whats[keys[0].key];
  int64_t row = nai_table_add_row(t), longest = 0;
  for (uint32_t i = 0; i < count; i++) {
    room[i] = group->transfer[keys[i].value];
    longest = room[i] > longest ? room[i] : longest;
  }
  double usual = nai_quantile_i64(room, count, 0.25), median = nai_quantile_i64(room, count, 0.5);
  struct nai_rank_slow slow = nai_ranks_slow(group, keys, count, (int64_t)usual);
  nai_set_i64(t, row, TRANSFERS_group, g);
  put_kind(t, row, kind, r, what);
  if (r->lines[r->members[group->first]].size > 0)
    nai_set_i64(t, row, TRANSFERS_rank_count, r->lines[r->members[group->first]].size);
  nai_set_i64(t, row, TRANSFERS_count, count);
  nai_set_i64(t, row, TRANSFERS_usual_ns, (int64_t)usual);
  nai_set_i64(t, row, TRANSFERS_median_ns, (int64_t)median);
  nai_set_i64(t, row, TRANSFERS_max_ns, longest);
  nai_set_i64(t, row, TRANSFERS_slow_count, slow.count);
  nai_set_i64(t, row, TRANSFERS_slow_excess_ns, slow.excess_ns);
  nai_set_f64(t, row, TRANSFERS_busbw, rates_of(r, group, what, (int64_t)median).bus);
}

int nai_ranks_put_transfers(struct nai_table *t, const struct nai_ranks *r, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t g = 0; g < r->group_count && !rc; g++) {
    struct nai_key *keys = NULL;
    int64_t *room = malloc(((size_t)r->groups[g].collectives + 1) * sizeof *room);
    rc = room ? nai_ranks_by_kind(&keys, r, &r->groups[g], err) : nai_err_nomem(err);
    for (uint32_t i = 0, j; i < r->groups[g].collectives && !rc; i = j) {
      for (j = i; j < r->groups[g].collectives && keys[j].key == keys[i].key;)
        j++;
      if (r->whats[keys[i].key].together)
        put_transfer(t, r, g, keys + i, j - i, room);
    }
    free(keys);
    free(room);
  }
  static const struct nai_sort_by order[] = {{TRANSFERS_group, false}, {TRANSFERS_op, false},
                                             {TRANSFERS_dtype, false}, {TRANSFERS_message_bytes, false},
                                             {TRANSFERS_count, true},  {TRANSFERS_max_ns, true}};
  return rc ? rc : nai_table_sort_by(t, order, 6, err);
}
