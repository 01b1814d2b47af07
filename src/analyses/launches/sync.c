/* Where does the host wait for a GPU, and was the GPU busy meanwhile? Tables sync_calls, sync_by_pid. */
#include "analyses/analysis.h"

#include "base/spill_array.h"
#include "tables/sync_by_pid.h"
#include "tables/sync_calls.h"
#include "tables/threads.h"

#include <stdlib.h>
#include <string.h>

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
  switch (m->api_class[nai_at_text(&m->apis.name, api)]) {
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
    calls[i].busy_ns = nai_coverage_overlap_ns(coverage, nai_at(&m->apis.start_ns, calls[i].api),
                                               nai_at(&m->apis.end_ns, calls[i].api));
}

/* busy_ns of the calls of one process. of_gpu: coverage of each GPU's busy time, made when first needed: most processes
 * use one GPU, and many may share it. */
static int find_busy(struct call *calls, uint32_t n, const struct nai_model *m, struct nai_coverage *of_gpu,
                     struct nai_err *err) {
  if (calls[0].process < 0)
    return NAI_OK;
  uint32_t first = m->process_gpus.first[calls[0].process], end = m->process_gpus.first[calls[0].process + 1];
  const uint32_t *gpus = m->process_gpus.order;
  int rc = NAI_OK;
  if (end - first == 1) {
    struct nai_coverage *coverage = &of_gpu[gpus[first]];
    if (!coverage->sums)
      rc = nai_coverage_new(coverage, &m->gpus[gpus[first]].all, err);
    if (!rc)
      add_busy(calls, n, m, coverage);
    return rc;
  }
  struct nai_intervals busy = {0};
  struct nai_coverage coverage = {0};
  for (uint32_t i = first; i < end; i++) {
    struct nai_intervals both = {0};
    nai_intervals_union(&both, &busy, &m->gpus[gpus[i]].all);
    nai_intervals_free(&busy);
    busy = both;
  }
  rc = nai_coverage_new(&coverage, &busy, err);
  if (!rc)
    add_busy(calls, n, m, &coverage);
  nai_coverage_free(&coverage);
  nai_intervals_free(&busy);
  return rc;
}

static int compare_calls(const void *pa, const void *pb, void *by_process) {
  const struct call *a = pa, *b = pb;
  if (*(const bool *)by_process && a->process != b->process)
    return a->process < b->process ? -1 : 1;
  if (a->name != b->name)
    return a->name < b->name ? -1 : 1;
  return (a->api > b->api) - (a->api < b->api);
}

struct context {
  const struct nai_model *m;
  int64_t *windows;     /* per thread, ns */
  int64_t *values;      /* scratch, one per call */
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
    last = nai_at(&m->apis.end_ns, g->order[i]) > last ? nai_at(&m->apis.end_ns, g->order[i]) : last;
  return first == end ? 0 : last - nai_at(&m->apis.start_ns, g->order[first]);
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

/* A column of the table that is filled. */
#define COLUMN(name) (by_process ? SYNC_BY_PID_##name : SYNC_CALLS_##name)

/* One row from the calls of one group. */
static void put_group(struct nai_table *table, struct context *x, const struct call *calls, uint32_t n,
                      bool by_process) {
  const struct nai_model *m = x->m;
  int64_t busy = 0, total = 0, windows = 0;
  int64_t known = 0, known_calls = 0; /* of calls whose GPUs are known */
  uint32_t longest = calls[0].api;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t api = calls[i].api;
    int64_t length = nai_call_ns(m, api), most = nai_call_ns(m, longest);
    x->values[i] = length;
    total += length;
    if (length > most || (length == most && nai_at(&m->apis.start_ns, api) < nai_at(&m->apis.start_ns, longest)))
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
  struct nai_stats stats = nai_stats_of(x->values, n);
  struct nai_stats_columns to = {COLUMN(call_count),
                                 COLUMN(total_time_ns),
                                 COLUMN(avg_duration_ns),
                                 -1,
                                 COLUMN(max_duration_ns),
                                 COLUMN(p50_duration_ns),
                                 COLUMN(p90_duration_ns),
                                 -1,
                                 -1};
  int64_t row = nai_table_add_row(table);
  nai_put_stats(table, row, &to, &stats);
  nai_set_str(table, row, COLUMN(api_name), nai_model_api_name(m, calls[0].api));
  nai_set_str(table, row, COLUMN(class), class_of(m, calls[0].api));
  nai_set_f64(table, row, COLUMN(pct_of_thread_window), nai_percent((double)total, (double)windows));
  nai_set_str(table, row, COLUMN(top_nvtx_range), top_range(x, calls, n));
  nai_set_i64(table, row, COLUMN(longest_start_ns), nai_at(&m->apis.start_ns, longest));
  nai_set_i64(table, row, COLUMN(longest_end_ns), nai_at(&m->apis.end_ns, longest));
  nai_set_i64(table, row, COLUMN(pid),
              nai_get_i64(m->tables[NAI_IN_THREADS], nai_at_i32(&m->apis.thread, longest), THREADS_pid));
  nai_set_i64(table, row, COLUMN(tid),
              nai_get_i64(m->tables[NAI_IN_THREADS], nai_at_i32(&m->apis.thread, longest), THREADS_tid));
  if (!known_calls)
    return;
  nai_set_f64(table, row, COLUMN(gpu_busy_pct), nai_percent((double)busy, (double)known));
  nai_set_i64(table, row, COLUMN(gpu_idle_ns), known - busy);
  nai_set_f64(table, row, COLUMN(pct_of_thread_window_gpu_idle), nai_percent((double)(known - busy), (double)windows));
}

static void fill(struct nai_table *table, struct context *x, const struct call *calls, uint32_t n, bool by_process) {
  for (uint32_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && calls[j].name == calls[i].name && (!by_process || calls[j].process == calls[i].process);
         j++)
      ;
    put_group(table, x, calls + i, j - i, by_process);
  }
}

