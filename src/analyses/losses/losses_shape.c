/* Kernels that leave much of the GPU empty: fewer blocks than SMs, blocks of less than a warp. */
#include "analyses/losses/losses.h"

#include "base/fmt.h"
#include "model/kernels/waves.h"
#include "tables/gpus.h"
#include "tables/kernel_configs.h"

enum { WARP = 32, FULL_BLOCK = 256, MIN_KERNEL_PCT = 5 };

/* A multiprocessor has four schedulers, of a warp each. */
enum { SM_LANES = 4 * WARP };

/* A GPU starts about one block per clock: from this share of that on, kernels are taken to be limited by it. */
static const double start_limit = 0.8;

/* Blocks and threads per block of a launch configuration, -1 where the export does not tell. */
struct shape {
  int64_t blocks, threads;
};

/* Sum of times, each times a part of `whole`, in whole ns: fractions are carried, so that no order of terms matters. */
struct share_sum {
  int64_t ns, rest, whole; /* rest: of a ns, in `whole` parts of it */
};

static void add_share(struct share_sum *sum, int64_t ns, int64_t part) {
  sum->rest += ns % sum->whole * part;
  sum->ns += ns / sum->whole * part + sum->rest / sum->whole;
  sum->rest %= sum->whole;
}

/* What the operations of one GPU look like. Parts of its SMs that may share some are looked at together: `group` has
 * the first of them by number of the partition, and `sms` what kernels of the group can use, 0 unknown. */
struct shapes {
  const struct nai_loss_gpu *g;
  struct shape *of_config;
  struct nai_partitions partitions;
  uint32_t *group;
  int64_t *sms, all_sms;
};

/* The group of an operation that runs on SMs. */
static uint32_t group_of(const struct shapes *s, uint32_t i) {
  const struct nai_op *op = &s->g->gpu->ops[i];
  if (!nai_partitions_any(&s->partitions) || op->type != NAI_OP_KERNEL)
    return s->group[0];
  return s->group[nai_partition_of(&s->partitions, op->row, s->g->gpu->device_id)];
}

/* The shape of a kernel that can be judged, -1 for others: those of runtimes, communication (meant to use few blocks),
 * what starts outside of active spans. */
static struct shape shape_of(const struct shapes *s, uint32_t i) {
  const struct nai_model *m = s->g->m;
  const struct nai_op *op = &s->g->gpu->ops[i];
  int32_t config = op->type == NAI_OP_KERNEL ? nai_val_i32(&m->kernels.config, op->row) : -1;
  bool known = s->g->inside[i] && config >= 0 && config < m->tables[NAI_IN_KERNEL_CONFIGS]->rows &&
               !op->communication && s->g->traits[nai_val_text(&m->kernels.name, op->row)] != NAI_TRAIT_RUNTIME;
  return known ? s->of_config[config] : (struct shape){-1, -1};
}

/* The same, but none of a kernel in a part of the GPU of which nobody knows how many SMs it has. */
static struct shape shape_on_sms(const struct shapes *s, uint32_t i) {
  const struct nai_op *op = &s->g->gpu->ops[i];
  bool unknown =
      nai_partitions_any(&s->partitions) && op->type == NAI_OP_KERNEL &&
      !nai_partition_sms(&s->partitions, nai_partition_of(&s->partitions, op->row, s->g->gpu->device_id), s->all_sms);
  return unknown ? (struct shape){-1, -1} : shape_of(s, i);
}

/* --- time with few blocks, and what of the GPU idles then ------------------------------------- */

/* Kernels that run, in a heap by their ends. */
struct running {
  int64_t end;
  struct shape shape;
};
struct sweep {
  struct nai_arena *arena;
  struct running *heap;
  uint32_t count, capacity;
  int64_t sms, blocks; /* of the GPU; of all that run */
  int64_t lanes;       /* of four warps, in these blocks: those that have a thread */
  int64_t others;      /* how many run that cannot be judged */
  int64_t at, few_ns;
  struct share_sum
      idle; /* of few_ns, as much as lanes have no thread; idle.whole: four warps' on each multiprocessor */
};

static void pass(struct sweep *s, int64_t t) {
  if (s->count && !s->others && s->blocks < s->sms && t > s->at) {
    s->few_ns += t - s->at;
    add_share(&s->idle, t - s->at, s->idle.whole - s->lanes);
  }
  s->at = t > s->at ? t : s->at;
}

/* One more of them runs, or (-1) one less. */
static void count_running(struct sweep *s, struct shape shape, int by) {
  int64_t blocks = shape.blocks < s->sms ? shape.blocks : s->sms;
  s->others += blocks < 0 ? by : 0;
  s->blocks += blocks < 0 ? 0 : by * blocks;
  s->lanes += blocks < 0 ? 0 : by * blocks * (shape.threads > 0 && shape.threads < SM_LANES ? shape.threads : SM_LANES);
}

