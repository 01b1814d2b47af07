/* nsys-ai export markdown: the tree of ranges as a nested list that fits a comment. */
#include "features/read/tree.h"
#include "features/read/read.h"

#include "base/fmt.h"
#include "base/escape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 60000, TAIL = 256, HEADING = 64, KERNELS = 5, DEEPEST = 64 };

static void put_name(struct nai_buf *out, const char *name) {
  nai_escape_markdown_code(out, *name ? name : " ", *name ? strlen(name) : 1);
}

static void put_kernels(struct nai_buf *out, const struct tree *t, const struct node *node, int indent) {
  for (int64_t k = 0; k < node->kernel_count && k < KERNELS; k++) {
    nai_buf_printf(out, "%*s- kernel ", indent, "");
    put_name(out, nai_query_cell_text(&t->kernels, node->kernel + k, K_NAME));
    nai_buf_printf(out, " ×%" PRId64 " — ", nai_query_cell_int(&t->kernels, node->kernel + k, K_COUNT));
    nai_fmt_duration(out, (double)nai_query_cell_int(&t->kernels, node->kernel + k, K_NS));
    nai_buf_putc(out, '\n');
  }
  if (node->kernel_count > KERNELS)
    nai_buf_printf(out, "%*s- %" PRId64 " further kernels\n", indent, "", node->kernel_count - KERNELS);
}

/* whole: GPU time of the roots of the thread. */
static void put_node(struct nai_buf *out, const struct tree *t, int64_t i, int64_t whole) {
  int64_t row = t->list[i].row, gpu = nai_query_cell_int(&t->nodes, row, N_KERNEL);
  int indent = 2 * (int)nai_query_cell_int(&t->nodes, row, N_DEPTH);
  nai_buf_printf(out, "%*s- ", indent, "");
  put_name(out, nai_query_cell_text(&t->nodes, row, N_NAME));
  nai_buf_printf(out, " ×%" PRId64 " — wall ", nai_query_cell_int(&t->nodes, row, N_COUNT));
  nai_fmt_duration(out, (double)nai_query_cell_int(&t->nodes, row, N_TOTAL));
  nai_buf_puts(out, ", GPU ");
  nai_fmt_duration(out, (double)gpu);
  if (whole && gpu) {
    nai_buf_puts(out, " (");
    nai_fmt_percent(out, 100.0 * (double)gpu / (double)whole);
    nai_buf_putc(out, ')');
  }
  nai_buf_putc(out, '\n');
  put_kernels(out, t, &t->list[i], indent + 2);
}

/* --- what fits --------------------------------------------------------------------------------------- */

struct choice {
  const struct tree *tree;
  int64_t *order; /* nodes, those to be printed first in front */
  bool *printed;  /* per node */
};

static int compare_nodes(const void *a, const void *b, void *ctx) {
  const struct tree *t = ctx;
  int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
  int64_t depth_i = nai_query_cell_int(&t->nodes, t->list[i].row, N_DEPTH);
  int64_t depth_j = nai_query_cell_int(&t->nodes, t->list[j].row, N_DEPTH);
  if (depth_i != depth_j)
    return depth_i < depth_j ? -1 : 1;
  int64_t time_i = nai_cmd_tree_time(t, i), time_j = nai_cmd_tree_time(t, j);
  return time_i != time_j ? (time_i > time_j ? -1 : 1) : (i > j) - (i < j);
}

/* The outer and longer ranges, as many as there is room for: a range never without the one around it. Returns how many
 * are left out. */
static int64_t choose(struct choice *c, int64_t room) {
  const struct tree *t = c->tree;
  int64_t n = t->nodes.rows, i = 0;
  struct nai_buf line = {0};
  for (; i < n; i++)
    c->order[i] = i;
  qsort_r(c->order, (size_t)n, sizeof *c->order, compare_nodes, (void *)(uintptr_t)t);
  for (i = 0; i < n && nai_query_cell_int(&t->nodes, t->list[c->order[i]].row, N_DEPTH) < DEEPEST; i++) {
    nai_buf_clear(&line);
    int64_t row = t->list[c->order[i]].row;
    put_node(&line, t, c->order[i], nai_query_cell_int(&t->nodes, row, N_KERNEL)); /* 100 % is as long as any */
    room -= (int64_t)line.len + (nai_query_cell_int(&t->nodes, row, N_DEPTH) ? 0 : HEADING);
    if (room < 0)
      break;
    c->printed[c->order[i]] = true;
  }
  nai_buf_free(&line);
  return n - i;
}

