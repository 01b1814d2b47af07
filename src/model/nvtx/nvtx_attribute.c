/* Which NVTX ranges the work of GPUs belongs to: those around the API calls that launched it. */
#include "model/build.h"

/* What calls launched: of one call, of ranges, or of all of the thread's calls before one in start order. */
struct launched {
  int64_t kernel_ns, kernel_count, graph_ns, copy_ns;
};

static void add_launched(struct launched *sum, const struct launched *more, int sign) {
  sum->kernel_ns += sign * more->kernel_ns;
  sum->kernel_count += sign * more->kernel_count;
  sum->graph_ns += sign * more->graph_ns;
  sum->copy_ns += sign * more->copy_ns;
}

static void add_inclusive(struct nai_nvtx_node *node, const struct launched *more) {
  node->inclusive_kernel_ns += more->kernel_ns;
  node->inclusive_kernel_count += more->kernel_count;
  node->inclusive_graph_ns += more->graph_ns;
  node->inclusive_copy_ns += more->copy_ns;
}

static struct nai_nvtx_node *node_of(struct nai_model *m, uint32_t api) {
  return api == NAI_NO_ROW ? NULL : nai_model_call_node(m, api);
}

static void attribute_work(struct nai_model *m) {
  struct nai_nvtx_node *node;
  for (uint32_t k = 0; k < m->kernels.n; k++)
    if ((node = node_of(m, m->kernel_api[k]))) {
      node->kernel_ns += nai_kernel_ns(m, k);
      node->kernel_count++;
    }
  for (uint32_t g = 0; g < m->graphs.n; g++)
    if ((node = node_of(m, m->graph_api[g])))
      node->graph_ns += nai_graph_ns(m, g);
  for (uint32_t i = 0; i < m->memops.n; i++)
    if ((node = node_of(m, m->memop_api[i])))
      node->copy_ns += nai_memop_ns(m, i);
  for (uint32_t i = m->node_count; i-- > 0;) { /* children come after parents */
    node = &m->nodes[i];
    add_inclusive(node, &(struct launched){node->kernel_ns, node->kernel_count, node->graph_ns, node->copy_ns});
    if (node->parent != NAI_NO_ROW)
      add_inclusive(&m->nodes[node->parent], &(struct launched){node->inclusive_kernel_ns, node->inclusive_kernel_count,
                                                                node->inclusive_graph_ns, node->inclusive_copy_ns});
  }
}

/* --- start/end ranges ------------------------------------------------------------------------- */

/* Sums up to each call, and to the end. */
static int sum_launched(struct launched **out, const struct nai_model *m, const struct launched *of_call,
                        uint32_t thread, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_groups *calls = &m->api_by_thread;
  uint32_t first = calls->first[thread], n = calls->first[thread + 1] - first;
  NAI_TRY(NAI_NEW(*out, arena, (size_t)n + 1, err));
  struct launched *sums = *out;
  for (uint32_t i = 0; i < n; i++) {
    sums[i + 1] = sums[i];
    add_launched(&sums[i + 1], &of_call[calls->order[first + i]], 1);
  }
  return NAI_OK;
}

/* Calls of the thread that start before t. */
static uint32_t calls_before(const struct nai_model *m, uint32_t thread, int64_t t) {
  const struct nai_groups *g = &m->api_by_thread;
  return nai_rows_from(g->order, g->first[thread], g->first[thread + 1], &m->apis.start_ns, t) - g->first[thread];
}

/* When a name was open on the thread, by kind of range. */
struct open_times {
  struct nai_intervals start_end, push_pop;
};

