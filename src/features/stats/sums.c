/* Reports that add up events by what they are: calls, kernels, copies, OS runtime. */
#include "features/stats/operations.h"

#include "base/fmt.h"
#include "base/sort.h"

/* --- calls -------------------------------------------------------------------------------------------- */

enum { CALL_START, CALL_END, CALL_NAME, CALL_CLASS, CALL_THREAD };

/* Leaves out calls that another one of their thread is around: of these the class is none. */
static int drop_inner(const struct nai_stats_events *calls, struct nai_arena *arena, struct nai_err *err) {
  struct nai_stats_ranges ranges = {0};
  struct nai_stats_place *places = NULL;
  NAI_TRY(NAI_NEW(ranges.at, arena, calls->count, err));
  for (uint32_t i = 0; i < calls->count; i++) {
    if (calls->at[CALL_CLASS][i] != NAI_STATS_OSRT_CLASS ||
        !nai_stats_has_times(calls->at[CALL_START][i], calls->at[CALL_END][i]))
      continue;
    ranges.at[ranges.count++] = (struct nai_stats_range){.start = calls->at[CALL_START][i],
                                                         .end = calls->at[CALL_END][i],
                                                         .thread = calls->at[CALL_THREAD][i],
                                                         .rowid = i};
  }
  NAI_TRY(nai_stats_find_parents(&places, &ranges, arena, err));
  for (uint32_t r = 0; r < ranges.count; r++)
    if (places[r].parent != UINT32_MAX)
      calls->at[CALL_CLASS][ranges.at[r].rowid] = NAI_STATS_NULL;
  return NAI_OK;
}

struct call_sum {
  struct nai_stats_groups *groups;
  struct nai_stats_source *source;
  bool by_class, outer;
  bool cut; /* by name without the version, not by its id */
};

static int add_calls(void *ctx, const struct nai_stats_events *calls, struct nai_err *err) {
  const struct call_sum *sum = ctx;
  const int64_t *start = calls->at[CALL_START], *end = calls->at[CALL_END];
  if (!start)
    return nai_stats_groups_expect(sum->groups, calls->count, err);
  if (sum->outer)
    NAI_TRY(drop_inner(calls, &sum->source->arena, err));
  for (uint32_t i = 0; i < calls->count; i++) {
    int64_t name = calls->at[CALL_NAME][i];
    if (!nai_stats_has_times(start[i], end[i]) || (sum->by_class && calls->at[CALL_CLASS][i] != NAI_STATS_OSRT_CLASS))
      continue;
    if (sum->cut)
      NAI_TRY(nai_stats_function(&name, sum->source, name, err));
    NAI_TRY(nai_stats_groups_add(sum->groups, &name, end[i] - start[i], err));
  }
  return NAI_OK;
}

static int sum_calls(const struct call_sum *sum, const char *table, struct nai_err *err) {
  const char *columns[] = {"start", "end", "nameId", sum->by_class ? "eventClass" : "", sum->outer ? "globalTid" : "",
                           NULL};
  struct nai_stats_events all;
  struct call_sum own = *sum;
  if (!sum->outer)
    return nai_stats_each(sum->source, table, columns, add_calls, &own, err);
  NAI_TRY(nai_stats_load(&all, sum->source, table, columns, err)); /* which is known when all are there */
  return add_calls(&own, &all, err);
}

/* Calls by the id of their name: two versions of a function are two rows. */
int nai_stats_make_calls(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  const int what = options->report->what;
  struct nai_stats_groups *groups = NULL;
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, 1, 0, err));
  const struct call_sum sum = {.groups = groups,
                               .source = rows->source,
                               .by_class = what == NAI_STATS_OSRT_CALLS,
                               .outer = what == NAI_STATS_OSRT_CALLS && options->flag[0]};
  NAI_TRY(sum_calls(&sum, options->report->tables[0], err));
  NAI_TRY(nai_stats_show_groups(rows, groups, -1, NAI_STATS_BY_KEY, err));
  NAI_TRY(nai_stats_check_ties(rows, groups, err));
  for (uint32_t g = 0; g < groups->count; g++) {
    struct nai_stats_group *group = &groups->sorted[g];
    NAI_TRY((what == NAI_STATS_CUDA_CALLS ? nai_stats_function : nai_stats_name)(&group->key[1], rows->source,
                                                                                 group->key[0], err));
  }
  for (uint32_t g = 0; g < groups->count; g++) /* the texts stay where they are now */
    groups->sorted[g].name = nai_stats_text_of(rows->source, groups->sorted[g].key[1]);
  return NAI_OK;
}

const struct nai_stats_column nai_stats_call_columns[] = {
    NAI_STATS_SUMS("Num Calls"), {"Name", 0, nai_stats_group_name}, {0}};

