/* A GPU's timeline: its operations in order and the unions of what it was busy with. */
#include "derive/model.h"

#include <stdlib.h>

void nai_gpu_free(struct nai_gpu *gpu) {
  free(gpu->ops);
  free(gpu->opener);
  struct nai_intervals *sets[] = {&gpu->compute, &gpu->communication, &gpu->copy, &gpu->all, &gpu->exposed_communication,
                                  &gpu->exposed_copy};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    nai_intervals_free(sets[i]);
  nai_keyset_free(&gpu->processes);
}

static int32_t stream_of(const struct nai_model *m, const struct nai_op *op) {
  return op->type == NAI_OP_KERNEL  ? m->kernels.stream[op->row]
         : op->type == NAI_OP_GRAPH ? m->graphs.stream[op->row]
                                    : m->memops.stream[op->row];
}

static int compare_ops(const void *pa, const void *pb, void *model) {
  const struct nai_op *a = pa, *b = pb;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  if (a->type != b->type)
    return a->type < b->type ? -1 : 1;
  int32_t stream_a = stream_of(model, a), stream_b = stream_of(model, b);
  if (stream_a != stream_b)
    return stream_a < stream_b ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

/* --- rows by GPU ------------------------------------------------------------------------------------------------- */

/* A table of the trace as far as it concerns GPUs. */
struct source {
  struct nai_groups *rows;
  uint32_t n;
  const int32_t *device;
};

static int collect(const struct source *source, const struct nai_model *m, struct nai_err *err) {
  int32_t *gpu = malloc(((size_t)source->n + 1) * sizeof *gpu);
  if (!gpu)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < source->n; i++) {
    if (i && source->device[i] == source->device[i - 1]) {
      gpu[i] = gpu[i - 1];
      continue;
    }
    uint32_t index = nai_model_gpu_index(m, source->device[i]);
    gpu[i] = index < m->gpu_count ? (int32_t)index : -1;
  }
  int rc = nai_groups_collect(source->rows, source->n, gpu, m->gpu_count, m->scratch_dir, err);
  free(gpu);
  return rc;
}

int nai_gpu_rows_collect(struct nai_gpu_rows *out, const struct nai_model *m, struct nai_err *err) {
  const struct source sources[] = {{&out->kernels, m->kernels.n, m->kernels.device},
                                   {&out->memops, m->memops.n, m->memops.device},
                                   {&out->graphs, m->graphs.n, m->graphs.device}};
  int rc = NAI_OK;
  for (size_t i = 0; !rc && i < sizeof sources / sizeof *sources; i++)
    rc = collect(&sources[i], m, err);
  return rc;
}

void nai_gpu_rows_free(struct nai_gpu_rows *rows) {
  nai_groups_free(&rows->kernels);
  nai_groups_free(&rows->memops);
  nai_groups_free(&rows->graphs);
}

/* --- operations in order ------------------------------------------------------------------------------------------- */

/* Operations by start, from one table. */
struct run {
  struct nai_op *v;
  uint32_t n;
};

/* Brings operations that start at the same time into the order of compare_ops. */
static void settle_ties(const struct run *run, const struct nai_model *m) {
  for (uint32_t i = 0, j; i < run->n; i = j) {
    for (j = i + 1; j < run->n && run->v[j].start == run->v[i].start; j++)
      ;
    if (j - i > 1)
      qsort_r(run->v + i, j - i, sizeof *run->v, compare_ops, (void *)m);
  }
}

/* Sorts the GPU's rows of one table and writes them as operations to run->v. */
static int fill_run(struct run *run, const struct nai_groups *rows, uint32_t index, enum nai_op_type type,
                    const struct nai_model *m, struct nai_err *err) {
  const struct nai_kernel_view *k = &m->kernels;
  struct nai_row_order by = type == NAI_OP_KERNEL  ? (struct nai_row_order){k->start, k->end, NULL, NULL}
                            : type == NAI_OP_GRAPH ? (struct nai_row_order){m->graphs.start, m->graphs.end, NULL, NULL}
                                                   : (struct nai_row_order){m->memops.start, m->memops.end, NULL, NULL};
  uint32_t *order = rows->order + rows->first[index], n = rows->first[index + 1] - rows->first[index];
  int rc = nai_rows_sort(order, n, &by, m->scratch_dir, err);
  for (uint32_t i = 0; !rc && i < n; i++) {
    struct nai_op op = {by.start[order[i]], by.end[order[i]], order[i], (uint8_t)type, false};
    if (type == NAI_OP_KERNEL)
      op.communication = m->kernel_communication[k->name[op.row]];
    if (type == NAI_OP_COPY && m->memops.kind[op.row] == NAI_MEMOP_SET)
      op.type = NAI_OP_SET;
    run->v[run->n++] = op;
  }
  settle_ties(run, m);
  return rc;
}

static bool precedes(const struct run *a, const struct run *b, const struct nai_model *m) {
  return a->n && (!b->n || compare_ops(a->v, b->v, (void *)m) < 0);
}

/* The next operation of a run, which becomes shorter. */
static struct nai_op take(struct run *run) {
  run->n--;
  return *run->v++;
}