static int push(struct sweep *s, int64_t end, struct shape shape, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(s->heap, s->capacity, s->count, s->arena, err));
  uint32_t i = s->count++;
  for (; i && s->heap[(i - 1) / 2].end > end; i = (i - 1) / 2)
    s->heap[i] = s->heap[(i - 1) / 2];
  s->heap[i] = (struct running){end, shape};
  count_running(s, shape, 1);
  return NAI_OK;
}

static void pop(struct sweep *s) {
  struct running top = s->heap[0], last = s->heap[--s->count];
  uint32_t i = 0;
  for (;;) {
    uint32_t child = 2 * i + 1;
    if (child >= s->count)
      break;
    if (child + 1 < s->count && s->heap[child + 1].end < s->heap[child].end)
      child++;
    if (s->heap[child].end >= last.end)
      break;
    s->heap[i] = s->heap[child];
    i = child;
  }
  s->heap[i] = last;
  count_running(s, top.shape, -1);
}

static void pass_until(struct sweep *s, int64_t t) {
  while (s->count && s->heap[0].end <= t) {
    pass(s, s->heap[0].end);
    pop(s);
  }
  if (t < INT64_MAX)
    pass(s, t);
}

/* Time in which kernels of a group run that together have fewer blocks than there are SMs: wall time instead of the
 * sum, since kernels that run at once fill the SMs together. In blocks of four warps or more on all SMs they would
 * take the share of the lanes that have a thread now. Of the GPU a group is as much as it has of the SMs. */
static int few_blocks(struct share_sum *few, struct share_sum *idle, const struct shapes *shapes, uint32_t group,
                      struct nai_err *err) {
  const struct nai_loss_gpu *g = shapes->g;
  int64_t sms = shapes->sms[group];
  struct sweep s = {.arena = g->arena, .sms = sms, .idle.whole = sms * SM_LANES, .at = INT64_MIN};
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    if (!g->inside[i] || (op->type != NAI_OP_KERNEL && op->type != NAI_OP_GRAPH) || group_of(shapes, i) != group)
      continue;
    pass_until(&s, op->start);
    NAI_TRY(push(&s, op->end, shape_on_sms(shapes, i), err));
  }
  pass_until(&s, INT64_MAX);
  add_share(few, s.few_ns, sms);
  add_share(idle, s.idle.ns, sms);
  return NAI_OK;
}

/* --- blocks of less than a warp --------------------------------------------------------------- */

/* Kernels with such blocks. */
struct small {
  struct nai_loss_sum sum;
  struct share_sum idle; /* what full warps would not need; of calls that starts limit, what blocks of 256 would not */
  int64_t clock;         /* of the GPU, 0 unknown */
  int64_t limited;       /* calls that starts limit; of the fastest: */
  int64_t blocks, ns;
  double per_clock; /* blocks that it starts */
};

static void add_small(struct small *s, const struct nai_loss_gpu *g, uint32_t op, struct shape shape) {
  int64_t ns = g->gpu->ops[op].end - g->gpu->ops[op].start;
  double clocks = (double)ns * (double)s->clock / 1e9, per_clock = clocks > 0 ? (double)shape.blocks / clocks : 0;
  bool limited = per_clock >= start_limit;
  nai_loss_sum_add(&s->sum, g, op);
  add_share(&s->idle, ns, limited ? FULL_BLOCK - shape.threads : (WARP - shape.threads) * (FULL_BLOCK / WARP));
  s->limited += limited;
  if (limited && per_clock > s->per_clock) {
    s->blocks = shape.blocks;
    s->ns = ns;
    s->per_clock = per_clock;
  }
}

static void put_small(struct small *s, const struct nai_loss_gpu *g) {
  NAI_SCOPED(nai_buf) detail = {0};
  int64_t unavoidable_ns = s->sum.ns - s->idle.ns;
  s->sum.unavoidable_ns = unavoidable_ns > s->sum.unavoidable_ns ? unavoidable_ns : s->sum.unavoidable_ns;
  if (s->limited) {
    nai_fmt_count(&detail, s->limited);
    nai_buf_puts(&detail, " of ");
    nai_fmt_count(&detail, s->sum.count);
    nai_buf_puts(&detail, " executions are limited by the rate at which blocks start, the fastest: ");
    nai_fmt_count(&detail, s->blocks);
    nai_buf_puts(&detail, " blocks in ");
    nai_fmt_duration(&detail, (double)s->ns);
    nai_buf_puts(&detail, ", ");
    nai_fmt_real(&detail, s->per_clock, 2);
    nai_buf_puts(&detail, " per clock");
  }
  nai_loss_sum_put(g, "small_blocks", &s->sum, &detail);
}

