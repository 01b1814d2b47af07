/* Reports with a row per range: the tree of push/pop ranges, and the projection of ranges to the GPU. */
#include "features/stats/operations.h"

#include "base/keyset.h"
#include "base/sort.h"
#include "base/threads.h"

/* --- what both have -------------------------------------------------------------------------------------- */

struct range_trace {
  struct nai_stats_ranges ranges;
  struct nai_stats_place *places;
  struct nai_key *order; /* rows of the report */
  bool *lost;            /* by range: it has no place with NVIDIA: another has its times, or those of one around it;
                            NULL: all have one */

  int32_t deepest; /* level */

  /* of the tree */
  int64_t *child_ns;

  /* of the projection, by range; children of the tree, too */
  struct nai_stats_extent *extents;
  uint32_t *children;
};

static const struct nai_stats_range *range_of(const struct nai_stats_rows *rows, uint32_t row) {
  const struct range_trace *all = rows->state;
  return &all->ranges.at[all->order[row].value];
}

static uint32_t index_of(const struct nai_stats_rows *rows, uint32_t row) {
  return ((const struct range_trace *)rows->state)->order[row].value;
}

/* Whether a range has a level and a stack. */
static bool has_place(const struct range_trace *all, uint32_t range) { return !all->lost || !all->lost[range]; }

/* The place of a range among the others, NULL for none. */
static const struct nai_stats_place *place_of(const struct nai_stats_rows *rows, uint32_t row) {
  const struct range_trace *all = rows->state;
  return has_place(all, index_of(rows, row)) ? &all->places[index_of(rows, row)] : NULL;
}

NAI_STATS_CELL(name, nai_stats_put_text(out, nai_stats_text_of(rows->source, range_of(rows, row)->name)))
NAI_STATS_CELL(start, nai_stats_put_int(out, range_of(rows, row)->start))
NAI_STATS_CELL(end, nai_stats_put_int(out, range_of(rows, row)->end))
NAI_STATS_CELL(duration, nai_stats_put_int(out, range_of(rows, row)->end - range_of(rows, row)->start))
NAI_STATS_CELL(style, nai_stats_put_text(out, nai_stats_style_name(nai_stats_style_of(range_of(rows, row)))))
NAI_STATS_CELL(process, nai_stats_put_int(out, nai_stats_pid(range_of(rows, row)->thread)))
NAI_STATS_CELL(thread, nai_stats_put_int(out, nai_stats_tid(range_of(rows, row)->thread)))
NAI_STATS_CELL(level, const struct nai_stats_place *place = place_of(rows, row);
               nai_stats_put_int(out, place ? place->level : NAI_STATS_NULL))
NAI_STATS_CELL(children,
               nai_stats_put_int(out, ((const struct range_trace *)rows->state)->children[index_of(rows, row)]))
NAI_STATS_CELL(id, nai_stats_put_int(out, range_of(rows, row)->rowid))
NAI_STATS_CELL(parent, const struct nai_stats_place *place = place_of(rows, row);
               nai_stats_put_int(out, place && place->parent != UINT32_MAX
                                          ? ((const struct range_trace *)rows->state)->ranges.at[place->parent].rowid
                                          : NAI_STATS_NULL))

/* :2:4:5, from the outermost. */
static void put_stack(struct nai_stats_stack *stack, const struct range_trace *all, uint32_t range) {
  const int32_t last = all->places[range].level;
  int32_t level = last;
  for (uint32_t at = range; level >= 0 && (level >= stack->count || stack->at[level].range != at); level--) {
    stack->at[level].range = at;
    at = all->places[at].parent;
  }
  stack->text.len = level < 0 ? 0 : stack->at[level].end;
  while (++level <= last) {
    nai_buf_putc(&stack->text, ':');
    nai_stats_put_digits(&stack->text, all->ranges.at[stack->at[level].range].rowid);
    stack->at[level].end = stack->text.len;
  }
  if (stack->text.data)
    stack->text.data[stack->text.len] = '\0';
  stack->count = last + 1;
}

static void stack(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) {
  (void)at;
  const struct range_trace *all = rows->state;
  uint32_t range = index_of(rows, row);
  if (!has_place(all, range))
    return;
  if (!rows->stack.at)
    rows->stack.at = calloc((size_t)all->deepest + 1, sizeof *rows->stack.at);
  rows->stack.text.oom |= !rows->stack.at;
  if (nai_buf_failed(&rows->stack.text))
    return;
  put_stack(&rows->stack, all, range);
  nai_stats_put_text(out, nai_buf_str(&rows->stack.text));
}

