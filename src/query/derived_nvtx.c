/* The NVTX tree as tables: every node of it, and how deep each range lies. */
#include "query/internal.h"

#include "base/text.h"
#include "table/columns.h"

#include <string.h>

enum { PART_TREE = 1 };

/* --- nodes --------------------------------------------------------------------------------------- */

enum {
  NO_PARENT,
  NO_THREAD,
  NO_PID,
  NO_TID,
  NO_NAME_,
  NO_PATH,
  NO_DEPTH,
  NO_COUNT_,
  NO_TOTAL,
  NO_SELF,
  NO_KERNEL,
  NO_KERNELS,
  NO_INCLUSIVE,
  NO_INCLUSIVE_KERNELS,
  NO_COLUMNS
};
static const struct nai_column_def node_columns[] = {
    [NO_PARENT] = {"parent", NAI_I32, NAI_ID, "row of this table: the node around it, NULL for outermost ones",
                   .refers = "nvtx_nodes"},
    [NO_THREAD] = {"thread", NAI_I32, NAI_ID, "row of table threads", .role = NAI_ROLE_THREAD, .refers = "threads"},
    [NO_PID] = NAI_PID_COLUMN("process id"),
    [NO_TID] = NAI_TID_COLUMN("thread id"),
    [NO_NAME_] = NAI_RANGE_NAME_COLUMN("range_name", "canonical range name"),
    [NO_PATH] =
        NAI_LABEL_COLUMN("path", "names from the outermost range to this one, joined by \" > \"; cut at 16 KiB"),
    [NO_DEPTH] = NAI_COUNT_COLUMN("depth", "nodes around it; 0 for outermost ones"),
    [NO_COUNT_] = NAI_COUNT_COLUMN("count", "instances", .sum = true),
    [NO_TOTAL] = {"total_ns", NAI_I64, NAI_NS, "summed durations"},
    [NO_SELF] = {"self_ns", NAI_I64, NAI_NS, "minus those of its children"},
    [NO_KERNEL] = {"kernel_ns", NAI_I64, NAI_NS, "kernels launched while this was the innermost range"},
    [NO_KERNELS] = NAI_COUNT_COLUMN("kernel_count", "those kernels", .sum = true),
    [NO_INCLUSIVE] = {"inclusive_kernel_ns", NAI_I64, NAI_NS, "and from ranges inside it"},
    [NO_INCLUSIVE_KERNELS] = NAI_COUNT_COLUMN("inclusive_kernel_count", "those kernels")};
static const struct nai_schema node_schema = NAI_SCHEMA(
    "nvtx_nodes", "NVTX nodes",
    "All instances of a range name inside the same chain of names on one thread; every node, where nvtx_tree has "
    "the 4,000 with most time",
    node_columns);
static const uint8_t node_parts[NO_COLUMNS];

static void put_path(struct nai_table *out, int64_t row, const struct nai_nvtx_node *node, const char *name,
                     struct nai_buf *text) {
  enum { LONGEST = 16 << 10 };
  nai_buf_clear(text);
  if (node->parent != NAI_NO_ROW) {
    nai_buf_puts(text, nai_get_str(out, node->parent, NO_PATH));
    nai_buf_puts(text, text->len + 3 < LONGEST ? " > " : "");
  }
  size_t len = strlen(name), room = text->len < LONGEST ? LONGEST - text->len : 0;
  nai_buf_put(text, name, len <= room ? len : nai_text_prefix(name, len, room));
  nai_set_str(out, row, NO_PATH, nai_buf_str(text));
}

static void put_node(struct nai_table *out, const struct nai_model *m, uint32_t i, struct nai_buf *text) {
  const struct nai_nvtx_node *node = &m->nodes[i];
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  const char *name = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name);
  bool inner = node->parent != NAI_NO_ROW;
  int64_t row = nai_table_add_row(out);
  nai_set_i64(out, row, NO_PARENT, inner ? node->parent : NAI_NULL_I32);
  nai_set_i64(out, row, NO_THREAD, node->thread);
  nai_set_i64(out, row, NO_PID, nai_get_i64(threads, node->thread, TH_PID));
  nai_set_i64(out, row, NO_TID, nai_get_i64(threads, node->thread, TH_TID));
  nai_set_str(out, row, NO_NAME_, name);
  put_path(out, row, node, name, text);
  nai_set_i64(out, row, NO_DEPTH, inner ? nai_get_i64(out, node->parent, NO_DEPTH) + 1 : 0);
  nai_set_i64(out, row, NO_COUNT_, node->count);
  nai_set_i64(out, row, NO_TOTAL, node->total_ns);
  nai_set_i64(out, row, NO_SELF, node->self_ns);
  nai_set_i64(out, row, NO_KERNEL, node->kernel_ns);
  nai_set_i64(out, row, NO_KERNELS, node->kernel_count);
  nai_set_i64(out, row, NO_INCLUSIVE, node->inclusive_kernel_ns);
  nai_set_i64(out, row, NO_INCLUSIVE_KERNELS, node->inclusive_kernel_count);
}

static int open_nodes(struct nai_query_table *t, struct nai_err *err) {
  struct nai_model *m;
  struct nai_buf text = {0};
  int rc = nai_derived_model(&m, t->db, NAI_PART(NVTX_TREE), err);
  if (!rc)
    rc = nai_derived_new(t, 0, err);
  for (uint32_t i = 0; !rc && i < m->node_count && !t->own->oom; i++)
    put_node(t->own, m, i, &text);
  if (!rc)
    rc = nai_buf_check(&text, err);
  nai_buf_free(&text);
  return rc ? rc : nai_table_check(t->own, err);
}

static int nothing(struct nai_query_table *t, uint32_t part, struct nai_err *err) {
  (void)t, (void)part, (void)err;
  return NAI_OK;
}

const struct nai_derived nai_derived_nodes = {&node_schema, node_parts, open_nodes, nothing};

/* --- depths -------------------------------------------------------------------------------------- */

static const struct nai_column_def depth_columns[] = {NAI_COUNT_COLUMN(
    "depth", "push/pop ranges around it on its thread, 255 for more; 0 for start/end ranges, NULL for marks")};
static const struct nai_schema depth_schema =
    NAI_SCHEMA("range_depths", "Depths of ranges", "One row of nvtx_events, in the same order", depth_columns);
static const uint8_t depth_parts[] = {PART_TREE};

static int open_depths(struct nai_query_table *t, struct nai_err *err) {
  const struct nai_table *ranges;
  int rc = nai_run_table(&ranges, t->db->run, nai_nvtx_events.name, &nai_nvtx_events, err);
  return rc ? rc : nai_derived_new(t, ranges->rows, err);
}

static int build_depths(struct nai_query_table *t, uint32_t part, struct nai_err *err) {
  struct nai_model *m;
  (void)part;
  int rc = nai_derived_model(&m, t->db, NAI_PART(NVTX_TREE), err);
  if (!rc)
    rc = nai_derived_column(t, 0, err);
  for (uint32_t i = 0; !rc && i < m->nvtx.n; i++) {
    int64_t kind = nai_at(&m->nvtx.kind, i);
    nai_column_i64(t->own, 0)[i] = kind == NAI_NVTX_MARK     ? NAI_NULL_I64
                                 : kind == NAI_NVTX_PUSH_POP ? m->nvtx_depth[i]
                                                             : 0;
  }
  return rc;
}

const struct nai_derived nai_derived_depths = {&depth_schema, depth_parts, open_depths, build_depths};
