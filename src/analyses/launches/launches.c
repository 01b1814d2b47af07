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

static const unsigned measured[MEASURES] = {
    [DURATION] = NAI_P50 | NAI_P90 | NAI_P99, [LATENCY] = NAI_P50 | NAI_P90, [QUEUE_DELAY] = NAI_P50, [CALL] = NAI_P50};

/* Kernels of each scope, by start: key = start, value = row of kernel_events. */
struct starts {
  struct nai_key *v;
  uint32_t *first, scopes; /* scope s: v[first[s]] .. v[first[s + 1] - 1] */
};

/* Their values, in the same order. */
struct layer {
  const struct nai_model *m;
  struct nai_stats_room *room;
  int64_t *of[MEASURES];
  uint32_t n[MEASURES];
  uint32_t *seen; /* per call, 1 + the scope that had it last */
  bool shared;    /* a call launched kernels of several scopes */
};

static int layer_new(struct layer *l, const struct nai_model *m, struct nai_arena *arena, struct nai_err *err) {
  *l = (struct layer){.m = m};
  NAI_TRY(NAI_NEW(l->seen, arena, m->apis.n, err));
  for (int i = 0; i < MEASURES; i++)
    NAI_TRY(NAI_NEW_UNSET(l->of[i], arena, m->kernels.n, err));
  return nai_stats_room_in(&l->room, m->kernels.n, arena, err);
}

static void put_value(struct layer *l, enum measure measure, int64_t value) { l->of[measure][l->n[measure]++] = value; }

static void put_kernel(struct layer *l, uint32_t scope, uint32_t kernel, int64_t start, int64_t end) {
  uint32_t api = l->m->kernel_api[kernel];
  put_value(l, DURATION, end - start);
  if (api == NAI_NO_ROW)
    return;
  int64_t called = nai_val(&l->m->apis.start_ns, api), returned = nai_val(&l->m->apis.end_ns, api);
  put_value(l, LATENCY, start - called);
  if (start >= returned)
    put_value(l, QUEUE_DELAY, start - returned);
  if (l->seen[api] == scope + 1)
    return;
  put_value(l, CALL, returned - called);
  l->shared |= l->seen[api] != 0;
  l->seen[api] = scope + 1;
}

static NAI_WIDE int64_t count_under(const int64_t *values, uint32_t n, int64_t limit) {
  int64_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    count += values[i] < limit;
  return count;
}

/* Of the values behind `first`. */
static void sum_up(struct scope *s, struct layer *l, const uint32_t first[MEASURES]) {
  for (int u = 0; u < LIMITS; u++)
    s->under[u] = count_under(l->of[DURATION] + first[DURATION], l->n[DURATION] - first[DURATION], tiny_limits_ns[u]);
  for (int i = 0; i < MEASURES; i++)
    s->of[i] = nai_stats_in(l->room, l->of[i] + first[i], l->n[i] - first[i], measured[i]);
}

static void find_peak(struct scope *s, const struct nai_key *kernels, uint32_t n) {
  uint32_t peak = 0, at = 0;
  for (uint32_t i = 0, from = 0; i < n; i++) {
    while (kernels[i].key - kernels[from].key >= PEAK_NS)
      from++;
    if (i - from >= peak) {
      peak = i - from + 1;
      at = from;
    }
  }
  s->peak = peak;
  s->peak_start = n ? nai_key_to_i64(kernels[at].key) : 0;
}

static void measure(struct scope *scopes, struct layer *l, const struct starts *starts) {
  const struct nai_column ends = l->m->kernels.end_ns;
  for (uint32_t number = 0; number < starts->scopes; number++) {
    const struct nai_key *kernels = starts->v + starts->first[number];
    struct scope *s = &scopes[number];
    uint32_t first[MEASURES], n = starts->first[number + 1] - starts->first[number];
    memcpy(first, l->n, sizeof first);
    s->start = n ? nai_key_to_i64(kernels[0].key) : 0;
    for (uint32_t i = 0; i < n; i++) {
      int64_t end = nai_val(&ends, kernels[i].value);
      put_kernel(l, number, kernels[i].value, nai_key_to_i64(kernels[i].key), end);
      s->end = i == 0 || end > s->end ? end : s->end;
    }
    sum_up(s, l, first);
    find_peak(s, kernels, n);
  }
}