/* --- kernels ------------------------------------------------------------------------------------------- */

enum { KEY_NAME, KEY_GRID, KEY_BLOCK = KEY_GRID + 3, GRID_KEYS = KEY_BLOCK + 3 };

/* The ids of StringIds behind texts. */
static int find_ids(int64_t **ids, struct nai_stats_source *source, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*ids, &source->arena, source->texts.count, err));
  for (uint32_t text = 0; text < source->texts.count; text++)
    (*ids)[text] = source->run ? text : INT64_MAX;
  for (uint32_t slot = 0; slot < source->name_ids.count && !source->run; slot++) {
    int64_t text = source->names[slot].text, id = source->name_ids.keys[slot];
    if (text < source->texts.count && id < (*ids)[text])
      (*ids)[text] = id;
  }
  return NAI_OK;
}

/* Equal totals by id of the name, grid and block; no name comes first. */
static int by_id(const void *left, const void *right, void *ids) {
  const struct nai_stats_group *a = left, *b = right;
  int64_t one = a->name ? ((const int64_t *)ids)[a->key[KEY_NAME]] : INT64_MIN,
          other = b->name ? ((const int64_t *)ids)[b->key[KEY_NAME]] : INT64_MIN;
  int order = NAI_COMPARE({b->stats.total, a->stats.total}, {one, other});
  for (int k = KEY_GRID; k < GRID_KEYS && !order; k++)
    order = NAI_COMPARE({a->key[k], b->key[k]});
  return order;
}

static int order_by_ids(struct nai_stats_rows *rows, struct nai_stats_groups *groups, struct nai_err *err) {
  int64_t *ids = NULL;
  NAI_TRY(nai_stats_check_ties(rows, groups, err));
  NAI_TRY(find_ids(&ids, rows->source, err));
  if (rows->count)
    qsort_r(groups->sorted, rows->count, sizeof *groups->sorted, by_id, ids);
  return NAI_OK;
}

/* Says what kernels of graphs that were traced as a whole took: they are not among the rows. */
static int note_graphs(struct nai_stats_rows *rows, struct nai_err *err) {
  static const char *const columns[] = {"start", "end", NULL};
  struct nai_stats_events graphs;
  NAI_SCOPED(nai_buf) note = {0};
  int64_t ns = 0;
  NAI_TRY(nai_stats_load(&graphs, rows->source, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns, err));
  for (uint32_t i = 0; i < graphs.count; i++)
    if (nai_stats_has_times(graphs.at[0][i], graphs.at[1][i]))
      nai_stats_add(&ns, graphs.at[1][i] - graphs.at[0][i]);
  if (!graphs.count)
    return NAI_OK;
  nai_buf_printf(&note, "%u launches of CUDA graphs, ", graphs.count);
  nai_fmt_duration(&note, (double)ns);
  nai_buf_puts(&note, ", were traced as a whole: their kernels are left out");
  rows->note = nai_arena_printf(&rows->source->arena, "%s", nai_buf_str(&note));
  return nai_buf_check(&note, err);
}

static int add_kernels(void *ctx, const struct nai_stats_events *kernels, struct nai_err *err) {
  struct nai_stats_groups *groups = ctx;
  const int64_t *start = kernels->at[NAI_STATS_OP_START], *end = kernels->at[NAI_STATS_OP_END];
  if (!start)
    return nai_stats_groups_expect(groups, kernels->count, err);
  for (uint32_t i = 0; i < kernels->count; i++) {
    int64_t key[GRID_KEYS] = {kernels->at[NAI_STATS_OP_NAME][i]};
    for (int k = 1; k < groups->keys; k++)
      key[k] = kernels->at[NAI_STATS_OP_GRID + k - 1][i];
    if (nai_stats_has_times(start[i], end[i]))
      NAI_TRY(nai_stats_groups_add(groups, key, end[i] - start[i], err));
  }
  return NAI_OK;
}

/* In 2022 by name, grid and block. */
int nai_stats_make_kernels(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_groups *groups = NULL;
  const int keys = options->old || options->report->what == NAI_STATS_BY_GRID ? GRID_KEYS : 1;
  const uint32_t wanted = keys > 1 ? 0x3f << NAI_STATS_OP_GRID : 0;
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, keys, 0, err));
  NAI_TRY(nai_stats_each_operation(rows->source, NAI_STATS_KERNELS, wanted, options, add_kernels, groups, err));
  NAI_TRY(nai_stats_show_groups(rows, groups, KEY_NAME, NAI_STATS_BY_COUNT, err));
  NAI_TRY(note_graphs(rows, err));
  return options->old ? order_by_ids(rows, groups, err) : NAI_OK;
}

