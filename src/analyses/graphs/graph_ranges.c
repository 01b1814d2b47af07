/* Which code captured the kernels of CUDA graphs? Table graph_ranges: replays have no range of their own, their nodes
 * do. */
#include "analyses/analysis.h"
#include "model/graphs/graph_origin.h"
#include "tables/graph_ranges.h"

#include <stdlib.h>

enum resolution { IN_RANGE, NO_RANGE, NO_CALL, NOT_RECORDED, AMBIGUOUS };

/* What a node's range is. */
struct answer {
  enum resolution resolution;
  uint32_t name; /* string of nvtx_events */
};

static struct answer find_range(const struct nai_graph_nodes *n, int32_t process, int64_t node) {
  static const enum resolution why[] = {
      [NAI_ORIGIN_NO_CALL] = NO_CALL, [NAI_ORIGIN_NOT_RECORDED] = NOT_RECORDED, [NAI_ORIGIN_AMBIGUOUS] = AMBIGUOUS};
  uint32_t api;
  enum nai_graph_origin origin = nai_graph_node_call(&api, n, process, node);
  if (origin != NAI_ORIGIN_FOUND)
    return (struct answer){why[origin], NAI_NO_STRING};
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
  enum { RESOLUTION_BITS = 3 };
  return (int64_t)((uint64_t)nai_key_pair(process, a->name) << RESOLUTION_BITS | a->resolution);
}

static uint32_t sum_of(struct sums *s, const struct nai_graph_nodes *n, struct nai_keyset *ids, int32_t process,
                       int64_t node) {
  bool added;
  uint32_t id = nai_keyset_add(ids, node, &added);
  uint32_t asked = nai_keyset_add(&s->asked, nai_key_pair(process, id), &added);
  if (!added)
    return s->sum_of_node[asked];
  struct answer answer = find_range(n, process, node);
  uint32_t at = nai_keyset_add(&s->keys, sum_key(process, &answer), &added);
  if (added)
    s->v[at] = (struct sum){.process = process, .answer = answer, .longest = NAI_NO_ROW};
  return s->sum_of_node[asked] = at;
}

static int add_kernels(struct sums *s, const struct nai_graph_nodes *n, uint32_t in_graphs, struct nai_err *err) {
  const struct KERNEL_EVENTS_columns *k = &n->m->kernels;
  struct nai_keyset ids = {0};
  s->sum_of_node = malloc(((size_t)in_graphs + 1) * sizeof *s->sum_of_node);
  s->v = malloc(((size_t)in_graphs + 1) * sizeof *s->v);
  int rc = s->sum_of_node && s->v ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < k->n; i++) {
    if (nai_at_i32(&k->graph_id, i) == NAI_NULL_I32)
      continue;
    int64_t node = nai_at(&k->graph_node_id, i), ns = nai_kernel_ns(n->m, i);
    struct sum *sum = &s->v[sum_of(s, n, &ids, nai_at_i32(&k->process, i), node == NAI_NULL_I64 ? 0 : node)];
    sum->count++;
    sum->ns += ns;
    if (sum->longest == NAI_NO_ROW || ns > nai_kernel_ns(n->m, sum->longest) ||
        (ns == nai_kernel_ns(n->m, sum->longest) && nai_at(&k->start_ns, i) < nai_at(&k->start_ns, sum->longest)))
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
  nai_set_i64(out, row, GRAPH_RANGES_pid, nai_model_pid(m, sum->process));
  if (sum->answer.resolution == IN_RANGE)
    nai_set_str(out, row, GRAPH_RANGES_range_name, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, sum->answer.name));
  nai_set_str(out, row, GRAPH_RANGES_resolution, words[sum->answer.resolution]);
  nai_set_i64(out, row, GRAPH_RANGES_kernel_count, sum->count);
  nai_set_i64(out, row, GRAPH_RANGES_kernel_time_ns, sum->ns);
  nai_set_str(out, row, GRAPH_RANGES_longest_kernel, nai_model_kernel_name(m, sum->longest));
  nai_set_i64(out, row, GRAPH_RANGES_longest_start_ns, nai_at(&m->kernels.start_ns, sum->longest));
  nai_set_i64(out, row, GRAPH_RANGES_longest_end_ns, nai_at(&m->kernels.end_ns, sum->longest));
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_graph_nodes nodes = {0};
  struct sums sums = {0};
  uint32_t in_graphs = 0;
  for (uint32_t i = 0; i < m->kernels.n; i++)
    in_graphs += nai_at_i32(&m->kernels.graph_id, i) != NAI_NULL_I32;
  int rc = in_graphs ? nai_graph_nodes_new(&nodes, m, err) : NAI_OK;
  if (!rc && in_graphs)
    rc = add_kernels(&sums, &nodes, in_graphs, err);
  for (uint32_t i = 0; !rc && i < sums.keys.count; i++)
    put_sum(io->out[0], m, &sums.v[i]);
  nai_graph_nodes_free(&nodes);
  nai_keyset_free(&sums.asked);
  nai_keyset_free(&sums.keys);
  free(sums.sum_of_node);
  free(sums.v);
  return rc;
}

NAI_ANALYSIS(graph_ranges, .outputs = NAI_SCHEMAS(&nai_graph_ranges_schema),
             .parts = NAI_PART(CALLS) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(KERNELS) | NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(NVTX) |
                       NAI_IN(GRAPH_NODES),
             .run = run)
