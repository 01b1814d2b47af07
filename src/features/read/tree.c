/* nsys-ai tree: the NVTX ranges of each thread, with the GPU work that they launched. */
#include "features/read/tree.h"

#include "base/fmt.h"
#include "base/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void init(void *memory) {
  struct tree_args *args = memory;
  nai_cmd_ask_init(&args->ask);
  args->pid = args->tid = -1;
  args->depth = -1;
  args->kernels = 3;
  args->min_pct = 1;
  args->by = BY_GPU;
}

static const char *order_name(size_t i, const char *before) {
  static const char *const names[] = {"wall", "gpu"};
  (void)before;
  return i < sizeof names / sizeof *names ? names[i] : NULL;
}

#define AT(field) .at = offsetof(struct tree_args, field)
static const struct nai_cli_option options[] = {
    {.name = "pid",
     .value = "P",
     .help = "threads of this process only",
     .type = &nai_cli_int64,
     AT(pid),
     .max = INT64_MAX,
     .otherwise = "all"},
    {.name = "tid",
     .value = "T",
     .help = "this thread only",
     .type = &nai_cli_int64,
     AT(tid),
     .max = INT64_MAX,
     .otherwise = "all"},
    {.name = "depth",
     .value = "N",
     .help = "ranges with at most N around them",
     .type = &nai_cli_int,
     AT(depth),
     .max = 10000,
     .otherwise = "all"},
    {.name = "min-pct",
     .value = "X",
     .help = "hide ranges with less than X percent of the thread's time",
     .type = &nai_cli_number,
     AT(min_pct),
     .min = 0,
     .max = 100},
    {.name = "kernels",
     .value = "N",
     .help = "name the N kernels with most time of each range",
     .type = &nai_cli_int,
     AT(kernels),
     .max = 1000},
    {.name = "by",
     .value = "TIME",
     .help = "what ranges are ordered by, and percent are of: their own time, or that of the kernels launched in them",
     .type = &nai_cli_choice,
     AT(by),
     .choices = order_name},
    NAI_CMD_FORMAT_OPTION(offsetof(struct tree_args, ask)),
    NAI_CMD_QUIET_OPTION(offsetof(struct tree_args, ask)),
    {0},
};

static const char node_statement[] =
    "select n.rowid as node, n.parent, n.pid, n.tid, n.range_name, n.depth, n.count, n.total_ns, n.self_ns, "
    "n.inclusive_kernel_ns, n.inclusive_kernel_count, n.thread, n.path "
    "from nvtx_nodes n where (:pid is null or n.pid = :pid) and (:tid is null or n.tid = :tid) order by n.rowid";
static const char kernel_statement[] =
    "select node, short_name, count(*), sum(duration_ns) as ns from v_kernels where node is not null group by "
    "node, short_name order by node, ns desc, short_name";

static void put_kernels(struct tree *t, const struct node *node, int indent) {
  for (int64_t k = 0; k < node->kernel_count; k++) {
    const char *name = nai_query_cell_text(&t->kernels, node->kernel + k, K_NAME);
    nai_buf_printf(t->out, "%*s", indent, "");
    if (k == t->args->kernels) {
      nai_buf_printf(t->out, "+%" PRId64 " more kernels\n", node->kernel_count - k);
      return;
    }
    nai_buf_puts(t->out, "- ");
    nai_escape_terminal(t->out, name, strlen(name));
    nai_buf_printf(t->out, "  %" PRId64 "x  ", nai_query_cell_int(&t->kernels, node->kernel + k, K_COUNT));
    nai_fmt_duration(t->out, (double)nai_query_cell_int(&t->kernels, node->kernel + k, K_NS));
    nai_buf_putc(t->out, '\n');
  }
}

static void put_node(struct tree *t, int64_t i, int64_t whole) {
  int64_t row = t->list[i].row;
  int indent = 2 + 2 * (int)nai_query_cell_int(&t->nodes, row, N_DEPTH);
  const char *name = nai_query_cell_text(&t->nodes, row, N_NAME);
  nai_buf_printf(t->out, "%*s", indent, "");
  nai_escape_terminal(t->out, name, strlen(name));
  nai_buf_printf(t->out, "  %" PRId64 "x  wall ", nai_query_cell_int(&t->nodes, row, N_COUNT));
  nai_fmt_duration(t->out, (double)nai_query_cell_int(&t->nodes, row, N_TOTAL));
  nai_buf_puts(t->out, "  self ");
  nai_fmt_duration(t->out, (double)nai_query_cell_int(&t->nodes, row, N_SELF));
  nai_buf_puts(t->out, "  kernels ");
  nai_fmt_duration(t->out, (double)nai_query_cell_int(&t->nodes, row, N_KERNEL));
  nai_buf_printf(t->out, " (%" PRId64 ")", nai_query_cell_int(&t->nodes, row, N_KERNELS));
  if (whole) {
    nai_buf_puts(t->out, "  ");
    nai_fmt_percent(t->out, 100.0 * (double)nai_cmd_tree_time(t, i) / (double)whole);
  }
  nai_buf_putc(t->out, '\n');
  if (t->args->kernels)
    put_kernels(t, &t->list[i], indent + 2);
}

static int64_t nodes_below(const struct tree *t, int64_t i) {
  int64_t n = 1;
  for (int64_t child = t->list[i].first; child >= 0; child = t->list[child].next)
    n += nodes_below(t, child);
  return n;
}

