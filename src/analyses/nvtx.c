/* Which code ranges take host and GPU time? Tables nvtx_ranges, nvtx_by_pid, nvtx_coverage, nvtx_phases. Most of it is
 * summed from the NVTX tree (derive/model.h), not from single ranges. */
#include "analyses/analysis.h"
#include "analyses/phases.h"
#include "base/big.h"

#include <stdio.h>
#include <stdlib.h>

enum {
  NAME,
  COUNT,
  TOTAL,
  SELF,
  AVG,
  P50,
  P90,
  MAX,
  GPU,
  GPU_SELF,
  GPU_COUNT,
  PCT_KERNEL,
  LONGEST_START,
  LONGEST_END,
  PID,
  TID
};
static const struct nai_column_def columns[] = {
    [NAME] = {"range_name", NAI_STR, NAI_TEXT, "canonical NVTX name", NULL},
    [COUNT] = {"count", NAI_I64, NAI_COUNT, "instances", NULL},
    [TOTAL] = {"total_time_ms", NAI_I64, NAI_MS, "summed durations of instances not inside one of the same name", NULL},
    [SELF] = {"self_time_ms", NAI_I64, NAI_MS, "summed durations minus ranges inside", NULL},
    [AVG] = {"avg_duration_us", NAI_F64, NAI_US, "mean duration of all instances", NULL},
    [P50] = {"p50_duration_us", NAI_F64, NAI_US, "median duration", NULL},
    [P90] = {"p90_duration_us", NAI_F64, NAI_US, "90th percentile of durations", NULL},
    [MAX] = {"max_duration_us", NAI_I64, NAI_US, "longest duration", NULL},
    [GPU] = {"attributed_kernel_time_ms", NAI_I64, NAI_MS, "kernels launched inside the range or ranges in it", NULL},
    [GPU_SELF] = {"self_kernel_time_ms", NAI_I64, NAI_MS, "kernels for which this is the innermost range", NULL},
    [GPU_COUNT] = {"attributed_kernel_count", NAI_I64, NAI_COUNT, "kernels behind attributed_kernel_time_ms", NULL},
    [PCT_KERNEL] = {"pct_total_kernel_time", NAI_F64, NAI_PCT, "attributed, of all kernel durations on all GPUs", NULL},
    [LONGEST_START] = {"longest_start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start of the longest instance", NULL},
    [LONGEST_END] = {"longest_end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end of the longest instance", NULL},
    [PID] = {"pid", NAI_I64, NAI_ID, "process of the longest instance", NULL},
    [TID] = {"tid", NAI_I64, NAI_ID, "thread of the longest instance", NULL},
};
static const struct nai_schema ranges_schema =
    NAI_SCHEMA("nvtx_ranges", "NVTX ranges", "One canonical NVTX range name", columns);

enum { B_PID, B_NAME, B_COUNT, B_TOTAL, B_GPU, B_GPU_COUNT, B_COVERAGE };
static const struct nai_column_def by_pid_columns[] = {
    [B_PID] = {"pid", NAI_I64, NAI_ID, "process", NULL},
    [B_NAME] = {"range_name", NAI_STR, NAI_TEXT, "canonical NVTX name", NULL},
    [B_COUNT] = {"nvtx_count", NAI_I64, NAI_COUNT, "instances", NULL},
    [B_TOTAL] = {"nvtx_total_time_ms", NAI_I64, NAI_MS, "summed durations of instances not inside one of the same name",
                 NULL},
    [B_GPU] = {"attributed_kernel_time_ms", NAI_I64, NAI_MS, "kernels launched inside the range or ranges in it", NULL},
    [B_GPU_COUNT] = {"attributed_kernel_count", NAI_I64, NAI_COUNT, "those kernels", NULL},
    [B_COVERAGE] = {"pid_attribution_coverage_pct", NAI_F64, NAI_PCT, "kernel time of the process inside any range",
                    NULL},
};
static const struct nai_schema by_pid_schema =
    NAI_SCHEMA("nvtx_by_pid", "NVTX ranges by process", "One canonical NVTX range name in one process", by_pid_columns);