static int put_tables(struct nai_table *const *tables, struct context *x, struct call *calls, uint32_t n,
                      struct nai_err *err) {
  bool by_process = true;
  struct nai_coverage *of_gpu = calloc((size_t)x->m->gpu_count + 1, sizeof *of_gpu);
  int rc = of_gpu ? NAI_OK : nai_err_nomem(err);
  qsort_r(calls, n, sizeof *calls, compare_calls, &by_process);
  for (uint32_t i = 0, j; !rc && i < n; i = j) {
    for (j = i + 1; j < n && calls[j].process == calls[i].process; j++)
      ;
    rc = find_busy(calls + i, j - i, x->m, of_gpu, err);
  }
  for (uint32_t g = 0; of_gpu && g < x->m->gpu_count; g++)
    nai_coverage_free(&of_gpu[g]);
  free(of_gpu);
  if (rc)
    return rc;
  fill(tables[1], x, calls, n, by_process);
  by_process = false;
  qsort_r(calls, n, sizeof *calls, compare_calls, &by_process);
  fill(tables[0], x, calls, n, by_process);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_table *const *tables = io->out;
  const struct nai_model *m = io->model;
  uint32_t n = 0, listed = 0, names = m->tables[NAI_IN_NVTX]->strings.count;
  struct context x = {.m = m};
  for (uint32_t i = 0; i < m->apis.n; i++)
    n += class_of(m, i) != NULL;
  struct call *calls = malloc(((size_t)n + 1) * sizeof *calls);
  x.values = malloc(((size_t)n + 1) * sizeof *x.values);
  void *range_of = NULL, *range_ns = NULL;
  x.windows = malloc(((size_t)m->thread_count + 1) * sizeof *x.windows);
  x.thread_seen = calloc((size_t)m->thread_count + 1, 1);
  int rc = calls && x.values && x.windows && x.thread_seen ? NAI_OK : nai_err_nomem(err);
  if (!rc)
    rc = nai_spill_array_new(&range_of, m->scratch_dir, ((size_t)names + 1) * sizeof *x.range_of, err);
  if (!rc)
    rc = nai_spill_array_new(&range_ns, m->scratch_dir, ((size_t)names + 1) * sizeof *x.range_ns, err);
  x.range_of = range_of;
  x.range_ns = range_ns;
  for (uint32_t i = 0; !rc && i < m->apis.n; i++)
    if (class_of(m, i)) {
      int32_t thread = nai_at_i32(&m->apis.thread, i);
      calls[listed++] = (struct call){i, nai_at_text(&m->apis.name, i), m->thread_process[thread], thread, 0};
    }
  for (uint32_t i = 0; !rc && i < names; i++)
    x.range_ns[i] = -1;
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    x.windows[t] = thread_window(m, t);
  if (!rc)
    rc = put_tables(tables, &x, calls, n, err);
  free(calls);
  free(x.values);
  nai_spill_array_free(range_of);
  nai_spill_array_free(range_ns);
  free(x.windows);
  free(x.thread_seen);
  return rc;
}

NAI_ANALYSIS(sync, .outputs = NAI_SCHEMAS(&nai_sync_calls_schema, &nai_sync_by_pid_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(GPUS) | NAI_PART(PROCESS_GPUS) |
                      NAI_PART(NVTX_TREE),
             .tables = NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(NVTX), .run = run)
