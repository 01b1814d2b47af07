#include "features/view/range_lines.h"

#include "base/sort.h"

enum { KERNELS_SHOWN = 5 };

/* --- order -------------------------------------------------------------------------------------------- */

static int compare_nodes(const void *pa, const void *pb, void *ctx) {
  const struct nai_nvtx_node *nodes = ctx;
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  return NAI_COMPARE({nodes[b].inclusive_kernel_ns, nodes[a].inclusive_kernel_ns},
                     {nodes[b].total_ns, nodes[a].total_ns}, {a, b});
}

/* Lists the nodes by `group` (negative: none), each group in order. */
static int group_nodes(uint32_t **list, uint32_t **first, struct nai_tree *tree, uint32_t groups, const int32_t *group,
                       struct nai_err *err) {
  const struct nai_model *m = tree->m;
  const struct nai_column column = nai_column_of_i32(group);
  struct nai_groups grouped;
  NAI_TRY(nai_groups_collect(&grouped, m->node_count, &column, groups, &tree->arena, err));
  *list = grouped.order;
  *first = grouped.first;
  for (uint32_t g = 0; g < groups; g++)
    qsort_r(*list + (*first)[g], (*first)[g + 1] - (*first)[g], sizeof **list, compare_nodes, m->nodes);
  return NAI_OK;
}

static int link_nodes(struct nai_tree *tree, struct nai_err *err) {
  const struct nai_model *m = tree->m;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  int32_t *group;
  NAI_TRY(NAI_NEW(group, &arena, m->node_count, err));
  NAI_TRY(NAI_NEW(tree->sibling, &tree->arena, m->node_count, err));
  for (uint32_t i = 0; i < m->node_count; i++)
    group[i] = m->nodes[i].parent == NAI_NO_ROW ? -1 : (int32_t)m->nodes[i].parent;
  NAI_TRY(group_nodes(&tree->children, &tree->first_child, tree, m->node_count, group, err));
  for (uint32_t i = 0; i < m->node_count; i++)
    group[i] = m->nodes[i].parent == NAI_NO_ROW ? m->nodes[i].thread : -1;
  NAI_TRY(group_nodes(&tree->roots, &tree->first_root, tree, m->thread_count, group, err));
  for (uint32_t n = 0; n < m->node_count; n++)
    for (uint32_t c = tree->first_child[n]; c < tree->first_child[n + 1]; c++)
      tree->sibling[tree->children[c]] = c + 1 < tree->first_child[n + 1] ? tree->children[c + 1] : NAI_NO_ROW;
  return NAI_OK;
}

/* --- kernels ------------------------------------------------------------------------------------------ */

NAI_ORDER(compare_kernels, struct nai_tree_kernel, {b->ns, a->ns}, {a->name, b->name})

static int32_t node_of_kernel(const struct nai_model *m, uint32_t kernel) {
  uint32_t call = m->kernel_api[kernel];
  const struct nai_nvtx_node *node = call == NAI_NO_ROW ? NULL : nai_model_call_node(m, call);
  return node ? (int32_t)(node - m->nodes) : -1;
}

struct sums {
  struct nai_groups kernels; /* by node */
  uint32_t *slot;            /* per name: its entry + 1 for the present node */
  uint32_t count, capacity;
};

static int sort_kernels(struct sums *s, const struct nai_model *m, struct nai_arena *arena, struct nai_err *err) {
  int32_t *nodes;
  NAI_TRY(NAI_NEW(s->slot, arena, m->tables[NAI_IN_KERNELS]->strings.count, err));
  NAI_TRY(NAI_NEW(nodes, arena, m->kernels.n, err));
  for (uint32_t k = 0; k < m->kernels.n; k++)
    nodes[k] = node_of_kernel(m, k);
  const struct nai_column column = nai_column_of_i32(nodes);
  return nai_groups_collect(&s->kernels, m->kernels.n, &column, m->node_count, arena, err);
}

static int sum_node(struct nai_tree *tree, struct sums *s, uint32_t node, struct nai_err *err) {
  const struct nai_model *m = tree->m;
  uint32_t first = s->count;
  for (uint32_t i = s->kernels.first[node]; i < s->kernels.first[node + 1]; i++) {
    uint32_t kernel = s->kernels.order[i], name = nai_at_text(&m->kernels.name, kernel);
    if (name >= m->tables[NAI_IN_KERNELS]->strings.count)
      continue;
    if (!s->slot[name]) {
      NAI_TRY(NAI_ROOM(tree->kernels, s->capacity, s->count, &tree->arena, err));
      tree->kernels[s->count] = (struct nai_tree_kernel){.name = name};
      s->slot[name] = ++s->count;
    }
    tree->kernels[s->slot[name] - 1].count++;
    tree->kernels[s->slot[name] - 1].ns += nai_kernel_ns(m, kernel);
  }
  for (uint32_t k = first; k < s->count; k++)
    s->slot[tree->kernels[k].name] = 0;
  if (s->count > first)
    qsort(tree->kernels + first, s->count - first, sizeof *tree->kernels, compare_kernels);
  return NAI_OK;
}

