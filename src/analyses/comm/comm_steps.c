/* What does each step spend on communication? Tables step_comm and step_comm_ops: a kernel belongs to the step that
 * launched it. */
#include "analyses/comm/comm.h"
#include "derive/steps/step_stats.h"
#include "base/sort.h"
#include "table/columns.h"

#include <stdlib.h>
#include <string.h>

enum {
  PID,
  DEVICE,
  STEP,
  STATE,
  COUNT,
  TOTAL,
  OVERLAPPED,
  EXPOSED,
  MATCHED,
  MATCHED_NS,
  WAIT,
  TRANSFER,
  TAIL,
  LATE,
  SIZED,
  BYTES,
  START,
  END
};
#define NS_COLUMN(name, what, ...) NAI_TIME_COLUMN(name, what, .sum = true, __VA_ARGS__)
static const struct nai_column_def columns[] = {
    [PID] = NAI_PID_COLUMN("process", .key = true),
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [STEP] = {"step", NAI_I64, NAI_ID, "number of the step in its process, from 0; NULL: launched outside of steps",
              .key = true},
    [STATE] = NAI_LABEL_COLUMN("state", "steady, warm-up, or truncated by the capture; NULL outside of steps"),
    [COUNT] = NAI_COUNT_COLUMN("kernel_count", "communication kernels that it launched", .sum = true),
    [TOTAL] = NS_COLUMN("total_time_ns", "their summed durations", .better = NAI_BETTER_LOWER),
    [OVERLAPPED] = NS_COLUMN("overlapped_ns", "part of it beside compute"),
    [EXPOSED] = NS_COLUMN("exposed_ns", "share of the GPU's exposed communication; whenever it ran",
                          .better = NAI_BETTER_LOWER),
    [MATCHED] = NAI_COUNT_COLUMN("matched_count", "kernels matched with those of other GPUs", .sum = true),
    [MATCHED_NS] = NS_COLUMN("matched_ns", "their summed durations: wait + transfer + tail"),
    [WAIT] = NS_COLUMN("wait_ns", "of matched kernels: waiting for the last GPU", .better = NAI_BETTER_LOWER),
    [TRANSFER] = NS_COLUMN("transfer_ns", "of matched kernels: from when all GPUs were there to the first end"),
    [TAIL] = NS_COLUMN("tail_ns", "of matched kernels: after the first GPU ended"),
    [LATE] = NAI_COUNT_COLUMN("late_count", "matched kernels in which this GPU came last", .sum = true),
    [SIZED] = NAI_COUNT_COLUMN("sized_count", "kernels whose message size is known", .sum = true),
    [BYTES] = NAI_BYTES_COLUMN("total_bytes", "their message sizes as NCCL counts them", .sum = true),
    [START] = NAI_START_COLUMN("first_start_ns", "start of the first of these kernels"),
    [END] = NAI_END_COLUMN("last_end_ns", "end of the last one"),
};
const struct nai_schema nai_step_comm =
    NAI_SCHEMA("step_comm", "Communication of steps", "One step of one process on one GPU, where it communicates",
               columns);

