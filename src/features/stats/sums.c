/* Reports that add up events by what they are: calls, kernels, copies, OS runtime. */
#include "features/stats/stats.h"

#include <math.h>
#include <string.h>

/* --- calls -------------------------------------------------------------------------------------------- */

static const char calls_table[] = "CUPTI_ACTIVITY_KIND_RUNTIME";
enum { CALL_START, CALL_END, CALL_NAME, CALL_CLASS };
static const char *const call_names[] = {"start", "end", "nameId", "eventClass", NULL};
enum { ANY_CLASS = -1, OSRT_CALLS = 27 }; /* of a call of the OS runtime */

/* Calls by the id of their name: two versions of a function are two rows. `function` says how they are called. */
static int sum_calls(struct nai_stats_rows *rows, const char *table, int64_t event_class,
                     int (*function)(int64_t *, struct nai_stats_source *, int64_t, struct nai_err *),
                     struct nai_err *err) {
  struct nai_stats_events calls;
  struct nai_stats_groups *groups = NULL;
  NAI_TRY(nai_stats_load(&calls, rows->source, table, call_names, err));
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, 1, calls.count, err));
  for (uint32_t i = 0; i < calls.count; i++) {
    int64_t start = calls.at[CALL_START][i], end = calls.at[CALL_END][i];
    if (nai_stats_has_times(start, end) && (event_class == ANY_CLASS || calls.at[CALL_CLASS][i] == event_class))
      NAI_TRY(nai_stats_groups_add(groups, &calls.at[CALL_NAME][i], end - start, err));
  }
  NAI_TRY(nai_stats_show_groups(rows, groups, -1, NAI_STATS_BY_KEY, err));
  for (uint32_t g = 0; g < groups->count; g++)
    NAI_TRY(function(&groups->sorted[g].key[1], rows->source, groups->sorted[g].key[0], err));
  for (uint32_t g = 0; g < groups->count; g++) /* the texts stay where they are now */
    groups->sorted[g].name = nai_stats_text_of(rows->source, groups->sorted[g].key[1]);
  return NAI_OK;
}

int nai_stats_make_api(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  (void)options;
  return sum_calls(rows, calls_table, ANY_CLASS, nai_stats_function, err);
}

int nai_stats_make_osrt(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  (void)options;
  return sum_calls(rows, "OSRT_API", OSRT_CALLS, nai_stats_name, err);
}

const struct nai_stats_column nai_stats_call_columns[] = {
    NAI_STATS_SUMS("Num Calls"), {"Name", 0, nai_stats_cell_name}, {0}};

/* --- kernels ------------------------------------------------------------------------------------------- */

static const char kernels_table[] = "CUPTI_ACTIVITY_KIND_KERNEL";
enum { KERNEL_START, KERNEL_END, KERNEL_NAME, KERNEL_DEMANGLED, KERNEL_GRID };
enum { KEY_NAME, KEY_GRID, KEY_BLOCK = KEY_GRID + 3, GRID_KEYS = KEY_BLOCK + 3 };

static int load_kernels(struct nai_stats_events *out, struct nai_stats_source *source, enum nai_stats_naming naming,
                        struct nai_err *err) {
  static const char *const columns[] = {
      [NAI_STATS_DEMANGLED] = "demangledName", [NAI_STATS_BASE] = "shortName", [NAI_STATS_MANGLED] = "mangledName"};
  const char *const names[] = {"start", "end",    columns[naming], "demangledName", "gridX", "gridY",
                               "gridZ", "blockX", "blockY",        "blockZ",        NULL};
  return nai_stats_load(out, source, kernels_table, names, err);
}

static int kernel_name(int64_t *text, struct nai_stats_source *source, const struct nai_stats_events *kernels,
                       uint32_t row, struct nai_err *err) {
  int64_t id = kernels->at[KERNEL_NAME][row];
  return nai_stats_name(text, source, id == NAI_STATS_NULL ? kernels->at[KERNEL_DEMANGLED][row] : id, err);
}