enum { C_SCOPE, C_PID, C_KERNEL, C_ATTRIBUTED, C_PCT, C_KERNELS, C_ATTRIBUTED_KERNELS, C_RANGES, C_NAMES };
static const struct nai_column_def coverage_columns[] = {
    [C_SCOPE] = {"scope", NAI_STR, NAI_TEXT, "all or process", NULL},
    [C_PID] = {"pid", NAI_I64, NAI_ID, "process", NULL},
    [C_KERNEL] = {"kernel_time_ms", NAI_I64, NAI_MS, "summed kernel durations", NULL},
    [C_ATTRIBUTED] = {"attributed_kernel_time_ms", NAI_I64, NAI_MS, "part launched inside an NVTX range", NULL},
    [C_PCT] = {"coverage_pct", NAI_F64, NAI_PCT, "attributed, of the kernel time", NULL},
    [C_KERNELS] = {"kernel_count", NAI_I64, NAI_COUNT, "kernel executions", NULL},
    [C_ATTRIBUTED_KERNELS] = {"attributed_kernel_count", NAI_I64, NAI_COUNT, "part launched inside an NVTX range",
                              NULL},
    [C_RANGES] = {"range_count", NAI_I64, NAI_COUNT, "NVTX ranges", NULL},
    [C_NAMES] = {"distinct_names", NAI_I64, NAI_COUNT, "canonical names", NULL},
};
static const struct nai_schema coverage_schema =
    NAI_SCHEMA("nvtx_coverage", "NVTX coverage", "All processes, or one", coverage_columns);

enum { P_PHASE, P_WALL, P_WALL_PCT, P_GPU, P_GPU_PCT, P_RANGES, P_KERNELS, P_START, P_END, P_PID, P_TID };
static const struct nai_column_def phase_columns[] = {
    [P_PHASE] = {"phase", NAI_STR, NAI_TEXT, "phase of the phase map, or unmapped", NULL},
    [P_WALL] = {"wall_time_ms", NAI_I64, NAI_MS, "time of threads with NVTX ranges spent in the phase", NULL},
    [P_WALL_PCT] = {"pct_of_wall_time", NAI_F64, NAI_PCT, "of those threads' time", NULL},
    [P_GPU] = {"gpu_time_ms", NAI_I64, NAI_MS, "kernels launched in the phase", NULL},
    [P_GPU_PCT] = {"pct_of_gpu_time", NAI_F64, NAI_PCT, "of all kernel durations on all GPUs", NULL},
    [P_RANGES] = {"range_count", NAI_I64, NAI_COUNT, "NVTX ranges in the phase", NULL},
    [P_KERNELS] = {"kernel_count", NAI_I64, NAI_COUNT, "kernels launched in the phase", NULL},
    [P_START] = {"longest_start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start of the phase's longest range", NULL},
    [P_END] = {"longest_end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end of the phase's longest range", NULL},
    [P_PID] = {"pid", NAI_I64, NAI_ID, "process of the longest range", NULL},
    [P_TID] = {"tid", NAI_I64, NAI_ID, "thread of the longest range", NULL},
};
static const struct nai_schema phases_schema =
    NAI_SCHEMA("nvtx_phases", "Phases", "One phase of the phase map", phase_columns);

/* Sums of one name over some threads. */
struct sum {
  int64_t count, total_ns, self_ns, gpu_ns, gpu_self_ns, gpu_count;
  uint32_t longest; /* row of nvtx_events */
};

static int64_t length_of(const struct nai_model *m, uint32_t range) {
  return range == NAI_NO_ROW ? -1 : nai_range_ns(m, range);
}

static bool is_longer(const struct nai_model *m, uint32_t a, uint32_t b) {
  int64_t la = length_of(m, a), lb = length_of(m, b);
  return la > lb || (la == lb && a != NAI_NO_ROW && nai_at(&m->nvtx.start, a) < nai_at(&m->nvtx.start, b));
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
    if (node->outermost) {
      sum->total_ns += node->total_ns;
      sum->gpu_ns += node->inclusive_kernel_ns;
      sum->gpu_count += node->inclusive_kernel_count;
    }
    if (is_longer(m, node->longest, sum->longest))
      sum->longest = node->longest;
  }
}

static void put_place(struct nai_table *table, int64_t row, const struct nai_model *m, uint32_t range, int start,
                      int pid) {
  if (range == NAI_NO_ROW)
    return;
  nai_set_i64(table, row, start, nai_at(&m->nvtx.start, range));
  nai_set_i64(table, row, start + 1, nai_at(&m->nvtx.end, range));
  nai_set_i64(table, row, pid, nai_get_i64(m->threads, nai_at_i32(&m->nvtx.thread, range), TH_PID));
  nai_set_i64(table, row, pid + 1, nai_get_i64(m->threads, nai_at_i32(&m->nvtx.thread, range), TH_TID));
}

