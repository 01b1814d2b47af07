/* How long do ranges take on the GPU, by name and by place in the tree? Tables nvtx_projection and nvtx_tree. */
#include "analyses/nvtx/nvtx_tree.h"

#include "base/sort.h"
#include "model/nvtx/projection.h"
#include "tables/nvtx_projection.h"
#include "tables/nvtx_tree.h"
#include "tables/threads.h"

/* Of the outermost instances of a name with work. */
struct sums {
  int64_t with_work; /* instances: not only the outermost ones */
  int64_t own_ns, busy_ns, range_ns, ops, launches, streams;
  int64_t kernel_ns, comm_ns, graph_ns, copy_ns;
  uint32_t longest; /* 1 + span, 0 for none */
};
/* A name's instances on all GPUs, or what they have on one. */
struct group {
  uint32_t name, gpu; /* gpu: NAI_NO_ROW for all */
  bool start_end;
  uint32_t all;        /* number of the name's group of all: of that one, itself */
  uint32_t next;       /* the name's groups of one GPU follow that of all; NAI_NO_GROUP behind the last */
  uint32_t last;       /* of all: the last of them */
  uint32_t gpus;       /* of all: how many there are */
  uint32_t first, end; /* its spans in `order`, by their `part`; first `end` counts them */
  uint32_t one;        /* of all: 1 + number of the group of one GPU that was met last */
  struct sums whole;   /* of one GPU, until all is known: of instances that used no other. Of all: that used several */
  struct sums part;    /* of instances that used others, too */
};
struct span {
  int64_t start, end;
  uint32_t range, part; /* part: 2 * the group of one GPU, or of all on several, and 1 where it is not the whole */
  int32_t process;
};

struct work {
  const struct nai_model *m;
  struct nai_arena *arena;
  struct nai_keyset known; /* (name and style, GPU): its group */
  struct group *groups;
  uint32_t group_capacity;
  struct span *spans;
  uint32_t span_count, span_capacity;
  uint32_t *order;    /* numbers of spans by name, and by the groups of `part` */
  int64_t *instances; /* per name and style */
  int64_t *node_ns;   /* per node of the tree */
  uint32_t *all_of;   /* per name and style: 1 + number of its group of all, 0 for none yet */
};

static int add_group(uint32_t *out, struct work *w, uint32_t name_style, uint32_t gpu, struct nai_err *err) {
  bool added;
  *out = nai_keyset_add(&w->known, nai_key_pair(name_style, gpu), &added);
  NAI_TRY(nai_memory_check(!w->known.oom, err));
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(w->groups, w->group_capacity, *out, w->arena, err));
  if (gpu == NAI_NO_ROW)
    w->all_of[name_style] = *out + 1;
  uint32_t all = w->all_of[name_style] - 1;
  w->groups[*out] =
      (struct group){.name = name_style / 2, .gpu = gpu, .start_end = name_style % 2, .all = all, .next = NAI_NO_GROUP};
  if (gpu != NAI_NO_ROW) {
    w->groups[w->groups[all].last].next = *out;
    w->groups[all].gpus++;
  }
  w->groups[all].last = *out;
  return NAI_OK;
}

/* The group of a name on a GPU, which mostly is that of the instance before, or on all of them. */
static int find_group(uint32_t *out, struct work *w, uint32_t name_style, uint32_t gpu, struct nai_err *err) {
  if (!w->all_of[name_style])
    NAI_TRY(add_group(out, w, name_style, NAI_NO_ROW, err));
  uint32_t all = w->all_of[name_style] - 1, one = w->groups[all].one;
  *out = gpu == NAI_NO_ROW ? all : one - 1;
  if (gpu == NAI_NO_ROW || (one && w->groups[one - 1].gpu == gpu))
    return NAI_OK;
  NAI_TRY(add_group(out, w, name_style, gpu, err));
  w->groups[all].one = *out + 1;
  return NAI_OK;
}

/* Of equally long ones that start together, the one that came first. */
static bool is_longer(const struct span *spans, uint32_t a, uint32_t b) {
  if (!a || !b)
    return a;
  const struct span *x = &spans[a - 1], *y = &spans[b - 1];
  const int64_t more = (x->end - x->start) - (y->end - y->start);
  return more > 0 || (more == 0 && NAI_COMPARE({y->start, x->start}, {b, a}) > 0);
}