static int small_blocks(const struct shapes *shapes, int64_t clock, struct nai_err *err) {
  const struct nai_loss_gpu *g = shapes->g;
  struct small s = {.idle.whole = FULL_BLOCK, .clock = clock == NAI_NULL_I64 ? 0 : clock};
  bool *goes;
  NAI_TRY(NAI_NEW(goes, g->arena, g->gpu->op_count, err));
  NAI_TRY(nai_loss_sum_new(&s.sum, g, err));
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    struct shape shape = shape_of(shapes, i);
    goes[i] = shape.threads > 0 && shape.threads < WARP;
    if (goes[i])
      add_small(&s, g, i, shape);
  }
  if (!s.sum.count)
    return NAI_OK;
  nai_loss_sum_keep(&s.sum, g, goes);
  put_small(&s, g);
  return NAI_OK;
}

/* --- both ------------------------------------------------------------------------------------- */

static int fill_shapes(struct shapes *s, struct nai_err *err) {
  const struct nai_table *configs = s->g->m->tables[NAI_IN_KERNEL_CONFIGS];
  NAI_TRY(NAI_NEW(s->of_config, s->g->arena, (size_t)configs->rows, err));
  for (int64_t i = 0; i < configs->rows; i++)
    s->of_config[i] = (struct shape){nai_config_product(configs, i, KERNEL_CONFIGS_grid_x),
                                     nai_config_product(configs, i, KERNEL_CONFIGS_block_x)};
  return NAI_OK;
}

/* Which partitions kernels of this GPU may have run in. */
static int find_used(bool **used, const struct shapes *s, struct nai_err *err) {
  const struct nai_gpu *gpu = s->g->gpu;
  const bool parts = nai_partitions_any(&s->partitions);
  NAI_TRY(NAI_NEW(*used, s->g->arena, s->partitions.count, err));
  (*used)[0] = !parts;
  for (uint32_t i = 0; parts && i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (op->type == NAI_OP_KERNEL || op->type == NAI_OP_GRAPH)
      (*used)[op->type == NAI_OP_KERNEL ? nai_partition_of(&s->partitions, op->row, gpu->device_id) : 0] = true;
  }
  return NAI_OK;
}

static int find_groups(struct shapes *s, struct nai_err *err) {
  uint32_t count = s->partitions.count;
  bool *used;
  NAI_TRY(find_used(&used, s, err));
  NAI_TRY(NAI_NEW(s->group, s->g->arena, count, err));
  NAI_TRY(NAI_NEW(s->sms, s->g->arena, count, err));
  for (uint32_t i = 0; i < count; i++)
    s->group[i] = i;
  for (uint32_t i = 0; i < count; i++) /* those that meet get the group of the first */
    for (uint32_t k = 0; k < i; k++)
      if (used[i] && used[k] && s->group[i] != s->group[k] && nai_partitions_overlap(&s->partitions, i, k))
        for (uint32_t from = s->group[i], to = s->group[k], n = 0; n <= i; n++)
          s->group[n] = s->group[n] == from ? to : s->group[n];
  for (uint32_t i = 0; i < count; i++) {
    int64_t sms = used[i] ? nai_partition_sms(&s->partitions, i, s->all_sms) : 0;
    int64_t *most = &s->sms[s->group[i]];
    *most = sms > *most ? sms : *most;
  }
  return NAI_OK;
}

static int put_few_blocks(const struct shapes *shapes, struct nai_err *err) {
  const struct nai_loss_gpu *g = shapes->g;
  struct share_sum few_ns = {.whole = shapes->all_sms}, idle_ns = {.whole = shapes->all_sms};
  struct nai_loss_sum few;
  NAI_TRY(nai_loss_sum_new(&few, g, err));
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    struct shape shape = shape_on_sms(shapes, i);
    if (shape.blocks > 0 && shape.blocks < shapes->sms[group_of(shapes, i)])
      nai_loss_sum_add(&few, g, i);
  }
  if (!few.count)
    return NAI_OK;
  for (uint32_t group = 0; group < shapes->partitions.count; group++)
    if (shapes->sms[group])
      NAI_TRY(few_blocks(&few_ns, &idle_ns, shapes, group, err));
  few.ns = few_ns.ns;
  few.unavoidable_ns = few_ns.ns - idle_ns.ns;
  if (few.ns)
    nai_loss_sum_put(g, "underfilled", &few, NULL);
  return NAI_OK;
}

int nai_losses_of_shape(const struct nai_loss_gpu *g, struct nai_err *err) {
  struct GPUS_row gpu = GPUS_at(g->m->tables[NAI_IN_GPUS], nai_model_gpu_index(g->m, g->gpu->device_id));
  struct shapes shapes = {.g = g, .all_sms = gpu.sm_count > 0 ? gpu.sm_count : 0};
  NAI_TRY(fill_shapes(&shapes, err));
  NAI_TRY(nai_partitions_new(&shapes.partitions, g->m, g->arena, err));
  NAI_TRY(find_groups(&shapes, err));
  if (shapes.all_sms && (double)g->kernel_ns * 100 >= (double)g->active_ns * MIN_KERNEL_PCT)
    NAI_TRY(put_few_blocks(&shapes, err));
  return small_blocks(&shapes, gpu.clock_hz, err);
}
