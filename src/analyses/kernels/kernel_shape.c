/* How large are the kernels' launches, what do they take of a multiprocessor, how do they fill the GPU? Table
 * kernel_shape. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/kernels/repeated.h"
#include "model/kernels/waves.h"
#include "tables/kernel_configs.h"
#include "tables/kernel_shape.h"

/* All executions of one kernel on one GPU, or one part of its SMs, with one launch configuration. */
struct sum {
  uint32_t group, shape; /* index in kernel_groups; number of grid and block, UINT32_MAX unknown */
  uint32_t partition;
  int32_t config;
  struct nai_fit fit;
  int64_t calls, total_ns, tail_ns, longest_ns;
  uint32_t longest; /* kernel_events row */
};

struct work {
  const struct nai_model *m;
  struct nai_arena *arena;
  const struct nai_table *configs;
  const struct nai_shapes *shapes;
  struct nai_sm *sms; /* per GPU */
  int64_t *device_ns; /* per GPU: all kernel durations */
  bool *uneven;       /* per kernel name: waves do not apply */
  struct nai_partitions partitions;
  struct nai_keyset launches; /* partition << 32 | config + 1, where there are partitions */
  struct nai_keyset keys;     /* group << 32 | config + 1, or number of the launch */
  uint32_t *last;             /* per kernel kind: 1 + the sum met last */
  struct sum *sums;
  uint32_t capacity;
};

/* --- sums ---------------------------------------------------------------------------------------- */

/* What executions of one kernel are told apart by. */
static uint32_t launch_of(struct work *w, uint32_t partition, int32_t config) {
  bool added;
  return nai_partitions_any(&w->partitions)
           ? nai_keyset_add(&w->launches, nai_key_pair(partition, (uint32_t)(config + 1)), &added)
           : (uint32_t)(config + 1);
}

static struct nai_sm sm_of(const struct work *w, uint32_t gpu, uint32_t partition) {
  struct nai_sm sm = w->sms[gpu];
  sm.count = nai_partition_sms(&w->partitions, partition, sm.count);
  return sm;
}

static int sum_of(struct sum **out, struct work *w, uint32_t kernel, uint32_t gpu, uint32_t partition,
                  bool communication, struct nai_err *err) {
  const struct nai_model *m = w->m;
  uint32_t *last = &w->last[m->kernel_kind[kernel]];
  int32_t config = m->kernel_kinds[m->kernel_kind[kernel]].config;
  bool added = false;
  if (*last && w->sums[*last - 1].partition == partition) {
    *out = &w->sums[*last - 1];
    return NAI_OK;
  }
  config = config < 0 || config >= w->configs->rows ? -1 : config;
  uint32_t launch = launch_of(w, partition, config);
  uint32_t index = nai_keyset_add(&w->keys, nai_key_pair(m->kernel_group[kernel], launch), &added);
  NAI_TRY(nai_memory_check(!w->keys.oom && !w->launches.oom, err));
  NAI_TRY(NAI_ROOM(w->sums, w->capacity, index, w->arena, err));
  struct sum *sum = *out = &w->sums[index];
  *last = index + 1;
  if (!added)
    return NAI_OK;
  struct nai_sm sm = sm_of(w, gpu, partition);
  bool uneven = communication || w->uneven[nai_val_text(&m->kernels.name, kernel)];
  *sum = (struct sum){.group = m->kernel_group[kernel],
                      .shape = UINT32_MAX,
                      .partition = partition,
                      .config = config,
                      .fit = nai_fit_of(w->configs, config, &sm, uneven),
                      .longest = kernel};
  if (sum->fit.blocks > 0 && sum->fit.threads > 0)
    sum->shape = w->shapes->of_config[config];
  return NAI_OK;
}

/* Where other kernels run beside those of a partition; made when it is first asked for. */
struct beside {
  bool made;
  struct nai_intervals crowded;
  struct nai_coverage coverage;
};

static int beside_of(struct nai_coverage **out, struct beside *beside, const struct work *w, uint32_t partition,
                     const struct nai_gpu *g, struct nai_arena *arena, struct nai_err *err) {
  *out = &beside->coverage;
  if (beside->made)
    return NAI_OK;
  beside->made = true;
  beside->crowded = (struct nai_intervals){.arena = arena};
  NAI_TRY(nai_crowded(&beside->crowded, &w->partitions, partition, g, err));
  return nai_coverage_in(&beside->coverage, &beside->crowded, arena, err);
}

