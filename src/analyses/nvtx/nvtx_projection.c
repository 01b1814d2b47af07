/* How long do ranges take on the GPU, by name and by place in the tree? Tables nvtx_projection and nvtx_tree. */
#include "analyses/nvtx/nvtx_tree.h"

#include "base/sort.h"
#include "model/nvtx/range_spans.h"
#include "tables/nvtx_projection.h"
#include "tables/nvtx_tree.h"
#include "tables/threads.h"

struct work {
  const struct nai_model *m;
  const struct nai_range_spans *spans;
  struct nai_arena *arena;
  uint32_t *first, *order; /* numbers of spans by name, and by group: those of group g are order[first[g]] .. */
  int64_t *instances;      /* per name and kind */
};

static int count_instances(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  NAI_TRY(NAI_NEW(w->instances, w->arena, 2 * (size_t)m->tables[NAI_IN_NVTX]->strings.count, err));
  for (uint32_t i = 0; i < m->node_count; i++)
    w->instances[2 * (size_t)m->nodes[i].name + m->nodes[i].start_end] += m->nodes[i].count;
  return NAI_OK;
}

/* --- by group ------------------------------------------------------------------------------------------- */

/* The spans of a group: one row of the table after the other. */
struct row {
  const uint32_t *spans; /* their numbers */
  uint32_t count;
  int64_t *ns, *lag_ns; /* of each */
  struct nai_stats_room *room;
  uint32_t *list; /* room for spans that do not lie together in `order` */
  struct nai_key *keys;
  int64_t union_ns; /* time that the spans cover, by process */
  struct nai_stats stats, lag;
};

static int order_spans(struct work *w, struct nai_err *err) {
  const struct nai_range_spans *spans = w->spans;
  uint32_t total = 0;
  NAI_TRY(NAI_NEW(w->first, w->arena, spans->group_count, err));
  NAI_TRY(NAI_NEW_UNSET(w->order, w->arena, spans->count, err));
  for (uint32_t all = 0; all < spans->group_count; all++)
    for (uint32_t g = spans->groups[all].all == all ? all : NAI_NO_ROW; g != NAI_NO_ROW; g = spans->groups[g].next) {
      w->first[g] = total;
      total += spans->groups[g].count;
    }
  for (uint32_t i = 0; i < spans->count; i++)
    w->order[w->first[spans->v[i].group]++] = i;
  for (uint32_t g = 0; g < spans->group_count; g++)
    w->first[g] -= spans->groups[g].count;
  return NAI_OK;
}

/* Fills all but the statistics. False where spans do not come by process, then by start. Those of a name lie far
 * apart: they are asked for ahead. */
static bool measure(struct row *row, const struct work *w) {
  enum { AHEAD = 16 };
  const struct nai_column range_starts = w->m->nvtx.start_ns;
  int64_t start = INT64_MIN, until = INT64_MIN;
  int32_t process = INT32_MIN;
  row->union_ns = 0;
  for (uint32_t i = 0; i < row->count; i++) {
    const struct nai_range_span *span = &w->spans->v[row->spans[i]];
    if (i + AHEAD < row->count)
      __builtin_prefetch(&w->spans->v[row->spans[i + AHEAD]]);
    if (span->process != process) {
      if (span->process < process)
        return false;
      process = span->process;
      start = until = INT64_MIN;
    }
    if (span->start < start)
      return false;
    start = span->start;
    int64_t from = until > start ? until : start;
    until = from > span->end ? from : span->end;
    row->union_ns += until - from;
    row->ns[i] = span->end - start;
    row->lag_ns[i] = start - nai_val(&range_starts, span->range);
  }
  return true;
}

static uint64_t by_start(const void *ctx, uint32_t span) {
  const struct work *w = ctx;
  return nai_key_from_i64(w->spans->v[span].start);
}

static int sort_spans(struct row *row, const struct work *w, struct nai_err *err) {
  if (!row->keys)
    NAI_TRY(NAI_NEW_UNSET(row->keys, w->arena, w->spans->count, err));
  for (uint32_t i = 0; i < row->count; i++)
    row->keys[i] = (struct nai_key){nai_key_from_i64(w->spans->v[row->spans[i]].process), row->spans[i]};
  NAI_TRY(nai_sort_keys_by(row->keys, row->count, by_start, w, err));
  for (uint32_t i = 0; i < row->count; i++)
    row->list[i] = row->keys[i].value;
  row->spans = row->list;
  return NAI_OK;
}

/* Of one GPU, all that happened there; of all, what was whole. Parts are there where something is of several GPUs. */
static void take_spans(struct row *row, const struct work *w, uint32_t number) {
  const struct nai_span_group *groups = w->spans->groups, *group = &groups[number];
  const bool all = group->gpu == NAI_NO_ROW;
  row->spans = w->order + w->first[number];
  row->count = all ? w->first[group->last] + groups[group->last].count - w->first[number] : group->count;
  if (!all || !group->count)
    return;
  uint32_t count = 0;
  for (uint32_t i = 0; i < row->count; i++)
    if (!w->spans->v[row->spans[i]].is_part)
      row->list[count++] = row->spans[i];
  row->spans = row->list;
  row->count = count;
}

