/* What does each step spend on communication? Tables step_comm and step_comm_ops: a kernel belongs to the step that
 * launched it. */
#include "analyses/analysis.h"
#include "model/comm/comm.h"
#include "model/steps/step_stats.h"

#include "base/sort.h"
#include "tables/step_comm.h"
#include "tables/step_comm_ops.h"

/* One process on one GPU. */
struct place {
  const struct nai_model *m;
  const struct nai_step_list *list;
  const struct nai_process_steps *steps;
  const struct nai_step_stats *stats;
  struct nai_arena *arena;
  uint32_t rank;
  uint32_t *of_step; /* per step of the process: index in the list, UINT32_MAX for none */
  uint32_t near;     /* step of the item before */
};

/* --- steps ---------------------------------------------------------------------------------------- */

/* Adds to a row, which is zeroed at first. */
static void add_item(struct STEP_COMM_row *row, const struct nai_comm *c, uint32_t number) {
  const struct nai_comm_item *item = &c->items[number];
  int64_t ns = item->end - item->start, bytes = nai_comm_bytes(item);
  if (!row->kernel_count || item->start < row->first_start_ns)
    row->first_start_ns = item->start;
  if (!row->kernel_count || item->end > row->last_end_ns)
    row->last_end_ns = item->end;
  row->kernel_count++;
  row->total_time_ns += ns;
  row->overlapped_ns += ns - item->exposed;
  row->exposed_ns += item->charged;
  row->sized_count += bytes >= 0;
  row->total_bytes += bytes >= 0 ? bytes : 0;
  if (item->set == NAI_NO_ROW)
    return;
  row->matched_count++;
  row->matched_ns += ns;
  row->wait_ns += item->wait;
  row->transfer_ns += item->transfer;
  row->tail_ns += item->tail;
  row->late_count += item->late == number;
}

static void put_step(struct nai_table *table, const struct place *p, uint32_t i, struct STEP_COMM_row *row) {
  bool outside = i == p->list->count;
  if (!row->kernel_count)
    return;
  row->pid = nai_model_pid(p->m, (int32_t)p->list->process);
  row->device_id = nai_model_device(p->m, p->list->gpu);
  row->step = outside ? NAI_NULL_I64 : p->list->v[i].step;
  row->state = outside ? NULL : nai_step_state_name((enum nai_step_state)p->stats->state[i]);
  if (!row->matched_count)
    row->wait_ns = row->transfer_ns = row->tail_ns = row->late_count = NAI_NULL_I64;
  if (!row->sized_count)
    row->total_bytes = NAI_NULL_I64;
  STEP_COMM_add(table, row);
}

/* Index in the list of the step that launched it, the list's count for none: as in model/steps. */
static uint32_t index_of(struct place *p, const struct nai_comm_item *item) {
  uint32_t step = UINT32_MAX;
  if (item->launched != NAI_NULL_I64)
    step = nai_step_at(p->steps, item->launched, &p->near);
  else if (!p->m->apis.n)
    step = nai_step_at(p->steps, item->start, &p->near);
  return step == UINT32_MAX || p->of_step[step] == UINT32_MAX ? p->list->count : p->of_step[step];
}

static int put_steps(struct nai_table *table, struct place *p, struct nai_err *err) {
  const struct nai_comm *c = p->m->comm;
  struct STEP_COMM_row *rows;
  NAI_TRY(NAI_NEW(rows, p->arena, (size_t)p->list->count + 1, err));
  for (uint32_t i = c->first_of_gpu[p->list->gpu]; i < c->first_of_gpu[p->list->gpu + 1]; i++)
    if (c->items[i].rank == p->rank)
      add_item(&rows[index_of(p, &c->items[i])], c, i);
  for (uint32_t i = 0; i <= p->list->count; i++)
    put_step(table, p, i, &rows[i]);
  return NAI_OK;
}

/* --- collectives ---------------------------------------------------------------------------------- */

enum { MAX_OPS = 16 };

/* One collective, step by step. */
struct op {
  const char *name;
  struct STEP_COMM_row *steps; /* list->count + 1 */
};

struct ops {
  struct op v[MAX_OPS];
  uint32_t count;
};

/* Collectives are few; *out = NULL for those beyond MAX_OPS, which are left out. */
static int op_of(struct op **out, struct ops *ops, const char *name, const struct place *p, struct nai_err *err) {
  uint32_t k = 0;
  while (k < ops->count && strcmp(ops->v[k].name, name) != 0)
    k++;
  *out = k == MAX_OPS ? NULL : &ops->v[k];
  if (k < ops->count || k == MAX_OPS)
    return NAI_OK;
  ops->v[ops->count++].name = name;
  return NAI_NEW(ops->v[k].steps, p->arena, (size_t)p->list->count + 1, err);
}

