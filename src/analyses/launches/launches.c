/* How fast does the host launch kernels, and how long do they take? Table launch_rates. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "tables/launch_rates.h"

enum { PEAK_NS = 10 * 1000 * 1000 };
static const int64_t tiny_limits_ns[] = {5000, 10000, 20000};
enum { LIMITS = sizeof tiny_limits_ns / sizeof *tiny_limits_ns };

/* What the kernels of one scope have to say. */
enum measure { DURATION, LATENCY, QUEUE_DELAY, CALL /* durations of the launch calls, each call once */, MEASURES };
struct scope {
  struct nai_stats of[MEASURES];
  int64_t under[LIMITS], start, end;
  int64_t peak, peak_start; /* the 10 ms with most kernel starts */
};

/* All kernels divided into scopes. */
struct layer {
  const struct nai_model *m;
  uint32_t scopes;
  struct scope *all;         /* of all kernels together, but for CALL where calls are shared; NULL: not wanted */
  enum measure first;        /* those before it are known */
  int64_t *of[MEASURES];     /* per kernel */
  uint32_t *scope[MEASURES]; /* per kernel: its scope, NAI_NO_GROUP where it has no such value */
  bool shared;               /* a call launched kernels of several scopes */
};

static int put_layer_stats(struct scope *scopes, const struct layer *l, struct nai_arena *arena, struct nai_err *err) {
  struct nai_stats *stats;
  NAI_TRY(NAI_NEW(stats, arena, l->scopes, err));
  for (int i = (int)l->first; i < MEASURES; i++) {
    const struct nai_values values = {.rows = l->m->kernels.n,
                                      .directory = l->m->scratch_dir,
                                      .groups = l->scope[i],
                                      .values = l->of[i],
                                      .parts = NAI_P50 | NAI_P90 | NAI_P99,
                                      .all = l->all && !(i == CALL && l->shared) ? &l->all->of[i] : NULL};
    NAI_TRY(nai_group_stats(stats, l->scopes, &values, err));
    for (uint32_t s = 0; s < l->scopes; s++)
      scopes[s].of[i] = stats[s];
  }
  return NAI_OK;
}

static void put_value(struct layer *l, enum measure measure, uint32_t scope, uint32_t kernel, int64_t value) {
  l->of[measure][kernel] = value;
  l->scope[measure][kernel] = scope;
}

/* seen: per call, 1 + the scope that had it last. */
static void put_values(struct layer *l, uint32_t *seen, uint32_t scope, uint32_t kernel, int64_t start, int64_t end) {
  uint32_t api = l->m->kernel_api[kernel];
  if (l->first == DURATION)
    put_value(l, DURATION, scope, kernel, end - start);
  if (l->first > CALL || api == NAI_NO_ROW)
    return;
  int64_t called = nai_val(&l->m->apis.start_ns, api), returned = nai_val(&l->m->apis.end_ns, api);
  if (l->first == DURATION) {
    put_value(l, LATENCY, scope, kernel, start - called);
    if (start >= returned)
      put_value(l, QUEUE_DELAY, scope, kernel, start - returned);
  }
  if (seen[api] == scope + 1)
    return;
  put_value(l, CALL, scope, kernel, returned - called);
  l->shared |= seen[api] != 0;
  seen[api] = scope + 1;
}

/* The kernels of a scope come in order of their starts. */
static void walk(struct scope *s, struct layer *l, uint32_t *seen, uint32_t scope, const uint32_t *kernels,
                 uint32_t n) {
  const struct nai_column starts = l->m->kernels.start_ns, ends = l->m->kernels.end_ns;
  int64_t from_start = n ? nai_val(&starts, kernels[0]) : 0;
  for (uint32_t i = 0, from = 0; i < n; i++) {
    int64_t start = nai_val(&starts, kernels[i]), end = nai_val(&ends, kernels[i]);
    for (int u = 0; u < LIMITS; u++)
      s->under[u] += end - start < tiny_limits_ns[u];
    s->end = i == 0 || end > s->end ? end : s->end;
    while (start - from_start >= PEAK_NS)
      from_start = nai_val(&starts, kernels[++from]);
    if (i - from + 1 > s->peak) {
      s->peak = i - from + 1;
      s->peak_start = from_start;
    }
    put_values(l, seen, scope, kernels[i], start, end);
  }
  s->start = n ? nai_val(&starts, kernels[0]) : 0;
}

