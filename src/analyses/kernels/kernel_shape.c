/* How large are the kernels' launches, what do they take of a multiprocessor, how do they fill the GPU? Table
 * kernel_shape. */
#include "analyses/kernels/kernel_shape.h"

#include "analyses/analysis.h"
#include "analyses/losses/losses.h"
#include "base/array.h"
#include "model/kernels/repeated.h"
#include "tables/kernel_configs.h"
#include "tables/kernel_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* All executions of one kernel on one GPU with one launch configuration. */
struct sum {
  uint32_t group, shape; /* index in kernel_groups; number of grid and block, UINT32_MAX unknown */
  int32_t config;
  struct nai_fit fit;
  int64_t calls, total_ns, tail_ns;
  uint32_t longest; /* kernel_events row */
};

struct work {
  const struct nai_model *m;
  const struct nai_table *configs;
  struct nai_shapes shapes;
  struct nai_sm *sms;     /* per GPU */
  int64_t *device_ns;     /* per GPU: all kernel durations */
  bool *uneven;           /* per kernel name: waves do not apply */
  struct nai_keyset keys; /* group << 32 | config + 1 */
  struct sum *sums;
  uint32_t capacity;
};

/* --- sums ---------------------------------------------------------------------------------------- */

static struct sum *sum_of(struct work *w, uint32_t kernel, uint32_t gpu, bool communication) {
  const struct nai_model *m = w->m;
  int32_t config = nai_at_i32(&m->kernels.config, kernel);
  bool added = false;
  config = config < 0 || config >= w->configs->rows ? -1 : config;
  uint32_t index = nai_keyset_add(&w->keys, nai_key_pair(m->kernel_group[kernel], (uint32_t)(config + 1)), &added);
  if (w->keys.oom || (added && !nai_array_room(&w->sums, &w->capacity, index, sizeof *w->sums)))
    return NULL;
  struct sum *sum = &w->sums[index];
  if (!added)
    return sum;
  bool uneven = communication || w->uneven[nai_at_text(&m->kernels.name, kernel)];
  *sum = (struct sum){.group = m->kernel_group[kernel],
                      .shape = UINT32_MAX,
                      .config = config,
                      .fit = nai_fit_of(w->configs, config, &w->sms[gpu], uneven),
                      .longest = kernel};
  if (sum->fit.blocks > 0 && sum->fit.threads > 0)
    sum->shape = w->shapes.of_config[config];
  return sum;
}

static int add_gpu(struct work *w, uint32_t gpu, struct nai_err *err) {
  const struct nai_gpu *g = &w->m->gpus[gpu];
  struct nai_intervals crowded = {0};
  struct nai_coverage coverage = {0};
  int rc = nai_crowded(&crowded, w->m, g, err);
  if (!rc)
    rc = nai_coverage_new(&coverage, &crowded, err);
  for (uint32_t i = 0; !rc && i < g->op_count; i++) {
    const struct nai_op *op = &g->ops[i];
    if (op->type != NAI_OP_KERNEL)
      continue;
    int64_t start = nai_model_op_start(w->m, op), end = nai_model_op_end(w->m, op);
    struct sum *sum = sum_of(w, op->row, gpu, op->communication);
    if (!sum) {
      rc = nai_err_nomem(err);
      break;
    }
    if (end - start > nai_kernel_ns(w->m, sum->longest)) /* in order of their starts: the earliest of equals */
      sum->longest = op->row;
    sum->calls++;
    sum->total_ns += end - start;
    sum->tail_ns += nai_tail_ns(&sum->fit, start, end, &coverage);
    w->device_ns[gpu] += end - start;
  }
  nai_coverage_free(&coverage);
  nai_intervals_free(&crowded);
  return rc;
}

/* --- rows ---------------------------------------------------------------------------------------- */

/* Rows of a table together; of one row the configuration with most time first. */
static int compare_sums(const void *pa, const void *pb) {
  const struct sum *a = pa, *b = pb;
  if (a->group != b->group)
    return a->group < b->group ? -1 : 1;
  if (a->shape != b->shape)
    return a->shape < b->shape ? -1 : 1;
  if (a->total_ns != b->total_ns)
    return a->total_ns > b->total_ns ? -1 : 1;
  return (a->config > b->config) - (a->config < b->config);
}

