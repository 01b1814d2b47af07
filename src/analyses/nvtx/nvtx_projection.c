/* How long do ranges take on the GPU, by name and by place in the tree? Tables nvtx_projection and nvtx_tree. */
#include "analyses/nvtx/nvtx_tree.h"

#include "base/sort.h"
#include "model/nvtx/projection.h"
#include "tables/nvtx_projection.h"
#include "tables/nvtx_tree.h"
#include "tables/threads.h"

/* Of the outermost instances of a name with work: all of it, or that on one GPU. */
struct group {
  uint32_t name, gpu, gpus; /* gpu: NAI_NO_ROW for all; gpus: of all: how many there are */
  uint32_t one;             /* of all: 1 + number of the group of one GPU that was met last */
  bool start_end;
  int64_t with_work, own_ns, busy_ns, range_ns, ops, launches, streams;
  int64_t kernel_ns, comm_ns, graph_ns, copy_ns, union_ns;
  uint32_t longest;          /* span */
  const struct span *before; /* the last one of those that `union_ns` holds */
  int64_t until;             /* where those of that one's process end */
  bool disordered;
};
enum { ALL, ONE, KINDS }; /* of groups */
struct span {
  int64_t start, end, lag_ns;
  uint32_t group[KINDS], range; /* NAI_NO_GROUP: it is not the whole, or not on one of several GPUs */
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
  int64_t *instances; /* per name and style */
  int64_t *node_ns;   /* per node of the tree */
  uint32_t *all_of;   /* per name and style: 1 + number of its group of all, 0 for none yet */
};

static uint32_t name_and_style(const struct nai_model *m, uint32_t range) {
  bool start_end = nai_val_i32(&m->nvtx.kind, range) != NAI_NVTX_PUSH_POP;
  return 2 * nai_val_text(&m->nvtx.name, range) + start_end;
}

static int find_group(uint32_t *out, struct work *w, uint32_t name_style, uint32_t gpu, struct nai_err *err) {
  bool added;
  *out = nai_keyset_add(&w->known, nai_key_pair(name_style, gpu), &added);
  NAI_TRY(nai_memory_check(!w->known.oom, err));
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(w->groups, w->group_capacity, *out, w->arena, err));
  w->groups[*out] =
      (struct group){.name = name_style / 2, .gpu = gpu, .start_end = name_style % 2, .longest = NAI_NO_ROW};
  return NAI_OK;
}

static void add_times(struct group *group, const struct nai_projection *p, int64_t range_ns) {
  group->own_ns += p->own_ns;
  group->busy_ns += p->busy_ns;
  group->range_ns += range_ns;
  group->ops += p->ops;
  group->launches += p->launches;
  group->streams = p->streams > group->streams ? p->streams : group->streams;
  group->kernel_ns += p->kernel_ns;
  group->comm_ns += p->comm_ns;
  group->graph_ns += p->graph_ns;
  group->copy_ns += p->copy_ns;
}

static bool is_longer(const struct work *w, const struct nai_projection *p, uint32_t than) {
  const struct span *other = than == NAI_NO_ROW ? NULL : &w->spans[than];
  return !other || NAI_COMPARE({p->end - p->start, other->end - other->start}, {other->start, p->start}) > 0;
}

/* Adds a projection to its groups. */
static int add_span(struct work *w, const uint32_t numbers[KINDS], const struct nai_projection *p,
                    struct nai_err *err) {
  const struct NVTX_EVENTS_columns *ranges = &w->m->nvtx;
  for (int k = 0; k < KINDS; k++)
    if (numbers[k] != NAI_NO_GROUP)
      w->groups[numbers[k]].with_work++;
  if (p->inside)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(w->spans, w->span_capacity, w->span_count, w->arena, err));
  int64_t range_start = nai_val(&ranges->start_ns, p->range);
  for (int k = 0; k < KINDS; k++) {
    if (numbers[k] == NAI_NO_GROUP)
      continue;
    struct group *group = &w->groups[numbers[k]];
    add_times(group, p, nai_val(&ranges->end_ns, p->range) - range_start);
    if (is_longer(w, p, group->longest))
      group->longest = w->span_count;
  }
  w->spans[w->span_count++] = (struct span){.start = p->start,
                                            .end = p->end,
                                            .lag_ns = p->start - range_start,
                                            .group = {numbers[ALL], numbers[ONE]},
                                            .range = p->range,
                                            .process = w->m->thread_process[nai_val_i32(&ranges->thread, p->range)]};
  return NAI_OK;
}

