/* Rows that say the same of several GPUs, as one. */
#include "base/fmt.h"
#include "report/report_view.h"

#include "base/sort.h"
#include "base/strings.h"
#include "tables/gpu_active.h"
#include "tables/idle_causes.h"
#include "tables/kernels.h"
#include "tables/losses.h"

struct group {
  int64_t *rows; /* all its rows, in table order */
  uint32_t count, capacity;
};

/* The groups of a table, of which the first `top` have their rows; all in an arena but the texts. */
struct groups {
  struct nai_strings texts; /* that the rows of each share, each with its end */
  struct nai_buf room;
  struct group *list;
};

static void groups_free(struct groups *groups) {
  nai_strings_free(&groups->texts);
  nai_buf_free(&groups->room);
}

/* The number of the row's group. */
static uint32_t group_of(struct groups *groups, const struct nai_table *table, int64_t row,
                         const struct nai_grouping *g) {
  nai_buf_clear(&groups->room);
  for (int k = 0; k < g->key_count; k++) {
    const char *text = nai_get_str(table, row, g->keys[k]);
    nai_buf_put(&groups->room, text, strlen(text) + 1);
  }
  return groups->room.oom ? NAI_NO_STRING
                          : nai_strings_add(&groups->texts, nai_buf_str(&groups->room), groups->room.len);
}

static int gather(struct groups *groups, const struct nai_table *table, const struct nai_grouping *g, int top,
                  struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(groups->list, arena, (size_t)top, err));
  for (int64_t row = 0; row < table->rows; row++) {
    if (g->only && strcmp(nai_get_str(table, row, g->only_column), g->only) != 0)
      continue;
    if (g->table == &nai_idle_causes_schema && !nai_get_i64(table, row, g->total)) /* of pauses only */
      continue;
    uint32_t at = group_of(groups, table, row, g);
    NAI_TRY(nai_memory_check(at != NAI_NO_STRING, err));
    if (at >= (uint32_t)top)
      continue;
    struct group *group = &groups->list[at];
    NAI_TRY(NAI_ROOM(group->rows, group->capacity, group->count, arena, err));
    group->rows[group->count++] = row;
  }
  return NAI_OK;
}

/* --- what is said of a group ------------------------------------------------------------------------ */

static bool less(const struct nai_value *a, const struct nai_value *b) {
  return a->type == NAI_F64 ? a->f < b->f : a->i < b->i;
}

static void put_spans(struct nai_view *view, const struct nai_table *table, const struct group *group) {
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, table->schema);) {
    char name[NAI_COLUMN_NAME_MAX];
    struct nai_value low = {.null = true}, high = {.null = true};
    if (table->schema->columns[p.column].type == NAI_STR)
      continue;
    for (uint32_t i = 0; i < group->count; i++) {
      struct nai_value value = nai_table_value(table, group->rows[i], p.column);
      if (value.null)
        continue;
      low = low.null || less(&value, &low) ? value : low;
      high = high.null || less(&high, &value) ? value : high;
    }
    if (!high.null)
      nai_report_put_span(view, nai_display_column_name(name, table->schema, &p), p.unit, &low, &high);
  }
}

static int64_t active_of(const struct nai_report *report, int64_t device) {
  const struct nai_table *gpus = nai_report_table(report, "gpu_active");
  int64_t row = nai_find_i64(gpus, GPU_ACTIVE_device_id, device);
  return row < 0 ? 0 : nai_get_i64(gpus, row, GPU_ACTIVE_active_ns);
}

static int64_t device_of(const struct nai_table *table, int64_t row) {
  return nai_get_i64(table, row, nai_schema_role(table->schema, NAI_ROLE_DEVICE));
}

static void put_active_share(struct nai_view *view, const struct nai_report *report, const struct nai_table *table,
                             const struct group *group, int total) {
  struct nai_value low = {.type = NAI_F64, .f = INFINITY}, high = {.type = NAI_F64, .f = -INFINITY};
  for (uint32_t i = 0; total >= 0 && i < group->count; i++) {
    int64_t active = active_of(report, device_of(table, group->rows[i]));
    int64_t ns = nai_get_i64(table, group->rows[i], total);
    if (active <= 0 || ns == NAI_NULL_I64)
      continue;
    double pct = 100.0 * (double)ns / (double)active;
    low.f = pct < low.f ? pct : low.f;
    high.f = pct > high.f ? pct : high.f;
  }
  if (high.f >= low.f)
    nai_report_put_span(view, "active_pct", NAI_PCT, &low, &high);
}

static void put_gpus(struct nai_view *view, const struct nai_table *table, const struct group *group) {
  NAI_FREED int64_t *ids = calloc(group->count + 1, sizeof *ids);
  NAI_SCOPED(nai_buf) text = {.oom = !ids};
  size_t distinct = 0;
  for (uint32_t i = 0; ids && i < group->count; i++)
    ids[i] = device_of(table, group->rows[i]);
  if (ids)
    qsort(ids, group->count, sizeof *ids, nai_by_i64);
  for (uint32_t i = 0; ids && i < group->count; i++)
    if (!i || ids[i] != ids[distinct - 1])
      ids[distinct++] = ids[i];
  nai_fmt_ranges(&text, ids, distinct);
  nai_view_put_buf(view, "gpus", NAI_TEXT_TRUSTED, &text);
  nai_view_put_int(view, "gpu_count", (int64_t)distinct);
}

/* A kernel all of whose executions fall into two modes has no median that ever happens: "modes" says which. */
static void put_modes(struct nai_view *view, const struct nai_report *report, const struct nai_table *kernels,
                      int64_t row) {
  const struct nai_table *losses = nai_report_table(report, "losses");
  for (int64_t i = 0; i < losses->rows; i++)
    if (strcmp(nai_get_str(losses, i, LOSSES_what), "bimodal") == 0 &&
        nai_get_i64(losses, i, LOSSES_device_id) == nai_get_i64(kernels, row, KERNELS_device_id) &&
        nai_get_i64(losses, i, LOSSES_count) == nai_get_i64(kernels, row, KERNELS_call_count) &&
        strcmp(nai_get_str(losses, i, LOSSES_example), nai_get_str(kernels, row, KERNELS_kernel_name)) == 0) {
      nai_view_put_text(view, "modes", nai_get_str(losses, i, LOSSES_detail));
      return;
    }
}

void nai_report_put_groups(struct nai_view *tables, const struct nai_report *report, const struct nai_grouping *g,
                           int top) {
  const struct nai_table *table = nai_report_table(report, g->table->name);
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(groups) groups = {0};
  if (gather(&groups, table, g, top, &arena, NULL)) {
    nai_view_fail(tables);
    return;
  }
  int64_t count = groups.texts.count, shown = count < top ? count : top;
  struct nai_view *view = nai_view_put_map(tables, g->name), *rows = nai_view_put_list(view, "rows");
  nai_view_put_bool(view, "any", count > 0);
  for (int64_t i = 0; i < shown; i++) {
    const struct group *group = &groups.list[i];
    struct nai_view *row = nai_view_add_map(rows);
    nai_report_put_row(row, report, table, group->rows[0]);
    if (g->table == &nai_kernels_schema)
      put_modes(row, report, table, group->rows[0]);
    put_spans(row, table, group);
    put_active_share(row, report, table, group, g->total);
    put_gpus(row, table, group);
  }
  if (count > shown)
    nai_view_put_int(view, "more", count - shown);
}
