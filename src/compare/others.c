/* What else differs: NVTX ranges, phases, copies, findings. */
#include "compare/internal.h"

#include "base/array.h"
#include "table/columns.h"
#include "table/severity.h"

#include <stdlib.h>
#include <string.h>

/* --- rows by name ----------------------------------------------------------------------------- */

/* A name of a table, over the captures of each side. */
struct entry {
  uint32_t runs[NAI_SIDES]; /* captures that have it */
  double count[NAI_SIDES], amount[NAI_SIDES];
};

/* What is read: by which column, and which are added up. */
struct source {
  const char *table, *name, *count, *amount;
};

struct entries {
  struct nai_strings names;
  struct entry *list;
  uint32_t capacity;
};

static struct entry *entry_of(struct entries *e, const char *name, struct nai_err *err) {
  uint32_t known = e->names.count, at = nai_strings_add(&e->names, name, strlen(name));
  if (at == NAI_NO_STRING || !nai_array_room(&e->list, &e->capacity, at, sizeof *e->list)) {
    nai_err_nomem(err);
    return NULL;
  }
  if (e->names.count > known)
    e->list[at] = (struct entry){0};
  return &e->list[at];
}

static double cell(const struct nai_table *t, int64_t row, const char *column) {
  int64_t value = nai_cell_i64(t, row, column);
  return value == NAI_NULL_I64 ? 0 : (double)value;
}

static int read_entries(struct entries *e, const struct nai_comparison *c, const struct source *from,
                        struct nai_err *err) {
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_table *t = nai_capture_table(&c->sides[s].captures[i], from->table);
      for (int64_t row = 0; t && row < t->rows; row++) {
        struct entry *entry = entry_of(e, nai_cell_str(t, row, from->name), err);
        if (!entry)
          return NAI_ELIMIT;
        entry->runs[s]++;
        entry->count[s] += cell(t, row, from->count);
        entry->amount[s] += cell(t, row, from->amount);
      }
    }
  return NAI_OK;
}

/* Averages per capture; NULL where a side has none. Those that changed most come first. */
static int put_entries(struct nai_table *table, const struct entries *e, const struct nai_comparison *c,
                       struct nai_err *err) {
  for (uint32_t i = 0; i < e->names.count; i++) {
    const struct entry *entry = &e->list[i];
    bool has[NAI_SIDES] = {entry->runs[0] > 0, entry->runs[1] > 0};
    double n[NAI_SIDES] = {c->sides[0].count ? c->sides[0].count : 1, c->sides[1].count ? c->sides[1].count : 1};
    int64_t row = nai_table_add_row(table);
    nai_set_str(table, row, DT_NAME, nai_strings_get(&e->names, i));
    for (int s = 0; s < NAI_SIDES; s++)
      if (has[s]) {
        nai_set_f64(table, row, s ? DT_NEW_COUNT : DT_BASE_COUNT, entry->count[s] / n[s]);
        nai_set_f64(table, row, s ? DT_NEW : DT_BASE, entry->amount[s] / n[s]);
      }
    if (has[0] && has[1])
      nai_set_f64(table, row, DT_DELTA, entry->amount[1] / n[1] - entry->amount[0] / n[0]);
    nai_set_str(table, row, DT_STATE, !has[0] ? "only_new" : !has[1] ? "only_base" : "both");
  }
  static const struct nai_sort_by order[] = {{DT_NEW, true}, {DT_BASE, true}, {DT_NAME, false}};
  return nai_table_sort(table, order, 3, err);
}

static int make(struct nai_table **out, const struct nai_schema *schema, const struct nai_comparison *c,
                const struct source *from, struct nai_err *err) {
  struct entries e = {0};
  int rc = nai_table_new(out, schema, err);
  if (!rc)
    rc = read_entries(&e, c, from, err);
  if (!rc)
    rc = put_entries(*out, &e, c, err);
  nai_strings_free(&e.names);
  free(e.list);
  return rc;
}

#define NS(name, what) \
  { name, NAI_F64, NAI_NS, what ", per capture", .prints = NAI_AS_MS, .role = NAI_ROLE_METRIC }