/* The groups of a name: of all, and of one GPU, which mostly is that of the instance before. */
static int find_both(uint32_t *all, uint32_t *one, struct work *w, uint32_t name_style, uint32_t gpu,
                     struct nai_err *err) {
  if (!w->all_of[name_style]) {
    NAI_TRY(find_group(all, w, name_style, NAI_NO_ROW, err));
    w->all_of[name_style] = *all + 1;
  }
  *all = w->all_of[name_style] - 1;
  *one = w->groups[*all].one - 1;
  if (gpu == NAI_NO_ROW || (w->groups[*all].one && w->groups[*one].gpu == gpu))
    return NAI_OK;
  uint32_t before = w->known.count;
  NAI_TRY(find_group(one, w, name_style, gpu, err));
  w->groups[*all].gpus += w->known.count > before;
  w->groups[*all].one = *one + 1;
  return NAI_OK;
}

static int add(void *ctx, const struct nai_projection *p, struct nai_err *err) {
  struct work *w = ctx;
  uint32_t numbers[KINDS];
  int64_t node = p->gpu == NAI_NO_ROW ? NAI_NULL_I64 : nai_projection_node(w->m, p);
  if (node != NAI_NULL_I64)
    w->node_ns[node] += p->end - p->start;
  NAI_TRY(find_both(&numbers[ALL], &numbers[ONE], w, name_and_style(w->m, p->range), p->gpu, err));
  if (!p->whole)
    numbers[ALL] = NAI_NO_GROUP;
  if (p->gpu == NAI_NO_ROW || w->m->gpu_count == 1) /* of one, all is said with the whole */
    numbers[ONE] = NAI_NO_GROUP;
  return add_span(w, numbers, p, err);
}

static int count_instances(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  NAI_TRY(NAI_NEW(w->instances, w->arena, 2 * (size_t)m->tables[NAI_IN_NVTX]->strings.count, err));
  for (uint32_t i = 0; i < m->node_count; i++)
    w->instances[2 * (size_t)m->nodes[i].name + m->nodes[i].start_end] += m->nodes[i].count;
  return NAI_OK;
}

/* Adds what a span covers that those of its process before it did not. Spans come by process, then by start; where they
 * do not, the group is disordered. */
static void cover(struct group *group, const struct span *span) {
  const struct span *before = group->before;
  bool again = before && before->process == span->process;
  group->disordered |= before && NAI_COMPARE({before->process, span->process}, {before->start, span->start}) > 0;
  int64_t from = again && group->until > span->start ? group->until : span->start;
  group->until = from > span->end ? from : span->end;
  group->union_ns += group->until - from;
  group->before = span;
}

/* Per group and process the time that spans cover: of most groups in the order in which they were found. */
static int sum_unions(struct work *w, int kind, struct nai_err *err) {
  struct nai_key *keys;
  uint32_t count = 0;
  size_t most = 0; /* of disordered groups */
  for (uint32_t i = 0; i < w->span_count; i++)
    if (w->spans[i].group[kind] != NAI_NO_GROUP)
      cover(&w->groups[w->spans[i].group[kind]], &w->spans[i]);
  for (uint32_t g = 0; g < w->known.count; g++)
    most += w->groups[g].disordered ? (size_t)w->groups[g].with_work : 0;
  NAI_TRY(NAI_NEW(keys, w->arena, most, err));
  for (uint32_t i = 0; i < w->span_count && most; i++)
    if (w->spans[i].group[kind] != NAI_NO_GROUP && w->groups[w->spans[i].group[kind]].disordered)
      keys[count++] = (struct nai_key){nai_key_from_i64(w->spans[i].start), i};
  NAI_TRY(nai_sort_keys(keys, count, err));
  for (uint32_t i = 0; i < count; i++)
    keys[i].key = nai_key_from_i64(w->spans[keys[i].value].process);
  NAI_TRY(nai_sort_keys(keys, count, err));
  for (uint32_t i = 0; i < count; i++) {
    struct group *group = &w->groups[w->spans[keys[i].value].group[kind]];
    if (group->disordered) {
      group->disordered = false;
      group->before = NULL;
      group->union_ns = 0;
    }
    cover(group, &w->spans[keys[i].value]);
  }
  return NAI_OK;
}

struct told {
  const struct span *spans;
  int kind;
};

static void span_block(const void *ctx, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct told *told = ctx;
  const struct span *v = told->spans + first;
  for (uint32_t i = 0; i < count; i++) {
    group[i] = v[i].group[told->kind];
    value[i] = v[i].end - v[i].start;
  }
}

static void lag_block(const void *ctx, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct told *told = ctx;
  const struct span *v = told->spans + first;
  for (uint32_t i = 0; i < count; i++) {
    group[i] = v[i].group[told->kind];
    value[i] = v[i].lag_ns;
  }
}