static int sum_kernels(struct nai_stats_rows *rows, const struct nai_stats_options *options, int keys,
                       enum nai_stats_ties ties, struct nai_err *err) {
  struct nai_stats_events kernels;
  struct nai_stats_groups *groups = NULL;
  int64_t key[GRID_KEYS];
  NAI_TRY(load_kernels(&kernels, rows->source, options->naming, err));
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, keys, kernels.count, err));
  for (uint32_t i = 0; i < kernels.count; i++) {
    if (!nai_stats_has_times(kernels.at[KERNEL_START][i], kernels.at[KERNEL_END][i]))
      continue;
    NAI_TRY(kernel_name(&key[KEY_NAME], rows->source, &kernels, i, err));
    for (int k = 1; k < keys; k++)
      key[k] = kernels.at[KERNEL_GRID + k - 1][i];
    NAI_TRY(nai_stats_groups_add(groups, key, kernels.at[KERNEL_END][i] - kernels.at[KERNEL_START][i], err));
  }
  return nai_stats_show_groups(rows, groups, KEY_NAME, ties, err);
}

int nai_stats_make_grids(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  return sum_kernels(rows, options, GRID_KEYS, options->old ? NAI_STATS_BY_NAME : NAI_STATS_BY_COUNT, err);
}

/* In 2022 it was the one by grid and block. */
int nai_stats_make_kernels(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  return options->old ? nai_stats_make_grids(rows, options, err)
                      : sum_kernels(rows, options, 1, NAI_STATS_BY_COUNT, err);
}

static void put_sizes(struct nai_stats_cell *out, struct nai_stats_rows *rows, const int64_t *sizes) {
  nai_buf_clear(&rows->scratch);
  for (int i = 0; i < 3; i++)
    nai_buf_printf(&rows->scratch, "%s%4lld", i ? " " : "", (long long)sizes[i]);
  nai_stats_put_text(out, sizes[0] == NAI_STATS_NULL ? NULL : nai_buf_str(&rows->scratch));
}

static void grid(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  put_sizes(out, rows, nai_stats_group_of(rows, row)->key + KEY_GRID);
}
static void block(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  put_sizes(out, rows, nai_stats_group_of(rows, row)->key + KEY_BLOCK);
}

const struct nai_stats_column nai_stats_kernel_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Name", 0, nai_stats_cell_name}, {0}};
const struct nai_stats_column nai_stats_grid_columns[] = {
    NAI_STATS_SUMS("Instances"), {"GridXYZ", 0, grid}, {"BlockXYZ", 0, block}, {"Name", 0, nai_stats_cell_name}, {0}};

/* --- copies and memsets -------------------------------------------------------------------------------- */

static const char copies_table[] = "CUPTI_ACTIVITY_KIND_MEMCPY", sets_table[] = "CUPTI_ACTIVITY_KIND_MEMSET";
enum { COPY_START, COPY_END, COPY_BYTES, COPY_KIND };
static const char *const copy_names[] = {"start", "end", "bytes", "copyKind", NULL};

enum { LAST_OF_COPIES = 10, COPY_KINDS = 32 }; /* behind that one: unified memory */