/* --- scopes ------------------------------------------------------------------------------------- */

/* Kernels of each GPU. */
static int order_by_gpu(struct starts *out, const struct nai_model *m, struct nai_arena *arena, struct nai_err *err) {
  uint32_t n = 0;
  out->scopes = m->gpu_count;
  NAI_TRY(NAI_NEW(out->first, arena, m->gpu_count + 1, err));
  NAI_TRY(NAI_NEW_UNSET(out->v, arena, m->kernels.n, err));
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    const struct nai_gpu *gpu = &m->gpus[g];
    for (uint32_t i = 0; i < gpu->op_count; i++)
      if (gpu->ops[i].type == NAI_OP_KERNEL)
        out->v[n++] = (struct nai_key){nai_key_from_i64(gpu->ops[i].start), gpu->ops[i].row};
    out->first[g + 1] = n;
  }
  return NAI_OK;
}

/* Of all kernels that are in a scope. A call that several scopes have is one. */
static int measure_all(struct scope *all, struct layer *l, const struct scope *scopes, const struct starts *starts,
                       struct nai_err *err) {
  const struct nai_model *m = l->m;
  const uint32_t n = starts->first[starts->scopes];
  if (l->shared) {
    l->n[CALL] = 0;
    for (uint32_t i = 0; i < m->apis.n; i++)
      if (l->seen[i])
        put_value(l, CALL, nai_call_ns(m, i));
  }
  sum_up(all, l, (const uint32_t[MEASURES]){0});
  NAI_TRY(nai_sort_keys(starts->v, n, err));
  find_peak(all, starts->v, n);
  all->start = n ? nai_key_to_i64(starts->v[0].key) : 0;
  all->end = all->start;
  for (uint32_t s = 0; s < starts->scopes; s++)
    if (scopes[s].of[DURATION].count && scopes[s].end > all->end)
      all->end = scopes[s].end;
  return NAI_OK;
}

/* *all and gpus[g] of each GPU. With one GPU they are the same. */
static int measure_gpus(struct scope *all, struct scope *gpus, const struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct starts starts;
  struct layer layer;
  NAI_TRY(order_by_gpu(&starts, m, &arena, err));
  NAI_TRY(layer_new(&layer, m, &arena, err));
  measure(gpus, &layer, &starts);
  if (m->gpu_count != 1)
    return measure_all(all, &layer, gpus, &starts, err);
  *all = gpus[0];
  return NAI_OK;
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
  const struct nai_row_order by = {.start = m->kernels.start_ns, .end = m->kernels.end_ns};
  struct nai_groups kernels;
  struct starts starts;
  struct layer layer;
  bool as_gpus;
  NAI_TRY(take_gpus(&as_gpus, scopes, gpus, m, &arena, err));
  if (as_gpus)
    return NAI_OK;
  memset(scopes, 0, m->process_count * sizeof *scopes);
  NAI_TRY(nai_groups_build(&kernels, m->kernels.n, &m->kernels.process, m->process_count, &by, &arena, err));
  starts = (struct starts){.first = kernels.first, .scopes = kernels.groups};
  NAI_TRY(NAI_NEW_UNSET(starts.v, &arena, m->kernels.n, err));
  for (uint32_t i = 0; i < kernels.first[kernels.groups]; i++) {
    uint32_t row = kernels.order[i];
    starts.v[i] = (struct nai_key){nai_key_from_i64(nai_val(&m->kernels.start_ns, row)), row};
  }
  NAI_TRY(layer_new(&layer, m, &arena, err));
  measure(scopes, &layer, &starts);
  return NAI_OK;
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
