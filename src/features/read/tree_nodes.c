/* The tree of NVTX ranges: from rows of nodes and kernels to ordered lists of children. */
#include "features/read/tree.h"

#include <stdlib.h>
#include <string.h>

int64_t nai_cmd_tree_time(const struct tree *t, int64_t i) {
  return nai_query_cell_int(&t->nodes, t->list[i].row, t->args->by == BY_WALL ? N_TOTAL : N_KERNEL);
}

static bool comes_first(const struct tree *t, int64_t a, int64_t b) {
  if (nai_cmd_tree_time(t, a) != nai_cmd_tree_time(t, b))
    return nai_cmd_tree_time(t, a) > nai_cmd_tree_time(t, b);
  int order = strcmp(nai_query_cell_text(&t->nodes, t->list[a].row, N_NAME),
                     nai_query_cell_text(&t->nodes, t->list[b].row, N_NAME));
  return order ? order < 0 : a < b;
}

/* Merges two lists of siblings. */
static int64_t merge(struct tree *t, int64_t a, int64_t b) {
  int64_t first = -1, *at = &first;
  while (a >= 0 && b >= 0) {
    int64_t *take = comes_first(t, b, a) ? &b : &a;
    *at = *take;
    at = &t->list[*take].next;
    *take = *at;
  }
  *at = a >= 0 ? a : b;
  return first;
}

int64_t nai_cmd_tree_sort(struct tree *t, int64_t first, int64_t count) {
  if (count < 2) {
    if (first >= 0)
      t->list[first].next = -1;
    return first;
  }
  int64_t half = count / 2, second = first;
  for (int64_t i = 0; i < half; i++)
    second = t->list[second].next;
  int64_t right = nai_cmd_tree_sort(t, second, count - half);
  return merge(t, nai_cmd_tree_sort(t, first, half), right);
}

static int64_t length(const struct tree *t, int64_t first) {
  int64_t n = 0;
  for (; first >= 0; first = t->list[first].next)
    n++;
  return n;
}

/* Lists of children, roots of a thread under no node: returned. */
int64_t nai_cmd_tree_link(struct tree *t) {
  int64_t roots = -1;
  for (int64_t i = t->nodes.rows; i-- > 0;) {
    const struct nai_value *parent = nai_query_cell(&t->nodes, i, N_PARENT);
    int64_t above = parent->null || parent->i >= t->numbers ? -1 : t->of_number[parent->i];
    int64_t *list = above < 0 ? &roots : &t->list[above].first;
    t->list[i].next = *list;
    *list = i;
  }
  for (int64_t i = 0; i < t->nodes.rows; i++)
    t->list[i].first = nai_cmd_tree_sort(t, t->list[i].first, length(t, t->list[i].first));
  return roots;
}

int nai_cmd_tree_make(struct tree *t, struct nai_err *err) {
  int64_t rows = t->nodes.rows;
  t->numbers = rows ? nai_query_cell_int(&t->nodes, rows - 1, N_NODE) + 1 : 0;
  t->list = calloc((size_t)rows + 1, sizeof *t->list);
  t->of_number = malloc(((size_t)t->numbers + 1) * sizeof *t->of_number);
  if (!t->list || !t->of_number)
    return nai_err_nomem(err);
  for (int64_t i = 0; i < t->numbers; i++)
    t->of_number[i] = -1;
  for (int64_t i = 0; i < rows; i++) {
    t->list[i] = (struct node){.row = i, .first = -1, .next = -1};
    t->of_number[nai_query_cell_int(&t->nodes, i, N_NODE)] = i;
  }
  for (int64_t k = 0; k < t->kernels.rows; k++) {
    int64_t number = nai_query_cell_int(&t->kernels, k, K_NODE), at = number < t->numbers ? t->of_number[number] : -1;
    if (at < 0)
      continue;
    if (!t->list[at].kernel_count++)
      t->list[at].kernel = k;
  }
  return NAI_OK;
}
