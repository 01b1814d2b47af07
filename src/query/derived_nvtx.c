/* The NVTX tree as tables: every node of it, and how deep each range lies. */
#include "query/internal.h"

#include "base/text.h"
#include "tables/nvtx_events.h"
#include "tables/nvtx_nodes.h"
#include "tables/range_depths.h"
#include "tables/threads.h"

/* --- nodes --------------------------------------------------------------------------------------- */

/* Of a node whose parent is there already. */
static void put_path(struct nai_buf *text, const struct nai_table *out, const struct nai_nvtx_node *node,
                     const char *name) {
  enum { LONGEST = 16 << 10 };
  nai_buf_clear(text);
  if (node->parent != NAI_NO_ROW) {
    nai_buf_puts(text, nai_get_str(out, node->parent, NVTX_NODES_path));
    nai_buf_puts(text, text->len + 3 < LONGEST ? " > " : "");
  }
  size_t len = strlen(name), room = text->len < LONGEST ? LONGEST - text->len : 0;
  nai_buf_put(text, name, len <= room ? len : nai_text_prefix(name, len, room));
}

static void put_node(struct nai_table *out, const struct nai_model *m, uint32_t i, struct nai_buf *path) {
  const struct nai_nvtx_node *node = &m->nodes[i];
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  const char *name = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name);
  bool inner = node->parent != NAI_NO_ROW;
  put_path(path, out, node, name);
  NAI_ADD(NVTX_NODES, out, .parent = inner ? (int32_t)node->parent : NAI_NULL_I32, .thread = node->thread,
          .pid = nai_get_i64(threads, node->thread, THREADS_pid),
          .tid = nai_get_i64(threads, node->thread, THREADS_tid), .range_name = name, .path = nai_buf_str(path),
          .depth = inner ? nai_get_i64(out, node->parent, NVTX_NODES_depth) + 1 : 0, .count = node->count,
          .total_ns = node->total_ns, .self_ns = node->self_ns, .kernel_ns = node->kernel_ns,
          .kernel_count = node->kernel_count, .inclusive_kernel_ns = node->inclusive_kernel_ns,
          .inclusive_kernel_count = node->inclusive_kernel_count);
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

const struct nai_sql_source nai_derived_nodes = {.schema = &nai_nvtx_nodes_schema, .open = open_nodes};

/* --- depths -------------------------------------------------------------------------------------- */

static const uint8_t depth_parts[] = {1};

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
