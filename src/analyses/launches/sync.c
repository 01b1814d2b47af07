/* Where does the host wait for a GPU, and was the GPU busy meanwhile? Tables sync_calls, sync_by_pid. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "tables/sync_by_pid.h"
#include "tables/sync_calls.h"
#include "tables/threads.h"

/* One call that is listed. */
struct call {
  uint32_t api, name;
  int32_t process, thread;
  int64_t busy_ns; /* of its time, while any GPU of its process was busy */
};

/* Classes as they are shown, NULL for calls that are not listed. */
static const char *class_of(const struct nai_model *m, uint32_t api) {
  if (nai_model_api_blocks(m, api))
    return "blocking";
  switch (m->api_class[nai_val_text(&m->apis.name, api)]) {
  case NAI_API_ORDERING:
    return "ordering";
  case NAI_API_POLL:
    return "poll";
  default:
    return NULL;
  }
}

static void add_busy(struct call *calls, uint32_t n, const struct nai_model *m, struct nai_coverage *coverage) {
  for (uint32_t i = 0; i < n; i++)
    calls[i].busy_ns = nai_coverage_overlap_ns(coverage, nai_val(&m->apis.start_ns, calls[i].api),
                                               nai_val(&m->apis.end_ns, calls[i].api));
}

/* What all GPUs of a process ran. */
static int unite(struct nai_intervals *out, const struct nai_model *m, const uint32_t *gpus, uint32_t n,
                 struct nai_err *err) {
  for (uint32_t i = 0; i < n; i++) {
    NAI_SCOPED(nai_intervals) before = *out;
    *out = (struct nai_intervals){0};
    nai_intervals_union(out, &before, &m->gpus[gpus[i]].all);
  }
  return out->oom ? nai_err_nomem(err) : NAI_OK;
}

/* busy_ns of the calls of one process. of_gpu: coverage of each GPU's busy time, made when first needed: most processes
 * use one GPU, and many may share it. */
static int find_busy(struct call *calls, uint32_t n, const struct nai_model *m, struct nai_coverage *of_gpu,
                     struct nai_arena *kept, struct nai_err *err) {
  if (calls[0].process < 0)
    return NAI_OK;
  uint32_t first = m->process_gpus.first[calls[0].process], count = m->process_gpus.first[calls[0].process + 1] - first;
  const uint32_t *gpus = m->process_gpus.order + first;
  if (count == 1) {
    struct nai_coverage *coverage = &of_gpu[*gpus];
    if (!coverage->before)
      NAI_TRY(nai_coverage_in(coverage, &m->gpus[*gpus].all, kept, err));
    add_busy(calls, n, m, coverage);
    return NAI_OK;
  }
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  NAI_SCOPED(nai_intervals) busy = {0};
  struct nai_coverage coverage;
  NAI_TRY(unite(&busy, m, gpus, count, err));
  NAI_TRY(nai_coverage_in(&coverage, &busy, &arena, err));
  add_busy(calls, n, m, &coverage);
  return NAI_OK;
}

/* --- rows --------------------------------------------------------------------------------------- */

struct context {
  const struct nai_model *m;
  int64_t *windows; /* per thread, ns */
  int64_t *values;  /* scratch, one per call */
  struct nai_stats_room *room;
  uint32_t *range_of;   /* scratch: NVTX name ids */
  int64_t *range_ns;    /* per NVTX name id, -1 between uses */
  uint8_t *thread_seen; /* per thread, zero between uses */
};

/* Length of the thread's window: first API call start to last API call end. */
static int64_t thread_window(const struct nai_model *m, uint32_t thread) {
  const struct nai_groups *g = &m->api_by_thread;
  uint32_t first = g->first[thread], end = g->first[thread + 1];
  int64_t last = INT64_MIN;
  for (uint32_t i = first; i < end; i++)
    last = nai_val(&m->apis.end_ns, g->order[i]) > last ? nai_val(&m->apis.end_ns, g->order[i]) : last;
  return first == end ? 0 : last - nai_val(&m->apis.start_ns, g->order[first]);
}

