/* What does hiding communication cost the compute beside it? Table comm_overlap_cost. */
#include "analyses/analysis.h"
#include "model/kernels/repeated.h"

#include "base/array.h"
#include "base/keyset.h"
#include "tables/comm_overlap_cost.h"
#include "tables/kernel_configs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEW = 5, STEADY_PCT = 10, MOSTLY_PCT = 90 };

/* Compute kernels of a GPU by name and shape, apart by whether communication ran beside them. */
enum side { BETWEEN, FREE, OVERLAPPED, SIDES };
struct group {
  uint32_t count[SIDES];
  uint32_t slowest; /* kernel, of the overlapped ones */
  int64_t slowest_ns;
  int64_t *ns[SIDES]; /* durations, of groups that may be rows */
};
struct gpu {
  const struct nai_model *m;
  const struct nai_gpu *gpu;
  struct nai_coverage beside; /* communication kernels */
  struct nai_keyset keys;
  struct group *groups;
  uint32_t capacity;
  uint32_t *of;  /* per operation: its group */
  uint8_t *side; /* per operation */
  int64_t *room; /* the groups' durations */
};

static int64_t key_of(const struct gpu *g, const struct nai_shapes *shapes, uint32_t kernel) {
  int64_t config = nai_at(&g->m->kernels.config, kernel);
  return nai_key_pair(nai_at_text(&g->m->kernels.name, kernel), config < 0 ? UINT32_MAX : shapes->of_config[config]);
}

static bool computes(const struct nai_op *op) { return op->type == NAI_OP_KERNEL && !op->communication; }

static enum side side_of(struct gpu *g, int64_t start, int64_t end) {
  int64_t beside = nai_coverage_overlap_ns(&g->beside, start, end);
  return !beside ? FREE : beside * 100 < (end - start) * MOSTLY_PCT ? BETWEEN : OVERLAPPED;
}

static bool add_kernel(struct gpu *g, const struct nai_shapes *shapes, uint32_t i) {
  uint32_t kernel = g->gpu->ops[i].row;
  int64_t start = nai_at(&g->m->kernels.start_ns, kernel), end = nai_at(&g->m->kernels.end_ns, kernel);
  bool added;
  uint32_t of = nai_keyset_add(&g->keys, key_of(g, shapes, kernel), &added);
  if (g->keys.oom || (added && !nai_array_room(&g->groups, &g->capacity, of, sizeof *g->groups)))
    return false;
  struct group *group = &g->groups[of];
  if (added)
    *group = (struct group){.slowest = NAI_NO_ROW};
  g->of[i] = of;
  g->side[i] = (uint8_t)side_of(g, start, end);
  group->count[g->side[i]]++;
  if (g->side[i] == OVERLAPPED && (group->slowest == NAI_NO_ROW || end - start > group->slowest_ns)) {
    group->slowest = kernel;
    group->slowest_ns = end - start;
  }
  return true;
}

static bool may_be_row(const struct group *group) { return group->count[FREE] >= FEW && group->count[OVERLAPPED]; }

/* Durations of the groups that may be rows. */
static int collect_durations(struct gpu *g, struct nai_err *err) {
  size_t all = 0;
  for (uint32_t k = 0; k < g->keys.count; k++)
    all += may_be_row(&g->groups[k]) ? g->groups[k].count[FREE] + g->groups[k].count[OVERLAPPED] : 0;
  int64_t *room = g->room = malloc((all + 1) * sizeof *room);
  if (!room)
    return nai_err_nomem(err);
  for (uint32_t k = 0; k < g->keys.count; k++)
    for (int side = FREE; side < SIDES && may_be_row(&g->groups[k]); room += g->groups[k].count[side++])
      g->groups[k].ns[side] = room;
  for (uint32_t i = 0; i < g->gpu->op_count; i++)
    if (g->side[i] != BETWEEN && may_be_row(&g->groups[g->of[i]]))
      *g->groups[g->of[i]].ns[g->side[i]]++ = nai_kernel_ns(g->m, g->gpu->ops[i].row);
  for (uint32_t k = 0; k < g->keys.count; k++)
    for (int side = FREE; side < SIDES && may_be_row(&g->groups[k]); side++)
      g->groups[k].ns[side] -= g->groups[k].count[side];
  return NAI_OK;
}

static int group_kernels(struct gpu *g, const struct nai_shapes *shapes, struct nai_err *err) {
  uint32_t n = g->gpu->op_count;
  g->of = malloc(((size_t)n + 1) * sizeof *g->of);
  g->side = calloc((size_t)n + 1, 1);
  if (!g->of || !g->side)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < n; i++)
    if (computes(&g->gpu->ops[i]) && !add_kernel(g, shapes, i))
      return nai_err_nomem(err);
  return collect_durations(g, err);
}

