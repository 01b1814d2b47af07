/* Which code ranges take host and GPU time? Tables nvtx_ranges, nvtx_by_pid, nvtx_coverage, nvtx_phases. Most of it is
 * summed from the NVTX tree (model/model.h), not from single ranges. */
#include "analyses/analysis.h"
#include "tables/nvtx_by_pid.h"
#include "tables/nvtx_coverage.h"
#include "tables/nvtx_ranges.h"
#include "tables/threads.h"

/* Sums of one name over some threads. */
struct sum {
  int64_t count, total_ns, self_ns, gpu_ns, gpu_self_ns, gpu_count;
  int64_t graph_ns, copy_ns, other_self_ns;
  uint32_t longest; /* row of nvtx_events */
};

static int64_t length_of(const struct nai_model *m, uint32_t range) {
  return range == NAI_NO_ROW ? -1 : nai_range_ns(m, range);
}

static bool is_longer(const struct nai_model *m, uint32_t a, uint32_t b) {
  int64_t la = length_of(m, a), lb = length_of(m, b);
  return la > lb || (la == lb && a != NAI_NO_ROW && nai_val(&m->nvtx.start_ns, a) < nai_val(&m->nvtx.start_ns, b));
}

/* Durations by name, without marks, which have no duration. */
static void name_block(const void *model, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct NVTX_EVENTS_columns *v = &((const struct nai_model *)model)->nvtx;
  int64_t start[NAI_VALUES_BLOCK], kind[NAI_VALUES_BLOCK];
  nai_unpack(start, &v->start_ns, first, count);
  nai_unpack(value, &v->end_ns, first, count);
  nai_unpack(kind, &v->kind, first, count);
  for (uint32_t i = 0; i < count; i++) {
    group[i] = kind[i] == NAI_NVTX_MARK ? NAI_NO_GROUP : nai_val_text(&v->name, first + i);
    value[i] -= start[i];
  }
}

struct work {
  const struct nai_model *m;
  const struct nai_strings *names;
  struct sum *sums;                 /* per name */
  uint32_t *touched, touched_count; /* names with a sum */
  struct nai_process_sum all;       /* over all processes */
};

static void add_thread(struct work *w, uint32_t thread) {
  const struct nai_model *m = w->m;
  for (uint32_t i = m->first_node[thread]; i < m->first_node[thread + 1]; i++) {
    const struct nai_nvtx_node *node = &m->nodes[i];
    struct sum *sum = &w->sums[node->name];
    if (!sum->count) {
      sum->longest = NAI_NO_ROW;
      w->touched[w->touched_count++] = node->name;
    }
    sum->count += node->count;
    sum->self_ns += node->self_ns;
    sum->gpu_self_ns += node->kernel_ns;
    sum->other_self_ns += node->graph_ns + node->copy_ns;
    if (node->outermost) {
      sum->total_ns += node->total_ns;
      sum->gpu_ns += node->inclusive_kernel_ns;
      sum->gpu_count += node->inclusive_kernel_count;
      sum->graph_ns += node->inclusive_graph_ns;
      sum->copy_ns += node->inclusive_copy_ns;
    }
    if (is_longer(m, node->longest, sum->longest))
      sum->longest = node->longest;
  }
}

static void clear(struct work *w) {
  for (uint32_t i = 0; i < w->touched_count; i++)
    w->sums[w->touched[i]] = (struct sum){0};
  w->touched_count = 0;
}

static void put_range(struct nai_table *table, const struct work *w, uint32_t name, const struct nai_stats *s) {
  const struct nai_model *m = w->m;
  const struct sum *sum = &w->sums[name];
  struct nai_range_place place = nai_model_range_place(m, sum->longest);
  struct NVTX_RANGES_row row =
      NAI_ROW(NVTX_RANGES, .range_name = nai_strings_get(w->names, name), .count = s->count,
              .total_time_ns = sum->total_ns, .self_time_ns = sum->self_ns, .avg_duration_ns = s->mean,
              .p50_duration_ns = s->p50, .p90_duration_ns = s->p90, .max_duration_ns = s->max,
              .longest_start_ns = place.start, .longest_end_ns = place.end, .pid = place.pid, .tid = place.tid);
  if (nai_stats_quartiles_apart(s)) {
    row.p25_duration_ns = s->p25;
    row.p75_duration_ns = s->p75;
  }
  if (m->map_nvtx && nai_model_gpu_work(m)) { /* of a trace without GPUs nothing is known, not even 0 */
    row.attributed_kernel_time_ns = sum->gpu_ns;
    row.attributed_gpu_time_ns = sum->gpu_ns + sum->graph_ns + sum->copy_ns;
    row.self_gpu_time_ns = sum->gpu_self_ns + sum->other_self_ns;
    row.attributed_graph_time_ns = sum->graph_ns;
    row.attributed_copy_time_ns = sum->copy_ns;
    row.self_kernel_time_ns = sum->gpu_self_ns;
    row.attributed_kernel_count = sum->gpu_count;
    row.pct_total_kernel_time = nai_percent((double)sum->gpu_ns, (double)w->all.kernel_ns);
  }
  NVTX_RANGES_add(table, &row);
}

