/* Tables about collectives of ranks: rank_ops, transfers, collectives. */
#include "ranks/tables_internal.h"

#include "analyses/comm/comm.h"
#include "ranks/internal.h"
#include "table/columns.h"

#include <stdlib.h>
#include <string.h>

enum { OP_LABEL, OP_OP, OP_COUNT, OP_DURATION, OP_WAIT, OP_TRANSFER };
static const struct nai_column_def op_columns[] = {
    [OP_LABEL] = NAI_NAME_COLUMN("rank", "rank", .key = true),
    [OP_OP] = NAI_LABEL_COLUMN("op", "operation", .key = true),
    [OP_COUNT] = NAI_COUNT_COLUMN("count", "matched collectives"),
    [OP_DURATION] = NS("duration_ns", "summed durations of its kernels"),
    [OP_WAIT] = NS("wait_ns", "waiting for the last rank; NULL for operations in which not all wait"),
    [OP_TRANSFER] = NS("transfer_ns", "the rest")};
const struct nai_schema nai_rank_op_schema =
    NAI_SCHEMA("rank_ops", "Operations by rank", "One operation on one rank", op_columns);

static const struct nai_column_def transfer_columns[] = {
    [TR_GROUP] = {"group", NAI_I64, NAI_ID, "communicator, as in rank_communicators", .key = true},
    [TR_OP] = NAI_NAME_COLUMN("op", "operation"),
    [TR_DTYPE] = NAI_LABEL_COLUMN("dtype", "type of the elements"),
    [TR_BYTES] = NAI_BYTES_COLUMN("message_bytes", "size of the message; NULL unknown"),
    [TR_SIZE] = NAI_COUNT_COLUMN("rank_count", "ranks of the communicator"),
    [TR_COUNT] = NAI_COUNT_COLUMN("count", "matched collectives of this kind"),
    [TR_USUAL] = NS("usual_ns", "a quarter of the transfers take no longer"),
    [TR_MEDIAN] = NS("median_ns", "median transfer"),
    [TR_MAX] = NS("max_ns", "longest transfer"),
    [TR_SLOW] = NAI_COUNT_COLUMN(
        "slow_count", "transfers of more than twice usual_ns, while no rank was late by as much as that adds"),
    [TR_EXCESS] = NS("slow_excess_ns", "what these took beyond usual_ns"),
    [TR_BUS] = {"busbw", NAI_F64, NAI_GB_PER_S, "bus bandwidth of the median transfer, as nccl-tests defines it",
                .role = NAI_ROLE_METRIC}};
const struct nai_schema nai_rank_transfer_schema =
    NAI_SCHEMA("transfers", "Transfers", "One kind of collective of one communicator", transfer_columns);

static const struct nai_column_def collective_columns[] = {
    [CL_GROUP] = {"group", NAI_I64, NAI_ID, "communicator, as in rank_communicators", .key = true},
    [CL_NUMBER] = {"number", NAI_I64, NAI_ID, "matched collective of it, from 0", .key = true},
    [CL_OP] = NAI_NAME_COLUMN("op", "operation"),
    [CL_DTYPE] = NAI_LABEL_COLUMN("dtype", "type of the elements"),
    [CL_BYTES] = NAI_BYTES_COLUMN("message_bytes", "size of the message; NULL unknown"),
    [CL_MEMBERS] = NAI_COUNT_COLUMN("member_count", "ranks that were matched"),
    [CL_STEP] = {"step", NAI_I64, NAI_ID, "first step of the column of the map that it is in"},
    [CL_START] = {"reference_start_ns", NAI_I64, NAI_NS, "start in the trace of the first rank of its group"},
    [CL_TRANSFER] = NS("transfer_ns", "the shortest kernel: with all ranks there"),
    [CL_SKEW] = NS("skew_ns", "the longest kernel minus that: what the first rank waited"),
    [CL_WAIT] = NS("wait_ns", "what all ranks waited together"),
    [CL_DURATION] = NS("duration_ns", "all kernels together"),
    [CL_LATE] = NAI_LABEL_COLUMN("late_rank", "the rank that came last; NULL when that is in doubt"),
    [CL_LATE_BY] = NS("late_by_ns", "from the last but one to it"),
    [CL_ALG] = {"algbw", NAI_F64, NAI_GB_PER_S, "algorithm bandwidth of the transfer", .role = NAI_ROLE_METRIC},
    [CL_BUS] = {"busbw", NAI_F64, NAI_GB_PER_S, "bus bandwidth of the transfer", .role = NAI_ROLE_METRIC}};
