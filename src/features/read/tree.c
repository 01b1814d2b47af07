/* nsys-ai tree: the NVTX ranges of each thread, with the GPU work that they launched. */
#include "features/read/tree.h"

#include "base/fmt.h"
#include "base/escape.h"
#include "base/sort.h"
#include "base/text.h"

static void init(void *memory) {
  struct tree_args *args = memory;
  nai_cmd_ask_init(&args->ask);
  args->pid = args->tid = -1;
  args->depth = -1;
  args->kernels = 3;
  args->min_pct = 1;
  args->by = BY_GPU;
}

NAI_CLI_NAMES(order_name, "wall", "gpu")

#define NAI_CLI_ARGS struct tree_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(int64, pid, "pid", "P", "threads of this process only", .max = INT64_MAX, .otherwise = "all"),
    NAI_CLI_OPTION(int64, tid, "tid", "T", "this thread only", .max = INT64_MAX, .otherwise = "all"),
    NAI_CLI_OPTION(int, depth, "depth", "N", "ranges with at most N around them", .max = 10000, .otherwise = "all"),
    NAI_CLI_OPTION(number, min_pct, "min-pct", "X", "hide ranges with less than X percent of the thread's time",
                   NAI_CLI_RANGE(0, 100)),
    NAI_CLI_OPTION(int, kernels, "kernels", "N", "name the N kernels with most time of each range", .max = 1000),
    NAI_CLI_OPTION(
        choice, by, "by", "TIME",
        "what ranges are ordered by, and percent are of: their own time, or that of the kernels launched in them",
        .choices = order_name),
    NAI_CMD_FORMAT_OPTION,
    NAI_CMD_EXPORT_OPTION,
    NAI_CMD_QUIET_OPTION,
    {0},
};

/* --- the tree --------------------------------------------------------------------------------------- */

enum { N_NODE, N_PARENT, N_PID, N_TID, N_NAME, N_DEPTH, N_COUNT, N_TOTAL, N_SELF, N_KERNEL, N_KERNELS, N_THREAD };
static const char node_statement[] =
    "select n.rowid as node, n.parent, n.pid, n.tid, n.range_name, n.depth, n.count, n.total_ns, n.self_ns, "
    "n.inclusive_kernel_ns, n.inclusive_kernel_count, n.thread, n.path "
    "from nvtx_nodes n where (:pid is null or n.pid = :pid) and (:tid is null or n.tid = :tid) order by n.rowid";
enum { K_NODE, K_NAME, K_COUNT, K_NS };
static const char kernel_statement[] =
    "select node, short_name, count(*), sum(duration_ns) as ns from v_kernels where node is not null group by "
    "node, short_name order by node, ns desc, short_name";

int64_t nai_range_tree_time(const struct nai_range_tree *t, int64_t i) {
  return t->args->by == BY_WALL ? t->nodes[i].wall_ns : t->nodes[i].gpu_ns;
}

struct order {
  const struct nai_range_tree *tree;
  const int64_t *above; /* per node: the one around it, -1 */
};

/* Siblings one after the other, those of one thread together; of them the ones with more time first. */
static int compare_nodes(const void *pa, const void *pb, void *ctx) {
  const struct order *o = ctx;
  const struct nai_range_tree *t = o->tree;
  int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
  int order = NAI_COMPARE({o->above[a], o->above[b]}, {t->nodes[a].thread, t->nodes[b].thread},
                          {nai_range_tree_time(t, b), nai_range_tree_time(t, a)});
  order = order ? order : strcmp(t->nodes[a].name, t->nodes[b].name);
  return order ? order : NAI_COMPARE({a, b});
}

