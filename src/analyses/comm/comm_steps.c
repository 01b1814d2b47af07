/* What does each step spend on communication? Tables step_comm and step_comm_ops: a kernel belongs to the step that
 * launched it. */
#include "analyses/comm/comm.h"
#include "base/sort.h"
#include "model/steps/step_stats.h"
#include "tables/step_comm.h"
#include "tables/step_comm_ops.h"

#include <stdlib.h>
#include <string.h>

/* --- steps ---------------------------------------------------------------------------------------- */

/* What kernels add up to, by column of step_comm. */
struct sums {
  int64_t v[STEP_COMM_last_end_ns + 1];
};

static void add_item(struct sums *s, const struct nai_comm *c, uint32_t number) {
  const struct nai_comm_item *item = &c->items[number];
  int64_t ns = item->end - item->start, bytes = nai_comm_bytes(item);
  bool matched = item->set != NAI_NO_ROW;
  if (!s->v[STEP_COMM_kernel_count] || item->start < s->v[STEP_COMM_first_start_ns])
    s->v[STEP_COMM_first_start_ns] = item->start;
  if (!s->v[STEP_COMM_kernel_count] || item->end > s->v[STEP_COMM_last_end_ns])
    s->v[STEP_COMM_last_end_ns] = item->end;
  s->v[STEP_COMM_kernel_count]++;
  s->v[STEP_COMM_total_time_ns] += ns;
  s->v[STEP_COMM_overlapped_ns] += ns - item->exposed;
  s->v[STEP_COMM_exposed_ns] += item->charged;
  s->v[STEP_COMM_matched_count] += matched;
  s->v[STEP_COMM_matched_ns] += matched ? ns : 0;
  s->v[STEP_COMM_wait_ns] += matched ? item->wait : 0;
  s->v[STEP_COMM_transfer_ns] += matched ? item->transfer : 0;
  s->v[STEP_COMM_tail_ns] += matched ? item->tail : 0;
  s->v[STEP_COMM_late_count] += matched && item->late == number;
  s->v[STEP_COMM_sized_count] += bytes >= 0;
  s->v[STEP_COMM_total_bytes] += bytes >= 0 ? bytes : 0;
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
  if (!s->v[STEP_COMM_kernel_count])
    return;
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, STEP_COMM_pid, nai_model_pid(c->m, (int32_t)p->list->process));
  nai_set_i64(table, row, STEP_COMM_device_id, nai_model_device(c->m, p->list->gpu));
  if (!outside) {
    nai_set_i64(table, row, STEP_COMM_step, p->list->v[i].step);
    nai_set_str(table, row, STEP_COMM_state, nai_step_state_name((enum nai_step_state)p->stats.state[i]));
  }
  for (int column = STEP_COMM_kernel_count; column <= STEP_COMM_last_end_ns; column++)
    nai_set_i64(table, row, column, s->v[column]);
  for (int column = STEP_COMM_wait_ns; !s->v[STEP_COMM_matched_count] && column <= STEP_COMM_late_count; column++)
    nai_set_i64(table, row, column, NAI_NULL_I64);
  if (!s->v[STEP_COMM_sized_count])
    nai_set_i64(table, row, STEP_COMM_total_bytes, NAI_NULL_I64);
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

enum { MAX_OPS = 16 };

/* One collective, step by step. */
struct op {
  const char *name;
  struct sums *steps; /* list->count + 1 */
};

static const char *name_of(const struct nai_comm_item *item) { return item->op ? item->op : "unknown"; }

/* Collectives are few; more than MAX_OPS are left out. NULL then, or when out of memory. */
static struct op *op_of(struct op *ops, uint32_t *count, const char *name, uint32_t steps, bool *oom) {
  for (uint32_t i = 0; i < *count; i++)
    if (strcmp(ops[i].name, name) == 0)
      return &ops[i];
  if (*count == MAX_OPS)
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
  static const int medians[][2] = {{STEP_COMM_OPS_median_kernel_count, STEP_COMM_kernel_count},
                                   {STEP_COMM_OPS_median_total_ns, STEP_COMM_total_time_ns},
                                   {STEP_COMM_OPS_median_exposed_ns, STEP_COMM_exposed_ns}};
  static const int matched[][2] = {{STEP_COMM_OPS_median_wait_ns, STEP_COMM_wait_ns},
                                   {STEP_COMM_OPS_median_transfer_ns, STEP_COMM_transfer_ns}};
  struct sums all = {0};
  int64_t row = nai_table_add_row(table), with = 0;
  for (uint32_t i = 0; i < p->list->count; i++) {
    if (p->stats.state[i] != NAI_STEP_STEADY)
      continue;
    with += op->steps[i].v[STEP_COMM_kernel_count] > 0;
    for (int column = STEP_COMM_kernel_count; column <= STEP_COMM_tail_ns; column++)
      all.v[column] += op->steps[i].v[column];
  }
  nai_set_i64(table, row, STEP_COMM_OPS_pid, nai_model_pid(c->m, (int32_t)p->list->process));
  nai_set_i64(table, row, STEP_COMM_OPS_device_id, nai_model_device(c->m, p->list->gpu));
  nai_set_str(table, row, STEP_COMM_OPS_op, op->name);
  nai_set_i64(table, row, STEP_COMM_OPS_steady_steps, p->stats.states[NAI_STEP_STEADY]);
  nai_set_i64(table, row, STEP_COMM_OPS_with_steps, with);
  for (size_t i = 0; i < sizeof medians / sizeof *medians; i++)
    nai_set_i64(table, row, medians[i][0], (int64_t)median_of(room, p, op, medians[i][1]));
  for (size_t i = 0; all.v[STEP_COMM_matched_count] && i < sizeof matched / sizeof *matched; i++)
    nai_set_i64(table, row, matched[i][0], (int64_t)median_of(room, p, op, matched[i][1]));
  if (all.v[STEP_COMM_matched_ns])
    nai_set_f64(table, row, STEP_COMM_OPS_wait_pct,
                nai_percent((double)all.v[STEP_COMM_wait_ns], (double)all.v[STEP_COMM_matched_ns]));
  nai_set_f64(table, row, STEP_COMM_OPS_exposed_pct_of_steps,
              nai_percent((double)all.v[STEP_COMM_exposed_ns], (double)p->stats.total_ns));
}

static int put_ops(struct nai_table *table, const struct nai_comm *c, struct place *p, struct nai_err *err) {
  struct op ops[MAX_OPS];
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
  return rc;
}
