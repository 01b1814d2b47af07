/* NVTX ranges by thread, and the tree of all threads. */
#include "base/spill_array.h"
#include "model/build.h"
#include "model/nvtx/nvtx_open.h"

#include <stdlib.h>

static int group_ranges(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  uint32_t marks = 0;
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    marks += nai_at_i32(&m->nvtx.kind, i) == NAI_NVTX_MARK;
  int32_t *group = marks ? nai_cells_new(m->nvtx.n, sizeof *group) : NULL;
  if (marks && !group)
    return nai_err_nomem(err);
  for (uint32_t i = 0; marks && i < m->nvtx.n; i++) /* marks take no part in nesting or attribution */
    group[i] = nai_at_i32(&m->nvtx.kind, i) == NAI_NVTX_MARK ? -1 : nai_at_i32(&m->nvtx.thread, i);
  struct nai_row_order by = {m->nvtx.start_ns, m->nvtx.end_ns, m->nvtx.name, &m->tables[NAI_IN_NVTX]->strings};
  struct nai_column thread = group ? nai_column_of_i32(group) : m->nvtx.thread;
  int rc = nai_groups_build(&m->nvtx_by_thread, m->nvtx.n, &thread, m->thread_count, &by, &m->arena, err);
  free(group);
  return rc;
}

static int64_t ranges_bytes(const struct nai_model *m) { return (int64_t)m->nvtx.n * 2; }

const struct nai_part_def nai_part_ranges = {
    .name = "ranges", .tables = NAI_IN(NVTX) | NAI_IN(THREADS), .begin = group_ranges, .bytes = ranges_bytes};

/* --- the tree --------------------------------------------------------------------------------- */

static int begin_tree(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  size_t threads = (size_t)m->thread_count + 1;
  m->first_node = calloc(threads + 1, sizeof *m->first_node);
  m->crossing = calloc(threads, sizeof *m->crossing);
  m->checkpoints = calloc(threads, sizeof *m->checkpoints);
  m->work->nodes = calloc(threads, sizeof *m->work->nodes);
  m->work->node_counts = calloc(threads, sizeof *m->work->node_counts);
  if (!m->first_node || !m->crossing || !m->checkpoints || !m->work->nodes || !m->work->node_counts)
    return nai_err_nomem(err);
  void *depth = NULL, *node = NULL;
  int rc = nai_spill_array_new(&depth, m->scratch_dir, (size_t)m->nvtx.n + 1, err);
  if (!rc)
    rc = nai_spill_array_new(&node, m->scratch_dir, ((size_t)m->apis.n + 1) * sizeof *m->api_node, err);
  m->nvtx_depth = depth;
  m->api_node = node;
  return rc;
}

static int thread_count(const struct nai_model *m) { return (int)m->thread_count; }

static int nest_thread(void *ctx, int thread, struct nai_err *err) {
  struct nai_model *m = ctx;
  return nai_nvtx_nest(&m->work->nodes[thread], &m->work->node_counts[thread], m, (uint32_t)thread, err);
}

/* nodes, first_node: the threads' parts one after the other. */
static int collect_nodes(struct nai_model *m, struct nai_err *err) {
  struct nai_nvtx_node *const *parts = m->work->nodes;
  const uint32_t *part_counts = m->work->node_counts;
  uint64_t total = 0;
  for (uint32_t t = 0; t < m->thread_count; t++)
    total += part_counts[t];
  if (total >= NAI_NO_ROW)
    return nai_err_set(err, NAI_ELIMIT, "more than 4,294,967,294 distinct NVTX call paths");
  m->nodes = nai_spill_array_grow(NULL, m->scratch_dir, 0, (size_t)(total + 1) * sizeof *m->nodes);
  if (!m->nodes)
    return nai_err_nomem(err);
  for (uint32_t t = 0; t < m->thread_count; t++) {
    m->first_node[t] = m->node_count;
    for (uint32_t i = 0; i < part_counts[t]; i++) {
      struct nai_nvtx_node *node = &m->nodes[m->node_count + i];
      *node = parts[t][i];
      if (node->parent != NAI_NO_ROW)
        node->parent += m->first_node[t];
    }
    m->node_count += part_counts[t];
    m->first_node[t + 1] = m->node_count;
  }
  return NAI_OK;
}

static void free_work(struct nai_model *m) {
  for (uint32_t t = 0; m->work && m->work->nodes && t < m->thread_count; t++)
    nai_spill_array_free(m->work->nodes[t]);
  if (m->work) {
    free(m->work->nodes);
    free(m->work->node_counts);
    m->work->nodes = NULL;
    m->work->node_counts = NULL;
  }
}

static int end_tree(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  int rc = collect_nodes(m, err);
  free_work(m);
  return rc || !m->map_nvtx ? rc : nai_nvtx_attribute(m, err);
}

static void free_tree(struct nai_model *m) {
  free_work(m);
  free(m->crossing);
  nai_spill_array_free(m->nodes);
  nai_spill_array_free(m->nvtx_depth);
  free(m->first_node);
  for (uint32_t t = 0; m->checkpoints && t < m->thread_count; t++)
    nai_checkpoints_free(&m->checkpoints[t]);
  free(m->checkpoints);
  nai_spill_array_free(m->api_node);
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
                                                .tasks = thread_count,
                                                .task = nest_thread,
                                                .end = end_tree,
                                                .free = free_tree,
                                                .bytes = tree_bytes};
