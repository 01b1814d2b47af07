/* Which CUDA graphs run, how large are they, what do their launches cost? Tables graphs, graph_launches. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/graphs/graph_launches.h"
#include "tables/graph_launches.h"
#include "tables/graph_node_events.h"
#include "tables/graphs.h"

enum { MAX_ROWS = 10000, ASSUMED_LAUNCH_NS = 4000 };

static const char *mode_of(const struct nai_graph_launch *l) { return l->by_node ? "node" : "graph"; }

/* --- one row per launch --------------------------------------------------------------------------- */

/* Numbers of graphs as cells. */
static int64_t id_of(int32_t id) { return id == NAI_NULL_I32 ? NAI_NULL_I64 : id; }

static void put_launch(struct nai_table *out, const struct nai_model *m, const struct nai_graph_launch *l) {
  struct GRAPH_LAUNCHES_row row =
      NAI_ROW(GRAPH_LAUNCHES, .pid = nai_model_pid(m, l->process), .device_id = nai_model_device(m, l->gpu),
              .start_ns = l->start, .end_ns = l->end, .duration_ns = l->end - l->start, .graph_id = id_of(l->graph),
              .graph_exec_id = id_of(l->exec), .traced_by = mode_of(l), .idle_before_ns = l->idle_before_ns);
  if (l->by_node) {
    row.node_count = l->nodes;
    row.kernel_count = l->kernels;
    row.kernel_time_ns = l->kernel_ns;
    row.idle_inside_ns = l->idle_inside_ns;
  }
  if (l->api != NAI_NO_ROW) {
    row.launch_api_ns = nai_call_ns(m, l->api);
    row.launch_api_start_ns = nai_val(&m->apis.start_ns, l->api);
  }
  GRAPH_LAUNCHES_add(out, &row);
}