static void put_siblings(struct tree *t, int64_t first, int64_t whole) {
  for (int64_t i = first; i >= 0; i = t->list[i].next) {
    if (t->args->depth >= 0 && nai_query_cell_int(&t->nodes, t->list[i].row, N_DEPTH) > t->args->depth) {
      t->hidden_depth += nodes_below(t, i);
    } else if (whole && 100.0 * (double)nai_cmd_tree_time(t, i) < t->args->min_pct * (double)whole) {
      t->hidden_share += nodes_below(t, i);
    } else {
      put_node(t, i, whole);
      put_siblings(t, t->list[i].first, whole);
    }
  }
}

/* Each thread's roots under a line of its own. */
static void put_threads(struct tree *t, int64_t roots) {
  while (roots >= 0) {
    int64_t row = t->list[roots].row, thread = nai_query_cell_int(&t->nodes, row, N_THREAD), first = roots,
            last = roots, whole = 0, count = 0;
    for (int64_t i = roots; i >= 0 && nai_query_cell_int(&t->nodes, t->list[i].row, N_THREAD) == thread;
         i = t->list[i].next) {
      whole += nai_cmd_tree_time(t, i);
      count++;
      last = i;
    }
    roots = t->list[last].next;
    t->list[last].next = -1;
    nai_buf_printf(t->out, "pid %" PRId64 ", thread %" PRId64 "\n", nai_query_cell_int(&t->nodes, row, N_PID),
                   nai_query_cell_int(&t->nodes, row, N_TID));
    put_siblings(t, nai_cmd_tree_sort(t, first, count), whole);
  }
  if (!t->nodes.rows)
    nai_buf_puts(t->out, t->args->pid < 0 && t->args->tid < 0 ? "no NVTX ranges\n"
                                                              : "no NVTX ranges of that process and thread\n");
  if (t->hidden_depth)
    nai_buf_printf(t->out, "%" PRId64 " ranges hidden by --depth\n", t->hidden_depth);
  if (t->hidden_share)
    nai_buf_printf(t->out, "%" PRId64 " ranges hidden by --min-pct %g\n", t->hidden_share, t->args->min_pct);
}

/* The nodes as rows. */
static int print_rows(struct nai_buf *out, const struct tree_args *args, struct nai_run *run,
                      const struct nai_query_parameter *parameters, struct nai_err *err) {
  const struct nai_query_text text = {.sql = node_statement, .label = "tree"};
  const struct nai_query query = {
      .run = run, .text = &text, .parameters = parameters, .parameter_count = 2, .limits = {.rows = -1}};
  const struct nai_cmd_printing how = {.format = (enum nai_rows_format)args->ask.format, .human = true};
  bool truncated;
  return nai_cmd_query(&truncated, out, &query, &how, err);
}

struct parameters {
  struct nai_query_parameter list[2];
};

static struct parameters parameters_of(const struct tree_args *args) {
  return (struct parameters){{{"pid", {.type = NAI_I64, .i = args->pid, .null = args->pid < 0}},
                              {"tid", {.type = NAI_I64, .i = args->tid, .null = args->tid < 0}}}};
}

int nai_cmd_tree_collect(struct tree *t, struct nai_run *run, struct nai_err *err) {
  const struct parameters parameters = parameters_of(t->args);
  int rc = nai_cmd_collect(&t->nodes, run, node_statement, parameters.list, 2, err);
  if (!rc)
    rc = nai_cmd_collect(&t->kernels, run, kernel_statement, NULL, 0, err);
  return rc ? rc : nai_cmd_tree_make(t, err);
}

void nai_cmd_tree_free(struct tree *t) {
  nai_query_rows_free(&t->nodes);
  nai_query_rows_free(&t->kernels);
  free(t->list);
  free(t->of_number);
}

static int answer(struct nai_buf *out, const void *memory, struct nai_run *run, const char *const *operands,
                  struct nai_err *err) {
  const struct tree_args *args = memory;
  (void)operands;
  struct tree t = {.args = args, .out = out};
  if (args->ask.format != NAI_ROWS_TABLE)
    return print_rows(out, args, run, parameters_of(args).list, err);
  int rc = nai_cmd_tree_collect(&t, run, err);
  if (!rc)
    put_threads(&t, nai_cmd_tree_link(&t));
  nai_cmd_tree_free(&t);
  return rc ? rc : nai_buf_check(out, err);
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct tree_args *args = memory;
  (void)count, (void)program;
  return nai_cmd_answer(answer, args, &args->ask, operands, err);
}

const struct nai_cli_command nai_cmd_tree = {
    .name = "tree",
    .synopsis = "SRC",
    .summary = "print the NVTX ranges of each thread with the kernels they launch",
    .description =
        "Prints the tree of NVTX ranges of each thread: instances, their own time, time without their children, "
        "and the kernels launched "
        "in them and inside them; below each range the kernels launched while it was the innermost. SRC is an "
        "artifacts directory or a "
        "trace, which is analysed for this answer only.",
    .examples =
        "nsys-ai tree artifacts/run1\nnsys-ai tree artifacts/run1 --depth 2 --kernels 0 --by wall\nnsys-ai tree "
        "trace.sqlite --pid 144 --format json",
    .options = options,
    NAI_CMD_ONE_SOURCE,
    .args_size = sizeof(struct tree_args),
    .init = init,
    .run = run,
};