/* Fills gpu->ops. Kernels, mostly nearly all of it, lie at its end while the others are merged in from the front. */
static int merge_ops(struct nai_gpu *gpu, uint32_t index, const struct nai_gpu_rows *rows, const struct nai_model *m,
                     struct nai_err *err) {
  uint32_t kernels = rows->kernels.first[index + 1] - rows->kernels.first[index];
  uint32_t memops = rows->memops.first[index + 1] - rows->memops.first[index];
  uint32_t graphs = rows->graphs.first[index + 1] - rows->graphs.first[index], others = memops + graphs;
  if ((uint64_t)kernels + memops + graphs >= NAI_NO_ROW)
    return nai_err_set(err, NAI_ELIMIT, "more than 4,294,967,294 operations on one GPU");
  struct nai_op *scratch = malloc(((size_t)others + 1) * sizeof *scratch);
  gpu->ops = malloc(((size_t)kernels + others + 1) * sizeof *gpu->ops);
  int rc = scratch && gpu->ops ? NAI_OK : nai_err_nomem(err);
  struct run kernel = {rc ? NULL : gpu->ops + others, 0}, memop = {scratch, 0}, graph = {rc ? NULL : scratch + memops, 0};
  if (!rc)
    rc = fill_run(&kernel, &rows->kernels, index, NAI_OP_KERNEL, m, err);
  if (!rc)
    rc = fill_run(&memop, &rows->memops, index, NAI_OP_COPY, m, err);
  if (!rc)
    rc = fill_run(&graph, &rows->graphs, index, NAI_OP_GRAPH, m, err);
  while (!rc && gpu->op_count < kernels + others) {
    struct run *other = precedes(&graph, &memop, m) ? &graph : &memop;
    gpu->ops[gpu->op_count++] = take(precedes(other, &kernel, m) ? other : &kernel);
  }
  free(scratch);
  return rc;
}

/* --- unions -------------------------------------------------------------------------------------------------------- */

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

static int build_unions(struct nai_gpu *gpu, struct nai_err *err) {
  gpu->opener = malloc(((size_t)gpu->op_count + 1) * sizeof *gpu->opener);
  if (!gpu->opener)
    return nai_err_nomem(err);
  struct running_union kernels_only = {0}, graphs_only = {0};
  uint32_t empty_opener = NAI_NO_ROW; /* a zero-length op at the instant a gap ends comes first in order */
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (op->end > gpu->window_end)
      gpu->window_end = op->end;
    if (op->start == op->end) {
      if (empty_opener == NAI_NO_ROW || gpu->ops[empty_opener].start != op->start)
        empty_opener = i;
      continue;
    }
    if (op->type == NAI_OP_KERNEL) {
      if (!kernels_only.any)
        gpu->kernel_window_start = op->start;
      extend(&kernels_only, op->start, op->end);
    }
    if (op->type == NAI_OP_GRAPH)
      extend(&graphs_only, op->start, op->end);
    nai_intervals_add(op->type == NAI_OP_COPY || op->type == NAI_OP_SET ? &gpu->copy
                      : op->communication                              ? &gpu->communication
                                                                       : &gpu->compute,
                      op->start, op->end);
    if (nai_intervals_add(&gpu->all, op->start, op->end))
      gpu->opener[gpu->all.count - 1] =
          empty_opener != NAI_NO_ROW && gpu->ops[empty_opener].start == op->start ? empty_opener : i;
  }
  gpu->kernel_window_end = kernels_only.any ? kernels_only.end : 0;
  gpu->kernel_busy_ns = union_total(&kernels_only);
  gpu->graph_ns = union_total(&graphs_only);
  struct nai_intervals kernels = {0};
  nai_intervals_subtract(&gpu->exposed_communication, &gpu->communication, &gpu->compute);
  nai_intervals_union(&kernels, &gpu->compute, &gpu->communication);
  nai_intervals_subtract(&gpu->exposed_copy, &gpu->copy, &kernels);
  bool oom = gpu->all.oom || gpu->exposed_communication.oom || gpu->exposed_copy.oom;
  nai_intervals_free(&kernels);
  nai_intervals_trim(&gpu->all);
  nai_intervals_trim(&gpu->compute);
  return oom ? nai_err_nomem(err) : NAI_OK;
}

static int list_processes(struct nai_gpu *gpu, const struct nai_model *m, struct nai_err *err) {
  bool added;
  for (uint32_t i = 0; i < gpu->op_count; i++)
    nai_keyset_add(&gpu->processes, nai_model_op_process(m, &gpu->ops[i]), &added);
  return gpu->processes.oom ? nai_err_nomem(err) : NAI_OK;
}

int nai_gpu_build(struct nai_model *m, uint32_t index, const struct nai_gpu_rows *rows, struct nai_err *err) {
  struct nai_gpu *gpu = &m->gpus[index];
  int rc = merge_ops(gpu, index, rows, m, err);
  if (!rc)
    rc = list_processes(gpu, m, err);
  if (rc)
    return rc;
  gpu->window_start = gpu->window_end = gpu->op_count ? gpu->ops[0].start : 0;
  return build_unions(gpu, err);
}
