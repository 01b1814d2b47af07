/* How fast does the host launch kernels, and how long do they take? Table launch_storm. */
#include "analyses/analysis.h"
#include "analyses/kernels/tiny_kernels.h"

#include "base/spill_array.h"
#include "tables/launch_storm.h"
#include "tables/tiny_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEAK_NS = 10 * 1000 * 1000 };
static const int64_t tiny_limits_ns[] = {5000, 10000, 20000};
enum { LIMITS = sizeof tiny_limits_ns / sizeof *tiny_limits_ns };

/* What the kernels of one scope have to say. */
enum measure {
  DURATION,
  LATENCY,
  QUEUE_DELAY,
  CALL,
  MEASURES
}; /* CALL: durations of the launch calls, each call once */
struct scope {
  struct nai_stats of[MEASURES];
  int64_t under[LIMITS], start, end;
  int64_t peak, peak_start; /* the 10 ms with most kernel starts */
};

/* All kernels divided into scopes. */
struct layer {
  const struct nai_model *m;
  const struct nai_column *scope_of; /* per kernel, -1 for none; NULL: all in scope 0 */
  uint32_t scopes;
  bool *begins_call; /* per kernel: the first of its scope that its call launched */
};

static uint32_t scope_of(const struct layer *l, uint32_t kernel) {
  int32_t scope = l->scope_of ? nai_at_i32(l->scope_of, kernel) : 0;
  return scope < 0 ? NAI_NO_GROUP : (uint32_t)scope;
}

static void duration_block(const void *layer, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct layer *l = layer;
  int64_t start[NAI_VALUES_BLOCK];
  nai_unpack(start, &l->m->kernels.start_ns, first, count);
  nai_unpack(value, &l->m->kernels.end_ns, first, count);
  for (uint32_t i = 0; i < count; i++) {
    group[i] = scope_of(l, first + i);
    value[i] -= start[i];
  }
}

static void latency_block(const void *layer, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct layer *l = layer;
  const struct nai_column called = l->m->apis.start_ns;
  nai_unpack(value, &l->m->kernels.start_ns, first, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t api = l->m->kernel_api[first + i];
    group[i] = api == NAI_NO_ROW ? NAI_NO_GROUP : scope_of(l, first + i);
    value[i] = api == NAI_NO_ROW ? 0 : value[i] - nai_at(&called, api);
  }
}

static void queue_delay_block(const void *layer, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct layer *l = layer;
  const struct nai_column returned = l->m->apis.end_ns;
  nai_unpack(value, &l->m->kernels.start_ns, first, count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t api = l->m->kernel_api[first + i];
    value[i] = api == NAI_NO_ROW ? -1 : value[i] - nai_at(&returned, api);
    group[i] = value[i] < 0 ? NAI_NO_GROUP : scope_of(l, first + i);
  }
}

static void call_block(const void *layer, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct layer *l = layer;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t api = l->m->kernel_api[first + i];
    group[i] = l->begins_call[first + i] ? scope_of(l, first + i) : NAI_NO_GROUP;
    value[i] = l->begins_call[first + i] ? nai_call_ns(l->m, api) : 0;
  }
}

static int put_layer_stats(struct scope *scopes, const struct layer *l, struct nai_err *err) {
  static void (*const blocks[MEASURES])(const void *, uint32_t, uint32_t, uint32_t *, int64_t *) = {
      [DURATION] = duration_block, [LATENCY] = latency_block, [QUEUE_DELAY] = queue_delay_block, [CALL] = call_block};
  struct nai_stats *stats = calloc((size_t)l->scopes + 1, sizeof *stats);
  int rc = stats ? NAI_OK : nai_err_nomem(err);
  for (int i = 0; !rc && i < MEASURES; i++) {
    rc = nai_group_stats(stats, l->scopes, &(struct nai_values){l->m->kernels.n, blocks[i], l}, err);
    for (uint32_t s = 0; !rc && s < l->scopes; s++)
      scopes[s].of[i] = stats[s];
  }
  free(stats);
  return rc;
}

/* What depends on the order of a scope's kernels, which is by start. */
static void walk(struct scope *s, struct layer *l, uint8_t *call_seen, const uint32_t *kernels, uint32_t n) {
  const struct nai_column starts = l->m->kernels.start_ns, ends = l->m->kernels.end_ns;
  int64_t from_start = n ? nai_at(&starts, kernels[0]) : 0;
  for (uint32_t i = 0, from = 0; i < n; i++) {
    uint32_t k = kernels[i], api = l->m->kernel_api[k];
    int64_t start = nai_at(&starts, k), end = nai_at(&ends, k);
    for (int u = 0; u < LIMITS; u++)
      s->under[u] += end - start < tiny_limits_ns[u];
    s->end = i == 0 || end > s->end ? end : s->end;
    while (start - from_start >= PEAK_NS)
      from_start = nai_at(&starts, kernels[++from]);
    if (i - from + 1 > s->peak) {
      s->peak = i - from + 1;
      s->peak_start = from_start;
    }
    l->begins_call[k] = api != NAI_NO_ROW && !call_seen[api];
    if (api != NAI_NO_ROW)
      call_seen[api] = 1;
  }
  for (uint32_t i = 0; i < n; i++)
    if (l->begins_call[kernels[i]])
      call_seen[l->m->kernel_api[kernels[i]]] = 0;
  s->start = n ? nai_at(&starts, kernels[0]) : 0;
}