/* Children of each node and the roots, in order. `of_number`: nodes by number, -1. */
static int link_nodes(struct nai_range_tree *t, const int64_t *of_number, int64_t numbers, struct nai_err *err) {
  int64_t *list, *above;
  NAI_TRY(NAI_NEW(list, t->arena, t->count, err));
  NAI_TRY(NAI_NEW(above, t->arena, t->count, err));
  for (int64_t i = 0; i < t->count; i++) {
    const struct nai_value *parent = nai_query_cell(&t->rows, i, N_PARENT);
    above[i] = parent->null || parent->i >= numbers ? -1 : of_number[parent->i];
    list[i] = i;
  }
  qsort_r(list, (size_t)t->count, sizeof *list, compare_nodes, &(struct order){t, above});
  t->roots = -1;
  for (int64_t i = t->count; i-- > 0;) {
    int64_t node = list[i], *first = above[node] < 0 ? &t->roots : &t->nodes[above[node]].first;
    t->nodes[node].next = *first;
    *first = node;
  }
  return NAI_OK;
}

static int put_kernels(struct nai_range_tree *t, const int64_t *of_number, int64_t numbers, struct nai_err *err) {
  const struct nai_query_rows *rows = &t->kernels_rows;
  struct nai_range_kernels *kernels;
  NAI_TRY(NAI_NEW(kernels, t->arena, rows->rows, err));
  for (int64_t k = 0; k < rows->rows; k++) {
    int64_t number = nai_query_cell_int(rows, k, K_NODE), node = number < numbers ? of_number[number] : -1;
    kernels[k] = (struct nai_range_kernels){nai_query_cell_text(rows, k, K_NAME), nai_query_cell_int(rows, k, K_COUNT),
                                            nai_query_cell_int(rows, k, K_NS)};
    if (node >= 0 && !t->nodes[node].kernel_count++)
      t->nodes[node].kernels = &kernels[k];
  }
  return NAI_OK;
}

static int make_nodes(struct nai_range_tree *t, struct nai_err *err) {
  const struct nai_query_rows *rows = &t->rows;
  int64_t numbers = rows->rows ? nai_query_cell_int(rows, rows->rows - 1, N_NODE) + 1 : 0, *of_number;
  t->count = rows->rows;
  NAI_TRY(NAI_NEW(t->nodes, t->arena, t->count, err));
  NAI_TRY(NAI_NEW(of_number, t->arena, numbers, err));
  for (int64_t i = 0; i < numbers; i++)
    of_number[i] = -1;
  for (int64_t i = 0; i < t->count; i++) {
    of_number[nai_query_cell_int(rows, i, N_NODE)] = i;
    t->nodes[i] = (struct nai_range_node){.name = nai_query_cell_text(rows, i, N_NAME),
                                          .thread = nai_query_cell_int(rows, i, N_THREAD),
                                          .pid = nai_query_cell_int(rows, i, N_PID),
                                          .tid = nai_query_cell_int(rows, i, N_TID),
                                          .depth = nai_query_cell_int(rows, i, N_DEPTH),
                                          .count = nai_query_cell_int(rows, i, N_COUNT),
                                          .wall_ns = nai_query_cell_int(rows, i, N_TOTAL),
                                          .self_ns = nai_query_cell_int(rows, i, N_SELF),
                                          .gpu_ns = nai_query_cell_int(rows, i, N_KERNEL),
                                          .launched = nai_query_cell_int(rows, i, N_KERNELS),
                                          .first = -1};
  }
  NAI_TRY(link_nodes(t, of_number, numbers, err));
  return put_kernels(t, of_number, numbers, err);
}

int64_t nai_range_tree_next_thread(int64_t *whole, struct nai_range_tree *t) {
  int64_t first = t->roots, last = first;
  *whole = 0;
  for (int64_t i = first; i >= 0 && t->nodes[i].thread == t->nodes[first].thread; i = t->nodes[i].next) {
    *whole += nai_range_tree_time(t, i);
    last = i;
  }
  if (first < 0)
    return -1;
  t->roots = t->nodes[last].next;
  t->nodes[last].next = -1;
  return first;
}

struct parameters {
  struct nai_query_parameter list[2];
};

static struct parameters parameters_of(const struct tree_args *args) {
  return (struct parameters){{nai_query_int("pid", args->pid < 0 ? -1 : args->pid, -1),
                              nai_query_int("tid", args->tid < 0 ? -1 : args->tid, -1)}};
}

