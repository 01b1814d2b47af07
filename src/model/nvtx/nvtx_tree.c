/* NVTX ranges by thread, and the tree of all threads. */
#include "model/build.h"
#include "model/nvtx/nvtx_open.h"

static int group_ranges(struct nai_model *m, struct nai_err *err) {
  struct nai_column thread = m->nvtx.thread;
  if (!nai_column_within(&m->nvtx.kind, m->nvtx.n, NAI_NVTX_PUSH_POP,
                         NAI_NVTX_START_END)) { /* marks, which take no part in nesting or attribution */
    int32_t *group;
    NAI_TRY(NAI_NEW(group, &m->work->arenas[NAI_PART_RANGES], m->nvtx.n, err));
    for (uint32_t i = 0; i < m->nvtx.n; i++)
      group[i] = nai_val_i32(&m->nvtx.kind, i) == NAI_NVTX_MARK ? -1 : nai_val_i32(&m->nvtx.thread, i);
    thread = nai_column_of_i32(group);
  }
  const struct nai_row_order by = {m->nvtx.start_ns, m->nvtx.end_ns, m->nvtx.name, &m->tables[NAI_IN_NVTX]->strings};
  return nai_groups_build(&m->nvtx_by_thread, m->nvtx.n, &thread, m->thread_count, &by, &m->arena, err);
}

static int64_t ranges_bytes(const struct nai_model *m) { return (int64_t)m->nvtx.n * 2; }

const struct nai_part_def nai_part_ranges = {
    .name = "ranges", .tables = NAI_IN(NVTX) | NAI_IN(THREADS), .begin = group_ranges, .bytes = ranges_bytes};

/* --- the tree --------------------------------------------------------------------------------- */

static int begin_tree(struct nai_model *m, struct nai_err *err) {
  NAI_TRY(NAI_NEW(m->first_node, &m->arena, (size_t)m->thread_count + 1, err));
  NAI_TRY(NAI_NEW(m->crossing, &m->arena, m->thread_count, err));
  NAI_TRY(NAI_NEW(m->checkpoints, &m->arena, m->thread_count, err));
  NAI_TRY(NAI_NEW(m->nvtx_depth, &m->arena, m->nvtx.n, err));
  NAI_TRY(NAI_NEW(m->api_node, &m->arena, m->apis.n, err));
  return NAI_NEW(m->work->nodes, &m->work->arenas[NAI_PART_NVTX_TREE], m->thread_count, err);
}

static int nest_thread(void *ctx, int thread, struct nai_err *err) {
  struct nai_model *m = ctx;
  return nai_nvtx_nest(&m->work->nodes[thread], m, (uint32_t)thread, err);
}

/* Goes from one node to another; open[name]: nodes of that name from the root to where it is. Children come after
 * parents, so that the later node is left first; NAI_NO_ROW, the root, comes before all. All of it takes no longer than
 * the sweep, which went the same way from range to range. */
static void go(uint32_t *open, const struct nai_nvtx_node *nodes, uint32_t from, uint32_t to) {
  while (from != to) {
    if (from + 1 > to + 1) {
      open[nodes[from].name]--;
      from = nodes[from].parent;
    } else {
      open[nodes[to].name]++;
      to = nodes[to].parent;
    }
  }
}

/* nodes, first_node, api_node: the threads' parts one after the other. */
static int collect_nodes(struct nai_model *m, struct nai_err *err) {
  const struct nai_thread_nodes *parts = m->work->nodes;
  uint64_t total = 0;
  uint32_t *open, at = NAI_NO_ROW;
  for (uint32_t t = 0; t < m->thread_count; t++)
    total += parts[t].count;
  if (total >= NAI_NO_ROW)
    return nai_err_set(err, NAI_ELIMIT, "more than 4,294,967,294 distinct NVTX call paths");
  NAI_TRY(NAI_NEW(m->nodes, &m->arena, total, err));
  NAI_TRY(NAI_NEW(open, &m->work->arenas[NAI_PART_NVTX_TREE], m->tables[NAI_IN_NVTX]->strings.count, err));
  for (uint32_t t = 0; t < m->thread_count; t++) {
    m->first_node[t] = m->node_count;
    for (uint32_t i = 0; i < parts[t].count; i++) {
      struct nai_nvtx_node *node = &m->nodes[m->node_count + i];
      *node = parts[t].v[i];
      if (node->parent != NAI_NO_ROW) {
        node->parent += m->first_node[t];
        node->depth = m->nodes[node->parent].depth + 1;
      }
      if (!node->start_end) {
        go(open, m->nodes, at, node->parent);
        at = node->parent;
      }
      node->outermost = node->start_end || !open[node->name];
    }
    for (uint32_t c = m->api_by_thread.first[t]; c < m->api_by_thread.first[t + 1]; c++) {
      uint32_t *node = &m->api_node[m->api_by_thread.order[c]];
      *node += *node == NAI_NO_ROW ? 0 : m->node_count;
    }
    m->node_count += parts[t].count;
    m->first_node[t + 1] = m->node_count;
  }
  return NAI_OK;
}

static int end_tree(struct nai_model *m, struct nai_err *err) {
  NAI_TRY(collect_nodes(m, err));
  nai_part_forget(m, NAI_PART_NVTX_TREE);
  return m->map_nvtx ? nai_nvtx_attribute(m, err) : NAI_OK;
}

static int64_t tree_bytes(const struct nai_model *m) {
  enum { PER_NAME = 500, PER_THREAD = 1200 }; /* when every range has a name of its own; nodes and checkpoints */
  int64_t threads = m->thread_count < m->nvtx.n ? m->thread_count : m->nvtx.n;
  return (int64_t)m->tables[NAI_IN_NVTX]->strings.count * PER_NAME + threads * PER_THREAD;
}

const struct nai_part_def nai_part_nvtx_tree = {.name = "NVTX tree",
                                                .needs = NAI_PART(RANGES) | NAI_PART(CALLS) | NAI_PART(LAUNCHES),
                                                .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS),
                                                .config = NAI_CONFIG(MAP_NVTX),
                                                .begin = begin_tree,
                                                .tasks = nai_each_thread,
                                                .task = nest_thread,
                                                .end = end_tree,
                                                .bytes = tree_bytes};