/* Durations by name; marks, which have none, left out. */
static void name_block(const void *model, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct nai_nvtx_view *v = &((const struct nai_model *)model)->nvtx;
  for (uint32_t i = 0; i < count; i++) {
    group[i] = nai_at_i32(&v->kind, first + i) == NAI_NVTX_MARK ? NAI_NO_GROUP : nai_at_text(&v->name, first + i);
    value[i] = nai_at(&v->end, first + i) - nai_at(&v->start, first + i);
  }
}

/* Kernels of a process, and those of them that NVTX ranges of its threads account for. */
struct process_sum {
  int64_t kernel_ns, kernels, attributed_ns, attributed;
};

struct work {
  const struct nai_model *m;
  struct sum *sums; /* per name */
  uint32_t *touched, touched_count;
  struct process_sum *processes; /* [process_count]: unknown process */
  struct process_sum all;
};

static void clear(struct work *w) {
  for (uint32_t i = 0; i < w->touched_count; i++)
    w->sums[w->touched[i]] = (struct sum){0};
  w->touched_count = 0;
}

static int put_ranges(struct nai_table *table, struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  uint32_t names = m->nvtx_table->strings.count;
  void *memory;
  int rc = nai_big_new(&memory, m->scratch_dir, ((size_t)names + 1) * sizeof(struct nai_stats), err);
  struct nai_stats *stats = memory;
  if (!rc)
    rc = nai_group_stats(stats, names, &(struct nai_values){m->nvtx.n, name_block, m, m->scratch_dir}, err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    add_thread(w->sums, w->touched, &w->touched_count, m, t);
  for (uint32_t i = 0; !rc && i < w->touched_count; i++) {
    static const struct nai_stats_columns to = {COUNT, -1, AVG, -1, MAX, P50, P90, -1, -1};
    const struct sum *sum = &w->sums[w->touched[i]];
    int64_t row = nai_table_add_row(table);
    nai_put_stats(table, row, &to, &stats[w->touched[i]]);
    nai_set_str(table, row, NAME, nai_strings_get(&m->nvtx_table->strings, w->touched[i]));
    nai_set_i64(table, row, TOTAL, sum->total_ns);
    nai_set_i64(table, row, SELF, sum->self_ns);
    if (m->map_nvtx) {
      nai_set_i64(table, row, GPU, sum->gpu_ns);
      nai_set_i64(table, row, GPU_SELF, sum->gpu_self_ns);
      nai_set_i64(table, row, GPU_COUNT, sum->gpu_count);
      nai_set_f64(table, row, PCT_KERNEL, nai_percent((double)sum->gpu_ns, (double)w->all.kernel_ns));
    }
    put_place(table, row, m, sum->longest, LONGEST_START, PID);
  }
  clear(w);
  nai_big_free(stats);
  static const struct nai_sort_by order[] = {{TOTAL, true}, {NAME, false}};
  return rc ? rc : nai_table_sort(table, order, 2, err);
}

static void put_coverage_row(struct nai_table *table, const char *scope, int64_t pid, const struct process_sum *sum,
                             int64_t ranges, int64_t names) {
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, C_SCOPE, scope);
  nai_set_i64(table, row, C_PID, pid);
  nai_set_i64(table, row, C_KERNEL, sum->kernel_ns);
  nai_set_i64(table, row, C_ATTRIBUTED, sum->attributed_ns);
  if (sum->kernel_ns)
    nai_set_f64(table, row, C_PCT, nai_percent((double)sum->attributed_ns, (double)sum->kernel_ns));
  nai_set_i64(table, row, C_KERNELS, sum->kernels);
  nai_set_i64(table, row, C_ATTRIBUTED_KERNELS, sum->attributed);
  nai_set_i64(table, row, C_RANGES, ranges);
  nai_set_i64(table, row, C_NAMES, names);
}