/* Fills times[node] of the thread's start/end nodes. node_of_name: scratch, NAI_NO_ROW between uses. */
static int find_open_times(struct open_times *times, uint32_t *node_of_name, const struct nai_model *m, uint32_t thread,
                           struct nai_arena *arena, struct nai_err *err) {
  const struct nai_groups *g = &m->nvtx_by_thread;
  const struct nai_nvtx_node *nodes = m->nodes + m->first_node[thread];
  uint32_t count = m->first_node[thread + 1] - m->first_node[thread];
  bool oom = false;
  for (uint32_t i = 0; i < count; i++)
    if (nodes[i].start_end) {
      node_of_name[nodes[i].name] = i;
      times[i].start_end.arena = times[i].push_pop.arena = arena;
    }
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++) {
    uint32_t range = g->order[i], node = node_of_name[nai_val_text(&m->nvtx.name, range)];
    if (node == NAI_NO_ROW)
      continue;
    struct nai_intervals *set =
        nai_val_i32(&m->nvtx.kind, range) == NAI_NVTX_PUSH_POP ? &times[node].push_pop : &times[node].start_end;
    nai_intervals_add(set, nai_val(&m->nvtx.start_ns, range), nai_val(&m->nvtx.end_ns, range));
    oom |= set->oom;
  }
  for (uint32_t i = 0; i < count; i++)
    if (nodes[i].start_end)
      node_of_name[nodes[i].name] = NAI_NO_ROW;
  return oom ? nai_err_nomem(err) : NAI_OK;
}

/* A start/end range covers every kernel launched on its thread while any instance of its name was open, each once: what
 * push/pop ranges of other names inside it are charged with counts as well, what those of its own name are does not. */
static int attribute_start_end(struct nai_model *m, uint32_t thread, const struct launched *of_call,
                               uint32_t *node_of_name, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_nvtx_node *nodes = m->nodes + m->first_node[thread];
  uint32_t count = m->first_node[thread + 1] - m->first_node[thread];
  struct launched *sums;
  struct open_times *times;
  NAI_TRY(sum_launched(&sums, m, of_call, thread, &arena, err));
  NAI_TRY(NAI_NEW(times, &arena, count, err));
  NAI_TRY(find_open_times(times, node_of_name, m, thread, &arena, err));
  for (uint32_t i = 0; i < count; i++) {
    if (!nodes[i].start_end)
      continue;
    NAI_SCOPED(nai_intervals) own = {0};
    nai_intervals_subtract(&own, &times[i].start_end, &times[i].push_pop);
    NAI_TRY(nai_memory_check(!own.oom, err));
    struct launched all = {0};
    for (size_t k = 0; k < own.count; k++) {
      add_launched(&all, &sums[calls_before(m, thread, own.v[k].end)], 1);
      add_launched(&all, &sums[calls_before(m, thread, own.v[k].start)], -1);
    }
    nodes[i].inclusive_kernel_ns = nodes[i].inclusive_kernel_count = 0;
    nodes[i].inclusive_graph_ns = nodes[i].inclusive_copy_ns = 0;
    add_inclusive(&nodes[i], &all);
  }
  return NAI_OK;
}

static void sum_by_call(struct launched *of_call, const struct nai_model *m) {
  for (uint32_t k = 0; k < m->kernels.n; k++)
    if (m->kernel_api[k] != NAI_NO_ROW) {
      of_call[m->kernel_api[k]].kernel_ns += nai_kernel_ns(m, k);
      of_call[m->kernel_api[k]].kernel_count++;
    }
  for (uint32_t g = 0; g < m->graphs.n; g++)
    if (m->graph_api[g] != NAI_NO_ROW)
      of_call[m->graph_api[g]].graph_ns += nai_graph_ns(m, g);
  for (uint32_t i = 0; i < m->memops.n; i++)
    if (m->memop_api[i] != NAI_NO_ROW)
      of_call[m->memop_api[i]].copy_ns += nai_memop_ns(m, i);
}

int nai_nvtx_attribute(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *arena = &m->work->arenas[NAI_PART_NVTX_TREE];
  uint32_t names = m->tables[NAI_IN_NVTX]->strings.count, *node_of_name;
  struct launched *of_call;
  bool any = false;
  attribute_work(m);
  for (uint32_t t = 0; t < m->thread_count && !any; t++)
    any = nai_model_has_start_end(m, t);
  if (!any)
    return NAI_OK;
  NAI_TRY(NAI_NEW(of_call, arena, m->apis.n, err));
  NAI_TRY(NAI_NEW(node_of_name, arena, names, err));
  for (uint32_t i = 0; i < names; i++)
    node_of_name[i] = NAI_NO_ROW;
  sum_by_call(of_call, m);
  for (uint32_t t = 0; t < m->thread_count; t++)
    if (nai_model_has_start_end(m, t))
      NAI_TRY(attribute_start_end(m, t, of_call, node_of_name, err));
  return NAI_OK;
}
