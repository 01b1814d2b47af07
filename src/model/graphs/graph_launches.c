/* Operations of CUDA graphs, put together by the call that launched them. */
#include "model/graphs/graph_launches.h"

#include "model/idle/idle.h"

void nai_graph_launches_free(struct nai_graph_launches *launches) { nai_arena_free(&launches->arena); }

/* The graph of an operation, NAI_NULL_I32 for none. */
static int32_t graph_of(const struct nai_model *m, const struct nai_op *op) {
  return nai_at_i32(NAI_OP_COLUMN(m, op, graph_id), op->row);
}

/* --- putting together ------------------------------------------------------------------------------ */

/* Launches of one GPU by what their operations share: process and correlation id. */
struct gather {
  const struct nai_model *m;
  uint32_t gpu;
  struct nai_graph_launches *out;
  struct nai_keyset correlations, keys;
  uint32_t *launch_of_key, capacity; /* index in out->v */
  struct nai_arena *arena;
};

static int add_launch(struct nai_graph_launch **launch, struct gather *g, const struct nai_op *op,
                      struct nai_err *err) {
  struct nai_graph_launches *out = g->out;
  NAI_TRY(NAI_ROOM(out->v, out->capacity, out->count, &out->arena, err));
  *launch = &out->v[out->count++];
  **launch = (struct nai_graph_launch){.gpu = g->gpu,
                                       .api = nai_model_op_api(g->m, op),
                                       .process = nai_model_op_process(g->m, op),
                                       .graph = graph_of(g->m, op),
                                       .exec = nai_at_i32(NAI_OP_COLUMN(g->m, op, graph_exec_id), op->row),
                                       .by_node = op->type != NAI_OP_GRAPH,
                                       .start = op->start,
                                       .end = op->end};
  return NAI_OK;
}

static int launch_of(struct nai_graph_launch **launch, struct gather *g, const struct nai_op *op, struct nai_err *err) {
  bool added = false;
  int64_t correlation = nai_at(NAI_OP_COLUMN(g->m, op, correlation_id), op->row);
  if (op->type == NAI_OP_GRAPH || correlation <= 0) /* an envelope is a launch; without an id each node is one */
    return add_launch(launch, g, op, err);
  uint32_t id = nai_keyset_add(&g->correlations, correlation, &added);
  uint32_t key = nai_keyset_add(&g->keys, nai_key_pair(nai_model_op_process(g->m, op), id), &added);
  NAI_TRY(nai_memory_check(!g->correlations.oom && !g->keys.oom, err));
  NAI_TRY(NAI_ROOM(g->launch_of_key, g->capacity, key, g->arena, err));
  if (added) {
    g->launch_of_key[key] = g->out->count;
    return add_launch(launch, g, op, err);
  }
  *launch = &g->out->v[g->launch_of_key[key]];
  return NAI_OK;
}

static void add_node(struct nai_graph_launch *launch, const struct nai_op *op) {
  launch->end = op->end > launch->end ? op->end : launch->end;
  launch->nodes += launch->by_node;
  launch->kernels += op->type == NAI_OP_KERNEL;
  launch->kernel_ns += op->type == NAI_OP_KERNEL ? op->end - op->start : 0;
}

/* --- idle time ------------------------------------------------------------------------------------- */

static int find_idle_inside(struct nai_graph_launch *v, uint32_t n, const struct nai_gpu *gpu, struct nai_arena *arena,
                            struct nai_err *err) {
  struct nai_coverage busy;
  NAI_TRY(nai_coverage_in(&busy, &gpu->all, arena, err));
  for (uint32_t i = 0; i < n; i++)
    if (v[i].by_node)
      v[i].idle_inside_ns = v[i].end - v[i].start - nai_coverage_overlap_ns(&busy, v[i].start, v[i].end);
  return NAI_OK;
}

/* Launches and gaps are both in order: a gap that a launch ends has its start as its end, and its call. */
static int find_idle_before(struct nai_graph_launch *v, uint32_t n, const struct nai_model *m, uint32_t gpu,
                            struct nai_err *err) {
  uint32_t i = 0;
  for (struct nai_idle_gap gap = nai_idle_first(gpu); nai_idle_next(&gap, m);) {
    while (i < n && v[i].start < gap.end)
      i++;
    uint32_t at = i;
    while (at < n && v[at].start == gap.end && v[at].api != gap.launch)
      at++;
    if (at >= n || v[at].start != gap.end || gap.launch == NAI_NO_ROW)
      continue;
    struct nai_idle_split split;
    NAI_TRY(nai_idle_split_again(&split, NULL, NULL, m, &gap, err));
    v[at].idle_before_ns = split.ns[NAI_IDLE_IN_LAUNCH_CALL] + split.ns[NAI_IDLE_LAUNCH_LATENCY];
  }
  return NAI_OK;
}

static int find_of_gpu(struct nai_graph_launches *out, const struct nai_model *m, uint32_t gpu, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct gather g = {
      .m = m, .gpu = gpu, .out = out, .correlations.arena = &arena, .keys.arena = &arena, .arena = &arena};
  const struct nai_gpu *of = &m->gpus[gpu];
  uint32_t first = out->count;
  for (uint32_t i = 0; i < of->op_count; i++) {
    const struct nai_op *op = &of->ops[i];
    struct nai_graph_launch *launch;
    if (op->type != NAI_OP_GRAPH && graph_of(m, op) == NAI_NULL_I32)
      continue;
    NAI_TRY(launch_of(&launch, &g, op, err));
    add_node(launch, op);
  }
  if (out->count == first)
    return NAI_OK;
  NAI_TRY(find_idle_inside(out->v + first, out->count - first, of, &arena, err));
  return find_idle_before(out->v + first, out->count - first, m, gpu, err);
}

int nai_graph_launches_find(struct nai_graph_launches *out, const struct nai_model *m, struct nai_err *err) {
  *out = (struct nai_graph_launches){.arena = NAI_ARENA(m->scratch_dir)};
  for (uint32_t gpu = 0; gpu < m->gpu_count; gpu++)
    NAI_TRY(find_of_gpu(out, m, gpu, err));
  return NAI_OK;
}