static inline void add_sums(struct sums *to, const struct sums *from, const struct span *spans) {
  to->with_work += from->with_work;
  to->own_ns += from->own_ns;
  to->busy_ns += from->busy_ns;
  to->range_ns += from->range_ns;
  to->ops += from->ops;
  to->launches += from->launches;
  to->streams = from->streams > to->streams ? from->streams : to->streams;
  to->kernel_ns += from->kernel_ns;
  to->comm_ns += from->comm_ns;
  to->graph_ns += from->graph_ns;
  to->copy_ns += from->copy_ns;
  to->longest = is_longer(spans, from->longest, to->longest) ? from->longest : to->longest;
}

/* Adds a projection to its group: to that of all, too, where it is the whole. */
static int add(void *ctx, const struct nai_projection *p, struct nai_err *err) {
  struct work *w = ctx;
  uint32_t number, at = w->span_count;
  int64_t node = p->gpu == NAI_NO_ROW ? NAI_NULL_I64 : nai_projection_node(w->m, p);
  if (node != NAI_NULL_I64)
    w->node_ns[node] += p->end - p->start;
  NAI_TRY(find_group(&number, w, 2 * p->name + p->start_end, p->gpu, err));
  struct group *group = &w->groups[number];
  struct sums *sums = p->whole ? &group->whole : &group->part;
  if (p->inside) {
    sums->with_work++;
    return NAI_OK;
  }
  NAI_TRY(NAI_ROOM(w->spans, w->span_capacity, at, w->arena, err));
  w->spans[at] = (struct span){p->start, p->end, p->range, 2 * number + !p->whole, w->m->thread_process[p->thread]};
  const struct sums own = {1,          p->own_ns,   p->busy_ns, nai_range_ns(w->m, p->range),
                           p->ops,     p->launches, p->streams, p->kernel_ns,
                           p->comm_ns, p->graph_ns, p->copy_ns, ++w->span_count};
  add_sums(sums, &own, w->spans);
  group->end++;
  return NAI_OK;
}

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
  uint32_t total = 0;
  NAI_TRY(NAI_NEW_UNSET(w->order, w->arena, w->span_count, err));
  for (uint32_t all = 0; all < w->known.count; all++)
    for (uint32_t g = w->groups[all].all == all ? all : NAI_NO_GROUP; g != NAI_NO_GROUP; g = w->groups[g].next) {
      w->groups[g].first = total;
      total += w->groups[g].end;
      w->groups[g].end = w->groups[g].first;
    }
  for (uint32_t i = 0; i < w->span_count; i++)
    w->order[w->groups[w->spans[i].part / 2].end++] = i;
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
    const struct span *span = &w->spans[row->spans[i]];
    if (i + AHEAD < row->count)
      __builtin_prefetch(&w->spans[row->spans[i + AHEAD]]);
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
  return nai_key_from_i64(w->spans[span].start);
}

static int sort_spans(struct row *row, const struct work *w, struct nai_err *err) {
  if (!row->keys)
    NAI_TRY(NAI_NEW_UNSET(row->keys, w->arena, w->span_count, err));
  for (uint32_t i = 0; i < row->count; i++)
    row->keys[i] = (struct nai_key){nai_key_from_i64(w->spans[row->spans[i]].process), row->spans[i]};
  NAI_TRY(nai_sort_keys_by(row->keys, row->count, by_start, w, err));
  for (uint32_t i = 0; i < row->count; i++)
    row->list[i] = row->keys[i].value;
  row->spans = row->list;
  return NAI_OK;
}

/* Of one GPU, all that happened there; of all, what was whole. Parts are there where something is of several GPUs. */
static void take_spans(struct row *row, const struct work *w, const struct group *group) {
  const bool all = group->gpu == NAI_NO_ROW;
  row->spans = w->order + group->first;
  row->count = (all ? w->groups[group->last].end : group->end) - group->first;
  if (!all || group->first == group->end)
    return;
  uint32_t count = 0;
  for (uint32_t i = 0; i < row->count; i++)
    if (w->spans[row->spans[i]].part % 2 == 0)
      row->list[count++] = row->spans[i];
  row->spans = row->list;
  row->count = count;
}

