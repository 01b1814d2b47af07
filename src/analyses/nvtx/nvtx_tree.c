/* How do code ranges nest? Table nvtx_tree: the calling-context tree for flame graphs, its smallest nodes left out. */
#include "analyses/analysis.h"
#include "table/columns.h"

#include "base/big.h"
#include "base/sort.h"

enum { NODE, PARENT, PID, TID, THREAD, NAME, COUNT, TOTAL, SELF, GPU, GPU_SELF, START, END };
static const struct nai_column_def columns[] = {
    [NODE] = {"node_id", NAI_I64, NAI_ID, "number of this node", .key = true},
    [PARENT] = {"parent_id", NAI_I64, NAI_ID, "node around it, -1 for outermost ranges", .refers = "nvtx_tree"},
    [PID] = NAI_PID_COLUMN("process"),
    [TID] = NAI_TID_COLUMN("thread"),
    [THREAD] = NAI_LABEL_COLUMN("thread_name", "thread name"),
    [NAME] = NAI_RANGE_NAME_COLUMN("range_name", "canonical NVTX name"),
    [COUNT] = NAI_COUNT_COLUMN("count", "instances", .sum = true),
    [TOTAL] = NAI_TIME_COLUMN("total_time_ns", "summed durations", .better = NAI_BETTER_LOWER),
    [SELF] = NAI_TIME_COLUMN("self_time_ns", "minus ranges inside", .better = NAI_BETTER_LOWER, .sum = true),
    [GPU] = NAI_TIME_COLUMN("attributed_kernel_time_ns", "kernels launched inside", .better = NAI_BETTER_LOWER),
    [GPU_SELF] = NAI_TIME_COLUMN("self_kernel_time_ns", "kernels for which this is the innermost range",
                                 .better = NAI_BETTER_LOWER, .sum = true),
    [START] = NAI_START_COLUMN("longest_start_ns", "start of the longest instance"),
    [END] = NAI_END_COLUMN("longest_end_ns", "end of the longest instance"),
};
static const struct nai_schema schema =
    NAI_SCHEMA("nvtx_tree", "NVTX tree", "All instances of a range name inside the same chain of names on one thread",
               columns);

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
  int rc = nai_big_new(&memory, m->scratch_dir, (size_t)m->node_count * sizeof(int64_t), err);
  if (rc)
    return rc;
  int64_t *weights = memory;
  for (uint32_t i = 0; i < m->node_count; i++)
    weights[i] = weight(&m->nodes[i]);
  nai_select_i64(weights, m->node_count, m->node_count - MAX_NODES);
  *limit = weights[m->node_count - MAX_NODES];
  for (uint32_t i = 0; i < m->node_count; i++)
    *room -= weight(&m->nodes[i]) > *limit;
  nai_big_free(memory);
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
    nai_set_i64(table, row, NODE, row);
    nai_set_i64(table, row, PARENT, parent);
    nai_set_i64(table, row, PID, nai_get_i64(m->tables[NAI_IN_THREADS], node->thread, TH_PID));
    nai_set_i64(table, row, TID, nai_get_i64(m->tables[NAI_IN_THREADS], node->thread, TH_TID));
    struct nai_value thread = nai_table_value(m->tables[NAI_IN_THREADS], node->thread, TH_NAME);
    nai_set_str(table, row, THREAD, thread.null ? NULL : thread.s);
    nai_set_str(table, row, NAME, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name));
    nai_set_i64(table, row, COUNT, node->count);
    nai_set_i64(table, row, TOTAL, node->total_ns);
    nai_set_i64(table, row, SELF, node->self_ns);
    if (m->map_nvtx && nai_model_gpu_work(m)) {
      nai_set_i64(table, row, GPU, node->inclusive_kernel_ns);
      nai_set_i64(table, row, GPU_SELF, node->kernel_ns);
    }
    nai_set_i64(table, row, START, nai_at(&m->nvtx.start, node->longest));
    nai_set_i64(table, row, END, nai_at(&m->nvtx.end, node->longest));
  }
  return rc;
}

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_nvtx_tree = {.name = "nvtx_tree",
                                                .outputs = schemas,
                                                .parts = NAI_PART(NVTX_TREE),
                                                .tables = NAI_IN(NVTX) | NAI_IN(THREADS),
                                                .run = run};
