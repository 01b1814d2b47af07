/* What phase is the time spent in? Table nvtx_phases, when there is a phase map. */
#include "analyses/analysis.h"
#include "tables/nvtx_phases.h"

/* First to last moment of the thread's NVTX ranges and API calls, 0 for threads without ranges. */
static int64_t thread_time(const struct nai_model *m, uint32_t thread) {
  const struct nai_groups *r = &m->nvtx_by_thread, *c = &m->api_by_thread;
  int64_t first = INT64_MAX, last = INT64_MIN;
  if (r->first[thread] == r->first[thread + 1])
    return 0;
  for (uint32_t i = r->first[thread]; i < r->first[thread + 1]; i++) {
    first = nai_at(&m->nvtx.start_ns, r->order[i]) < first ? nai_at(&m->nvtx.start_ns, r->order[i]) : first;
    last = nai_at(&m->nvtx.end_ns, r->order[i]) > last ? nai_at(&m->nvtx.end_ns, r->order[i]) : last;
  }
  for (uint32_t i = c->first[thread]; i < c->first[thread + 1]; i++) {
    first = nai_at(&m->apis.start_ns, c->order[i]) < first ? nai_at(&m->apis.start_ns, c->order[i]) : first;
    last = nai_at(&m->apis.end_ns, c->order[i]) > last ? nai_at(&m->apis.end_ns, c->order[i]) : last;
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

static void put_phase(struct nai_table *table, const struct nai_model *m, const char *phase,
                      const struct nai_phase_sum *sum, int64_t all_wall_ns, int64_t all_gpu_ns) {
  struct nai_range_place place = nai_model_range_place(m, sum->longest);
  NAI_ADD(NVTX_PHASES, table, .phase = phase, .wall_time_ns = sum->wall_ns,
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
  int64_t wall_ns = 0;
  (void)err;
  if (!m->map_nvtx || !m->phases)
    return NAI_OK;
  for (uint32_t t = 0; t < m->thread_count; t++)
    wall_ns += thread_time(m, t);
  struct nai_phase_sum unmapped = sum_all(m, wall_ns);
  int64_t gpu_ns = gpu_time(&unmapped);
  for (int p = 0; p < nai_phase_map_count(m->phases); p++) {
    const struct nai_phase_sum *sum = &m->phase_sums[p];
    put_phase(table, m, nai_phase_map_phase(m->phases, p), sum, wall_ns, gpu_ns);
    unmapped.wall_ns -= sum->wall_ns;
    unmapped.kernel_ns -= sum->kernel_ns;
    unmapped.graph_ns -= sum->graph_ns;
    unmapped.copy_ns -= sum->copy_ns;
    unmapped.kernels -= sum->kernels;
    unmapped.ranges -= sum->ranges;
  }
  put_phase(table, m, "unmapped", &unmapped, wall_ns, gpu_ns);
  return NAI_OK;
}

NAI_ANALYSIS(phases, .outputs = NAI_SCHEMAS(&nai_nvtx_phases_schema),
             .parts = NAI_PART(PHASES) | NAI_PART(RANGES) | NAI_PART(CALLS),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(NVTX) | NAI_IN(APIS) |
                       NAI_IN(THREADS),
             .config = NAI_CONFIG(MAP_NVTX), .run = run)