/* Rows of one process from its threads. */
static void put_process(struct nai_table *by_pid, struct nai_table *coverage, struct work *w, uint32_t process,
                        const uint32_t *threads, uint32_t thread_count) {
  const struct nai_model *m = w->m;
  const struct process_sum *all = &w->processes[process];
  int64_t ranges = 0, pid = nai_model_pid(m, (int32_t)process);
  for (uint32_t i = 0; i < thread_count; i++)
    add_thread(w->sums, w->touched, &w->touched_count, m, threads[i]);
  for (uint32_t i = 0; i < w->touched_count; i++) {
    const struct sum *sum = &w->sums[w->touched[i]];
    int64_t row = nai_table_add_row(by_pid);
    nai_set_i64(by_pid, row, B_PID, pid);
    nai_set_str(by_pid, row, B_NAME, nai_strings_get(&m->nvtx_table->strings, w->touched[i]));
    nai_set_i64(by_pid, row, B_COUNT, sum->count);
    nai_set_i64(by_pid, row, B_TOTAL, sum->total_ns);
    nai_set_i64(by_pid, row, B_GPU, sum->gpu_ns);
    nai_set_i64(by_pid, row, B_GPU_COUNT, sum->gpu_count);
    if (all->kernel_ns)
      nai_set_f64(by_pid, row, B_COVERAGE, nai_percent((double)all->attributed_ns, (double)all->kernel_ns));
    ranges += sum->count;
  }
  if (ranges || all->kernels)
    put_coverage_row(coverage, "process", pid, all, ranges, w->touched_count);
  clear(w);
}

static int put_processes(struct nai_table *by_pid, struct nai_table *coverage, struct work *w, int64_t all_names,
                         struct nai_err *err) {
  const struct nai_model *m = w->m;
  struct nai_groups threads = {0};
  int64_t ranges = 0;
  struct nai_column process = nai_table_column(m->threads, TH_PROCESS);
  int rc = nai_groups_collect(&threads, m->thread_count, &process, m->process_count, NULL, err);
  for (uint32_t i = 0; i < m->node_count; i++)
    ranges += m->nodes[i].count;
  put_coverage_row(coverage, "all", NAI_NULL_I64, &w->all, ranges, all_names);
  for (uint32_t p = 0; !rc && p < m->process_count; p++)
    put_process(by_pid, coverage, w, p, threads.order + threads.first[p], threads.first[p + 1] - threads.first[p]);
  nai_groups_free(&threads);
  static const struct nai_sort_by order[] = {{B_PID, false}, {B_TOTAL, true}, {B_NAME, false}};
  return rc ? rc : nai_table_sort(by_pid, order, 3, err);
}

/* --- phases ----------------------------------------------------------------------------------- */

/* First to last moment of the thread's NVTX ranges and API calls, 0 for threads without ranges. */
static int64_t thread_time(const struct nai_model *m, uint32_t thread) {
  const struct nai_groups *r = &m->nvtx_by_thread, *c = &m->api_by_thread;
  int64_t first = INT64_MAX, last = INT64_MIN;
  if (r->first[thread] == r->first[thread + 1])
    return 0;
  for (uint32_t i = r->first[thread]; i < r->first[thread + 1]; i++) {
    first = nai_at(&m->nvtx.start, r->order[i]) < first ? nai_at(&m->nvtx.start, r->order[i]) : first;
    last = nai_at(&m->nvtx.end, r->order[i]) > last ? nai_at(&m->nvtx.end, r->order[i]) : last;
  }
  for (uint32_t i = c->first[thread]; i < c->first[thread + 1]; i++) {
    first = nai_at(&m->apis.start, c->order[i]) < first ? nai_at(&m->apis.start, c->order[i]) : first;
    last = nai_at(&m->apis.end, c->order[i]) > last ? nai_at(&m->apis.end, c->order[i]) : last;
  }
  return last - first;
}

static void put_phase(struct nai_table *table, const struct nai_model *m, const char *phase,
                      const struct nai_phase_sum *sum, int64_t all_wall_ns, int64_t all_gpu_ns) {
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, P_PHASE, phase);
  nai_set_i64(table, row, P_WALL, sum->wall_ns);
  nai_set_f64(table, row, P_WALL_PCT, nai_percent((double)sum->wall_ns, (double)all_wall_ns));
  nai_set_i64(table, row, P_GPU, sum->gpu_ns);
  nai_set_f64(table, row, P_GPU_PCT, nai_percent((double)sum->gpu_ns, (double)all_gpu_ns));
  nai_set_i64(table, row, P_RANGES, sum->ranges);
  nai_set_i64(table, row, P_KERNELS, sum->kernels);
  put_place(table, row, m, sum->longest, P_START, P_PID);
}

