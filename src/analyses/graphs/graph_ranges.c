/* Which code captured the kernels of CUDA graphs? Table graph_ranges: replays have no range of their own, their nodes
 * do. */
#include "analyses/analysis.h"
#include "model/graphs/graph_origin.h"
#include "tables/graph_ranges.h"

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
  struct nai_arena *arena;
  const struct nai_graph_nodes *nodes;
  struct nai_keyset ids, asked, keys; /* node ids; process << 32 | number of the id; process, range, resolution */
  uint32_t *sum_of_node, nodes_capacity;
  struct sum *v;
  uint32_t capacity;
};

static int64_t sum_key(int32_t process, const struct answer *a) {
  enum { RESOLUTION_BITS = 3 };
  return (int64_t)((uint64_t)nai_key_pair(process, a->name) << RESOLUTION_BITS | a->resolution);
}

/* The sum of a node of a process: nodes are asked for once. */
static int sum_of(struct sum **out, struct sums *s, int32_t process, int64_t node, struct nai_err *err) {
  bool first, added;
  uint32_t id = nai_keyset_add(&s->ids, node, &added);
  uint32_t asked = nai_keyset_add(&s->asked, nai_key_pair(process, id), &first);
  if (first && !s->asked.oom) {
    struct answer answer = find_range(s->nodes, process, node);
    uint32_t at = nai_keyset_add(&s->keys, sum_key(process, &answer), &added);
    NAI_TRY(NAI_ROOM(s->sum_of_node, s->nodes_capacity, asked, s->arena, err));
    NAI_TRY(NAI_ROOM(s->v, s->capacity, at, s->arena, err));
    if (added)
      s->v[at] = (struct sum){.process = process, .answer = answer, .longest = NAI_NO_ROW};
    s->sum_of_node[asked] = at;
  }
  NAI_TRY(nai_memory_check(!s->ids.oom && !s->asked.oom && !s->keys.oom, err));
  *out = &s->v[s->sum_of_node[asked]];
  return NAI_OK;
}

static int add_kernels(struct sums *s, const struct nai_model *m, struct nai_err *err) {
  const struct KERNEL_EVENTS_columns *k = &m->kernels;
  for (uint32_t i = 0; i < k->n; i++) {
    if (nai_at_i32(&k->graph_id, i) == NAI_NULL_I32)
      continue;
    int64_t node = nai_at(&k->graph_node_id, i), ns = nai_kernel_ns(m, i);
    struct sum *sum = NULL;
    NAI_TRY(sum_of(&sum, s, nai_at_i32(&k->process, i), node == NAI_NULL_I64 ? 0 : node, err));
    sum->count++;
    sum->ns += ns;
    if (sum->longest == NAI_NO_ROW || ns > nai_kernel_ns(m, sum->longest) ||
        (ns == nai_kernel_ns(m, sum->longest) && nai_val(&k->start_ns, i) < nai_val(&k->start_ns, sum->longest)))
      sum->longest = i;
  }
  return NAI_OK;
}

static void put_sum(struct nai_table *out, const struct nai_model *m, const struct sum *sum) {
  static const char *const words[] = {"range", "no range", "no call", "not recorded", "ambiguous"};
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  NAI_ADD(GRAPH_RANGES, out, .pid = nai_model_pid(m, sum->process),
          .range_name = sum->answer.resolution == IN_RANGE ? nai_strings_get(names, sum->answer.name) : NULL,
          .resolution = words[sum->answer.resolution], .kernel_count = sum->count, .kernel_time_ns = sum->ns,
          .longest_kernel = nai_model_kernel_name(m, sum->longest),
          .longest_start_ns = nai_val(&m->kernels.start_ns, sum->longest),
          .longest_end_ns = nai_val(&m->kernels.end_ns, sum->longest));
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  NAI_SCOPED(nai_graph_nodes) nodes = {0};
  struct sums sums = {.arena = io->arena,
                      .nodes = &nodes,
                      .ids = {.arena = io->arena},
                      .asked = {.arena = io->arena},
                      .keys = {.arena = io->arena}};
  bool in_graphs = false;
  for (uint32_t i = 0; i < m->kernels.n && !in_graphs; i++)
    in_graphs = nai_at_i32(&m->kernels.graph_id, i) != NAI_NULL_I32;
  if (!in_graphs)
    return NAI_OK;
  NAI_TRY(nai_graph_nodes_new(&nodes, m, err));
  NAI_TRY(add_kernels(&sums, m, err));
  for (uint32_t i = 0; i < sums.keys.count; i++)
    put_sum(io->out[0], m, &sums.v[i]);
  return NAI_OK;
}

NAI_ANALYSIS(graph_ranges, .outputs = NAI_SCHEMAS(&nai_graph_ranges_schema),
             .parts = NAI_PART(CALLS) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(KERNELS) | NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(NVTX) |
                       NAI_IN(GRAPH_NODES),
             .run = run)