static int take_group(struct row *row, const struct work *w, uint32_t group, struct nai_err *err) {
  take_spans(row, w, group);
  if (!measure(row, w)) {
    NAI_TRY(sort_spans(row, w, err));
    measure(row, w);
  }
  row->stats = nai_stats_in(row->room, row->ns, row->count, NAI_P25 | NAI_P50 | NAI_P75 | NAI_STDDEV);
  row->lag = nai_stats_in(row->room, row->lag_ns, row->count, NAI_P50 | NAI_P90);
  return NAI_OK;
}

static void put_group(struct nai_table *table, const struct work *w, const struct nai_span_group *group, uint32_t gpu,
                      const struct row *row) {
  const struct nai_model *m = w->m;
  const struct nai_span_sums *sums = &group->sums;
  const struct nai_stats *spans = &row->stats, *lags = &row->lag;
  const struct nai_range_span *longest = &w->spans->v[sums->longest - 1];
  const struct nai_range_place place = nai_model_range_place(m, longest->range);
  double total = (double)spans->total;
  bool apart = nai_stats_quartiles_apart(spans);
  NAI_ADD(NVTX_PROJECTION, table, .range_name = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, group->name),
          .style = group->start_end ? "start/end" : "push/pop",
          .device_id = gpu == NAI_NO_ROW ? NAI_NULL_I64 : nai_model_device(m, gpu), .whole = group->gpu == NAI_NO_ROW,
          .gpu_count = group->gpu == NAI_NO_ROW ? group->gpu_count : 1,
          .instances = w->instances[2 * (size_t)group->name + group->start_end], .instances_with_work = sums->with_work,
          .total_span_ns = spans->total, .avg_span_ns = spans->mean, .p50_span_ns = spans->p50,
          .p25_span_ns = apart ? spans->p25 : (double)NAN, .p75_span_ns = apart ? spans->p75 : (double)NAN,
          .min_span_ns = spans->min, .max_span_ns = spans->max, .stddev_span_ns = spans->stddev,
          .own_busy_ns = sums->own_ns, .busy_ns = sums->busy_ns, .idle_ns = spans->total - sums->busy_ns,
          .idle_pct = nai_percent((double)(spans->total - sums->busy_ns), total),
          .other_pct = nai_percent((double)(sums->busy_ns - sums->own_ns), total), .range_time_ns = sums->range_ns,
          .avg_range_ns = (double)sums->range_ns / (double)spans->count, .p50_start_lag_ns = lags->p50,
          .p90_start_lag_ns = lags->p90, .union_span_ns = row->union_ns,
          .overlap_pct = nai_percent((double)(spans->total - row->union_ns), total), .op_count = sums->ops,
          .launch_count = sums->launches, .max_stream_count = sums->streams, .kernel_time_ns = sums->kernel_ns,
          .comm_time_ns = sums->comm_ns, .graph_time_ns = sums->graph_ns, .copy_time_ns = sums->copy_ns,
          .longest_start_ns = longest->start, .longest_end_ns = longest->end, .pid = place.pid, .tid = place.tid);
}

static int put_groups(struct nai_table *table, struct work *w, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->m->scratch_dir);
  struct row row = {0};
  NAI_TRY(NAI_NEW_UNSET(row.list, &arena, w->spans->count, err));
  NAI_TRY(NAI_NEW_UNSET(row.ns, &arena, w->spans->count, err));
  NAI_TRY(NAI_NEW_UNSET(row.lag_ns, &arena, w->spans->count, err));
  NAI_TRY(nai_stats_room_in(&row.room, w->spans->count, &arena, err));
  const struct nai_span_group *groups = w->spans->groups;
  for (uint32_t i = 0; i < w->spans->group_count; i++) {
    const struct nai_span_group *group = &groups[i], *all = &groups[group->all];
    uint32_t gpu = group == all && all->gpu_count == 1 ? groups[all->met - 1].gpu : group->gpu;
    if (group != all && all->gpu_count == 1) /* all is said with the whole */
      continue;
    NAI_TRY(take_group(&row, w, i, err));
    put_group(table, w, group, gpu, &row);
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_range_spans *spans = io->model->range_spans;
  struct work w = {.m = io->model, .spans = spans, .arena = io->arena};
  if (spans->count) {
    NAI_TRY(order_spans(&w, err));
    NAI_TRY(count_instances(&w, err));
    NAI_TRY(put_groups(io->out[0], &w, err));
  }
  return nai_nvtx_tree_put(io->out[1], w.m, spans->node_ns, w.arena, err);
}

NAI_ANALYSIS(nvtx_projection, .outputs = NAI_SCHEMAS(&nai_nvtx_projection_schema, &nai_nvtx_tree_schema),
             .parts = NAI_PART(RANGE_SPANS) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(NVTX) | NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(GPUS),
             .config = NAI_CONFIG(MAP_NVTX), .cost = 4, .run = run)