static int put_ranges(struct nai_table *table, struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  const struct nai_durations durations = {m->nvtx.name, m->nvtx.start_ns, m->nvtx.end_ns};
  struct nai_values values = {m->nvtx.n, nai_duration_block, &durations, m->scratch_dir,
                              .parts = NAI_P25 | NAI_P50 | NAI_P75 | NAI_P90};
  struct nai_stats *stats;
  if (!nai_column_within(&m->nvtx.kind, m->nvtx.n, NAI_NVTX_PUSH_POP, NAI_NVTX_START_END)) {
    values.block = name_block;
    values.ctx = m;
  }
  NAI_TRY(NAI_NEW(stats, &arena, w->names->count, err));
  NAI_TRY(nai_group_stats(stats, w->names->count, &values, err));
  for (uint32_t t = 0; t < m->thread_count; t++)
    add_thread(w, t);
  for (uint32_t i = 0; i < w->touched_count; i++)
    put_range(table, w, w->touched[i], &stats[w->touched[i]]);
  clear(w);
  return NAI_OK;
}

static double coverage_pct(const struct nai_process_sum *sum) {
  return sum->kernel_ns ? nai_percent((double)sum->attributed_ns, (double)sum->kernel_ns) : (double)NAN;
}

static void put_coverage(struct nai_table *table, const char *scope, int64_t pid, const struct nai_process_sum *sum,
                         int64_t ranges, int64_t names) {
  NAI_ADD(NVTX_COVERAGE, table, .scope = scope, .pid = pid, .kernel_time_ns = sum->kernel_ns,
          .attributed_kernel_time_ns = sum->attributed_ns, .coverage_pct = coverage_pct(sum),
          .kernel_count = sum->kernels, .attributed_kernel_count = sum->attributed, .range_count = ranges,
          .distinct_names = names, .without_launch_ns = sum->without_launch_ns);
}

/* Rows of one process from its threads. */
static void put_process(const struct nai_node_io *io, struct work *w, uint32_t process, const uint32_t *threads,
                        uint32_t thread_count) {
  const struct nai_process_sum *all = &w->m->process_sums[process];
  int64_t ranges = 0, pid = nai_model_pid(w->m, (int32_t)process);
  for (uint32_t i = 0; i < thread_count; i++)
    add_thread(w, threads[i]);
  for (uint32_t i = 0; i < w->touched_count; i++) {
    const struct sum *sum = &w->sums[w->touched[i]];
    NAI_ADD(NVTX_BY_PID, io->out[1], .pid = pid, .range_name = nai_strings_get(w->names, w->touched[i]),
            .nvtx_count = sum->count, .nvtx_total_time_ns = sum->total_ns, .attributed_kernel_time_ns = sum->gpu_ns,
            .attributed_kernel_count = sum->gpu_count, .pid_attribution_coverage_pct = coverage_pct(all));
    ranges += sum->count;
  }
  if (ranges || all->kernels)
    put_coverage(io->out[2], "process", pid, all, ranges, w->touched_count);
  clear(w);
}

static int put_processes(const struct nai_node_io *io, struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  struct nai_column process = nai_table_column(m->tables[NAI_IN_THREADS], THREADS_process);
  struct nai_groups threads;
  int64_t ranges = 0;
  NAI_TRY(nai_groups_collect(&threads, m->thread_count, &process, m->process_count, io->arena, err));
  for (uint32_t i = 0; i < m->node_count; i++)
    ranges += m->nodes[i].count;
  put_coverage(io->out[2], "all", NAI_NULL_I64, &w->all, ranges, io->out[0]->rows);
  for (uint32_t p = 0; p < m->process_count; p++)
    put_process(io, w, p, threads.order + threads.first[p], threads.first[p + 1] - threads.first[p]);
  return NAI_OK;
}

static struct nai_process_sum sum_processes(const struct nai_model *m) {
  struct nai_process_sum all = {0};
  for (uint32_t p = 0; p <= m->process_count; p++) {
    all.kernel_ns += m->process_sums[p].kernel_ns;
    all.kernels += m->process_sums[p].kernels;
    all.attributed_ns += m->process_sums[p].attributed_ns;
    all.attributed += m->process_sums[p].attributed;
    all.without_launch_ns += m->process_sums[p].without_launch_ns;
  }
  return all;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct work w = {.m = m, .names = &m->tables[NAI_IN_NVTX]->strings, .all = sum_processes(m)};
  NAI_TRY(NAI_NEW(w.sums, io->arena, w.names->count, err));
  NAI_TRY(NAI_NEW(w.touched, io->arena, w.names->count, err));
  NAI_TRY(put_ranges(io->out[0], &w, err));
  return m->map_nvtx && m->node_count ? put_processes(io, &w, err) : NAI_OK;
}

NAI_ANALYSIS(nvtx, .outputs = NAI_SCHEMAS(&nai_nvtx_ranges_schema, &nai_nvtx_by_pid_schema, &nai_nvtx_coverage_schema),
             .parts = NAI_PART(NVTX_TREE) | NAI_PART(PROCESS_SUMS),
             .tables = NAI_IN(NVTX) | NAI_IN(THREADS) | NAI_IN(PROCESSES), .cost = 4, .run = run)
