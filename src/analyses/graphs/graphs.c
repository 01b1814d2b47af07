/* Which CUDA graphs run, how large are they, what do their launches cost? Tables graphs, graph_launches. */
#include "model/graphs/graph_launches.h"

#include "analyses/analysis.h"
#include "base/sort.h"
#include "tables/graph_launches.h"
#include "tables/graph_node_events.h"
#include "tables/graphs.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_ROWS = 10000, ASSUMED_LAUNCH_NS = 4000 };

static const char *mode_of(const struct nai_graph_launch *l) { return l->by_node ? "node" : "graph"; }

/* --- one row per launch --------------------------------------------------------------------------- */

static void put_launch(struct nai_table *out, const struct nai_model *m, const struct nai_graph_launch *l) {
  int64_t row = nai_table_add_row(out);
  nai_set_i64(out, row, GRAPH_LAUNCHES_pid, nai_model_pid(m, l->process));
  nai_set_i64(out, row, GRAPH_LAUNCHES_device_id, nai_model_device(m, l->gpu));
  nai_set_i64(out, row, GRAPH_LAUNCHES_start_ns, l->start);
  nai_set_i64(out, row, GRAPH_LAUNCHES_end_ns, l->end);
  nai_set_i64(out, row, GRAPH_LAUNCHES_duration_ns, l->end - l->start);
  nai_set_i64(out, row, GRAPH_LAUNCHES_graph_id, l->graph == NAI_NULL_I32 ? NAI_NULL_I64 : l->graph);
  nai_set_i64(out, row, GRAPH_LAUNCHES_graph_exec_id, l->exec == NAI_NULL_I32 ? NAI_NULL_I64 : l->exec);
  nai_set_str(out, row, GRAPH_LAUNCHES_traced_by, mode_of(l));
  nai_set_i64(out, row, GRAPH_LAUNCHES_idle_before_ns, l->idle_before_ns);
  if (l->by_node) {
    nai_set_i64(out, row, GRAPH_LAUNCHES_node_count, l->nodes);
    nai_set_i64(out, row, GRAPH_LAUNCHES_kernel_count, l->kernels);
    nai_set_i64(out, row, GRAPH_LAUNCHES_kernel_time_ns, l->kernel_ns);
    nai_set_i64(out, row, GRAPH_LAUNCHES_idle_inside_ns, l->idle_inside_ns);
  }
  if (l->api != NAI_NO_ROW) {
    nai_set_i64(out, row, GRAPH_LAUNCHES_launch_api_ns, nai_call_ns(m, l->api));
    nai_set_i64(out, row, GRAPH_LAUNCHES_launch_api_start_ns, nai_at(&m->apis.start_ns, l->api));
  }
}

static int put_launches(struct nai_table *out, const struct nai_model *m, const struct nai_graph_launches *launches,
                        struct nai_err *err) {
  for (uint32_t i = 0; i < launches->count; i++)
    put_launch(out, m, &launches->v[i]);
  int rc = nai_table_sort(out, err);
  if (!rc && out->rows > MAX_ROWS)
    nai_table_truncate(out, MAX_ROWS);
  return rc;
}

/* --- one row per graph ------------------------------------------------------------------------------ */

/* What rows need beside the launches. */
struct work {
  const struct nai_model *m;
  double *stream_p50;     /* per process: launches outside of graphs, NaN for none */
  struct nai_keyset made; /* process << 32 | graph, of created nodes */
  int64_t *made_count;
  int64_t *values; /* as many as there are launches */
};

#define ORDER_BY(field)     \
  if (a->field != b->field) \
    return a->field < b->field ? -1 : 1;
static int compare_graphs(const void *pa, const void *pb) {
  const struct nai_graph_launch *a = pa, *b = pb;
  ORDER_BY(process)
  ORDER_BY(gpu)
  ORDER_BY(graph)
  ORDER_BY(exec)
  ORDER_BY(by_node)
  ORDER_BY(start)
  ORDER_BY(end)
  return (a->api > b->api) - (a->api < b->api);
}
#undef ORDER_BY

static bool same_graph(const struct nai_graph_launch *a, const struct nai_graph_launch *b) {
  return a->process == b->process && a->gpu == b->gpu && a->graph == b->graph && a->exec == b->exec &&
         a->by_node == b->by_node;
}

