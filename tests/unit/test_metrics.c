/* Metrics on tables of its own: values, families, fall-backs, and every mistake a metric file can hold. */
#include "unit.h"

#include "rules/metrics.h"

#include "columns.h"
#include "tables/metrics.h"
#include "tables/run_info.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct nai_column_def step_columns[] = {
    NAI_DEVICE_COLUMN(""),
    NAI_PID_COLUMN(""),
    NAI_LABEL_COLUMN("state", ""),
    NAI_TIME_COLUMN("duration_ns", ""),
};
static const struct nai_schema step_schema = NAI_SCHEMA("steps", "Steps", "One step", step_columns);
static const struct nai_column_def use_columns[] = {
    NAI_DEVICE_COLUMN(""),         NAI_PID_COLUMN(""), NAI_NAME_COLUMN("kind", ""), NAI_TIME_COLUMN("used_ns", ""),
    NAI_COUNT_COLUMN("calls", ""),
};
static const struct nai_schema use_schema = NAI_SCHEMA("use", "Use", "One kind on one GPU", use_columns);
static const struct nai_schema *const schemas[] = {&step_schema, &use_schema, &nai_run_info_schema};

struct tables {
  struct nai_table *steps, *use, *run;
};

static struct nai_table *table_of(const struct nai_schema *schema) {
  struct nai_table *table;
  assert_int_equal(nai_table_new(&table, schema, NULL), 0);
  return table;
}

static void add_step(struct nai_table *t, int64_t device, const char *state, int64_t ms) {
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, 0, device);
  nai_set_i64(t, row, 1, 7);
  nai_set_str(t, row, 2, state);
  nai_set_i64(t, row, 3, ms * 1000000);
}

static void add_use(struct nai_table *t, int64_t device, const char *kind, int64_t ms, int64_t calls) {
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, 0, device);
  nai_set_i64(t, row, 1, 7);
  nai_set_str(t, row, 2, kind);
  nai_set_i64(t, row, 3, ms * 1000000);
  nai_set_i64(t, row, 4, calls);
}

static struct tables make(void) {
  struct tables t = {table_of(&step_schema), table_of(&use_schema), table_of(&nai_run_info_schema)};
  NAI_ADD(RUN_INFO, t.run, .window_ns = 2000000000);
  return t;
}

static void drop(struct tables *t) {
  nai_table_free(t->steps);
  nai_table_free(t->use);
  nai_table_free(t->run);
}

/* One metric as a document, evaluated. */
static struct nai_table *evaluate(const struct tables *t, const char *body) {
  char text[1024];
  struct nai_metric_set *set;
  struct nai_err err = {0};
  struct nai_table *out;
  const struct nai_table *const tables[] = {t->steps, t->use, t->run, NULL};
  int n = snprintf(text, sizeof text, "metrics:\n  - {title: t, better: lower, kind: noisy, gate: none, %s}\n", body);
  if (nai_metrics_parse(&set, "m.yaml", text, (size_t)n, schemas, 3, &err))
    fail_msg("%s", err.msg);
  assert_int_equal(nai_metrics_evaluate(&out, set, tables, &err), 0);
  nai_metrics_free(set);
  return out;
}

static double only(const struct tables *t, const char *body) {
  struct nai_table *out = evaluate(t, body);
  assert_int_equal(out->rows, 1);
  double value = nai_get_f64(out, 0, METRICS_value);
  nai_table_free(out);
  return value;
}

