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

/* Whether a range has a level and a stack. */
static bool has_place(const struct range_trace *all, uint32_t range) { return !all->lost || !all->lost[range]; }

/* A row of either report. */
struct line {
  int64_t name, style, start, end, ns, process, tid, level, children, id,
      parent;                                        /* level, parent: NAI_STATS_NULL for none */
  int64_t child_ns, own_ns;                          /* of the tree */
  int64_t projected_start, projected_ns, operations; /* of the projection */
  uint32_t range;
};

static void fill_line(void *record, const struct nai_stats_rows *rows, uint32_t row) {
  const struct range_trace *all = rows->state;
  const uint32_t at = all->order[row].value;
  const struct nai_stats_range *range = &all->ranges.at[at];
  const struct nai_stats_place *place = has_place(all, at) ? &all->places[at] : NULL;
  struct line *out = record;
  out->range = at;
  out->name = range->name;
  out->style = all->ranges.styles[nai_stats_style_of(range)];
  out->start = range->start;
  out->end = range->end;
  out->ns = range->end - range->start;
  out->process = nai_stats_pid(range->thread);
  out->tid = nai_stats_tid(range->thread);
  out->level = place ? place->level : NAI_STATS_NULL;
  out->children = all->children[at];
  out->id = range->rowid;
  out->parent = place && place->parent != UINT32_MAX ? all->ranges.at[place->parent].rowid : NAI_STATS_NULL;
  if (all->child_ns) {
    out->child_ns = all->child_ns[at];
    out->own_ns = out->ns;
    nai_stats_add(&out->own_ns, -out->child_ns);
  } else {
    out->projected_start = all->extents[at].start;
    out->projected_ns = all->extents[at].end - all->extents[at].start;
    out->operations = all->extents[at].calls;
  }
}

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