static void put_shape(struct nai_table *table, int64_t row, const struct nai_model *m, uint32_t kernel) {
  const struct nai_table *configs = m->tables[NAI_IN_KERNEL_CONFIGS];
  int64_t config = nai_at(&m->kernels.config, kernel);
  for (int k = 0; k < 2; k++) {
    char text[80] = "unknown";
    int first = k ? KERNEL_CONFIGS_block_x : KERNEL_CONFIGS_grid_x;
    if (config >= 0 && nai_get_i64(configs, config, first) != NAI_NULL_I64)
      snprintf(text, sizeof text, "%" PRId64 "x%" PRId64 "x%" PRId64, nai_get_i64(configs, config, first),
               nai_get_i64(configs, config, first + 1), nai_get_i64(configs, config, first + 2));
    nai_set_str(table, row, k ? COMM_OVERLAP_COST_block : COMM_OVERLAP_COST_grid, text);
  }
}

/* Time by which durations are longer than typical. */
static int64_t beyond(const int64_t *ns, uint32_t count, double typical) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++)
    sum += (double)ns[i] > typical ? (double)ns[i] - typical : 0;
  return (int64_t)sum;
}

static void put_group(struct nai_table *table, const struct gpu *g, const struct group *group) {
  uint32_t free_count = group->count[FREE], overlapped = group->count[OVERLAPPED];
  if (!may_be_row(group))
    return;
  struct nai_stats alone = nai_stats_of(group->ns[FREE], free_count);
  struct nai_stats beside = nai_stats_of(group->ns[OVERLAPPED], overlapped);
  double cv = nai_percent(alone.stddev, alone.mean);
  int64_t row = nai_table_add_row(table);
  /* As much as that comes without communication, too. */
  double usual = (double)beyond(group->ns[FREE], free_count, alone.p50) / free_count * overlapped;
  int64_t cost = beyond(group->ns[OVERLAPPED], overlapped, alone.p50) - (int64_t)usual;
  nai_set_i64(table, row, COMM_OVERLAP_COST_device_id, g->gpu->device_id);
  nai_set_str(table, row, COMM_OVERLAP_COST_kernel_name, nai_model_kernel_name(g->m, group->slowest));
  put_shape(table, row, g->m, group->slowest);
  nai_set_f64(table, row, COMM_OVERLAP_COST_free_cv_pct, cv);
  nai_put_stats(table, row,
                &(struct nai_stats_columns){COMM_OVERLAP_COST_free_count, -1, -1, -1, -1, COMM_OVERLAP_COST_free_p50_ns,
                                            -1, -1, -1},
                &alone);
  nai_put_stats(table, row,
                &(struct nai_stats_columns){COMM_OVERLAP_COST_overlapped_count, COMM_OVERLAP_COST_overlapped_ns, -1, -1,
                                            -1, COMM_OVERLAP_COST_overlapped_p50_ns, -1, -1, -1},
                &beside);
  nai_set_i64(table, row, COMM_OVERLAP_COST_slowest_start_ns, nai_at(&g->m->kernels.start_ns, group->slowest));
  nai_set_i64(table, row, COMM_OVERLAP_COST_slowest_end_ns, nai_at(&g->m->kernels.end_ns, group->slowest));
  if (!(cv < STEADY_PCT) || alone.p50 <= 0)
    return;
  cost = cost > 0 ? cost : 0;
  nai_set_i64(table, row, COMM_OVERLAP_COST_slowdown_ns, cost);
  nai_set_f64(table, row, COMM_OVERLAP_COST_slowdown_pct,
              nai_percent((double)cost, (double)(g->gpu->window_end - g->gpu->window_start)));
}

static int add_gpu(struct nai_table *table, const struct nai_model *m, const struct nai_gpu *gpu,
                   const struct nai_shapes *shapes, struct nai_err *err) {
  struct gpu g = {.m = m, .gpu = gpu};
  struct nai_intervals communication = {0};
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (gpu->ops[i].communication)
      nai_intervals_add(&communication, nai_model_op_start(m, &gpu->ops[i]), nai_model_op_end(m, &gpu->ops[i]));
  int rc = nai_coverage_new(&g.beside, &communication, err);
  if (!rc)
    rc = group_kernels(&g, shapes, err);
  for (uint32_t k = 0; !rc && k < g.keys.count; k++)
    put_group(table, &g, &g.groups[k]);
  nai_coverage_free(&g.beside);
  nai_intervals_free(&communication);
  nai_keyset_free(&g.keys);
  free(g.groups);
  free(g.of);
  free(g.side);
  free(g.room);
  return rc;
}

/* Without communication that compute hides there is no price. */
static bool hides(const struct nai_gpu *gpu) {
  return gpu->communication_ns > nai_intervals_total_ns(&gpu->exposed_communication);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_shapes shapes = {0};
  bool any = false;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    any |= hides(&m->gpus[g]);
  int rc = any ? nai_shapes_new(&shapes, m, err) : NAI_OK;
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++)
    if (hides(&m->gpus[g]))
      rc = add_gpu(io->out[0], m, &m->gpus[g], &shapes, err);
  nai_shapes_free(&shapes);
  return rc;
}

NAI_ANALYSIS(comm_overlap, .outputs = NAI_SCHEMAS(&nai_comm_overlap_cost_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(KERNEL_CONFIGS), .cost = 3,
             .run = run)
