#include "analyses/health/health_facts.h"

#include "model/calls/call_kind.h"
#include "tables/api_events.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/overhead_events.h"
#include "tables/program_outputs.h"
#include "tables/readers.h"

#include <stdlib.h>
#include <string.h>

enum { CUDA_ERROR_NOT_READY = 600, COPY_DTOH = 2, STDERR = 2, AT_ONCE_NS = 50 * 1000 * 1000 };

bool nai_is_loading(const struct nai_model *m, int64_t row) { return m->overhead_kind[row] == NAI_OVERHEAD_LOADING; }

bool nai_is_profilers(const struct nai_model *m, int64_t row) {
  enum nai_overhead_kind kind = (enum nai_overhead_kind)m->overhead_kind[row];
  return kind == NAI_OVERHEAD_OF_PROFILER || kind == NAI_OVERHEAD_FLUSH || kind == NAI_OVERHEAD_UNNAMED;
}

/* Frees v, which is NULL where there was no memory for it. */
static int put_time(int64_t *ns, struct nai_interval *v, size_t count, struct nai_err *err) {
  bool oom = !v;
  *ns = v ? nai_intervals_union_ns(v, count, &oom) : 0;
  free(v);
  return oom ? nai_err_nomem(err) : NAI_OK;
}

int nai_overhead_in_window(int64_t *ns, int64_t *count, const struct nai_model *m, nai_overhead_fn *counts,
                           struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  struct nai_interval *v = malloc(((size_t)t->rows + 1) * sizeof *v);
  size_t n = 0;
  for (int64_t i = 0; v && i < t->rows; i++) {
    int64_t start = nai_get_i64(t, i, OVERHEAD_EVENTS_start_ns), end = nai_get_i64(t, i, OVERHEAD_EVENTS_end_ns);
    if (end <= m->window_start || start >= m->window_end || !counts(m, i))
      continue;
    v[n++] = (struct nai_interval){start > m->window_start ? start : m->window_start,
                                   end < m->window_end ? end : m->window_end};
  }
  *count = (int64_t)n;
  return put_time(ns, v, n, err);
}

int nai_graphs_time(int64_t *ns, const struct nai_model *m, struct nai_err *err) {
  struct nai_interval *v = malloc(((size_t)m->graphs.n + 1) * sizeof *v);
  size_t count = 0;
  for (uint32_t i = 0; v && i < m->graphs.n; i++)
    if (nai_graph_ns(m, i) > 0)
      v[count++] = (struct nai_interval){nai_at(&m->graphs.start_ns, i), nai_at(&m->graphs.end_ns, i)};
  return put_time(ns, v, count, err);
}

bool nai_host_was_watched(const struct nai_model *m) {
  const struct nai_table *t = m->tables[NAI_IN_CAPABILITIES];
  for (int64_t i = 0; i < t->rows; i++) {
    const char *source = nai_get_str(t, i, CAPABILITIES_source);
    if (nai_get_i64(t, i, CAPABILITIES_available) == 1 &&
        (strcmp(source, "OSRT_API") == 0 || strcmp(source, "SAMPLING_CALLCHAINS") == 0))
      return true;
  }
  return false;
}

static void earlier(int64_t *least, int64_t t) { *least = *least == NAI_NULL_I64 || t < *least ? t : *least; }
static void later(int64_t *greatest, int64_t t) {
  *greatest = *greatest == NAI_NULL_I64 || t > *greatest ? t : *greatest;
}

/* --- calls ------------------------------------------------------------------------------------ */

static bool has_kernel_table(const struct nai_model *m) {
  const struct nai_table *t = m->tables[NAI_IN_CAPABILITIES];
  for (int64_t i = 0; i < t->rows; i++)
    if (strcmp(nai_get_str(t, i, CAPABILITIES_source), "CUPTI_ACTIVITY_KIND_KERNEL") == 0)
      return nai_get_i64(t, i, CAPABILITIES_available) == 1;
  return m->kernels.n > 0;
}

