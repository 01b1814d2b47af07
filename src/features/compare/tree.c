/* Which ranges inside which others differ? The NVTX trees of all captures of a side as one, beside that of the other
 * side: equal chains of names are one node, whatever thread they are on. */
#include "base/strings.h"
#include "base/text.h"
#include "features/compare/internal.h"
#include "tables/compared_tree.h"
#include "tables/nvtx_tree.h"
#include "tables/step_summary.h"

struct node {
  int64_t parent; /* -1: outermost */
  int depth;
  uint32_t name; /* in names */
  bool has[NAI_SIDES];
  double count[NAI_SIDES], wall[NAI_SIDES], gpu[NAI_SIDES];
};

struct tree {
  struct nai_arena arena;
  struct nai_strings keys, names; /* keys: "parent name", numbered as the nodes */
  struct node *nodes;
  uint32_t capacity;
};

static void tree_free(struct tree *tree) {
  nai_strings_free(&tree->keys);
  nai_strings_free(&tree->names);
  nai_arena_free(&tree->arena);
}

static int find_node(int64_t *out, struct tree *tree, int64_t parent, const char *name, bool fold,
                     struct nai_err *err) {
  NAI_SCOPED(nai_buf) key = {0}, folded = {0};
  if (fold)
    nai_text_fold_digits(&folded, name);
  else
    nai_buf_puts(&folded, name);
  nai_buf_printf(&key, "%lld ", (long long)parent);
  nai_buf_put(&key, nai_buf_str(&folded), folded.len);
  NAI_TRY(nai_buf_check(&folded, err));
  NAI_TRY(nai_buf_check(&key, err));
  uint32_t known = tree->keys.count;
  uint32_t at = nai_strings_add(&tree->keys, nai_buf_str(&key), key.len);
  uint32_t text = nai_strings_add(&tree->names, nai_buf_str(&folded), folded.len);
  if (at == NAI_NO_STRING || text == NAI_NO_STRING)
    return nai_err_nomem(err);
  NAI_TRY(NAI_ROOM(tree->nodes, tree->capacity, at, &tree->arena, err));
  if (tree->keys.count > known)
    tree->nodes[at] =
        (struct node){.parent = parent, .depth = parent < 0 ? 0 : tree->nodes[parent].depth + 1, .name = text};
  *out = at;
  return NAI_OK;
}

/* Adds a capture's tree, whose parents come before their children. */
static int add_tree(struct tree *tree, int side, const struct nai_table *t, bool fold, struct nai_err *err) {
  int64_t *node_of;
  NAI_TRY(NAI_NEW(node_of, &tree->arena, (size_t)t->rows, err));
  for (int64_t row = 0; row < t->rows; row++) {
    struct NVTX_TREE_row range = NVTX_TREE_at(t, row);
    int64_t parent = range.parent_id >= 0 && range.parent_id < row ? node_of[range.parent_id] : -1;
    NAI_TRY(find_node(&node_of[row], tree, parent, range.range_name, fold, err));
    struct node *node = &tree->nodes[node_of[row]];
    node->has[side] = true;
    node->count[side] += (double)nai_or_zero(range.count);
    node->wall[side] += (double)nai_or_zero(range.total_time_ns);
    node->gpu[side] += (double)nai_or_zero(range.attributed_kernel_time_ns);
  }
  return NAI_OK;
}

/* What sums over a side are divided by: its steps of every state, for the trees hold all of them, else as other sums.
 */
static double divisor(const struct nai_comparison *c, int side) {
  double n = c->by_step ? (double)nai_side_sum(c->sides, side, &nai_step_summary_schema, STEP_SUMMARY_steps)
                        : c->divisor[side];
  return n > 0 ? n : 1;
}

static void put_tree(struct nai_table *table, const struct tree *tree, const struct nai_comparison *c) {
  const double per[NAI_SIDES] = {divisor(c, NAI_BASE), divisor(c, NAI_CANDIDATE)};
  for (uint32_t i = 0; i < tree->keys.count; i++) {
    const struct node *node = &tree->nodes[i];
    double count[NAI_SIDES], wall[NAI_SIDES], gpu[NAI_SIDES]; /* NULL on a side without it */
    for (int s = 0; s < NAI_SIDES; s++) {
      count[s] = node->has[s] ? node->count[s] / per[s] : (double)NAN;
      wall[s] = node->has[s] ? node->wall[s] / per[s] : (double)NAN;
      gpu[s] = node->has[s] ? node->gpu[s] / per[s] : (double)NAN;
    }
    NAI_ADD(COMPARED_TREE, table, .node_id = i, .parent_id = node->parent, .depth = node->depth,
            .range_name = nai_strings_get(&tree->names, node->name),
            .state = !node->has[NAI_BASE]      ? "only_new"
                   : !node->has[NAI_CANDIDATE] ? "only_base"
                                               : "both",
            .base_count = count[NAI_BASE], .new_count = count[NAI_CANDIDATE], .base_time_ns = wall[NAI_BASE],
            .new_time_ns = wall[NAI_CANDIDATE], .delta_ns = wall[NAI_CANDIDATE] - wall[NAI_BASE],
            .base_kernel_time_ns = gpu[NAI_BASE], .new_kernel_time_ns = gpu[NAI_CANDIDATE],
            .kernel_delta_ns = gpu[NAI_CANDIDATE] - gpu[NAI_BASE]);
  }
}

int nai_fill_tree(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  NAI_SCOPED(tree) tree = {.arena = NAI_ARENA(NULL)};
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      NAI_TRY(add_tree(&tree, s, nai_capture_table(&c->sides[s].captures[i], &nai_nvtx_tree_schema),
                       !c->options.range_numbers, err));
  put_tree(out, &tree, c);
  return NAI_OK;
}
