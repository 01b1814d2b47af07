/* A GPU's timeline: its operations in order and the unions of what it was busy with. */
#include "model/build.h"
#include "tables/gpus.h"

#include <stdlib.h>

static void free_gpu(struct nai_gpu *gpu) {
  free(gpu->ops);
  free(gpu->streams);
  nai_intervals_free(&gpu->all);
  nai_intervals_free(&gpu->exposed_communication);
  nai_intervals_free(&gpu->exposed_copy);
  nai_keyset_free(&gpu->processes);
}

static int compare_ops(const void *pa, const void *pb, void *model) {
  const struct nai_op *a = pa, *b = pb;
  int64_t start_a = nai_model_op_start(model, a), start_b = nai_model_op_start(model, b);
  if (start_a != start_b)
    return start_a < start_b ? -1 : 1;
  if (a->type != b->type)
    return a->type < b->type ? -1 : 1;
  int32_t stream_a = nai_model_op_stream(model, a), stream_b = nai_model_op_stream(model, b);
  if (stream_a != stream_b)
    return stream_a < stream_b ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

/* --- rows by GPU ------------------------------------------------------------------------------ */

/* A table of the trace as far as it concerns GPUs. */
struct source {
  struct nai_groups *rows;
  uint32_t n;
  const struct nai_column *device;
};

static int collect(const struct source *source, const struct nai_model *m, struct nai_err *err) {
  int32_t *gpu = nai_cells_new(source->n, sizeof *gpu);
  if (!gpu)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < source->n; i++) {
    int32_t device = nai_at_i32(source->device, i);
    if (i && device == nai_at_i32(source->device, i - 1)) {
      gpu[i] = gpu[i - 1];
      continue;
    }
    uint32_t index = nai_model_gpu_index(m, device);
    gpu[i] = index < m->gpu_count ? (int32_t)index : -1;
  }
  struct nai_column group = nai_column_of_i32(gpu);
  int rc = nai_groups_collect(source->rows, source->n, &group, m->gpu_count, &m->work->arenas[NAI_PART_GPUS], err);
  free(gpu);
  return rc;
}

static int collect_rows(struct nai_model *m, struct nai_err *err) {
  struct nai_model_work *w = m->work;
  const struct source sources[] = {{&w->gpu_kernels, m->kernels.n, &m->kernels.device_id},
                                   {&w->gpu_memops, m->memops.n, &m->memops.device_id},
                                   {&w->gpu_graphs, m->graphs.n, &m->graphs.device_id}};
  int rc = NAI_OK;
  for (size_t i = 0; !rc && i < sizeof sources / sizeof *sources; i++)
    rc = collect(&sources[i], m, err);
  return rc;
}

/* --- operations in order ---------------------------------------------------------------------- */

/* Operations of one table that are still to be merged, by start. */
struct run {
  struct nai_op *v;
  uint32_t n;
  int64_t next; /* start of the first, INT64_MAX when there is none */
};

static void look_ahead(struct run *run, const struct nai_model *m) {
  run->next = run->n ? nai_model_op_start(m, run->v) : INT64_MAX;
}

/* Sorts the GPU's rows of one table and writes them as operations to run->v. */
static int fill_run(struct run *run, const struct nai_groups *rows, uint32_t index, enum nai_op_type type,
                    const struct nai_model *m, struct nai_err *err) {
  struct nai_row_order by =
      type == NAI_OP_KERNEL  ? (struct nai_row_order){.start = m->kernels.start_ns, .end = m->kernels.end_ns}
      : type == NAI_OP_GRAPH ? (struct nai_row_order){.start = m->graphs.start_ns, .end = m->graphs.end_ns}
                             : (struct nai_row_order){.start = m->memops.start_ns, .end = m->memops.end_ns};
  uint32_t *order = rows->order + rows->first[index], n = rows->first[index + 1] - rows->first[index];
  int rc = nai_rows_sort(order, n, &by, m->scratch_dir, err);
  int64_t before = INT64_MIN;
  for (uint32_t i = 0, tied = 0; !rc && i <= n; i++) { /* ties come into the order of compare_ops */
    int64_t start = i < n ? nai_at(&by.start, order[i]) : INT64_MAX;
    if (start != before && i - tied > 1)
      qsort_r(run->v + tied, i - tied, sizeof *run->v, compare_ops, (void *)m);
    tied = start != before ? i : tied;
    before = start;
    if (i == n)
      break;
    struct nai_op op = {.row = order[i], .type = type};
    if (type == NAI_OP_KERNEL)
      op.communication = m->kernel_communication[nai_at_text(&m->kernels.name, op.row)];
    if (type == NAI_OP_COPY && nai_at_i32(&m->memops.kind, op.row) == NAI_MEMOP_SET)
      op.type = NAI_OP_SET;
    run->v[run->n++] = op;
  }
  look_ahead(run, m);
  return rc;
}