/* Copies of a kind that 2022 did not know are left out there. */
static const char *old_copy_label(int64_t kind) {
  static const char *const labels[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                       "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
  return kind >= 0 && kind < (int64_t)(sizeof labels / sizeof *labels) ? labels[kind] : NULL;
}

/* Since 2023 the export says how a kind is called; these are for one that does not. */
static const char *new_copy_label(int64_t kind) {
  static const char *const labels[] = {
      "Unknown",        "Host-to-Device",         "Device-to-Host",         "Host-to-Array",           "Array-to-Host",
      "Array-to-Array", "Array-to-Device",        "Device-to-Array",        "Device-to-Device",        "Host-to-Host",
      "Peer-to-Peer",   "Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device"};
  return kind >= 0 && kind < (int64_t)(sizeof labels / sizeof *labels) ? labels[kind] : NULL;
}

/* NAI_NO_STRING: the copy is in no report. */
static int name_copy(int64_t *text, struct nai_stats_source *source, int64_t kind, const char *label, bool old,
                     struct nai_err *err) {
  const char *known = old ? old_copy_label(kind) : label ? label : new_copy_label(kind);
  const char *unified = old && kind > LAST_OF_COPIES ? "Unified Memory " : "";
  *text = NAI_NO_STRING;
  if (!known)
    return NAI_OK;
  NAI_TRY(nai_stats_text(text, source, nai_arena_printf(&source->arena, "[CUDA %smemcpy %s]", unified, known), err));
  return nai_arena_check(&source->arena, err);
}

struct copies {
  struct nai_stats_events copies, sets;
  int64_t set_name, names[COPY_KINDS]; /* by kind */
};

static int name_kinds(struct copies *out, struct nai_stats_source *source, bool old, struct nai_err *err) {
  static const char *const names[] = {"id", "$label", NULL};
  struct nai_stats_events labels;
  int64_t label[COPY_KINDS];
  NAI_TRY(nai_stats_load(&labels, source, "ENUM_CUDA_MEMCPY_OPER", names, err));
  for (int kind = 0; kind < COPY_KINDS; kind++)
    label[kind] = NAI_NO_STRING;
  for (uint32_t i = 0; i < labels.count; i++)
    if (labels.at[0][i] >= 0 && labels.at[0][i] < COPY_KINDS)
      label[labels.at[0][i]] = labels.at[1][i];
  for (int kind = 0; kind < COPY_KINDS; kind++)
    NAI_TRY(name_copy(&out->names[kind], source, kind, nai_stats_text_of(source, label[kind]), old, err));
  return nai_stats_text(&out->set_name, source, "[CUDA memset]", err);
}

static int load_copies(struct copies *out, struct nai_stats_source *source, bool old, struct nai_err *err) {
  NAI_TRY(nai_stats_load(&out->copies, source, copies_table, copy_names, err));
  NAI_TRY(nai_stats_load(&out->sets, source, sets_table, copy_names, err));
  return name_kinds(out, source, old, err);
}

static int64_t name_of_kind(const struct copies *c, int64_t kind) {
  return kind >= 0 && kind < COPY_KINDS ? c->names[kind] : NAI_NO_STRING;
}

/* Adds copies and memsets by name, times or bytes. */
static int add_copies(struct nai_stats_groups *groups, const struct copies *c, bool bytes, struct nai_err *err) {
  for (int set = 0; set < 2; set++) {
    const struct nai_stats_events *events = set ? &c->sets : &c->copies;
    for (uint32_t i = 0; i < events->count; i++) {
      int64_t start = events->at[COPY_START][i], end = events->at[COPY_END][i], size = events->at[COPY_BYTES][i];
      int64_t text = set ? c->set_name : name_of_kind(c, events->at[COPY_KIND][i]);
      if (text == NAI_NO_STRING || !nai_stats_has_times(start, end))
        continue;
      NAI_TRY(nai_stats_groups_add(groups, &text, !bytes ? end - start : size == NAI_STATS_NULL ? 0 : size, err));
    }
  }
  return NAI_OK;
}

static int sum_copies(struct nai_stats_rows *rows, const struct nai_stats_options *options, bool bytes,
                      struct nai_err *err) {
  struct nai_stats_groups *groups = NULL;
  struct copies c;
  NAI_TRY(load_copies(&c, rows->source, options->old, err));
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, 1, (uint64_t)c.copies.count + c.sets.count, err));
  NAI_TRY(add_copies(groups, &c, bytes, err));
  return nai_stats_show_groups(rows, groups, 0, NAI_STATS_BY_NAME, err);
}

int nai_stats_make_copy_times(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                              struct nai_err *err) {
  return sum_copies(rows, options, false, err);
}

int nai_stats_make_copy_sizes(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                              struct nai_err *err) {
  return sum_copies(rows, options, true, err);
}

static void size_average(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_real(out, nai_stats_group_of(rows, row)->stats.mean);
}
static void size_deviation(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  nai_stats_put_real(out, nai_stats_group_of(rows, row)->stats.stddev);
}
/* Of an odd number one of them, else the mean of two. */
static void size_median(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  const struct nai_stats *stats = &nai_stats_group_of(rows, row)->stats;
  if (stats->count % 2)
    nai_stats_put_int(out, (int64_t)stats->p50);
  else
    nai_stats_put_real(out, stats->p50);
}

const struct nai_stats_column nai_stats_copy_time_columns[] = {
    NAI_STATS_SUMS("Count"), {"Operation", 0, nai_stats_cell_name}, {0}};
const struct nai_stats_column nai_stats_copy_size_columns[] = {{"Total", NAI_STATS_MEMORY, nai_stats_cell_total},
                                                               {"Count", 0, nai_stats_cell_count},
                                                               {"Avg", NAI_STATS_MEMORY, size_average},
                                                               {"Med", NAI_STATS_MEMORY, size_median},
                                                               {"Min", NAI_STATS_MEMORY, nai_stats_cell_least},
                                                               {"Max", NAI_STATS_MEMORY, nai_stats_cell_most},
                                                               {"StdDev", NAI_STATS_MEMORY, size_deviation},
                                                               {"Operation", 0, nai_stats_cell_name},
                                                               {0}};

