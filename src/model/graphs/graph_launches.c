/* Operations of CUDA graphs, put together by the call that launched them. */
#include "model/graphs/graph_launches.h"

#include "base/array.h"
#include "model/idle/idle.h"
#include "tables/graph_events.h"
#include "tables/kernel_events.h"
#include "tables/memop_events.h"

#include <stdlib.h>

/* The graph of an operation, NAI_NULL_I32 for none. */
static int32_t graph_of(const struct nai_model *m, const struct nai_op *op) {
  switch (op->type) {
  case NAI_OP_GRAPH:
    return nai_at_i32(&m->graphs.graph_id, op->row);
  case NAI_OP_KERNEL:
    return nai_at_i32(&m->kernels.graph_id, op->row);
  default: {
    const struct nai_column graph = nai_table_column(m->tables[NAI_IN_MEMOPS], MEMOP_EVENTS_graph_id);
    return nai_at_i32(&graph, op->row);
  }
  }
}

static int32_t exec_of(const struct nai_model *m, const struct nai_op *op) {
  static const int columns[] = {KERNEL_EVENTS_graph_exec_id, MEMOP_EVENTS_graph_exec_id, MEMOP_EVENTS_graph_exec_id,
                                GRAPH_EVENTS_graph_exec_id};
  static const enum nai_input_table tables[] = {NAI_IN_KERNELS, NAI_IN_MEMOPS, NAI_IN_MEMOPS, NAI_IN_GRAPHS};
  const struct nai_column exec = nai_table_column(m->tables[tables[op->type]], columns[op->type]);
  return nai_at_i32(&exec, op->row);
}

static int64_t correlation_of(const struct nai_model *m, const struct nai_op *op) {
  return nai_at(op->type == NAI_OP_GRAPH    ? &m->graphs.correlation_id
                : op->type == NAI_OP_KERNEL ? &m->kernels.correlation_id
                                            : &m->memops.correlation_id,
                op->row);
}

/* --- putting together ------------------------------------------------------------------------------ */

/* Launches of one GPU by what their operations share: process and correlation id. */
struct gather {
  const struct nai_model *m;
  struct nai_graph_launches *out;
  struct nai_keyset correlations, keys;
  uint32_t *launch_of_key, capacity; /* index in out->v */
};

static struct nai_graph_launch *add_launch(struct gather *g, const struct nai_op *op, uint32_t gpu) {
  struct nai_graph_launches *out = g->out;
  if (!nai_array_room(&out->v, &out->capacity, out->count, sizeof *out->v))
    return NULL;
  struct nai_graph_launch *launch = &out->v[out->count++];
  *launch = (struct nai_graph_launch){.gpu = gpu,
                                      .api = nai_model_op_api(g->m, op),
                                      .process = nai_model_op_process(g->m, op),
                                      .graph = graph_of(g->m, op),
                                      .exec = exec_of(g->m, op),
                                      .by_node = op->type != NAI_OP_GRAPH,
                                      .start = nai_model_op_start(g->m, op),
                                      .end = nai_model_op_end(g->m, op)};
  return launch;
}

static struct nai_graph_launch *launch_of(struct gather *g, const struct nai_op *op, uint32_t gpu) {
  bool added = false;
  int64_t correlation = correlation_of(g->m, op);
  if (op->type == NAI_OP_GRAPH || correlation <= 0) /* an envelope is a launch; without an id each node is one */
    return add_launch(g, op, gpu);
  uint32_t id = nai_keyset_add(&g->correlations, correlation, &added);
  uint32_t key = nai_keyset_add(&g->keys, nai_key_pair(nai_model_op_process(g->m, op), id), &added);
  if (g->correlations.oom || g->keys.oom ||
      (added && !nai_array_room(&g->launch_of_key, &g->capacity, key, sizeof *g->launch_of_key)))
    return NULL;
  if (!added)
    return &g->out->v[g->launch_of_key[key]];
  g->launch_of_key[key] = g->out->count;
  return add_launch(g, op, gpu);
}

static void add_node(struct nai_graph_launch *launch, const struct nai_model *m, const struct nai_op *op) {
  int64_t start = nai_model_op_start(m, op), end = nai_model_op_end(m, op);
  launch->end = end > launch->end ? end : launch->end;
  launch->nodes += launch->by_node;
  launch->kernels += op->type == NAI_OP_KERNEL;
  launch->kernel_ns += op->type == NAI_OP_KERNEL ? end - start : 0;
}

/* --- idle time ------------------------------------------------------------------------------------- */

static int find_idle_inside(struct nai_graph_launch *v, uint32_t n, const struct nai_gpu *gpu, struct nai_err *err) {
  struct nai_coverage busy = {0};
  int rc = nai_coverage_new(&busy, &gpu->all, err);
  for (uint32_t i = 0; !rc && i < n; i++)
    if (v[i].by_node)
      v[i].idle_inside_ns = v[i].end - v[i].start - nai_coverage_overlap_ns(&busy, v[i].start, v[i].end);
  nai_coverage_free(&busy);
  return rc;
}

/* Launches and gaps are both in order: a gap that a launch ends has its start as its end, and its call. */
static int find_idle_before(struct nai_graph_launch *v, uint32_t n, const struct nai_model *m, uint32_t gpu,
                            struct nai_err *err) {
  uint32_t i = 0;
  int rc = NAI_OK;
  for (struct nai_idle_gap gap = nai_idle_first(gpu); !rc && nai_idle_next(&gap, m);) {
    while (i < n && v[i].start < gap.end)
      i++;
    uint32_t at = i;
    while (at < n && v[at].start == gap.end && v[at].api != gap.launch)
      at++;
    if (at >= n || v[at].start != gap.end || gap.launch == NAI_NO_ROW)
      continue;
    struct nai_idle_split split;
    rc = nai_idle_split_again(&split, NULL, NULL, m, &gap, err);
    if (!rc)
      v[at].idle_before_ns = split.ns[NAI_IDLE_IN_LAUNCH_CALL] + split.ns[NAI_IDLE_LAUNCH_LATENCY];
  }
  return rc;
}

static int find_of_gpu(struct nai_graph_launches *out, const struct nai_model *m, uint32_t gpu, struct nai_err *err) {
  struct gather g = {.m = m, .out = out};
  const struct nai_gpu *of = &m->gpus[gpu];
  uint32_t first = out->count;
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < of->op_count; i++) {
    const struct nai_op *op = &of->ops[i];
    if (op->type != NAI_OP_GRAPH && graph_of(m, op) == NAI_NULL_I32)
      continue;
    struct nai_graph_launch *launch = launch_of(&g, op, gpu);
    if (launch)
      add_node(launch, m, op);
    else
      rc = nai_err_nomem(err);
  }
  nai_keyset_free(&g.correlations);
  nai_keyset_free(&g.keys);
  free(g.launch_of_key);
  if (!rc && out->count > first)
    rc = find_idle_inside(out->v + first, out->count - first, of, err);
  if (!rc && out->count > first)
    rc = find_idle_before(out->v + first, out->count - first, m, gpu, err);
  return rc;
}

int nai_graph_launches_find(struct nai_graph_launches *out, const struct nai_model *m, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t gpu = 0; !rc && gpu < m->gpu_count; gpu++)
    rc = find_of_gpu(out, m, gpu, err);
  return rc;
}

void nai_graph_launches_free(struct nai_graph_launches *launches) {
  free(launches->v);
  *launches = (struct nai_graph_launches){0};
}