static int sum_kernels(struct nai_tree *tree, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct sums s = {0};
  NAI_TRY(sort_kernels(&s, tree->m, &arena, err));
  NAI_TRY(NAI_NEW(tree->first_kernel, &tree->arena, (size_t)tree->m->node_count + 1, err));
  for (uint32_t n = 0; n < tree->m->node_count; n++) {
    tree->first_kernel[n] = s.count;
    NAI_TRY(sum_node(tree, &s, n, err));
  }
  tree->first_kernel[tree->m->node_count] = s.count;
  return NAI_OK;
}

/* --- lines -------------------------------------------------------------------------------------------- */

static bool add_line(struct nai_tree *tree, struct nai_tree_line line) {
  struct nai_err ignored;
  if (NAI_ROOM(tree->lines, tree->line_capacity, tree->line_count, &tree->arena, &ignored))
    return false;
  tree->lines[tree->line_count++] = line;
  return true;
}

static void list_kernels(struct nai_tree *tree, uint32_t node, int depth) {
  uint32_t first = tree->first_kernel[node], end = tree->first_kernel[node + 1];
  for (uint32_t k = first; k < end; k++) {
    bool more = k - first == KERNELS_SHOWN && end - k > 1;
    if (!add_line(tree, (struct nai_tree_line){more ? NAI_LINE_MORE : NAI_LINE_KERNEL, k, node, depth}) || more)
      return;
  }
}

/* A depth-first walk without recursion, for trees may be deep. */
static void list_nodes(struct nai_tree *tree, uint32_t thread) {
  const struct nai_model *m = tree->m;
  for (uint32_t r = tree->first_root[thread]; r < tree->first_root[thread + 1]; r++) {
    uint32_t root = tree->roots[r], node = root;
    int depth = 1;
    for (bool down = true;;) {
      bool shown = down && !tree->hidden[node];
      if (shown && !add_line(tree, (struct nai_tree_line){NAI_LINE_RANGE, node, node, depth}))
        return;
      bool open = shown && (tree->open[node] || tree->filter);
      if (open)
        list_kernels(tree, node, depth + 1);
      if (open && tree->first_child[node] < tree->first_child[node + 1]) {
        node = tree->children[tree->first_child[node]];
        depth++;
        continue;
      }
      down = false;
      while (node != root && !down) { /* the next sibling, of it or of what is around it */
        down = tree->sibling[node] != NAI_NO_ROW;
        depth -= !down;
        node = down ? tree->sibling[node] : m->nodes[node].parent;
      }
      if (!down)
        break;
    }
  }
}

static bool same_line(const struct nai_tree_line *a, const struct nai_tree_line *b) {
  return a->kind == b->kind && a->of == b->of && a->node == b->node;
}

/* Lists the lines again after something opened or closed; the selected one stays selected. Out of memory: fewer. */
static void list_tree(struct nai_tree *tree) {
  struct nai_tree_line was = {NAI_LINE_MORE, NAI_NO_ROW, NAI_NO_ROW, 0};
  if (tree->selected < tree->line_count)
    was = tree->lines[tree->selected];
  tree->line_count = 0;
  for (uint32_t t = 0; t < tree->m->thread_count; t++) {
    if (tree->first_root[t] == tree->first_root[t + 1])
      continue;
    uint32_t before = tree->line_count;
    if (!add_line(tree, (struct nai_tree_line){NAI_LINE_THREAD, t, NAI_NO_ROW, 0}))
      return;
    if (!tree->thread_closed[t])
      list_nodes(tree, t);
    if (tree->filter && tree->line_count == before + 1)
      tree->line_count--; /* a thread in which nothing matches */
  }
  uint32_t at = 0;
  while (at < tree->line_count && !same_line(&tree->lines[at], &was))
    at++;
  if (at < tree->line_count)
    tree->selected = at;
  if (tree->selected >= tree->line_count)
    tree->selected = tree->line_count ? tree->line_count - 1 : 0;
}

/* --- what keys do ------------------------------------------------------------------------------------- */

