/* How far the CPU runs ahead of a GPU, of an aggregated timeline: its events cannot tell, as launches lie in blocks. */
#include "viewer/encoder.h"

#include "base/sort.h"
#include "base/threads.h"

enum { ALL_BINS = 16000, MAX_BINS = 4000 }; /* of all GPUs together, of one */

/* A GPU's operations with a launching call, which returned at `called`. */
struct launched {
  int64_t called, begun, done;
};

struct launches {
  struct launched *v; /* by begin, of those that begin together the last called behind the others */
  int64_t *waiting;   /* ascending times from which an operation is in the queue */
  uint32_t count, waiting_count;
};

/* A quantity over time that holds from one change to the next. */
struct course {
  struct bin {
    int64_t least, most;
    uint64_t sum; /* of value times ns; that of leads may wrap, and is not put */
  } * bins;
  int64_t start, bin_ns, end;
  int64_t at, value; /* the latest change */
};

/* The value changes at a time no earlier than the latest change. */
static void change(struct course *c, int64_t time, int64_t value) {
  int64_t end = time < c->end ? time : c->end;
  while (c->at < end) {
    int64_t b = (c->at - c->start) / c->bin_ns, edge = c->start + (b + 1) * c->bin_ns, until = edge < end ? edge : end;
    struct bin *bin = &c->bins[b];
    bin->least = c->value < bin->least ? c->value : bin->least;
    bin->most = c->value > bin->most ? c->value : bin->most;
    bin->sum += (uint64_t)c->value * (uint64_t)(until - c->at);
    c->at = until;
  }
  c->at = time;
  c->value = value;
}

static void begin_course(struct course *c, int64_t bins, int64_t from) {
  for (int64_t b = 0; b < bins; b++)
    c->bins[b] = (struct bin){.least = INT64_MAX};
  c->at = from;
  c->value = 0;
}

/* Operations that were launched and have not begun. */
static void walk_queue(struct course *c, const struct launches *l) {
  uint32_t in = 0;
  int64_t depth = 0;
  for (uint32_t i = 0; i < l->count; i++) {
    const struct launched *op = &l->v[i];
    for (; in < l->waiting_count && l->waiting[in] <= op->begun; in++)
      change(c, l->waiting[in], ++depth);
    if (op->called < op->begun)
      change(c, op->begun, --depth);
  }
  change(c, c->end, 0);
}

/* How long the operation that begins had been in the queue; 0 from when all that was launched is done. */
static void walk_lead(struct course *c, const struct launches *l) {
  uint32_t in = 0, out = 0; /* operations that came into the queue, and left it */
  int64_t done = INT64_MIN;
  for (uint32_t i = 0; i < l->count; i++) {
    const struct launched *op = &l->v[i];
    bool waited = op->called < op->begun;
    change(c, op->begun, waited ? op->begun - op->called : 0);
    out += waited;
    done = op->done > done ? op->done : done;
    while (in < l->waiting_count && l->waiting[in] <= done)
      in++;
    if (in == out && i + 1 < l->count && l->v[i + 1].begun > done)
      change(c, done, 0);
  }
  change(c, c->end, 0);
}

/* --- the launches of a GPU -------------------------------------------------------------------- */

static void add_launch(struct launches *l, struct launched op) {
  if (l->count && l->v[l->count - 1].begun == op.begun && l->v[l->count - 1].called > op.called) {
    const struct launched later = l->v[l->count - 1];
    l->v[l->count - 1] = op;
    op = later;
  }
  l->v[l->count++] = op;
}

static int sort_waiting(struct launches *l, struct nai_arena *arena, struct nai_err *err) {
  struct nai_key *keys;
  NAI_TRY(NAI_NEW_UNSET(keys, arena, l->count, err));
  NAI_TRY(NAI_NEW_UNSET(l->waiting, arena, l->count, err));
  for (uint32_t i = 0; i < l->count; i++)
    if (l->v[i].called < l->v[i].begun)
      keys[l->waiting_count++] = (struct nai_key){nai_key_from_i64(l->v[i].called), i};
  NAI_TRY(nai_sort_keys(keys, l->waiting_count, err));
  for (uint32_t i = 0; i < l->waiting_count; i++)
    l->waiting[i] = l->v[keys[i].value].called;
  return NAI_OK;
}