/* Fills one scope per group of `by_start`, kernels grouped as the layer says and each group by start. */
static int measure(struct scope *scopes, struct layer *l, const struct nai_groups *by_start, struct nai_err *err) {
  const struct nai_model *m = l->m;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  uint32_t *seen;
  l->scopes = by_start->groups;
  NAI_TRY(NAI_NEW(seen, &arena, m->apis.n, err));
  for (int i = (int)l->first; i < MEASURES; i++) {
    NAI_TRY(NAI_NEW(l->of[i], &arena, m->kernels.n, err));
    NAI_TRY(NAI_NEW_UNSET(l->scope[i], &arena, m->kernels.n, err));
    memset(l->scope[i], 0xff, m->kernels.n * sizeof *l->scope[i]); /* NAI_NO_GROUP */
  }
  for (uint32_t s = 0; s < l->scopes; s++)
    walk(&scopes[s], l, seen, s, by_start->order + by_start->first[s], by_start->first[s + 1] - by_start->first[s]);
  return put_layer_stats(scopes, l, &arena, err);
}

/* --- scopes ------------------------------------------------------------------------------------- */

/* Kernels grouped by GPU, by start. */
static int order_by_gpu(struct nai_groups *out, const struct nai_model *m, struct nai_arena *arena,
                        struct nai_err *err) {
  uint32_t n = 0;
  out->groups = m->gpu_count;
  NAI_TRY(NAI_NEW(out->first, arena, m->gpu_count + 1, err));
  NAI_TRY(NAI_NEW(out->order, arena, m->kernels.n, err));
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++)
      if (m->gpus[g].ops[i].type == NAI_OP_KERNEL)
        out->order[n++] = m->gpus[g].ops[i].row;
    out->first[g + 1] = n;
  }
  return NAI_OK;
}

