/* Tables of metrics: compared_metrics, compared_values. */
#include "features/compare/internal.h"

#include "tables/compared_metrics.h"
#include "tables/compared_values.h"

#include <math.h>

static void set_real(struct nai_table *t, int64_t row, int column, double value) {
  if (isfinite(value))
    nai_set_f64(t, row, column, value);
}

static void put_result(struct nai_table *t, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  int64_t row = nai_table_add_row(t);
  const char *const texts[] = {r->id, r->title, r->unit, r->better, r->kind, r->basis};
  for (int i = 0; i <= COMPARED_METRICS_basis; i++)
    nai_set_str(t, row, i, texts[i]);
  nai_set_i64(t, row, COMPARED_METRICS_gated, r->gated);
  nai_set_i64(t, row, COMPARED_METRICS_base_captures, r->count[NAI_BASE]);
  nai_set_i64(t, row, COMPARED_METRICS_new_captures, r->count[NAI_NEW]);
  set_real(t, row, COMPARED_METRICS_base_median, j->base);
  set_real(t, row, COMPARED_METRICS_new_median, j->fresh);
  nai_set_str(t, row, COMPARED_METRICS_verdict, nai_verdict_name(j->verdict));
  if (*j->reason)
    nai_set_str(t, row, COMPARED_METRICS_reason, j->reason);
  set_real(t, row, COMPARED_METRICS_budget, j->budget);
  set_real(t, row, COMPARED_METRICS_noise, j->floor);
  if (!j->compared)
    return;
  set_real(t, row, COMPARED_METRICS_shift, j->shift.shift);
  set_real(t, row, COMPARED_METRICS_shift_pct, j->pct);
  set_real(t, row, COMPARED_METRICS_p, j->shift.p);
  set_real(t, row, COMPARED_METRICS_q, r->q);
  set_real(t, row, COMPARED_METRICS_cliff_delta, j->shift.cliff);
  if (!j->shift.has_ci)
    return;
  set_real(t, row, COMPARED_METRICS_ci_low, j->shift.low);
  set_real(t, row, COMPARED_METRICS_ci_high, j->shift.high);
}

int nai_results_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  int rc = nai_table_new(out, &nai_compared_metrics_schema, err);
  for (uint32_t i = 0; !rc && i < c->result_count; i++)
    put_result(*out, &c->results[i]);
  return rc;
}

int nai_values_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  int rc = nai_table_new(out, &nai_compared_values_schema, err);
  for (int s = 0; !rc && s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_table *t = nai_capture_table(&c->sides[s].captures[i], "metrics");
      for (int64_t from = 0; t && from < t->rows; from++) {
        int64_t row = nai_table_add_row(*out);
        nai_set_str(*out, row, COMPARED_VALUES_side, s == NAI_BASE ? "base" : "new");
        nai_set_str(*out, row, COMPARED_VALUES_capture, c->sides[s].captures[i].label);
        nai_set_str(*out, row, COMPARED_VALUES_metric, nai_cell_str(t, from, "metric"));
        nai_set_str(*out, row, COMPARED_VALUES_unit, nai_cell_str(t, from, "unit"));
        nai_set_str(*out, row, COMPARED_VALUES_better, nai_cell_str(t, from, "better"));
        set_real(*out, row, COMPARED_VALUES_value, nai_cell_f64(t, from, "value"));
      }
    }
  return rc;
}
