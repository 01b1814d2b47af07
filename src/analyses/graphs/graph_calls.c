/* What does the host do with CUDA graphs beside launching them, and does a GPU wait for it? Table graph_calls. */
#include "analyses/analysis.h"
#include "base/array.h"
#include "base/sort.h"
#include "tables/graph_calls.h"
#include "tables/threads.h"

#include <stdlib.h>
#include <string.h>

enum operation { NONE, LAUNCH, CAPTURE, BUILD, INSTANTIATE, UPDATE, UPLOAD, DESTROY, OPERATIONS };

static enum operation operation_of(const char *api) {
  static const struct {
    const char *part;
    enum operation is;
  } words[] = {{"GraphLaunch", LAUNCH},       {"StreamBeginCapture", CAPTURE},
               {"StreamEndCapture", CAPTURE}, {"GraphInstantiate", INSTANTIATE},
               {"GraphExecUpdate", UPDATE},   {"GraphUpload", UPLOAD},
               {"GraphExecDestroy", DESTROY}, {"GraphDestroy", DESTROY},
               {"GraphAdd", BUILD},           {"GraphCreate", BUILD},
               {"GraphClone", BUILD}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(api, words[i].part))
      return words[i].is;
  return strstr(api, "GraphExec") && strstr(api, "Set") ? UPDATE : NONE;
}

struct call {
  uint32_t api;
  int32_t process;
  uint8_t operation;
  bool later;
  int64_t ns, idle_ns;
};
struct calls {
  struct call *v;
  uint32_t count, capacity;
};

static int compare(const void *pa, const void *pb) {
  const struct call *a = pa, *b = pb;
  if (a->process != b->process)
    return a->process < b->process ? -1 : 1;
  if (a->operation != b->operation)
    return a->operation < b->operation ? -1 : 1;
  return (a->api > b->api) - (a->api < b->api);
}

static int collect(struct calls *calls, const struct nai_model *m, struct nai_err *err) {
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  uint8_t *operations = calloc((size_t)names->count + 1, 1);
  bool any = false;
  int rc = operations ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < names->count; i++) {
    operations[i] = (uint8_t)operation_of(nai_strings_get(names, i));
    any = any || operations[i];
  }
  int64_t later = m->window_start + (m->window_end - m->window_start) / 5;
  for (uint32_t i = 0; !rc && any && i < m->apis.n; i++) {
    uint8_t operation = operations[nai_at_text(&m->apis.name, i)];
    int32_t thread = nai_at_i32(&m->apis.thread, i);
    if (!operation || thread < 0 || m->thread_process[thread] < 0)
      continue;
    if (!nai_array_room(&calls->v, &calls->capacity, calls->count, sizeof *calls->v))
      rc = nai_err_nomem(err);
    else
      calls->v[calls->count++] = (struct call){.api = i,
                                               .process = m->thread_process[thread],
                                               .operation = operation,
                                               .later = nai_at(&m->apis.start_ns, i) >= later,
                                               .ns = nai_call_ns(m, i)};
  }
  free(operations);
  return rc;
}

/* How much of each call a GPU idled, and in all. Time outside of the run's GPU window is none of it. */
static int find_idle_of(int64_t *idle_ns, int64_t *sum, const struct call *v, uint32_t n, const struct nai_model *m,
                        const struct nai_gpu *gpu, struct nai_err *err) {
  struct nai_coverage coverage = {0};
  int rc = nai_coverage_new(&coverage, &gpu->all, err);
  *sum = 0;
  for (uint32_t i = 0; !rc && i < n; i++) {
    int64_t start = nai_at(&m->apis.start_ns, v[i].api), end = nai_at(&m->apis.end_ns, v[i].api);
    start = start < m->window_start ? m->window_start : start;
    end = end > m->window_end ? m->window_end : end;
    idle_ns[i] = end > start ? end - start - nai_coverage_overlap_ns(&coverage, start, end) : 0;
    *sum += idle_ns[i];
  }
  nai_coverage_free(&coverage);
  return rc;
}

/* The same of that GPU of the process of which it is most. */
static int find_idle(int64_t *device, struct call *v, uint32_t n, const struct nai_model *m, struct nai_err *err) {
  int64_t *idle_ns = malloc(n * sizeof *idle_ns), most = -1, sum;
  int rc = idle_ns ? NAI_OK : nai_err_nomem(err);
  uint32_t last = m->process_gpus.first[v->process + 1];
  *device = NAI_NULL_I64;
  for (uint32_t g = m->process_gpus.first[v->process]; !rc && g < last; g++) {
    const struct nai_gpu *gpu = &m->gpus[m->process_gpus.order[g]];
    rc = find_idle_of(idle_ns, &sum, v, n, m, gpu, err);
    if (rc || sum <= most)
      continue;
    most = sum;
    *device = gpu->device_id;
    for (uint32_t i = 0; i < n; i++)
      v[i].idle_ns = idle_ns[i];
  }
  free(idle_ns);
  return rc;
}