static int add_gpu(struct work *w, uint32_t gpu, struct nai_err *err) {
  const struct nai_gpu *g = &w->m->gpus[gpu];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->m->scratch_dir);
  struct beside *beside;
  NAI_TRY(NAI_NEW(beside, &arena, w->partitions.count, err));
  for (uint32_t i = 0; i < g->op_count; i++) {
    const struct nai_op *op = &g->ops[i];
    struct sum *sum = NULL;
    if (op->type != NAI_OP_KERNEL)
      continue;
    bool any = nai_partitions_any(&w->partitions);
    uint32_t partition = any ? nai_partition_of(&w->partitions, op->row, g->device_id) : 0;
    NAI_TRY(sum_of(&sum, w, op->row, gpu, partition, op->communication, err));
    int64_t ns = op->end - op->start;
    if (ns > sum->longest_ns) { /* in order of their starts: the earliest of equals */
      sum->longest_ns = ns;
      sum->longest = op->row;
    }
    sum->calls++;
    sum->total_ns += ns;
    w->device_ns[gpu] += ns;
    if (sum->fit.fill == NAI_FILL_WAVES) { /* others have no tail */
      struct nai_coverage *coverage;
      NAI_TRY(beside_of(&coverage, &beside[partition], w, partition, g, &arena, err));
      sum->tail_ns += nai_tail_ns(&sum->fit, op->start, op->end, coverage);
    }
  }
  return NAI_OK;
}

/* --- rows ---------------------------------------------------------------------------------------- */

/* Rows of a table together; of one row the configuration with most time first. */
NAI_ORDER(compare_sums, struct sum, {a->group, b->group}, {a->shape, b->shape}, {a->partition, b->partition},
          {b->total_ns, a->total_ns}, {a->config, b->config})

static void set_config(struct KERNEL_SHAPE_row *row, const struct work *w, const struct sum *sum) {
  if (sum->shape == UINT32_MAX)
    return;
  struct KERNEL_CONFIGS_row c = KERNEL_CONFIGS_at(w->configs, sum->config);
  row->grid = nai_arena_printf(w->arena, "%" PRId64 "x%" PRId64 "x%" PRId64, c.grid_x, c.grid_y, c.grid_z);
  row->block = nai_arena_printf(w->arena, "%" PRId64 "x%" PRId64 "x%" PRId64, c.block_x, c.block_y, c.block_z);
  row->blocks = sum->fit.blocks;
  row->threads_per_block = sum->fit.threads;
  row->registers_per_thread = c.registers_per_thread;
  row->static_shared_bytes = c.static_shared_bytes;
  row->dynamic_shared_bytes = c.dynamic_shared_bytes;
  row->executed_shared_bytes = c.executed_shared_bytes;
  row->local_bytes_per_thread = c.local_bytes_per_thread;
  int64_t cluster = nai_config_product(w->configs, sum->config, KERNEL_CONFIGS_cluster_x);
  if (cluster > 1)
    row->cluster_blocks = cluster;
}

static void set_fit(struct KERNEL_SHAPE_row *row, const struct nai_fit *fit, const struct nai_sm *sm) {
#define WORD(id, word) word,
  static const char *const words[] = {NAI_FILL_STATES(WORD)};
#undef WORD
  row->fill = words[fit->fill];
  if (!fit->occupancy.blocks_per_sm)
    return;
  row->theoretical_occupancy_pct =
      nai_percent((double)(fit->occupancy.blocks_per_sm * fit->occupancy.warps), (double)sm->limits.warps_per_sm);
  row->occupancy_limiter = nai_occupancy_limiter_name(fit->occupancy.limiter);
  row->blocks_per_sm = fit->occupancy.blocks_per_sm;
  if (!fit->slots)
    return;
  row->waves = (double)fit->blocks / (double)fit->slots;
  row->wave_efficiency_pct = nai_wave_efficiency_pct(fit);
}

/* On which units it computes, and what a change of units could save. Tensor cores take FP32 data from 8.0 on (as TF32).
 */
static void set_arithmetic(struct KERNEL_SHAPE_row *row, enum nai_arithmetic arithmetic, const struct nai_sm *sm) {
  static const char *const words[NAI_ARITHMETIC_COUNT] = {NULL, "yes", "no", "no"};
  int64_t fp32 = sm->limits.fp32_flop_per_clock, tensor = sm->limits.tensor_flop_per_clock;
  row->tensor_cores = words[arithmetic];
  if (arithmetic == NAI_ARITHMETIC_FP32 && sm->major >= 8 && fp32 > 0 && tensor > fp32)
    row->tensor_gain_ns = (int64_t)((double)row->total_time_ns * (1 - (double)fp32 / (double)tensor));
}