static void show_stack(struct nai_stats_cell *out, struct nai_stats_rows *rows, const void *record, size_t at) {
  const struct range_trace *all = rows->state;
  const struct line *line = record;
  (void)at;
  if (line->level == NAI_STATS_NULL)
    return;
  if (!rows->stack.at)
    rows->stack.at = calloc((size_t)all->deepest + 1, sizeof *rows->stack.at);
  rows->stack.text.oom |= !rows->stack.at;
  if (nai_buf_failed(&rows->stack.text))
    return;
  put_stack(&rows->stack, all, line->range);
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

static uint64_t shortest_first(const void *ctx, uint32_t range) {
  const struct range_trace *all = ctx;
  return nai_key_from_i64(all->ranges.at[range].end - all->ranges.at[range].start);
}

/* Of 2022 in the order of the file, since by start, the shortest first. */
static int order_tree(struct range_trace *all, const struct nai_stats_options *options, struct nai_arena *arena,
                      struct nai_err *err) {
  NAI_TRY(NAI_NEW(all->order, arena, all->ranges.count, err));
  for (uint32_t i = 0; i < all->ranges.count; i++)
    all->order[i] = (struct nai_key){nai_key_from_i64(all->ranges.at[i].start), i};
  return options->old ? NAI_OK : nai_sort_keys_by(all->order, all->ranges.count, shortest_first, all, err);
}

int nai_stats_make_push_pop_trace(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                                  struct nai_err *err) {
  struct nai_arena *arena = &rows->source->arena;
  struct range_trace *all = NULL;
  uint32_t twins = 0;
  NAI_TRY(NAI_NEW(all, arena, 1, err));
  NAI_TRY(nai_stats_load_ranges(&all->ranges, rows->source, options->old, NAI_STATS_ONLY_PUSH_POP, NULL, err));
  for (uint32_t i = 0; i < all->ranges.count; i++) /* in the tree that does not count; of 2019 it is 0 for none */
    all->ranges.at[i].crosses = false;
  NAI_TRY(find_places(all, arena, err));
  NAI_TRY(sum_children(all, arena, err));
  for (uint32_t i = 0; i < all->ranges.count; i++)
    twins += all->places[i].twin != UINT32_MAX;
  if (twins)
    rows->note = nai_arena_printf(arena, "%u ranges begin and end with another; nsys leaves them out", twins);
  rows->state = all;
  rows->fill = fill_line;
  rows->count = all->ranges.count;
  NAI_TRY(nai_arena_check(arena, err));
  return order_tree(all, options, arena, err);
}

/* Two hyphens a level in front of the name. */
static void show_tree(struct nai_stats_cell *out, struct nai_stats_rows *rows, const void *record, size_t at) {
  const struct line *line = record;
  (void)at;
  const char *text = nai_stats_text_of(rows->source, line->name);
  nai_buf_clear(&rows->scratch);
  nai_buf_fill(&rows->scratch, '-', 2 * (size_t)line->level);
  nai_buf_puts(&rows->scratch, text ? text : "");
  nai_stats_put_text(out, text ? nai_buf_str(&rows->scratch) : NULL);
}

#define LINE(member) NAI_STATS_NUMBER(line, member)
#define NAME NAI_STATS_WORDS(line, name)
#define PLACE                                                                                                          \
  {"Lvl", 0, LINE(level)}, {"NumChild", 0, LINE(children)}, {"RangeId", 0, LINE(id)}, {"ParentId", 0, LINE(parent)}, { \
    "RangeStack", 0, NAI_STATS_MADE(show_stack)                                                                        \
  }
const struct nai_stats_column nai_stats_push_pop_trace_columns[] = {{"Start", NAI_STATS_STAMP, LINE(start)},
                                                                    {"End", NAI_STATS_STAMP, LINE(end)},
                                                                    {"Duration", NAI_STATS_TIME, LINE(ns)},
                                                                    {"DurChild", NAI_STATS_TIME, LINE(child_ns)},
                                                                    {"DurNonChild", NAI_STATS_TIME, LINE(own_ns)},
                                                                    {"Name", 0, NAME},
                                                                    {"PID", 0, LINE(process)},
                                                                    {"TID", 0, LINE(tid)},
                                                                    PLACE,
                                                                    {"NameTree", 0, NAI_STATS_MADE(show_tree)},
                                                                    {0}};

/* --- nvtx_gpu_proj_trace --------------------------------------------------------------------------------- */

/* Direct children that are projected themselves; of ranges of equal times each is the other's. */
static int count_children(void *ctx, int thread, struct nai_err *err) {
  const struct range_trace *all = ctx;
  (void)err;
  for (uint32_t k = all->ranges.of_thread[thread]; k < all->ranges.of_thread[thread + 1]; k++) {
    const uint32_t i = all->ranges.ordered[k];
    uint32_t around = all->places[i].twin != UINT32_MAX ? all->places[i].twin : all->places[i].parent;
    if (around != UINT32_MAX && all->extents[i].calls)
      all->children[around]++;
  }
  return NAI_OK;
}

static uint64_t longest_first(const void *ctx, uint32_t range) {
  const struct range_trace *all = ctx;
  return ~nai_key_from_i64(all->extents[range].end - all->extents[range].start);
}

/* Of 2022 in the order of the file, since by projected start, the longest first. */
static int order_projections(struct nai_stats_rows *rows, struct range_trace *all, bool old, struct nai_err *err) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < all->ranges.count; i++)
    count += all->extents[i].calls != 0;
  NAI_TRY(NAI_NEW(all->order, &rows->source->arena, count, err));
  for (uint32_t i = 0; i < all->ranges.count; i++)
    if (all->extents[i].calls)
      all->order[rows->count++] = (struct nai_key){nai_key_from_i64(all->extents[i].start), i};
  return old ? NAI_OK : nai_sort_keys_by(all->order, rows->count, longest_first, all, err);
}

static int project(struct range_trace *all, const struct nai_stats_rows *rows, const struct nai_stats_options *options,
                   struct nai_err *err) {
  struct nai_arena *arena = &rows->source->arena;
  struct nai_stats_launched launched;
  struct nai_stats_begins begins;
  NAI_TRY(nai_stats_find_launched(&launched, rows->source, options->flag[0], arena, err));
  NAI_TRY(nai_stats_read_begins(&begins, launched.items, launched.count, arena, err));
  NAI_TRY(nai_stats_load_ranges(&all->ranges, rows->source, options->old, NAI_STATS_BOTH_STYLES, &begins, err));
  NAI_TRY(find_places(all, arena, err));
  NAI_TRY(find_lost(all, arena, err));
  NAI_TRY(NAI_NEW(all->children, arena, all->ranges.count, err));
  NAI_TRY(nai_stats_contain_extents(&all->extents, &all->ranges, launched.items, launched.times, launched.count, arena,
                                    err));
  return nai_stats_each_thread(&all->ranges, count_children, all, err);
}

