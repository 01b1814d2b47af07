/* What would CUDA graphs win in place of single launches? Table graph_savings. */
#include "model/idle/active.h"
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/graphs/graph_regions.h"
#include "model/idle/idle.h"
#include "model/kernels/repeated.h"
#include "tables/graph_savings.h"
#include "tables/threads.h"

#include <stdlib.h>
#include <string.h>

enum {
  MAX_ROWS = 1000,
  SPACING_NS = 1000,     /* between nodes of a graph */
  NODE_COST_NS = 50,     /* of a launch, per node */
  ASSUMED_LAUNCH = 10000 /* ns of a graph launch where none was seen */
};

/* What a graph would win in one pass. */
struct pass {
  int64_t idle_ns, low_ns, high_ns;
};

struct work {
  const struct nai_model *m;
  struct nai_regions regions;
  struct pass *passes; /* per region, of the GPU at hand */
  int64_t launch_ns;   /* a graph launch */
};

static int compare_i64(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Median of the graph launches that the trace has. */
static int find_launch_cost(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  bool *launches = calloc((size_t)names->count + 1, sizeof *launches), any = false;
  int64_t *ns = NULL;
  uint32_t n = 0;
  if (!launches)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < names->count; i++)
    any |= launches[i] = strstr(nai_strings_get(names, i), "GraphLaunch") != NULL;
  ns = any ? malloc(((size_t)m->apis.n + 1) * sizeof *ns) : NULL;
  for (uint32_t i = 0; ns && i < m->apis.n; i++)
    if (launches[nai_at_text(&m->apis.name, i)])
      ns[n++] = nai_call_ns(m, i);
  if (n)
    qsort(ns, n, sizeof *ns, compare_i64);
  w->launch_ns = n ? ns[n / 2] : ASSUMED_LAUNCH;
  free(launches);
  free(ns);
  return any && !ns ? nai_err_nomem(err) : NAI_OK;
}

/* Gaps that a launch of a pass ended, but for its first launch, which would be that of the graph. */
static int add_gaps(struct work *w, uint32_t gpu, const struct nai_intervals *active, struct nai_err *err) {
  size_t at = 0;
  int rc = NAI_OK;
  for (struct nai_idle_gap gap = nai_idle_first(gpu); !rc && nai_idle_next(&gap, w->m);) {
    uint32_t region = gap.launch == NAI_NO_ROW ? NAI_NO_ROW : w->regions.of_api[gap.launch];
    if (region == NAI_NO_ROW || w->regions.v[region].first == gap.launch || !nai_step_inside(&at, active, gap.start))
      continue;
    struct nai_idle_split split;
    rc = nai_idle_split_again(&split, NULL, NULL, w->m, &gap, err);
    int64_t low = split.ns[NAI_IDLE_IN_LAUNCH_CALL] + split.ns[NAI_IDLE_LAUNCH_LATENCY];
    int64_t high = low + split.ns[NAI_IDLE_HOST_CODE] + split.ns[NAI_IDLE_CUDA_CALL] + split.ns[NAI_IDLE_QUEUE_DRAINED];
    struct pass *pass = &w->passes[region];
    pass->idle_ns += high;
    pass->low_ns += low > SPACING_NS ? low - SPACING_NS : 0;
    pass->high_ns += high > SPACING_NS ? high - SPACING_NS : 0;
  }
  return rc;
}

/* --- rows ------------------------------------------------------------------------------------------- */

struct sum {
  int64_t passes, idle, cost, low, high, best_ns;
  uint32_t best; /* region */
};