#define NUMBER(name, unit, what) \
  { name, NAI_F64, unit, what ", per capture", .role = NAI_ROLE_METRIC }
#define STATE NAI_LABEL_COLUMN("state", "both, only_base or only_new")

static const struct nai_column_def range_columns[] = {
    [DT_NAME] = NAI_RANGE_NAME_COLUMN("range_name", "canonical NVTX name", .key = true),
    [DT_BASE_COUNT] = NUMBER("base_count", NAI_COUNT, "instances in the base"),
    [DT_NEW_COUNT] = NUMBER("new_count", NAI_COUNT, "instances in the new side"),
    [DT_BASE] = NS("base_time_ns", "summed durations in the base"),
    [DT_NEW] = NS("new_time_ns", "summed durations in the new side"),
    [DT_DELTA] = NS("delta_ns", "new minus base"),
    [DT_STATE] = STATE,
};
static const struct nai_schema ranges_schema =
    NAI_SCHEMA("compared_ranges", "NVTX ranges", "One range name in both sides' captures", range_columns);

static const struct nai_column_def phase_columns[] = {
    [DT_NAME] = NAI_NAME_COLUMN("phase", "phase of the phase map", .key = true),
    [DT_BASE_COUNT] = NUMBER("base_count", NAI_COUNT, "kernels in the base"),
    [DT_NEW_COUNT] = NUMBER("new_count", NAI_COUNT, "kernels in the new side"),
    [DT_BASE] = NS("base_time_ns", "GPU time in the base"),
    [DT_NEW] = NS("new_time_ns", "GPU time in the new side"),
    [DT_DELTA] = NS("delta_ns", "new minus base"),
    [DT_STATE] = STATE,
};
static const struct nai_schema phases_schema =
    NAI_SCHEMA("compared_phases", "Phases", "One phase in both sides' captures", phase_columns);

static const struct nai_column_def copy_columns[] = {
    [DT_NAME] = NAI_NAME_COLUMN("direction", "of copies, or memset", .key = true),
    [DT_BASE_COUNT] = NUMBER("base_count", NAI_COUNT, "operations in the base"),
    [DT_NEW_COUNT] = NUMBER("new_count", NAI_COUNT, "operations in the new side"),
    [DT_BASE] = NUMBER("base_bytes", NAI_BYTES, "bytes in the base"),
    [DT_NEW] = NUMBER("new_bytes", NAI_BYTES, "bytes in the new side"),
    [DT_DELTA] = NUMBER("delta_bytes", NAI_BYTES, "new minus base"),
    [DT_STATE] = STATE,
};
static const struct nai_schema copies_schema =
    NAI_SCHEMA("compared_copies", "Copies", "One direction in both sides' captures", copy_columns);

int nai_ranges_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  static const struct source from = {"nvtx_ranges", "range_name", "count", "total_time_ns"};
  return make(out, &ranges_schema, c, &from, err);
}

int nai_phases_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  static const struct source from = {"nvtx_phases", "phase", "kernel_count", "gpu_time_ns"};
  return make(out, &phases_schema, c, &from, err);
}

int nai_copies_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  static const struct source from = {"memory_transfers", "direction", "count", "total_bytes"};
  return make(out, &copies_schema, c, &from, err);
}

/* --- findings --------------------------------------------------------------------------------- */

#define STAKE(name, what) \
  { name, NAI_I64, NAI_NS, what, .prints = NAI_AS_MS, .role = NAI_ROLE_METRIC, .better = NAI_BETTER_LOWER }