static void select_line(struct nai_tree *tree, enum nai_line_kind kind, uint32_t of) {
  for (uint32_t i = 0; i < tree->line_count; i++)
    if (tree->lines[i].kind == kind && tree->lines[i].of == of)
      tree->selected = i;
}

void nai_tree_toggle(struct nai_tree *tree, bool open, bool close) {
  if (tree->selected >= tree->line_count)
    return;
  struct nai_tree_line line = tree->lines[tree->selected];
  bool is_thread = line.kind == NAI_LINE_THREAD;
  bool now = is_thread ? !tree->thread_closed[line.of] : tree->open[line.node];
  bool to = open && close ? !now : open;
  if (!to && !is_thread && (line.kind != NAI_LINE_RANGE || !now)) { /* closed already: what is around it */
    uint32_t above = line.kind == NAI_LINE_RANGE ? tree->m->nodes[line.node].parent : line.node;
    if (above == NAI_NO_ROW)
      select_line(tree, NAI_LINE_THREAD, (uint32_t)tree->m->nodes[line.node].thread);
    else
      select_line(tree, NAI_LINE_RANGE, above);
    return;
  }
  if (is_thread)
    tree->thread_closed[line.of] = !to;
  else if (line.kind == NAI_LINE_RANGE)
    tree->open[line.node] = to;
  list_tree(tree);
}

void nai_tree_all(struct nai_tree *tree, bool open) {
  memset(tree->open, open, tree->m->node_count);
  memset(tree->thread_closed, 0, tree->m->thread_count);
  list_tree(tree);
}

void nai_tree_to_depth(struct nai_tree *tree, int depth) {
  for (uint32_t n = 0; n < tree->m->node_count; n++)
    tree->open[n] = tree->depth[n] < depth;
  memset(tree->thread_closed, 0, tree->m->thread_count);
  list_tree(tree);
}

int nai_tree_filter(struct nai_tree *tree, const char *text, struct nai_err *err) {
  const struct nai_model *m = tree->m;
  char *copy = text && *text ? strdup(text) : NULL;
  if (text && *text && !copy)
    return nai_err_nomem(err);
  free(tree->filter);
  tree->filter = copy;
  for (uint32_t n = 0; n < m->node_count; n++)
    tree->hidden[n] = copy && !strcasestr(nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, m->nodes[n].name), copy);
  for (uint32_t n = m->node_count; n-- > 0;) /* what is around one that is shown is shown */
    if (!tree->hidden[n] && m->nodes[n].parent != NAI_NO_ROW)
      tree->hidden[m->nodes[n].parent] = false;
  list_tree(tree);
  return NAI_OK;
}

void nai_tree_select(struct nai_tree *tree, uint32_t node) {
  const struct nai_model *m = tree->m;
  tree->thread_closed[m->nodes[node].thread] = false;
  for (uint32_t n = m->nodes[node].parent; n != NAI_NO_ROW; n = m->nodes[n].parent)
    tree->open[n] = true;
  list_tree(tree);
  select_line(tree, NAI_LINE_RANGE, node);
}

uint32_t nai_tree_top(const struct nai_tree *tree, uint32_t rows) {
  uint32_t top = tree->selected < rows ? 0 : tree->selected - rows / 2;
  return top + rows <= tree->line_count ? top : tree->line_count > rows ? tree->line_count - rows : 0;
}

uint32_t nai_tree_node(const struct nai_tree *tree) {
  return tree->selected < tree->line_count ? tree->lines[tree->selected].node : NAI_NO_ROW;
}

int nai_tree_open(struct nai_tree *tree, const struct nai_model *m, struct nai_err *err) {
  *tree = (struct nai_tree){.m = m, .arena = NAI_ARENA(NULL)};
  NAI_TRY(NAI_NEW(tree->open, &tree->arena, m->node_count, err));
  NAI_TRY(NAI_NEW(tree->hidden, &tree->arena, m->node_count, err));
  NAI_TRY(NAI_NEW(tree->depth, &tree->arena, m->node_count, err));
  NAI_TRY(NAI_NEW(tree->thread_closed, &tree->arena, m->thread_count, err));
  NAI_TRY(link_nodes(tree, err));
  NAI_TRY(sum_kernels(tree, err));
  for (uint32_t n = 0; n < m->node_count; n++) { /* parents come before their children */
    uint32_t parent = m->nodes[n].parent;
    tree->depth[n] = parent == NAI_NO_ROW ? 0 : (uint8_t)(tree->depth[parent] + (tree->depth[parent] < UINT8_MAX));
  }
  nai_tree_to_depth(tree, 1);
  return NAI_OK;
}

void nai_tree_free(struct nai_tree *tree) {
  free(tree->filter);
  nai_arena_free(&tree->arena);
}
