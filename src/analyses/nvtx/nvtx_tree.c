/* How do code ranges nest? Table nvtx_tree: the calling-context tree for flame graphs, its smallest nodes left out. */
#include "analyses/analysis.h"

#include "base/spill_array.h"
#include "base/sort.h"
#include "tables/nvtx_tree.h"
#include "tables/threads.h"

enum { MAX_NODES = 4000 };

/* Never grows from parent to child, so whatever is kept has its parents kept. */
static int64_t weight(const struct nai_nvtx_node *node) {
  return node->total_ns > node->inclusive_kernel_ns ? node->total_ns : node->inclusive_kernel_ns;
}

/* *limit = the least weight of the nodes that are kept, *room = how many of exactly that weight are. */
static int find_limit(int64_t *limit, int64_t *room, const struct nai_model *m, struct nai_err *err) {
  void *memory = NULL;
  *limit = -1;
  *room = MAX_NODES;
  if (m->node_count <= MAX_NODES)
    return NAI_OK;
  int rc = nai_spill_array_new(&memory, m->scratch_dir, (size_t)m->node_count * sizeof(int64_t), err);
  if (rc)
    return rc;
  int64_t *weights = memory;
  for (uint32_t i = 0; i < m->node_count; i++)
    weights[i] = weight(&m->nodes[i]);
  nai_select_i64(weights, m->node_count, m->node_count - MAX_NODES);
  *limit = weights[m->node_count - MAX_NODES];
  for (uint32_t i = 0; i < m->node_count; i++)
    *room -= weight(&m->nodes[i]) > *limit;
  nai_spill_array_free(memory);
  return NAI_OK;
}

/* The row of a node, -1 when it is not kept. `kept`: nodes in ascending order, one per row. */
static int64_t row_of(uint32_t node, const int64_t *kept, int64_t rows) {
  size_t at = nai_bisect(kept, (size_t)rows, sizeof *kept, 0, node);
  return at < (size_t)rows && kept[at] == node ? (int64_t)at : -1;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_table *const *tables = io->out;
  const struct nai_model *m = io->model;
  struct nai_table *table = tables[0];
  int64_t kept[MAX_NODES], limit, room;
  int rc = find_limit(&limit, &room, m, err);
  for (uint32_t i = 0; !rc && i < m->node_count; i++) {
    const struct nai_nvtx_node *node = &m->nodes[i];
    if (weight(node) < limit)
      continue;
    int64_t parent = node->parent == NAI_NO_ROW ? -1 : row_of(node->parent, kept, table->rows);
    if (node->parent != NAI_NO_ROW && parent < 0)
      continue;
    if (weight(node) == limit && room-- <= 0) /* of those as heavy as the lightest, the first ones */
      continue;
    int64_t row = nai_table_add_row(table);
    kept[row] = i;
    nai_set_i64(table, row, NVTX_TREE_node_id, row);
    nai_set_i64(table, row, NVTX_TREE_parent_id, parent);
    nai_set_i64(table, row, NVTX_TREE_pid, nai_get_i64(m->tables[NAI_IN_THREADS], node->thread, THREADS_pid));
    nai_set_i64(table, row, NVTX_TREE_tid, nai_get_i64(m->tables[NAI_IN_THREADS], node->thread, THREADS_tid));
    struct nai_value thread = nai_table_value(m->tables[NAI_IN_THREADS], node->thread, THREADS_thread_name);
    nai_set_str(table, row, NVTX_TREE_thread_name, thread.null ? NULL : thread.s);
    nai_set_str(table, row, NVTX_TREE_range_name, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name));
    nai_set_i64(table, row, NVTX_TREE_count, node->count);
    nai_set_i64(table, row, NVTX_TREE_total_time_ns, node->total_ns);
    nai_set_i64(table, row, NVTX_TREE_self_time_ns, node->self_ns);
    if (m->map_nvtx && nai_model_gpu_work(m)) {
      nai_set_i64(table, row, NVTX_TREE_attributed_kernel_time_ns, node->inclusive_kernel_ns);
      nai_set_i64(table, row, NVTX_TREE_self_kernel_time_ns, node->kernel_ns);
    }
    nai_set_i64(table, row, NVTX_TREE_longest_start_ns, nai_at(&m->nvtx.start_ns, node->longest));
    nai_set_i64(table, row, NVTX_TREE_longest_end_ns, nai_at(&m->nvtx.end_ns, node->longest));
  }
  return rc;
}

NAI_ANALYSIS(nvtx_tree, .outputs = NAI_SCHEMAS(&nai_nvtx_tree_schema), .parts = NAI_PART(NVTX_TREE),
             .tables = NAI_IN(NVTX) | NAI_IN(THREADS), .run = run)
