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

/* Adds calls by the id of their name, or with `cut` by their name without the version. */
static int add_calls(struct nai_stats_groups *groups, struct nai_stats_source *source,
                     const struct nai_stats_events *calls, bool by_class, bool cut, struct nai_err *err) {
  const int64_t *start = calls->at[CALL_START], *end = calls->at[CALL_END];
  NAI_TRY(nai_stats_groups_expect(groups, calls->count, err));
  for (uint32_t i = 0; i < calls->count; i++) {
    int64_t name = calls->at[CALL_NAME][i];
    if (!nai_stats_has_times(start[i], end[i]) || (by_class && calls->at[CALL_CLASS][i] != NAI_STATS_OSRT_CLASS))
      continue;
    if (cut)
      NAI_TRY(nai_stats_function(&name, source, name, err));
    NAI_TRY(nai_stats_groups_add(groups, &name, end[i] - start[i], err));
  }
  return NAI_OK;
}

/* Calls by the id of their name: two versions of a function are two rows. */
int nai_stats_make_calls(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  const int what = options->report->what;
  const bool by_class = what == NAI_STATS_OSRT_CALLS, outer = by_class && options->flag[0];
  const char *const columns[] = {"start", "end", "nameId", by_class ? "eventClass" : "", outer ? "globalTid" : "",
                                 NULL};
  struct nai_stats_groups groups;
  struct nai_stats_events calls;
  NAI_TRY(nai_stats_load(&calls, rows->source, options->report->tables[0], columns, err));
  if (outer)
    NAI_TRY(drop_inner(&calls, &rows->source->arena, err));
  NAI_TRY(nai_stats_groups_begin(&groups, rows->source, 1, 0, err));
  NAI_TRY(add_calls(&groups, rows->source, &calls, by_class, false, err));
  NAI_TRY(nai_stats_show_groups(rows, &groups, -1, NAI_STATS_BY_KEY, err));
  NAI_TRY(nai_stats_check_ties(rows, &groups, err));
  for (uint32_t g = 0; g < groups.count; g++) {
    int64_t *key = groups.sorted[g].key;
    NAI_TRY((what == NAI_STATS_CUDA_CALLS ? nai_stats_function : nai_stats_name)(key, rows->source, *key, err));
  }
  return NAI_OK;
}

const struct nai_stats_column nai_stats_call_columns[] = {
    NAI_STATS_SUMS("Num Calls"), {"Name", 0, NAI_STATS_KEY_NAME(0)}, {0}};

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

struct ids {
  int64_t *of_text; /* of StringIds */
  uint32_t count;
};

static int64_t id_of(const struct ids *ids, int64_t text) {
  return text >= 0 && text < ids->count ? ids->of_text[text] : INT64_MIN;
}

/* Equal totals by id of the name, grid and block; no name comes first. */
static int by_id(const void *left, const void *right, void *ids) {
  const struct nai_stats_group *a = left, *b = right;
  int order =
      NAI_COMPARE({b->stats->total, a->stats->total}, {id_of(ids, a->key[KEY_NAME]), id_of(ids, b->key[KEY_NAME])});
  for (int k = KEY_GRID; k < GRID_KEYS && !order; k++)
    order = NAI_COMPARE({a->key[k], b->key[k]});
  return order;
}

