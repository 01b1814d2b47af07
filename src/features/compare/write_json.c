/* compare.json: everything a gate needs, in one object. */
#include "features/compare/internal.h"
#include "features/compare/write.h"

#include "base/fmt.h"
#include "table/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 2000 };

/* Six decimals at most, without zeros at the end. */
static void number(struct nai_json *json, double value) {
  struct nai_buf text = {0};
  nai_fmt_real(&text, value, 6);
  while (text.len > 1 && memchr(text.data, '.', text.len) && text.data[text.len - 1] == '0')
    text.len--;
  if (text.len && text.data[text.len - 1] == '.')
    text.len--;
  if (text.len)
    text.data[text.len] = '\0';
  nai_json_decimal(json, nai_buf_str(&text));
  json->out->oom |= text.oom;
  nai_buf_free(&text);
}

static void put_number(struct nai_json *json, const char *key, double value) {
  nai_json_key(json, key);
  number(json, value);
}

static void put_side(struct nai_json *json, const char *key, const struct nai_side *side) {
  char hash[24];
  nai_json_key(json, key);
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_key(json, "captures");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (uint32_t i = 0; i < side->count; i++) {
    snprintf(hash, sizeof hash, "%016" PRIx64, nai_run_manifest(side->captures[i].run)->identity);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "id", side->captures[i].label);
    nai_json_put_text(json, "xxh3", hash);
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

static void put_checks(struct nai_json *json, const struct nai_comparison *c) {
  nai_json_key(json, "comparability");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (uint32_t i = 0; i < c->check_count; i++) {
    const struct nai_check *check = &c->checks[i];
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "check", nai_check_name(check->code));
    nai_json_put_text(json, "level", check->level == NAI_CHECK_HARD ? "hard" : "soft");
    nai_json_put_text(json, "base", check->base);
    nai_json_put_text(json, "new", check->fresh);
    nai_json_put_text(json, "reason", check->reason);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_values(struct nai_json *json, const char *key, const struct nai_metric_result *r, int side,
                       double median) {
  nai_json_key(json, key);
  nai_json_begin_object(json, NAI_JSON_INLINE);
  nai_json_put_int(json, "n", r->count[side]);
  put_number(json, "median", median);
  nai_json_key(json, "values");
  nai_json_begin_array(json, NAI_JSON_INLINE);
  for (uint32_t i = 0; i < r->count[side]; i++)
    number(json, r->values[side][i]);
  nai_json_end(json);
  nai_json_end(json);
}

static void put_metric(struct nai_json *json, const struct nai_comparison *c, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  const char *const texts[][2] = {{"id", r->id},         {"title", r->title}, {"unit", r->unit},
                                  {"better", r->better}, {"kind", r->kind},   {"basis", r->basis}};
  nai_json_begin_object(json, NAI_JSON_INLINE);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    nai_json_put_text(json, texts[i][0], texts[i][1]);
  put_values(json, "base", r, NAI_BASE, j->base);
  put_values(json, "new", r, NAI_NEW, j->fresh);
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

/* Rows of a table as objects by column name, in the units of CSV. */
static void put_table(struct nai_json *json, const char *key, const struct nai_table *t) {
  char name[NAI_COLUMN_NAME_MAX];
  nai_json_key(json, key);
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (int64_t row = 0; row < t->rows && row < MAX_ROWS; row++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, t->schema);) {
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
  nai_json_key(json, "gate");
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_put_text(json, "verdict",
                    gate.exit == NAI_EXIT_PASS   ? "pass"
                    : gate.exit == NAI_EXIT_FAIL ? "fail"
                                                 : "undecided");
  nai_json_put_int(json, "exit", gate.exit);
  nai_json_put_text(json, "reason", gate.reason);
  for (int outcome = NAI_OUTCOME_WARN; outcome <= NAI_OUTCOME_UNDECIDED; outcome++) {
    static const char *const keys[] = {"", "warned", "failed", "undecided"};
    nai_json_key(json, keys[outcome]);
    nai_json_begin_array(json, NAI_JSON_INLINE);
    for (uint32_t i = 0; i < c->result_count; i++)
      if (c->results[i].gated && (int)nai_gate_outcome(c, &c->results[i]) == outcome)
        nai_json_text(json, c->results[i].id);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_settings(struct nai_json *json, const struct nai_comparison *c) {
  const struct nai_budgets *b = c->options.budgets;
  nai_json_key(json, "settings");
  nai_json_begin_object(json, NAI_JSON_INLINE);
  put_number(json, "confidence", 0.95);
  nai_json_put_int(json, "minimum_captures", b ? b->minimum : NAI_MIN_CAPTURES);
  nai_json_put_text(json, "per", c->by_step ? "gpu_and_step" : "gpu_and_run");
  nai_json_put_int(json, "kernel_key_version", NAI_KERNEL_KEY_VERSION);
  nai_json_key(json, "allow");
  nai_json_begin_array(json, NAI_JSON_INLINE);
  for (int code = 0; code < NAI_CHECK_COUNT; code++)
    if (c->options.allow & 1u << code)
      nai_json_text(json, nai_check_name((enum nai_check_code)code));
  nai_json_end(json);
  nai_json_end(json);
}

void nai_write_compare_json(struct nai_buf *out, const struct nai_comparison *c) {
  struct nai_json json;
  struct nai_buf verdict = {0};
  nai_write_verdict(&verdict, c);
  nai_json_init(&json, out, false);
  nai_json_begin_object(&json, NAI_JSON_LINES);
  nai_json_put_text(&json, "format", "1.0");
  nai_json_put_text(&json, "tool", "nsys-ai " NAI_VERSION);
  nai_json_put_text(&json, "verdict", nai_buf_str(&verdict));
  put_side(&json, "base", &c->sides[NAI_BASE]);
  put_side(&json, "new", &c->sides[NAI_NEW]);
  put_settings(&json, c);
  put_checks(&json, c);
  nai_json_key(&json, "metrics");
  nai_json_begin_array(&json, NAI_JSON_LINES);
  for (uint32_t i = 0; i < c->result_count; i++)
    put_metric(&json, c, &c->results[i]);
  nai_json_end(&json);
  put_table(&json, "partition", c->tables[NAI_COMPARED_TIME]);
  put_table(&json, "kernels", c->tables[NAI_COMPARED_KERNELS]);
  put_table(&json, "ranges", c->tables[NAI_COMPARED_RANGES]);
  put_table(&json, "phases", c->tables[NAI_COMPARED_PHASES]);
  put_table(&json, "copies", c->tables[NAI_COMPARED_COPIES]);
  put_table(&json, "findings", c->tables[NAI_COMPARED_FINDINGS]);
  put_gate(&json, c);
  nai_json_end(&json);
  nai_json_finish(&json);
  nai_buf_putc(out, '\n');
  out->oom |= verdict.oom;
  nai_buf_free(&verdict);
}
