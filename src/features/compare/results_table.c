/* Tables of metrics: compared_metrics, compared_values. */
#include "features/compare/internal.h"
#include "tables/compared_metrics.h"
#include "tables/compared_values.h"

#include <math.h>

/* NaN is NULL. */
static double or_null(double value) { return isfinite(value) ? value : (double)NAN; }

int nai_fill_metrics(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  (void)err;
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    const struct nai_judgement *j = &r->judgement;
    struct COMPARED_METRICS_row row =
        NAI_ROW(COMPARED_METRICS, .metric = r->def.metric, .title = r->def.title, .unit = r->def.unit,
                .better = r->def.better, .kind = r->def.kind, .basis = r->def.basis, .gated = r->gated,
                .base_captures = r->count[NAI_BASE], .new_captures = r->count[NAI_CANDIDATE],
                .base_median = or_null(j->base), .new_median = or_null(j->candidate),
                .verdict = nai_verdict_name(j->verdict), .reason = *j->reason ? j->reason : NULL,
                .budget = or_null(j->budget), .noise = or_null(j->floor));
    if (j->compared) {
      row.shift = or_null(j->shift.shift);
      row.shift_pct = or_null(j->pct);
      row.p = or_null(j->shift.p);
      row.q = or_null(r->q);
      row.cliff_delta = or_null(j->shift.cliff);
    }
    if (j->compared && j->shift.has_ci) {
      row.ci_low = or_null(j->shift.low);
      row.ci_high = or_null(j->shift.high);
    }
    COMPARED_METRICS_add(out, &row);
  }
  return NAI_OK;
}

int nai_fill_values(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  (void)err;
  for (struct nai_side_rows r = nai_all_rows(c->sides, &nai_metrics_schema); nai_next_row(&r);) {
    struct METRICS_row m = METRICS_at(r.table, r.row);
    NAI_ADD(COMPARED_VALUES, out, .side = nai_side_names[r.side], .capture = c->sides[r.side].captures[r.capture].label,
            .metric = m.metric, .unit = m.unit, .better = m.better, .value = or_null(m.value));
  }
  return NAI_OK;
}
