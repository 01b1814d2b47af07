/* nvtx_kern_sum: kernels by the ranges around their launching calls. */
#include "features/stats/operations.h"

#include "base/sort.h"

enum { KEY_RANGE, KEY_PID, KEY_TID, KEY_STYLE, KEY_KERNEL, KEYS, SHOWN_RANGES = KEYS, SHOWN_KERNELS };
enum { NO_RANGE = -1, NO_STYLE = -1 };

/* Kernels by name of range, and what else their groups count: of a thread, or all. */
struct kernel_groups {
  struct range_kernels *all;
  struct nai_stats_groups groups;
  struct nai_keyset known; /* of a thread: what tells its groups apart, in their order */
  struct last_group {
    uint32_t kind, number;                      /* number + 1, 0: none */
  } * last;                                     /* by name and style of ranges; behind all names those without */
  uint32_t *range_instances, *kernel_instances; /* by group */
  uint32_t range_capacity, kernel_capacity;
};

struct range_kernels {
  struct kernel_groups of, *of_thread; /* of_thread: of each that has ranges */
  struct nai_stats_turns turns;
  struct nai_stats_source *source;
  struct nai_stats_ranges ranges;
  struct nai_stats_events kernels;
  struct nai_stats_calls calls;
  uint32_t *call;                    /* of each kernel */
  struct nai_stats_item *items;      /* launched kernels */
  uint32_t *item_kernel, *item_kind; /* their rows, and their names by number */
  uint32_t item_count;
  struct nai_keyset kinds; /* names of kernels */
  bool *paired;            /* by kernel: it is in a range */
  bool once;               /* a kernel counts once per name, however many ranges of that name are around it */
};

static int find_items(struct range_kernels *all, struct nai_stats_source *source, struct nai_err *err) {
  const struct nai_stats_events *kernels = &all->kernels;
  NAI_TRY(NAI_NEW(all->items, &source->arena, kernels->count, err));
  NAI_TRY(NAI_NEW(all->item_kernel, &source->arena, kernels->count, err));
  NAI_TRY(NAI_NEW(all->item_kind, &source->arena, kernels->count, err));
  NAI_TRY(NAI_NEW(all->paired, &source->arena, kernels->count, err));
  NAI_TRY(nai_stats_find_calls(&all->call, &all->calls, kernels, NAI_STATS_OP_PROCESS, NAI_STATS_OP_CORRELATION,
                               &source->arena, err));
  for (uint32_t i = 0; i < kernels->count; i++) {
    if (all->call[i] == UINT32_MAX ||
        !nai_stats_has_times(kernels->at[NAI_STATS_OP_START][i], kernels->at[NAI_STATS_OP_END][i]))
      continue;
    bool added;
    all->item_kernel[all->item_count] = i;
    all->item_kind[all->item_count] = nai_keyset_add(&all->kinds, kernels->at[NAI_STATS_OP_NAME][i], &added);
    NAI_TRY(nai_memory_check(!all->kinds.oom, err));
    all->items[all->item_count++] = nai_stats_item_of(&all->calls, all->call[i]);
  }
  return NAI_OK;
}

static int64_t kernel_time(const struct range_kernels *all, uint32_t kernel) {
  return all->kernels.at[NAI_STATS_OP_END][kernel] - all->kernels.at[NAI_STATS_OP_START][kernel];
}

/* A kernel is one of its group. */
static int add_kernel(struct kernel_groups *of, uint32_t group, uint32_t kernel, uint32_t times, struct nai_err *err) {
  of->kernel_instances[group]++;
  return nai_stats_groups_put(&of->groups, group, kernel_time(of->all, kernel), times, err);
}

static int add_group(struct nai_stats_keys *groups, const struct range_kernels *all,
                     const struct nai_stats_range *range, uint32_t kind, struct nai_err *err) {
  const int64_t key[KEYS] = {[KEY_RANGE] = range->name,
                             [KEY_PID] = nai_stats_pid(range->thread),
                             [KEY_TID] = nai_stats_tid(range->thread),
                             [KEY_STYLE] = all->ranges.styles[nai_stats_style_of(range)],
                             [KEY_KERNEL] = all->kinds.keys[kind]};
  return nai_memory_check(nai_stats_key_add(groups, key) != NAI_NO_STRING, err);
}

/* Of a thread: kernels of a kind in ranges of that name and style. */
static int look_up_group(uint32_t *group, struct kernel_groups *of, const struct nai_stats_range *range, uint32_t kind,
                         struct nai_err *err) {
  bool added;
  *group = nai_keyset_add(&of->known, nai_key_pair(range->name, kind << 1 | range->push_pop), &added);
  NAI_TRY(nai_memory_check(!of->known.oom, err));
  NAI_TRY(NAI_ROOM(of->kernel_instances, of->kernel_capacity, *group, of->groups.of.arena, err));
  return added ? add_group(&of->groups.of, of->all, range, kind, err) : NAI_OK;
}