static void put_group(struct nai_table *table, const struct work *w, const struct group *group, uint32_t gpu,
                      const struct nai_stats *spans, const struct nai_stats *lags) {
  const struct nai_model *m = w->m;
  const struct span *longest = &w->spans[group->longest];
  const struct nai_range_place place = nai_model_range_place(m, longest->range);
  double total = (double)spans->total;
  bool apart = nai_stats_quartiles_apart(spans);
  NAI_ADD(NVTX_PROJECTION, table, .range_name = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, group->name),
          .style = group->start_end ? "start/end" : "push/pop",
          .device_id = gpu == NAI_NO_ROW ? NAI_NULL_I64 : nai_model_device(m, gpu), .whole = group->gpu == NAI_NO_ROW,
          .gpu_count = group->gpu == NAI_NO_ROW ? group->gpus : 1,
          .instances = w->instances[2 * (size_t)group->name + group->start_end],
          .instances_with_work = group->with_work, .total_span_ns = spans->total, .avg_span_ns = spans->mean,
          .p50_span_ns = spans->p50, .p25_span_ns = apart ? spans->p25 : (double)NAN,
          .p75_span_ns = apart ? spans->p75 : (double)NAN, .min_span_ns = spans->min, .max_span_ns = spans->max,
          .stddev_span_ns = spans->stddev, .own_busy_ns = group->own_ns, .busy_ns = group->busy_ns,
          .idle_ns = spans->total - group->busy_ns,
          .idle_pct = nai_percent((double)(spans->total - group->busy_ns), total),
          .other_pct = nai_percent((double)(group->busy_ns - group->own_ns), total), .range_time_ns = group->range_ns,
          .avg_range_ns = (double)group->range_ns / (double)spans->count, .p50_start_lag_ns = lags->p50,
          .p90_start_lag_ns = lags->p90, .union_span_ns = group->union_ns,
          .overlap_pct = nai_percent((double)(spans->total - group->union_ns), total), .op_count = group->ops,
          .launch_count = group->launches, .max_stream_count = group->streams, .kernel_time_ns = group->kernel_ns,
          .comm_time_ns = group->comm_ns, .graph_time_ns = group->graph_ns, .copy_time_ns = group->copy_ns,
          .longest_start_ns = longest->start, .longest_end_ns = longest->end, .pid = place.pid, .tid = place.tid);
}

static uint32_t group_of_all(const struct work *w, const struct group *group) {
  return w->all_of[2 * (size_t)group->name + group->start_end] - 1;
}

static int put_groups(struct nai_table *table, struct work *w, struct nai_err *err) {
  uint32_t count = w->known.count;
  struct nai_stats *of_spans[KINDS], *of_lags[KINDS];
  uint32_t *only; /* per group of all: a GPU of it */
  NAI_TRY(NAI_NEW(only, w->arena, count, err));
  for (int k = 0; k < (w->m->gpu_count > 1 ? KINDS : ONE); k++) { /* of one GPU, all is said with the whole */
    const struct told told = {w->spans, k};
    NAI_TRY(NAI_NEW(of_spans[k], w->arena, count, err));
    NAI_TRY(NAI_NEW(of_lags[k], w->arena, count, err));
    NAI_TRY(nai_group_stats(of_spans[k], count,
                            &(struct nai_values){w->span_count, span_block, &told, w->m->scratch_dir}, err));
    NAI_TRY(nai_group_stats(of_lags[k], count, &(struct nai_values){w->span_count, lag_block, &told, w->m->scratch_dir},
                            err));
  }
  for (uint32_t i = 0; i < count; i++)
    if (w->groups[i].gpu != NAI_NO_ROW)
      only[group_of_all(w, &w->groups[i])] = w->groups[i].gpu;
  for (uint32_t i = 0; i < count; i++) {
    const struct group *group = &w->groups[i];
    bool all = group->gpu == NAI_NO_ROW;
    if (all)
      put_group(table, w, group, group->gpus > 1 ? NAI_NO_ROW : only[i], &of_spans[ALL][i], &of_lags[ALL][i]);
    else if (w->groups[group_of_all(w, group)].gpus > 1)
      put_group(table, w, group, group->gpu, &of_spans[ONE][i], &of_lags[ONE][i]);
  }
  return NAI_OK;
}

static int project(struct nai_table *table, struct work *w, struct nai_err *err) {
  NAI_TRY(NAI_NEW(w->all_of, w->arena, 2 * (size_t)w->m->tables[NAI_IN_NVTX]->strings.count, err));
  NAI_TRY(nai_project_ranges(w->m, NULL, add, w, err));
  NAI_TRY(count_instances(w, err));
  for (int k = 0; k < (w->m->gpu_count > 1 ? KINDS : ONE); k++)
    NAI_TRY(sum_unions(w, k, err));
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
