#include "report/group.h"

#include "base/array.h"
#include "base/fmt.h"
#include "base/strings.h"
#include "tables/gpu_utilization.h"
#include "tables/kernels.h"
#include "tables/losses.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct group {
  int64_t first; /* row */
  int64_t *rows; /* all its rows, in table order */
  uint32_t count, capacity;
};

/* The number of the row's group: of the texts that its rows share, each with its end. */
static uint32_t group_of(struct nai_strings *groups, struct nai_buf *room, const struct nai_table *table, int64_t row,
                         const struct nai_grouping *g) {
  nai_buf_clear(room);
  for (size_t k = 0; k < sizeof g->keys / sizeof *g->keys && g->keys[k]; k++) {
    const char *text = nai_cell_str(table, row, g->keys[k]);
    nai_buf_put(room, text, strlen(text) + 1);
  }
  return room->oom ? NAI_NO_STRING : nai_strings_add(groups, nai_buf_str(room), room->len);
}

static bool add(struct group *group, int64_t row) {
  if (!nai_array_room(&group->rows, &group->capacity, group->count, sizeof *group->rows))
    return false;
  group->rows[group->count++] = row;
  return true;
}

static void put_ascii_space_as_nbsp(struct nai_buf *out, const char *text) {
  for (; *text; text++)
    nai_buf_puts(out, *text == ' ' ? "\xc2\xa0" : (const char[]){*text, '\0'});
}

void nai_report_print_value(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value) {
  struct nai_buf text = {0};
  nai_value_print_human(&text, unit, value);
  put_ascii_space_as_nbsp(out, nai_buf_str(&text));
  out->oom |= text.oom;
  nai_buf_free(&text);
}

/* "12.3-14.0 ms": the unit once where both have the same. */
static void print_span(struct nai_buf *out, enum nai_unit unit, const struct nai_value *low,
                       const struct nai_value *high) {
  struct nai_buf a = {0}, b = {0};
  nai_value_print_human(&a, unit, low);
  nai_value_print_human(&b, unit, high);
  const char *from = nai_buf_str(&a), *to = nai_buf_str(&b), *unit_a = strchr(from, ' '), *unit_b = strchr(to, ' ');
  struct nai_buf text = {0};
  if (strcmp(from, to) != 0) {
    bool same = unit_a && unit_b && strcmp(unit_a, unit_b) == 0;
    nai_buf_put(&text, from, same ? (size_t)(unit_a - from) : strlen(from));
    nai_buf_puts(&text, "-");
  }
  nai_buf_puts(&text, to);
  put_ascii_space_as_nbsp(out, nai_buf_str(&text));
  out->oom |= a.oom | b.oom | text.oom;
  nai_buf_free(&a);
  nai_buf_free(&b);
  nai_buf_free(&text);
}

static void put_span(struct nai_view *view, const char *name, enum nai_unit unit, const struct nai_value *low,
                     const struct nai_value *high) {
  char key[NAI_COLUMN_NAME_MAX + 8];
  struct nai_buf text = {0};
  print_span(&text, unit, low, high);
  snprintf(key, sizeof key, "%s_span", name);
  nai_view_put_trusted(view, key, nai_buf_str(&text));
  nai_view_inherit(view, &text);
  nai_buf_free(&text);
}

static bool less(const struct nai_value *a, const struct nai_value *b) {
  return a->type == NAI_F64 ? a->f < b->f : a->i < b->i;
}

static void put_spans(struct nai_view *view, const struct nai_table *table, const struct group *group) {
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, table->schema);) {
    char name[NAI_COLUMN_NAME_MAX];
    struct nai_value low = {.null = true}, high = {.null = true};
    if (table->schema->columns[p.column].type == NAI_STR)
      continue;
    for (size_t i = 0; i < group->count; i++) {
      struct nai_value value = nai_table_value(table, group->rows[i], p.column);
      if (value.null)
        continue;
      low = low.null || less(&value, &low) ? value : low;
      high = high.null || less(&high, &value) ? value : high;
    }
    if (!high.null)
      put_span(view, nai_display_column_name(name, table->schema, &p), p.unit, &low, &high);
  }
}

static int64_t window_of(const struct nai_report *report, int64_t device) {
  const struct nai_table *gpus = nai_report_table(report, "gpu_utilization");
  for (int64_t i = 0; i < gpus->rows; i++)
    if (nai_get_i64(gpus, i, GPU_UTILIZATION_device_id) == device)
      return nai_get_i64(gpus, i, GPU_UTILIZATION_window_ns);
  return 0;
}