/* One row per phase, and one of what they leave. */
static void put_phase_rows(struct nai_table *table, const struct work *w, const struct nai_phase_sum *sums, int count) {
  const struct nai_model *m = w->m;
  int64_t wall_ns = 0;
  for (uint32_t t = 0; t < m->thread_count; t++)
    wall_ns += thread_time(m, t);
  struct nai_phase_sum unmapped = {wall_ns, w->all.kernel_ns, m->kernels.n, m->nvtx_by_thread.first[m->thread_count],
                                   NAI_NO_ROW};
  for (int p = 0; p < count; p++) {
    put_phase(table, m, nai_phase_map_phase(m->phases, p), &sums[p], wall_ns, w->all.kernel_ns);
    unmapped.wall_ns -= sums[p].wall_ns;
    unmapped.gpu_ns -= sums[p].gpu_ns;
    unmapped.kernels -= sums[p].kernels;
    unmapped.ranges -= sums[p].ranges;
  }
  put_phase(table, m, "unmapped", &unmapped, wall_ns, w->all.kernel_ns);
}

static int put_phases(struct nai_table *table, const struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  uint32_t names = m->nvtx_table->strings.count;
  int count = nai_phase_map_count(m->phases);
  struct nai_phase_sum *sums = calloc((size_t)count + 1, sizeof *sums);
  int *name_phase = malloc(((size_t)names + 1) * sizeof *name_phase);
  int rc = sums && name_phase ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < names; i++)
    name_phase[i] = nai_phase_map_match(m->phases, nai_strings_get(&m->nvtx_table->strings, i));
  if (!rc)
    rc = nai_phase_map_check(m->phases, err);
  if (!rc)
    rc = nai_phase_sums(sums, count, m, name_phase, err);
  if (!rc) {
    static const struct nai_sort_by order[] = {{P_GPU, true}, {P_WALL, true}, {P_PHASE, false}};
    put_phase_rows(table, w, sums, count);
    rc = nai_table_sort(table, order, 3, err);
  }
  free(sums);
  free(name_phase);
  return rc;
}

static void add_processes(struct process_sum *all, struct process_sum *processes, const struct nai_model *m) {
  for (uint32_t k = 0; k < m->kernels.n; k++) {
    int32_t process = nai_at_i32(&m->kernels.process, k);
    struct process_sum *sum = &processes[process < 0 ? m->process_count : (uint32_t)process];
    sum->kernel_ns += nai_kernel_ns(m, k);
    sum->kernels++;
  }
  for (uint32_t i = 0; i < m->node_count; i++) {
    int32_t process = m->thread_process[m->nodes[i].thread];
    struct process_sum *sum = &processes[process < 0 ? m->process_count : (uint32_t)process];
    sum->attributed_ns += m->nodes[i].kernel_ns;
    sum->attributed += m->nodes[i].kernel_count;
  }
  for (uint32_t p = 0; p <= m->process_count; p++) {
    all->kernel_ns += processes[p].kernel_ns;
    all->kernels += processes[p].kernels;
    all->attributed_ns += processes[p].attributed_ns;
    all->attributed += processes[p].attributed;
  }
}

static int run(struct nai_table *const *tables, const struct nai_model *m, struct nai_err *err) {
  uint32_t names = m->nvtx_table->strings.count;
  struct work w = {.m = m};
  void *sums;
  int rc = nai_big_new(&sums, m->scratch_dir, ((size_t)names + 1) * sizeof *w.sums, err);
  if (rc)
    return rc;
  w.sums = sums;
  w.touched = malloc(((size_t)names + 1) * sizeof *w.touched);
  w.processes = calloc((size_t)m->process_count + 1, sizeof *w.processes);
  rc = w.touched && w.processes ? NAI_OK : nai_err_nomem(err);
  if (!rc) {
    add_processes(&w.all, w.processes, m);
    rc = put_ranges(tables[0], &w, err);
  }
  if (!rc && m->map_nvtx && m->node_count)
    rc = put_processes(tables[1], tables[2], &w, tables[0]->rows, err);
  if (!rc && m->map_nvtx && m->phases)
    rc = put_phases(tables[3], &w, err);
  nai_big_free(w.sums);
  free(w.touched);
  free(w.processes);
  return rc;
}

static const struct nai_schema *const schemas[] = {&ranges_schema, &by_pid_schema, &coverage_schema, &phases_schema,
                                                   NULL};
const struct nai_analysis nai_analysis_nvtx = {"nvtx", schemas, run, 4};