static int find_launches(struct launches *l, const struct nai_model *m, const struct nai_gpu *gpu,
                         struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW_UNSET(l->v, arena, gpu->op_count, err));
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    uint32_t call = nai_model_op_api(m, op);
    if (call != NAI_NO_ROW)
      add_launch(l, (struct launched){nai_val(&m->apis.end_ns, call), op->start, op->end});
  }
  return sort_waiting(l, arena, err);
}

/* --- bins of all GPUs ------------------------------------------------------------------------- */

static void put_bins(struct nai_buf *out, const struct course *c, int64_t from, int64_t to, bool with_sum) {
  for (int64_t b = from; b < to; b++) {
    nai_buf_put_varint(out, (uint64_t)c->bins[b].least);
    nai_buf_put_varint(out, (uint64_t)(c->bins[b].most - c->bins[b].least));
    if (with_sum)
      nai_buf_put_varint(out, c->bins[b].sum);
  }
}

static int put_launches(struct nai_launch_queue *out, const struct launches *l, int64_t most_bins,
                        struct nai_arena *arena, struct nai_err *err) {
  int64_t first = l->v[0].begun, last = l->v[l->count - 1].begun;
  int64_t from = l->waiting_count && l->waiting[0] < first ? l->waiting[0] : first;
  if (from == last)
    return NAI_OK;
  struct course c = {.start = from, .end = last, .bin_ns = (last - from) / most_bins + 1};
  int64_t bins = (last - from - 1) / c.bin_ns + 1;
  NAI_TRY(NAI_NEW(c.bins, arena, (size_t)bins, err));
  out->start = from;
  out->end = last;
  out->bin_ns = c.bin_ns;
  begin_course(&c, bins, from);
  walk_queue(&c, l);
  put_bins(&out->stream, &c, 0, bins, true);
  out->lead_bins = first < last ? bins - (first - from) / c.bin_ns : 0;
  begin_course(&c, bins, first);
  walk_lead(&c, l);
  put_bins(&out->stream, &c, bins - out->lead_bins, bins, false);
  return nai_buf_check(&out->stream, err);
}

static int queue_task(void *ctx, int task, struct nai_err *err) {
  struct nai_encoder *e = ctx;
  struct nai_launch_queue *queue = &e->queues[task];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(e->m->scratch_dir);
  struct launches l = {0};
  int64_t share = nai_items_share(&e->items, ALL_BINS) / e->m->gpu_count;
  queue->gpu = e->m->gpus[task].device_id;
  NAI_TRY(find_launches(&l, e->m, &e->m->gpus[task], &arena, err));
  return l.count ? put_launches(queue, &l, share < 1 ? 1 : share < MAX_BINS ? share : MAX_BINS, &arena, err) : NAI_OK;
}

int nai_encoder_queue(struct nai_encoder *e, struct nai_err *err) {
  NAI_TRY(NAI_NEW(e->queues, &e->arena, e->m->gpu_count, err));
  e->queue_count = e->m->gpu_count;
  NAI_TRY(nai_parallel(e->m->worker_count, (int)e->queue_count, queue_task, e, err));
  for (uint32_t i = 0; i < e->queue_count; i++)
    if (e->queues[i].stream.len)
      nai_buf_put(&e->queue_bins, e->queues[i].stream.data, e->queues[i].stream.len);
  return nai_buf_check(&e->queue_bins, err);
}

void nai_encoder_free_queues(struct nai_encoder *e) {
  for (uint32_t i = 0; i < e->queue_count; i++)
    nai_buf_free(&e->queues[i].stream);
  nai_buf_free(&e->queue_bins);
}