static bool precedes(const struct run *a, const struct run *b, const struct nai_model *m) {
  return a->next != b->next ? a->next < b->next : a->n && b->n && compare_ops(a->v, b->v, (void *)m) < 0;
}

/* The next operation of a run, which becomes shorter. */
static struct nai_op take(struct run *run, const struct nai_model *m) {
  struct nai_op op = *run->v++;
  run->n--;
  look_ahead(run, m);
  return op;
}

/* Fills gpu->ops. Kernels, which usually are nearly all of the operations, wait at the end of the array while it is
 * filled from the front with theirs and the others in order. */
static int merge_ops(struct nai_gpu *gpu, uint32_t index, const struct nai_model *m, struct nai_err *err) {
  const struct nai_model_work *rows = m->work;
  uint32_t kernels = rows->gpu_kernels.first[index + 1] - rows->gpu_kernels.first[index];
  uint32_t memops = rows->gpu_memops.first[index + 1] - rows->gpu_memops.first[index];
  uint32_t graphs = rows->gpu_graphs.first[index + 1] - rows->gpu_graphs.first[index], others = memops + graphs;
  if ((uint64_t)kernels + memops + graphs >= NAI_NO_ROW)
    return nai_err_set(err, NAI_ELIMIT, "more than 4,294,967,294 operations on one GPU");
  struct nai_op *scratch = malloc(((size_t)others + 1) * sizeof *scratch);
  gpu->ops = malloc(((size_t)kernels + others + 1) * sizeof *gpu->ops);
  int rc = scratch && gpu->ops ? NAI_OK : nai_err_nomem(err);
  struct run kernel = {.v = rc ? NULL : gpu->ops + others}, memop = {.v = scratch},
             graph = {.v = rc ? NULL : scratch + memops};
  if (!rc)
    rc = fill_run(&kernel, &rows->gpu_kernels, index, NAI_OP_KERNEL, m, err);
  if (!rc)
    rc = fill_run(&memop, &rows->gpu_memops, index, NAI_OP_COPY, m, err);
  if (!rc)
    rc = fill_run(&graph, &rows->gpu_graphs, index, NAI_OP_GRAPH, m, err);
  while (!rc && gpu->op_count < kernels + others) {
    struct run *other = precedes(&graph, &memop, m) ? &graph : &memop;
    gpu->ops[gpu->op_count++] = take(precedes(other, &kernel, m) ? other : &kernel, m);
  }
  free(scratch);
  return rc;
}

/* --- unions ----------------------------------------------------------------------------------- */

/* Sums the union of intervals that come in start order, without keeping them. */
struct running_union {
  int64_t total, start, end;
  bool any;
};

static void extend(struct running_union *u, int64_t start, int64_t end) {
  if (!u->any || start > u->end) {
    u->total += u->any ? u->end - u->start : 0;
    u->start = start;
    u->end = end;
    u->any = true;
  } else if (end > u->end) {
    u->end = end;
  }
}

static int64_t union_total(const struct running_union *u) { return u->total + (u->any ? u->end - u->start : 0); }

/* Takes intervals away from a set as they come up in order, so that they need not be kept. */
struct removal {
  const struct nai_intervals *from;
  struct nai_intervals *rest; /* what is left of `from` */
  size_t next;                /* of from->v, dealt with up to `at` */
  int64_t at;
};

static void take_away(struct removal *r, int64_t start, int64_t end) {
  for (; r->next < r->from->count; r->next++) {
    const struct nai_interval *v = &r->from->v[r->next];
    nai_intervals_add(r->rest, v->start > r->at ? v->start : r->at, v->end < start ? v->end : start);
    if (v->end > end) { /* it goes on behind what is taken away */
      r->at = end;
      return;
    }
  }
}

static bool is_copy(const struct nai_op *op) { return op->type == NAI_OP_COPY || op->type == NAI_OP_SET; }

