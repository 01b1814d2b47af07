/* What else differs: NVTX ranges, phases, copies, findings. */
#include "features/compare/internal.h"

#include "base/array.h"
#include "table/severity.h"
#include "tables/compared_copies.h"
#include "tables/compared_findings.h"
#include "tables/compared_phases.h"
#include "tables/compared_ranges.h"

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
    nai_set_str(table, row, COMPARED_RANGES_range_name, nai_strings_get(&e->names, i));
    for (int s = 0; s < NAI_SIDES; s++)
      if (has[s]) {
        nai_set_f64(table, row, s ? COMPARED_RANGES_new_count : COMPARED_RANGES_base_count, entry->count[s] / n[s]);
        nai_set_f64(table, row, s ? COMPARED_RANGES_new_time_ns : COMPARED_RANGES_base_time_ns,
                    entry->amount[s] / n[s]);
      }
    if (has[0] && has[1])
      nai_set_f64(table, row, COMPARED_RANGES_delta_ns, entry->amount[1] / n[1] - entry->amount[0] / n[0]);
    nai_set_str(table, row, COMPARED_RANGES_state, !has[0] ? "only_new" : !has[1] ? "only_base" : "both");
  }
  static const struct nai_sort_by order[] = {
      {COMPARED_RANGES_new_time_ns, true}, {COMPARED_RANGES_base_time_ns, true}, {COMPARED_RANGES_range_name, false}};
  return nai_table_sort_by(table, order, 3, err);
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

int nai_ranges_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  static const struct source from = {"nvtx_ranges", "range_name", "count", "total_time_ns"};
  return make(out, &nai_compared_ranges_schema, c, &from, err);
}

int nai_phases_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  static const struct source from = {"nvtx_phases", "phase", "kernel_count", "gpu_time_ns"};
  return make(out, &nai_compared_phases_schema, c, &from, err);
}

int nai_copies_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  static const struct source from = {"memory_transfers", "direction", "count", "total_bytes"};
  return make(out, &nai_compared_copies_schema, c, &from, err);
}

/* --- findings --------------------------------------------------------------------------------- */

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
  nai_set_str(table, row, COMPARED_FINDINGS_id, id);
  nai_set_str(table, row, COMPARED_FINDINGS_state,
              !base->runs                         ? "new"
              : !fresh->runs                      ? "gone"
              : base->severity != fresh->severity ? "changed"
                                                  : "same");
  if (base->runs) {
    nai_set_str(table, row, COMPARED_FINDINGS_base_severity, nai_severity_name(base->severity));
    nai_set_i64(table, row, COMPARED_FINDINGS_base_at_stake_ns, base->stake);
  }
  if (fresh->runs) {
    nai_set_str(table, row, COMPARED_FINDINGS_new_severity, nai_severity_name(fresh->severity));
    nai_set_i64(table, row, COMPARED_FINDINGS_new_at_stake_ns, fresh->stake);
  }
  nai_set_str(table, row, COMPARED_FINDINGS_title, fresh->runs ? fresh->title : base->title);
  nai_set_i64(table, row, COMPARED_FINDINGS_base_captures, base->runs);
  nai_set_i64(table, row, COMPARED_FINDINGS_new_captures, fresh->runs);
}

int nai_findings_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  struct nai_strings ids = {0};
  struct worst(*list)[NAI_SIDES] = NULL;
  int rc = nai_table_new(out, &nai_compared_findings_schema, err);
  if (!rc)
    rc = read_findings(&ids, &list, c, err);
  for (uint32_t i = 0; !rc && i < ids.count; i++)
    put_finding(*out, nai_strings_get(&ids, i), list[i]);
  nai_strings_free(&ids);
  free(list);
  static const struct nai_sort_by order[] = {{COMPARED_FINDINGS_new_at_stake_ns, true},
                                             {COMPARED_FINDINGS_base_at_stake_ns, true},
                                             {COMPARED_FINDINGS_id, false}};
  return rc ? rc : nai_table_sort_by(*out, order, 3, err);
}
