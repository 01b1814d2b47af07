#include "model/lanes.h"

#include "base/array.h"
#include "base/spill_array.h"
#include "model/build.h"

#include <stdlib.h>
#include <string.h>

void nai_lane_times(const struct nai_column **start, const struct nai_column **end, const struct nai_model *m,
                    enum nai_lane_kind kind) {
  *start = *end = NULL;
  switch (kind) {
  case NAI_LANE_KERNEL:
    *start = &m->kernels.start_ns, *end = &m->kernels.end_ns;
    break;
  case NAI_LANE_COPY:
  case NAI_LANE_SET:
    *start = &m->memops.start_ns, *end = &m->memops.end_ns;
    break;
  case NAI_LANE_GRAPH:
    *start = &m->graphs.start_ns, *end = &m->graphs.end_ns;
    break;
  case NAI_LANE_NVTX:
  case NAI_LANE_NVTX_ASYNC:
    *start = &m->nvtx.start_ns, *end = &m->nvtx.end_ns;
    break;
  case NAI_LANE_API:
    *start = &m->apis.start_ns, *end = &m->apis.end_ns;
    break;
  }
}

uint32_t nai_lane_call(const struct nai_model *m, enum nai_lane_kind kind, uint32_t row) {
  return kind == NAI_LANE_KERNEL                       ? m->kernel_api[row]
       : kind == NAI_LANE_COPY || kind == NAI_LANE_SET ? m->memop_api[row]
       : kind == NAI_LANE_GRAPH                        ? m->graph_api[row]
                                                       : NAI_NO_ROW;
}

const char *nai_lane_event_name(char *room, const struct nai_model *m, enum nai_lane_kind kind, uint32_t row) {
  return kind == NAI_LANE_KERNEL                              ? nai_model_kernel_name(m, row)
       : kind == NAI_LANE_COPY || kind == NAI_LANE_SET        ? nai_model_direction(room, m, row)
       : kind == NAI_LANE_GRAPH                               ? "CUDA graph"
       : kind == NAI_LANE_NVTX || kind == NAI_LANE_NVTX_ASYNC ? nai_model_range_name(m, row)
                                                              : nai_model_api_name(m, row);
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static bool add_lane(struct nai_lanes *lanes, struct nai_lane lane) {
  if (!nai_array_room(&lanes->v, &lanes->capacity, lanes->count, sizeof *lanes->v))
    return false;
  lanes->total += lane.count;
  lanes->v[lanes->count++] = lane;
  return true;
}

/* Where an operation is shown: kind, process, context, stream. */
struct key {
  int32_t kind, process, context, stream;
};

/* Keys of a GPU by number: its streams, and of each the types of operations. */
enum { TYPES = NAI_OP_GRAPH + 1 };
static uint32_t number_of(const struct nai_op *op) { return op->stream * TYPES + op->type; }

static struct key key_of(const struct nai_gpu *gpu, uint32_t number) {
  static const enum nai_lane_kind kinds[TYPES] = {[NAI_OP_KERNEL] = NAI_LANE_KERNEL,
                                                  [NAI_OP_COPY] = NAI_LANE_COPY,
                                                  [NAI_OP_SET] = NAI_LANE_SET,
                                                  [NAI_OP_GRAPH] = NAI_LANE_GRAPH};
  const struct nai_stream *stream = &gpu->streams[number / TYPES];
  return (struct key){(int32_t)kinds[number % TYPES], stream->process, stream->context, stream->id};
}

/* A key met, and how many operations have it. */
struct met {
  struct key key;
  uint32_t id, count;
};

static int compare_met(const void *pa, const void *pb) {
  const struct key *a = &((const struct met *)pa)->key, *b = &((const struct met *)pb)->key;
  const int32_t order[][2] = {
      {a->process, b->process}, {a->context, b->context}, {a->stream, b->stream}, {a->kind, b->kind}};
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (order[i][0] != order[i][1])
      return order[i][0] < order[i][1] ? -1 : 1;
  return 0;
}

enum { MAX_OWN_LANES = 512 }; /* of one GPU; streams beyond share one lane per kind */

/* Adds a lane of a GPU; *next = where in lanes.rows the first of its operations goes. */
static int add_gpu_lane(uint32_t *next, struct nai_lanes *lanes, const struct key *key, int32_t device_id,
                        uint32_t count, struct nai_err *err) {
  *next = lanes->used;
  lanes->used += count;
  struct nai_lane lane = {.kind = (enum nai_lane_kind)key->kind,
                          .gpu = device_id,
                          .process = key->process,
                          .thread = -1,
                          .context = key->context,
                          .stream = key->stream,
                          .rows = lanes->rows + *next,
                          .count = count};
  return add_lane(lanes, lane) ? NAI_OK : nai_err_nomem(err);
}

/* Adds the lanes of the keys, in their order; place[key] = where in lanes.rows its operations go: keys of one lane
 * share the lane's counter, `shared` has those. */
static int add_lanes(uint32_t **place, uint32_t *own, uint32_t *shared, struct nai_lanes *lanes, struct met *met,
                     uint32_t count, int32_t device_id, struct nai_err *err) {
  enum { FIRST = NAI_LANE_KERNEL, LAST = NAI_LANE_GRAPH };
  uint32_t shared_count[LAST + 1] = {0};
  int rc = NAI_OK;
  qsort(met, count, sizeof *met, compare_met);
  for (uint32_t i = 0; !rc && i < count; i++) {
    const struct key *key = &met[i].key;
    place[met[i].id] = i < MAX_OWN_LANES ? &own[i] : &shared[key->kind];
    if (i < MAX_OWN_LANES)
      rc = add_gpu_lane(&own[i], lanes, key, device_id, met[i].count, err);
    else
      shared_count[key->kind] += met[i].count;
  }
  for (int kind = FIRST; !rc && kind <= LAST; kind++)
    if (shared_count[kind])
      rc = add_gpu_lane(&shared[kind], lanes, &(struct key){kind, -1, -1, -1}, device_id, shared_count[kind], err);
  return rc;
}

/* The GPU's operations split into lanes, each still in start order: a stable counting sort by lane. */
static int add_gpu(struct nai_lanes *lanes, const struct nai_gpu *gpu, struct nai_err *err) {
  size_t keys = (size_t)gpu->stream_count * TYPES;
  uint32_t shared[NAI_LANE_GRAPH + 1] = {0}, n = 0;
  struct met *met = calloc(keys + 1, sizeof *met);
  uint32_t **place = calloc(keys + 1, sizeof *place), *own = calloc(MAX_OWN_LANES, sizeof *own);
  int rc = met && place && own ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < gpu->op_count; i++)
    met[number_of(&gpu->ops[i])].count++;
  for (uint32_t k = 0; !rc && k < keys; k++)
    if (met[k].count)
      met[n++] = (struct met){key_of(gpu, k), k, met[k].count};
  if (!rc)
    rc = add_lanes(place, own, shared, lanes, met, n, gpu->device_id, err);
  for (uint32_t i = 0; !rc && i < gpu->op_count; i++)
    lanes->rows[(*place[number_of(&gpu->ops[i])])++] = gpu->ops[i].row;
  free(met);
  free(place);
  free(own);
  return rc;
}