static const char *top_range(struct context *x, const struct call *calls, uint32_t n) {
  const struct nai_strings *names = &x->m->tables[NAI_IN_NVTX]->strings;
  uint32_t distinct = 0, best = NAI_NO_STRING;
  for (uint32_t i = 0; i < n; i++) {
    const struct nai_nvtx_node *node = nai_model_call_node(x->m, calls[i].api);
    if (!node)
      continue;
    uint32_t name = node->name;
    if (x->range_ns[name] < 0) {
      x->range_of[distinct++] = name;
      x->range_ns[name] = 0;
    }
    x->range_ns[name] += nai_call_ns(x->m, calls[i].api);
  }
  for (uint32_t i = 0; i < distinct; i++) {
    uint32_t name = x->range_of[i];
    if (best == NAI_NO_STRING || x->range_ns[name] > x->range_ns[best] ||
        (x->range_ns[name] == x->range_ns[best] &&
         strcmp(nai_strings_get(names, name), nai_strings_get(names, best)) < 0))
      best = name;
  }
  for (uint32_t i = 0; i < distinct; i++)
    x->range_ns[x->range_of[i]] = -1;
  return best == NAI_NO_STRING ? NULL : nai_strings_get(names, best);
}

/* Whether the export says what the call's process had its GPUs do: where nothing of it is recorded, nobody can tell
 * whether they were busy. */
static bool watched(const struct nai_model *m, const struct call *call) {
  return call->process >= 0 && m->process_gpus.first[call->process] < m->process_gpus.first[call->process + 1];
}

/* The row of both tables from the calls of one group; what is said of GPUs is that of calls whose GPUs are known. */
static struct SYNC_CALLS_row row_of(struct context *x, const struct call *calls, uint32_t n) {
  const struct nai_model *m = x->m;
  int64_t busy = 0, windows = 0, known = 0, known_calls = 0;
  uint32_t longest = calls[0].api;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t api = calls[i].api;
    int64_t length = nai_call_ns(m, api), most = nai_call_ns(m, longest);
    x->values[i] = length;
    if (length > most || (length == most && nai_val(&m->apis.start_ns, api) < nai_val(&m->apis.start_ns, longest)))
      longest = api;
    busy += calls[i].busy_ns;
    if (watched(m, &calls[i])) {
      known += length;
      known_calls++;
    }
    if (!x->thread_seen[calls[i].thread])
      windows += x->windows[calls[i].thread];
    x->thread_seen[calls[i].thread] = 1;
  }
  for (uint32_t i = 0; i < n; i++)
    x->thread_seen[calls[i].thread] = 0;
  struct nai_stats s = nai_stats_in(x->room, x->values, n, NAI_P50 | NAI_P90);
  int32_t thread = nai_val_i32(&m->apis.thread, longest);
  struct SYNC_CALLS_row row =
      NAI_ROW(SYNC_CALLS, .api_name = nai_model_api_name(m, calls[0].api), .class = class_of(m, calls[0].api),
              .call_count = s.count, .total_time_ns = s.total, .avg_duration_ns = s.mean, .p50_duration_ns = s.p50,
              .p90_duration_ns = s.p90, .max_duration_ns = s.max,
              .pct_of_thread_window = nai_percent((double)s.total, (double)windows),
              .top_nvtx_range = top_range(x, calls, n), .longest_start_ns = nai_val(&m->apis.start_ns, longest),
              .longest_end_ns = nai_val(&m->apis.end_ns, longest),
              .pid = nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_pid),
              .tid = nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_tid));
  if (known_calls) {
    row.gpu_busy_pct = nai_percent((double)busy, (double)known);
    row.gpu_idle_ns = known - busy;
    row.pct_of_thread_window_gpu_idle = nai_percent((double)row.gpu_idle_ns, (double)windows);
  }
  return row;
}