static void put_sequence(struct nai_table *out, const struct work *w, uint32_t gpu, const struct nai_sequence *q,
                         const struct sum *sum, int64_t active_ns) {
  const struct nai_model *m = w->m;
  const struct nai_region *best = &w->regions.v[sum->best];
  const struct nai_nvtx_node *range = nai_model_call_node(m, q->first_api);
  int64_t row = nai_table_add_row(out);
  nai_set_i64(out, row, GRAPH_SAVINGS_device_id, nai_model_device(m, gpu));
  nai_set_i64(out, row, GRAPH_SAVINGS_pid, nai_model_pid(m, m->thread_process[q->thread]));
  nai_set_i64(out, row, GRAPH_SAVINGS_tid, nai_get_i64(m->tables[NAI_IN_THREADS], q->thread, THREADS_tid));
  nai_set_str(out, row, GRAPH_SAVINGS_first_kernel, nai_model_kernel_name(m, q->first_kernel));
  if (range)
    nai_set_str(out, row, GRAPH_SAVINGS_nvtx_range, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, range->name));
  nai_set_i64(out, row, GRAPH_SAVINGS_kernels_per_pass, q->kernels);
  nai_set_i64(out, row, GRAPH_SAVINGS_pass_count, q->count);
  nai_set_i64(out, row, GRAPH_SAVINGS_idle_ns, sum->idle);
  nai_set_i64(out, row, GRAPH_SAVINGS_cost_ns, sum->cost);
  nai_set_i64(out, row, GRAPH_SAVINGS_saving_low_ns, sum->low);
  nai_set_i64(out, row, GRAPH_SAVINGS_saving_high_ns, sum->high);
  nai_set_f64(out, row, GRAPH_SAVINGS_saving_low_pct, nai_percent((double)sum->low, (double)active_ns));
  nai_set_f64(out, row, GRAPH_SAVINGS_saving_high_pct, nai_percent((double)sum->high, (double)active_ns));
  nai_set_i64(out, row, GRAPH_SAVINGS_best_start_ns, nai_at(&m->apis.start_ns, best->first));
  nai_set_i64(out, row, GRAPH_SAVINGS_best_end_ns, nai_at(&m->apis.end_ns, best->last));
}

static int put_gpu(struct nai_table *out, const struct work *w, uint32_t gpu, int64_t active_ns, struct nai_err *err) {
  struct sum *sums = calloc((size_t)w->regions.sequence_count + 1, sizeof *sums);
  int32_t device = nai_model_device(w->m, gpu);
  if (!sums)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < w->regions.count; i++) {
    const struct nai_sequence *q = &w->regions.sequences[w->regions.v[i].sequence];
    struct sum *sum = &sums[w->regions.v[i].sequence];
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
  for (uint32_t i = 0; i < w->regions.sequence_count; i++) {
    const struct nai_sequence *q = &w->regions.sequences[i];
    if (q->count >= NAI_REGION_REPEATS && nai_at_i32(&w->m->kernels.device_id, q->first_kernel) == device)
      put_sequence(out, w, gpu, q, &sums[i], active_ns);
  }
  free(sums);
  return NAI_OK;
}

static int add_gpu(const struct nai_node_io *io, struct work *w, uint32_t gpu, struct nai_err *err) {
  const struct nai_intervals *active = &w->m->active[gpu].active;
  memset(w->passes, 0, (size_t)w->regions.count * sizeof *w->passes);
  int rc = add_gaps(w, gpu, active, err);
  if (!rc)
    rc = put_gpu(io->out[0], w, gpu, nai_intervals_total_ns(active), err);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct work w = {.m = io->model};
  int rc = nai_regions_find(&w.regions, io->model, err);
  if (!rc)
    rc = find_launch_cost(&w, err);
  w.passes = rc ? NULL : malloc(((size_t)w.regions.count + 1) * sizeof *w.passes);
  if (!rc && !w.passes)
    rc = nai_err_nomem(err);
  for (uint32_t gpu = 0; !rc && w.regions.count && gpu < io->model->gpu_count; gpu++)
    rc = add_gpu(io, &w, gpu, err);
  nai_regions_free(&w.regions);
  free(w.passes);
  if (!rc)
    rc = nai_table_sort(io->out[0], err);
  if (!rc && io->out[0]->rows > MAX_ROWS)
    nai_table_truncate(io->out[0], MAX_ROWS);
  return rc;
}

NAI_ANALYSIS(graph_savings, .outputs = NAI_SCHEMAS(&nai_graph_savings_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(ACTIVE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) |
                      NAI_PART(IDLE) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(MEMOPS) | NAI_IN(APIS) |
                       NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(NVTX) | NAI_IN(OVERHEAD),
             .cost = 2, .run = run)