const struct nai_schema nai_rank_collective_schema =
    NAI_SCHEMA("collectives", "Collectives",
               "One matched collective in which ranks wait for the last one; those of the "
               "largest skew, 10,000 at most",
               collective_columns);

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
    nai_set_str(t, row, OP_LABEL, label);
    nai_set_str(t, row, OP_OP, op_name(o->r, o->first[i]));
    nai_set_i64(t, row, OP_COUNT, o->sums[i].count);
    nai_set_i64(t, row, OP_DURATION, o->sums[i].duration);
    if (what->together) {
      nai_set_i64(t, row, OP_WAIT, o->sums[i].wait);
      nai_set_i64(t, row, OP_TRANSFER, o->sums[i].duration - o->sums[i].wait);
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
  static const int kind[] = {CL_OP, CL_DTYPE, CL_BYTES};
  const struct nai_rank_group *group = &r->groups[g];
  const struct nai_rank_call *call = nai_ranks_call(r, group, 0, k);
  struct nai_rank_moment m = nai_ranks_moment(r, group, k);
  struct nai_comm_rates rates = rates_of(r, group, &r->whats[call->what], m.transfer);
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, CL_GROUP, g);
  nai_set_i64(t, row, CL_NUMBER, k);
  put_kind(t, row, kind, r, &r->whats[call->what]);
  nai_set_i64(t, row, CL_MEMBERS, group->count);
  nai_set_i64(t, row, CL_STEP, (int64_t)nai_ranks_bucket(r, group, k) * r->per_bucket);
  nai_set_i64(t, row, CL_START, call->start);
  nai_set_i64(t, row, CL_TRANSFER, m.transfer);
  nai_set_i64(t, row, CL_SKEW, m.skew);
  nai_set_i64(t, row, CL_WAIT, m.wait);
  nai_set_i64(t, row, CL_DURATION, m.duration);
  if (group->late[k] != NAI_NO_RANK) {
    nai_set_str(t, row, CL_LATE, r->ranks[r->lines[r->members[group->first + group->late[k]]].rank].label);
    nai_set_i64(t, row, CL_LATE_BY, m.margin);
  }
  nai_set_f64(t, row, CL_ALG, rates.algorithm);
  nai_set_f64(t, row, CL_BUS, rates.bus);
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
  static const struct nai_sort_by order[] = {{CL_GROUP, false}, {CL_NUMBER, false}};
  return rc ? rc : nai_table_sort(t, order, 2, err);
}

/* --- transfers -------------------------------------------------------------------------------- */

static void put_transfer(struct nai_table *t, const struct nai_ranks *r, uint32_t g, const struct nai_key *keys,
                         uint32_t count, int64_t *room) {
  static const int kind[] = {TR_OP, TR_DTYPE, TR_BYTES};
  const struct nai_rank_group *group = &r->groups[g];
  const struct nai_rank_what *what = &r->whats[keys[0].key];
  int64_t row = nai_table_add_row(t), longest = 0;
  for (uint32_t i = 0; i < count; i++) {
    room[i] = group->transfer[keys[i].value];
    longest = room[i] > longest ? room[i] : longest;
  }
  double usual = nai_quantile_i64(room, count, 0.25), median = nai_quantile_i64(room, count, 0.5);
  struct nai_rank_slow slow = nai_ranks_slow(group, keys, count, (int64_t)usual);
  nai_set_i64(t, row, TR_GROUP, g);
  put_kind(t, row, kind, r, what);
  if (r->lines[r->members[group->first]].size > 0)
    nai_set_i64(t, row, TR_SIZE, r->lines[r->members[group->first]].size);
  nai_set_i64(t, row, TR_COUNT, count);
  nai_set_i64(t, row, TR_USUAL, (int64_t)usual);
  nai_set_i64(t, row, TR_MEDIAN, (int64_t)median);
  nai_set_i64(t, row, TR_MAX, longest);
  nai_set_i64(t, row, TR_SLOW, slow.count);
  nai_set_i64(t, row, TR_EXCESS, slow.excess_ns);
  nai_set_f64(t, row, TR_BUS, rates_of(r, group, what, (int64_t)median).bus);
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
  static const struct nai_sort_by order[] = {{TR_GROUP, false}, {TR_OP, false},   {TR_DTYPE, false},
                                             {TR_BYTES, false}, {TR_COUNT, true}, {TR_MAX, true}};
  return rc ? rc : nai_table_sort(t, order, 6, err);
}
