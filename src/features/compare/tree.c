/* Which ranges inside which others differ? The NVTX trees of all captures of a side as one, beside that of the other
 * side: equal chains of names are one node, whatever thread they are on. */
#include "features/compare/internal.h"

#include "base/array.h"
#include "tables/compared_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  int64_t parent; /* -1: outermost */
  int depth;
  uint32_t name; /* in names */
  bool has[NAI_SIDES];
  double count[NAI_SIDES], wall[NAI_SIDES], gpu[NAI_SIDES];
};

struct tree {
  struct nai_strings keys, names; /* keys: "parent name", numbered as the nodes */
  struct node *nodes;
  uint32_t capacity;
};

static int64_t find_node(struct tree *tree, int64_t parent, const char *name, struct nai_err *err) {
  struct nai_buf key = {0};
  nai_buf_printf(&key, "%lld ", (long long)parent);
  nai_buf_puts(&key, name);
  uint32_t known = tree->keys.count;
  uint32_t at = key.oom ? NAI_NO_STRING : nai_strings_add(&tree->keys, nai_buf_str(&key), key.len);
  nai_buf_free(&key);
  uint32_t text = nai_strings_add(&tree->names, name, strlen(name));
  if (at == NAI_NO_STRING || text == NAI_NO_STRING ||
      !nai_array_room(&tree->nodes, &tree->capacity, at, sizeof *tree->nodes)) {
    (void)nai_err_nomem(err);
    return -1;
  }
  if (tree->keys.count > known)
    tree->nodes[at] =
        (struct node){.parent = parent, .depth = parent < 0 ? 0 : tree->nodes[parent].depth + 1, .name = text};
  return at;
}

static double cell(const struct nai_table *t, int64_t row, const char *column) {
  int64_t value = nai_cell_i64(t, row, column);
  return value == NAI_NULL_I64 ? 0 : (double)value;
}

/* Adds a capture's tree, whose parents come before their children. */
static int add_tree(struct tree *tree, int side, const struct nai_table *t, struct nai_err *err) {
  int64_t *node_of = t ? malloc(((size_t)t->rows + 1) * sizeof *node_of) : NULL;
  int rc = !t || node_of ? NAI_OK : nai_err_nomem(err);
  for (int64_t row = 0; t && !rc && row < t->rows; row++) {
    int64_t parent = nai_cell_i64(t, row, "parent_id");
    parent = parent >= 0 && parent < row ? node_of[parent] : -1;
    int64_t at = node_of[row] = find_node(tree, parent, nai_cell_str(t, row, "range_name"), err);
    if (at < 0) {
      rc = NAI_ELIMIT;
      break;
    }
    struct node *node = &tree->nodes[at];
    node->has[side] = true;
    node->count[side] += cell(t, row, "count");
    node->wall[side] += cell(t, row, "total_time_ns");
    node->gpu[side] += cell(t, row, "attributed_kernel_time_ns");
  }
  free(node_of);
  return rc;
}

/* What sums over a side are divided by: its steps of every state, for the trees hold all of them, else GPUs of runs. */
static double divisor(const struct nai_comparison *c, int side) {
  int64_t n = c->by_step ? nai_side_sum(&c->sides[side], "step_summary", "steps", NULL, NULL)
                         : nai_side_rows(&c->sides[side], "gpu_utilization", NULL, NULL);
  return n > 0 ? (double)n : 1;
}

static void put_pair(struct nai_table *table, int64_t row, const struct node *node, const double values[NAI_SIDES],
                     const double per[NAI_SIDES], int base_column, int delta_column) {
  for (int s = 0; s < NAI_SIDES; s++)
    if (node->has[s])
      nai_set_f64(table, row, base_column + s, values[s] / per[s]);
  if (delta_column && node->has[NAI_BASE] && node->has[NAI_NEW])
    nai_set_f64(table, row, delta_column, values[NAI_NEW] / per[NAI_NEW] - values[NAI_BASE] / per[NAI_BASE]);
}

static void put_tree(struct nai_table *table, const struct tree *tree, const struct nai_comparison *c) {
  const double per[NAI_SIDES] = {divisor(c, NAI_BASE), divisor(c, NAI_NEW)};
  for (uint32_t i = 0; i < tree->keys.count; i++) {
    const struct node *node = &tree->nodes[i];
    int64_t row = nai_table_add_row(table);
    nai_set_i64(table, row, COMPARED_TREE_node_id, i);
    nai_set_i64(table, row, COMPARED_TREE_parent_id, node->parent);
    nai_set_i64(table, row, COMPARED_TREE_depth, node->depth);
    nai_set_str(table, row, COMPARED_TREE_range_name, nai_strings_get(&tree->names, node->name));
    nai_set_str(table, row, COMPARED_TREE_state,
                !node->has[NAI_BASE]  ? "only_new"
                : !node->has[NAI_NEW] ? "only_base"
                                      : "both");
    put_pair(table, row, node, node->count, per, COMPARED_TREE_base_count, 0);
    put_pair(table, row, node, node->wall, per, COMPARED_TREE_base_time_ns, COMPARED_TREE_delta_ns);
    put_pair(table, row, node, node->gpu, per, COMPARED_TREE_base_kernel_time_ns, COMPARED_TREE_kernel_delta_ns);
  }
}

int nai_tree_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  struct tree tree = {0};
  int rc = nai_table_new(out, &nai_compared_tree_schema, err);
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; !rc && i < c->sides[s].count; i++)
      rc = add_tree(&tree, s, nai_capture_table(&c->sides[s].captures[i], "nvtx_tree"), err);
  if (!rc)
    put_tree(*out, &tree, c);
  nai_strings_free(&tree.keys);
  nai_strings_free(&tree.names);
  free(tree.nodes);
  return rc;
}
