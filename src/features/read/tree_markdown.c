/* nsys-ai export markdown: the tree of ranges as a nested list that fits a comment. */
#include "features/read/tree.h"
#include "features/read/read.h"

#include "base/fmt.h"
#include "base/escape.h"
#include "base/sort.h"

enum { MAX_BYTES = 60000, TAIL = 256, HEADING = 64, KERNELS = 5, DEEPEST = 64 };

static void put_name(struct nai_buf *out, const char *name) {
  nai_escape_markdown_code(out, *name ? name : " ", *name ? strlen(name) : 1);
}

static void put_kernels(struct nai_buf *out, const struct nai_range_node *node, int indent) {
  for (int64_t k = 0; k < node->kernel_count && k < KERNELS; k++) {
    nai_buf_printf(out, "%*s- kernel ", indent, "");
    put_name(out, node->kernels[k].name);
    nai_buf_printf(out, " ×%" PRId64 " — ", node->kernels[k].count);
    nai_fmt_duration(out, (double)node->kernels[k].ns);
    nai_buf_putc(out, '\n');
  }
  if (node->kernel_count > KERNELS)
    nai_buf_printf(out, "%*s- %" PRId64 " further kernels\n", indent, "", node->kernel_count - KERNELS);
}

/* whole: GPU time of the roots of the thread. */
static void put_node(struct nai_buf *out, const struct nai_range_node *node, int64_t whole, bool recorded) {
  int indent = 2 * (int)node->depth;
  nai_buf_printf(out, "%*s- ", indent, "");
  put_name(out, node->name);
  nai_buf_printf(out, " ×%" PRId64 " — wall ", node->count);
  nai_fmt_duration(out, (double)node->wall_ns);
  if (recorded) {
    nai_buf_puts(out, ", GPU ");
    nai_fmt_duration(out, (double)node->gpu_ns);
  }
  if (whole && node->gpu_ns) {
    nai_buf_puts(out, " (");
    nai_fmt_percent(out, 100.0 * (double)node->gpu_ns / (double)whole);
    nai_buf_putc(out, ')');
  }
  nai_buf_putc(out, '\n');
  put_kernels(out, node, indent + 2);
}

/* --- what fits --------------------------------------------------------------------------------------- */

struct choice {
  struct nai_range_tree *tree;
  int64_t *order; /* nodes, those to be printed first in front */
  bool *printed;  /* per node */
};

static int compare_nodes(const void *pa, const void *pb, void *ctx) {
  const struct nai_range_tree *t = ctx;
  int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
  return NAI_COMPARE({t->nodes[a].depth, t->nodes[b].depth}, {nai_range_tree_time(t, b), nai_range_tree_time(t, a)},
                     {a, b});
}

/* The outer and longer ranges, as many as there is room for: a range never without the one around it. Returns how many
 * are left out. */
static int64_t choose(struct choice *c, int64_t room) {
  const struct nai_range_tree *t = c->tree;
  int64_t i = 0;
  NAI_SCOPED(nai_buf) line = {0};
  for (; i < t->count; i++)
    c->order[i] = i;
  qsort_r(c->order, (size_t)t->count, sizeof *c->order, compare_nodes, c->tree);
  for (i = 0; i < t->count && t->nodes[c->order[i]].depth < DEEPEST; i++) {
    const struct nai_range_node *node = &t->nodes[c->order[i]];
    nai_buf_clear(&line);
    put_node(&line, node, node->gpu_ns, c->tree->recorded); /* 100 % is as long as any */
    room -= (int64_t)line.len + (node->depth ? 0 : HEADING);
    if (room < 0)
      break;
    c->printed[c->order[i]] = true;
  }
  return t->count - i;
}

/* --- the list ---------------------------------------------------------------------------------------- */

/* A root with what is inside. */
static void put_root(struct nai_buf *out, const struct choice *c, int64_t root, int64_t whole) {
  const struct nai_range_node *nodes = c->tree->nodes;
  int64_t next[DEEPEST + 1];
  int depth = 0;
  for (int64_t i = root; depth >= 0;) {
    if (i >= 0 && c->printed[i]) {
      put_node(out, &nodes[i], whole, c->tree->recorded);
      next[depth++] = i == root ? -1 : nodes[i].next;
      i = nodes[i].first;
    } else if (i >= 0) {
      i = i == root ? -1 : nodes[i].next;
    } else if (--depth >= 0) {
      i = next[depth];
    }
  }
}

static void put_threads(struct nai_buf *out, const struct choice *c) {
  const struct nai_range_node *nodes = c->tree->nodes;
  int64_t whole;
  for (int64_t first; (first = nai_range_tree_next_thread(&whole, c->tree)) >= 0;) {
    if (!c->printed[first])
      continue;
    nai_buf_printf(out, "\n## pid %" PRId64 ", thread %" PRId64 "\n\n", nodes[first].pid, nodes[first].tid);
    for (int64_t i = first; i >= 0; i = nodes[i].next)
      put_root(out, c, i, whole);
  }
}

int nai_cmd_put_markdown(struct nai_buf *out, struct nai_run *run, struct nai_err *err) {
  const struct tree_args args = {.by = BY_GPU, .pid = -1, .tid = -1};
  const char *trace = nai_run_manifest(run)->trace ? nai_run_manifest(run)->trace : "";
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_range_tree) tree = {.args = &args, .arena = &arena};
  struct choice c = {.tree = &tree};
  NAI_TRY(nai_range_tree_collect(&tree, run, err));
  NAI_TRY(NAI_NEW(c.order, &arena, tree.count, err));
  NAI_TRY(NAI_NEW(c.printed, &arena, tree.count, err));
  nai_buf_puts(out, "# Ranges and kernels of ");
  put_name(out, trace);
  nai_buf_puts(out, "\n");
  int64_t left_out = choose(&c, MAX_BYTES - TAIL - (int64_t)(2 * strlen(trace)));
  put_threads(out, &c);
  if (!tree.count)
    nai_buf_puts(out, "\nThe trace has no NVTX ranges.\n");
  else if (!tree.recorded)
    nai_buf_puts(out, "\nKernels were not recorded: times are those of the host.\n");
  if (left_out)
    nai_buf_printf(out, "\n%" PRId64 " ranges are left out: the innermost, of those the ones with least GPU time.\n",
                   left_out);
  return NAI_OK;
}
