/* The NVTX tree as tables: every node of it, and how deep each range lies. */
#include "query/internal.h"

#include "base/text.h"
#include "tables/nvtx_events.h"
#include "tables/nvtx_nodes.h"
#include "tables/range_depths.h"
#include "tables/threads.h"

#include <string.h>

enum { PART_TREE = 1 };

/* --- nodes --------------------------------------------------------------------------------------- */

static const uint8_t node_parts[NVTX_NODES_COLUMN_COUNT];

static void put_path(struct nai_table *out, int64_t row, const struct nai_nvtx_node *node, const char *name,
                     struct nai_buf *text) {
  enum { LONGEST = 16 << 10 };
  nai_buf_clear(text);
  if (node->parent != NAI_NO_ROW) {
    nai_buf_puts(text, nai_get_str(out, node->parent, NVTX_NODES_path));
    nai_buf_puts(text, text->len + 3 < LONGEST ? " > " : "");
  }
  size_t len = strlen(name), room = text->len < LONGEST ? LONGEST - text->len : 0;
  nai_buf_put(text, name, len <= room ? len : nai_text_prefix(name, len, room));
  nai_set_str(out, row, NVTX_NODES_path, nai_buf_str(text));
}

static void put_node(struct nai_table *out, const struct nai_model *m, uint32_t i, struct nai_buf *text) {
  const struct nai_nvtx_node *node = &m->nodes[i];
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  const char *name = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name);
  bool inner = node->parent != NAI_NO_ROW;
  int64_t row = nai_table_add_row(out);
  nai_set_i64(out, row, NVTX_NODES_parent, inner ? node->parent : NAI_NULL_I32);
  nai_set_i64(out, row, NVTX_NODES_thread, node->thread);
  nai_set_i64(out, row, NVTX_NODES_pid, nai_get_i64(threads, node->thread, THREADS_pid));
  nai_set_i64(out, row, NVTX_NODES_tid, nai_get_i64(threads, node->thread, THREADS_tid));
  nai_set_str(out, row, NVTX_NODES_range_name, name);
  put_path(out, row, node, name, text);
  nai_set_i64(out, row, NVTX_NODES_depth, inner ? nai_get_i64(out, node->parent, NVTX_NODES_depth) + 1 : 0);
  nai_set_i64(out, row, NVTX_NODES_count, node->count);
  nai_set_i64(out, row, NVTX_NODES_total_ns, node->total_ns);
  nai_set_i64(out, row, NVTX_NODES_self_ns, node->self_ns);
  nai_set_i64(out, row, NVTX_NODES_kernel_ns, node->kernel_ns);
  nai_set_i64(out, row, NVTX_NODES_kernel_count, node->kernel_count);
  nai_set_i64(out, row, NVTX_NODES_inclusive_kernel_ns, node->inclusive_kernel_ns);
  nai_set_i64(out, row, NVTX_NODES_inclusive_kernel_count, node->inclusive_kernel_count);
}

static int open_nodes(struct nai_sql_table *t, struct nai_err *err) {
  struct nai_model *m;
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_derived_model(&m, nai_database_of(t), NAI_PART(NVTX_TREE), err));
  NAI_TRY(nai_derived_new(t, 0, err));
  for (uint32_t i = 0; i < m->node_count && !t->own->oom; i++)
    put_node(t->own, m, i, &text);
  NAI_TRY(nai_buf_check(&text, err));
  return nai_table_check(t->own, err);
}

static int nothing(struct nai_sql_table *t, uint32_t part, struct nai_err *err) {
  (void)t, (void)part, (void)err;
  return NAI_OK;
}

const struct nai_sql_source nai_derived_nodes = {&nai_nvtx_nodes_schema, node_parts, open_nodes, nothing};

/* --- depths -------------------------------------------------------------------------------------- */

static const uint8_t depth_parts[] = {PART_TREE};

static int open_depths(struct nai_sql_table *t, struct nai_err *err) {
  const struct nai_table *ranges;
  NAI_TRY(nai_run_table(&ranges, nai_database_of(t)->run, nai_nvtx_events_schema.name, &nai_nvtx_events_schema, err));
  return nai_derived_new(t, ranges->rows, err);
}

static int build_depths(struct nai_sql_table *t, uint32_t part, struct nai_err *err) {
  struct nai_model *m;
  (void)part;
  NAI_TRY(nai_derived_model(&m, nai_database_of(t), NAI_PART(NVTX_TREE), err));
  NAI_TRY(nai_derived_column(t, 0, err));
  for (uint32_t i = 0; i < m->nvtx.n; i++) {
    int64_t kind = nai_at(&m->nvtx.kind, i);
    nai_column_i64(t->own, 0)[i] = kind == NAI_NVTX_MARK     ? NAI_NULL_I64
                                 : kind == NAI_NVTX_PUSH_POP ? m->nvtx_depth[i]
                                                             : 0;
  }
  return NAI_OK;
}

const struct nai_sql_source nai_derived_depths = {&nai_range_depths_schema, depth_parts, open_depths, build_depths};