static void put_extent(struct nai_table *out, int64_t row, int column, const struct nai_table *configs, int32_t config,
                       int first) {
  char text[64];
  snprintf(text, sizeof text, "%" PRId64 "x%" PRId64 "x%" PRId64, nai_get_i64(configs, config, first),
           nai_get_i64(configs, config, first + 1), nai_get_i64(configs, config, first + 2));
  nai_set_str(out, row, column, text);
}

static void put_config(struct nai_table *out, int64_t row, const struct work *w, const struct sum *sum) {
  static const int copied[][2] = {{KERNEL_SHAPE_registers_per_thread, KERNEL_CONFIGS_registers_per_thread},
                                  {KERNEL_SHAPE_static_shared_bytes, KERNEL_CONFIGS_static_shared_bytes},
                                  {KERNEL_SHAPE_dynamic_shared_bytes, KERNEL_CONFIGS_dynamic_shared_bytes},
                                  {KERNEL_SHAPE_executed_shared_bytes, KERNEL_CONFIGS_executed_shared_bytes},
                                  {KERNEL_SHAPE_local_bytes_per_thread, KERNEL_CONFIGS_local_bytes_per_thread}};
  if (sum->shape == UINT32_MAX)
    return;
  put_extent(out, row, KERNEL_SHAPE_grid, w->configs, sum->config, KERNEL_CONFIGS_grid_x);
  put_extent(out, row, KERNEL_SHAPE_block, w->configs, sum->config, KERNEL_CONFIGS_block_x);
  nai_set_i64(out, row, KERNEL_SHAPE_blocks, sum->fit.blocks);
  nai_set_i64(out, row, KERNEL_SHAPE_threads_per_block, sum->fit.threads);
  for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
    nai_set_i64(out, row, copied[i][0], nai_get_i64(w->configs, sum->config, copied[i][1]));
  int64_t cluster = nai_config_product(w->configs, sum->config, KERNEL_CONFIGS_cluster_x);
  if (cluster > 1)
    nai_set_i64(out, row, KERNEL_SHAPE_cluster_blocks, cluster);
}

static void put_fit(struct nai_table *out, int64_t row, const struct nai_fit *fit, const struct nai_sm *sm) {
#define WORD(id, word) word,
  static const char *const words[] = {NAI_FILL_STATES(WORD)};
#undef WORD
  nai_set_str(out, row, KERNEL_SHAPE_fill, words[fit->fill]);
  if (!fit->occupancy.blocks_per_sm)
    return;
  nai_set_f64(out, row, KERNEL_SHAPE_theoretical_occupancy_pct,
              nai_percent((double)(fit->occupancy.blocks_per_sm * fit->occupancy.warps),
                          (double)sm->limits.warps_per_sm));
  nai_set_str(out, row, KERNEL_SHAPE_occupancy_limiter, nai_occupancy_limiter_name(fit->occupancy.limiter));
  nai_set_i64(out, row, KERNEL_SHAPE_blocks_per_sm, fit->occupancy.blocks_per_sm);
  if (!fit->slots)
    return;
  nai_set_f64(out, row, KERNEL_SHAPE_waves, (double)fit->blocks / (double)fit->slots);
  nai_set_f64(out, row, KERNEL_SHAPE_wave_efficiency_pct, nai_wave_efficiency_pct(fit));
}

/* On which units it computes, and what a change of units could save. Tensor cores take FP32 data from 8.0 on (as TF32).
 */
static void put_arithmetic(struct nai_table *out, int64_t row, enum nai_arithmetic arithmetic,
                           const struct nai_sm *sm) {
  static const char *const words[NAI_ARITHMETIC_COUNT] = {"unknown", "yes", "no", "no"};
  int64_t fp32 = sm->limits.fp32_flop_per_clock, tensor = sm->limits.tensor_flop_per_clock;
  nai_set_str(out, row, KERNEL_SHAPE_tensor_cores, words[arithmetic]);
  if (arithmetic == NAI_ARITHMETIC_FP32 && sm->major >= 8 && fp32 > 0 && tensor > fp32)
    nai_set_i64(out, row, KERNEL_SHAPE_tensor_gain_ns,
                (int64_t)((double)nai_get_i64(out, row, KERNEL_SHAPE_total_time_ns) *
                          (1 - (double)fp32 / (double)tensor)));
}