NAI_STATS_CELL(sizes, const int64_t *size = nai_stats_group_of(rows, row)->key + at;
               nai_stats_put_sizes(out, rows, size[0], size[1], size[2]))

const struct nai_stats_column nai_stats_kernel_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Name", 0, nai_stats_group_name}, {0}};
const struct nai_stats_column nai_stats_grid_columns[] = {NAI_STATS_SUMS("Instances"),
                                                          {"GridXYZ", 0, sizes, KEY_GRID},
                                                          {"BlockXYZ", 0, sizes, KEY_BLOCK},
                                                          {"Name", 0, nai_stats_group_name},
                                                          {0}};

/* --- copies and memsets -------------------------------------------------------------------------------- */

/* Adds operations by name: bytes where they were read, else times. */
static int add_operations(void *ctx, const struct nai_stats_events *events, struct nai_err *err) {
  const int64_t *start = events->at[NAI_STATS_OP_START], *end = events->at[NAI_STATS_OP_END],
                *bytes = events->at[NAI_STATS_OP_BYTES];
  if (!start)
    return nai_stats_groups_expect(ctx, events->count, err);
  for (uint32_t i = 0; i < events->count; i++) {
    const int64_t size = bytes ? bytes[i] : end[i] - start[i], text = events->at[NAI_STATS_OP_NAME][i];
    if (text != NAI_NO_STRING && nai_stats_has_times(start[i], end[i]))
      NAI_TRY(nai_stats_groups_add(ctx, &text, size == NAI_STATS_NULL ? 0 : size, err));
  }
  return NAI_OK;
}

int nai_stats_make_copies(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_groups *groups = NULL;
  const uint32_t wanted = options->report->what == NAI_STATS_COPY_SIZES ? 1u << NAI_STATS_OP_BYTES : 0;
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, 1, 0, err));
  NAI_TRY(nai_stats_each_operation(rows->source, NAI_STATS_COPIES, wanted, options, add_operations, groups, err));
  NAI_TRY(nai_stats_each_operation(rows->source, NAI_STATS_SETS, wanted, options, add_operations, groups, err));
  return nai_stats_show_groups(rows, groups, 0, NAI_STATS_BY_NAME, err);
}

const struct nai_stats_column nai_stats_copy_time_columns[] = {
    NAI_STATS_SUMS("Count"), {"Operation", 0, nai_stats_group_name}, {0}};
const struct nai_stats_column nai_stats_copy_size_columns[] = {{"Total", NAI_STATS_MEMORY, NAI_STATS_TOTAL},
                                                               {"Count", 0, NAI_STATS_COUNT},
                                                               NAI_STATS_SIZE_SPREAD,
                                                               {"Operation", 0, nai_stats_group_name},
                                                               {0}};

/* --- calls, kernels, copies in one list ---------------------------------------------------------------- */

enum { CATEGORY_CALL, CATEGORY_KERNEL, CATEGORY_COPY, CATEGORIES };

int nai_stats_make_operations(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                              struct nai_err *err) {
  struct nai_stats_source *source = rows->source;
  struct nai_stats_groups *groups = NULL;
  uint32_t behind[CATEGORIES]; /* the groups of each category: those of an event that has the name first */
  NAI_TRY(NAI_NEW(groups, &source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(groups, source, 1, 0, err));
  if (options->report->what == NAI_STATS_WITH_CALLS)
    NAI_TRY(sum_calls(&(struct call_sum){groups, source, .cut = true}, options->report->tables[0], err));
  behind[CATEGORY_CALL] = groups->of.known.count;
  for (int what = NAI_STATS_KERNELS; what <= NAI_STATS_SETS; what++) {
    NAI_TRY(nai_stats_each_operation(source, (enum nai_stats_what)what, 0, options, add_operations, groups, err));
    behind[what == NAI_STATS_KERNELS ? CATEGORY_KERNEL : CATEGORY_COPY] = groups->of.known.count;
  }
  NAI_TRY(nai_stats_show_groups(rows, groups, 0, NAI_STATS_BY_NAME, err));
  for (uint32_t g = 0; g < rows->count; g++)
    for (groups->sorted[g].key[1] = 0; groups->sorted[g].id >= behind[groups->sorted[g].key[1]];)
      groups->sorted[g].key[1]++;
  return NAI_OK;
}

static const char *const categories[] = {
    [CATEGORY_CALL] = "CUDA_API", [CATEGORY_KERNEL] = "CUDA_KERNEL", [CATEGORY_COPY] = "MEMORY_OPER"};
NAI_STATS_CELL(category, nai_stats_put_text(out, categories[nai_stats_group_of(rows, row)->key[1]]))

const struct nai_stats_column nai_stats_operation_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Category", 0, category}, {"Operation", 0, nai_stats_group_name}, {0}};