/* Fills one scope per group of `by_start`, kernels grouped as scope_of_kernel says and each group by start. */
static int measure(struct scope *scopes, const struct nai_model *m, const struct nai_column *scope_of_kernel,
                   const struct nai_groups *by_start, struct nai_err *err) {
  struct layer l = {m, scope_of_kernel, by_start->groups, calloc((size_t)m->kernels.n + 1, sizeof *l.begins_call)};
  uint8_t *call_seen = calloc((size_t)m->apis.n + 1, 1);
  int rc = l.begins_call && call_seen ? NAI_OK : nai_err_nomem(err);
  for (uint32_t s = 0; !rc && s < l.scopes; s++)
    walk(&scopes[s], &l, call_seen, by_start->order + by_start->first[s], by_start->first[s + 1] - by_start->first[s]);
  if (!rc)
    rc = put_layer_stats(scopes, &l, err);
  free(l.begins_call);
  free(call_seen);
  return rc;
}

static void put_scope(struct nai_table *table, const struct scope *s, const char *scope, int64_t device_id, int64_t pid,
                      const char *label) {
  static const struct nai_stats_columns durations = {
      LAUNCH_STORM_kernel_count,  LAUNCH_STORM_kernel_time_ns, -1, -1, -1, LAUNCH_STORM_p50_kernel_ns,
      LAUNCH_STORM_p90_kernel_ns, LAUNCH_STORM_p99_kernel_ns,  -1};
  static const int under[LIMITS] = {LAUNCH_STORM_pct_under_5us, LAUNCH_STORM_pct_under_10us,
                                    LAUNCH_STORM_pct_under_20us};
  if (!s->of[DURATION].count)
    return;
  int64_t row = nai_table_add_row(table);
  double window_s = (double)(s->end - s->start) / 1e9;
  nai_set_str(table, row, LAUNCH_STORM_scope, scope);
  nai_set_i64(table, row, LAUNCH_STORM_device_id, device_id);
  nai_set_i64(table, row, LAUNCH_STORM_pid, pid);
  nai_set_str(table, row, LAUNCH_STORM_scope_label, label);
  nai_set_i64(table, row, LAUNCH_STORM_window_ns, s->end - s->start);
  nai_put_stats(table, row, &durations, &s->of[DURATION]);
  for (int u = 0; u < LIMITS; u++)
    nai_set_f64(table, row, under[u], nai_percent((double)s->under[u], (double)s->of[DURATION].count));
  nai_set_i64(table, row, LAUNCH_STORM_peak_kernels_per_10ms, s->peak);
  nai_set_i64(table, row, LAUNCH_STORM_peak_start_ns, s->peak_start);
  nai_set_i64(table, row, LAUNCH_STORM_peak_end_ns, s->peak_start + PEAK_NS);
  nai_set_i64(table, row, LAUNCH_STORM_launch_calls, s->of[CALL].count);
  nai_set_f64(table, row, LAUNCH_STORM_api_p50_ns, s->of[CALL].p50);
  nai_set_f64(table, row, LAUNCH_STORM_launch_latency_p50_ns, s->of[LATENCY].p50);
  nai_set_f64(table, row, LAUNCH_STORM_launch_latency_p90_ns, s->of[LATENCY].p90);
  nai_set_f64(table, row, LAUNCH_STORM_queue_delay_p50_ns, s->of[QUEUE_DELAY].p50);
  if (window_s > 0) {
    nai_set_f64(table, row, LAUNCH_STORM_kernels_per_s, (double)s->of[DURATION].count / window_s);
    nai_set_f64(table, row, LAUNCH_STORM_launch_calls_per_s, (double)s->of[CALL].count / window_s);
  }
}

/* Kernels grouped by GPU, by start, and the GPU of each. */
static int order_by_gpu(struct nai_groups *out, int32_t *gpu_of, const struct nai_model *m, struct nai_err *err) {
  void *order;
  uint32_t n = 0;
  out->groups = m->gpu_count;
  out->first = calloc((size_t)m->gpu_count + 2, sizeof *out->first);
  if (!out->first)
    return nai_err_nomem(err);
  int rc = nai_spill_array_new(&order, m->scratch_dir, ((size_t)m->kernels.n + 1) * sizeof *out->order, err);
  if (rc)
    return rc;
  out->order = order;
  memset(gpu_of, 0xff, m->kernels.n * sizeof *gpu_of);
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++) {
      const struct nai_op *op = &m->gpus[g].ops[i];
      if (op->type != NAI_OP_KERNEL)
        continue;
      gpu_of[op->row] = (int32_t)g;
      out->order[n++] = op->row;
    }
    out->first[g + 1] = n;
  }
  return NAI_OK;
}