static int take_group(struct row *row, const struct work *w, const struct group *group, struct nai_err *err) {
  take_spans(row, w, group);
  if (!measure(row, w)) {
    NAI_TRY(sort_spans(row, w, err));
    measure(row, w);
  }
  row->stats = nai_stats_in(row->room, row->ns, row->count, NAI_P25 | NAI_P50 | NAI_P75 | NAI_STDDEV);
  row->lag = nai_stats_in(row->room, row->lag_ns, row->count, NAI_P50 | NAI_P90);
  return NAI_OK;
}

static void put_group(struct nai_table *table, const struct work *w, const struct group *group, uint32_t gpu,
                      const struct row *row) {
  const struct nai_model *m = w->m;
  const struct sums *sums = &group->whole;
  const struct nai_stats *spans = &row->stats, *lags = &row->lag;
  const struct span *longest = &w->spans[sums->longest - 1];
  const struct nai_range_place place = nai_model_range_place(m, longest->range);
  double total = (double)spans->total;
  bool apart = nai_stats_quartiles_apart(spans);
  NAI_ADD(NVTX_PROJECTION, table, .range_name = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, group->name),
          .style = group->start_end ? "start/end" : "push/pop",
          .device_id = gpu == NAI_NO_ROW ? NAI_NULL_I64 : nai_model_device(m, gpu), .whole = group->gpu == NAI_NO_ROW,
          .gpu_count = group->gpu == NAI_NO_ROW ? group->gpus : 1,
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
  NAI_TRY(NAI_NEW_UNSET(row.list, &arena, w->span_count, err));
  NAI_TRY(NAI_NEW_UNSET(row.ns, &arena, w->span_count, err));
  NAI_TRY(NAI_NEW_UNSET(row.lag_ns, &arena, w->span_count, err));
  NAI_TRY(nai_stats_room_in(&row.room, w->span_count, &arena, err));
  for (uint32_t i = 0; i < w->known.count; i++) {
    struct group *group = &w->groups[i];
    if (group->gpu == NAI_NO_ROW)
      continue;
    add_sums(&w->groups[group->all].whole, &group->whole, w->spans);
    add_sums(&group->whole, &group->part, w->spans);
  }
  for (uint32_t i = 0; i < w->known.count; i++) {
    const struct group *group = &w->groups[i], *all = &w->groups[group->all];
    uint32_t gpu = group == all && all->gpus == 1 ? w->groups[all->one - 1].gpu : group->gpu;
    if (group != all && all->gpus == 1) /* all is said with the whole */
      continue;
    NAI_TRY(take_group(&row, w, group, err));
    put_group(table, w, group, gpu, &row);
  }
  return NAI_OK;
}

static int project(struct nai_table *table, struct work *w, struct nai_err *err) {
  NAI_TRY(NAI_NEW(w->all_of, w->arena, 2 * (size_t)w->m->tables[NAI_IN_NVTX]->strings.count, err));
  NAI_TRY(nai_project_ranges(w->m, NULL, add, w, err));
  NAI_TRY(order_spans(w, err));
  NAI_TRY(count_instances(w, err));
  return put_groups(table, w, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct work w = {.m = io->model, .arena = io->arena, .known.arena = io->arena};
  NAI_TRY(NAI_NEW(w.node_ns, w.arena, w.m->node_count, err));
  if (w.m->map_nvtx)
    NAI_TRY(project(io->out[0], &w, err));
  return nai_nvtx_tree_put(io->out[1], w.m, w.node_ns, w.arena, err);
}

NAI_ANALYSIS(nvtx_projection, .outputs = NAI_SCHEMAS(&nai_nvtx_projection_schema, &nai_nvtx_tree_schema),
             .parts = NAI_PROJECTION_PARTS | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(NVTX) | NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(GPUS),
             .config = NAI_CONFIG(MAP_NVTX), .cost = 4, .run = run)