/* Of the column that is `offset` into a row, over the steady steps. */
static int64_t median_of(int64_t *room, const struct place *p, const struct op *op, size_t offset) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->list->count; i++)
    if (p->stats->state[i] == NAI_STEP_STEADY)
      memcpy(&room[n++], (const char *)&op->steps[i] + offset, sizeof *room);
  return n ? (int64_t)nai_quantile_i64(room, n, 0.5) : 0;
}
#define MEDIAN(column) median_of(room, p, op, offsetof(struct STEP_COMM_row, column))

static void put_op(struct nai_table *table, const struct place *p, const struct op *op, int64_t *room) {
  int64_t with = 0, exposed_ns = 0, wait_ns = 0, matched = 0, matched_ns = 0;
  for (uint32_t i = 0; i < p->list->count; i++) {
    if (p->stats->state[i] != NAI_STEP_STEADY)
      continue;
    with += op->steps[i].kernel_count > 0;
    exposed_ns += op->steps[i].exposed_ns;
    wait_ns += op->steps[i].wait_ns;
    matched += op->steps[i].matched_count;
    matched_ns += op->steps[i].matched_ns;
  }
  NAI_ADD(STEP_COMM_OPS, table, .pid = nai_model_pid(p->m, (int32_t)p->list->process),
          .device_id = nai_model_device(p->m, p->list->gpu), .op = op->name,
          .steady_steps = p->stats->states[NAI_STEP_STEADY], .with_steps = with,
          .median_kernel_count = MEDIAN(kernel_count), .median_total_ns = MEDIAN(total_time_ns),
          .median_exposed_ns = MEDIAN(exposed_ns), .median_wait_ns = matched ? MEDIAN(wait_ns) : NAI_NULL_I64,
          .median_transfer_ns = matched ? MEDIAN(transfer_ns) : NAI_NULL_I64,
          .wait_pct = matched_ns ? nai_percent((double)wait_ns, (double)matched_ns) : NAN,
          .exposed_pct_of_steps = nai_percent((double)exposed_ns, (double)p->stats->total_ns));
}

static int put_ops(struct nai_table *table, struct place *p, struct nai_err *err) {
  const struct nai_comm *c = p->m->comm;
  struct ops ops = {.count = 0};
  int64_t *room;
  NAI_TRY(NAI_NEW(room, p->arena, p->list->count, err));
  for (uint32_t i = c->first_of_gpu[p->list->gpu]; i < c->first_of_gpu[p->list->gpu + 1]; i++) {
    struct op *op;
    if (c->items[i].rank != p->rank)
      continue;
    NAI_TRY(op_of(&op, &ops, nai_comm_op(&c->items[i]), p, err));
    if (op)
      add_item(&op->steps[index_of(p, &c->items[i])], c, i);
  }
  for (uint32_t i = 0; p->stats->states[NAI_STEP_STEADY] && i < ops.count; i++)
    put_op(table, p, &ops.v[i], room);
  return NAI_OK;
}

/* --- places --------------------------------------------------------------------------------------- */

static uint32_t rank_of(const struct nai_comm *c, const struct nai_step_list *list) {
  for (uint32_t i = 0; i < c->rank_count; i++)
    if (c->ranks[i].gpu == list->gpu && c->ranks[i].process == (int32_t)list->process)
      return i;
  return NAI_NO_ROW;
}

static int put_place(const struct nai_node_io *io, const struct nai_step_list *list, struct nai_err *err) {
  const struct nai_model *m = io->model;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  NAI_SCOPED(nai_step_stats) stats = {0};
  struct place p = {.m = m,
                    .list = list,
                    .steps = &m->steps->processes[list->process],
                    .stats = &stats,
                    .arena = &arena,
                    .rank = rank_of(m->comm, list)};
  if (p.rank == NAI_NO_ROW || !list->count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(p.of_step, &arena, p.steps->count, err));
  for (uint32_t i = 0; i < p.steps->count; i++)
    p.of_step[i] = UINT32_MAX;
  for (uint32_t i = 0; i < list->count; i++)
    p.of_step[list->v[i].step] = i;
  NAI_TRY(nai_step_stats_new(&stats, p.steps, list, err));
  NAI_TRY(put_steps(io->out[0], &p, err));
  return put_ops(io->out[1], &p, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  for (uint32_t i = 0; i < io->model->steps->list_count; i++)
    NAI_TRY(put_place(io, &io->model->steps->lists[i], err));
  return NAI_OK;
}

NAI_ANALYSIS(step_comm, .outputs = NAI_SCHEMAS(&nai_step_comm_schema, &nai_step_comm_ops_schema),
             .parts = NAI_PART(COMM) | NAI_PART(STEPS), .tables = NAI_IN(APIS) | NAI_IN(GPUS) | NAI_IN(PROCESSES),
             .run = run)