enum { O_PID, O_DEVICE, O_OP, O_STEPS, O_WITH, O_COUNT, O_TOTAL, O_EXPOSED, O_WAIT, O_TRANSFER, O_PCT, O_WAIT_PCT };
static const struct nai_column_def op_columns[] = {
    [O_PID] = NAI_PID_COLUMN("process", .key = true),
    [O_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [O_OP] = NAI_NAME_COLUMN("op", "the collective: AllReduce, AllGather, ReduceScatter, SendRecv ...; unknown",
                             .key = true),
    [O_STEPS] = NAI_COUNT_COLUMN("steady_steps", "steady steps"),
    [O_WITH] = NAI_COUNT_COLUMN("with_steps", "of them: that launch it"),
    [O_COUNT] = NAI_COUNT_COLUMN("median_kernel_count", "median of the steady steps: kernels"),
    [O_TOTAL] =
        NAI_TIME_COLUMN("median_total_ns", "median of the steady steps: summed durations", .better = NAI_BETTER_LOWER),
    [O_EXPOSED] = NAI_TIME_COLUMN("median_exposed_ns", "median of the steady steps: share of exposed communication",
                                  .better = NAI_BETTER_LOWER),
    [O_WAIT] = NAI_TIME_COLUMN("median_wait_ns",
                               "median of the steady steps: waiting for the last GPU; NULL where none "
                               "of its kernels is matched",
                               .better = NAI_BETTER_LOWER),
    [O_TRANSFER] = NAI_TIME_COLUMN("median_transfer_ns", "median of the steady steps: from when all GPUs were there to "
                                                         "the first end"),
    [O_PCT] = NAI_PCT_COLUMN("exposed_pct_of_steps", "its exposed time in all steady steps, of their durations",
                             .better = NAI_BETTER_LOWER),
    [O_WAIT_PCT] = NAI_PCT_COLUMN("wait_pct", "its waiting in all steady steps, of the durations of matched kernels",
                                  .better = NAI_BETTER_LOWER),
};
const struct nai_schema nai_step_comm_ops =
    NAI_SCHEMA("step_comm_ops", "Collectives of a step", "One collective in the steady steps of one process on one GPU",
               op_columns);

/* --- steps ---------------------------------------------------------------------------------------- */

/* What kernels add up to, by column of step_comm. */
struct sums {
  int64_t v[END + 1];
};

static void add_item(struct sums *s, const struct nai_comm *c, uint32_t number) {
  const struct nai_comm_item *item = &c->items[number];
  int64_t ns = item->end - item->start, bytes = nai_comm_bytes(item);
  bool matched = item->set != NAI_NO_ROW;
  if (!s->v[COUNT] || item->start < s->v[START])
    s->v[START] = item->start;
  if (!s->v[COUNT] || item->end > s->v[END])
    s->v[END] = item->end;
  s->v[COUNT]++;
  s->v[TOTAL] += ns;
  s->v[OVERLAPPED] += ns - item->exposed;
  s->v[EXPOSED] += item->charged;
  s->v[MATCHED] += matched;
  s->v[MATCHED_NS] += matched ? ns : 0;
  s->v[WAIT] += matched ? item->wait : 0;
  s->v[TRANSFER] += matched ? item->transfer : 0;
  s->v[TAIL] += matched ? item->tail : 0;
  s->v[LATE] += matched && item->late == number;
  s->v[SIZED] += bytes >= 0;
  s->v[BYTES] += bytes >= 0 ? bytes : 0;
}

/* The step that launched it, UINT32_MAX for none: as in derive/steps. */
static uint32_t step_of(const struct nai_comm *c, const struct nai_process_steps *steps,
                        const struct nai_comm_item *item, uint32_t *near) {
  if (item->launched != NAI_NULL_I64)
    return nai_step_at(steps, item->launched, near);
  return c->m->apis.n ? UINT32_MAX : nai_step_at(steps, item->start, near);
}

/* One process on one GPU. */
struct place {
  const struct nai_step_list *list;
  const struct nai_process_steps *steps;
  uint32_t rank;
  struct nai_step_stats stats;
  uint32_t *of_step; /* per step of the process: index in the list, UINT32_MAX for none */
  uint32_t near;     /* step of the item before */
};

static void put_sums(struct nai_table *table, const struct nai_comm *c, const struct place *p, uint32_t i,
                     const struct sums *s) {
  bool outside = i == p->list->count;
  if (!s->v[COUNT])
    return;
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, PID, nai_model_pid(c->m, (int32_t)p->list->process));
  nai_set_i64(table, row, DEVICE, nai_model_device(c->m, p->list->gpu));
  if (!outside) {
    nai_set_i64(table, row, STEP, p->list->v[i].step);
    nai_set_str(table, row, STATE, nai_step_state_name((enum nai_step_state)p->stats.state[i]));
  }
  for (int column = COUNT; column <= END; column++)
    nai_set_i64(table, row, column, s->v[column]);
  for (int column = WAIT; !s->v[MATCHED] && column <= LATE; column++)
    nai_set_i64(table, row, column, NAI_NULL_I64);
  if (!s->v[SIZED])
    nai_set_i64(table, row, BYTES, NAI_NULL_I64);
}

/* Index in the list of the item's step, the list's count for none. */
static uint32_t index_of(const struct nai_comm *c, struct place *p, const struct nai_comm_item *item) {
  uint32_t step = step_of(c, p->steps, item, &p->near);
  return step == UINT32_MAX || p->of_step[step] == UINT32_MAX ? p->list->count : p->of_step[step];
}

static int put_steps(struct nai_table *table, const struct nai_comm *c, struct place *p, struct nai_err *err) {
  struct sums *sums = calloc((size_t)p->list->count + 1, sizeof *sums);
  if (!sums)
    return nai_err_nomem(err);
  for (uint32_t i = c->first_of_gpu[p->list->gpu]; i < c->first_of_gpu[p->list->gpu + 1]; i++)
    if (c->items[i].rank == p->rank)
      add_item(&sums[index_of(c, p, &c->items[i])], c, i);
  for (uint32_t i = 0; i <= p->list->count; i++)
    put_sums(table, c, p, i, &sums[i]);
  free(sums);
  return NAI_OK;
}

/* --- collectives ---------------------------------------------------------------------------------- */

enum { MOST_OPS = 16 };

/* One collective, step by step. */
struct op {
  const char *name;
  struct sums *steps; /* list->count + 1 */
};

static const char *name_of(const struct nai_comm_item *item) { return item->op ? item->op : "unknown"; }

/* Collectives are few; more than MOST_OPS are left out. NULL then, or when out of memory. */
static struct op *op_of(struct op *ops, uint32_t *count, const char *name, uint32_t steps, bool *oom) {
  for (uint32_t i = 0; i < *count; i++)
    if (strcmp(ops[i].name, name) == 0)
      return &ops[i];
  if (*count == MOST_OPS)
    return NULL;
  ops[*count] = (struct op){name, calloc((size_t)steps + 1, sizeof(struct sums))};
  *oom |= !ops[*count].steps;
  return *oom ? NULL : &ops[(*count)++];
}