static int find_places(struct range_trace *all, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(nai_stats_find_parents(&all->places, &all->ranges, arena, err));
  for (uint32_t i = 0; i < all->ranges.count; i++)
    all->deepest = all->places[i].level > all->deepest ? all->places[i].level : all->deepest;
  return NAI_OK;
}

/* Parents come before their children in this order. */
static int find_lost(struct range_trace *all, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(all->lost, arena, all->ranges.count, err));
  for (uint32_t i = 0; i < all->ranges.ordered_count; i++) {
    uint32_t range = all->ranges.ordered[i], parent = all->places[range].parent;
    all->lost[range] = all->places[range].twin != UINT32_MAX || (parent != UINT32_MAX && all->lost[parent]);
  }
  return NAI_OK;
}

/* --- nvtx_pushpop_trace ---------------------------------------------------------------------------------- */

static int sum_children(struct range_trace *all, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(all->children, arena, all->ranges.count, err));
  NAI_TRY(NAI_NEW(all->child_ns, arena, all->ranges.count, err));
  for (uint32_t i = 0; i < all->ranges.count; i++) {
    uint32_t around = all->places[i].parent;
    if (around == UINT32_MAX)
      continue;
    all->children[around]++;
    nai_stats_add(&all->child_ns[around], all->ranges.at[i].end - all->ranges.at[i].start);
  }
  return NAI_OK;
}

/* Of 2022 in the order of the file, since by start, the shortest first. */
static int order_tree(struct range_trace *all, const struct nai_stats_options *options, struct nai_arena *arena,
                      struct nai_err *err) {
  NAI_TRY(NAI_NEW(all->order, arena, all->ranges.count, err));
  for (uint32_t i = 0; i < all->ranges.count; i++)
    all->order[i] = (struct nai_key){nai_key_from_i64(all->ranges.at[i].end - all->ranges.at[i].start), i};
  if (options->old)
    return NAI_OK;
  NAI_TRY(nai_sort_keys(all->order, all->ranges.count, err));
  for (uint32_t i = 0; i < all->ranges.count; i++)
    all->order[i].key = nai_key_from_i64(all->ranges.at[all->order[i].value].start);
  return nai_sort_keys(all->order, all->ranges.count, err);
}

int nai_stats_make_push_pop_trace(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                                  struct nai_err *err) {
  struct nai_arena *arena = &rows->source->arena;
  struct range_trace *all = NULL;
  uint32_t twins = 0;
  NAI_TRY(NAI_NEW(all, arena, 1, err));
  NAI_TRY(nai_stats_load_ranges(&all->ranges, rows->source, options->old, NAI_STATS_ONLY_PUSH_POP, err));
  for (uint32_t i = 0; i < all->ranges.count; i++) /* in the tree that does not count; of 2019 it is 0 for none */
    all->ranges.at[i].crosses = false;
  NAI_TRY(find_places(all, arena, err));
  NAI_TRY(sum_children(all, arena, err));
  for (uint32_t i = 0; i < all->ranges.count; i++)
    twins += all->places[i].twin != UINT32_MAX;
  if (twins)
    rows->note = nai_arena_printf(arena, "%u ranges begin and end with another; nsys leaves them out", twins);
  rows->state = all;
  rows->count = all->ranges.count;
  NAI_TRY(nai_arena_check(arena, err));
  return order_tree(all, options, arena, err);
}

NAI_STATS_CELL(child_time,
               nai_stats_put_int(out, ((const struct range_trace *)rows->state)->child_ns[index_of(rows, row)]))
static void own_time(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) {
  (void)at;
  const struct nai_stats_range *range = range_of(rows, row);
  int64_t own = range->end - range->start;
  nai_stats_add(&own, -((const struct range_trace *)rows->state)->child_ns[index_of(rows, row)]);
  nai_stats_put_int(out, own);
}

/* Two hyphens a level in front of the name. */
static void tree(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) {
  (void)at;
  const struct range_trace *all = rows->state;
  const char *text = nai_stats_text_of(rows->source, range_of(rows, row)->name);
  nai_buf_clear(&rows->scratch);
  for (int32_t i = 0; i < all->places[index_of(rows, row)].level; i++)
    nai_buf_puts(&rows->scratch, "--");
  nai_buf_puts(&rows->scratch, text ? text : "");
  nai_stats_put_text(out, text ? nai_buf_str(&rows->scratch) : NULL);
}