/* The end of the call that launched the last copy to be launched by an asynchronous call. */
static int64_t last_async_copy(const struct nai_model *m, const bool *async) {
  int64_t end = NAI_NULL_I64;
  for (uint32_t i = 0; i < m->memops.n; i++)
    if (m->memop_api[i] != NAI_NO_ROW && async[nai_at_text(&m->apis.name, m->memop_api[i])] &&
        nai_at_i32(&m->memops.kind, i) == NAI_MEMOP_COPY)
      later(&end, nai_at(&m->apis.end_ns, m->memop_api[i]));
  return end;
}

/* Whether there are rows of kernels and none can be used, whatever --gpu or --trim leave out. */
static bool all_kernel_rows_dropped(const struct nai_model *m) {
  static const char table[] = "CUPTI_ACTIVITY_KIND_KERNEL";
  const struct nai_table *readers = m->tables[NAI_IN_READERS], *notes = m->tables[NAI_IN_EXTRACT_NOTES];
  int64_t read = 0, dropped = 0;
  for (int64_t i = 0; i < readers->rows; i++)
    if (strcmp(nai_get_str(readers, i, READERS_source_table), table) == 0)
      read += nai_get_i64(readers, i, READERS_rows);
  for (int64_t i = 0; i < notes->rows; i++) {
    const char *check = nai_get_str(notes, i, PROBE_NOTES_check);
    if (strcmp(nai_get_str(notes, i, PROBE_NOTES_source_table), table) == 0 &&
        strncmp(check, "rows-", strlen("rows-")) == 0 && strcmp(check, "rows-missing") != 0) /* those were not read */
      dropped += nai_get_i64(notes, i, PROBE_NOTES_count);
  }
  return read > 0 && dropped >= read;
}

/* What the names of API functions say. */
struct call_names {
  uint8_t *kinds;
  bool *frees, *async, *graphs;
};

static int look_at_names(struct call_names *n, const struct nai_strings *names, struct nai_err *err) {
  *n = (struct call_names){malloc((size_t)names->count + 1), malloc((size_t)names->count + 1),
                           malloc((size_t)names->count + 1), malloc((size_t)names->count + 1)};
  if (!n->kinds || !n->frees || !n->async || !n->graphs)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < names->count; i++) {
    const char *name = nai_strings_get(names, i);
    n->kinds[i] = (uint8_t)nai_call_kind_of(name);
    n->frees[i] = strncmp(name, "cudaFree", 8) == 0 || strncmp(name, "cuMemFree", 9) == 0;
    n->async[i] = strcasestr(name, "async") != NULL;
    n->graphs[i] = strstr(name, "GraphLaunch") != NULL;
  }
  return NAI_OK;
}

static int look_at_calls(struct nai_health *h, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_APIS];
  struct nai_column returned = nai_table_column(t, API_EVENTS_return_value);
  struct call_names names;
  int rc = look_at_names(&names, &t->strings, err);
  int64_t copy_end = rc ? NAI_NULL_I64 : last_async_copy(m, names.async);
  bool started = false; /* a kernel, by a call that did not fail */
  h->no_release = true;
  h->copy_not_awaited = copy_end != NAI_NULL_I64;
  for (uint32_t i = 0; !rc && i < m->apis.n; i++) {
    uint32_t name = nai_at_text(&m->apis.name, i);
    int64_t result = nai_at(&returned, i), end = nai_at(&m->apis.end_ns, i);
    earlier(&h->first_call, nai_at(&m->apis.start_ns, i));
    later(&h->last_call_end, end);
    bool failed = result != NAI_NULL_I32 && result != 0 && result != CUDA_ERROR_NOT_READY;
    h->launches += names.kinds[name] == NAI_CALL_LAUNCH;
    started |= names.kinds[name] == NAI_CALL_LAUNCH && !names.graphs[name] && !failed;
    h->no_release = h->no_release && !names.frees[name];
    h->failed_calls += failed;
    if (end > copy_end && h->copy_not_awaited && nai_model_api_blocks(m, i))
      h->copy_not_awaited = false;
  }
  free(names.kinds);
  free(names.frees);
  free(names.async);
  free(names.graphs);
  bool none = !m->kernels.n && !m->graphs.n, table = has_kernel_table(m);
  h->kernels_lost =
      (h->launches && none && !m->memops.n && !table) || (started && none && (!table || all_kernel_rows_dropped(m)));
  return rc;
}