static void put_calls(struct nai_table *out, int64_t row, const struct work *w, const struct nai_graph_launch *v,
                      uint32_t n) {
  static const double q[] = {0.5, 0.9};
  double quantiles[2];
  int64_t total = 0;
  size_t count = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (v[i].api == NAI_NO_ROW)
      continue;
    w->values[count] = nai_call_ns(w->m, v[i].api);
    total += w->values[count++];
  }
  if (!count)
    return;
  nai_quantiles_i64(quantiles, w->values, count, q, 2);
  nai_set_i64(out, row, GRAPHS_launch_api_ns, total);
  nai_set_f64(out, row, GRAPHS_api_p50_ns, quantiles[0]);
  nai_set_f64(out, row, GRAPHS_api_p90_ns, quantiles[1]);
}

/* Sums and medians of the launches of a graph. */
static void put_times(struct nai_table *out, int64_t row, const struct work *w, const struct nai_graph_launch *v,
                      uint32_t n) {
  int64_t envelope = 0, inside = 0, before = 0, kernels = 0, kernel_ns = 0, last = v->end;
  const struct nai_graph_launch *longest = v;
  for (uint32_t i = 0; i < n; i++) {
    w->values[i] = v[i].end - v[i].start;
    envelope += w->values[i];
    inside += v[i].idle_inside_ns;
    before += v[i].idle_before_ns;
    kernels += v[i].kernels;
    kernel_ns += v[i].kernel_ns;
    last = v[i].end > last ? v[i].end : last;
    longest = w->values[i] > longest->end - longest->start ? &v[i] : longest;
  }
  nai_set_i64(out, row, GRAPHS_launch_count, n);
  if (last > v->start)
    nai_set_f64(out, row, GRAPHS_launches_per_s, (double)n * 1e9 / (double)(last - v->start));
  nai_set_i64(out, row, GRAPHS_envelope_ns, envelope);
  nai_set_f64(out, row, GRAPHS_envelope_p50_ns, nai_quantile_i64(w->values, n, 0.5));
  nai_set_i64(out, row, GRAPHS_idle_before_ns, before);
  nai_set_i64(out, row, GRAPHS_longest_start_ns, longest->start);
  nai_set_i64(out, row, GRAPHS_longest_end_ns, longest->end);
  if (!v->by_node)
    return;
  nai_set_i64(out, row, GRAPHS_kernel_count, kernels);
  nai_set_i64(out, row, GRAPHS_kernel_time_ns, kernel_ns);
  nai_set_i64(out, row, GRAPHS_idle_inside_ns, inside);
  nai_set_f64(out, row, GRAPHS_idle_inside_pct, nai_percent((double)inside, (double)envelope));
}

static void put_nodes(struct nai_table *out, int64_t row, const struct work *w, const struct nai_graph_launch *v,
                      uint32_t n) {
  double nodes = NAN, usual = v->process < 0 ? NAN : w->stream_p50[v->process];
  if (v->by_node) {
    for (uint32_t i = 0; i < n; i++)
      w->values[i] = v[i].nodes;
    nodes = nai_quantile_i64(w->values, n, 0.5);
  } else if (v->process >= 0 && v->graph != NAI_NULL_I32) {
    uint32_t made = nai_keyset_find(&w->made, nai_key_pair(v->process, (uint32_t)v->graph));
    nodes = made == UINT32_MAX ? NAN : (double)w->made_count[made];
  }
  nai_set_f64(out, row, GRAPHS_nodes_per_launch, nodes);
  nai_set_f64(out, row, GRAPHS_stream_launch_p50_ns, usual);
  nai_set_f64(out, row, GRAPHS_cpu_saved_per_launch_ns,
              nodes * (isnan(usual) ? ASSUMED_LAUNCH_NS : usual) - nai_get_f64(out, row, GRAPHS_api_p50_ns));
}

static void put_graph(struct nai_table *out, const struct work *w, const struct nai_graph_launch *v, uint32_t n) {
  int64_t row = nai_table_add_row(out);
  nai_set_i64(out, row, GRAPHS_pid, nai_model_pid(w->m, v->process));
  nai_set_i64(out, row, GRAPHS_device_id, nai_model_device(w->m, v->gpu));
  nai_set_i64(out, row, GRAPHS_graph_id, v->graph == NAI_NULL_I32 ? NAI_NULL_I64 : v->graph);
  nai_set_i64(out, row, GRAPHS_graph_exec_id, v->exec == NAI_NULL_I32 ? NAI_NULL_I64 : v->exec);
  nai_set_str(out, row, GRAPHS_traced_by, mode_of(v));
  put_times(out, row, w, v, n);
  put_calls(out, row, w, v, n);
  put_nodes(out, row, w, v, n);
}