static int find_recorded(bool *recorded, struct nai_run *run, struct nai_err *err) {
  NAI_SCOPED(nai_query_rows) rows = {0};
  NAI_TRY(nai_query_ask(&rows, run, "select kernel_count + graph_envelope_count from run_info", NULL, 0, err));
  *recorded = rows.rows && nai_query_cell_int(&rows, 0, 0) > 0;
  return NAI_OK;
}

int nai_range_tree_collect(struct nai_range_tree *t, struct nai_run *run, struct nai_err *err) {
  NAI_TRY(find_recorded(&t->recorded, run, err));
  const struct parameters parameters = parameters_of(t->args);
  NAI_TRY(nai_query_ask(&t->rows, run, node_statement, parameters.list, 2, err));
  NAI_TRY(nai_query_ask(&t->kernels_rows, run, kernel_statement, NULL, 0, err));
  return make_nodes(t, err);
}

void nai_range_tree_free(struct nai_range_tree *t) {
  nai_query_rows_free(&t->rows);
  nai_query_rows_free(&t->kernels_rows);
}

/* --- printing --------------------------------------------------------------------------------------- */

struct printing {
  struct nai_buf *out;
  int width; /* of the terminal; 0: none */
  struct nai_range_tree *tree;
  int64_t hidden_depth, hidden_share;
};

/* A name and its numbers, on a terminal in one line: the middle of a name that is too long is left out, then blanks in
 * front of it. */
static void put_line(const struct printing *p, const char *lead, const char *text, int indent,
                     const struct nai_buf *numbers) {
  enum { SHORTEST = 8 };
  NAI_SCOPED(nai_buf) name = {0};
  nai_escape_terminal(&name, text, strlen(text));
  int room = p->width - (int)(nai_text_chars(nai_buf_str(numbers), numbers->len) + strlen(lead));
  if (p->width && indent > room - SHORTEST)
    indent = room > SHORTEST ? room - SHORTEST : 0;
  nai_buf_printf(p->out, "%*s%s", indent, "", lead);
  nai_text_cut(p->out, nai_buf_str(&name), name.len, p->width ? (size_t)(room > indent ? room - indent : 1) : SIZE_MAX);
  nai_buf_puts(p->out, nai_buf_str(numbers));
  nai_buf_putc(p->out, '\n');
  p->out->oom |= name.oom || numbers->oom;
}

static void print_kernels(struct printing *p, const struct nai_range_node *node, int indent) {
  for (int64_t k = 0; k < node->kernel_count; k++) {
    const struct nai_range_kernels *kernels = &node->kernels[k];
    if (k == p->tree->args->kernels) {
      nai_buf_printf(p->out, "%*s+%" PRId64 " more kernels\n", indent, "", node->kernel_count - k);
      return;
    }
    NAI_SCOPED(nai_buf) numbers = {0};
    nai_buf_printf(&numbers, "  %" PRId64 "x  ", kernels->count);
    nai_fmt_duration(&numbers, (double)kernels->ns);
    put_line(p, "- ", kernels->name, indent, &numbers);
  }
}

static void print_node(struct printing *p, int64_t i, int64_t whole) {
  const struct nai_range_node *node = &p->tree->nodes[i];
  int indent = 2 + 2 * (int)node->depth;
  NAI_SCOPED(nai_buf) numbers = {0};
  nai_buf_printf(&numbers, "  %" PRId64 "x  wall ", node->count);
  nai_fmt_duration(&numbers, (double)node->wall_ns);
  if (node->self_ns != node->wall_ns) {
    nai_buf_puts(&numbers, "  self ");
    nai_fmt_duration(&numbers, (double)node->self_ns);
  }
  if (p->tree->recorded) {
    nai_buf_puts(&numbers, "  kernels ");
    nai_fmt_duration(&numbers, (double)node->gpu_ns);
    nai_buf_printf(&numbers, " (%" PRId64 ")", node->launched);
  }
  if (whole) {
    nai_buf_puts(&numbers, "  ");
    nai_fmt_percent(&numbers, 100.0 * (double)nai_range_tree_time(p->tree, i) / (double)whole);
  }
  put_line(p, "", node->name, indent, &numbers);
  if (p->tree->args->kernels)
    print_kernels(p, node, indent + 2);
}

