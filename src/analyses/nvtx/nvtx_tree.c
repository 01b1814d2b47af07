/* How do code ranges nest? Table nvtx_tree: the calling-context tree for flame graphs, its smallest nodes left out. */
#include "analyses/nvtx/nvtx_tree.h"

#include "base/sort.h"
#include "tables/nvtx_tree.h"
#include "tables/threads.h"

enum { MAX_NODES = 4000 };

/* Never grows from parent to child, so whatever is kept has its parents kept. */
static int64_t weight(const struct nai_nvtx_node *node) {
  return node->total_ns > node->inclusive_kernel_ns ? node->total_ns : node->inclusive_kernel_ns;
}

/* *limit = the least weight of the nodes that are kept, *room = how many of exactly that weight are. */
static int find_limit(int64_t *limit, int64_t *room, const struct nai_model *m, struct nai_arena *arena,
                      struct nai_err *err) {
  int64_t *weights;
  *limit = -1;
  *room = MAX_NODES;
  if (m->node_count <= MAX_NODES)
    return NAI_OK;
  NAI_TRY(NAI_NEW(weights, arena, m->node_count, err));
  for (uint32_t i = 0; i < m->node_count; i++)
    weights[i] = weight(&m->nodes[i]);
  nai_select_i64(weights, m->node_count, m->node_count - MAX_NODES);
  *limit = weights[m->node_count - MAX_NODES];
  for (uint32_t i = 0; i < m->node_count; i++)
    *room -= weight(&m->nodes[i]) > *limit;
  return NAI_OK;
}

/* The row of a node, -1 when it is not kept. `kept`: nodes in ascending order, one per row. */
static int64_t row_of(uint32_t node, const int64_t *kept, int64_t rows) {
  size_t at = nai_bisect(kept, (size_t)rows, sizeof *kept, 0, node);
  return at < (size_t)rows && kept[at] == node ? (int64_t)at : -1;
}

static void put_node(struct nai_table *table, const struct nai_model *m, const struct nai_nvtx_node *node,
                     int64_t parent, int64_t projected_ns) {
  struct nai_value thread = nai_table_value(m->tables[NAI_IN_THREADS], node->thread, THREADS_thread_name);
  bool mapped = m->map_nvtx && nai_model_gpu_work(m);
  NAI_ADD(NVTX_TREE, table, .node_id = table->rows, .parent_id = parent,
          .pid = nai_get_i64(m->tables[NAI_IN_THREADS], node->thread, THREADS_pid),
          .tid = nai_get_i64(m->tables[NAI_IN_THREADS], node->thread, THREADS_tid),
          .thread_name = thread.null ? NULL : thread.s,
          .range_name = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name), .count = node->count,
          .total_time_ns = node->total_ns, .self_time_ns = node->self_ns,
          .attributed_kernel_time_ns = mapped ? node->inclusive_kernel_ns : NAI_NULL_I64,
          .self_kernel_time_ns = mapped ? node->kernel_ns : NAI_NULL_I64,
          .projected_time_ns = mapped ? projected_ns : NAI_NULL_I64,
          .longest_start_ns = nai_val(&m->nvtx.start_ns, node->longest),
          .longest_end_ns = nai_val(&m->nvtx.end_ns, node->longest));
}

int nai_nvtx_tree_put(struct nai_table *table, const struct nai_model *m, const int64_t *projected_ns,
                      struct nai_arena *arena, struct nai_err *err) {
  int64_t kept[MAX_NODES], limit, room;
  NAI_TRY(find_limit(&limit, &room, m, arena, err));
  for (uint32_t i = 0; i < m->node_count; i++) {
    const struct nai_nvtx_node *node = &m->nodes[i];
    if (weight(node) < limit)
      continue;
    int64_t parent = node->parent == NAI_NO_ROW ? -1 : row_of(node->parent, kept, table->rows);
    if (node->parent != NAI_NO_ROW && parent < 0)
      continue;
    if (weight(node) == limit && room-- <= 0) /* of those as heavy as the lightest, the first ones */
      continue;
    kept[table->rows] = i;
    put_node(table, m, node, parent, projected_ns[i]);
  }
  return NAI_OK;
}