static int sort_by_start(uint32_t *kernels, uint32_t n, const struct nai_model *m, struct nai_arena *arena,
                         struct nai_err *err) {
  struct nai_key *keys;
  NAI_TRY(NAI_NEW_UNSET(keys, arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    keys[i] = (struct nai_key){nai_key_from_i64(nai_val(&m->kernels.start_ns, kernels[i])), kernels[i]};
  NAI_TRY(nai_sort_keys(keys, n, err));
  for (uint32_t i = 0; i < n; i++)
    kernels[i] = keys[i].value;
  return NAI_OK;
}

/* *all and gpus[g] of each GPU. With one GPU they are the same. */
static int measure_gpus(struct scope *all, struct scope *gpus, const struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_groups by_start = {0};
  NAI_TRY(order_by_gpu(&by_start, m, &arena, err));
  uint32_t everything[] = {0, by_start.first[m->gpu_count]};
  bool complete = everything[1] == m->kernels.n; /* every kernel is of a GPU that is known */
  struct layer of_gpus = {.m = m, .all = complete && m->gpu_count > 1 ? all : NULL};
  NAI_TRY(measure(gpus, &of_gpus, &by_start, err));
  if (m->gpu_count == 1) {
    *all = gpus[0];
    return NAI_OK;
  }
  NAI_TRY(sort_by_start(by_start.order, everything[1], m, &arena, err));
  struct layer of_all = {.m = m, .first = !complete ? DURATION : of_gpus.shared ? CALL : MEASURES};
  return measure(all, &of_all, &(struct nai_groups){by_start.order, everything, 1}, err);
}

/* The GPU whose kernels are those of process p and no others; gpu_count when there is none. */
static uint32_t only_gpu(const struct nai_model *m, uint32_t p, int64_t kernels, const struct scope *gpus) {
  const struct nai_groups *used = &m->process_gpus;
  uint32_t gpu = used->first[p + 1] - used->first[p] == 1 ? used->order[used->first[p]] : m->gpu_count;
  return gpu < m->gpu_count && gpus[gpu].of[DURATION].count == kernels ? gpu : m->gpu_count;
}

/* Takes scopes[p] from the GPU that only that process has. Whether all processes with kernels have such a GPU. */
static int take_gpus(bool *all, struct scope *scopes, const struct scope *gpus, const struct nai_model *m,
                     struct nai_arena *arena, struct nai_err *err) {
  int64_t *kernels;
  NAI_TRY(NAI_NEW(kernels, arena, m->process_count, err));
  for (uint32_t k = 0; k < m->kernels.n; k++)
    if (nai_val_i32(&m->kernels.process, k) >= 0)
      kernels[nai_val_i32(&m->kernels.process, k)]++;
  *all = true;
  for (uint32_t p = 0; p < m->process_count; p++) {
    uint32_t gpu = only_gpu(m, p, kernels[p], gpus);
    if (gpu < m->gpu_count)
      scopes[p] = gpus[gpu];
    else
      *all &= kernels[p] == 0;
  }
  return NAI_OK;
}

/* scopes[p] of each process. Mostly every process has a GPU of its own: then they are the GPUs' over again. */
static int measure_processes(struct scope *scopes, const struct scope *gpus, const struct nai_model *m,
                             struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_row_order by = {.start = m->kernels.start_ns, .end = m->kernels.end_ns};
  struct nai_groups by_start;
  bool as_gpus;
  NAI_TRY(take_gpus(&as_gpus, scopes, gpus, m, &arena, err));
  if (as_gpus)
    return NAI_OK;
  memset(scopes, 0, m->process_count * sizeof *scopes);
  NAI_TRY(nai_groups_build(&by_start, m->kernels.n, &m->kernels.process, m->process_count, &by, &arena, err));
  return measure(scopes, &(struct layer){.m = m}, &by_start, err);
}

/* --- rows --------------------------------------------------------------------------------------- */

static double pct_under(const struct scope *s, int limit) {
  return nai_percent((double)s->under[limit], (double)s->of[DURATION].count);
}

static void put_scope(struct nai_table *table, const struct scope *s, const char *scope, int64_t device_id, int64_t pid,
                      const char *label) {
  const struct nai_stats *durations = &s->of[DURATION];
  double window_s = (double)(s->end - s->start) / 1e9;
  if (!durations->count)
    return;
  struct LAUNCH_RATES_row row =
      NAI_ROW(LAUNCH_RATES, .scope = scope, .device_id = device_id, .pid = pid, .scope_label = label,
              .window_ns = s->end - s->start, .kernel_count = durations->count, .kernel_time_ns = durations->total,
              .p50_kernel_ns = durations->p50, .p90_kernel_ns = durations->p90, .p99_kernel_ns = durations->p99,
              .pct_under_5us = pct_under(s, 0), .pct_under_10us = pct_under(s, 1), .pct_under_20us = pct_under(s, 2),
              .peak_kernels_per_10ms = s->peak, .peak_start_ns = s->peak_start, .peak_end_ns = s->peak_start + PEAK_NS,
              .launch_calls = s->of[CALL].count, .api_p50_ns = s->of[CALL].p50,
              .launch_latency_p50_ns = s->of[LATENCY].p50, .launch_latency_p90_ns = s->of[LATENCY].p90,
              .queue_delay_p50_ns = s->of[QUEUE_DELAY].p50);
  if (window_s > 0) {
    row.kernels_per_s = (double)durations->count / window_s;
    row.launch_calls_per_s = (double)s->of[CALL].count / window_s;
  }
  LAUNCH_RATES_add(table, &row);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct scope all = {0}, *gpus, *processes;
  NAI_TRY(NAI_NEW(gpus, io->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(processes, io->arena, m->process_count, err));
  NAI_TRY(measure_gpus(&all, gpus, m, err));
  NAI_TRY(measure_processes(processes, gpus, m, err));
  put_scope(io->out[0], &all, "all", NAI_NULL_I64, NAI_NULL_I64, "all");
  for (uint32_t g = 0; g < m->gpu_count; g++)
    put_scope(io->out[0], &gpus[g], "gpu", m->gpus[g].device_id, NAI_NULL_I64,
              nai_model_gpu_label(m, m->gpus[g].device_id));
  for (uint32_t p = 0; p < m->process_count; p++) {
    int64_t pid = nai_model_pid(m, (int32_t)p);
    put_scope(io->out[0], &processes[p], "process", NAI_NULL_I64, pid,
              nai_arena_printf(io->arena, "process %" PRId64, pid));
  }
  return NAI_OK;
}

NAI_ANALYSIS(launches, .outputs = NAI_SCHEMAS(&nai_launch_rates_schema),
             .parts = NAI_PART(LAUNCHES) | NAI_PART(GPUS) | NAI_PART(PROCESS_GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(PROCESSES) |
                       NAI_IN(GPUS),
             .cost = 3, .run = run)