static void set_partition(struct KERNEL_SHAPE_row *row, const struct work *w, uint32_t partition,
                          const struct nai_sm *sm) {
  row->sm_count = sm->count ? sm->count : NAI_NULL_I64;
  row->green_context = w->partitions.v[partition].green;
}

/* One row of all configurations with the same grid and block, in one partition. */
static void put_shape(struct nai_table *out, const struct work *w, const struct sum *sums, uint32_t n) {
  const struct nai_model *m = w->m;
  const struct nai_kernel_group *group = &m->kernel_groups[sums->group];
  const char *name = nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, group->name);
  int64_t calls = 0, total = 0, tail = 0;
  uint32_t longest = sums->longest;
  for (uint32_t i = 0; i < n; i++) {
    calls += sums[i].calls;
    total += sums[i].total_ns;
    tail += sums[i].tail_ns;
    int64_t more = sums[i].longest_ns - nai_kernel_ns(m, longest);
    if (more > 0 || (!more && nai_val(&m->kernels.start_ns, sums[i].longest) < nai_val(&m->kernels.start_ns, longest)))
      longest = sums[i].longest;
  }
  struct KERNEL_SHAPE_row row =
      NAI_ROW(KERNEL_SHAPE, .kernel_name = name, .device_id = nai_model_device(m, group->gpu), .call_count = calls,
              .total_time_ns = total,
              .pct_of_device_kernel_time = nai_percent((double)total, (double)w->device_ns[group->gpu]),
              .configuration_count = n, .tail_loss_ns = sums->fit.slots ? tail : NAI_NULL_I64,
              .category = nai_kernel_classes_name(m->classes, m->kernel_category[group->name]),
              .longest_start_ns = nai_val(&m->kernels.start_ns, longest),
              .longest_end_ns = nai_val(&m->kernels.end_ns, longest));
  struct nai_sm sm = sm_of(w, group->gpu, sums->partition);
  set_config(&row, w, sums);
  set_partition(&row, w, sums->partition, &sm);
  set_fit(&row, &sums->fit, &sm);
  set_arithmetic(&row, nai_kernel_classes_arithmetic(m->classes, name), &sm);
  KERNEL_SHAPE_add(out, &row);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_strings *names = &m->tables[NAI_IN_KERNELS]->strings;
  NAI_SCOPED(nai_shapes) shapes = {0};
  struct work w = {.m = m,
                   .arena = io->arena,
                   .configs = m->tables[NAI_IN_KERNEL_CONFIGS],
                   .shapes = &shapes,
                   .launches = {.arena = io->arena},
                   .keys = {.arena = io->arena}};
  NAI_TRY(NAI_NEW(w.sms, io->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(w.device_ns, io->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(w.last, io->arena, m->kernel_kind_count, err));
  NAI_TRY(NAI_NEW(w.uneven, io->arena, names->count, err));
  for (uint32_t i = 0; i < m->gpu_count; i++)
    w.sms[i] = nai_sm_of(m->tables[NAI_IN_GPUS], i, m->gpu_facts);
  for (uint32_t i = 0; i < names->count; i++)
    w.uneven[i] = nai_kernel_classes_uneven(m->classes, nai_strings_get(names, i));
  NAI_TRY(nai_shapes_new(&shapes, m, err));
  NAI_TRY(nai_partitions_new(&w.partitions, m, io->arena, err));
  for (uint32_t gpu = 0; gpu < m->gpu_count; gpu++)
    NAI_TRY(add_gpu(&w, gpu, err));
  if (w.keys.count)
    qsort(w.sums, w.keys.count, sizeof *w.sums, compare_sums);
  for (uint32_t i = 0, j; i < w.keys.count; i = j) {
    for (j = i + 1; j < w.keys.count && w.sums[j].group == w.sums[i].group && w.sums[j].shape == w.sums[i].shape &&
                    w.sums[j].partition == w.sums[i].partition;
         j++)
      ;
    put_shape(io->out[0], &w, w.sums + i, j - i);
  }
  return NAI_OK;
}

NAI_ANALYSIS(kernel_shape, .outputs = NAI_SCHEMAS(&nai_kernel_shape_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(GPUS) | NAI_PART(KERNEL_GROUPS),
             .tables = NAI_IN(KERNELS) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(GPUS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) |
                       NAI_IN(PROCESSES) | NAI_IN(CONTEXTS) | NAI_IN(CUDA_DEVICES),
             .config = NAI_CONFIG(KERNEL_CLASSES) | NAI_CONFIG(GPU_FACTS), .cost = 2, .run = run)