static int order_by_ids(struct nai_stats_rows *rows, struct nai_stats_groups *groups, struct nai_err *err) {
  struct ids ids = {.count = rows->source->texts.count};
  NAI_TRY(nai_stats_check_ties(rows, groups, err));
  NAI_TRY(find_ids(&ids.of_text, rows->source, err));
  if (rows->count)
    qsort_r(groups->sorted, rows->count, sizeof *groups->sorted, by_id, &ids);
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

/* Grid and block as texts. */
static int name_sizes(struct nai_stats_groups *groups, struct nai_stats_source *source, struct nai_err *err) {
  for (uint32_t g = 0; g < groups->count; g++) {
    int64_t *key = groups->sorted[g].key;
    NAI_TRY(nai_stats_size_text(&key[KEY_GRID], source, key + KEY_GRID, err));
    NAI_TRY(nai_stats_size_text(&key[KEY_BLOCK], source, key + KEY_BLOCK, err));
  }
  return NAI_OK;
}

/* In 2022 by name, grid and block. */
int nai_stats_make_kernels(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  const int keys = options->old || options->report->what == NAI_STATS_BY_GRID ? GRID_KEYS : 1;
  struct nai_stats_groups groups;
  struct nai_stats_events kernels;
  NAI_TRY(nai_stats_load_operations(&kernels, rows->source, NAI_STATS_KERNELS,
                                    keys > 1 ? 0x3fu << NAI_STATS_OP_GRID : 0, options, err));
  NAI_TRY(nai_stats_groups_begin(&groups, rows->source, keys, kernels.count, err));
  const int64_t *start = kernels.at[NAI_STATS_OP_START], *end = kernels.at[NAI_STATS_OP_END];
  for (uint32_t i = 0; i < kernels.count; i++) {
    int64_t key[GRID_KEYS] = {kernels.at[NAI_STATS_OP_NAME][i]};
    for (int k = 1; k < keys; k++)
      key[k] = kernels.at[NAI_STATS_OP_GRID + k - 1][i];
    if (nai_stats_has_times(start[i], end[i]))
      NAI_TRY(nai_stats_groups_add(&groups, key, end[i] - start[i], err));
  }
  NAI_TRY(nai_stats_show_groups(rows, &groups, KEY_NAME, NAI_STATS_BY_COUNT, err));
  NAI_TRY(note_graphs(rows, err));
  if (options->old)
    NAI_TRY(order_by_ids(rows, &groups, err));
  return keys > 1 ? name_sizes(&groups, rows->source, err) : NAI_OK;
}

const struct nai_stats_column nai_stats_kernel_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Name", 0, NAI_STATS_KEY_NAME(KEY_NAME)}, {0}};
const struct nai_stats_column nai_stats_grid_columns[] = {NAI_STATS_SUMS("Instances"),
                                                          {"GridXYZ", 0, NAI_STATS_KEY_WORDS(KEY_GRID)},
                                                          {"BlockXYZ", 0, NAI_STATS_KEY_WORDS(KEY_BLOCK)},
                                                          {"Name", 0, NAI_STATS_KEY_NAME(KEY_NAME)},
                                                          {0}};

/* --- copies and memsets -------------------------------------------------------------------------------- */

/* Adds operations by name: bytes where they are `wanted`, else times. */
static int add_operations(struct nai_stats_groups *groups, struct nai_stats_source *source, enum nai_stats_what what,
                          uint32_t wanted, const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_events events;
  NAI_TRY(nai_stats_load_operations(&events, source, what, wanted, options, err));
  NAI_TRY(nai_stats_groups_expect(groups, events.count, err));
  const int64_t *start = events.at[NAI_STATS_OP_START], *end = events.at[NAI_STATS_OP_END],
                *bytes = events.at[NAI_STATS_OP_BYTES];
  for (uint32_t i = 0; i < events.count; i++) {
    const int64_t text = events.at[NAI_STATS_OP_NAME][i];
    if (text == NAI_NO_STRING || !nai_stats_has_times(start[i], end[i]))
      continue;
    const int64_t size = bytes ? bytes[i] : end[i] - start[i];
    NAI_TRY(nai_stats_groups_add(groups, &text, size == NAI_STATS_NULL ? 0 : size, err));
  }
  return NAI_OK;
}

int nai_stats_make_copies(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  const uint32_t wanted = options->report->what == NAI_STATS_COPY_SIZES ? 1u << NAI_STATS_OP_BYTES : 0;
  struct nai_stats_groups groups;
  NAI_TRY(nai_stats_groups_begin(&groups, rows->source, 1, 0, err));
  NAI_TRY(add_operations(&groups, rows->source, NAI_STATS_COPIES, wanted, options, err));
  NAI_TRY(add_operations(&groups, rows->source, NAI_STATS_SETS, wanted, options, err));
  return nai_stats_show_groups(rows, &groups, 0, NAI_STATS_BY_NAME, err);
}

const struct nai_stats_column nai_stats_copy_time_columns[] = {
    NAI_STATS_SUMS("Count"), {"Operation", 0, NAI_STATS_KEY_NAME(0)}, {0}};
const struct nai_stats_column nai_stats_copy_size_columns[] = {{"Total", NAI_STATS_MEMORY, NAI_STATS_TOTAL},
                                                               {"Count", 0, NAI_STATS_COUNT},
                                                               NAI_STATS_SIZE_SPREAD,
                                                               {"Operation", 0, NAI_STATS_KEY_NAME(0)},
                                                               {0}};

/* --- calls, kernels, copies in one list ---------------------------------------------------------------- */

/* A name is of the category that has it first. */
int nai_stats_make_operations(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                              struct nai_err *err) {
  static const char *const columns[] = {"start", "end", "nameId", NULL};
  static const char *const categories[] = {"CUDA_API", "CUDA_KERNEL", "MEMORY_OPER"};
  struct nai_stats_source *source = rows->source;
  struct nai_stats_groups groups;
  struct nai_stats_events calls;
  uint32_t behind[3]; /* the groups of each category */
  NAI_TRY(nai_stats_groups_begin(&groups, source, 1, 0, err));
  if (options->report->what == NAI_STATS_WITH_CALLS) {
    NAI_TRY(nai_stats_load(&calls, source, options->report->tables[0], columns, err));
    NAI_TRY(add_calls(&groups, source, &calls, false, true, err));
  }
  behind[0] = groups.of.count;
  NAI_TRY(add_operations(&groups, source, NAI_STATS_KERNELS, 0, options, err));
  behind[1] = groups.of.count;
  NAI_TRY(add_operations(&groups, source, NAI_STATS_COPIES, 0, options, err));
  NAI_TRY(add_operations(&groups, source, NAI_STATS_SETS, 0, options, err));
  behind[2] = groups.of.count;
  NAI_TRY(nai_stats_show_groups(rows, &groups, 0, NAI_STATS_BY_NAME, err));
  for (uint32_t g = 0; g < rows->count; g++) {
    int64_t *category = &groups.sorted[g].key[1];
    for (*category = 0; groups.sorted[g].id >= behind[*category];)
      ++*category;
  }
  return nai_stats_name_keys(&groups, source, 1, categories, err);
}

const struct nai_stats_column nai_stats_operation_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Category", 0, NAI_STATS_KEY_WORDS(1)}, {"Operation", 0, NAI_STATS_KEY_NAME(0)}, {0}};