int nai_stats_make_projections(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                               struct nai_err *err) {
  struct range_trace *all = NULL;
  NAI_TRY(NAI_NEW(all, &rows->source->arena, 1, err));
  rows->state = all;
  rows->fill = fill_line;
  NAI_TRY(project(all, rows, options, err));
  return order_projections(rows, all, options->old, err);
}

const struct nai_stats_column nai_stats_projection_columns[] = {
    {"Name", 0, NAME},
    {"Projected Start", NAI_STATS_STAMP, LINE(projected_start)},
    {"Projected Duration", NAI_STATS_TIME, LINE(projected_ns)},
    {"Orig Start", NAI_STATS_STAMP, LINE(start)},
    {"Orig Duration", NAI_STATS_TIME, LINE(ns)},
    {"Style", 0, NAI_STATS_WORDS(line, style)},
    {"PID", 0, LINE(process)},
    {"TID", 0, LINE(tid)},
    {"NumGPUOps", 0, LINE(operations)},
    PLACE,
    {0}};

/* --- nvtx_gpu_proj_sum ----------------------------------------------------------------------------------- */

enum { KEY_NAME, KEY_STYLE, KEYS };
struct range_sum {
  int64_t range_ns, operations, children, levels, placed; /* placed: those that have a level */
};
struct projection_sum {
  struct nai_stats_group_row group; /* of projected times; first */
  struct range_sum ranges;
  double mean_operations, mean_level, mean_children;
};

/* Projections by group, in each in the order of the trace: NVIDIA's deviation depends on it. */
struct grouped {
  struct range_trace *trace;
  struct nai_stats_groups groups;
  uint32_t *first, capacity; /* first[g]: where those of group g begin in trace->order; one more is the end */
  struct range_sum *of;      /* by group */
  uint32_t sum_capacity;
};
enum { GROUP_PARTS = 16 };

static uint32_t part_of(const struct grouped *by, int part) {
  return (uint32_t)((uint64_t)by->groups.of.count * (uint32_t)part / GROUP_PARTS);
}

static void add_projection(struct range_sum *sum, const struct range_trace *all, uint32_t at) {
  nai_stats_add(&sum->range_ns, all->ranges.at[at].end - all->ranges.at[at].start);
  sum->operations += all->extents[at].calls;
  sum->children += all->children[at];
  sum->levels += has_place(all, at) ? all->places[at].level : 0;
  sum->placed += has_place(all, at);
}

/* Of each range its group, NAI_NO_GROUP for none, and how many each group has, behind where that is to begin. */
static int number_groups(struct grouped *by, uint32_t *group, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_stats_ranges *ranges = &by->trace->ranges;
  uint32_t *known; /* number + 1, by name and style */
  NAI_TRY(NAI_NEW(known, arena, 2 * ((size_t)ranges->names + 1), err));
  NAI_TRY(NAI_ROOM(by->first, by->capacity, 0, arena, err));
  for (uint32_t i = 0; i < ranges->count; i++) {
    const struct nai_stats_range *range = &ranges->at[i];
    const enum nai_stats_style style = nai_stats_style_of(range);
    uint32_t *number = &known[2 * (size_t)(range->name < ranges->names ? range->name : ranges->names) + style];
    group[i] = NAI_NO_GROUP;
    if (!by->trace->extents[i].calls)
      continue;
    if (!*number)
      *number = nai_stats_key_add(&by->groups.of, (const int64_t[KEYS]){range->name, ranges->styles[style]}) + 1;
    NAI_TRY(nai_memory_check(*number, err));
    NAI_TRY(NAI_ROOM(by->first, by->capacity, *number, arena, err));
    NAI_TRY(NAI_ROOM(by->of, by->sum_capacity, *number, arena, err));
    by->first[*number]++;
    group[i] = *number - 1;
    add_projection(&by->of[group[i]], by->trace, i);
  }
  return NAI_OK;
}