/* Any SQL over the rows; quartiles where it is one median or average, and of those rows that have a value. */
TEST(values) {
  struct tables t = make();
  for (int64_t i = 1; i <= 4; i++)
    add_step(t.steps, 0, "steady", 10 * i);
  add_step(t.steps, 0, "warm-up", 999);
  static const struct {
    const char *how;
    double value, q25;
  } cases[] = {{"sum(duration_ns)", 100e6, NAN},
               {"avg( duration_ns )", 25e6, 17.5e6},
               {"median(duration_ns)", 25e6, 17.5e6},
               {"median(iif(duration_ms > 20, duration_ns, null))", 35e6, 32.5e6},
               {"p90(duration_ms)", 37e6, NAN},
               {"percentile(duration_ns, 50)", 25e6, NAN},
               {"max(duration_ns)", 40e6, NAN},
               {"min(this.duration_ns)", 10e6, NAN},
               {"100 * stddev(duration_ns) / avg(duration_ns)", 51.639777949432, NAN},
               {"count(*)", 4, NAN},
               {"median(duration_ns) * (select count(*) from run_info)", 25e6, NAN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char body[256];
    snprintf(body, sizeof body, "id: a, step: {table: steps, where: state = 'steady', value: '%s'}", cases[i].how);
    struct nai_table *out = evaluate(&t, body);
    assert_int_equal(out->rows, 1);
    double q25 = nai_get_f64(out, 0, METRICS_q25);
    assert_true(fabs(nai_get_f64(out, 0, METRICS_value) - cases[i].value) < 1e-3);
    assert_true(isnan(cases[i].q25) ? isnan(q25) : fabs(q25 - cases[i].q25) < 1e-3);
    assert_int_equal(nai_get_i64(out, 0, METRICS_n), strstr(cases[i].how, "iif") ? 2 : 4);
    nai_table_free(out);
  }
  drop(&t);
}

/* Two GPUs, one slower: the slower one's median; its quartiles; steps of the GPU that has fewer. */
TEST(gpus) {
  struct tables t = make();
  for (int i = 0; i < 3; i++)
    add_step(t.steps, 0, "steady", 10 + i);
  for (int i = 0; i < 5; i++)
    add_step(t.steps, 1, "steady", 20 + i);
  struct nai_table *out = evaluate(&t, "id: a, step: {table: steps, value: median(duration_ns), gpus: max(value)}");
  assert_true(fabs(nai_get_f64(out, 0, METRICS_value) - 22e6) < 1);
  assert_true(fabs(nai_get_f64(out, 0, METRICS_q25) - 21e6) < 1);
  assert_int_equal(nai_get_i64(out, 0, METRICS_n), 3);
  assert_string_equal(nai_get_str(out, 0, METRICS_basis), "step");
  nai_table_free(out);
  assert_true(fabs(only(&t, "id: a, step: {table: steps, value: median(duration_ns), gpus: avg(value)}") - 16.5e6) < 1);
  drop(&t);
}

/* Of what is not per step, the id does not say so; members of families neither. Who has that id keeps it. */
TEST(id_says_the_basis) {
  struct tables t = make();
  add_use(t.use, 0, "x", 1, 30);
  struct nai_table *out = evaluate(&t, "id: a.per_step, step: {table: use, value: sum(calls)}");
  assert_string_equal(nai_get_str(out, 0, METRICS_metric), "a.per_step");
  nai_table_free(out);
  out = evaluate(&t, "id: a.per_step, rate: {table: use, value: sum(calls)}");
  assert_string_equal(nai_get_str(out, 0, METRICS_metric), "a.per_second");
  nai_table_free(out);
  out = evaluate(&t, "id: 'a.{}.per_step', rate: {table: use, each: kind, value: sum(calls)}");
  assert_string_equal(nai_get_str(out, 0, METRICS_metric), "a.x.per_second");
  assert_string_equal(nai_get_str(out, 0, METRICS_family), "a.{}.per_second");
  nai_table_free(out);
  nai_table_truncate(t.run, 0);
  out = evaluate(&t, "id: a.per_step, rate: {table: use, value: sum(calls)}");
  assert_string_equal(nai_get_str(out, 0, METRICS_metric), "a.total");
  nai_table_free(out);
  drop(&t);
}

/* Without steps a sum per second; without a window the sum. */
TEST(falls_back) {
  struct tables t = make();
  static const char body[] =
      "id: a, step: {table: steps, value: sum(1.0 * duration_ns / duration_ns)}, rate: {table: use, value: sum(calls)}";
  add_use(t.use, 0, "x", 1, 30);
  struct nai_table *out = evaluate(&t, body);
  assert_string_equal(nai_get_str(out, 0, METRICS_basis), "second");
  assert_true(fabs(nai_get_f64(out, 0, METRICS_value) - 15) < 1e-9);
  nai_table_free(out);
  nai_table_truncate(t.run, 0);
  out = evaluate(&t, "id: a, rate: {table: use, value: sum(calls)}");
  assert_string_equal(nai_get_str(out, 0, METRICS_basis), "total");
  assert_string_equal(nai_get_str(out, 0, METRICS_source_table), "use");
  assert_true(fabs(nai_get_f64(out, 0, METRICS_value) - 30) < 1e-9);
  nai_table_free(out);
  drop(&t);
}

/* Exact per step only. */
TEST(exact_is_per_step) {
  struct tables t = make();
  static const char text[] =
      "metrics:\n"
      "  - {id: s, title: s, better: lower, kind: exact, gate: gate, step: {table: use, value: sum(calls)}}\n"
      "  - {id: r, title: r, better: lower, kind: exact, gate: gate, rate: {table: use, value: sum(calls)}}\n"
      "  - {id: t, title: t, better: lower, kind: exact, gate: gate, total: {table: use, value: sum(calls)}}\n";
  static const char *const want[][2] = {{"exact", "gate"}, {"noisy", "none"}, {"exact", "none"}};
  const struct nai_table *const tables[] = {t.steps, t.use, t.run, NULL};
  struct nai_metric_set *set;
  struct nai_table *out;
  add_use(t.use, 0, "x", 1, 30);
  assert_int_equal(nai_metrics_parse(&set, "m.yaml", text, strlen(text), schemas, 3, NULL), 0);
  assert_int_equal(nai_metrics_evaluate(&out, set, tables, NULL), 0);
  for (int64_t i = 0; i < 3; i++) {
    assert_string_equal(nai_get_str(out, i, METRICS_kind), want[i][0]);
    assert_string_equal(nai_get_str(out, i, METRICS_gate), want[i][1]);
  }
  nai_table_free(out);
  nai_metrics_free(set);
  drop(&t);
}

/* Members in order of name, the largest two; hostile characters of names do not get into ids. */
TEST(families) {
  struct tables t = make();
  add_use(t.use, 0, "b,\n=x", 5, 1);
  add_use(t.use, 1, "b,\n=x", 7, 1);
  add_use(t.use, 0, "a", 20, 1);
  add_use(t.use, 0, "c", 1, 1);
  struct nai_table *out =
      evaluate(&t, "id: 'k.{}.time', total: {table: use, each: kind, value: sum(used_ns), limit: 2}");
  assert_int_equal(out->rows, 2);
  assert_string_equal(nai_get_str(out, 0, METRICS_metric), "k.a.time");
  assert_string_equal(nai_get_str(out, 1, METRICS_metric), "k.b___x.time");
  assert_string_equal(nai_get_str(out, 1, METRICS_family), "k.{}.time");
  assert_true(fabs(nai_get_f64(out, 1, METRICS_value) - 12e6) < 1);
  nai_table_free(out);
  out = evaluate(&t, "id: 'k.{}.n', total: {table: use, each: kind, value: sum(used_ns / calls), limit: 1, "
                     "order: sum(calls) desc}");
  assert_int_equal(out->rows, 1); /* b has two calls */
  assert_string_equal(nai_get_str(out, 0, METRICS_metric), "k.b___x.n");
  nai_table_free(out);
  drop(&t);
}

/* An id is one metric's: what a definition spells out is its own, and families that would make the same one differ. */
TEST(ids_are_unique) {
  struct tables t = make();
  add_use(t.use, 0, "a", 20, 1);
  add_use(t.use, 0, "b", 10, 2);
  struct nai_table *out = evaluate(&t, "id: 'k.{}.n', total: {table: use, each: kind, value: sum(used_ns)}}\n"
                                       "  - {title: t, better: lower, kind: noisy, gate: none, id: '{}.b.n', "
                                       "total: {table: use, each: kind, value: sum(calls)}}\n"
                                       "  - {title: t, better: lower, kind: noisy, gate: none, id: k.a.n, "
                                       "total: {table: use, value: sum(calls)}");
  static const char *const ids[] = {"k.a~2.n", "k.b.n", "a.b.n", "b.b.n", "k.a.n"};
  assert_int_equal(out->rows, 5);
  for (int64_t i = 0; i < out->rows; i++)
    assert_string_equal(nai_get_str(out, i, METRICS_metric), ids[i]);
  nai_table_free(out);
  add_use(t.use, 1, "k", 5, 1);
  out = evaluate(&t, "id: 'k.{}.n', total: {table: use, each: kind, value: sum(used_ns)}}\n"
                     "  - {title: t, better: lower, kind: noisy, gate: none, id: '{}.b.n', "
                     "total: {table: use, each: kind, value: sum(calls)}");
  assert_string_equal(nai_get_str(out, 1, METRICS_metric), "k.b.n");
  assert_string_equal(nai_get_str(out, out->rows - 1, METRICS_metric), "k~2.b.n");
  nai_table_free(out);
  drop(&t);
}

TEST(units_and_amounts) {
  struct tables t = make();
  add_use(t.use, 0, "x", 3, 2);
  struct nai_table *out = evaluate(&t, "id: a, total: {table: use, value: sum(used_ms / calls)}, noise: 2%, budget: "
                                       "{relative: 3%, absolute: 0.05ms}");
  assert_string_equal(nai_get_str(out, 0, METRICS_unit), "ns");
  assert_true(fabs(nai_get_f64(out, 0, METRICS_value) - 1.5e6) < 1e-6);
  assert_true(fabs(nai_get_f64(out, 0, METRICS_noise_pct) - 2) < 1e-9);
  assert_true(isnan(nai_get_f64(out, 0, METRICS_noise)));
  assert_true(fabs(nai_get_f64(out, 0, METRICS_budget) - 50000) < 1e-6);
  nai_table_free(out);
  out = evaluate(&t, "id: a, unit: percent, total: {table: use, value: sum(100.0 * used_ns / used_ns)}, budget: 2pt");
  assert_string_equal(nai_get_str(out, 0, METRICS_unit), "percent");
  nai_table_free(out);
  out = evaluate(&t, "id: a, total: {table: use, value: sum(1.0 * calls / 0)}"); /* no number, no metric */
  assert_int_equal(out->rows, 0);
  nai_table_free(out);
  drop(&t);
}

static void refused(const char *text, const char *message) {
  struct nai_metric_set *set;
  struct nai_err err = {0};
  if (nai_metrics_parse(&set, "m.yaml", text, strlen(text), schemas, 3, &err) != NAI_EUSAGE)
    fail_msg("accepted: %s", text);
  if (strcmp(err.msg, message) != 0)
    fail_msg("%s\n  says  %s\n  wants %s", text, err.msg, message);
}

#define METRIC(rest) "metrics:\n  - {id: a, title: t, better: lower, kind: noisy, gate: none, " rest "}\n"
#define TOTAL "total: {table: use, value: sum(calls)}"

TEST(mistakes) {
  refused("metric: []", "m.yaml:1:1: unknown key \"metric\"; did you mean \"metrics\"?");
  refused("metrics:\n  - {title: a}\n", "m.yaml:2:5: \"id\" is missing");
  refused(METRIC("x: 1"), "m.yaml:2:63: unknown key \"x\"");
  refused(METRIC("unit: ns"), "m.yaml:2:5: one of step, rate, total is missing");
  refused(METRIC("total: {table: uses, value: sum(calls)}"),
          "m.yaml:2:78: unknown table \"uses\"; did you mean \"use\"?");
  refused(METRIC("total: {table: use, value: sum(call)}"),
          "m.yaml:2:94: unknown column \"call\" of table \"use\"; did you mean \"calls\"?");
  refused(METRIC("total: {table: use, value: max(kind)}"), "m.yaml:2:90: \"value\" needs a number");
  refused(METRIC("total: {table: use, value: sum(used_ns) + sum(used_ms)}"),
          "m.yaml:2:109: ns and ms do not go together");
  refused(METRIC("total: {table: use, where: used_ns > used_ms, value: sum(calls)}"),
          "m.yaml:2:100: ns and ms do not go together");
  refused(METRIC("total: {table: use, value: sums(calls)}"), "m.yaml:2:90: no such function: sums");
  refused(METRIC("total: {table: use, value: sum(calls) * * 2}"), "m.yaml:2:101: near \"*\": syntax error");
  refused(METRIC("total: {table: use, value: sum(calls), gpus: max(values)}"),
          "m.yaml:2:112: unknown column \"values\" of table \"gpus\"; did you mean \"value\"?");
  refused(METRIC("total: {table: use, value: sum(calls), each: kind}"),
          "m.yaml:2:70: an id with {} and \"each\" need each other");
  refused(METRIC(TOTAL ", budget: -3%"), "m.yaml:2:111: \"-3%\" must not be negative");
  refused(METRIC(TOTAL ", budget: nan"),
          "m.yaml:2:111: expected an amount such as 3%, 0.05ms, 64KiB or 5, got \"nan\"");
  refused(METRIC(TOTAL ", budget: 3ms"), "m.yaml:2:111: \"3ms\" does not fit a metric in count");
  refused(
      METRIC(TOTAL ", noise: 1 parsec"),
      "m.yaml:2:112: unknown unit \"parsec\"; use %, pt, %_of_step, ns, us, ms, s, B, KiB, MiB, GiB, KB, MB, GB or GB/s");
  refused("metrics:\n  - {id: a, title: t, better: lower, kind: noise, gate: none, " TOTAL "}\n",
          "m.yaml:2:44: \"kind\": expected one of exact, noisy; did you mean \"noisy\"?");
  refused("metrics:\n  - {id: b, disabled: true}\n", "m.yaml:2:10: unknown metric \"b\"");
  refused("metrics:\n  - {id: A}\n", "m.yaml:2:10: an id is made of a-z, 0-9, _ . and -, 64 characters at most");
}

/* Files of before are told the new form of the source. */
TEST(old_forms) {
  refused(METRIC("total: {table: use, value: calls}"),
          "m.yaml:2:90: values are SQL over the rows: write \"value: sum(calls)\"");
  refused(METRIC("total: {table: use, value: used_ns / calls, combine: mean, gpus: max}"),
          "m.yaml:2:116: values are SQL over the rows: write \"value: avg(used_ns / calls), gpus: max(value)\"");
  refused(METRIC("total: {table: use, value: median(calls), gpus: mean}"),
          "m.yaml:2:111: values are SQL over the rows: write \"value: median(calls), gpus: avg(value)\"");
  refused(METRIC("total: {table: use, each: kind, value: used_ns, limit: 3, by: calls, combine: max}"),
          "m.yaml:2:141: values are SQL over the rows: write \"value: max(used_ns), order: sum(calls) desc\"");
  refused(METRIC("total: {table: use, value: calls, combine: cv}"),
          "m.yaml:2:106: values are SQL over the rows: write \"value: 100 * stddev(calls) / avg(calls)\" and "
          "\"unit: percent\"");
  refused(METRIC("total: {table: use, with: {all: {sum: steps}}, value: calls / all.duration_ns}"),
          "m.yaml:2:89: rows of other tables are a SELECT in \"value\": (select sum(x) from t)");
}
