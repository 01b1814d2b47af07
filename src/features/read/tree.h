/* The command line of nsys-ai tree, and the tree of ranges that it prints. */
#pragma once

#include "command/answer.h"
#include "command/collect.h"

struct tree_args {
  struct nai_cmd_ask ask;
  int64_t pid, tid; /* -1: all */
  int depth, kernels;
  double min_pct;
  int by;
};
enum { BY_WALL, BY_GPU };

/* Rows of nvtx_nodes in the order of the table: children behind their parents. */
enum {
  N_NODE,
  N_PARENT,
  N_PID,
  N_TID,
  N_NAME,
  N_DEPTH,
  N_COUNT,
  N_TOTAL,
  N_SELF,
  N_KERNEL,
  N_KERNELS,
  N_THREAD,
  N_PATH
};
enum { K_NODE, K_NAME, K_COUNT, K_NS };

struct node {
  int64_t row;                  /* of the collected nodes */
  int64_t first, next;          /* children, in order; -1 */
  int64_t kernel, kernel_count; /* rows of the collected kernels */
};

struct tree {
  const struct tree_args *args;
  struct nai_query_rows nodes, kernels;
  struct node *list;
  int64_t *of_number; /* place in the list of a node's number, -1 */
  int64_t numbers;
  struct nai_buf *out;
  int64_t hidden_depth, hidden_share;
};

/* Asks for the nodes and kernels that t->args wants, and makes `list` and `of_number` of them. Freed by
 * nai_cmd_tree_free.
 */
NAI_MUST_CHECK int nai_cmd_tree_collect(struct tree *t, struct nai_run *run, struct nai_err *err);
void nai_cmd_tree_free(struct tree *t);
/* What nodes are ordered by, and percent are of: their own time or that of their kernels. */
int64_t nai_cmd_tree_time(const struct tree *t, int64_t i);
/* Fills `list` and `of_number`, which the caller frees, from the collected rows. */
NAI_MUST_CHECK int nai_cmd_tree_make(struct tree *t, struct nai_err *err);
/* Links the children of each node in order; returns the first of the roots, which are in the order of their rows. */
int64_t nai_cmd_tree_link(struct tree *t);
/* Orders a list of `count` siblings; returns its first. */
int64_t nai_cmd_tree_sort(struct tree *t, int64_t first, int64_t count);
