/* The tree of ranges as rows that open and close. Internal to src/features/view. */
#pragma once

#include "base/arena.h"
#include "model/model.h"

/* A line of the tree: a thread, a range, or a kernel that a range launches. */
enum nai_line_kind { NAI_LINE_THREAD, NAI_LINE_RANGE, NAI_LINE_KERNEL, NAI_LINE_MORE };
struct nai_tree_line {
  enum nai_line_kind kind;
  uint32_t of;   /* thread, node, or entry of `kernels` */
  uint32_t node; /* of kernels: their range */
  int depth;
};

/* What the kernels of one name add up to that a range launches itself. */
struct nai_tree_kernel {
  uint32_t name; /* string of kernel_events */
  int64_t count, ns;
};

struct nai_tree {
  const struct nai_model *m;
  uint32_t *children, *first_child; /* of each node, most kernel time first; of node n: children[first_child[n] ..] */
  uint32_t *sibling;                /* of each inner node the next one; NAI_NO_ROW */
  uint32_t *roots, *first_root;     /* by thread, likewise */
  bool *open, *hidden;              /* per node; hidden: nothing in or below it matches the filter */
  uint8_t *depth;                   /* per node, at most 255 */
  bool *thread_closed;
  struct nai_tree_kernel *kernels; /* by node */
  uint32_t *first_kernel;          /* node_count + 1 */
  struct nai_tree_line *lines;     /* those shown */
  uint32_t line_count, line_capacity;
  uint32_t selected;
  char *filter;
  struct nai_arena arena; /* of all of that but the filter */
};

/* O(kernels + nodes log nodes). */
NAI_MUST_CHECK int nai_tree_open(struct nai_tree *tree, const struct nai_model *model, struct nai_err *err);
void nai_tree_free(struct nai_tree *tree);
void nai_tree_toggle(struct nai_tree *tree, bool open, bool close); /* the selected line; both: the other way */
void nai_tree_all(struct nai_tree *tree, bool open);
void nai_tree_to_depth(struct nai_tree *tree, int depth);
/* Shows ranges with `text` in their names, and those around them; NULL: all. */
NAI_MUST_CHECK int nai_tree_filter(struct nai_tree *tree, const char *text, struct nai_err *err);
/* Opens what is around a node and selects it. */
void nai_tree_select(struct nai_tree *tree, uint32_t node);
/* The line at the top of so many rows, the selected one among them. */
uint32_t nai_tree_top(const struct nai_tree *tree, uint32_t rows);
/* Node of the selected line; NAI_NO_ROW. */
uint32_t nai_tree_node(const struct nai_tree *tree);
