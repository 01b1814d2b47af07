/* What would CUDA graphs win in place of single launches? Table graph_savings. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/graphs/graph_regions.h"
#include "model/idle/active.h"
#include "model/idle/idle.h"
#include "model/kernels/repeated.h"
#include "tables/graph_savings.h"
#include "tables/threads.h"

enum {
  MAX_ROWS = 1000,
  SPACING_NS = 1000,        /* between nodes of a graph */
  NODE_COST_NS = 50,        /* of a launch, per node */
  ASSUMED_LAUNCH_NS = 10000 /* of a graph launch where none was seen */
};

/* What a graph would win in one pass. */
struct pass {
  int64_t idle_ns, low_ns, high_ns;
};

struct work {
  const struct nai_model *m;
  const struct nai_regions *regions;
  struct pass *passes; /* per region, of the GPU at hand */
  int64_t launch_ns;   /* a graph launch */
};

/* Median of the graph launches that the trace has. */
static int find_launch_cost(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  bool *launches, any = false;
  int64_t *ns = NULL;
  uint32_t n = 0, capacity = 0;
  w->launch_ns = ASSUMED_LAUNCH_NS;
  NAI_TRY(NAI_NEW(launches, &arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    any |= launches[i] = strstr(nai_strings_get(names, i), "GraphLaunch") != NULL;
  for (uint32_t i = 0; any && i < m->apis.n; i++) {
    if (!launches[nai_val_text(&m->apis.name, i)])
      continue;
    NAI_TRY(NAI_ROOM(ns, capacity, n, &arena, err));
    ns[n++] = nai_call_ns(m, i);
  }
  if (n) {
    nai_select_i64(ns, n, n / 2);
    w->launch_ns = ns[n / 2];
  }
  return NAI_OK;
}

/* Gaps that a launch of a pass ended, but for its first launch, which would be that of the graph. */
static int add_gaps(struct work *w, uint32_t gpu, const struct nai_intervals *active, struct nai_err *err) {
  size_t at = 0;
  for (struct nai_idle_gap gap = nai_idle_first(gpu); nai_idle_next(&gap, w->m);) {
    uint32_t region = gap.launch == NAI_NO_ROW ? NAI_NO_ROW : w->regions->of_api[gap.launch];
    if (region == NAI_NO_ROW || w->regions->v[region].first == gap.launch || !nai_step_inside(&at, active, gap.start))
      continue;
    struct nai_idle_split split;
    NAI_TRY(nai_idle_split_again(&split, NULL, NULL, w->m, &gap, err));
    int64_t low = split.ns[NAI_IDLE_IN_LAUNCH_CALL] + split.ns[NAI_IDLE_LAUNCH_LATENCY];
    int64_t high = low + split.ns[NAI_IDLE_HOST_CODE] + split.ns[NAI_IDLE_CUDA_CALL] + split.ns[NAI_IDLE_QUEUE_DRAINED];
    struct pass *pass = &w->passes[region];
    pass->idle_ns += high;
    pass->low_ns += low > SPACING_NS ? low - SPACING_NS : 0;
    pass->high_ns += high > SPACING_NS ? high - SPACING_NS : 0;
  }
  return NAI_OK;
}

/* --- rows ------------------------------------------------------------------------------------------- */

struct sum {
  int64_t passes, idle, cost, low, high, best_ns;
  uint32_t best; /* region */
};

static void put_sequence(struct nai_table *out, const struct work *w, uint32_t gpu, const struct nai_sequence *q,
                         const struct sum *sum, int64_t active_ns) {
  const struct nai_model *m = w->m;
  const struct nai_region *best = &w->regions->v[sum->best];
  const struct nai_nvtx_node *range = nai_model_call_node(m, q->first_api);
  NAI_ADD(GRAPH_SAVINGS, out, .device_id = nai_model_device(m, gpu),
          .pid = nai_model_pid(m, m->thread_process[q->thread]),
          .tid = nai_get_i64(m->tables[NAI_IN_THREADS], q->thread, THREADS_tid),
          .first_kernel = nai_model_kernel_name(m, q->first_kernel),
          .nvtx_range = range ? nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, range->name) : NULL,
          .kernels_per_pass = q->kernels, .pass_count = q->count, .idle_ns = sum->idle, .cost_ns = sum->cost,
          .saving_low_ns = sum->low, .saving_high_ns = sum->high,
          .saving_low_pct = nai_percent((double)sum->low, (double)active_ns),
          .saving_high_pct = nai_percent((double)sum->high, (double)active_ns),
          .best_start_ns = nai_val(&m->apis.start_ns, best->first),
          .best_end_ns = nai_val(&m->apis.end_ns, best->last));
}

static void sum_up(struct sum *sums, const struct work *w) {
  for (uint32_t i = 0; i < w->regions->count; i++) {
    const struct nai_sequence *q = &w->regions->sequences[w->regions->v[i].sequence];
    struct sum *sum = &sums[w->regions->v[i].sequence];
    int64_t cost = w->launch_ns + (int64_t)q->kernels * NODE_COST_NS;
    int64_t low = w->passes[i].low_ns - cost, high = w->passes[i].high_ns - cost;
    sum->idle += w->passes[i].idle_ns;
    sum->cost += cost;
    sum->low += low > 0 ? low : 0;
    sum->high += high > 0 ? high : 0;
    if (!sum->passes++ || high > sum->best_ns) {
      sum->best = i;
      sum->best_ns = high;
    }
  }
}

static int put_gpu(struct nai_table *out, struct work *w, uint32_t gpu, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->m->scratch_dir);
  const struct nai_intervals *active = &w->m->active[gpu].active;
  struct sum *sums;
  NAI_TRY(NAI_NEW(sums, &arena, w->regions->sequence_count, err));
  NAI_TRY(NAI_NEW(w->passes, &arena, w->regions->count, err));
  NAI_TRY(add_gaps(w, gpu, active, err));
  sum_up(sums, w);
  for (uint32_t i = 0; i < w->regions->sequence_count; i++) {
    const struct nai_sequence *q = &w->regions->sequences[i];
    if (q->count >= NAI_REGION_REPEATS &&
        nai_val_i32(&w->m->kernels.device_id, q->first_kernel) == nai_model_device(w->m, gpu))
      put_sequence(out, w, gpu, q, &sums[i], nai_intervals_total_ns(active));
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(nai_regions) regions = {0};
  struct work w = {.m = io->model, .regions = &regions};
  NAI_TRY(nai_regions_find(&regions, io->model, err));
  NAI_TRY(find_launch_cost(&w, err));
  for (uint32_t gpu = 0; regions.count && gpu < io->model->gpu_count; gpu++)
    NAI_TRY(put_gpu(io->out[0], &w, gpu, err));
  NAI_TRY(nai_table_sort(io->out[0], err));
  if (io->out[0]->rows > MAX_ROWS)
    nai_table_truncate(io->out[0], MAX_ROWS);
  return NAI_OK;
}

NAI_ANALYSIS(graph_savings, .outputs = NAI_SCHEMAS(&nai_graph_savings_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(ACTIVE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) |
                      NAI_PART(IDLE) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(MEMOPS) | NAI_IN(APIS) |
                       NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(NVTX) | NAI_IN(OVERHEAD),
             .cost = 2, .run = run)