static int put_launches(struct nai_table *out, const struct nai_model *m, const struct nai_graph_launches *launches,
                        struct nai_err *err) {
  for (uint32_t i = 0; i < launches->count; i++)
    put_launch(out, m, &launches->v[i]);
  NAI_TRY(nai_table_sort(out, err));
  if (out->rows > MAX_ROWS)
    nai_table_truncate(out, MAX_ROWS);
  return NAI_OK;
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

NAI_ORDER(compare_graphs, struct nai_graph_launch, {a->process, b->process}, {a->gpu, b->gpu}, {a->graph, b->graph},
          {a->exec, b->exec}, {a->by_node, b->by_node}, {a->start, b->start}, {a->end, b->end}, {a->api, b->api})

static bool same_graph(const struct nai_graph_launch *a, const struct nai_graph_launch *b) {
  return a->process == b->process && a->gpu == b->gpu && a->graph == b->graph && a->exec == b->exec &&
         a->by_node == b->by_node;
}

static void set_calls(struct GRAPHS_row *row, const struct work *w, const struct nai_graph_launch *v, uint32_t n) {
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
  row->launch_api_ns = total;
  row->api_p50_ns = quantiles[0];
  row->api_p90_ns = quantiles[1];
}

/* Sums and medians of the launches of a graph. */
static void set_times(struct GRAPHS_row *row, const struct work *w, const struct nai_graph_launch *v, uint32_t n) {
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
  row->launch_count = n;
  if (last > v->start)
    row->launches_per_s = (double)n * 1e9 / (double)(last - v->start);
  row->envelope_ns = envelope;
  row->envelope_p50_ns = nai_quantile_i64(w->values, n, 0.5);
  row->idle_before_ns = before;
  row->longest_start_ns = longest->start;
  row->longest_end_ns = longest->end;
  if (!v->by_node)
    return;
  row->kernel_count = kernels;
  row->kernel_time_ns = kernel_ns;
  row->idle_inside_ns = inside;
  row->idle_inside_pct = nai_percent((double)inside, (double)envelope);
}

static void set_nodes(struct GRAPHS_row *row, const struct work *w, const struct nai_graph_launch *v, uint32_t n) {
  double nodes = NAN, usual = v->process < 0 ? NAN : w->stream_p50[v->process];
  if (v->by_node) {
    for (uint32_t i = 0; i < n; i++)
      w->values[i] = v[i].nodes;
    nodes = nai_quantile_i64(w->values, n, 0.5);
  } else if (v->process >= 0 && v->graph != NAI_NULL_I32) {
    uint32_t made = nai_keyset_find(&w->made, nai_key_pair(v->process, (uint32_t)v->graph));
    nodes = made == UINT32_MAX ? NAN : (double)w->made_count[made];
  }
  row->nodes_per_launch = nodes;
  row->stream_launch_p50_ns = usual;
  row->cpu_saved_per_launch_ns = nodes * (isnan(usual) ? ASSUMED_LAUNCH_NS : usual) - row->api_p50_ns;
}

static void put_graph(struct nai_table *out, const struct work *w, const struct nai_graph_launch *v, uint32_t n) {
  struct GRAPHS_row row =
      NAI_ROW(GRAPHS, .pid = nai_model_pid(w->m, v->process), .device_id = nai_model_device(w->m, v->gpu),
              .graph_id = id_of(v->graph), .graph_exec_id = id_of(v->exec), .traced_by = mode_of(v));
  set_times(&row, w, v, n);
  set_calls(&row, w, v, n);
  set_nodes(&row, w, v, n);
  GRAPHS_add(out, &row);
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

static int find_stream_launches(struct work *w, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_model *m = w->m;
  struct nai_stats *stats;
  NAI_TRY(NAI_NEW(stats, arena, m->process_count, err));
  NAI_TRY(NAI_NEW(w->stream_p50, arena, m->process_count, err));
  NAI_TRY(nai_group_stats(stats, m->process_count,
                          &(struct nai_values){m->kernels.n, stream_launches, m, m->scratch_dir}, err));
  for (uint32_t i = 0; i < m->process_count; i++)
    w->stream_p50[i] = stats[i].count ? stats[i].p50 : NAN;
  return NAI_OK;
}

/* How many nodes of each graph the export says were created: the upper half of a node's id is its graph's. */
static int count_nodes(struct work *w, struct nai_arena *arena, struct nai_err *err) {
  struct GRAPH_NODE_EVENTS_columns c = GRAPH_NODE_EVENTS_columns_of(w->m->tables[NAI_IN_GRAPH_NODES]);
  NAI_TRY(NAI_NEW(w->made_count, arena, c.n, err));
  w->made.arena = arena;
  for (uint32_t i = 0; i < c.n; i++) {
    int32_t of = nai_at_i32(&c.thread, i), process = of < 0 ? -1 : w->m->thread_process[of];
    uint32_t graph = (uint32_t)((uint64_t)nai_at(&c.graph_node_id, i) >> 32);
    bool added;
    if (process >= 0)
      w->made_count[nai_keyset_add(&w->made, nai_key_pair(process, graph), &added)]++;
  }
  return w->made.oom ? nai_err_nomem(err) : NAI_OK;
}

static int put_graphs(const struct nai_node_io *io, struct nai_graph_launches *launches, struct nai_err *err) {
  struct work w = {.m = io->model};
  NAI_TRY(NAI_NEW(w.values, io->arena, launches->count, err));
  NAI_TRY(find_stream_launches(&w, io->arena, err));
  NAI_TRY(count_nodes(&w, io->arena, err));
  qsort(launches->v, launches->count, sizeof *launches->v, compare_graphs);
  for (uint32_t i = 0, j; i < launches->count; i = j) {
    for (j = i + 1; j < launches->count && same_graph(&launches->v[i], &launches->v[j]); j++)
      ;
    put_graph(io->out[0], &w, launches->v + i, j - i);
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(nai_graph_launches) launches = {0};
  NAI_TRY(nai_graph_launches_find(&launches, io->model, err));
  if (!launches.count)
    return NAI_OK;
  NAI_TRY(put_launches(io->out[1], io->model, &launches, err));
  return put_graphs(io, &launches, err);
}

NAI_ANALYSIS(graphs, .outputs = NAI_SCHEMAS(&nai_graphs_schema, &nai_graph_launches_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(IDLE),
             .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) |
                       NAI_IN(PROCESSES) | NAI_IN(THREADS) | NAI_IN(GRAPH_NODES) | NAI_IN(OVERHEAD),
             .run = run)
