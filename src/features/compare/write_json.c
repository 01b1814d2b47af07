/* compare.json: everything a gate needs, in one object. */
#include "base/fmt.h"
#include "features/compare/write.h"
#include "rundir/run.h"
#include "table/json.h"
#include "tables/compared_checks.h"

enum { MAX_ROWS = 2000 };

/* Six decimals at most, without zeros at the end. */
static void number(struct nai_json *json, double value) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_real(&text, value, 6);
  while (text.len > 1 && memchr(text.data, '.', text.len) && text.data[text.len - 1] == '0')
    text.len--;
  if (text.len && text.data[text.len - 1] == '.')
    text.len--;
  if (text.len)
    text.data[text.len] = '\0';
  nai_json_decimal(json, nai_buf_str(&text));
  json->out->oom |= text.oom;
}

static void put_number(struct nai_json *json, const char *key, double value) {
  nai_json_key(json, key);
  number(json, value);
}

static void put_side(struct nai_json *json, const struct nai_comparison *c, int s) {
  const struct nai_side *side = &c->sides[s];
  nai_json_put_object(json, nai_side_names[s], NAI_JSON_LINES);
  nai_json_put_array(json, "captures", NAI_JSON_LINES);
  for (uint32_t i = 0; i < side->count; i++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "id", side->captures[i].label);
    nai_json_put_hex(json, "xxh3", nai_run_manifest(side->captures[i].run)->identity);
    nai_json_key(json, "utc_ns");
    int64_t utc = nai_run_utc(side->captures[i].run);
    if (utc == NAI_NULL_I64)
      nai_json_text(json, NULL);
    else
      nai_json_int(json, utc);
    nai_json_put_text(json, "program", nai_run_manifest(side->captures[i].run)->version);
    nai_json_end(json);
  }
  nai_json_end(json);
  nai_json_end(json);
}

static void put_values(struct nai_json *json, const struct nai_metric_result *r, int side, double median) {
  nai_json_put_object(json, nai_side_names[side], NAI_JSON_INLINE);
  nai_json_put_int(json, "n", r->count[side]);
  put_number(json, "median", median);
  nai_json_put_array(json, "values", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < r->count[side]; i++)
    number(json, r->values[side][i]);
  nai_json_end(json);
  nai_json_end(json);
}

static void put_metric(struct nai_json *json, const struct nai_comparison *c, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  const char *const texts[][2] = {{"id", r->def.metric},     {"title", r->def.title}, {"unit", r->def.unit},
                                  {"better", r->def.better}, {"kind", r->def.kind},   {"basis", r->def.basis}};
  nai_json_begin_object(json, NAI_JSON_INLINE);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    nai_json_put_text(json, texts[i][0], texts[i][1]);
  put_values(json, r, NAI_BASE, j->base);
  put_values(json, r, NAI_CANDIDATE, j->candidate);
  put_number(json, "shift", j->compared ? j->shift.shift : NAN);
  put_number(json, "shift_pct", j->compared ? j->pct : NAN);
  nai_json_key(json, "ci");
  if (j->compared && j->shift.has_ci) {
    nai_json_begin_array(json, NAI_JSON_INLINE);
    number(json, j->shift.low);
    number(json, j->shift.high);
    nai_json_end(json);
  } else {
    nai_json_text(json, NULL);
  }
  put_number(json, "p", j->compared ? j->shift.p : NAN);
  put_number(json, "q", r->q);
  put_number(json, "cliff", j->compared ? j->shift.cliff : NAN);
  put_number(json, "budget", j->budget);
  put_number(json, "floor", j->floor);
  nai_json_put_bool(json, "budget_below_noise", j->budget_below_noise);
  nai_json_put_text(json, "verdict", nai_verdict_code(j->verdict));
  nai_json_put_text(json, "reason", *j->reason ? j->reason : NULL);
  nai_json_put_text(json, "gate", r->gated ? nai_outcome_name(nai_gate_outcome(c, r)) : NULL);
  nai_json_end(json);
}

