/* What phase is the time spent in? Table nvtx_phases, when there is a phase map. */
#include "analyses/analysis.h"
#include "model/nvtx/projection.h"
#include "tables/nvtx_phases.h"

/* First to last moment of the thread's NVTX ranges and API calls, 0 for threads without ranges. */
static int64_t thread_time(const struct nai_model *m, uint32_t thread) {
  const struct nai_groups *r = &m->nvtx_by_thread, *c = &m->api_by_thread;
  int64_t first = INT64_MAX, last = INT64_MIN;
  if (r->first[thread] == r->first[thread + 1])
    return 0;
  for (uint32_t i = r->first[thread]; i < r->first[thread + 1]; i++) {
    first = nai_val(&m->nvtx.start_ns, r->order[i]) < first ? nai_val(&m->nvtx.start_ns, r->order[i]) : first;
    last = nai_val(&m->nvtx.end_ns, r->order[i]) > last ? nai_val(&m->nvtx.end_ns, r->order[i]) : last;
  }
  for (uint32_t i = c->first[thread]; i < c->first[thread + 1]; i++) {
    first = nai_val(&m->apis.start_ns, c->order[i]) < first ? nai_val(&m->apis.start_ns, c->order[i]) : first;
    last = nai_val(&m->apis.end_ns, c->order[i]) > last ? nai_val(&m->apis.end_ns, c->order[i]) : last;
  }
  return last - first;
}

static int64_t gpu_time(const struct nai_phase_sum *sum) { return sum->kernel_ns + sum->graph_ns + sum->copy_ns; }

/* All that GPUs did. Pages that move by themselves are no copies. */
static struct nai_phase_sum sum_all(const struct nai_model *m, int64_t wall_ns) {
  struct nai_phase_sum all = {.wall_ns = wall_ns,
                              .kernel_ns = nai_total_kernel_ns(m),
                              .kernels = m->kernels.n,
                              .ranges = m->nvtx_by_thread.first[m->thread_count],
                              .longest = NAI_NO_ROW};
  for (uint32_t i = 0; i < m->graphs.n; i++)
    all.graph_ns += nai_graph_ns(m, i);
  for (uint32_t i = 0; i < m->memops.n; i++)
    all.copy_ns += nai_at(&m->memops.migration, i) == 1 ? 0 : nai_memop_ns(m, i);
  return all;
}

/* What ranges of a phase launched, on GPUs. */
struct projected {
  int64_t instances, span_ns, busy_ns, range_ns;
};
struct projecting {
  const struct nai_model *m;
  struct projected *of_phase;
};

static int add_projection(void *ctx, const struct nai_projection *p, struct nai_err *err) {
  const struct projecting *x = ctx;
  struct projected *sum = &x->of_phase[x->m->range_phase[p->range]];
  (void)err;
  if (!p->whole)
    return NAI_OK;
  sum->instances++;
  sum->span_ns += p->end - p->start;
  sum->busy_ns += p->busy_ns;
  sum->range_ns += nai_range_ns(x->m, p->range);
  return NAI_OK;
}

static int project(struct projected **out, const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct projecting x = {.m = m};
  bool *wanted;
  NAI_TRY(NAI_NEW(x.of_phase, io->arena, (size_t)nai_patterns_class_count(m->phases), err));
  NAI_TRY(NAI_NEW(wanted, io->arena, m->nvtx.n, err));
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    wanted[i] = m->range_phase[i] >= 0;
  *out = x.of_phase;
  return nai_project_ranges(m, wanted, add_projection, &x, err);
}

static void put_phase(struct nai_table *table, const struct nai_model *m, const char *phase,
                      const struct nai_phase_sum *sum, const struct projected *on_gpu, int64_t all_wall_ns,
                      int64_t all_gpu_ns) {
  struct nai_range_place place = nai_model_range_place(m, sum->longest);
  const struct projected *p = on_gpu && on_gpu->instances ? on_gpu : NULL;
  NAI_ADD(NVTX_PHASES, table,
          .instances = p      ? p->instances
                     : on_gpu ? 0
                              : NAI_NULL_I64,
          .span_ns = p ? p->span_ns : NAI_NULL_I64, .span_busy_ns = p ? p->busy_ns : NAI_NULL_I64,
          .span_idle_ns = p ? p->span_ns - p->busy_ns : NAI_NULL_I64,
          .instance_time_ns = p ? p->range_ns : NAI_NULL_I64, .phase = phase, .wall_time_ns = sum->wall_ns,
          .pct_of_wall_time = nai_percent((double)sum->wall_ns, (double)all_wall_ns), .gpu_time_ns = gpu_time(sum),
          .pct_of_gpu_time = nai_percent((double)gpu_time(sum), (double)all_gpu_ns), .kernel_time_ns = sum->kernel_ns,
          .graph_time_ns = sum->graph_ns, .copy_time_ns = sum->copy_ns, .range_count = sum->ranges,
          .kernel_count = sum->kernels, .longest_start_ns = place.start, .longest_end_ns = place.end, .pid = place.pid,
          .tid = place.tid);
}

/* One row per phase, and one of what they leave. */
static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_table *table = io->out[0];
  struct projected *on_gpu = NULL;
  int64_t wall_ns = 0;
  if (!m->map_nvtx || !m->phases)
    return NAI_OK;
  NAI_TRY(project(&on_gpu, io, err));
  for (uint32_t t = 0; t < m->thread_count; t++)
    wall_ns += thread_time(m, t);
  struct nai_phase_sum unmapped = sum_all(m, wall_ns);
  int64_t gpu_ns = gpu_time(&unmapped);
  for (int p = 0; p < nai_patterns_class_count(m->phases); p++) {
    const struct nai_phase_sum *sum = &m->phase_sums[p];
    put_phase(table, m, nai_patterns_class(m->phases, p), sum, &on_gpu[p], wall_ns, gpu_ns);
    unmapped.wall_ns -= sum->wall_ns;
    unmapped.kernel_ns -= sum->kernel_ns;
    unmapped.graph_ns -= sum->graph_ns;
    unmapped.copy_ns -= sum->copy_ns;
    unmapped.kernels -= sum->kernels;
    unmapped.ranges -= sum->ranges;
  }
  put_phase(table, m, "unmapped", &unmapped, NULL, wall_ns, gpu_ns);
  return NAI_OK;
}

NAI_ANALYSIS(phases, .outputs = NAI_SCHEMAS(&nai_nvtx_phases_schema),
             .parts = NAI_PART(PHASES) | NAI_PART(KERNEL_GROUPS) | NAI_PROJECTION_PARTS,
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(NVTX) | NAI_IN(APIS) |
                       NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(GPUS),
             .config = NAI_CONFIG(MAP_NVTX), .run = run)