/* One row: calls of one process and operation. `launches`: of the process, after the first fifth. */
static int put_calls(struct nai_table *out, const struct nai_model *m, struct call *v, uint32_t n, int64_t launches,
                     struct nai_err *err) {
  static const char *const words[] = {NULL, "launch", "capture", "build", "instantiate", "update", "upload", "destroy"};
  int64_t total = 0, idle = 0, later = 0, later_ns = 0, later_idle = 0, device = NAI_NULL_I64;
  int64_t *values = malloc(n * sizeof *values);
  const struct call *longest = v;
  int rc = values ? find_idle(&device, v, n, m, err) : nai_err_nomem(err);
  if (rc) {
    free(values);
    return rc;
  }
  for (uint32_t i = 0; i < n; i++) {
    values[i] = v[i].ns;
    total += v[i].ns;
    idle += v[i].idle_ns;
    later += v[i].later;
    later_ns += v[i].later ? v[i].ns : 0;
    later_idle += v[i].later ? v[i].idle_ns : 0;
    longest = v[i].ns > longest->ns ? &v[i] : longest;
  }
  int64_t row = nai_table_add_row(out);
  nai_set_i64(out, row, GRAPH_CALLS_pid, nai_model_pid(m, v->process));
  nai_set_str(out, row, GRAPH_CALLS_operation, words[v->operation]);
  nai_set_i64(out, row, GRAPH_CALLS_device_id, device);
  nai_set_i64(out, row, GRAPH_CALLS_call_count, n);
  nai_set_i64(out, row, GRAPH_CALLS_total_time_ns, total);
  nai_set_f64(out, row, GRAPH_CALLS_p50_duration_ns, nai_quantile_i64(values, n, 0.5));
  nai_set_i64(out, row, GRAPH_CALLS_gpu_idle_ns, idle);
  nai_set_i64(out, row, GRAPH_CALLS_later_count, later);
  nai_set_i64(out, row, GRAPH_CALLS_later_time_ns, later_ns);
  nai_set_i64(out, row, GRAPH_CALLS_later_gpu_idle_ns, later_idle);
  if (launches)
    nai_set_f64(out, row, GRAPH_CALLS_later_per_launch, (double)later / (double)launches);
  nai_set_str(out, row, GRAPH_CALLS_api_name, nai_model_api_name(m, longest->api));
  nai_set_i64(out, row, GRAPH_CALLS_tid,
              nai_get_i64(m->tables[NAI_IN_THREADS], nai_at_i32(&m->apis.thread, longest->api), THREADS_tid));
  nai_set_i64(out, row, GRAPH_CALLS_longest_start_ns, nai_at(&m->apis.start_ns, longest->api));
  nai_set_i64(out, row, GRAPH_CALLS_longest_end_ns, nai_at(&m->apis.end_ns, longest->api));
  free(values);
  return NAI_OK;
}

static int put_process(struct nai_table *out, const struct nai_model *m, struct call *v, uint32_t n,
                       struct nai_err *err) {
  int64_t launches = 0;
  int rc = NAI_OK;
  for (uint32_t i = 0; i < n; i++)
    launches += v[i].operation == LAUNCH && v[i].later;
  for (uint32_t i = 0, j; !rc && i < n; i = j) {
    for (j = i + 1; j < n && v[j].operation == v[i].operation; j++)
      ;
    rc = put_calls(out, m, v + i, j - i, launches, err);
  }
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct calls calls = {0};
  int rc = collect(&calls, io->model, err);
  if (!rc && calls.count)
    qsort(calls.v, calls.count, sizeof *calls.v, compare);
  for (uint32_t i = 0, j; !rc && i < calls.count; i = j) {
    for (j = i + 1; j < calls.count && calls.v[j].process == calls.v[i].process; j++)
      ;
    rc = put_process(io->out[0], io->model, calls.v + i, j - i, err);
  }
  free(calls.v);
  return rc;
}

NAI_ANALYSIS(graph_calls, .outputs = NAI_SCHEMAS(&nai_graph_calls_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(PROCESS_GPUS) | NAI_PART(WINDOW),
             .tables = NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(PROCESSES), .run = run)
