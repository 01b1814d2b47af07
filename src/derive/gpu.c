/* A GPU's timeline: its operations in order and the unions of what it was busy with. */
#include "derive/model.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

void nai_gpu_free(struct nai_gpu *gpu) {
  free(gpu->ops);
  free(gpu->opener);
  struct nai_intervals *sets[] = {&gpu->compute, &gpu->communication, &gpu->copy, &gpu->kernels, &gpu->graphs,
                                  &gpu->all, &gpu->exposed_communication, &gpu->exposed_copy};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    nai_intervals_free(sets[i]);
  nai_coverage_free(&gpu->busy);
}

static int compare_ops(const void *pa, const void *pb) {
  const struct nai_op *a = pa, *b = pb;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  if (a->type != b->type)
    return a->type < b->type ? -1 : 1;
  if (a->stream != b->stream)
    return a->stream < b->stream ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static void collect_ops(struct nai_gpu *gpu, const struct nai_model *m) {
  struct nai_op *op = gpu->ops;
  const struct nai_kernel_view *k = &m->kernels;
  for (uint32_t i = 0; i < k->n; i++)
    if (k->device[i] == gpu->device_id)
      *op++ = (struct nai_op){k->start[i], k->end[i], i, NAI_OP_KERNEL, m->kernel_communication[k->name[i]], k->stream[i]};
  const struct nai_memop_view *c = &m->memops;
  for (uint32_t i = 0; i < c->n; i++)
    if (c->device[i] == gpu->device_id)
      *op++ = (struct nai_op){c->start[i], c->end[i], i, c->kind[i] == NAI_MEMOP_SET ? NAI_OP_SET : NAI_OP_COPY, false,
                              c->stream[i]};
  const struct nai_graph_view *g = &m->graphs;
  for (uint32_t i = 0; i < g->n; i++)
    if (g->device[i] == gpu->device_id)
      *op++ = (struct nai_op){g->start[i], g->end[i], i, NAI_OP_GRAPH, false, g->stream[i]};
  gpu->op_count = (uint32_t)(op - gpu->ops);
}

static uint32_t count_on(const int32_t *device, uint32_t n, int32_t device_id) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    count += device[i] == device_id;
  return count;
}

/* Sorts by start with a radix sort, then settles ties. */
static int sort_ops(struct nai_gpu *gpu, struct nai_err *err) {
  uint32_t n = gpu->op_count;
  struct nai_key *keys = malloc(((size_t)n + 1) * sizeof *keys);
  struct nai_op *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
  int rc = keys && sorted ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < n; i++)
    keys[i] = (struct nai_key){nai_key_from_i64(gpu->ops[i].start), i};
  if (!rc)
    rc = nai_sort_keys(keys, n, err);
  if (!rc) {
    for (uint32_t i = 0; i < n; i++)
      sorted[i] = gpu->ops[keys[i].value];
    for (uint32_t i = 0, j; i < n; i = j) {
      for (j = i + 1; j < n && sorted[j].start == sorted[i].start; j++)
        ;
      if (j - i > 1)
        qsort(sorted + i, j - i, sizeof *sorted, compare_ops);
    }
    free(gpu->ops);
    gpu->ops = sorted;
    sorted = NULL;
  }
  free(sorted);
  free(keys);
  return rc;
}

static int build_unions(struct nai_gpu *gpu, struct nai_err *err) {
  gpu->opener = malloc(((size_t)gpu->op_count + 1) * sizeof *gpu->opener);
  if (!gpu->opener)
    return nai_err_nomem(err);
  uint32_t empty_opener = NAI_NO_ROW; /* a zero-length op at the instant a gap ends comes first in order */
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (op->end > gpu->window_end)
      gpu->window_end = op->end;
    if (op->start == op->end) {
      empty_opener = i;
      continue;
    }
    if (op->type == NAI_OP_KERNEL)
      nai_intervals_add(&gpu->kernels, op->start, op->end);
    if (op->type == NAI_OP_GRAPH)
      nai_intervals_add(&gpu->graphs, op->start, op->end);
    nai_intervals_add(op->type == NAI_OP_COPY || op->type == NAI_OP_SET ? &gpu->copy
                      : op->communication                              ? &gpu->communication
                                                                       : &gpu->compute,
                      op->start, op->end);
    if (nai_intervals_add(&gpu->all, op->start, op->end))
      gpu->opener[gpu->all.count - 1] =
          empty_opener != NAI_NO_ROW && gpu->ops[empty_opener].start == op->start ? empty_opener : i;
  }
  struct nai_intervals kernels = {0};
  nai_intervals_subtract(&gpu->exposed_communication, &gpu->communication, &gpu->compute);
  nai_intervals_union(&kernels, &gpu->compute, &gpu->communication);
  nai_intervals_subtract(&gpu->exposed_copy, &gpu->copy, &kernels);
  bool oom = gpu->kernels.oom || gpu->graphs.oom || gpu->all.oom || gpu->exposed_communication.oom || gpu->exposed_copy.oom;
  nai_intervals_free(&kernels);
  return oom ? nai_err_nomem(err) : nai_coverage_new(&gpu->busy, &gpu->all, err);
}

int nai_gpu_build(struct nai_model *m, uint32_t index, struct nai_err *err) {
  struct nai_gpu *gpu = &m->gpus[index];
  uint32_t total = count_on(m->kernels.device, m->kernels.n, gpu->device_id) +
                   count_on(m->memops.device, m->memops.n, gpu->device_id) +
                   count_on(m->graphs.device, m->graphs.n, gpu->device_id);
  gpu->ops = malloc(((size_t)total + 1) * sizeof *gpu->ops);
  if (!gpu->ops)
    return nai_err_nomem(err);
  collect_ops(gpu, m);
  int rc = sort_ops(gpu, err);
  if (rc)
    return rc;
  gpu->window_start = gpu->window_end = gpu->op_count ? gpu->ops[0].start : 0;
  return build_unions(gpu, err);
}