/* Ranges of a name mostly launch one kind of kernels. */
static inline int find_group(uint32_t *group, struct kernel_groups *of, uint32_t at, uint32_t kind,
                             struct nai_err *err) {
  const struct nai_stats_ranges *ranges = &of->all->ranges;
  const struct nai_stats_range *range = &ranges->at[at];
  const uint32_t name = range->name < ranges->names ? range->name : ranges->names;
  struct last_group *last = &of->last[2 * (size_t)name + range->push_pop];
  if (last->number && last->kind == kind) {
    *group = last->number - 1;
    return NAI_OK;
  }
  NAI_TRY(look_up_group(group, of, range, kind, err));
  *last = (struct last_group){kind, *group + 1};
  return NAI_OK;
}

static int add_name(void *ctx, uint32_t at, uint32_t times, uint32_t item, struct nai_err *err) {
  struct kernel_groups *of = ctx;
  const uint32_t kernel = of->all->item_kernel[item];
  uint32_t group;
  NAI_TRY(find_group(&group, of, at, of->all->item_kind[item], err));
  of->all->paired[kernel] = true;
  return add_kernel(of, group, kernel, of->all->once ? 1 : times, err);
}

static int count_range(void *ctx, uint32_t at, uint32_t kind, struct nai_err *err) {
  struct kernel_groups *of = ctx;
  uint32_t group;
  NAI_TRY(find_group(&group, of, at, kind, err)); /* which is there */
  of->range_instances[group]++;
  return NAI_OK;
}

static int group_thread(void *ctx, int thread, struct nai_err *err) {
  struct range_kernels *all = ctx;
  struct kernel_groups *of = &all->of_thread[thread];
  const uint32_t items = all->turns.of_thread[thread + 1] - all->turns.of_thread[thread];
  of->all = all;
  of->known.arena = &all->source->arena;
  NAI_TRY(NAI_NEW(of->last, &all->source->arena, 2 * ((size_t)all->ranges.names + 1), err));
  NAI_TRY(nai_stats_groups_begin(&of->groups, all->source, KEYS, items, err));
  NAI_TRY(nai_stats_contain_names(&all->ranges, &all->turns, (uint32_t)thread, add_name, of, err));
  NAI_TRY(NAI_NEW(of->range_instances, &all->source->arena, of->groups.of.count, err));
  return nai_stats_contain_kinds(&all->ranges, &all->turns, (uint32_t)thread, all->item_kind, all->kinds.count,
                                 count_range, of, err);
}

/* Threads of several machines may have the same numbers. */
static int join_thread(struct kernel_groups *of, const struct kernel_groups *other, struct nai_err *err) {
  struct nai_arena *arena = of->groups.of.arena;
  uint32_t *numbers;
  NAI_TRY(NAI_NEW_UNSET(numbers, arena, other->groups.of.count, err));
  NAI_TRY(nai_stats_groups_join(&of->groups, numbers, &other->groups, err));
  for (uint32_t g = 0; g < other->groups.of.count; g++) {
    NAI_TRY(NAI_ROOM(of->range_instances, of->range_capacity, numbers[g], arena, err));
    NAI_TRY(NAI_ROOM(of->kernel_instances, of->kernel_capacity, numbers[g], arena, err));
    of->range_instances[numbers[g]] += other->range_instances[g];
    of->kernel_instances[numbers[g]] += other->kernel_instances[g];
  }
  return NAI_OK;
}

/* Kernels in no range: by thread of the call, if there is one. */
static int add_others(struct range_kernels *all, struct nai_err *err) {
  const struct nai_stats_events *kernels = &all->kernels;
  for (uint32_t i = 0; i < kernels->count; i++) {
    if (all->paired[i] || !nai_stats_has_times(kernels->at[NAI_STATS_OP_START][i], kernels->at[NAI_STATS_OP_END][i]))
      continue;
    const uint32_t call = all->call[i];
    int64_t thread = call == UINT32_MAX ? NAI_STATS_NULL : all->calls.events.at[NAI_STATS_CALL_THREAD][call];
    const int64_t key[KEYS] = {NO_RANGE, nai_stats_pid(thread), nai_stats_tid(thread), NO_STYLE,
                               kernels->at[NAI_STATS_OP_NAME][i]};
    const uint32_t group = nai_stats_key_find(&all->of.groups.of, key);
    NAI_TRY(nai_memory_check(group != NAI_NO_STRING, err));
    NAI_TRY(NAI_ROOM(all->of.kernel_instances, all->of.kernel_capacity, group, all->of.groups.of.arena, err));
    NAI_TRY(add_kernel(&all->of, group, i, 1, err));
  }
  return NAI_OK;
}

/* Of a name of ranges: by thread, total and kernel. */
static int by_kernel(const void *left, const void *right, void *source) {
  const struct nai_stats_group *a = left, *b = right;
  int order = NAI_COMPARE({a->key[KEY_PID], b->key[KEY_PID]}, {a->key[KEY_TID], b->key[KEY_TID]},
                          {b->stats->total, a->stats->total});
  const char *one = nai_stats_text_of(source, a->key[KEY_KERNEL]),
             *other = nai_stats_text_of(source, b->key[KEY_KERNEL]);
  if (!order)
    order = strcmp(one ? one : "", other ? other : "");
  return order ? order : NAI_COMPARE({a->key[KEY_STYLE], b->key[KEY_STYLE]}, {a->id, b->id});
}

