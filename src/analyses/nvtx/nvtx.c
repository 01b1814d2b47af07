/* Which code ranges take host and GPU time? Tables nvtx_ranges, nvtx_by_pid, nvtx_coverage, nvtx_phases. Most of it is
 * summed from the NVTX tree (model/model.h), not from single ranges. */
#include "analyses/analysis.h"
#include "base/spill_array.h"
#include "tables/nvtx_by_pid.h"
#include "tables/nvtx_coverage.h"
#include "tables/nvtx_ranges.h"
#include "tables/threads.h"

#include <stdio.h>
#include <stdlib.h>

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
  return la > lb || (la == lb && a != NAI_NO_ROW && nai_at(&m->nvtx.start_ns, a) < nai_at(&m->nvtx.start_ns, b));
}

/* Adds the nodes of one thread; names met first are appended to `touched`. */
static void add_thread(struct sum *sums, uint32_t *touched, uint32_t *touched_count, const struct nai_model *m,
                       uint32_t thread) {
  for (uint32_t i = m->first_node[thread]; i < m->first_node[thread + 1]; i++) {
    const struct nai_nvtx_node *node = &m->nodes[i];
    struct sum *sum = &sums[node->name];
    if (!sum->count) {
      sum->longest = NAI_NO_ROW;
      touched[(*touched_count)++] = node->name;
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

/* Durations by name, without marks, which have no duration. */
static void name_block(const void *model, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct NVTX_EVENTS_columns *v = &((const struct nai_model *)model)->nvtx;
  int64_t start[NAI_VALUES_BLOCK], kind[NAI_VALUES_BLOCK];
  nai_unpack(start, &v->start_ns, first, count);
  nai_unpack(value, &v->end_ns, first, count);
  nai_unpack(kind, &v->kind, first, count);
  for (uint32_t i = 0; i < count; i++) {
    group[i] = kind[i] == NAI_NVTX_MARK ? NAI_NO_GROUP : nai_at_text(&v->name, first + i);
    value[i] -= start[i];
  }
}

struct work {
  const struct nai_model *m;
  struct sum *sums; /* per name */
  uint32_t *touched, touched_count;
  struct nai_process_sum all; /* over all processes */
};

static void clear(struct work *w) {
  for (uint32_t i = 0; i < w->touched_count; i++)
    w->sums[w->touched[i]] = (struct sum){0};
  w->touched_count = 0;
}

static int put_ranges(struct nai_table *table, struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  uint32_t names = m->tables[NAI_IN_NVTX]->strings.count;
  void *memory;
  int rc = nai_spill_array_new(&memory, m->scratch_dir, ((size_t)names + 1) * sizeof(struct nai_stats), err);
  struct nai_stats *stats = memory;
  if (!rc)
    rc = nai_group_stats(stats, names, &(struct nai_values){m->nvtx.n, name_block, m, m->scratch_dir}, err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    add_thread(w->sums, w->touched, &w->touched_count, m, t);
  for (uint32_t i = 0; !rc && i < w->touched_count; i++) {
    static const struct nai_stats_columns to = {NVTX_RANGES_count,
                                                -1,
                                                NVTX_RANGES_avg_duration_ns,
                                                -1,
                                                NVTX_RANGES_max_duration_ns,
                                                NVTX_RANGES_p50_duration_ns,
                                                NVTX_RANGES_p90_duration_ns,
                                                -1,
                                                -1};
    const struct sum *sum = &w->sums[w->touched[i]];
    int64_t row = nai_table_add_row(table);
    nai_put_stats(table, row, &to, &stats[w->touched[i]]);
    nai_set_str(table, row, NVTX_RANGES_range_name, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, w->touched[i]));
    nai_set_i64(table, row, NVTX_RANGES_total_time_ns, sum->total_ns);
    nai_set_i64(table, row, NVTX_RANGES_self_time_ns, sum->self_ns);
    if (m->map_nvtx && nai_model_gpu_work(m)) { /* of a trace without GPUs nothing is known, not even 0 */
      nai_set_i64(table, row, NVTX_RANGES_attributed_kernel_time_ns, sum->gpu_ns);
      nai_set_i64(table, row, NVTX_RANGES_attributed_gpu_time_ns, sum->gpu_ns + sum->graph_ns + sum->copy_ns);
      nai_set_i64(table, row, NVTX_RANGES_self_gpu_time_ns, sum->gpu_self_ns + sum->other_self_ns);
      nai_set_i64(table, row, NVTX_RANGES_attributed_graph_time_ns, sum->graph_ns);
      nai_set_i64(table, row, NVTX_RANGES_attributed_copy_time_ns, sum->copy_ns);
      nai_set_i64(table, row, NVTX_RANGES_self_kernel_time_ns, sum->gpu_self_ns);
      nai_set_i64(table, row, NVTX_RANGES_attributed_kernel_count, sum->gpu_count);
      nai_set_f64(table, row, NVTX_RANGES_pct_total_kernel_time,
                  nai_percent((double)sum->gpu_ns, (double)w->all.kernel_ns));
    }
    nai_put_range_place(table, row,
                        &(struct nai_place_columns){NVTX_RANGES_longest_start_ns, NVTX_RANGES_longest_end_ns,
                                                    NVTX_RANGES_pid, NVTX_RANGES_tid},
                        m, sum->longest);
  }
  clear(w);
  nai_spill_array_free(stats);
  return rc;
}

static void put_coverage_row(struct nai_table *table, const char *scope, int64_t pid, const struct nai_process_sum *sum,
                             int64_t ranges, int64_t names) {
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, NVTX_COVERAGE_scope, scope);
  nai_set_i64(table, row, NVTX_COVERAGE_pid, pid);
  nai_set_i64(table, row, NVTX_COVERAGE_kernel_time_ns, sum->kernel_ns);
  nai_set_i64(table, row, NVTX_COVERAGE_attributed_kernel_time_ns, sum->attributed_ns);
  if (sum->kernel_ns)
    nai_set_f64(table, row, NVTX_COVERAGE_coverage_pct,
                nai_percent((double)sum->attributed_ns, (double)sum->kernel_ns));
  nai_set_i64(table, row, NVTX_COVERAGE_kernel_count, sum->kernels);
  nai_set_i64(table, row, NVTX_COVERAGE_attributed_kernel_count, sum->attributed);
  nai_set_i64(table, row, NVTX_COVERAGE_range_count, ranges);
  nai_set_i64(table, row, NVTX_COVERAGE_distinct_names, names);
  nai_set_i64(table, row, NVTX_COVERAGE_without_launch_ns, sum->without_launch_ns);
}

/* Rows of one process from its threads. */
static void put_process(struct nai_table *by_pid, struct nai_table *coverage, struct work *w, uint32_t process,
                        const uint32_t *threads, uint32_t thread_count) {
  const struct nai_model *m = w->m;
  const struct nai_process_sum *all = &m->process_sums[process];
  int64_t ranges = 0, pid = nai_model_pid(m, (int32_t)process);
  for (uint32_t i = 0; i < thread_count; i++)
    add_thread(w->sums, w->touched, &w->touched_count, m, threads[i]);
  for (uint32_t i = 0; i < w->touched_count; i++) {
    const struct sum *sum = &w->sums[w->touched[i]];
    int64_t row = nai_table_add_row(by_pid);
    nai_set_i64(by_pid, row, NVTX_BY_PID_pid, pid);
    nai_set_str(by_pid, row, NVTX_BY_PID_range_name, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, w->touched[i]));
    nai_set_i64(by_pid, row, NVTX_BY_PID_nvtx_count, sum->count);
    nai_set_i64(by_pid, row, NVTX_BY_PID_nvtx_total_time_ns, sum->total_ns);
    nai_set_i64(by_pid, row, NVTX_BY_PID_attributed_kernel_time_ns, sum->gpu_ns);
    nai_set_i64(by_pid, row, NVTX_BY_PID_attributed_kernel_count, sum->gpu_count);
    if (all->kernel_ns)
      nai_set_f64(by_pid, row, NVTX_BY_PID_pid_attribution_coverage_pct,
                  nai_percent((double)all->attributed_ns, (double)all->kernel_ns));
    ranges += sum->count;
  }
  if (ranges || all->kernels)
    put_coverage_row(coverage, "process", pid, all, ranges, w->touched_count);
  clear(w);
}

static int put_processes(struct nai_table *by_pid, struct nai_table *coverage, struct work *w, int64_t all_names,
                         struct nai_err *err) {
  const struct nai_model *m = w->m;
  struct nai_arena arena = NAI_ARENA(NULL);
  struct nai_groups threads = {0};
  int64_t ranges = 0;
  struct nai_column process = nai_table_column(m->tables[NAI_IN_THREADS], THREADS_process);
  int rc = nai_groups_collect(&threads, m->thread_count, &process, m->process_count, &arena, err);
  for (uint32_t i = 0; i < m->node_count; i++)
    ranges += m->nodes[i].count;
  put_coverage_row(coverage, "all", NAI_NULL_I64, &w->all, ranges, all_names);
  for (uint32_t p = 0; !rc && p < m->process_count; p++)
    put_process(by_pid, coverage, w, p, threads.order + threads.first[p], threads.first[p + 1] - threads.first[p]);
  nai_arena_free(&arena);
  return rc;
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
  uint32_t names = m->tables[NAI_IN_NVTX]->strings.count;
  struct work w = {.m = m, .all = sum_processes(m)};
  void *sums;
  int rc = nai_spill_array_new(&sums, m->scratch_dir, ((size_t)names + 1) * sizeof *w.sums, err);
  if (rc)
    return rc;
  w.sums = sums;
  w.touched = malloc(((size_t)names + 1) * sizeof *w.touched);
  rc = w.touched ? put_ranges(io->out[0], &w, err) : nai_err_nomem(err);
  if (!rc && m->map_nvtx && m->node_count)
    rc = put_processes(io->out[1], io->out[2], &w, io->out[0]->rows, err);
  nai_spill_array_free(w.sums);
  free(w.touched);
  return rc;
}

NAI_ANALYSIS(nvtx, .outputs = NAI_SCHEMAS(&nai_nvtx_ranges_schema, &nai_nvtx_by_pid_schema, &nai_nvtx_coverage_schema),
             .parts = NAI_PART(NVTX_TREE) | NAI_PART(PROCESS_SUMS),
             .tables = NAI_IN(NVTX) | NAI_IN(THREADS) | NAI_IN(PROCESSES), .cost = 4, .run = run)