static int64_t nodes_below(const struct nai_range_tree *t, int64_t i) {
  int64_t n = 1;
  for (int64_t child = t->nodes[i].first; child >= 0; child = t->nodes[child].next)
    n += nodes_below(t, child);
  return n;
}

static void print_siblings(struct printing *p, int64_t first, int64_t whole) {
  const struct tree_args *args = p->tree->args;
  for (int64_t i = first; i >= 0; i = p->tree->nodes[i].next) {
    if (args->depth >= 0 && p->tree->nodes[i].depth > args->depth) {
      p->hidden_depth += nodes_below(p->tree, i);
    } else if (whole && 100.0 * (double)nai_range_tree_time(p->tree, i) < args->min_pct * (double)whole) {
      p->hidden_share += nodes_below(p->tree, i);
    } else {
      print_node(p, i, whole);
      print_siblings(p, p->tree->nodes[i].first, whole);
    }
  }
}

/* Each thread's roots under a line of its own. */
static void print_threads(struct nai_buf *out, struct nai_range_tree *t) {
  struct printing p = {.out = out, .width = nai_cmd_terminal_width(), .tree = t};
  int64_t whole;
  if (t->count && !t->recorded)
    nai_buf_puts(out, "Kernels were not recorded: times are those of the host.\n");
  for (int64_t first; (first = nai_range_tree_next_thread(&whole, t)) >= 0;) {
    nai_buf_printf(out, "pid %" PRId64 ", thread %" PRId64 "\n", t->nodes[first].pid, t->nodes[first].tid);
    print_siblings(&p, first, whole);
  }
  if (!t->count)
    nai_buf_puts(out, t->args->pid < 0 && t->args->tid < 0 ? "no NVTX ranges\n"
                                                           : "no NVTX ranges of that process and thread\n");
  if (p.hidden_depth)
    nai_buf_printf(out, "%" PRId64 " ranges hidden by --depth\n", p.hidden_depth);
  if (p.hidden_share)
    nai_buf_printf(out, "%" PRId64 " ranges hidden by --min-pct %g\n", p.hidden_share, t->args->min_pct);
}

static int answer(struct nai_buf *out, const void *memory, struct nai_run *run, const char *const *operands,
                  struct nai_err *err) {
  const struct tree_args *args = memory;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_range_tree) tree = {.args = args, .arena = &arena};
  (void)operands;
  if (args->ask.format != NAI_ROWS_TABLE)
    return nai_cmd_query_all(
        out, run, node_statement, "tree", parameters_of(args).list, 2,
        &(struct nai_cmd_printing){.format = (enum nai_rows_format)args->ask.format, .human = true}, err);
  NAI_TRY(nai_range_tree_collect(&tree, run, err));
  print_threads(out, &tree);
  return nai_buf_check(out, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct tree_args *args = memory;
  (void)count;
  return nai_cmd_answer(answer, args, &args->ask, operands, err);
}

NAI_CLI_COMMAND(
    nai_cmd_tree, .name = "tree", .synopsis = "SRC",
    .summary = "print the NVTX ranges of each thread with the kernels they launch",
    .description =
        "Prints the tree of NVTX ranges of each thread: instances, their own time, time without their children, and "
        "the kernels launched in them and inside them; below each range the kernels launched while it was the "
        "innermost. " NAI_CMD_ABOUT_SOURCE,
    .examples =
        "nsys-ai tree artifacts/run1\nnsys-ai tree artifacts/run1 --depth 2 --kernels 0 --by wall\nnsys-ai tree "
        "trace.sqlite --pid 144 --format json",
    .options = options, NAI_CMD_ONE_SOURCE, .init = init, .run = run)