/* compute_ns, and what of both sets is beside compute. */
static void subtract_compute(struct nai_gpu *gpu, struct removal *communication, struct removal *copy,
                             const struct nai_model *m) {
  struct running_union compute = {0};
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    int64_t start = nai_model_op_start(m, op), end = nai_model_op_end(m, op);
    if (is_copy(op) || op->communication || start == end)
      continue;
    if (compute.any && start > compute.end) {
      take_away(communication, compute.start, compute.end);
      take_away(copy, compute.start, compute.end);
    }
    extend(&compute, start, end);
  }
  if (compute.any) {
    take_away(communication, compute.start, compute.end);
    take_away(copy, compute.start, compute.end);
  }
  take_away(communication, INT64_MAX, INT64_MAX); /* all that is behind */
  take_away(copy, INT64_MAX, INT64_MAX);
  gpu->compute_ns = union_total(&compute);
}

static int build_unions(struct nai_gpu *gpu, const struct nai_model *m, struct nai_err *err) {
  struct nai_intervals communication = {0}, copy = {0}, beside_compute = {0};
  struct running_union kernels_only = {0}, graphs_only = {0};
  nai_intervals_reserve(&gpu->all, gpu->op_count); /* nearly as many, mostly */
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    int64_t start = nai_model_op_start(m, op), end = nai_model_op_end(m, op);
    if (end > gpu->window_end)
      gpu->window_end = end;
    if (start == end)
      continue;
    if (op->type == NAI_OP_KERNEL) {
      if (!kernels_only.any)
        gpu->kernel_window_start = start;
      extend(&kernels_only, start, end);
    }
    if (op->type == NAI_OP_GRAPH)
      extend(&graphs_only, start, end);
    if (op->communication || is_copy(op))
      nai_intervals_add(op->communication ? &communication : &copy, start, end);
    nai_intervals_add(&gpu->all, start, end);
  }
  gpu->kernel_window_end = kernels_only.any ? kernels_only.end : 0;
  gpu->kernel_busy_ns = union_total(&kernels_only);
  gpu->graph_ns = union_total(&graphs_only);
  gpu->communication_ns = nai_intervals_total_ns(&communication);
  gpu->copy_ns = nai_intervals_total_ns(&copy);
  subtract_compute(gpu, &(struct removal){&communication, &gpu->exposed_communication, 0, INT64_MIN},
                   &(struct removal){&copy, &beside_compute, 0, INT64_MIN}, m);
  nai_intervals_subtract(&gpu->exposed_copy, &beside_compute, &communication);
  bool oom = gpu->all.oom || communication.oom || copy.oom || gpu->exposed_communication.oom || gpu->exposed_copy.oom;
  nai_intervals_free(&communication);
  nai_intervals_free(&copy);
  nai_intervals_free(&beside_compute);
  nai_intervals_trim(&gpu->all);
  return oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- the part --------------------------------------------------------------------------------- */

static int begin_gpus(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  m->gpus = calloc((size_t)m->gpu_count + 1, sizeof *m->gpus);
  if (!m->gpus)
    return nai_err_nomem(err);
  for (uint32_t g = 0; g < m->gpu_count; g++)
    m->gpus[g].device_id = (int32_t)nai_get_i64(m->tables[NAI_IN_GPUS], g, GPUS_device_id);
  return collect_rows(m, err);
}

static int gpu_count(const struct nai_model *m) { return (int)m->gpu_count; }

static int build_gpu(void *ctx, int index, struct nai_err *err) {
  struct nai_model *m = ctx;
  struct nai_gpu *gpu = &m->gpus[index];
  int rc = merge_ops(gpu, (uint32_t)index, m, err);
  if (!rc)
    rc = nai_gpu_number_streams(gpu, m, err);
  if (rc)
    return rc;
  gpu->window_start = gpu->window_end = gpu->op_count ? nai_model_op_start(m, &gpu->ops[0]) : 0;
  return build_unions(gpu, m, err);
}

static void free_gpus(struct nai_model *m) {
  for (uint32_t g = 0; m->gpus && g < m->gpu_count; g++)
    free_gpu(&m->gpus[g]);
  free(m->gpus);
}

static int64_t gpus_bytes(const struct nai_model *m) {
  return (int64_t)m->kernels.n * 24 + ((int64_t)m->memops.n + m->graphs.n) * 80;
}

const struct nai_part_def nai_part_gpus = {.name = "GPU timelines",
                                           .needs = NAI_PART(NAMES),
                                           .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(GPUS),
                                           .begin = begin_gpus,
                                           .tasks = gpu_count,
                                           .task = build_gpu,
                                           .free = free_gpus,
                                           .bytes = gpus_bytes};