static void put_row(struct nai_table *table, const struct SYNC_CALLS_row *row, bool by_process) {
  if (!by_process) {
    SYNC_CALLS_add(table, row);
    return;
  }
#define SAME(T, column, ...) .column = row->column,
  const struct SYNC_BY_PID_row same = {SYNC_BY_PID_COLUMNS(SAME, )};
#undef SAME
  SYNC_BY_PID_add(table, &same);
}

/* --- groups ------------------------------------------------------------------------------------- */

static uint64_t process_key(const struct call *call) { return (uint64_t)(call->process + 1) << 32 | call->name; }
static uint64_t name_key(const struct call *call) { return (uint64_t)call->name << 32 | call->api; }

/* Calls by a key; those that agree in it keep their order. */
static int arrange(struct call **out, const struct call *calls, uint32_t n, uint64_t (*key_of)(const struct call *),
                   struct nai_arena *arena, struct nai_err *err) {
  struct nai_key *keys;
  NAI_TRY(NAI_NEW(keys, arena, n, err));
  NAI_TRY(NAI_NEW(*out, arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    keys[i] = (struct nai_key){key_of(&calls[i]), i};
  NAI_TRY(nai_sort_keys(keys, n, err));
  for (uint32_t i = 0; i < n; i++)
    (*out)[i] = calls[keys[i].value];
  return NAI_OK;
}

static void fill(struct nai_table *table, struct context *x, const struct call *calls, uint32_t n, bool by_process) {
  for (uint32_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && calls[j].name == calls[i].name && (!by_process || calls[j].process == calls[i].process);
         j++)
      ;
    struct SYNC_CALLS_row row = row_of(x, calls + i, j - i);
    put_row(table, &row, by_process);
  }
}

/* The calls that are listed, by process and name. */
static int collect(struct call **out, uint32_t *n, const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_coverage *of_gpu;
  struct call *calls = NULL;
  uint32_t capacity = 0;
  *n = 0;
  NAI_TRY(NAI_NEW(of_gpu, io->arena, m->gpu_count, err));
  for (uint32_t i = 0; i < m->apis.n; i++)
    if (class_of(m, i)) {
      int32_t thread = nai_val_i32(&m->apis.thread, i);
      NAI_TRY(NAI_ROOM(calls, capacity, *n, io->arena, err));
      calls[(*n)++] = (struct call){i, nai_val_text(&m->apis.name, i), m->thread_process[thread], thread, 0};
    }
  NAI_TRY(arrange(out, calls, *n, process_key, io->arena, err));
  for (uint32_t i = 0, j; i < *n; i = j) {
    for (j = i + 1; j < *n && (*out)[j].process == (*out)[i].process; j++)
      ;
    NAI_TRY(find_busy(*out + i, j - i, m, of_gpu, io->arena, err));
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct context x = {.m = m};
  struct call *calls;
  uint32_t n, names = m->tables[NAI_IN_NVTX]->strings.count;
  NAI_TRY(collect(&calls, &n, io, err));
  NAI_TRY(NAI_NEW(x.values, io->arena, n, err));
  NAI_TRY(nai_stats_room_in(&x.room, n, io->arena, err));
  NAI_TRY(NAI_NEW(x.windows, io->arena, m->thread_count, err));
  NAI_TRY(NAI_NEW(x.thread_seen, io->arena, m->thread_count, err));
  NAI_TRY(NAI_NEW(x.range_of, io->arena, names, err));
  NAI_TRY(NAI_NEW(x.range_ns, io->arena, names, err));
  memset(x.range_ns, 0xff, names * sizeof *x.range_ns);
  for (uint32_t t = 0; t < m->thread_count; t++)
    x.windows[t] = thread_window(m, t);
  fill(io->out[1], &x, calls, n, true);
  NAI_TRY(arrange(&calls, calls, n, name_key, io->arena, err));
  fill(io->out[0], &x, calls, n, false);
  return NAI_OK;
}

NAI_ANALYSIS(sync, .outputs = NAI_SCHEMAS(&nai_sync_calls_schema, &nai_sync_by_pid_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(GPUS) | NAI_PART(PROCESS_GPUS) |
                      NAI_PART(NVTX_TREE),
             .tables = NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(NVTX), .run = run)