const struct nai_stats_column nai_stats_push_pop_trace_columns[] = {{"Start", NAI_STATS_STAMP, start},
                                                                    {"End", NAI_STATS_STAMP, end},
                                                                    {"Duration", NAI_STATS_TIME, duration},
                                                                    {"DurChild", NAI_STATS_TIME, child_time},
                                                                    {"DurNonChild", NAI_STATS_TIME, own_time},
                                                                    {"Name", 0, name},
                                                                    {"PID", 0, process},
                                                                    {"TID", 0, thread},
                                                                    {"Lvl", 0, level},
                                                                    {"NumChild", 0, children},
                                                                    {"RangeId", 0, id},
                                                                    {"ParentId", 0, parent},
                                                                    {"RangeStack", 0, stack},
                                                                    {"NameTree", 0, tree},
                                                                    {0}};

/* --- nvtx_gpu_proj_trace --------------------------------------------------------------------------------- */

/* Direct children that are projected themselves; of ranges of equal times each is the other's. */
static void count_children(struct range_trace *all) {
  for (uint32_t i = 0; i < all->ranges.count; i++) {
    uint32_t around = all->places[i].twin != UINT32_MAX ? all->places[i].twin : all->places[i].parent;
    if (around != UINT32_MAX && all->extents[i].calls)
      all->children[around]++;
  }
}

/* Of 2022 in the order of the file, since by projected start, the longest first. */
static int order_projections(struct nai_stats_rows *rows, struct range_trace *all, bool old, struct nai_err *err) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < all->ranges.count; i++)
    count += all->extents[i].calls != 0;
  NAI_TRY(NAI_NEW(all->order, &rows->source->arena, count, err));
  for (uint32_t i = 0; i < all->ranges.count; i++)
    if (all->extents[i].calls)
      all->order[rows->count++] = (struct nai_key){~nai_key_from_i64(all->extents[i].end - all->extents[i].start), i};
  if (old)
    return NAI_OK;
  NAI_TRY(nai_sort_keys(all->order, rows->count, err));
  for (uint32_t i = 0; i < rows->count; i++)
    all->order[i].key = nai_key_from_i64(all->extents[all->order[i].value].start);
  return nai_sort_keys(all->order, rows->count, err);
}

/* What both sides of a projection are made from, which are read side by side: ranges, and operations with their calls.
 */
struct sides {
  struct range_trace *all;
  struct nai_stats_launched launched;
  struct nai_stats_source *source;
  const struct nai_stats_options *options;
};

static int read_side(void *ctx, int side, struct nai_err *err) {
  struct sides *sides = ctx;
  struct nai_arena *arena = &sides->source->arena;
  if (side)
    return nai_stats_find_launched(&sides->launched, sides->source, sides->options->flag[0], arena, err);
  NAI_TRY(nai_stats_load_ranges(&sides->all->ranges, sides->source, sides->options->old, NAI_STATS_BOTH_STYLES, err));
  NAI_TRY(find_places(sides->all, arena, err));
  return find_lost(sides->all, arena, err);
}

int nai_stats_make_projections(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                               struct nai_err *err) {
  struct nai_arena *arena = &rows->source->arena;
  struct sides sides = {.source = rows->source, .options = options};
  struct range_trace *all = NULL;
  NAI_TRY(NAI_NEW(all, arena, 1, err));
  sides.all = rows->state = all;
  NAI_TRY(nai_parallel(2, 2, read_side, &sides, err));
  NAI_TRY(NAI_NEW(all->children, arena, all->ranges.count, err));
  NAI_TRY(nai_stats_contain_extents(&all->extents, &all->ranges, sides.launched.items, sides.launched.times,
                                    sides.launched.count, arena, err));
  count_children(all);
  return order_projections(rows, all, options->old, err);
}

NAI_STATS_CELL(projected_start,
               nai_stats_put_int(out, ((const struct range_trace *)rows->state)->extents[index_of(rows, row)].start))
static void projected_time(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) {
  (void)at;
  const struct nai_stats_extent *extent = &((const struct range_trace *)rows->state)->extents[index_of(rows, row)];
  nai_stats_put_int(out, extent->end - extent->start);
}
NAI_STATS_CELL(operations,
               nai_stats_put_int(out, ((const struct range_trace *)rows->state)->extents[index_of(rows, row)].calls))