/* --- what rows need --------------------------------------------------------------------------------- */

/* Durations of calls that launched a kernel outside of graphs, by process. */
static void stream_launches(const void *ctx, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct nai_model *m = ctx;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t kernel = first + i, api = m->kernel_api[kernel];
    int64_t process = nai_at(&m->kernels.process, kernel);
    bool counts = api != NAI_NO_ROW && process >= 0 && nai_at_i32(&m->kernels.graph_id, kernel) == NAI_NULL_I32;
    group[i] = counts ? (uint32_t)process : NAI_NO_GROUP;
    value[i] = counts ? nai_call_ns(m, api) : 0;
  }
}

static int find_stream_launches(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  struct nai_values values = {m->kernels.n, stream_launches, m, NULL};
  struct nai_stats *stats = calloc((size_t)m->process_count + 1, sizeof *stats);
  int rc = stats ? nai_group_stats(stats, m->process_count, &values, err) : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < m->process_count; i++)
    w->stream_p50[i] = stats[i].count ? stats[i].p50 : NAN;
  free(stats);
  return rc;
}

/* How many nodes of each graph the export says were created: the upper half of a node's id is its graph's. */
static int count_nodes(struct work *w, struct nai_err *err) {
  const struct nai_table *nodes = w->m->tables[NAI_IN_GRAPH_NODES];
  const struct nai_column thread = nai_table_column(nodes, GRAPH_NODE_EVENTS_thread),
                          node = nai_table_column(nodes, GRAPH_NODE_EVENTS_graph_node_id);
  w->made_count = calloc((size_t)nodes->rows + 1, sizeof *w->made_count);
  if (!w->made_count)
    return nai_err_nomem(err);
  for (int64_t i = 0; i < nodes->rows; i++) {
    int32_t of = nai_at_i32(&thread, i), process = of < 0 ? -1 : w->m->thread_process[of];
    bool added;
    if (process >= 0)
      w->made_count[nai_keyset_add(&w->made, nai_key_pair(process, (uint32_t)((uint64_t)nai_at(&node, i) >> 32)),
                                   &added)]++;
  }
  return w->made.oom ? nai_err_nomem(err) : NAI_OK;
}

static int put_graphs(struct nai_table *out, const struct nai_model *m, struct nai_graph_launches *launches,
                      struct nai_err *err) {
  struct work w = {.m = m,
                   .stream_p50 = calloc((size_t)m->process_count + 1, sizeof *w.stream_p50),
                   .values = malloc(((size_t)launches->count + 1) * sizeof *w.values)};
  int rc = w.stream_p50 && w.values ? find_stream_launches(&w, err) : nai_err_nomem(err);
  if (!rc)
    rc = count_nodes(&w, err);
  if (!rc)
    qsort(launches->v, launches->count, sizeof *launches->v, compare_graphs);
  for (uint32_t i = 0, j; !rc && i < launches->count; i = j) {
    for (j = i + 1; j < launches->count && same_graph(&launches->v[i], &launches->v[j]); j++)
      ;
    put_graph(out, &w, launches->v + i, j - i);
  }
  nai_keyset_free(&w.made);
  free(w.made_count);
  free(w.stream_p50);
  free(w.values);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_graph_launches launches = {0};
  int rc = nai_graph_launches_find(&launches, io->model, err);
  if (!rc && launches.count)
    rc = put_launches(io->out[1], io->model, &launches, err);
  if (!rc && launches.count)
    rc = put_graphs(io->out[0], io->model, &launches, err);
  nai_graph_launches_free(&launches);
  return rc;
}

NAI_ANALYSIS(graphs, .outputs = NAI_SCHEMAS(&nai_graphs_schema, &nai_graph_launches_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(IDLE),
             .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) |
                       NAI_IN(PROCESSES) | NAI_IN(THREADS) | NAI_IN(GRAPH_NODES) | NAI_IN(OVERHEAD),
             .run = run)
