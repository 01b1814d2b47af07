/* The operations of each GPU in order, and the streams they ran on. */
#include "model/build.h"

static int compare_ops(const void *pa, const void *pb, void *model) {
  const struct nai_op *a = pa, *b = pb;
  int64_t start_a = a->start, start_b = b->start;
  if (start_a != start_b)
    return start_a < start_b ? -1 : 1;
  if (a->type != b->type)
    return a->type < b->type ? -1 : 1;
  int32_t stream_a = nai_model_op_stream(model, a), stream_b = nai_model_op_stream(model, b);
  if (stream_a != stream_b)
    return stream_a < stream_b ? -1 : 1;
  int64_t end_a = a->end, end_b = b->end;
  if (end_a != end_b)
    return end_a < end_b ? -1 : 1;
  /* Rows of an export have no order of their own: what is told of two such kernels must not depend on it. */
  int names = a->type == NAI_OP_KERNEL && a->row != b->row
                ? strcmp(nai_model_kernel_name(model, a->row), nai_model_kernel_name(model, b->row))
                : 0;
  return names ? names : (a->row > b->row) - (a->row < b->row);
}

/* --- rows by GPU ------------------------------------------------------------------------------ */

static int collect(struct nai_groups *rows, const struct nai_model *m, uint32_t n, const struct nai_column *device,
                   struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  int32_t *gpu;
  NAI_TRY(NAI_NEW(gpu, &arena, n, err));
  for (uint32_t i = 0; i < n; i++) {
    uint32_t index = nai_model_gpu_index(m, nai_at_i32(device, i));
    gpu[i] = index < m->gpu_count ? (int32_t)index : -1;
  }
  const struct nai_column group = nai_column_of_i32(gpu);
  return nai_groups_collect(rows, n, &group, m->gpu_count, &m->work->arenas[NAI_PART_GPUS], err);
}

int nai_gpu_rows_collect(struct nai_model *m, struct nai_err *err) {
  struct nai_model_work *w = m->work;
  NAI_TRY(collect(&w->gpu_kernels, m, m->kernels.n, &m->kernels.device_id, err));
  NAI_TRY(collect(&w->gpu_memops, m, m->memops.n, &m->memops.device_id, err));
  return collect(&w->gpu_graphs, m, m->graphs.n, &m->graphs.device_id, err);
}

static uint32_t rows_of(const struct nai_groups *rows, uint32_t gpu) { return rows->first[gpu + 1] - rows->first[gpu]; }

/* --- operations in order ---------------------------------------------------------------------- */

/* Operations of one table that are still to be merged, by start. */
struct run {
  struct nai_op *v;
  uint32_t n;
  int64_t next; /* start of the first, INT64_MAX when there is none */
};

static void look_ahead(struct run *run) { run->next = run->n ? run->v->start : INT64_MAX; }

/* Sorts the GPU's rows of one table and writes them as operations to run->v. */
static int fill_run(struct run *run, const struct nai_groups *rows, uint32_t gpu, enum nai_op_type type,
                    const struct nai_model *m, struct nai_err *err) {
  const struct nai_op like = {.type = type};
  const struct nai_row_order by = {.start = *NAI_OP_COLUMN(m, &like, start_ns),
                                   .end = *NAI_OP_COLUMN(m, &like, end_ns)};
  uint32_t *order = rows->order + rows->first[gpu], n = rows_of(rows, gpu);
  NAI_TRY(nai_rows_sort(order, n, &by, m->scratch_dir, err));
  int64_t before = INT64_MIN;
  for (uint32_t i = 0, tied = 0; i <= n; i++) { /* ties come into the order of compare_ops */
    int64_t start = i < n ? nai_val(&by.start, order[i]) : INT64_MAX;
    if (start != before && i - tied > 1)
      qsort_r(run->v + tied, i - tied, sizeof *run->v, compare_ops, (void *)m);
    tied = start != before ? i : tied;
    before = start;
    if (i == n)
      break;
    struct nai_op op = {.start = start, .end = nai_val(&by.end, order[i]), .row = order[i], .type = type};
    if (type == NAI_OP_KERNEL)
      op.communication = m->kernel_communication[nai_val_text(&m->kernels.name, op.row)];
    if (type == NAI_OP_COPY && nai_val_i32(&m->memops.kind, op.row) == NAI_MEMOP_SET)
      op.type = NAI_OP_SET;
    run->v[run->n++] = op;
  }
  look_ahead(run);
  return NAI_OK;
}