const struct nai_stats_column nai_stats_projection_columns[] = {{"Name", 0, name},
                                                                {"Projected Start", NAI_STATS_STAMP, projected_start},
                                                                {"Projected Duration", NAI_STATS_TIME, projected_time},
                                                                {"Orig Start", NAI_STATS_STAMP, start},
                                                                {"Orig Duration", NAI_STATS_TIME, duration},
                                                                {"Style", 0, style},
                                                                {"PID", 0, process},
                                                                {"TID", 0, thread},
                                                                {"NumGPUOps", 0, operations},
                                                                {"Lvl", 0, level},
                                                                {"NumChild", 0, children},
                                                                {"RangeId", 0, id},
                                                                {"ParentId", 0, parent},
                                                                {"RangeStack", 0, stack},
                                                                {0}};

/* --- nvtx_gpu_proj_sum ----------------------------------------------------------------------------------- */

enum { KEY_NAME, KEY_STYLE, KEYS };
struct projection_sums {
  struct nai_stats_groups groups; /* of projected times */
  struct projection_sum {
    int64_t range_ns, operations, children, levels, placed; /* placed: those that have a level */
  } * sums;                                                 /* by group */
};

int nai_stats_make_projection_sums(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                                   struct nai_err *err) {
  struct projection_sums *sums = NULL;
  NAI_TRY(nai_stats_make_projections(rows, options, err));
  const struct range_trace *all = rows->state;
  NAI_TRY(NAI_NEW(sums, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(&sums->groups, rows->source, KEYS, rows->count, err));
  NAI_TRY(NAI_NEW(sums->sums, &rows->source->arena, rows->count, err));
  for (uint32_t row = 0; row < rows->count; row++) {
    uint32_t at = all->order[row].value;
    const struct nai_stats_range *range = &all->ranges.at[at];
    const int64_t key[KEYS] = {range->name, nai_stats_style_of(range)};
    NAI_TRY(nai_stats_groups_add(&sums->groups, key, all->extents[at].end - all->extents[at].start, err));
    struct projection_sum *sum = &sums->sums[sums->groups.group[row]];
    nai_stats_add(&sum->range_ns, range->end - range->start);
    sum->operations += all->extents[at].calls;
    sum->children += all->children[at];
    sum->levels += has_place(all, at) ? all->places[at].level : 0;
    sum->placed += has_place(all, at);
  }
  NAI_TRY(nai_stats_show_groups(rows, &sums->groups, KEY_NAME, NAI_STATS_BY_NAME, err));
  rows->state = sums; /* which begins with the groups */
  return NAI_OK;
}

static const struct projection_sum *sum_of(const struct nai_stats_rows *rows, uint32_t row) {
  const struct projection_sums *sums = rows->state;
  return &sums->sums[nai_stats_group_of(rows, row)->id];
}

static void put_mean(struct nai_stats_cell *out, int64_t total, int64_t count) {
  nai_stats_put_rounded(out, count ? (double)total / (double)count : (double)INFINITY);
}

NAI_STATS_CELL(sum_range_time, nai_stats_put_int(out, sum_of(rows, row)->range_ns))
NAI_STATS_CELL(sum_operations, nai_stats_put_int(out, sum_of(rows, row)->operations))
NAI_STATS_CELL(mean_operations,
               put_mean(out, sum_of(rows, row)->operations, nai_stats_group_of(rows, row)->stats.count))
NAI_STATS_CELL(mean_level, put_mean(out, sum_of(rows, row)->levels, sum_of(rows, row)->placed))
NAI_STATS_CELL(mean_children, put_mean(out, sum_of(rows, row)->children, nai_stats_group_of(rows, row)->stats.count))

const struct nai_stats_column nai_stats_projection_sum_columns[] = {
    {"Range", 0, nai_stats_group_name, 1},
    {"Style", 0, nai_stats_group_style, KEY_STYLE},
    {"Total Proj Time", NAI_STATS_TIME, NAI_STATS_TOTAL},
    {"Total Range Time", NAI_STATS_TIME, sum_range_time},
    {"Range Instances", 0, NAI_STATS_COUNT},
    NAI_STATS_SPREAD_OF("Proj "),
    {"Total GPU Ops", 0, sum_operations},
    {"Avg GPU Ops", 0, mean_operations},
    {"Avg Range Lvl", 0, mean_level},
    {"Avg Num Child", 0, mean_children},
    {0}};