/* --- calls, kernels, copies in one list ---------------------------------------------------------------- */

enum { CATEGORY_NONE, CATEGORY_CALL, CATEGORY_KERNEL, CATEGORY_COPY };

struct operations {
  struct nai_stats_groups groups;
  uint32_t *category; /* by text: of the first event of that name */
  uint32_t capacity;
};

static int set_category(struct operations *all, struct nai_stats_source *source, int64_t text, uint32_t category,
                        struct nai_err *err) {
  if (text == NAI_NO_STRING)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(all->category, all->capacity, (uint32_t)text, &source->arena, err));
  if (all->category[text] == CATEGORY_NONE)
    all->category[text] = category;
  return NAI_OK;
}

static int add_calls(struct operations *all, struct nai_stats_source *source, const struct nai_stats_events *calls,
                     struct nai_err *err) {
  for (uint32_t i = 0; i < calls->count; i++) {
    int64_t text, start = calls->at[CALL_START][i], end = calls->at[CALL_END][i];
    if (!nai_stats_has_times(start, end))
      continue;
    NAI_TRY(nai_stats_function(&text, source, calls->at[CALL_NAME][i], err));
    NAI_TRY(set_category(all, source, text, CATEGORY_CALL, err));
    NAI_TRY(nai_stats_groups_add(&all->groups, &text, end - start, err));
  }
  return NAI_OK;
}

static int add_kernels(struct operations *all, struct nai_stats_source *source, const struct nai_stats_events *kernels,
                       struct nai_err *err) {
  for (uint32_t i = 0; i < kernels->count; i++) {
    int64_t text, start = kernels->at[KERNEL_START][i], end = kernels->at[KERNEL_END][i];
    if (!nai_stats_has_times(start, end))
      continue;
    NAI_TRY(kernel_name(&text, source, kernels, i, err));
    NAI_TRY(set_category(all, source, text, CATEGORY_KERNEL, err));
    NAI_TRY(nai_stats_groups_add(&all->groups, &text, end - start, err));
  }
  return NAI_OK;
}

static int sum_operations(struct nai_stats_rows *rows, const struct nai_stats_options *options, bool with_calls,
                          struct nai_err *err) {
  struct nai_stats_source *source = rows->source;
  struct nai_stats_events calls = {0}, kernels;
  struct operations *all = NULL;
  struct copies c;
  if (with_calls)
    NAI_TRY(nai_stats_load(&calls, source, calls_table, call_names, err));
  NAI_TRY(load_kernels(&kernels, source, options->naming, err));
  NAI_TRY(load_copies(&c, source, options->old, err));
  NAI_TRY(NAI_NEW(all, &source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(&all->groups, source, 1,
                                 (uint64_t)calls.count + kernels.count + c.copies.count + c.sets.count, err));
  NAI_TRY(add_calls(all, source, &calls, err));
  NAI_TRY(add_kernels(all, source, &kernels, err));
  NAI_TRY(add_copies(&all->groups, &c, false, err));
  NAI_TRY(nai_stats_show_groups(rows, &all->groups, 0, NAI_STATS_BY_NAME, err));
  for (uint32_t g = 0; g < rows->count; g++) {
    int64_t text = all->groups.sorted[g].key[0];
    bool known = text < all->capacity && all->category[text] != CATEGORY_NONE;
    all->groups.sorted[g].key[1] = known                 ? all->category[text]
                                 : text == NAI_NO_STRING ? CATEGORY_KERNEL
                                                         : CATEGORY_COPY;
  }
  return NAI_OK;
}

int nai_stats_make_gpu(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  return sum_operations(rows, options, false, err);
}

int nai_stats_make_api_gpu(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  return sum_operations(rows, options, true, err);
}

static void category(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row) {
  static const char *const names[] = {
      [CATEGORY_CALL] = "CUDA_API", [CATEGORY_KERNEL] = "CUDA_KERNEL", [CATEGORY_COPY] = "MEMORY_OPER"};
  nai_stats_put_text(out, names[nai_stats_group_of(rows, row)->key[1]]);
}

const struct nai_stats_column nai_stats_operation_columns[] = {
    NAI_STATS_SUMS("Instances"), {"Category", 0, category}, {"Operation", 0, nai_stats_cell_name}, {0}};