/* --- the list ---------------------------------------------------------------------------------------- */

/* A root with what is inside. */
static void put_root(struct nai_buf *out, const struct choice *c, int64_t root, int64_t whole) {
  const struct tree *t = c->tree;
  int64_t next[DEEPEST + 1];
  int depth = 0;
  for (int64_t i = root; depth >= 0;) {
    if (i >= 0 && c->printed[i]) {
      put_node(out, t, i, whole);
      next[depth++] = i == root ? -1 : t->list[i].next;
      i = t->list[i].first;
    } else if (i >= 0) {
      i = i == root ? -1 : t->list[i].next;
    } else if (--depth >= 0) {
      i = next[depth];
    }
  }
}

static void put_threads(struct nai_buf *out, const struct choice *c, int64_t roots) {
  struct tree *t = (struct tree *)(uintptr_t)c->tree;
  while (roots >= 0) {
    int64_t row = t->list[roots].row, thread = nai_query_cell_int(&t->nodes, row, N_THREAD), last = roots, whole = 0,
            count = 0;
    for (int64_t i = roots; i >= 0 && nai_query_cell_int(&t->nodes, t->list[i].row, N_THREAD) == thread;
         i = t->list[i].next) {
      whole += nai_cmd_tree_time(t, i);
      count++;
      last = i;
    }
    int64_t first = roots;
    roots = t->list[last].next;
    t->list[last].next = -1;
    first = nai_cmd_tree_sort(t, first, count);
    if (!c->printed[first])
      continue;
    nai_buf_printf(out, "\n## pid %" PRId64 ", thread %" PRId64 "\n\n", nai_query_cell_int(&t->nodes, row, N_PID),
                   nai_query_cell_int(&t->nodes, row, N_TID));
    for (int64_t i = first; i >= 0; i = t->list[i].next)
      put_root(out, c, i, whole);
  }
}

static int put_tree(struct nai_buf *out, struct tree *t, const char *trace, struct nai_err *err) {
  struct choice c = {.tree = t,
                     .order = calloc((size_t)t->nodes.rows + 1, sizeof *c.order),
                     .printed = calloc((size_t)t->nodes.rows + 1, sizeof *c.printed)};
  int rc = c.order && c.printed ? NAI_OK : nai_err_nomem(err);
  if (!rc) {
    nai_buf_puts(out, "# Ranges and kernels of ");
    put_name(out, trace);
    nai_buf_puts(out, "\n");
    int64_t roots = nai_cmd_tree_link(t), left_out = choose(&c, MAX_BYTES - TAIL - (int64_t)(2 * strlen(trace)));
    put_threads(out, &c, roots);
    if (!t->nodes.rows)
      nai_buf_puts(out, "\nThe trace has no NVTX ranges.\n");
    if (left_out)
      nai_buf_printf(out, "\n%" PRId64 " ranges are left out: the innermost, of those the ones with least GPU time.\n",
                     left_out);
  }
  free(c.order);
  free(c.printed);
  return rc;
}

int nai_cmd_put_markdown(struct nai_buf *out, struct nai_run *run, struct nai_err *err) {
  const struct tree_args args = {.by = BY_GPU, .pid = -1, .tid = -1};
  struct tree t = {.args = &args};
  int rc = nai_cmd_tree_collect(&t, run, err);
  if (!rc)
    rc = put_tree(out, &t, nai_run_manifest(run)->trace ? nai_run_manifest(run)->trace : "", err);
  nai_cmd_tree_free(&t);
  return rc;
}