/* By the name of the range; kernels in none come first. */
static int order_groups(struct nai_stats_groups *groups, struct nai_stats_source *source, struct nai_err *err) {
  struct nai_stats_group *ordered = NULL;
  struct nai_key *keys = NULL;
  uint32_t *rank = NULL;
  NAI_TRY(nai_stats_rank_texts(&rank, source, err));
  NAI_TRY(NAI_NEW_UNSET(keys, &source->arena, groups->count, err));
  NAI_TRY(NAI_NEW_UNSET(ordered, &source->arena, groups->count, err));
  for (uint32_t g = 0; g < groups->count; g++) {
    const int64_t range = groups->sorted[g].key[KEY_RANGE];
    keys[g] = (struct nai_key){nai_stats_text_of(source, range) ? rank[range] + UINT64_C(1) : 0, g};
  }
  NAI_TRY(nai_sort_keys(keys, groups->count, err));
  for (uint32_t g = 0; g < groups->count; g++)
    ordered[g] = groups->sorted[keys[g].value];
  groups->sorted = ordered;
  for (uint32_t first = 0, end; first < groups->count; first = end) {
    for (end = first + 1; end < groups->count && keys[end].key == keys[first].key;)
      end++;
    if (end > first + 1)
      qsort_r(ordered + first, end - first, sizeof *ordered, by_kernel, source);
  }
  return NAI_OK;
}

int nai_stats_make_range_kernels(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                                 struct nai_err *err) {
  struct nai_stats_source *source = rows->source;
  struct nai_arena *arena = &source->arena;
  struct range_kernels *all = NULL;
  struct nai_stats_begins begins;
  uint64_t count;
  NAI_TRY(NAI_NEW(all, arena, 1, err));
  struct nai_stats_groups *groups = &all->of.groups;
  all->source = source;
  all->of.all = all;
  all->once = options->flag[0];
  all->kinds.arena = arena;
  NAI_TRY(nai_stats_load_launches(&all->calls, 0, &all->kernels, 0, source, options, err));
  NAI_TRY(find_items(all, source, err));
  NAI_TRY(nai_stats_read_begins(&begins, all->items, all->item_count, arena, err));
  NAI_TRY(nai_stats_load_ranges(&all->ranges, source, options->old, NAI_STATS_BOTH_STYLES, &begins, err));
  NAI_TRY(nai_stats_order_items(&all->turns, &all->ranges, all->items, all->item_count, arena, err));
  NAI_TRY(NAI_NEW(all->of_thread, arena, all->ranges.threads.count, err));
  NAI_TRY(nai_stats_each_thread(&all->ranges, group_thread, all, err));
  count = all->kernels.count;
  for (uint32_t t = 0; t < all->ranges.threads.count; t++)
    count += all->of_thread[t].groups.rows;
  NAI_TRY(nai_stats_groups_begin(groups, source, KEYS, count, err));
  for (uint32_t t = 0; t < all->ranges.threads.count; t++)
    NAI_TRY(join_thread(&all->of, &all->of_thread[t], err));
  NAI_TRY(add_others(all, err));
  NAI_TRY(nai_stats_show_groups(rows, groups, KEY_KERNEL, NAI_STATS_UNORDERED, err));
  NAI_TRY(order_groups(groups, source, err));
  rows->records = groups->sorted;
  for (uint32_t g = 0; g < rows->count; g++) {
    struct nai_stats_group *group = &groups->sorted[g];
    group->key[SHOWN_RANGES] = group->id < all->of.range_capacity ? all->of.range_instances[group->id] : 0;
    group->key[SHOWN_KERNELS] = all->of.kernel_instances[group->id];
  }
  return NAI_OK;
}

/* --- columns -------------------------------------------------------------------------------------------- */

const struct nai_stats_column nai_stats_range_kernel_columns[] = {{"NVTX Range", 0, NAI_STATS_KEY_WORDS(KEY_RANGE)},
                                                                  {"Style", 0, NAI_STATS_KEY_WORDS(KEY_STYLE)},
                                                                  {"PID", 0, NAI_STATS_KEY(KEY_PID)},
                                                                  {"TID", 0, NAI_STATS_KEY(KEY_TID)},
                                                                  {"NVTX Inst", 0, NAI_STATS_KEY(SHOWN_RANGES)},
                                                                  {"Kern Inst", 0, NAI_STATS_KEY(SHOWN_KERNELS)},
                                                                  {"Total Time", NAI_STATS_TIME, NAI_STATS_TOTAL},
                                                                  NAI_STATS_SPREAD,
                                                                  {"Kernel Name", 0, NAI_STATS_KEY_NAME(KEY_KERNEL)},
                                                                  {0}};