/* --- threads ---------------------------------------------------------------------------------- */

static int add_host_lane(struct nai_lanes *lanes, const struct nai_model *m, uint32_t thread, enum nai_lane_kind kind,
                         const uint32_t *rows, uint32_t count, struct nai_err *err) {
  struct nai_lane lane = {.kind = kind,
                          .gpu = -1,
                          .process = m->thread_process[thread],
                          .thread = (int32_t)thread,
                          .context = -1,
                          .stream = -1,
                          .rows = rows,
                          .count = count};
  return !count || add_lane(lanes, lane) ? NAI_OK : nai_err_nomem(err);
}

/* The thread's ranges of one kind, copied out of those of both. */
static int add_range_lane(struct nai_lanes *lanes, const struct nai_model *m, uint32_t thread, enum nai_lane_kind kind,
                          struct nai_err *err) {
  const struct nai_groups *g = &m->nvtx_by_thread;
  int wanted = kind == NAI_LANE_NVTX ? NAI_NVTX_PUSH_POP : NAI_NVTX_START_END;
  uint32_t *rows = lanes->rows + lanes->used, count = 0;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++)
    if (nai_at_i32(&m->nvtx.kind, g->order[i]) == wanted)
      rows[count++] = g->order[i];
  lanes->used += count;
  return add_host_lane(lanes, m, thread, kind, rows, count, err);
}

static int add_nvtx(struct nai_lanes *lanes, const struct nai_model *m, uint32_t thread, struct nai_err *err) {
  const struct nai_groups *g = &m->nvtx_by_thread;
  uint32_t first = g->first[thread];
  if (!nai_model_has_start_end(m, thread))
    return add_host_lane(lanes, m, thread, NAI_LANE_NVTX, g->order + first, g->first[thread + 1] - first, err);
  int rc = add_range_lane(lanes, m, thread, NAI_LANE_NVTX, err);
  return rc ? rc : add_range_lane(lanes, m, thread, NAI_LANE_NVTX_ASYNC, err);
}

/* --- the part --------------------------------------------------------------------------------- */

/* Operations of GPUs, and ranges of threads whose list has both kinds. */
static uint64_t own_rows(const struct nai_model *m) {
  const struct nai_groups *ranges = &m->nvtx_by_thread;
  uint64_t own = 0;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    own += m->gpus[g].op_count;
  for (uint32_t t = 0; t < m->thread_count; t++)
    own += nai_model_has_start_end(m, t) ? ranges->first[t + 1] - ranges->first[t] : 0;
  return own;
}

static int allocate(struct nai_lanes *lanes, const struct nai_model *m, struct nai_err *err) {
  uint64_t events = (uint64_t)m->apis.n + m->nvtx.n;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    events += m->gpus[g].op_count;
  if (events >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "more than 4,294,967,294 events for the timeline");
  void *rows;
  int rc = nai_spill_array_new(&rows, m->scratch_dir, (size_t)(own_rows(m) + 1) * sizeof *lanes->rows, err);
  lanes->rows = rc ? NULL : rows;
  return rc;
}

static int build_lanes(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  struct nai_lanes *lanes = &m->lanes;
  const struct nai_groups *calls = &m->api_by_thread;
  int rc = allocate(lanes, m, err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    rc = add_host_lane(lanes, m, t, NAI_LANE_API, calls->order + calls->first[t], calls->first[t + 1] - calls->first[t],
                       err);
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++)
    rc = add_gpu(lanes, &m->gpus[g], err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    rc = add_nvtx(lanes, m, t, err);
  return rc;
}

static void free_lanes(struct nai_model *m) {
  free(m->lanes.v);
  nai_spill_array_free(m->lanes.rows);
  m->lanes = (struct nai_lanes){0};
}

static int64_t lanes_bytes(const struct nai_model *m) {
  return ((int64_t)m->kernels.n + m->memops.n + m->graphs.n) * 8 + (int64_t)m->nvtx.n * 4;
}

const struct nai_part_def nai_part_lanes = {
    .name = "lanes",
    .needs = NAI_PART(RANGES) | NAI_PART(CALLS) | NAI_PART(GPUS) | NAI_PART(NVTX_TREE),
    .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(THREADS),
    .begin = build_lanes,
    .free = free_lanes,
    .bytes = lanes_bytes};