static const struct nai_column_def finding_columns[] = {
    [FT_STATE] = NAI_LABEL_COLUMN("state", "new, gone, changed (another severity) or same"),
    [FT_ID] = NAI_NAME_COLUMN("id", "rule that found it", .key = true),
    [FT_BASE_SEVERITY] = NAI_LABEL_COLUMN("base_severity", "highest in the base's captures"),
    [FT_NEW_SEVERITY] = NAI_LABEL_COLUMN("new_severity", "highest in the new side's captures"),
    [FT_BASE_STAKE] = STAKE("base_at_stake_ns", "largest time at stake in the base"),
    [FT_NEW_STAKE] = STAKE("new_at_stake_ns", "largest time at stake in the new side"),
    [FT_TITLE] = NAI_LABEL_COLUMN("title", "of that finding, of the new side where it has it"),
    [FT_BASE_RUNS] = NAI_COUNT_COLUMN("base_captures", "captures of the base that have it"),
    [FT_NEW_RUNS] = NAI_COUNT_COLUMN("new_captures", "captures of the new side that have it"),
};
static const struct nai_schema findings_schema =
    NAI_SCHEMA("compared_findings", "Findings", "The findings of one rule in both sides' captures", finding_columns);

/* The findings of one rule on one side. */
struct worst {
  int severity; /* -1: none */
  int64_t stake;
  const char *title;
  uint32_t runs, last_run;
};

static void note(struct worst *w, const struct nai_table *t, int64_t row, uint32_t run) {
  int severity = nai_severity_from_name(nai_cell_str(t, row, "severity"));
  int64_t stake = nai_cell_i64(t, row, "at_stake_ns");
  if (!w->runs || w->last_run != run) {
    w->runs++;
    w->last_run = run;
  }
  if (w->runs == 1 && !w->title)
    w->severity = -1;
  if (severity > w->severity || (severity == w->severity && stake > w->stake)) {
    w->severity = severity;
    w->stake = stake;
    w->title = nai_cell_str(t, row, "title");
  }
}

static int read_findings(struct nai_strings *ids, struct worst (**list)[NAI_SIDES], const struct nai_comparison *c,
                         struct nai_err *err) {
  uint32_t capacity = 0;
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_table *t = nai_capture_table(&c->sides[s].captures[i], "findings");
      for (int64_t row = 0; t && row < t->rows; row++) {
        const char *id = nai_cell_str(t, row, "id");
        uint32_t known = ids->count, at = nai_strings_add(ids, id, strlen(id));
        if (at == NAI_NO_STRING || !nai_array_room(list, &capacity, at, sizeof **list))
          return nai_err_nomem(err);
        if (ids->count > known)
          memset((*list)[at], 0, sizeof(*list)[at]);
        note(&(*list)[at][s], t, row, i);
      }
    }
  return NAI_OK;
}

static void put_finding(struct nai_table *table, const char *id, const struct worst worst[NAI_SIDES]) {
  const struct worst *base = &worst[NAI_BASE], *fresh = &worst[NAI_NEW];
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, FT_ID, id);
  nai_set_str(table, row, FT_STATE,
              !base->runs                         ? "new"
              : !fresh->runs                      ? "gone"
              : base->severity != fresh->severity ? "changed"
                                                  : "same");
  if (base->runs) {
    nai_set_str(table, row, FT_BASE_SEVERITY, nai_severity_name(base->severity));
    nai_set_i64(table, row, FT_BASE_STAKE, base->stake);
  }
  if (fresh->runs) {
    nai_set_str(table, row, FT_NEW_SEVERITY, nai_severity_name(fresh->severity));
    nai_set_i64(table, row, FT_NEW_STAKE, fresh->stake);
  }
  nai_set_str(table, row, FT_TITLE, fresh->runs ? fresh->title : base->title);
  nai_set_i64(table, row, FT_BASE_RUNS, base->runs);
  nai_set_i64(table, row, FT_NEW_RUNS, fresh->runs);
}

int nai_findings_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  struct nai_strings ids = {0};
  struct worst(*list)[NAI_SIDES] = NULL;
  int rc = nai_table_new(out, &findings_schema, err);
  if (!rc)
    rc = read_findings(&ids, &list, c, err);
  for (uint32_t i = 0; !rc && i < ids.count; i++)
    put_finding(*out, nai_strings_get(&ids, i), list[i]);
  nai_strings_free(&ids);
  free(list);
  static const struct nai_sort_by order[] = {{FT_NEW_STAKE, true}, {FT_BASE_STAKE, true}, {FT_ID, false}};
  return rc ? rc : nai_table_sort(*out, order, 3, err);
}