static void put_window_share(struct nai_view *view, const struct nai_report *report, const struct nai_table *table,
                             const struct group *group) {
  struct nai_value low = {.type = NAI_F64, .f = INFINITY}, high = {.type = NAI_F64, .f = -INFINITY};
  int total = nai_schema_column(table->schema, "total_time_ns");
  total = total >= 0 ? total : nai_schema_column(table->schema, "total_ns");
  for (size_t i = 0; total >= 0 && i < group->count; i++) {
    int64_t window = window_of(report, nai_cell_i64(table, group->rows[i], "device_id"));
    int64_t ns = nai_get_i64(table, group->rows[i], total);
    if (window <= 0 || ns == NAI_NULL_I64)
      continue;
    double pct = 100.0 * (double)ns / (double)window;
    low.f = pct < low.f ? pct : low.f;
    high.f = pct > high.f ? pct : high.f;
  }
  if (high.f >= low.f)
    put_span(view, "window_pct", NAI_PCT, &low, &high);
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

void nai_report_print_ids(struct nai_buf *out, const int64_t *ids, size_t count) {
  for (size_t i = 0; i < count;) {
    size_t last = i;
    while (last + 1 < count && ids[last + 1] <= ids[last] + 1)
      last++;
    if (ids[last] < ids[i] + 2)
      last = i;
    nai_buf_printf(out, "%s%" PRId64, i ? ", " : "", ids[i]);
    if (last > i)
      nai_buf_printf(out, "-%" PRId64, ids[last]);
    i = last + 1;
  }
}

static void put_gpus(struct nai_view *view, const struct nai_table *table, const struct group *group) {
  int64_t *ids = calloc(group->count + 1, sizeof *ids);
  struct nai_buf text = {0};
  size_t distinct = 0;
  for (size_t i = 0; ids && i < group->count; i++)
    ids[i] = nai_cell_i64(table, group->rows[i], "device_id");
  text.oom = !ids;
  if (ids) {
    qsort(ids, group->count, sizeof *ids, by_value);
    for (size_t i = 0; i < group->count; i++)
      if (!i || ids[i] != ids[distinct - 1])
        ids[distinct++] = ids[i];
    nai_report_print_ids(&text, ids, distinct);
  }
  nai_view_put_trusted(view, "gpus", nai_buf_str(&text));
  nai_view_inherit(view, &text);
  nai_view_put_int(view, "gpu_count", (int64_t)distinct);
  nai_buf_free(&text);
  free(ids);
}

/* A kernel all of whose executions fall into two modes has no median that ever happens: "modes" says which. */
static void put_modes(struct nai_view *view, const struct nai_report *report, const struct nai_table *table,
                      int64_t row) {
  const struct nai_table *losses = nai_report_table(report, "losses");
  if (strcmp(table->schema->name, nai_kernels_schema.name) != 0)
    return;
  for (int64_t i = 0; i < losses->rows; i++)
    if (strcmp(nai_get_str(losses, i, LOSSES_what), "bimodal") == 0 &&
        nai_get_i64(losses, i, LOSSES_device_id) == nai_get_i64(table, row, KERNELS_device_id) &&
        nai_get_i64(losses, i, LOSSES_count) == nai_get_i64(table, row, KERNELS_call_count) &&
        strcmp(nai_get_str(losses, i, LOSSES_example), nai_get_str(table, row, KERNELS_kernel_name)) == 0) {
      nai_view_put_text(view, "modes", nai_get_str(losses, i, LOSSES_detail));
      return;
    }
}

void nai_report_put_groups(struct nai_view *tables, const struct nai_report *report, const struct nai_grouping *g,
                           int top) {
  const struct nai_table *table = nai_report_table(report, g->table);
  struct group *groups = calloc((size_t)top + 1, sizeof *groups);
  struct nai_strings all = {0}; /* groups, of which the first `top` have their rows */
  struct nai_buf room = {0};
  bool fits = groups != NULL;
  for (int64_t row = 0; fits && row < table->rows; row++) {
    if (g->only_column && strcmp(nai_cell_str(table, row, g->only_column), g->only) != 0)
      continue;
    uint32_t before = all.count, at = group_of(&all, &room, table, row, g);
    fits = at != NAI_NO_STRING;
    if (!fits || at >= (uint32_t)top)
      continue;
    if (at == before)
      groups[at].first = row;
    fits = add(&groups[at], row);
  }
  int64_t count = all.count, shown = count < top ? count : top;
  nai_view_inherit(tables, &(struct nai_buf){.oom = !fits});
  struct nai_view *view = nai_view_put_map(tables, g->name), *rows = nai_view_put_list(view, "rows");
  nai_view_put_bool(view, "any", count > 0);
  for (int64_t i = 0; i < shown; i++) {
    struct nai_view *row = nai_view_add_map(rows);
    nai_report_put_row(row, report, table, groups[i].first);
    put_modes(row, report, table, groups[i].first);
    put_spans(row, table, &groups[i]);
    put_window_share(row, report, table, &groups[i]);
    put_gpus(row, table, &groups[i]);
  }
  if (count > shown)
    nai_view_put_int(view, "more", count - shown);
  for (int64_t i = 0; groups && i < shown; i++)
    free(groups[i].rows);
  free(groups);
  nai_strings_free(&all);
  nai_buf_free(&room);
}
