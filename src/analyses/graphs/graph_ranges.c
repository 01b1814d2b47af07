/* Which code captured the kernels of CUDA graphs? Table graph_ranges: replays have no range of their own, their nodes
 * do. */
#include "analyses/analysis.h"
#include "derive/model.h"
#include "table/columns.h"

#include <stdlib.h>

enum { PID, RANGE, RESOLUTION, KERNELS, KERNEL_TIME, EXAMPLE, LONGEST_START, LONGEST_END };
static const struct nai_column_def columns[] = {
    [PID] = NAI_PID_COLUMN("process", .key = true),
    [RANGE] = NAI_RANGE_NAME_COLUMN("range_name", "innermost NVTX range in which the node was captured or added",
                                    .key = true),
    [RESOLUTION] =
        NAI_LABEL_COLUMN("resolution",
                         "range, or why there is none: no range, no call (around the creation), not recorded "
                         "(the node's creation), ambiguous (several records of one node)",
                         .key = true),
    [KERNELS] = NAI_COUNT_COLUMN("kernel_count", "kernels of graphs, over all launches", .sum = true),
    [KERNEL_TIME] =
        NAI_TIME_COLUMN("kernel_time_ns", "their summed durations", .better = NAI_BETTER_LOWER, .sum = true),
    [EXAMPLE] = {"longest_kernel", NAI_STR, NAI_TEXT, "the longest of them", .role = NAI_ROLE_LABEL},
    [LONGEST_START] = NAI_START_COLUMN("longest_start_ns", "its start"),
    [LONGEST_END] = NAI_END_COLUMN("longest_end_ns", "its end"),
};
static const struct nai_schema schema =
    NAI_SCHEMA("graph_ranges", "Ranges of graph nodes",
               "One NVTX range in which nodes of CUDA graphs of one process were made", columns);

enum resolution { IN_RANGE, NO_RANGE, NO_CALL, NOT_RECORDED, AMBIGUOUS };
enum { MAX_CLONES = 16, SEVERAL = -2 };

/* Creations of nodes by process and id. */
struct nodes {
  const struct nai_model *m;
  struct nai_column start, thread, node, original;
  struct nai_keyset ids, keys; /* node ids; process << 32 | number of the id */
  int64_t *row_of_key;         /* row of graph_node_events, SEVERAL when there is more than one */
};

/* What a node's range is. */
struct answer {
  enum resolution resolution;
  uint32_t name; /* string of nvtx_events */
};

static int64_t key_of(const struct nodes *n, int32_t process, int64_t node) {
  uint32_t id = nai_keyset_find(&n->ids, node);
  return id == UINT32_MAX ? -1 : (int64_t)process << 32 | id;
}

static int read_nodes(struct nodes *n, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_GRAPH_NODES];
  *n = (struct nodes){.m = m,
                      .start = nai_table_column(t, GN_START),
                      .thread = nai_table_column(t, GN_THREAD),
                      .node = nai_table_column(t, GN_NODE),
                      .original = nai_table_column(t, GN_ORIGINAL),
                      .row_of_key = malloc(((size_t)t->rows + 1) * sizeof *n->row_of_key)};
  if (!n->row_of_key)
    return nai_err_nomem(err);
  for (int64_t i = 0; i < t->rows; i++) {
    int32_t thread = nai_at_i32(&n->thread, i), process = thread < 0 ? -1 : m->thread_process[thread];
    bool added;
    if (process < 0)
      continue;
    uint32_t id = nai_keyset_add(&n->ids, nai_at(&n->node, i), &added);
    uint32_t key = nai_keyset_add(&n->keys, (int64_t)process << 32 | id, &added);
    if (n->ids.oom || n->keys.oom)
      return nai_err_nomem(err);
    n->row_of_key[key] = added ? i : SEVERAL;
  }
  return NAI_OK;
}

/* The latest call of the thread that begins at or before t, if it lasts until then. */
static uint32_t call_around(const struct nai_model *m, int32_t thread, int64_t t) {
  const struct nai_groups *calls = &m->api_by_thread;
  uint32_t first = calls->first[thread], last = calls->first[thread + 1];
  uint32_t at = nai_rows_from(calls->order, first, last, &m->apis.start, t + 1);
  for (uint32_t back = 0; at > first && back < 8; back++) { /* calls hardly ever nest */
    uint32_t api = calls->order[--at];
    if (nai_at(&m->apis.end, api) >= t)
      return api;
  }
  return NAI_NO_ROW;
}

/* Follows clones back to the node that code made, and asks where that was. */
static struct answer find_range(const struct nodes *n, int32_t process, int64_t node) {
  int64_t row = -1;
  for (int clone = 0; clone < MAX_CLONES && node > 0; clone++) {
    int64_t key = key_of(n, process, node);
    uint32_t found = key < 0 ? UINT32_MAX : nai_keyset_find(&n->keys, key);
    if (found == UINT32_MAX)
      return (struct answer){NOT_RECORDED, NAI_NO_STRING};
    row = n->row_of_key[found];
    if (row == SEVERAL)
      return (struct answer){AMBIGUOUS, NAI_NO_STRING};
    node = nai_at(&n->original, row);
  }
  if (node > 0 || row < 0) /* a chain without an end */
    return (struct answer){row < 0 ? NOT_RECORDED : AMBIGUOUS, NAI_NO_STRING};
  uint32_t api = call_around(n->m, nai_at_i32(&n->thread, row), nai_at(&n->start, row));
  if (api == NAI_NO_ROW)
    return (struct answer){NO_CALL, NAI_NO_STRING};
  const struct nai_nvtx_node *range = nai_model_call_node(n->m, api);
  return range ? (struct answer){IN_RANGE, range->name} : (struct answer){NO_RANGE, NAI_NO_STRING};
}

