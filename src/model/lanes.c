#include "model/lanes.h"

#include "base/sort.h"
#include "model/build.h"

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

struct builder {
  struct nai_model *m;
  uint32_t *rows, used; /* of lanes that no other part has such a list for */
  uint32_t capacity;    /* lanes */
};

static int add_lane(struct builder *b, struct nai_lane lane, struct nai_err *err) {
  struct nai_lanes *lanes = &b->m->lanes;
  if (!lane.count)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(lanes->v, b->capacity, lanes->count, &b->m->arena, err));
  lanes->total += lane.count;
  lanes->v[lanes->count++] = lane;
  return NAI_OK;
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

NAI_ORDER(compare_met, struct met, {a->key.process, b->key.process}, {a->key.context, b->key.context},
          {a->key.stream, b->key.stream}, {a->key.kind, b->key.kind})

/* Of one GPU; streams beyond share one lane per kind, which follow the others. */
enum { MAX_OWN_LANES = 512, MAX_LANES = MAX_OWN_LANES + NAI_LANE_GRAPH + 1 };

static int add_gpu_lane(struct builder *b, const struct key *key, int32_t device_id, uint32_t count,
                        struct nai_err *err) {
  const struct nai_lane lane = {.kind = (enum nai_lane_kind)key->kind,
                                .gpu = device_id,
                                .process = key->process,
                                .thread = -1,
                                .context = key->context,
                                .stream = key->stream,
                                .rows = b->rows + b->used,
                                .count = count};
  b->used += count;
  return add_lane(b, lane, err);
}

/* The GPU's operations split into lanes, each still in start order: a stable counting sort by lane. */
static int add_gpu(struct builder *b, const struct nai_gpu *gpu, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(b->m->scratch_dir);
  uint32_t keys = gpu->stream_count * TYPES, n = 0, next[MAX_LANES] = {0}, *lane_of;
  struct met *met, *lanes;
  NAI_TRY(NAI_NEW(met, &arena, keys, err));
  NAI_TRY(NAI_NEW(lanes, &arena, MAX_LANES, err));
  NAI_TRY(NAI_NEW(lane_of, &arena, keys, err));
  for (uint32_t i = 0; i < gpu->op_count; i++)
    met[number_of(&gpu->ops[i])].count++;
  for (uint32_t k = 0; k < keys; k++)
    if (met[k].count)
      met[n++] = (struct met){key_of(gpu, k), k, met[k].count};
  qsort(met, n, sizeof *met, compare_met);
  for (uint32_t i = 0; i < n; i++) {
    bool own = i < MAX_OWN_LANES;
    struct met *lane = &lanes[lane_of[met[i].id] = own ? i : MAX_OWN_LANES + (uint32_t)met[i].key.kind];
    lane->key = own ? met[i].key : (struct key){met[i].key.kind, -1, -1, -1};
    lane->count += met[i].count;
  }
  for (uint32_t i = 0; i < MAX_LANES; i++) {
    next[i] = b->used;
    NAI_TRY(add_gpu_lane(b, &lanes[i].key, gpu->device_id, lanes[i].count, err));
  }
  for (uint32_t i = 0; i < gpu->op_count; i++)
    b->rows[next[lane_of[number_of(&gpu->ops[i])]]++] = gpu->ops[i].row;
  return NAI_OK;
}

/* --- threads ---------------------------------------------------------------------------------- */

static int add_host_lane(struct builder *b, uint32_t thread, enum nai_lane_kind kind, const uint32_t *rows,
                         uint32_t count, struct nai_err *err) {
  return add_lane(b,
                  (struct nai_lane){.kind = kind,
                                    .gpu = -1,
                                    .process = b->m->thread_process[thread],
                                    .thread = (int32_t)thread,
                                    .context = -1,
                                    .stream = -1,
                                    .rows = rows,
                                    .count = count},
                  err);
}

/* The thread's ranges of one kind, copied out of those of both. */
static int add_range_lane(struct builder *b, uint32_t thread, enum nai_lane_kind kind, struct nai_err *err) {
  const struct nai_groups *g = &b->m->nvtx_by_thread;
  int wanted = kind == NAI_LANE_NVTX ? NAI_NVTX_PUSH_POP : NAI_NVTX_START_END;
  uint32_t *rows = b->rows + b->used, count = 0;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++)
    if (nai_val_i32(&b->m->nvtx.kind, g->order[i]) == wanted)
      rows[count++] = g->order[i];
  b->used += count;
  return add_host_lane(b, thread, kind, rows, count, err);
}

static int add_nvtx(struct builder *b, uint32_t thread, struct nai_err *err) {
  const struct nai_groups *g = &b->m->nvtx_by_thread;
  uint32_t first = g->first[thread];
  if (!nai_model_has_start_end(b->m, thread))
    return add_host_lane(b, thread, NAI_LANE_NVTX, g->order + first, g->first[thread + 1] - first, err);
  NAI_TRY(add_range_lane(b, thread, NAI_LANE_NVTX, err));
  return add_range_lane(b, thread, NAI_LANE_NVTX_ASYNC, err);
}

/* --- the part --------------------------------------------------------------------------------- */

/* Room for operations of GPUs, and for ranges of threads whose list has both kinds. */
static int make_room(struct builder *b, struct nai_err *err) {
  const struct nai_model *m = b->m;
  const struct nai_groups *ranges = &m->nvtx_by_thread;
  uint64_t ops = 0, mixed = 0;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    ops += m->gpus[g].op_count;
  for (uint32_t t = 0; t < m->thread_count; t++)
    mixed += nai_model_has_start_end(m, t) ? ranges->first[t + 1] - ranges->first[t] : 0;
  if (ops + m->apis.n + m->nvtx.n >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "more than 4,294,967,294 events for the timeline");
  return NAI_NEW(b->rows, &b->m->arena, ops + mixed, err);
}

static int build_lanes(struct nai_model *m, struct nai_err *err) {
  struct builder b = {.m = m};
  const struct nai_groups *calls = &m->api_by_thread;
  NAI_TRY(make_room(&b, err));
  for (uint32_t t = 0; t < m->thread_count; t++)
    NAI_TRY(
        add_host_lane(&b, t, NAI_LANE_API, calls->order + calls->first[t], calls->first[t + 1] - calls->first[t], err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    NAI_TRY(add_gpu(&b, &m->gpus[g], err));
  for (uint32_t t = 0; t < m->thread_count; t++)
    NAI_TRY(add_nvtx(&b, t, err));
  return NAI_OK;
}

static int64_t lanes_bytes(const struct nai_model *m) {
  return ((int64_t)m->kernels.n + m->memops.n + m->graphs.n) * 8 + (int64_t)m->nvtx.n * 4;
}

const struct nai_part_def nai_part_lanes = {
    .name = "lanes",
    .needs = NAI_PART(RANGES) | NAI_PART(CALLS) | NAI_PART(GPUS) | NAI_PART(NVTX_TREE),
    .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(THREADS),
    .begin = build_lanes,
    .bytes = lanes_bytes};