/* all[0] and gpus[g] of each GPU. With one GPU they are the same. */
static int measure_gpus(struct scope *all, struct scope *gpus, const struct nai_model *m, struct nai_err *err) {
  struct nai_arena arena = NAI_ARENA(m->scratch_dir);
  struct nai_groups by_start = {0};
  int32_t *gpu_of = nai_cells_new(m->kernels.n, sizeof *gpu_of);
  int rc = gpu_of ? order_by_gpu(&by_start, gpu_of, m, err) : nai_err_nomem(err);
  struct nai_column scope = nai_column_of_i32(gpu_of);
  if (!rc)
    rc = measure(gpus, m, &scope, &by_start, err);
  free(gpu_of);
  if (!rc && m->gpu_count == 1) {
    *all = gpus[0];
  } else if (!rc) { /* the GPUs' kernels, merged */
    struct nai_row_order by = {.start = m->kernels.start_ns, .end = m->kernels.end_ns};
    uint32_t everything[] = {0, by_start.first[m->gpu_count]};
    rc = nai_rows_sort(by_start.order, everything[1], &by, m->scratch_dir, err);
    if (!rc)
      rc = measure(all, m, NULL, &(struct nai_groups){by_start.order, everything, 1}, err);
  }
  nai_arena_free(&arena);
  return rc;
}

/* The GPU whose kernels are those of process p and no others; gpu_count when there is none. */
static uint32_t only_gpu(const struct nai_model *m, uint32_t p, int64_t kernels, const struct scope *gpus) {
  const struct nai_groups *used = &m->process_gpus;
  uint32_t gpu = used->first[p + 1] - used->first[p] == 1 ? used->order[used->first[p]] : m->gpu_count;
  return gpu < m->gpu_count && gpus[gpu].of[DURATION].count == kernels ? gpu : m->gpu_count;
}

/* scopes[p] of each process. Mostly every process has a GPU of its own: then they are the GPUs' over again. */
static int measure_processes(struct scope *scopes, const struct scope *gpus, const struct nai_model *m,
                             struct nai_err *err) {
  int64_t *kernels = calloc((size_t)m->process_count + 1, sizeof *kernels);
  bool as_gpus = true;
  if (!kernels)
    return nai_err_nomem(err);
  for (uint32_t k = 0; k < m->kernels.n; k++)
    if (nai_at_i32(&m->kernels.process, k) >= 0)
      kernels[nai_at_i32(&m->kernels.process, k)]++;
  for (uint32_t p = 0; p < m->process_count; p++) {
    uint32_t gpu = only_gpu(m, p, kernels[p], gpus);
    if (gpu < m->gpu_count)
      scopes[p] = gpus[gpu];
    else
      as_gpus &= kernels[p] == 0;
  }
  free(kernels);
  if (as_gpus)
    return NAI_OK;
  memset(scopes, 0, m->process_count * sizeof *scopes);
  struct nai_arena arena = NAI_ARENA(m->scratch_dir);
  struct nai_groups by_start = {0};
  struct nai_row_order by = {.start = m->kernels.start_ns, .end = m->kernels.end_ns};
  int rc = nai_groups_build(&by_start, m->kernels.n, &m->kernels.process, m->process_count, &by, &arena, err);
  if (!rc)
    rc = measure(scopes, m, &m->kernels.process, &by_start, err);
  nai_arena_free(&arena);
  return rc;
}

static int put_storm(struct nai_table *table, const struct nai_model *m, struct nai_err *err) {
  struct scope all = {0}, *gpus = calloc((size_t)m->gpu_count + 1, sizeof *gpus),
               *processes = calloc((size_t)m->process_count + 1, sizeof *processes);
  int rc = gpus && processes ? measure_gpus(&all, gpus, m, err) : nai_err_nomem(err);
  if (!rc)
    rc = measure_processes(processes, gpus, m, err);
  if (!rc)
    put_scope(table, &all, "all", NAI_NULL_I64, NAI_NULL_I64, "all");
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++)
    put_scope(table, &gpus[g], "gpu", m->gpus[g].device_id, NAI_NULL_I64, nai_model_gpu_label(m, m->gpus[g].device_id));
  for (uint32_t p = 0; !rc && p < m->process_count; p++) {
    char label[48];
    int64_t pid = nai_model_pid(m, (int32_t)p);
    snprintf(label, sizeof label, "process %lld", (long long)pid);
    put_scope(table, &processes[p], "process", NAI_NULL_I64, pid, label);
  }
  free(gpus);
  free(processes);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_table *const *tables = io->out;
  const struct nai_model *m = io->model;
  int rc = put_storm(tables[0], m, err);
  return rc ? rc : nai_tiny_kernels_put(tables[1], m, err);
}

NAI_ANALYSIS(launches, .outputs = NAI_SCHEMAS(&nai_launch_storm_schema, &nai_tiny_kernels_schema),
             .parts = NAI_PART(LAUNCHES) | NAI_PART(GPUS) | NAI_PART(PROCESS_GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(PROCESSES) |
                       NAI_IN(GPUS),
             .cost = 3, .run = run)
