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

/* Operations that came from one table of the export, which holds them nearly in order. */
struct run {
  struct nai_op *v;
  uint32_t count;
};

enum { RUN_KERNELS, RUN_COPIES, RUN_SETS, RUN_GRAPHS, RUNS };

static uint32_t count_on(const int32_t *device, uint32_t n, int32_t device_id) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    count += device[i] == device_id;
  return count;
}

static int collect(struct run runs[RUNS], const struct nai_gpu *gpu, const struct nai_model *m, struct nai_err *err) {
  const struct nai_kernel_view *k = &m->kernels;
  const struct nai_memop_view *c = &m->memops;
  const struct nai_graph_view *g = &m->graphs;
  const struct {
    const int32_t *device;
    uint32_t n;
  } tables[RUNS] = {{k->device, k->n}, {c->device, c->n}, {c->device, c->n}, {g->device, g->n}};
  for (int r = 0; r < RUNS; r++) {
    runs[r].v = malloc(((size_t)count_on(tables[r].device, tables[r].n, gpu->device_id) + 1) * sizeof *runs[r].v);
    if (!runs[r].v)
      return nai_err_nomem(err);
  }
  for (uint32_t i = 0; i < k->n; i++)
    if (k->device[i] == gpu->device_id)
      runs[RUN_KERNELS].v[runs[RUN_KERNELS].count++] =
          (struct nai_op){k->start[i], k->end[i], i, NAI_OP_KERNEL, m->kernel_communication[k->name[i]]};
  for (uint32_t i = 0; i < c->n; i++)
    if (c->device[i] == gpu->device_id) {
      bool is_set = c->kind[i] == NAI_MEMOP_SET;
      struct run *run = &runs[is_set ? RUN_SETS : RUN_COPIES];
      run->v[run->count++] = (struct nai_op){c->start[i], c->end[i], i, is_set ? NAI_OP_SET : NAI_OP_COPY, false};
    }
  for (uint32_t i = 0; i < g->n; i++)
    if (g->device[i] == gpu->device_id)
      runs[RUN_GRAPHS].v[runs[RUN_GRAPHS].count++] = (struct nai_op){g->start[i], g->end[i], i, NAI_OP_GRAPH, false};
  return NAI_OK;
}

/* Rows of a trace are nearly in start order: an insertion sort that gives up after as many moves as there are rows is
 * mostly enough. */
static void sort_run(struct run *run, const struct nai_model *m) {
  uint32_t moves = 0;
  for (uint32_t i = 1; i < run->count; i++) {
    struct nai_op op = run->v[i];
    uint32_t j = i;
    if (run->v[i - 1].start < op.start)
      continue;
    for (; j > 0 && compare_ops(&run->v[j - 1], &op, (void *)m) > 0; j--)
      run->v[j] = run->v[j - 1];
    run->v[j] = op;
    moves += i - j;
    if (moves > run->count) {
      qsort_r(run->v, run->count, sizeof *run->v, compare_ops, (void *)m);
      return;
    }
  }
}

static int merge_runs(struct nai_gpu *gpu, const struct run runs[RUNS], const struct nai_model *m, struct nai_err *err) {
  uint32_t at[RUNS] = {0}, total = 0;
  for (int r = 0; r < RUNS; r++)
    total += runs[r].count;
  gpu->ops = malloc(((size_t)total + 1) * sizeof *gpu->ops);
  if (!gpu->ops)
    return nai_err_nomem(err);
  while (gpu->op_count < total) {
    int best = -1;
    for (int r = 0; r < RUNS; r++) {
      if (at[r] == runs[r].count)
        continue;
      const struct nai_op *op = &runs[r].v[at[r]], *least = best < 0 ? NULL : &runs[best].v[at[best]];
      if (!least || op->start < least->start || (op->start == least->start && compare_ops(op, least, (void *)m) < 0))
        best = r;
    }
    gpu->ops[gpu->op_count++] = runs[best].v[at[best]++];
  }
  return NAI_OK;
}

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

int nai_gpu_build(struct nai_model *m, uint32_t index, struct nai_err *err) {
  struct nai_gpu *gpu = &m->gpus[index];
  struct run runs[RUNS] = {0};
  int rc = collect(runs, gpu, m, err);
  for (int r = 0; !rc && r < RUNS; r++)
    sort_run(&runs[r], m);
  if (!rc)
    rc = merge_runs(gpu, runs, m, err);
  for (int r = 0; r < RUNS; r++)
    free(runs[r].v);
  if (rc)
    return rc;
  gpu->window_start = gpu->window_end = gpu->op_count ? gpu->ops[0].start : 0;
  return build_unions(gpu, err);
}