/* --- sums ------------------------------------------------------------------------------------------- */

struct sum {
  int32_t process;
  struct answer answer;
  int64_t count, ns;
  uint32_t longest;
};
struct sums {
  struct nai_keyset asked, keys; /* process << 32 | number of the node id; process, range, resolution */
  uint32_t *sum_of_node;
  struct sum *v;
};

static int64_t sum_key(int32_t process, const struct answer *a) {
  enum { RESOLUTION_BITS = 3, NAME_BITS = 32 };
  return ((int64_t)process << NAME_BITS | a->name) << RESOLUTION_BITS | a->resolution;
}

static uint32_t sum_of(struct sums *s, const struct nodes *n, struct nai_keyset *ids, int32_t process, int64_t node) {
  bool added;
  uint32_t id = nai_keyset_add(ids, node, &added);
  uint32_t asked = nai_keyset_add(&s->asked, (int64_t)process << 32 | id, &added);
  if (!added)
    return s->sum_of_node[asked];
  struct answer answer = find_range(n, process, node);
  uint32_t at = nai_keyset_add(&s->keys, sum_key(process, &answer), &added);
  if (added)
    s->v[at] = (struct sum){.process = process, .answer = answer, .longest = NAI_NO_ROW};
  return s->sum_of_node[asked] = at;
}

static int add_kernels(struct sums *s, const struct nodes *n, uint32_t in_graphs, struct nai_err *err) {
  const struct nai_kernel_view *k = &n->m->kernels;
  struct nai_keyset ids = {0};
  s->sum_of_node = malloc(((size_t)in_graphs + 1) * sizeof *s->sum_of_node);
  s->v = malloc(((size_t)in_graphs + 1) * sizeof *s->v);
  int rc = s->sum_of_node && s->v ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < k->n; i++) {
    if (nai_at_i32(&k->graph, i) == NAI_NULL_I32)
      continue;
    int64_t node = nai_at(&k->graph_node, i), ns = nai_kernel_ns(n->m, i);
    struct sum *sum = &s->v[sum_of(s, n, &ids, nai_at_i32(&k->process, i), node == NAI_NULL_I64 ? 0 : node)];
    sum->count++;
    sum->ns += ns;
    if (sum->longest == NAI_NO_ROW || ns > nai_kernel_ns(n->m, sum->longest) ||
        (ns == nai_kernel_ns(n->m, sum->longest) && nai_at(&k->start, i) < nai_at(&k->start, sum->longest)))
      sum->longest = i;
    if (ids.oom || s->asked.oom || s->keys.oom)
      rc = nai_err_nomem(err);
  }
  nai_keyset_free(&ids);
  return rc;
}

static void put_sum(struct nai_table *out, const struct nai_model *m, const struct sum *sum) {
  static const char *const words[] = {"range", "no range", "no call", "not recorded", "ambiguous"};
  int64_t row = nai_table_add_row(out);
  nai_set_i64(out, row, PID, nai_model_pid(m, sum->process));
  if (sum->answer.resolution == IN_RANGE)
    nai_set_str(out, row, RANGE, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, sum->answer.name));
  nai_set_str(out, row, RESOLUTION, words[sum->answer.resolution]);
  nai_set_i64(out, row, KERNELS, sum->count);
  nai_set_i64(out, row, KERNEL_TIME, sum->ns);
  nai_set_str(out, row, EXAMPLE, nai_model_kernel_name(m, sum->longest));
  nai_set_i64(out, row, LONGEST_START, nai_at(&m->kernels.start, sum->longest));
  nai_set_i64(out, row, LONGEST_END, nai_at(&m->kernels.end, sum->longest));
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nodes nodes = {0};
  struct sums sums = {0};
  uint32_t in_graphs = 0;
  for (uint32_t i = 0; i < m->kernels.n; i++)
    in_graphs += nai_at_i32(&m->kernels.graph, i) != NAI_NULL_I32;
  int rc = in_graphs ? read_nodes(&nodes, m, err) : NAI_OK;
  if (!rc && in_graphs)
    rc = add_kernels(&sums, &nodes, in_graphs, err);
  for (uint32_t i = 0; !rc && i < sums.keys.count; i++)
    put_sum(io->out[0], m, &sums.v[i]);
  nai_keyset_free(&nodes.ids);
  nai_keyset_free(&nodes.keys);
  free(nodes.row_of_key);
  nai_keyset_free(&sums.asked);
  nai_keyset_free(&sums.keys);
  free(sums.sum_of_node);
  free(sums.v);
  static const struct nai_sort_by order[] = {{KERNEL_TIME, true}, {PID, false}, {RANGE, false}, {RESOLUTION, false}};
  return rc ? rc : nai_table_sort(io->out[0], order, 4, err);
}

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_graph_ranges = {.name = "graph_ranges",
                                                   .outputs = schemas,
                                                   .parts = NAI_PART(CALLS) | NAI_PART(NVTX_TREE),
                                                   .tables = NAI_IN(KERNELS) | NAI_IN(APIS) | NAI_IN(THREADS) |
                                                             NAI_IN(PROCESSES) | NAI_IN(NVTX) | NAI_IN(GRAPH_NODES),
                                                   .run = run};