/* Brings projections together by group, as in the file. */
static int group_projections(struct grouped *by, struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_arena) own = NAI_ARENA(NULL);
  const struct nai_stats_ranges *ranges = &by->trace->ranges;
  uint32_t *group, *next;
  NAI_TRY(NAI_NEW_UNSET(group, &own, ranges->count, err));
  NAI_TRY(number_groups(by, group, arena, err));
  const uint32_t groups = by->groups.of.count;
  for (uint32_t g = 0; g < groups; g++)
    by->first[g + 1] += by->first[g];
  NAI_TRY(NAI_NEW_UNSET(next, &own, groups, err));
  memcpy(next, by->first, groups * sizeof *next);
  NAI_TRY(nai_stats_groups_expect(&by->groups, by->first[groups], err));
  by->groups.rows = by->first[groups];
  NAI_TRY(NAI_NEW_UNSET(by->trace->order, arena, by->groups.rows, err));
  for (uint32_t i = 0; i < ranges->count; i++)
    if (group[i] != NAI_NO_GROUP)
      by->trace->order[next[group[i]]++] = (struct nai_key){nai_key_from_i64(by->trace->extents[i].start), i};
  return NAI_OK;
}

static int order_part(void *ctx, int part, struct nai_err *err) {
  const struct grouped *by = ctx;
  const struct range_trace *all = by->trace;
  for (uint32_t g = part_of(by, part); g < part_of(by, part + 1); g++) {
    const uint32_t first = by->first[g], end = by->first[g + 1];
    NAI_TRY(nai_sort_keys_by(all->order + first, end - first, longest_first, all, err));
    for (uint32_t row = first; row < end; row++) {
      const struct nai_stats_extent *extent = &all->extents[all->order[row].value];
      by->groups.group[row] = g;
      by->groups.value[row] = extent->end - extent->start;
    }
  }
  return NAI_OK;
}

static void show_sum(struct projection_sum *out, const struct nai_stats_group *group, const struct range_sum *sum) {
  nai_stats_fill_group(&out->group, group);
  out->ranges = *sum;
  out->mean_operations = (double)sum->operations / (double)group->stats->count;
  out->mean_level = (double)sum->levels / (double)sum->placed; /* of none not finite: missing */
  out->mean_children = (double)sum->children / (double)group->stats->count;
}

int nai_stats_make_projection_sums(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                                   struct nai_err *err) {
  struct nai_arena *arena = &rows->source->arena;
  struct range_trace all = {0};
  struct grouped by = {.trace = &all};
  struct projection_sum *sums;
  NAI_TRY(project(&all, rows, options, err));
  NAI_TRY(nai_stats_groups_begin(&by.groups, rows->source, KEYS, 0, err));
  NAI_TRY(group_projections(&by, arena, err));
  NAI_TRY(nai_parallel(nai_cpu_count(), GROUP_PARTS, order_part, &by, err));
  NAI_TRY(nai_stats_groups_finish(&by.groups, rows->source, KEY_NAME, NAI_STATS_BY_NAME, err));
  NAI_TRY(NAI_NEW_UNSET(sums, arena, by.groups.count, err));
  for (uint32_t g = 0; g < by.groups.count; g++)
    show_sum(&sums[g], &by.groups.sorted[g], &by.of[by.groups.sorted[g].id]);
  nai_stats_show_records(rows, sums, sizeof *sums, by.groups.count, -1);
  return NAI_OK;
}

#define SUM(member) NAI_STATS_NUMBER(projection_sum, member)
#define MEAN(member) NAI_STATS_ROUNDED(projection_sum, member)
const struct nai_stats_column nai_stats_projection_sum_columns[] = {
    {"Range", 0, NAI_STATS_KEY_WORDS(KEY_NAME)},
    {"Style", 0, NAI_STATS_KEY_WORDS(KEY_STYLE)},
    {"Total Proj Time", NAI_STATS_TIME, NAI_STATS_TOTAL},
    {"Total Range Time", NAI_STATS_TIME, SUM(ranges.range_ns)},
    {"Range Instances", 0, NAI_STATS_COUNT},
    NAI_STATS_SPREAD_OF("Proj "),
    {"Total GPU Ops", 0, SUM(ranges.operations)},
    {"Avg GPU Ops", 0, MEAN(mean_operations)},
    {"Avg Range Lvl", 0, MEAN(mean_level)},
    {"Avg Num Child", 0, MEAN(mean_children)},
    {0}};