/* One row of all configurations with the same grid and block. */
static void put_shape(struct nai_table *out, const struct work *w, const struct sum *sums, uint32_t n) {
  const struct nai_model *m = w->m;
  const struct nai_kernel_group *group = &m->kernel_groups[sums->group];
  const char *name = nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, group->name);
  int64_t row = nai_table_add_row(out), calls = 0, total = 0, tail = 0;
  uint32_t longest = sums->longest;
  for (uint32_t i = 0; i < n; i++) {
    calls += sums[i].calls;
    total += sums[i].total_ns;
    tail += sums[i].tail_ns;
    int64_t more = nai_kernel_ns(m, sums[i].longest) - nai_kernel_ns(m, longest);
    if (more > 0 || (!more && nai_at(&m->kernels.start_ns, sums[i].longest) < nai_at(&m->kernels.start_ns, longest)))
      longest = sums[i].longest;
  }
  nai_set_str(out, row, KERNEL_SHAPE_kernel_name, name);
  nai_set_i64(out, row, KERNEL_SHAPE_device_id, nai_model_device(m, group->gpu));
  nai_set_i64(out, row, KERNEL_SHAPE_call_count, calls);
  nai_set_i64(out, row, KERNEL_SHAPE_total_time_ns, total);
  nai_set_f64(out, row, KERNEL_SHAPE_pct_of_device_kernel_time,
              nai_percent((double)total, (double)w->device_ns[group->gpu]));
  nai_set_i64(out, row, KERNEL_SHAPE_configuration_count, n);
  put_config(out, row, w, sums);
  put_fit(out, row, &sums->fit, &w->sms[group->gpu]);
  if (sums->fit.slots)
    nai_set_i64(out, row, KERNEL_SHAPE_tail_loss_ns, tail);
  put_arithmetic(out, row, nai_kernel_classes_arithmetic(m->classes, name), &w->sms[group->gpu]);
  nai_set_str(out, row, KERNEL_SHAPE_category, nai_kernel_classes_name(m->classes, m->kernel_category[group->name]));
  nai_set_i64(out, row, KERNEL_SHAPE_longest_start_ns, nai_at(&m->kernels.start_ns, longest));
  nai_set_i64(out, row, KERNEL_SHAPE_longest_end_ns, nai_at(&m->kernels.end_ns, longest));
}

static int begin(struct work *w, const struct nai_model *m, struct nai_err *err) {
  const struct nai_strings *names = &m->tables[NAI_IN_KERNELS]->strings;
  *w = (struct work){.m = m,
                     .configs = m->tables[NAI_IN_KERNEL_CONFIGS],
                     .sms = calloc((size_t)m->gpu_count + 1, sizeof *w->sms),
                     .device_ns = calloc((size_t)m->gpu_count + 1, sizeof *w->device_ns),
                     .uneven = malloc((size_t)names->count + 1)};
  if (!w->sms || !w->device_ns || !w->uneven)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < m->gpu_count; i++)
    w->sms[i] = nai_sm_of(m->tables[NAI_IN_GPUS], i, m->gpu_facts);
  for (uint32_t i = 0; i < names->count; i++)
    w->uneven[i] = nai_kernel_classes_uneven(m->classes, nai_strings_get(names, i));
  return nai_shapes_new(&w->shapes, m, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct work w;
  int rc = begin(&w, io->model, err);
  for (uint32_t gpu = 0; !rc && gpu < io->model->gpu_count; gpu++)
    rc = add_gpu(&w, gpu, err);
  if (!rc && w.keys.count)
    qsort(w.sums, w.keys.count, sizeof *w.sums, compare_sums);
  for (uint32_t i = 0, j; !rc && i < w.keys.count; i = j) {
    for (j = i + 1; j < w.keys.count && w.sums[j].group == w.sums[i].group && w.sums[j].shape == w.sums[i].shape; j++)
      ;
    put_shape(io->out[0], &w, w.sums + i, j - i);
  }
  nai_shapes_free(&w.shapes);
  nai_keyset_free(&w.keys);
  free(w.sms);
  free(w.device_ns);
  free(w.uneven);
  free(w.sums);
  return rc;
}

NAI_ANALYSIS(kernel_shape, .outputs = NAI_SCHEMAS(&nai_kernel_shape_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(GPUS) | NAI_PART(KERNEL_GROUPS),
             .tables = NAI_IN(KERNELS) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(GPUS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS),
             .config = NAI_CONFIG(KERNEL_CLASSES) | NAI_CONFIG(GPU_FACTS), .cost = 2, .run = run)