static double median_of(int64_t *room, const struct place *p, const struct op *op, int column) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->list->count; i++)
    if (p->stats.state[i] == NAI_STEP_STEADY)
      room[n++] = op->steps[i].v[column];
  return n ? nai_quantile_i64(room, n, 0.5) : 0;
}

static void put_op(struct nai_table *table, const struct nai_comm *c, const struct place *p, const struct op *op,
                   int64_t *room) {
  static const int medians[][2] = {{O_COUNT, COUNT}, {O_TOTAL, TOTAL}, {O_EXPOSED, EXPOSED}};
  static const int matched[][2] = {{O_WAIT, WAIT}, {O_TRANSFER, TRANSFER}};
  struct sums all = {0};
  int64_t row = nai_table_add_row(table), with = 0;
  for (uint32_t i = 0; i < p->list->count; i++) {
    if (p->stats.state[i] != NAI_STEP_STEADY)
      continue;
    with += op->steps[i].v[COUNT] > 0;
    for (int column = COUNT; column <= TAIL; column++)
      all.v[column] += op->steps[i].v[column];
  }
  nai_set_i64(table, row, O_PID, nai_model_pid(c->m, (int32_t)p->list->process));
  nai_set_i64(table, row, O_DEVICE, nai_model_device(c->m, p->list->gpu));
  nai_set_str(table, row, O_OP, op->name);
  nai_set_i64(table, row, O_STEPS, p->stats.states[NAI_STEP_STEADY]);
  nai_set_i64(table, row, O_WITH, with);
  for (size_t i = 0; i < sizeof medians / sizeof *medians; i++)
    nai_set_i64(table, row, medians[i][0], (int64_t)median_of(room, p, op, medians[i][1]));
  for (size_t i = 0; all.v[MATCHED] && i < sizeof matched / sizeof *matched; i++)
    nai_set_i64(table, row, matched[i][0], (int64_t)median_of(room, p, op, matched[i][1]));
  if (all.v[MATCHED_NS])
    nai_set_f64(table, row, O_WAIT_PCT, nai_percent((double)all.v[WAIT], (double)all.v[MATCHED_NS]));
  nai_set_f64(table, row, O_PCT, nai_percent((double)all.v[EXPOSED], (double)p->stats.total_ns));
}

static int put_ops(struct nai_table *table, const struct nai_comm *c, struct place *p, struct nai_err *err) {
  struct op ops[MOST_OPS];
  uint32_t count = 0;
  int64_t *room = malloc(((size_t)p->list->count + 1) * sizeof *room);
  bool oom = !room;
  for (uint32_t i = c->first_of_gpu[p->list->gpu]; !oom && i < c->first_of_gpu[p->list->gpu + 1]; i++) {
    if (c->items[i].rank != p->rank)
      continue;
    struct op *op = op_of(ops, &count, name_of(&c->items[i]), p->list->count, &oom);
    if (op)
      add_item(&op->steps[index_of(c, p, &c->items[i])], c, i);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!oom && p->stats.states[NAI_STEP_STEADY])
      put_op(table, c, p, &ops[i], room);
    free(ops[i].steps);
  }
  free(room);
  return oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- places --------------------------------------------------------------------------------------- */

static uint32_t rank_of(const struct nai_comm *c, const struct nai_step_list *list) {
  for (uint32_t i = 0; i < c->rank_count; i++)
    if (c->ranks[i].gpu == list->gpu && c->ranks[i].process == (int32_t)list->process)
      return i;
  return NAI_NO_ROW;
}

static int put_place(struct nai_table *steps, struct nai_table *ops, const struct nai_comm *c,
                     const struct nai_step_list *list, struct nai_err *err) {
  struct place p = {.list = list, .steps = &c->m->steps->processes[list->process], .rank = rank_of(c, list)};
  if (p.rank == NAI_NO_ROW || !list->count)
    return NAI_OK;
  p.of_step = malloc(((size_t)p.steps->count + 1) * sizeof *p.of_step);
  if (!p.of_step)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < p.steps->count; i++)
    p.of_step[i] = UINT32_MAX;
  for (uint32_t i = 0; i < list->count; i++)
    p.of_step[list->v[i].step] = i;
  int rc = nai_step_stats_new(&p.stats, p.steps, list, err);
  if (!rc)
    rc = put_steps(steps, c, &p, err);
  if (!rc)
    rc = put_ops(ops, c, &p, err);
  nai_step_stats_free(&p.stats);
  free(p.of_step);
  return rc;
}

int nai_comm_put_steps(struct nai_table *steps, struct nai_table *ops, const struct nai_comm *c, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < c->m->steps->list_count; i++)
    rc = put_place(steps, ops, c, &c->m->steps->lists[i], err);
  static const struct nai_sort_by order[] = {{O_PID, false}, {O_DEVICE, false}, {O_TOTAL, true}, {O_OP, false}};
  return rc ? rc : nai_table_sort(ops, order, 4, err);
}