static bool precedes(const struct run *a, const struct run *b, const struct nai_model *m) {
  return a->next != b->next ? a->next < b->next : a->n && b->n && compare_ops(a->v, b->v, (void *)m) < 0;
}

/* The next operation of a run, which becomes shorter. */
static struct nai_op take(struct run *run) {
  struct nai_op op = *run->v++;
  run->n--;
  look_ahead(run);
  return op;
}

/* Kernels, which usually are nearly all of the operations, wait at the end of the array while it is filled from the
 * front with theirs and the others in order. */
static int merge_ops(struct nai_gpu *gpu, uint32_t index, struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  const struct nai_model_work *w = m->work;
  uint32_t kernels = rows_of(&w->gpu_kernels, index), memops = rows_of(&w->gpu_memops, index);
  uint32_t graphs = rows_of(&w->gpu_graphs, index), others = memops + graphs;
  if ((uint64_t)kernels + memops + graphs >= NAI_NO_ROW)
    return nai_err_set(err, NAI_ELIMIT, "more than 4,294,967,294 operations on one GPU");
  struct nai_op *aside;
  NAI_TRY(NAI_NEW(aside, &arena, others, err));
  NAI_TRY(NAI_NEW(gpu->ops, &m->arena, kernels + others, err));
  struct run kernel = {.v = gpu->ops + others}, memop = {.v = aside}, graph = {.v = aside + memops};
  NAI_TRY(fill_run(&kernel, &w->gpu_kernels, index, NAI_OP_KERNEL, m, err));
  NAI_TRY(fill_run(&memop, &w->gpu_memops, index, NAI_OP_COPY, m, err));
  NAI_TRY(fill_run(&graph, &w->gpu_graphs, index, NAI_OP_GRAPH, m, err));
  while (gpu->op_count < kernels + others) {
    struct run *other = precedes(&graph, &memop, m) ? &graph : &memop;
    gpu->ops[gpu->op_count++] = take(precedes(other, &kernel, m) ? other : &kernel);
  }
  return NAI_OK;
}

/* --- streams ---------------------------------------------------------------------------------- */

static bool is_of(const struct nai_stream *stream, const struct nai_stream *other) {
  return stream->process == other->process && stream->context == other->context && stream->id == other->id;
}

static int number_streams(struct nai_gpu *gpu, struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_keyset contexts = {.arena = &arena}; /* process and context */
  struct nai_keyset streams = {.arena = &arena};  /* number of the context and the stream's id */
  uint32_t capacity = 0, number = 0;
  bool added;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    struct nai_op *op = &gpu->ops[i];
    struct nai_stream of = {nai_model_op_process(m, op), nai_model_op_context(m, op), nai_model_op_stream(m, op)};
    if (!i || !is_of(&of, &gpu->streams[number])) { /* mostly it is that of the operation before */
      int64_t context = nai_keyset_add(&contexts, nai_key_pair(of.process, (uint32_t)of.context), &added);
      number = nai_keyset_add(&streams, nai_key_pair(context, (uint32_t)of.id), &added);
      NAI_TRY(nai_memory_check(!contexts.oom && !streams.oom, err));
      if (number >= NAI_MAX_STREAMS)
        return nai_err_set(err, NAI_ELIMIT, "more than %u streams on one GPU", NAI_MAX_STREAMS);
      NAI_TRY(NAI_ROOM(gpu->streams, capacity, number, &m->arena, err));
      gpu->streams[number] = of;
    }
    op->stream = number & (NAI_MAX_STREAMS - 1);
  }
  gpu->stream_count = streams.count;
  gpu->processes.arena = &m->arena;
  for (uint32_t s = 0; s < gpu->stream_count; s++)
    nai_keyset_add(&gpu->processes, gpu->streams[s].process, &added);
  return gpu->processes.oom ? nai_err_nomem(err) : NAI_OK;
}

int nai_gpu_order_ops(struct nai_gpu *gpu, uint32_t index, struct nai_model *m, struct nai_err *err) {
  NAI_TRY(merge_ops(gpu, index, m, err));
  return number_streams(gpu, m, err);
}