/* --- operations ------------------------------------------------------------------------------- */

static int look_at_operations(struct nai_health *h, const struct nai_model *m, struct nai_err *err) {
  uint32_t names = m->tables[NAI_IN_KERNELS]->strings.count;
  bool *own = malloc(((size_t)names + 1) * sizeof *own);
  if (!own)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < names; i++)
    own[i] = nai_kernel_classes_trait(m->classes, nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, i)) !=
             NAI_TRAIT_RUNTIME;
  h->no_copy_back = true;
  for (uint32_t i = 0; i < m->kernels.n; i++) {
    h->own_kernels += own[nai_at_text(&m->kernels.name, i)];
    h->without_launch += m->kernel_api[i] == NAI_NO_ROW;
    later(&h->last_operation_end, nai_at(&m->kernels.end_ns, i));
  }
  for (uint32_t i = 0; i < m->memops.n; i++) {
    h->no_copy_back = h->no_copy_back && nai_at_i32(&m->memops.copy_kind, i) != COPY_DTOH;
    h->without_launch += m->memop_api[i] == NAI_NO_ROW && nai_at(&m->memops.migration, i) != 1;
    later(&h->last_operation_end, nai_at(&m->memops.end_ns, i));
  }
  for (uint32_t i = 0; i < m->graphs.n; i++) {
    h->without_launch += m->graph_api[i] == NAI_NO_ROW;
    later(&h->last_operation_end, nai_at(&m->graphs.end_ns, i));
  }
  h->kernels = (int64_t)m->kernels.n + m->graphs.n;
  h->operations = h->kernels + m->memops.n;
  h->host_watched = nai_host_was_watched(m);
  free(own);
  return nai_kernel_classes_check(m->classes, err);
}

/* --- the profiler and the outputs ------------------------------------------------------------- */

/* Before the first call of any process; processes initialise side by side. */
static int look_at_profilers_start(struct nai_health *h, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  struct nai_interval *v = malloc(((size_t)t->rows + 1) * sizeof *v);
  size_t count = 0;
  for (int64_t i = 0; v && h->first_call != NAI_NULL_I64 && i < t->rows; i++) {
    int64_t start = nai_get_i64(t, i, OVERHEAD_EVENTS_start_ns), end = nai_get_i64(t, i, OVERHEAD_EVENTS_end_ns);
    start = start > h->begin ? start : h->begin;
    end = end < h->first_call ? end : h->first_call;
    if (start < end && strstr(nai_get_str(t, i, OVERHEAD_EVENTS_name), "profiling initialization"))
      v[count++] = (struct nai_interval){start, end};
  }
  return put_time(&h->profiler_start_ns, v, count, err);
}

static int look_at_overhead(struct nai_health *h, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t start = nai_get_i64(t, i, OVERHEAD_EVENTS_start_ns);
    if (strstr(nai_get_str(t, i, OVERHEAD_EVENTS_name), "data flush") && h->last_call_end != NAI_NULL_I64 &&
        start >= h->last_call_end && start - h->last_call_end <= AT_ONCE_NS)
      h->ended_at_once = true;
  }
  int rc = look_at_profilers_start(h, m, err);
  return rc ? rc : nai_overhead_in_window(&h->profiler_ns, &h->profiler_count, m, nai_is_profilers, err);
}