/* Rows of a table as objects by column name, in the units of CSV, without column `but` (-1: with all). */
static void put_table(struct nai_json *json, const char *key, const struct nai_table *t, int but) {
  char name[NAI_COLUMN_NAME_MAX];
  nai_json_put_array(json, key, NAI_JSON_LINES);
  for (int64_t row = 0; row < t->rows && row < MAX_ROWS; row++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, t->schema);) {
      if (p.column == but)
        continue;
      struct nai_value value = nai_table_value(t, row, p.column);
      nai_json_key(json, nai_display_column_name(name, t->schema, &p));
      nai_json_value(json, p.unit, &value);
    }
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_gate(struct nai_json *json, const struct nai_comparison *c) {
  struct nai_gate gate = nai_gate_of(c);
  nai_json_put_object(json, "gate", NAI_JSON_LINES);
  nai_json_put_text(json, "verdict",
                    gate.exit == NAI_EXIT_PASS   ? "pass"
                    : gate.exit == NAI_EXIT_FAIL ? "fail"
                                                 : "undecided");
  nai_json_put_int(json, "exit", gate.exit);
  nai_json_put_text(json, "reason", gate.reason);
  for (int outcome = NAI_OUTCOME_WARN; outcome <= NAI_OUTCOME_UNDECIDED; outcome++) {
    static const char *const keys[] = {"", "warned", "failed", "undecided"};
    nai_json_put_array(json, keys[outcome], NAI_JSON_INLINE);
    for (uint32_t i = 0; i < c->result_count; i++)
      if (c->results[i].gated && (int)nai_gate_outcome(c, &c->results[i]) == outcome)
        nai_json_text(json, c->results[i].def.metric);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_settings(struct nai_json *json, const struct nai_comparison *c) {
  const struct nai_budgets *b = c->options.budgets;
  nai_json_put_object(json, "settings", NAI_JSON_INLINE);
  put_number(json, "confidence", 0.95);
  nai_json_put_int(json, "minimum_captures", b ? b->minimum : NAI_MIN_CAPTURES);
  nai_json_put_text(json, "per",
                    c->by_step                    ? "gpu_and_step"
                    : c->unit                     ? "gpu_and_repetition"
                    : nai_comparison_has_basis(c) ? "gpu_and_base_work"
                                                  : "gpu_and_run");
  nai_json_put_int(json, "kernel_key_version", NAI_KERNEL_KEY_VERSION);
  nai_json_put_array(json, "allow", NAI_JSON_INLINE);
  for (int code = 0; code < NAI_CHECK_COUNT; code++)
    if (c->options.allow & 1u << code)
      nai_json_text(json, nai_check_name((enum nai_check_code)code));
  nai_json_end(json);
  nai_json_end(json);
}

void nai_write_compare_json(struct nai_buf *out, const struct nai_comparison *c) {
  static const struct {
    const char *key;
    enum nai_comparison_table table;
  } parts[] = {{"partition", NAI_COMPARED_TIME}, {"kernels", NAI_COMPARED_KERNELS},
               {"ranges", NAI_COMPARED_RANGES},  {"phases", NAI_COMPARED_PHASES},
               {"copies", NAI_COMPARED_COPIES},  {"findings", NAI_COMPARED_FINDINGS}};
  struct nai_json json;
  NAI_SCOPED(nai_buf) verdict = {0};
  nai_write_verdict(&verdict, c);
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_text(&json, "format", "2.0");
  nai_json_put_text(&json, "tool", "nsys-ai " NAI_VERSION);
  nai_json_put_text(&json, "verdict", nai_buf_str(&verdict));
  for (int s = 0; s < NAI_SIDES; s++)
    put_side(&json, c, s);
  put_settings(&json, c);
  put_table(&json, "comparability", c->tables[NAI_COMPARED_CHECKS], COMPARED_CHECKS_affects);
  nai_json_put_array(&json, "metrics", NAI_JSON_LINES);
  for (uint32_t i = 0; i < c->result_count; i++)
    put_metric(&json, c, &c->results[i]);
  nai_json_end(&json);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    put_table(&json, parts[i].key, c->tables[parts[i].table], -1);
  put_gate(&json, c);
  nai_json_close(&json);
  out->oom |= verdict.oom;
}
