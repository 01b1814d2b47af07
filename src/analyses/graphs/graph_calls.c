/* What does the host do with CUDA graphs beside launching them, and does a GPU wait for it? Table graph_calls. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "tables/graph_calls.h"
#include "tables/threads.h"

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
  int64_t start, ns, idle_ns;
};
struct calls {
  struct nai_arena *arena;
  const struct nai_model *m;
  struct call *v;
  uint32_t count, capacity;
};

NAI_ORDER(compare, struct call, {a->process, b->process}, {a->operation, b->operation}, {a->start, b->start},
          {a->api, b->api})

static int collect(struct calls *calls, struct nai_err *err) {
  const struct nai_model *m = calls->m;
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  uint8_t *operations;
  bool any = false;
  NAI_TRY(NAI_NEW(operations, calls->arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    any |= (operations[i] = (uint8_t)operation_of(nai_strings_get(names, i))) != NONE;
  int64_t later = m->window_start + (m->window_end - m->window_start) / 5;
  for (uint32_t i = 0; any && i < m->apis.n; i++) {
    uint8_t operation = operations[nai_val_text(&m->apis.name, i)];
    int32_t thread = nai_val_i32(&m->apis.thread, i);
    if (!operation || thread < 0 || m->thread_process[thread] < 0)
      continue;
    NAI_TRY(NAI_ROOM(calls->v, calls->capacity, calls->count, calls->arena, err));
    calls->v[calls->count++] = (struct call){.api = i,
                                             .process = m->thread_process[thread],
                                             .operation = operation,
                                             .later = nai_val(&m->apis.start_ns, i) >= later,
                                             .start = nai_val(&m->apis.start_ns, i),
                                             .ns = nai_call_ns(m, i)};
  }
  return NAI_OK;
}

/* How much of each call a GPU idled, and in all. Time outside of the run's GPU window is none of it. */
static int find_idle_of(int64_t *idle_ns, int64_t *sum, const struct call *v, uint32_t n, const struct nai_model *m,
                        const struct nai_gpu *gpu, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_coverage coverage;
  NAI_TRY(nai_coverage_in(&coverage, &gpu->all, &arena, err));
  *sum = 0;
  for (uint32_t i = 0; i < n; i++) {
    int64_t start = nai_val(&m->apis.start_ns, v[i].api), end = nai_val(&m->apis.end_ns, v[i].api);
    start = start < m->window_start ? m->window_start : start;
    end = end > m->window_end ? m->window_end : end;
    idle_ns[i] = end > start ? end - start - nai_coverage_overlap_ns(&coverage, start, end) : 0;
    *sum += idle_ns[i];
  }
  return NAI_OK;
}

/* The same of that GPU of the process of which it is most. `idle_ns` has room for all. */
static int find_idle(int64_t *device, int64_t *idle_ns, struct call *v, uint32_t n, const struct nai_model *m,
                     struct nai_err *err) {
  int64_t most = -1, sum;
  *device = NAI_NULL_I64;
  for (uint32_t g = m->process_gpus.first[v->process]; g < m->process_gpus.first[v->process + 1]; g++) {
    const struct nai_gpu *gpu = &m->gpus[m->process_gpus.order[g]];
    NAI_TRY(find_idle_of(idle_ns, &sum, v, n, m, gpu, err));
    if (sum <= most)
      continue;
    most = sum;
    *device = gpu->device_id;
    for (uint32_t i = 0; i < n; i++)
      v[i].idle_ns = idle_ns[i];
  }
  return NAI_OK;
}

/* One row: calls of one process and operation. `launches`: of the process, after the first fifth. `room` has room for
 * all. */
static int put_calls(struct nai_table *out, const struct nai_model *m, struct call *v, uint32_t n, int64_t launches,
                     int64_t *room, struct nai_err *err) {
  static const char *const words[] = {NULL, "launch", "capture", "build", "instantiate", "update", "upload", "destroy"};
  int64_t total = 0, idle = 0, later = 0, later_ns = 0, later_idle = 0, device;
  const struct call *longest = v;
  NAI_TRY(find_idle(&device, room, v, n, m, err));
  for (uint32_t i = 0; i < n; i++) {
    room[i] = v[i].ns;
    total += v[i].ns;
    idle += v[i].idle_ns;
    later += v[i].later;
    later_ns += v[i].later ? v[i].ns : 0;
    later_idle += v[i].later ? v[i].idle_ns : 0;
    longest = v[i].ns > longest->ns ? &v[i] : longest;
  }
  NAI_ADD(GRAPH_CALLS, out, .pid = nai_model_pid(m, v->process), .operation = words[v->operation], .device_id = device,
          .call_count = n, .total_time_ns = total, .p50_duration_ns = nai_quantile_i64(room, n, 0.5),
          .gpu_idle_ns = idle, .later_count = later, .later_time_ns = later_ns, .later_gpu_idle_ns = later_idle,
          .later_per_launch = launches ? (double)later / (double)launches : (double)NAN,
          .api_name = nai_model_api_name(m, longest->api),
          .tid = nai_get_i64(m->tables[NAI_IN_THREADS], nai_val_i32(&m->apis.thread, longest->api), THREADS_tid),
          .longest_start_ns = nai_val(&m->apis.start_ns, longest->api),
          .longest_end_ns = nai_val(&m->apis.end_ns, longest->api));
  return NAI_OK;
}

static int put_process(struct nai_table *out, const struct nai_model *m, struct call *v, uint32_t n, int64_t *room,
                       struct nai_err *err) {
  int64_t launches = 0;
  for (uint32_t i = 0; i < n; i++)
    launches += v[i].operation == LAUNCH && v[i].later;
  for (uint32_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && v[j].operation == v[i].operation; j++)
      ;
    NAI_TRY(put_calls(out, m, v + i, j - i, launches, room, err));
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct calls calls = {.arena = io->arena, .m = io->model};
  int64_t *room;
  NAI_TRY(collect(&calls, err));
  NAI_TRY(NAI_NEW(room, io->arena, calls.count, err));
  if (calls.count)
    qsort(calls.v, calls.count, sizeof *calls.v, compare);
  for (uint32_t i = 0, j; i < calls.count; i = j) {
    for (j = i + 1; j < calls.count && calls.v[j].process == calls.v[i].process; j++)
      ;
    NAI_TRY(put_process(io->out[0], io->model, calls.v + i, j - i, room, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(graph_calls, .outputs = NAI_SCHEMAS(&nai_graph_calls_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(PROCESS_GPUS) | NAI_PART(WINDOW),
             .tables = NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(PROCESSES), .run = run)
