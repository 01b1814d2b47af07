/* The command line of nsys-ai tree, and the tree of ranges that it prints. */
#pragma once

#include "command/asking.h"

struct tree_args {
  struct nai_cmd_ask ask;
  int64_t pid, tid; /* -1: all */
  int depth, kernels;
  double min_pct;
  int by;
};
enum { BY_WALL, BY_GPU };

/* What the kernels of one name add up to that a range launches while it is the innermost. */
struct nai_range_kernels {
  const char *name;
  int64_t count, ns;
};

struct nai_range_node {
  const char *name;
  int64_t thread, pid, tid, depth;
  int64_t count, wall_ns, self_ns; /* instances; their own time; without what is inside */
  int64_t gpu_ns, launched;        /* kernels launched in them and inside them */
  int64_t first, next;             /* first child and next sibling, by what the tree is ordered by; -1 */
  const struct nai_range_kernels *kernels;
  int64_t kernel_count;
};

struct nai_range_tree {
  const struct tree_args *args;
  struct nai_arena *arena;
  struct nai_range_node *nodes; /* parents before their children */
  int64_t count;
  bool recorded;                            /* kernels: else their time is not known */
  int64_t roots;                            /* the first one, those of a thread together; -1 */
  struct nai_query_rows rows, kernels_rows; /* private: have the texts */
};

/* The ranges that tree->args wants. Freed by nai_range_tree_free, also after an error. */
NAI_MUST_CHECK int nai_range_tree_collect(struct nai_range_tree *tree, struct nai_run *run, struct nai_err *err);
void nai_range_tree_free(struct nai_range_tree *tree);
/* What nodes are ordered by, and percent are of: their own time or that of their kernels. */
int64_t nai_range_tree_time(const struct nai_range_tree *tree, int64_t node);
/* Takes the roots of one thread off tree->roots: their first, in order; -1: there are no more. *whole: their time. */
int64_t nai_range_tree_next_thread(int64_t *whole, struct nai_range_tree *tree);
