/* What else differs: NVTX ranges, phases, copies, findings. */
#include "features/compare/entries.h"
#include "features/compare/internal.h"
#include "features/compare/ranges.h"
#include "table/severity.h"
#include "tables/compared_findings.h"
#include "tables/findings.h"
#include "tables/memory_transfers.h"
#include "tables/nvtx_phases.h"
#include "tables/nvtx_ranges.h"

/* --- rows by name ----------------------------------------------------------------------------- */

/* What sums over a side are divided by: captures; without steps what other sums are of, for captures of one length hold
 * more or less work. */
static double divisor(const struct nai_comparison *c, int side) {
  return c->by_step || !nai_comparison_has_basis(c) ? c->sides[side].count : nai_comparison_divisor(c, side);
}

static int fill(struct nai_table *out, const struct nai_comparison *c, const struct nai_schema *from,
                struct nai_entry_columns columns, bool fold, struct nai_err *err) {
  NAI_SCOPED(nai_entries) all = {.arena = NAI_ARENA(NULL)};
  NAI_TRY(nai_entries_read(&all, c, from, columns, fold, err));
  for (uint32_t i = 0; i < all.names.count; i++) {
    const struct nai_entry *e = &all.list[i];
    double count[NAI_SIDES], amount[NAI_SIDES]; /* NULL on a side without it */
    for (int s = 0; s < NAI_SIDES; s++) {
      count[s] = e->has[s] ? e->count[s] / divisor(c, s) : (double)NAN;
      amount[s] = e->has[s] ? e->amount[s] / divisor(c, s) : (double)NAN;
    }
    struct COMPARED_RANGES_row row =
        NAI_ROW(COMPARED_RANGES, .range_name = nai_strings_get(&all.names, i), .base_count = count[NAI_BASE],
                .new_count = count[NAI_CANDIDATE], .base_time_ns = amount[NAI_BASE],
                .new_time_ns = amount[NAI_CANDIDATE], .delta_ns = amount[NAI_CANDIDATE] - amount[NAI_BASE],
                .state = !e->has[NAI_BASE]      ? "only_new"
                       : !e->has[NAI_CANDIDATE] ? "only_base"
                                                : "both");
    nai_table_add(out, out->schema, &row); /* which is like that of ranges */
  }
  return NAI_OK;
}

int nai_fill_ranges(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  return fill(out, c, &nai_nvtx_ranges_schema,
              (struct nai_entry_columns){NVTX_RANGES_range_name, NVTX_RANGES_count, NVTX_RANGES_total_time_ns},
              !c->options.range_numbers, err);
}

int nai_fill_phases(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  return fill(out, c, &nai_nvtx_phases_schema,
              (struct nai_entry_columns){NVTX_PHASES_phase, NVTX_PHASES_kernel_count, NVTX_PHASES_gpu_time_ns}, false,
              err);
}

int nai_fill_copies(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  return fill(out, c, &nai_memory_transfers_schema,
              (struct nai_entry_columns){MEMORY_TRANSFERS_direction, MEMORY_TRANSFERS_count,
                                         MEMORY_TRANSFERS_total_bytes},
              false, err);
}

/* --- findings --------------------------------------------------------------------------------- */

/* The findings of one rule on one side. */
struct worst {
  int severity;
  int64_t saving_ns;
  const char *title;
  uint32_t runs, last_run;
};
struct rule {
  struct worst of[NAI_SIDES];
};

static void note(struct worst *w, const struct FINDINGS_row *finding, uint32_t run) {
  int severity = nai_severity_from_name(finding->severity);
  if (!w->runs || w->last_run != run) {
    w->runs++;
    w->last_run = run;
  }
  if (w->runs == 1 && !w->title)
    w->severity = -1;
  if (severity > w->severity || (severity == w->severity && finding->saving_ns > w->saving_ns)) {
    w->severity = severity;
    w->saving_ns = finding->saving_ns;
    w->title = finding->title;
  }
}

static void put_finding(struct nai_table *table, const char *id, const struct rule *rule,
                        const struct nai_prediction *prediction) {
  const struct worst *base = &rule->of[NAI_BASE], *candidate = &rule->of[NAI_CANDIDATE];
  struct COMPARED_FINDINGS_row row =
      NAI_ROW(COMPARED_FINDINGS, .id = id, .base_captures = base->runs, .new_captures = candidate->runs,
              .title = candidate->runs ? candidate->title : base->title);
  row.state = !base->runs                           ? "new"
            : !candidate->runs                      ? "gone"
            : base->severity != candidate->severity ? "changed"
                                                    : "same";
  if (base->runs) {
    row.base_severity = nai_severity_name(base->severity);
    row.base_saving_ns = base->saving_ns;
  }
  if (candidate->runs) {
    row.new_severity = nai_severity_name(candidate->severity);
    row.new_saving_ns = candidate->saving_ns;
  }
  if (prediction->rule && strcmp(prediction->rule, id) == 0) {
    row.predicted_of = prediction->of;
    row.predicted_ns = prediction->predicted_ns;
    row.measured_ns = prediction->measured_ns;
  }
  COMPARED_FINDINGS_add(table, &row);
}

int nai_fill_findings(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  NAI_SCOPED(nai_strings) ids = {0};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct rule *rules = NULL;
  uint32_t capacity = 0;
  for (struct nai_side_rows r = nai_all_rows(c->sides, &nai_findings_schema); nai_next_row(&r);) {
    struct FINDINGS_row finding = FINDINGS_at(r.table, r.row);
    uint32_t at;
    NAI_TRY(nai_strings_put(&at, &ids, finding.id, err));
    NAI_TRY(NAI_ROOM(rules, capacity, at, &arena, err));
    note(&rules[at].of[r.side], &finding, r.capture);
  }
  bool *gone;
  NAI_TRY(NAI_NEW(gone, &arena, ids.count, err));
  for (uint32_t i = 0; i < ids.count; i++)
    gone[i] = !rules[i].of[NAI_CANDIDATE].runs;
  struct nai_prediction prediction = nai_predict(c, &ids, gone);
  for (uint32_t i = 0; i < ids.count; i++)
    put_finding(out, nai_strings_get(&ids, i), &rules[i], &prediction);
  return NAI_OK;
}
