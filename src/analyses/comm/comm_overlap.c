/* What does hiding communication cost the compute beside it? Table comm_overlap_cost. */
#include "analyses/analysis.h"
#include "model/kernels/repeated.h"

#include "tables/comm_overlap_cost.h"
#include "tables/kernel_configs.h"

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
  const struct nai_shapes *shapes;
  struct nai_arena *arena;
  struct nai_coverage beside; /* communication kernels */
  struct nai_keyset keys;
  struct group *groups;
  uint32_t capacity;
  uint32_t *of;  /* per operation: its group */
  uint8_t *side; /* per operation */
};

static int64_t key_of(const struct gpu *g, uint32_t kernel) {
  int64_t config = nai_at(&g->m->kernels.config, kernel);
  return nai_key_pair(nai_val_text(&g->m->kernels.name, kernel),
                      config < 0 ? UINT32_MAX : g->shapes->of_config[config]);
}

static enum side side_of(struct gpu *g, int64_t start, int64_t end) {
  int64_t beside = nai_coverage_overlap_ns(&g->beside, start, end);
  return !beside ? FREE : beside * 100 < (end - start) * MOSTLY_PCT ? BETWEEN : OVERLAPPED;
}

static int add_kernel(struct gpu *g, uint32_t i, struct nai_err *err) {
  uint32_t kernel = g->gpu->ops[i].row;
  int64_t start = nai_val(&g->m->kernels.start_ns, kernel), end = nai_val(&g->m->kernels.end_ns, kernel);
  bool added;
  uint32_t of = nai_keyset_add(&g->keys, key_of(g, kernel), &added);
  NAI_TRY(nai_memory_check(!g->keys.oom, err));
  NAI_TRY(NAI_ROOM(g->groups, g->capacity, of, g->arena, err));
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
  return NAI_OK;
}

static bool may_be_row(const struct group *group) { return group->count[FREE] >= FEW && group->count[OVERLAPPED]; }

/* Durations of the groups that may be rows. */
static int collect_durations(struct gpu *g, struct nai_err *err) {
  for (uint32_t k = 0; k < g->keys.count; k++)
    for (int side = FREE; side < SIDES && may_be_row(&g->groups[k]); side++)
      NAI_TRY(NAI_NEW(g->groups[k].ns[side], g->arena, g->groups[k].count[side], err));
  for (uint32_t i = 0; i < g->gpu->op_count; i++)
    if (g->side[i] != BETWEEN && may_be_row(&g->groups[g->of[i]]))
      *g->groups[g->of[i]].ns[g->side[i]]++ = nai_kernel_ns(g->m, g->gpu->ops[i].row);
  for (uint32_t k = 0; k < g->keys.count; k++)
    for (int side = FREE; side < SIDES && may_be_row(&g->groups[k]); side++)
      g->groups[k].ns[side] -= g->groups[k].count[side];
  return NAI_OK;
}

static int group_kernels(struct gpu *g, struct nai_err *err) {
  uint32_t n = g->gpu->op_count;
  NAI_TRY(NAI_NEW(g->of, g->arena, n, err));
  NAI_TRY(NAI_NEW(g->side, g->arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    if (g->gpu->ops[i].type == NAI_OP_KERNEL && !g->gpu->ops[i].communication)
      NAI_TRY(add_kernel(g, i, err));
  return collect_durations(g, err);
}

enum { SHAPE_MAX = 80 };

/* "132x1x1": the three columns from `first` on. */
static const char *shape_of(char room[SHAPE_MAX], const struct nai_model *m, uint32_t kernel, int first) {
  const struct nai_table *configs = m->tables[NAI_IN_KERNEL_CONFIGS];
  int64_t config = nai_at(&m->kernels.config, kernel);
  if (config < 0 || nai_get_i64(configs, config, first) == NAI_NULL_I64)
    return "unknown";
  snprintf(room, SHAPE_MAX, "%" PRId64 "x%" PRId64 "x%" PRId64, nai_get_i64(configs, config, first),
           nai_get_i64(configs, config, first + 1), nai_get_i64(configs, config, first + 2));
  return room;
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
  struct nai_stats alone = nai_stats_of(group->ns[FREE], free_count);
  struct nai_stats beside = nai_stats_of(group->ns[OVERLAPPED], overlapped);
  double cv = nai_percent(alone.stddev, alone.mean);
  /* As much as that comes without communication, too. */
  double usual = (double)beyond(group->ns[FREE], free_count, alone.p50) / free_count * overlapped;
  int64_t cost = beyond(group->ns[OVERLAPPED], overlapped, alone.p50) - (int64_t)usual;
  char grid[SHAPE_MAX], block[SHAPE_MAX];
  struct COMM_OVERLAP_COST_row row = NAI_ROW(
      COMM_OVERLAP_COST, .device_id = g->gpu->device_id, .kernel_name = nai_model_kernel_name(g->m, group->slowest),
      .grid = shape_of(grid, g->m, group->slowest, KERNEL_CONFIGS_grid_x),
      .block = shape_of(block, g->m, group->slowest, KERNEL_CONFIGS_block_x), .free_count = alone.count,
      .free_p50_ns = alone.p50, .free_cv_pct = cv, .overlapped_count = beside.count, .overlapped_p50_ns = beside.p50,
      .overlapped_ns = beside.total, .slowest_start_ns = nai_val(&g->m->kernels.start_ns, group->slowest),
      .slowest_end_ns = nai_val(&g->m->kernels.end_ns, group->slowest));
  if (cv < STEADY_PCT && alone.p50 > 0) {
    row.slowdown_ns = cost > 0 ? cost : 0;
    row.slowdown_pct = nai_percent((double)row.slowdown_ns, (double)(g->gpu->window_end - g->gpu->window_start));
  }
  COMM_OVERLAP_COST_add(table, &row);
}

static int add_gpu(struct nai_table *table, const struct nai_model *m, const struct nai_gpu *gpu,
                   const struct nai_shapes *shapes, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct gpu g = {.m = m, .gpu = gpu, .shapes = shapes, .arena = &arena, .keys.arena = &arena};
  struct nai_intervals communication = {.arena = &arena};
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (gpu->ops[i].communication)
      nai_intervals_add(&communication, gpu->ops[i].start, gpu->ops[i].end);
  NAI_TRY(nai_coverage_in(&g.beside, &communication, &arena, err));
  NAI_TRY(group_kernels(&g, err));
  for (uint32_t k = 0; k < g.keys.count; k++)
    if (may_be_row(&g.groups[k]))
      put_group(table, &g, &g.groups[k]);
  return NAI_OK;
}

/* Without communication that compute hides there is no price. */
static bool hides(const struct nai_gpu *gpu) {
  return gpu->communication_ns > nai_intervals_total_ns(&gpu->exposed_communication);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  NAI_SCOPED(nai_shapes) shapes = {0};
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    if (!hides(&m->gpus[g]))
      continue;
    if (!shapes.of_config)
      NAI_TRY(nai_shapes_new(&shapes, m, err));
    NAI_TRY(add_gpu(io->out[0], m, &m->gpus[g], &shapes, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(comm_overlap, .outputs = NAI_SCHEMAS(&nai_comm_overlap_cost_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(KERNEL_CONFIGS), .cost = 3,
             .run = run)