static void look_at_outputs(struct nai_health *h, const struct nai_model *m) {
  const struct nai_table *t = m->tables[NAI_IN_PROGRAM_OUTPUTS];
  for (int64_t i = 0; i < t->rows; i++) {
    h->wrote_errors = h->wrote_errors || (nai_get_i64(t, i, PROGRAM_OUTPUTS_stream) == STDERR &&
                                          nai_get_i64(t, i, PROGRAM_OUTPUTS_size_bytes) > 0);
    h->failing_streams += nai_get_i64(t, i, PROGRAM_OUTPUTS_has_traceback) == 1 ||
                          nai_get_i64(t, i, PROGRAM_OUTPUTS_has_cuda_error) == 1 ||
                          nai_get_i64(t, i, PROGRAM_OUTPUTS_has_killed) == 1;
  }
}

/* --- the capture ------------------------------------------------------------------------------ */

/* Whether all calls of the export are at hand: --trim leaves some out. */
static bool all_calls_kept(const struct nai_model *m) {
  const struct nai_table *t = m->tables[NAI_IN_READERS];
  int64_t read = 0;
  for (int64_t i = 0; i < t->rows; i++)
    if (strcmp(nai_get_str(t, i, READERS_source_table), "CUPTI_ACTIVITY_KIND_RUNTIME") == 0)
      read += nai_get_i64(t, i, READERS_rows);
  return read == m->apis.n;
}

static int64_t first_event(const struct nai_model *m) {
  int64_t first = NAI_NULL_I64;
  for (uint32_t t = 0; t < m->thread_count; t++) {
    if (m->api_by_thread.first[t + 1] > m->api_by_thread.first[t])
      earlier(&first, nai_at(&m->apis.start_ns, m->api_by_thread.order[m->api_by_thread.first[t]]));
    if (m->nvtx_by_thread.first[t + 1] > m->nvtx_by_thread.first[t])
      earlier(&first, nai_at(&m->nvtx.start_ns, m->nvtx_by_thread.order[m->nvtx_by_thread.first[t]]));
  }
  for (uint32_t g = 0; g < m->gpu_count; g++)
    if (m->gpus[g].op_count)
      earlier(&first, m->gpus[g].window_start);
  return first;
}

static int64_t last_event(const struct nai_health *h, const struct nai_model *m) {
  int64_t last = h->last_call_end;
  if (h->last_operation_end != NAI_NULL_I64)
    later(&last, h->last_operation_end);
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    later(&last, nai_at(&m->nvtx.end_ns, i));
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  for (int64_t i = 0; i < t->rows; i++)
    later(&last, nai_get_i64(t, i, OVERHEAD_EVENTS_end_ns));
  return last == NAI_NULL_I64 ? 0 : last;
}

static void look_at_capture(struct nai_health *h, const struct nai_model *m) {
  int64_t first = first_event(m), duration = nai_get_i64(m->tables[NAI_IN_CAPTURE], 0, CAPTURE_duration_ns);
  h->whole = all_calls_kept(m) && !h->without_launch;
  h->begin = h->whole || first == NAI_NULL_I64 ? 0 : first;
  h->capture_ns = duration > 0 ? duration : last_event(h, m);
  h->ranges = m->nvtx_by_thread.first[m->thread_count];
}

int nai_health_collect(struct nai_health *h, const struct nai_model *m, struct nai_err *err) {
  *h = (struct nai_health){
      .first_call = NAI_NULL_I64, .last_call_end = NAI_NULL_I64, .last_operation_end = NAI_NULL_I64};
  int rc = look_at_calls(h, m, err);
  if (!rc)
    rc = look_at_operations(h, m, err);
  if (rc)
    return rc;
  look_at_outputs(h, m);
  look_at_capture(h, m);
  rc = look_at_overhead(h, m, err);
  return rc ? rc : nai_graphs_time(&h->graphs_ns, m, err);
}
