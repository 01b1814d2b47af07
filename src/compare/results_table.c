/* Tables of metrics: compared_metrics, compared_values. */
#include "compare/internal.h"

#include "table/columns.h"

#include <math.h>

enum {
  METRIC,
  TITLE,
  UNIT,
  BETTER,
  KIND,
  BASIS,
  GATED,
  BASE_N,
  NEW_N,
  BASE,
  FRESH,
  SHIFT,
  PCT,
  LOW,
  HIGH,
  P,
  Q,
  CLIFF,
  BUDGET,
  FLOOR,
  VERDICT,
  REASON
};
#define REAL(name, what) \
  { name, NAI_F64, NAI_COUNT, what, .role = NAI_ROLE_METRIC }
static const struct nai_column_def columns[] = {
    [METRIC] = NAI_NAME_COLUMN("metric", "id of the metric", .key = true),
    [TITLE] = NAI_LABEL_COLUMN("title", "what people call it"),
    [UNIT] = NAI_LABEL_COLUMN("unit", "of the values"),
    [BETTER] = NAI_LABEL_COLUMN("better", "lower, higher or either"),
    [KIND] = NAI_LABEL_COLUMN("kind", "exact or noisy"),
    [BASIS] = NAI_LABEL_COLUMN("basis", "step, second or total"),
    [GATED] = {"gated", NAI_I32, NAI_ID, "1: a gate asks for it", .role = NAI_ROLE_LABEL},
    [BASE_N] = NAI_COUNT_COLUMN("base_captures", "captures of the base with a value"),
    [NEW_N] = NAI_COUNT_COLUMN("new_captures", "captures of the new side with a value"),
    [BASE] = REAL("base_median", "median over the base's captures"),
    [FRESH] = REAL("new_median", "median over the new side's captures"),
    [SHIFT] = REAL("shift", "new minus base: Hodges-Lehmann"),
    [PCT] = NAI_PCT_COLUMN("shift_pct", "of the base's median; NULL where that is 0"),
    [LOW] = REAL("ci_low", "95 % interval of the shift; NULL with too few captures"),
    [HIGH] = REAL("ci_high", "its upper end"),
    [P] = {"p", NAI_F64, NAI_TEXT, "Mann-Whitney U, two-sided", .role = NAI_ROLE_METRIC},
    [Q] = {"q", NAI_F64, NAI_TEXT,
           "p corrected for the number of metrics that are not gated (Benjamini-Hochberg); from 6 captures a side on",
           .role = NAI_ROLE_METRIC},
    [CLIFF] = REAL("cliff_delta", "Cliff's delta, -1 to 1"),
    [BUDGET] = REAL("budget", "how much worse it may be, as applied"),
    [FLOOR] = REAL("noise", "noise floor, as applied"),
    [VERDICT] =
        NAI_LABEL_COLUMN("verdict", "regressed, changed, suspect, improved, within budget, not proven, same, ..."),
    [REASON] = NAI_LABEL_COLUMN("reason", "what the verdict rests on, or what is missing"),
};
static const struct nai_schema schema = NAI_SCHEMA("compared_metrics", "Metrics", "One metric of both sides", columns);

static void set_real(struct nai_table *t, int64_t row, int column, double value) {
  if (isfinite(value))
    nai_set_f64(t, row, column, value);
}

static void put_result(struct nai_table *t, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  int64_t row = nai_table_add_row(t);
  const char *const texts[] = {r->id, r->title, r->unit, r->better, r->kind, r->basis};
  for (int i = 0; i <= BASIS; i++)
    nai_set_str(t, row, i, texts[i]);
  nai_set_i64(t, row, GATED, r->gated);
  nai_set_i64(t, row, BASE_N, r->count[NAI_BASE]);
  nai_set_i64(t, row, NEW_N, r->count[NAI_NEW]);
  set_real(t, row, BASE, j->base);
  set_real(t, row, FRESH, j->fresh);
  nai_set_str(t, row, VERDICT, nai_verdict_name(j->verdict));
  if (*j->reason)
    nai_set_str(t, row, REASON, j->reason);
  set_real(t, row, BUDGET, j->budget);
  set_real(t, row, FLOOR, j->floor);
  if (!j->compared)
    return;
  set_real(t, row, SHIFT, j->shift.shift);
  set_real(t, row, PCT, j->pct);
  set_real(t, row, P, j->shift.p);
  set_real(t, row, Q, r->q);
  set_real(t, row, CLIFF, j->shift.cliff);
  if (!j->shift.has_ci)
    return;
  set_real(t, row, LOW, j->shift.low);
  set_real(t, row, HIGH, j->shift.high);
}

int nai_results_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  int rc = nai_table_new(out, &schema, err);
  for (uint32_t i = 0; !rc && i < c->result_count; i++)
    put_result(*out, &c->results[i]);
  return rc;
}

enum { V_SIDE, V_CAPTURE, V_METRIC, V_UNIT, V_BETTER, V_VALUE };
static const struct nai_column_def value_columns[] = {
    [V_SIDE] = NAI_LABEL_COLUMN("side", "base or new"),
    [V_CAPTURE] = NAI_LABEL_COLUMN("capture", "name of the run"),
    [V_METRIC] = NAI_NAME_COLUMN("metric", "id of the metric"),
    [V_UNIT] = NAI_LABEL_COLUMN("unit", "of the value"),
    [V_BETTER] = NAI_LABEL_COLUMN("better", "lower, higher or either"),
    [V_VALUE] = REAL("value", "of this capture"),
};
static const struct nai_schema values_schema =
    NAI_SCHEMA("compared_values", "Values", "One metric of one capture", value_columns);

int nai_values_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  int rc = nai_table_new(out, &values_schema, err);
  for (int s = 0; !rc && s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_table *t = nai_capture_table(&c->sides[s].captures[i], "metrics");
      for (int64_t from = 0; t && from < t->rows; from++) {
        int64_t row = nai_table_add_row(*out);
        nai_set_str(*out, row, V_SIDE, s == NAI_BASE ? "base" : "new");
        nai_set_str(*out, row, V_CAPTURE, c->sides[s].captures[i].label);
        nai_set_str(*out, row, V_METRIC, nai_cell_str(t, from, "metric"));
        nai_set_str(*out, row, V_UNIT, nai_cell_str(t, from, "unit"));
        nai_set_str(*out, row, V_BETTER, nai_cell_str(t, from, "better"));
        set_real(*out, row, V_VALUE, nai_cell_f64(t, from, "value"));
      }
    }
  return rc;
}
