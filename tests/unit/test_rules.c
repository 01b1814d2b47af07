/* The rule engine on tables of its own: what is found, in which order, with which words, and every mistake a rule file
 * can hold, at its place. */
#include "unit.h"

#include "rules/rules.h"

#include "columns.h"
#include "tables/events.h"
#include "tables/gpu_utilization.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- Tables ----------------------------------------------------------------------------------- */

enum { U_DEVICE, U_PID, U_WINDOW, U_IDLE, U_IDLE_PCT, U_COPY_PCT, U_START, U_END };
static const struct nai_column_def use_columns[] = {
    NAI_DEVICE_COLUMN(""),
    NAI_PID_COLUMN(""),
    NAI_TIME_COLUMN("window_ns", ""),
    NAI_TIME_COLUMN("idle_ns", ""),
    NAI_PCT_COLUMN("idle_pct", ""),
    NAI_PCT_COLUMN("copy_pct", ""),
    NAI_START_COLUMN("start_ns", ""),
    NAI_END_COLUMN("end_ns", ""),
};
static const struct nai_schema use_schema = NAI_SCHEMA("use", "Use", "One GPU", use_columns);

enum { C_DEVICE, C_CAUSE, C_TOTAL, C_COUNT, C_BYTES };
static const struct nai_column_def cause_columns[] = {
    NAI_DEVICE_COLUMN(""),           NAI_NAME_COLUMN("cause", ""),
    NAI_TIME_COLUMN("total_ns", ""), NAI_COUNT_COLUMN("gap_count", ""),
    NAI_BYTES_COLUMN("bytes", ""),
};
static const struct nai_schema cause_schema = NAI_SCHEMA("causes", "Causes", "One cause", cause_columns);

enum { S_PID, S_TID, S_API, S_TIME };
static const struct nai_column_def sync_columns[] = {
    NAI_PID_COLUMN(""),
    NAI_TID_COLUMN(""),
    NAI_NAME_COLUMN("api", ""),
    NAI_LENGTH_COLUMN("time_ns", ""),
};
static const struct nai_schema sync_schema = NAI_SCHEMA("sync", "Sync", "One API in one process", sync_columns);

static const struct nai_schema *const schemas[] = {&use_schema, &cause_schema, &sync_schema, &nai_gpus_schema,
                                                   &nai_gpu_utilization_schema};
enum { SCHEMAS = sizeof schemas / sizeof *schemas };

static const int64_t ms = 1000000;

struct tables {
  struct nai_table *use, *causes, *sync, *gpus, *util;
};

static void add_use(struct nai_table *t, int device, double idle_pct, double copy_pct) {
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, U_DEVICE, device);
  nai_set_i64(t, row, U_WINDOW, 100 * ms);
  nai_set_i64(t, row, U_IDLE, (int64_t)(idle_pct * (double)ms));
  nai_set_f64(t, row, U_IDLE_PCT, idle_pct);
  nai_set_f64(t, row, U_COPY_PCT, copy_pct);
  nai_set_i64(t, row, U_START, 1000 + device);
  nai_set_i64(t, row, U_END, 2000 + device);
}

static void add_cause(struct nai_table *t, int device, const char *cause, int64_t total_ms, int64_t count) {
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, C_DEVICE, device);
  nai_set_str(t, row, C_CAUSE, cause);
  nai_set_i64(t, row, C_TOTAL, total_ms * ms);
  nai_set_i64(t, row, C_COUNT, count);
}

static void add_sync(struct nai_table *t, int64_t pid, const char *api, int64_t time_us) {
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, S_PID, pid);
  nai_set_i64(t, row, S_TID, pid + 1);
  nai_set_str(t, row, S_API, api);
  nai_set_i64(t, row, S_TIME, time_us * 1000);
}

static struct tables make_tables(void) {
  struct tables t = {0};
  struct nai_err err = {0};
  assert_int_equal(nai_table_new(&t.use, &use_schema, &err), 0);
  assert_int_equal(nai_table_new(&t.causes, &cause_schema, &err), 0);
  assert_int_equal(nai_table_new(&t.sync, &sync_schema, &err), 0);
  assert_int_equal(nai_table_new(&t.gpus, &nai_gpus_schema, &err), 0);
  assert_int_equal(nai_table_new(&t.util, &nai_gpu_utilization_schema, &err), 0);
  static const int64_t idle_us[] = {41500, 25000, 90000};
  for (int i = 0; i < 3; i++) /* what savings are shares of */
    NAI_ADD(GPU_UTILIZATION, t.util, .device_id = i, .window_ns = 100 * ms, .idle_ns = idle_us[i] * 1000);
  add_use(t.use, 0, 41.5, 0);
  add_use(t.use, 1, 25, 5);
  add_use(t.use, 2, 90, 60);
  add_cause(t.causes, 0, "host_sync", 10, 4);
  add_cause(t.causes, 0, "host_code", 30, 7);
  add_cause(t.causes, 1, "dependency", 25, 1);
  add_cause(t.causes, 2, "host_code", 90, 2);
  add_sync(t.sync, 144, "cudaStreamSynchronize", 500);
  add_sync(t.sync, 145, "cudaDeviceSynchronize", 900);
  return t;
}

static void free_tables(struct tables *t) {
  nai_table_free(t->use);
  nai_table_free(t->causes);
  nai_table_free(t->sync);
  nai_table_free(t->gpus);
  nai_table_free(t->util);
}

/* --- Running rules ---------------------------------------------------------------------------- */

struct result {
  struct tables tables;
  struct nai_table *findings, *evidence;
};

/* Shows what the engine hands to the escaper. */
static void mark(struct nai_buf *out, const char *text, size_t len) {
  nai_buf_putc(out, '<');
  nai_buf_put(out, text, len);
  nai_buf_putc(out, '>');
}

static struct nai_rule_set *compile(const char *rules) {
  struct nai_rule_set *set = NULL;
  struct nai_err err = {0};
  if (nai_rules_parse(&set, "r.yaml", rules, strlen(rules), schemas, SCHEMAS, &err))
    fail_msg("%s", err.msg);
  return set;
}

static int (*simulate)(void *, struct nai_rules_simulated *, const char *const *, uint32_t, struct nai_err *);

static void evaluate(struct result *r, const struct nai_rule_set *set) {
  struct nai_err err = {0};
  const struct nai_table *const tables[] = {r->tables.use,  r->tables.causes, NULL,
                                            r->tables.sync, r->tables.gpus,   r->tables.util};
  const struct nai_rules_input input = {.tables = tables, .table_count = 6, .escape = mark, .simulate = simulate};
  if (nai_rules_evaluate(&r->findings, &r->evidence, set, &input, &err))
    fail_msg("%s", err.msg);
}

static struct result run(const char *rules) {
  struct result r = {.tables = make_tables()};
  struct nai_rule_set *set = compile(rules);
  evaluate(&r, set);
  nai_rules_free(set);
  return r;
}

static void result_free(struct result *r) {
  nai_table_free(r->findings);
  nai_table_free(r->evidence);
  free_tables(&r->tables);
}

static const char *cell(const struct nai_table *table, int64_t row, const char *column) {
  assert_true(row < table->rows);
  return nai_get_str(table, row, nai_schema_column(table->schema, column));
}

static int64_t number(const struct nai_table *table, int64_t row, const char *column) {
  assert_true(row < table->rows);
  return nai_get_i64(table, row, nai_schema_column(table->schema, column));
}

/* A rule of table `use` with the given further lines; texts that say nothing. */
#define RULE(id, lines) "  - id: " id "\n    title: t\n    why: w\n    recommendation: r\n" lines

/* --- What is found ---------------------------------------------------------------------------- */

static const char idle_rule[] =
    "parameters: {high: 40, medium: 20}\n"
    "rules:\n"
    "  - id: idle\n"
    "    title: \"{{subject}} idle {{idle_pct}} ({{idle_ms}}), limit {{param.medium}} %\"\n"
    "    table: use\n"
    "    with:\n"
    "      cause: {table: causes, where: device_id = this.device_id, order: total_ms desc}\n"
    "    severity: {high: idle_pct >= param.high, medium: idle_pct >= param.medium}\n"
    "    saving: idle_ms\n    lower: []\n"
    "    evidence:\n"
    "      - \"{{subject}}: {{idle_ms}}\"\n"
    "      - for: {table: causes, where: device_id = this.device_id, order: total_ms desc}\n"
    "        text: \"{{cause}} {{total_ms}} of {{this.window_ms}} on GPU {{device_id}}\"\n"
    "      - {at: cause, when: cause.gap_count > 5, text: \"{{cause.gap_count}} gaps\"}\n"
    "    why:\n"
    "      - \"always {{device_id}}\"\n"
    "      - {when: cause.cause = 'host_code', text: \"code {{cause.cause}}\"}\n"
    "      - {when: \"contains(cause.cause, 'DEPEND')\", text: waits}\n"
    "      - {else: neither}\n"
    "    recommendation: fix it\n"
    "    verify: [\"run {{cause.cause}} {{idle_ms}} {{start_ns}}\"]\n"
    "    links: [docs/a.md, docs/b.md]\n";

/* "1 copy", not "1 copies". */
TEST(counts_take_their_nouns) {
  struct result r = run("rules:\n" RULE("n", "    table: causes\n    where: gap_count < 3\n    severity: low\n"
                                             "    evidence: [\"{{gap_count|copies}}, {{gap_count|gaps}}\"]\n"));
  bool one = false, two = false;
  assert_int_equal(r.evidence->rows, 2);
  for (int64_t i = 0; i < 2; i++) {
    one |= strcmp(cell(r.evidence, i, "text"), "1 copy, 1 gap") == 0;
    two |= strcmp(cell(r.evidence, i, "text"), "2 copies, 2 gaps") == 0;
  }
  assert_true(one && two);
  result_free(&r);
}

TEST(finds_rows_and_words) {
  struct result r = run(idle_rule);
  assert_int_equal(r.findings->rows, 3);
  assert_string_equal(cell(r.findings, 0, "title"), "GPU 2 idle 90.0 % (90.0 ms), limit 20 %");
  assert_string_equal(cell(r.findings, 1, "title"), "GPU 0 idle 41.5 % (41.5 ms), limit 20 %");
  assert_string_equal(cell(r.findings, 1, "severity"), "high");
  assert_string_equal(cell(r.findings, 2, "severity"), "medium");
  assert_string_equal(cell(r.findings, 1, "scope"), "GPU 0");
  assert_int_equal(number(r.findings, 1, "device_id"), 0);
  assert_int_equal(number(r.findings, 1, "pid"), NAI_NULL_I64);
  assert_int_equal(number(r.findings, 1, "saving_ns"), 41500000);
  assert_int_equal(number(r.findings, 1, "finding"), 2);
  assert_string_equal(cell(r.findings, 1, "why"),
                      "always 0\n\ncode <host_code>"); /* trace text went through the escaper */
  assert_string_equal(cell(r.findings, 2, "why"), "always 1\n\nwaits");
  assert_string_equal(cell(r.findings, 1, "verify"), "run host_code 41.500000 0.000001000");
  assert_string_equal(cell(r.findings, 1, "links"), "docs/a.md docs/b.md");
  result_free(&r);
}

TEST(evidence_has_a_place) {
  struct result r = run(idle_rule);
  static const struct {
    int64_t finding;
    const char *text, *table;
    int64_t row, start;
    const char *name;
  } want[] = {
      {1, "GPU 2: 90.0 ms", "use", 2, 1002, ""},
      {1, "host_code 90.0 ms of 100.0 ms on GPU 2", "causes", 3, NAI_NULL_I64, "host_code"},
      {2, "GPU 0: 41.5 ms", "use", 0, 1000, ""},
      {2, "host_code 30.0 ms of 100.0 ms on GPU 0", "causes", 1, NAI_NULL_I64, "host_code"},
      {2, "host_sync 10.0 ms of 100.0 ms on GPU 0", "causes", 0, NAI_NULL_I64, "host_sync"},
      {2, "7 gaps", "causes", 1, NAI_NULL_I64, "host_code"},
      {3, "GPU 1: 25.0 ms", "use", 1, 1001, ""},
      {3, "dependency 25.0 ms of 100.0 ms on GPU 1", "causes", 2, NAI_NULL_I64, "dependency"},
  };
  assert_int_equal(r.evidence->rows, sizeof want / sizeof *want);
  for (int64_t i = 0; i < r.evidence->rows; i++) {
    assert_int_equal(number(r.evidence, i, "finding"), want[i].finding);
    assert_string_equal(cell(r.evidence, i, "text"), want[i].text);
    assert_string_equal(cell(r.evidence, i, "table_name"), want[i].table);
    assert_int_equal(number(r.evidence, i, "row"), want[i].row);
    assert_int_equal(number(r.evidence, i, "start_ns"), want[i].start);
    assert_string_equal(cell(r.evidence, i, "name"), want[i].name);
  }
  assert_int_equal(number(r.evidence, 3, "device_id"), 0);
  result_free(&r);
}

/* Rows of one rule with one advice become one finding, with all subjects and the fact of each. */
TEST(same_advice_is_said_once) {
  struct result r = run("rules:\n"
                        "  - id: idle\n"
                        "    title: \"{{subject}} idle {{idle_pct}}\"\n"
                        "    title_many: \"{{subject}} idle up to {{idle_pct}}\"\n"
                        "    table: use\n"
                        "    severity: low\n"
                        "    saving: idle_ms\n    lower: []\n"
                        "    evidence: [\"{{subject}}: {{idle_pct}}\", more]\n"
                        "    why: w\n"
                        "    recommendation: r\n");
  assert_int_equal(r.findings->rows, 1);
  assert_string_equal(cell(r.findings, 0, "title"), "GPUs 0-2 idle up to 90.0 %");
  assert_string_equal(cell(r.findings, 0, "scope"), "GPUs 0-2");
  assert_int_equal(number(r.findings, 0, "device_id"), 2);
  assert_int_equal(r.evidence->rows, 4);
  assert_string_equal(cell(r.evidence, 0, "text"), "GPU 2: 90.0 %");
  assert_string_equal(cell(r.evidence, 1, "text"), "more");
  assert_string_equal(cell(r.evidence, 2, "text"), "GPU 0: 41.5 %");
  assert_string_equal(cell(r.evidence, 3, "text"), "GPU 1: 25.0 %");
  result_free(&r);
}

/* A finding shows the facts of its worst three; a rule has no more findings than its limit. */
TEST(limit_says_what_it_leaves_out) {
  struct result r = {.tables = make_tables()};
  add_use(r.tables.use, 3, 10, 0);
  add_use(r.tables.use, 4, 20, 0);
  struct nai_rule_set *set = compile("rules:\n" RULE(
      "idle",
      "    table: use\n    severity: low\n    saving: idle_ms\n    lower: []\n    evidence: [\"{{idle_ms}}\"]\n"));
  evaluate(&r, set);
  assert_int_equal(r.findings->rows, 1);
  assert_string_equal(cell(r.findings, 0, "gpus"), "2 0 1 4 3");
  assert_int_equal(number(r.findings, 0, "gpu_count"), 5);
  assert_int_equal(r.evidence->rows, 4);
  assert_string_equal(cell(r.evidence, 2, "text"), "25.0 ms");
  assert_string_equal(cell(r.evidence, 3, "text"), "and 2 more like it in table use");
  nai_rules_free(set);
  result_free(&r);
  r = run(
      "rules:\n  - {id: idle, title: t, why: \"{{idle_ms}}\", recommendation: r, table: use, severity: low, lower: [], saving: "
      "idle_ms, limit: 1}\n");
  assert_int_equal(r.findings->rows, 1);
  assert_string_equal(cell(r.evidence, 0, "text"), "and 2 more like it in table use");
  result_free(&r);
}

/* --- Prices: GPU 0 is idle for 41.5 of 100 ms, GPU 1 for 25, GPU 2 for 90 (table gpu_utilization). -- */

static void check_finding(const struct result *r, int64_t row, const char *id, const char *severity, int64_t saving_us,
                          const char *reason, const char *part_of) {
  assert_string_equal(cell(r->findings, row, "id"), id);
  assert_string_equal(cell(r->findings, row, "severity"), severity);
  assert_int_equal(number(r->findings, row, "saving_ns"), saving_us < 0 ? NAI_NULL_I64 : saving_us * 1000);
  assert_string_equal(cell(r->findings, row, "reason"), reason);
  assert_string_equal(cell(r->findings, row, "part_of"), part_of);
}

TEST(the_price_decides) {
  struct result r = run("rules:\n" RULE(
      "high", "    table: gpu_utilization\n    saving: idle_ns\n    saving_low: idle_ns / 2\n    saving_is: estimate\n")
                            RULE("medium", "    table: gpu_utilization\n    saving: 0.1 * idle_ns\n")
                                RULE("low", "    table: gpu_utilization\n    saving: idle_ns / 25\n")
                                    RULE("tiny", "    table: gpu_utilization\n    saving: idle_ns / 60\n")
                                        RULE("own", "    table: gpu_utilization\n    saving: idle_ns\n"
                                                    "    severity: {info: saving_pct >= 80}\n"));
  assert_int_equal(r.findings->rows, 4);
  check_finding(&r, 0, "high", "high", 90000, "", "");
  assert_int_equal(number(r.findings, 0, "saving_low_ns"), 45000000);
  assert_string_equal(cell(r.findings, 0, "saving_is"), "estimate");
  assert_string_equal(cell(r.findings, 1, "saving_is"), "bound");
  assert_string_equal(cell(r.findings, 0, "gpus"), "2 0 1");
  check_finding(&r, 1, "medium", "medium", 9000, "", "");
  assert_string_equal(cell(r.findings, 1, "gpus"), "2 0 1"); /* 4.15 and 2.5 % would be low: one finding, the worst's */
  check_finding(&r, 2, "low", "low", 3600, "", "");
  check_finding(&r, 3, "own", "info", 90000, "", "");
  result_free(&r);
}

/* No more than the loss, and no time twice: the larger claim comes first. */
TEST(losses_are_shared) {
  struct result r = run(
      "rules:\n" RULE(
          "large",
          "    table: gpu_utilization\n    saving: 0.7 * window_ns\n    explains: idle\n    where: device_id = 2\n")
          RULE(
              "small",
              "    table: gpu_utilization\n    saving: 0.6 * window_ns\n    explains: idle\n    where: device_id = 2\n")
              RULE("other", "    table: gpu_utilization\n    saving: 2 * window_ns\n    where: device_id = 2\n") RULE(
                  "capped",
                  "    table: gpu_utilization\n    saving: window_ns\n    explains: idle\n    where: device_id = 0\n"));
  assert_int_equal(r.findings->rows, 4);
  check_finding(&r, 0, "other", "high", 200000, "", "");
  check_finding(&r, 1, "large", "high", 70000, "", "");
  check_finding(&r, 2, "capped", "high", 41500, "", "");
  check_finding(&r, 3, "small", "high", 20000, "", "");
  result_free(&r);
}

TEST(parts_stay_below_the_whole) {
  struct result r =
      run("rules:\n" RULE("part", "    table: gpu_utilization\n    saving: idle_ns\n    part_of: whole\n")
              RULE("whole", "    table: gpu_utilization\n    saving: idle_ns / 2\n    where: device_id = 2\n"));
  assert_int_equal(r.findings->rows, 2);
  check_finding(&r, 0, "part", "high", 45000, "", ""); /* GPU 0 has no whole: high there */
  check_finding(&r, 1, "whole", "high", 45000, "", "");
  result_free(&r);
  r = run("rules:\n" RULE(
      "part", "    table: gpu_utilization\n    saving: idle_ns\n    part_of: whole\n    where: device_id = 2\n")
              RULE("whole", "    table: gpu_utilization\n    saving: idle_ns / 2\n    where: device_id = 2\n"));
  check_finding(&r, 1, "part", "medium", 45000, "part of whole", "whole");
  result_free(&r);
}

TEST(reasons_lower_severities) {
  static const char rules[] =
      "facts:\n  code: {table: causes, where: cause = 'host_code' and total_ms > 50}\n"
      "lower: [{when: fact.code, to: low, reason: \"as code runs {{saving_pct}}\"}, {when: saving_pct > 99, reason: never}]\n"
      "rules:\n" RULE("a", "    table: gpu_utilization\n    saving: idle_ns\n    where: device_id = 2\n")
          RULE("b",
               "    table: gpu_utilization\n    saving: idle_ns\n    where: device_id = 0\n") /* its code takes 30 ms */
      RULE(
          "c",
          "    table: gpu_utilization\n    saving: idle_ns / 2\n    where: device_id = 2\n    lower: [default, {reason: guessed}]\n")
          RULE("d", "    table: gpu_utilization\n    saving: idle_ns / 3\n    where: device_id = 2\n    lower: []\n");
  struct result r = run(rules);
  assert_int_equal(r.findings->rows, 4);
  check_finding(&r, 0, "b", "high", 41500, "", "");
  check_finding(&r, 1, "d", "high", 30000, "", "");
  check_finding(&r, 2, "a", "low", 90000, "as code runs 90.0 %", "");
  check_finding(&r, 3, "c", "info", 45000, "as code runs 45.0 %; guessed", "");
  result_free(&r);
}

/* Of a step of 1 ms: 9.5 % where a rule's bound is 90 %, 30 % where it is 3 %; a bound of 90 % where the rule's is 7 %;
 * nothing, give or take the model's error, where it is 50 %. */
static int simulate_three(void *ctx, struct nai_rules_simulated *out, const char *const *changes, uint32_t count,
                          struct nai_err *err) {
  static const struct nai_rules_simulated falls = {1000000, 50000, 95000, 98000, "step", "ok"},
                                          rises = {1000000, 250000, 300000, 340000, "step", "ok"},
                                          bound = {1000000, 850000, 900000, 940000, "step", "bound_only"},
                                          nothing = {1000000, 0, 2000, 42000, "step", "within_error", .most_ns = 3000};
  static const char *const expected[] = {"balance", "graphs", "", "balance", "no-profiler", "host 0.5"};
  (void)ctx, (void)err;
  assert_int_equal(count, 6);
  for (int i = 0; i < 6; i++)
    assert_string_equal(changes[i], expected[i]);
  out[0] = out[3] = falls;
  out[1] = nothing;
  out[4] = bound;
  out[5] = rises;
  return NAI_OK;
}

/* The severity moves only where all of the interval is beyond it, downwards by half. */
TEST(simulated_savings_decide) {
#define ON_GPU_2(id, saving, more) \
  RULE(id, "    table: gpu_utilization\n    where: device_id = 2\n    lower: []\n    saving: " saving "\n" more)
  static const char rules[] = "rules:\n" ON_GPU_2("nothing", "idle_ns / 2", "    simulate: graphs\n")
      ON_GPU_2("falls", "idle_ns", "    simulate: balance\n")
          ON_GPU_2("rises", "idle_ns / 30", "    simulate: host 0.5\n") ON_GPU_2("stays", "idle_ns / 10", "")
              ON_GPU_2("bound", "0.08 * idle_ns", "    simulate: no-profiler\n")
                  ON_GPU_2("whole", "idle_ns / 12", "    simulate: balance\n    simulates_part: true\n");
  simulate = simulate_three;
  struct result r = run(rules);
  simulate = NULL;
  assert_int_equal(r.findings->rows, 6);
  check_finding(&r, 5, "nothing", "low", 45000, "likely less than 4 % of a step in a simulation", "");
  check_finding(&r, 0, "rises", "high", 3000, "", "");
  check_finding(&r, 1, "falls", "medium", 90000, "at most 10 % of a step in a simulation", "");
  check_finding(&r, 2, "stays", "medium", 9000, "", "");
  check_finding(&r, 3, "whole", "medium", 7500, "", "");
  check_finding(&r, 4, "bound", "medium", 7200, "", "");
  assert_int_equal(number(r.findings, 1, "simulated_ns"), 95000);
  assert_int_equal(number(r.findings, 2, "simulated_ns"), NAI_NULL_I64);
  result_free(&r);
}

/* Ten steps of 1 ms save 1 ms each where there are 7.2 ms to save, 0.7 ms each; the third is a loss. */
static int simulate_too_much(void *ctx, struct nai_rules_simulated *out, const char *const *changes, uint32_t count,
                             struct nai_err *err) {
  (void)ctx, (void)err, (void)changes;
  assert_int_equal(count, 3);
  for (uint32_t i = 0; i < count; i++) {
    bool loss = strcmp(changes[i], "no-profiler") == 0;
    int64_t ns = loss ? -50000 : strcmp(changes[i], "balance") == 0 ? 1000000 : 700000;
    out[i] = (struct nai_rules_simulated){.now_ns = 1000000,
                                          .low_ns = ns,
                                          .ns = ns,
                                          .high_ns = ns,
                                          .most_ns = ns,
                                          .of = "step",
                                          .state = loss ? "bound_only" : "ok",
                                          .covered_ns = 10000000};
  }
  return NAI_OK;
}

TEST(what_was_simulated_stays_below_its_bound) {
  static const char rules[] = "rules:\n" ON_GPU_2("much", "0.08 * idle_ns", "    simulate: balance\n")
      ON_GPU_2("loss", "0.07 * idle_ns", "    simulate: no-profiler\n")
          ON_GPU_2("some", "0.08 * idle_ns", "    simulate: graphs\n");
  simulate = simulate_too_much;
  struct result r = run(rules);
  simulate = NULL;
  for (int64_t i = 0; i < 3; i++) {
    const char *id = nai_get_str(r.findings, i, FINDINGS_id);
    bool some = strcmp(id, "some") == 0;
    assert_int_equal(number(r.findings, i, "simulated_ns"), some ? 700000 : NAI_NULL_I64);
    assert_string_equal(nai_get_str(r.findings, i, FINDINGS_severity), some ? "high" : "medium");
  }
  result_free(&r);
}

TEST(facts_select_and_silence) {
  struct result r = run(
      "facts:\n  waits: {table: causes, where: cause = 'dependency'}\n  never: {table: sync, where: pid = 1}\n"
      "rules:\n  - id: idle\n    title: t\n    table: use\n    place: \"GPU {{device_id}}\"\n    severity: low\n    why: w\n    when: not fact.never\n"
      "    recommendation: [{when: fact.waits, text: follow}, {else: look}]\n" RULE(
          "silent", "    table: use\n    severity: low\n    when: fact.never\n"));
  assert_int_equal(r.findings->rows, 2); /* the fact is about GPU 1 */
  assert_string_equal(cell(r.findings, 0, "scope"), "GPUs 0, 2");
  assert_string_equal(cell(r.findings, 0, "title"), "t: GPU 0 and others");
  assert_string_equal(cell(r.findings, 0, "recommendation"), "look");
  assert_string_equal(cell(r.findings, 1, "title"), "t: GPU 1");
  assert_string_equal(cell(r.findings, 1, "scope"), "GPU 1");
  assert_string_equal(cell(r.findings, 1, "recommendation"), "follow");
  result_free(&r);
}

TEST(sums_and_leaders) {
  struct result r = run("rules:\n" RULE(
      "a",
      "    table: gpu_utilization\n    saving: idle_ns\n    where: device_id = 0\n") "  - id: b\n    title: \"{{all.total_ms}} of {{none.total_ms}}\"\n    why: w\n    recommendation: r\n"
                                                                                     "    table: gpu_utilization\n    where: device_id = 0\n    first: true\n    place: here\n    severity: info\n"
                                                                                     "    with:\n      all: {sum: causes, where: device_id = this.device_id}\n"
                                                                                     "      none: {sum: causes, where: device_id = 77}\n");
  assert_int_equal(r.findings->rows, 2);
  assert_string_equal(cell(r.findings, 1, "id"), "b"); /* leads those of its severity only */
  assert_string_equal(cell(r.findings, 1, "title"), "40.0 ms of 0 ns");
  assert_string_equal(cell(r.findings, 1, "place"), "here");
  assert_int_equal(number(r.findings, 1, "leads"), 1);
  assert_int_equal(number(r.findings, 1, "saving_ns"), NAI_NULL_I64);
  result_free(&r);
}

TEST(unless_silences_per_subject) {
  struct result r =
      run("rules:\n" RULE("idle", "    table: use\n    severity: medium\n    unless: copy\n")
              RULE("wait", "    table: sync\n    severity: low\n    unless: [copy]\n")
                  RULE("copy", "    table: use\n    severity: {high: copy_pct >= 20}\n")
                      RULE("other", "    table: sync\n    scope: run\n    severity: info\n    unless: none\n")
                          RULE("none", "    table: use\n    where: idle_pct > 100\n    severity: high\n"));
  /* copy speaks about GPU 2: idle stays silent there only; wait is about processes, which may be on that GPU */
  assert_int_equal(r.findings->rows, 3);
  assert_string_equal(cell(r.findings, 0, "id"), "copy");
  assert_string_equal(cell(r.findings, 0, "scope"), "GPU 2");
  assert_string_equal(cell(r.findings, 1, "id"), "idle");
  assert_string_equal(cell(r.findings, 1, "scope"), "GPUs 0, 1");
  assert_string_equal(cell(r.findings, 2, "id"), "other");
  assert_string_equal(cell(r.findings, 2, "scope"), "run");
  assert_int_equal(number(r.findings, 2, "pid"), NAI_NULL_I64);
  result_free(&r);
}

TEST(unless_tells_processes_apart) {
  struct result r = run("rules:\n" RULE("a", "    table: sync\n    where: time_us > 600\n    severity: low\n")
                            RULE("b", "    table: sync\n    severity: low\n    unless: a\n"));
  assert_int_equal(r.findings->rows, 2);
  assert_string_equal(cell(r.findings, 0, "scope"), "process 145");
  assert_string_equal(cell(r.findings, 1, "id"), "b");
  assert_string_equal(cell(r.findings, 1, "scope"), "process 144");
  assert_int_equal(number(r.findings, 1, "pid"), 144);
  result_free(&r);
}

/* A rule is not silent for one that could save less; without a saving of both, it is. */
TEST(unless_hides_no_larger_saving) {
  struct result r = run(
      "rules:\n" RULE("said", "    table: gpu_utilization\n    saving: idle_ns / 2\n    severity: low\n    lower: []\n")
          RULE("larger",
               "    table: gpu_utilization\n    saving: idle_ns\n    severity: low\n    lower: []\n    unless: said\n")
              RULE(
                  "equal",
                  "    table: gpu_utilization\n    saving: idle_ns / 2\n    severity: low\n    lower: []\n    unless: said\n")
                  RULE("unpriced", "    table: gpu_utilization\n    severity: low\n    unless: said\n"));
  assert_int_equal(r.findings->rows, 2);
  assert_string_equal(cell(r.findings, 0, "id"), "larger");
  assert_string_equal(cell(r.findings, 1, "id"), "said");
  result_free(&r);
}

/* GPUs that are told apart by process carry that in their name. */
TEST(subjects_use_gpu_labels) {
  struct result r = {.tables = make_tables()};
  static const char *const labels[] = {"GPU 0", "GPU 0 (pid 9)"};
  for (int i = 0; i < 2; i++) {
    int64_t row = nai_table_add_row(r.tables.gpus);
    nai_set_i64(r.tables.gpus, row, GPUS_device_id, i);
    nai_set_str(r.tables.gpus, row, GPUS_label, labels[i]);
  }
  struct nai_rule_set *set = compile("rules:\n" RULE("idle", "    table: use\n    severity: low\n"));
  evaluate(&r, set);
  nai_rules_free(set);
  assert_string_equal(cell(r.findings, 0, "scope"), "GPU 0 (pid 9), GPUs 0, 2");
  result_free(&r);
}

/* --- Conditions ------------------------------------------------------------------------------- */

/* How many rows of table `use` meet the condition (written as YAML). */
static int64_t matches(const char *where) {
  char rules[1024];
  snprintf(rules, sizeof rules,
           "parameters: {p: 25}\nrules:\n  - {id: x, title: t, why: \"{{device_id}}\", recommendation: r, "
           "table: use, severity: low, where: %s}\n",
           where);
  struct result r = run(rules);
  int64_t rows = r.findings->rows;
  result_free(&r);
  return rows;
}

TEST(condition_values) {
  assert_int_equal(matches("true"), 3);
  assert_int_equal(matches("idle_pct >= 41.5"), 2);
  assert_int_equal(matches("idle_pct > 41.5"), 1);
  assert_int_equal(matches("idle_pct < 41.5 and device_id != 1"), 0);
  assert_int_equal(matches("idle_pct <= param.p"), 1);
  assert_int_equal(matches("idle_ms = 41.5"), 1); /* numbers compare in the unit they are printed in */
  assert_int_equal(matches("start_ns == 1002"), 1);
  assert_int_equal(matches("100 * idle_ms / window_ms >= 90"), 1);
  assert_int_equal(matches("idle_pct - copy_pct > 25"), 2);
  assert_int_equal(matches("idle_pct + 10 - 2 * 5 = 25"), 1);
  assert_int_equal(matches("device_id > -1"), 3);
  assert_int_equal(matches("idle_pct / copy_pct > 0"), 2); /* 41.5 / 0 is NULL and compares false */
  assert_int_equal(matches("idle_pct > 20 and idle_pct < 50"), 2);
  assert_int_equal(matches("idle_pct > 80 or idle_pct < 30"), 2);
  assert_int_equal(matches("not idle_pct > 80"), 2);
  assert_int_equal(matches("not (idle_pct > 80 or (idle_pct < 30 and copy_pct = 5))"), 1);
  assert_int_equal(matches("idle_pct between 20 and 50"), 2);
  assert_int_equal(matches("case when idle_pct > 80 then 1 else idle_pct > 41 end"), 2);
  assert_int_equal(matches("'max(idle_pct, copy_pct) >= 41.5'"), 2);
  /* a SELECT sees tables, and rows of the rule */
  assert_int_equal(matches("idle_pct = (select max(idle_pct) from use)"), 1);
  assert_int_equal(
      matches("exists (select 1 from causes c where c.device_id = this.device_id and c.cause = 'host_code')"), 2);
  assert_int_equal(matches("(select count(*) from causes where device_id = this.device_id and total_ms > param.p) > 0"),
                   2);
}

TEST(null_compares_false) {
  assert_int_equal(matches("pid = 0"), 0);
  assert_int_equal(matches("pid != 0"), 0);
  assert_int_equal(matches("pid is null"), 3);
  assert_int_equal(matches("pid is not null"), 0);
  assert_int_equal(matches("(pid = 0) is not true"), 3);
  assert_int_equal(matches("not pid = 0"), 0);
  assert_int_equal(matches("pid + 1 is null"), 3);
}

TEST(text_conditions) {
  struct result r =
      run("rules:\n  - {id: x, title: '{{api}}', why: '{{api}}', recommendation: r, table: sync, severity: "
          "low, where: \"contains(api, 'DEVICE') and api != 'x'\"}\n");
  assert_int_equal(r.findings->rows, 1);
  assert_string_equal(cell(r.findings, 0, "title"), "cudaDeviceSynchronize");
  result_free(&r);
}

/* A finding has a name, also where its rule has no words for it. */
TEST(titles_that_do_not_hold) {
  struct result r = run("rules:\n  - {id: x, title: [{when: pid < 0, text: never}], why: w, recommendation: r, table: "
                        "sync, severity: low}\n");
  assert_true(r.findings->rows > 0);
  assert_string_equal(cell(r.findings, 0, "title"), "x");
  result_free(&r);
}

/* A lookup without a row has NULL values, and text says so. */
TEST(missing_rows) {
  struct result r = run("rules:\n"
                        "  - id: x\n"
                        "    title: \"{{none.cause}} {{none.total_ms}}\"\n"
                        "    table: use\n"
                        "    with:\n"
                        "      none: {table: causes, where: gap_count > 1000}\n"
                        "    when: none.cause is null\n"
                        "    severity: {high: none.gap_count >= 0, info: true}\n"
                        "    evidence: [{at: none, text: never}]\n"
                        "    why: w\n"
                        "    recommendation: r\n");
  assert_int_equal(r.findings->rows, 1);
  assert_string_equal(cell(r.findings, 0, "title"), "n/a n/a");
  assert_string_equal(cell(r.findings, 0, "severity"), "info");
  assert_int_equal(r.evidence->rows, 0);
  result_free(&r);
}

/* --- Hostile text ----------------------------------------------------------------------------- */

TEST(shell_quotes_names) {
  struct result r = {.tables = make_tables()};
  r.tables.sync->rows = 0;
  add_sync(r.tables.sync, 1, "a'; rm -rf $(x) `y` {{api}}", 1);
  struct nai_rule_set *set = compile(
      "rules:\n  - {id: x, title: '{{api}}', why: '{{api}}', recommendation: 'call `{{api}}` {{api}}', table: sync, "
      "severity: low, verify: 'ncu -k {{api}}'}\n");
  evaluate(&r, set);
  nai_rules_free(set);
  assert_string_equal(cell(r.findings, 0, "title"), "a'; rm -rf $(x) `y` {{api}}"); /* not expanded again */
  assert_string_equal(cell(r.findings, 0, "why"), "<a'; rm -rf $(x) `y` {{api}}>");
  assert_string_equal(cell(r.findings, 0, "recommendation"),
                      "call `a'; rm -rf $(x) 'y' {{api}}` <a'; rm -rf $(x) `y` {{api}}>");
  assert_string_equal(cell(r.findings, 0, "verify"), "ncu -k 'a'\\''; rm -rf $(x) `y` {{api}}'");
  result_free(&r);
}

TEST(kernel_names_for_people_and_profilers) {
  struct result r = {.tables = make_tables()};
  r.tables.sync->rows = 0;
  add_sync(r.tables.sync, 1, "void at::native::<unnamed>::fill_kernel<(int)4, float>(T2 *, int)", 1);
  struct nai_rule_set *set =
      compile("rules:\n  - {id: x, title: '{{api|short}}', why: w, recommendation: r, table: sync, "
              "severity: low, verify: 'ncu -k {{ api|function }} f-1'}\n");
  evaluate(&r, set);
  nai_rules_free(set);
  assert_string_equal(cell(r.findings, 0, "title"), "fill_kernel<4, float>");
  assert_string_equal(cell(r.findings, 0, "verify"), "ncu -k fill_kernel f-1");
  result_free(&r);
}

/* Items of a Markdown list stay together, paragraphs apart. */
TEST(texts_are_joined) {
  struct result r =
      run("rules:\n  - {id: x, title: t, why: [a, b], recommendation: ['- a', '- b', c, '- d'], table: sync, "
          "severity: low, scope: run, verify: [a, b]}\n");
  assert_string_equal(cell(r.findings, 0, "why"), "a\n\nb");
  assert_string_equal(cell(r.findings, 0, "recommendation"), "- a\n- b\n\nc\n\n- d");
  assert_string_equal(cell(r.findings, 0, "verify"), "a\nb");
  result_free(&r);
}

/* Evidence items of one rule may look at different tables. */
TEST(evidence_from_several_tables) {
  struct result r = run("rules:\n"
                        "  - id: x\n    title: t\n    why: w\n    recommendation: r\n    table: use\n"
                        "    where: device_id = 0\n    severity: low\n"
                        "    evidence:\n"
                        "      - {for: {table: causes, where: device_id = this.device_id}, text: \"{{cause}}\"}\n"
                        "      - {for: {table: sync, order: time_us desc, limit: 1}, \n"
                        "         text: [\"{{api}} {{time_us}}\", {when: time_us > 600, text: slow}, {else: fast}]}\n");
  assert_int_equal(r.evidence->rows, 3);
  assert_string_equal(cell(r.evidence, 0, "text"), "host_sync");
  assert_string_equal(cell(r.evidence, 1, "text"), "host_code");
  assert_string_equal(cell(r.evidence, 2, "text"), "cudaDeviceSynchronize 900.0 µs; slow");
  assert_int_equal(number(r.evidence, 2, "pid"), 145);
  assert_int_equal(number(r.evidence, 2, "tid"), 146);
  result_free(&r);
}

TEST(long_names_are_cut) {
  struct result r = {.tables = make_tables()};
  char name[5001];
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  r.tables.sync->rows = 0;
  add_sync(r.tables.sync, 1, name, 1);
  struct nai_rule_set *set =
      compile("rules:\n  - {id: x, title: '{{api}}', why: w, recommendation: r, table: sync, severity: "
              "low}\n");
  evaluate(&r, set);
  nai_rules_free(set);
  assert_int_equal(strlen(cell(r.findings, 0, "title")), 243);
  result_free(&r);
}

/* --- Mistakes --------------------------------------------------------------------------------- */

static void refused(const char *rules, const char *message) {
  struct nai_rule_set *set = NULL;
  struct nai_err err = {0};
  int rc = nai_rules_parse(&set, "r.yaml", rules, strlen(rules), schemas, SCHEMAS, &err);
  if (rc == 0)
    fail_msg("accepted, expected: %s", message);
  assert_int_equal(rc, NAI_EUSAGE);
  assert_null(set);
  assert_string_equal(err.msg, message);
}

/* The rest of a rule on table use whose line 3 is given. */
#define ON_USE(line) "rules:\n  - {id: x, title: t, why: w, recommendation: r, table: use,\n     " line "}\n"

TEST(mistakes_in_structure) {
  refused("rules: {}\n", "r.yaml:1:8: \"rules\": expected a list, got a map");
  refused("rulez: []\n", "r.yaml:1:1: unknown key \"rulez\"; did you mean \"rules\"?");
  refused("parameters: {a: high}\n", "r.yaml:1:17: \"a\": expected a number, got \"high\"");
  refused("rules: [{title: x}]\n", "r.yaml:1:9: \"id\" is missing");
  refused("rules: [{id: X y}]\n", "r.yaml:1:14: an id is made of a-z, 0-9 and -, 64 characters at most");
  refused("rules: [{id: x}]\n", "r.yaml:1:9: \"table\" is missing");
  refused("rules:\n" RULE("x", "    table: use\n    severity: low\n") RULE("x", "    table: use\n    severity: low\n"),
          "r.yaml:8:9: duplicate id \"x\" (first on line 2)");
  refused("rules: [{id: x, table: usd}]\n", "r.yaml:1:24: unknown table \"usd\"; did you mean \"use\"?");
  refused(ON_USE("wher: 1"), "r.yaml:3:6: unknown key \"wher\"; did you mean \"where\"?");
  refused(ON_USE("where: true"), "r.yaml:2:5: \"severity\" or \"saving\" is missing");
  refused(ON_USE("severity: urgent"), "r.yaml:3:16: expected one of info, low, medium, high");
  refused(ON_USE("severity: {hihg: true}"), "r.yaml:3:17: unknown key \"hihg\"; did you mean \"high\"?");
  refused(ON_USE("saving: idle_pct"), "r.yaml:3:14: \"saving\" needs a duration");
  refused(ON_USE("saving: idle_ms, impact: idle_ms"), "r.yaml:3:23: \"impact\" and \"saving\" exclude each other");
  refused(ON_USE("severity: low, explains: idle"), "r.yaml:3:21: \"explains\" needs a \"saving\"");
  refused(ON_USE("saving: idle_ms, share_of: window"), "r.yaml:3:23: \"share_of\" needs a \"base\"");
  refused(ON_USE("saving: idle_ms, explains: idel"), "r.yaml:3:33: unknown loss \"idel\"; did you mean \"idle\"?");
  refused(ON_USE("saving: idle_ms, part_of: y"), "r.yaml:3:32: unknown rule \"y\"; did you mean \"x\"?");
  refused(ON_USE("saving: idle_ms, lower: [{to: low}]"), "r.yaml:3:31: \"reason\" is missing");
  refused(ON_USE("saving: idle_ms, lower: [{reason: r, to: lwo}]"),
          "r.yaml:3:47: expected one of info, low, medium, high");
  refused(ON_USE("severity: low, when: fact.nothing"), "r.yaml:3:32: unknown fact \"nothing\"");
  refused("facts: {some: {table: use, where: idle_pct > 1}}\n" ON_USE("severity: low, when: fact.sone"),
          "r.yaml:4:32: unknown fact \"sone\"; did you mean \"some\"?");
  refused("facts: {some: {table: use, wher: 1}}\n" ON_USE("severity: low"),
          "r.yaml:1:28: unknown key \"wher\"; did you mean \"where\"?");
  refused("facts: {a: {table: use}, b: {table: use, where: fact.a}}\n" ON_USE("severity: low"),
          "r.yaml:1:49: a fact names no other fact");
  refused(ON_USE("severity: low, with: {s: {sum: causes}}, when: s.cause = 'x'"),
          "r.yaml:3:55: a sum has numbers only");
  refused(ON_USE("severity: low, saving: idle_pct"), "r.yaml:3:29: \"saving\" needs a duration");
  refused(ON_USE("severity: low, scope: gpus"), "r.yaml:3:28: expected one of run, gpu, process");
  refused(ON_USE("severity: low, device: window_ms"), "r.yaml:3:29: \"device\" needs a column that holds an id");
  refused(ON_USE("severity: low, limit: 0"), "r.yaml:3:28: \"limit\": 0 is not within 1..1000");
  refused(ON_USE("severity: low, links: a b"), "r.yaml:3:28: a link holds no spaces");
  refused(ON_USE("severity: low, unless: [y-rule]"), "r.yaml:3:30: unknown rule \"y-rule\"");
  refused(ON_USE("severity: low, unless: x"),
          "r.yaml:2:5: rule \"x\" is part of or depends on a cycle of \"unless\" or \"part_of\"");
  refused("rules: [{id: y, disabled: true}]\n", "r.yaml:1:14: unknown rule \"y\"");
  refused(ON_USE("with: {param: {table: causes}}"), "r.yaml:3:13: \"param\" has a meaning of its own");
  refused(ON_USE("with: {c: {table: causes, order: total_ms down}}"),
          "r.yaml:3:48: unknown column \"down\" of table \"causes\"");
  refused(ON_USE("with: {c: {table: causes, order: total}}"),
          "r.yaml:3:39: unknown column \"total\" of table \"causes\"");
  refused(ON_USE("severity: low, evidence: [{at: cc, text: x}], with: {c: {table: causes}}"),
          "r.yaml:3:37: unknown row \"cc\"; did you mean \"c\"?");
}

TEST(mistakes_in_conditions) {
  refused(ON_USE("where: idle_pc > 1"),
          "r.yaml:3:13: unknown column \"idle_pc\" of table \"use\"; did you mean \"idle_pct\"?");
  refused(ON_USE("where: 20 < idle_pct and idle_pct <= idle_ms"), "r.yaml:3:43: percent and ms do not go together");
  refused(ON_USE("where: idle_ms + idle_pct > 1"), "r.yaml:3:23: ms and percent do not go together");
  refused(ON_USE("where: idle_pct > 'x'"), "r.yaml:3:13: a text and a number do not go together");
  refused(ON_USE("where: idle_pct >"), "r.yaml:3:13: near \")\": syntax error");
  refused(ON_USE("where: idle_pct > 1 or andd idle_pct < 2"), "r.yaml:3:29: unknown column \"andd\" of table \"use\"");
  refused(ON_USE("where: idle_pct > 1 is is 2"), "r.yaml:3:26: near \"is\": syntax error");
  refused(ON_USE("where: random() > 1"), "r.yaml:3:13: not authorized to use function: random");
  refused(ON_USE("where: 1) or (1"), "r.yaml:3:14: \")\" without \"(\"");
  refused(ON_USE("where: (1"), "r.yaml:3:15: missing closing )");
  refused(ON_USE("where: 1; select 2"), "r.yaml:3:14: unexpected sign");
  refused(ON_USE("where: 1 -- all"), "r.yaml:3:15: comments belong to YAML");
  refused(ON_USE("where: idle_pct in (select idle from use)"), "r.yaml:3:33: no such column: idle");
  /* whole numbers: 99 / 100 is 0 */
  refused(ON_USE("where: device_id / window_ns > 1"),
          "r.yaml:3:25: SQL drops the fraction of a quotient of whole numbers: write 1.0 * in front");
  refused("parameters: {wait_us: 5}\n" ON_USE("where: idle_ms > param.wait_us"),
          "r.yaml:4:23: ms and us do not go together");
  refused(ON_USE("saving: idle_ms, severity: {low: saving > 5}"),
          "r.yaml:3:39: a time that is compared says its unit: saving_ms");
  refused(ON_USE("where: idle_pct > nan"), "r.yaml:3:24: unknown column \"nan\" of table \"use\"");
  refused(ON_USE("where: idle_pct > param.q"), "r.yaml:3:30: unknown parameter \"q\"");
  refused(ON_USE("where: caus.cause = 'x', severity: low, with: {cause: {table: causes}}"),
          "r.yaml:3:13: unknown row \"caus\"");
  refused(ON_USE("when: caus.cause = 'x', with: {cause: {table: causes}}"),
          "r.yaml:3:12: unknown row \"caus\"; did you mean \"cause\"?");
  refused(ON_USE("when: cause.cause + 'x' = 'y', with: {cause: {table: causes}}"),
          "r.yaml:3:12: texts cannot be calculated with");
  refused(ON_USE("when: \"cause.cause = 'x\", with: {cause: {table: causes}}"), "r.yaml:3:27: missing closing '");
}

/* Of each row that meets `where`: what it fails, with the values, or that it speaks. */
TEST(says_why) {
  static const char rules[] =
      "parameters: {least: 30}\nrules:\n  - {id: x, title: t, why: w, recommendation: r, table: use, where: device_id != 1, "
      "when: idle_pct > param.least and cause.gap_count < 3, severity: low, with: {cause: {table: causes, where: "
      "device_id = this.device_id, order: total_ms desc}}}\n  - {id: y, title: t, why: w, recommendation: r, table: use, "
      "severity: {high: idle_pct > 95}}\n  - {id: z, title: t, why: w, recommendation: r, table: use, unless: x, severity: low}\n";
  struct tables t = make_tables();
  struct nai_rule_set *set = compile(rules);
  struct nai_err err;
  const struct nai_table *const tables[] = {t.use, t.causes};
  const struct nai_rules_input input = {tables, 2, NULL};
  struct nai_buf text = {0};
  assert_int_equal(nai_rules_why(&text, set, "x", &input, &err), 0);
  assert_string_equal(
      nai_buf_str(&text),
      "x: table use has 3 rows, 2 meet `where`: device_id != 1\n"
      "  row 0 (GPU 0): does not meet `when`: idle_pct > param.least and cause.gap_count < 3 (idle_pct 41.5 %, "
      "param.least 30, cause.gap_count 7)\n"
      "  row 2 (GPU 2): speaks, low\n");
  nai_buf_clear(&text);
  assert_int_equal(nai_rules_why(&text, set, "y", &input, &err), 0);
  assert_non_null(
      strstr(nai_buf_str(&text),
             "row 0 (GPU 0): meets no condition of `severity`:\n    high: idle_pct > 95 (idle_pct 41.5 %)\n"));
  nai_buf_clear(&text);
  assert_int_equal(nai_rules_why(&text, set, "z", &input, &err), 0);
  assert_non_null(strstr(nai_buf_str(&text), "row 2 (GPU 2): silent, because x speaks\n"));
  assert_non_null(strstr(nai_buf_str(&text), "row 1 (GPU 1): speaks, low"));
  assert_int_equal(nai_rules_why(&text, set, "q", &input, &err), NAI_EUSAGE);
  nai_buf_free(&text);
  nai_rules_free(set);
  free_tables(&t);
}

/* A rule that never ends is told by its place, once: no other row or rule is tried. */
TEST(endless_conditions) {
  static const char rules[] =
      "rules:\n  - {id: x, title: t, why: w, recommendation: r, table: use, severity: low, where:\n"
      "      (select count(*) from use a join use b join use c join use d join use e join use f join use g join use h "
      "join use i join use j join use k join use l join use m join use n join use o join use p join use q join use r "
      "join use s join use t join use u) > 0}\n";
  struct tables t = make_tables();
  struct nai_rule_set *set = compile(rules);
  struct nai_err err;
  const struct nai_table *const tables[] = {t.use};
  const struct nai_rules_input input = {tables, 1, NULL};
  struct nai_table *findings, *evidence;
  assert_int_equal(nai_rules_evaluate(&findings, &evidence, set, &input, &err), NAI_EUSAGE);
  assert_string_equal(err.msg, "r.yaml:3:7: took too many steps: a rule compares few rows with few");
  nai_rules_free(set);
  free_tables(&t);
}

/* Files that were written before conditions were SQL are told what to write. */
TEST(old_conditions) {
  refused(ON_USE("where: [idle_pct > 1, {any: [idle_pct < 2, {not: pid is null}]}]"),
          "r.yaml:3:13: conditions are SQL: write \"(idle_pct > 1 and (idle_pct < 2 or (pid is null) is not true))\"");
  refused(ON_USE("when: cause.cause contains 'x' and idle_pct > 1, with: {cause: {table: causes}}"),
          "r.yaml:3:12: conditions are SQL: write \"contains(cause.cause, 'x') and idle_pct > 1\"");
}

TEST(mistakes_in_texts) {
#define TITLE(text) "rules:\n  - {id: x, why: w, recommendation: r, table: use, severity: low,\n     title: " text "}\n"
  refused(TITLE("'{{idle_pct'"), "r.yaml:3:14: \"{{\" without \"}}\"");
  refused(TITLE("'a {{ idel_ms }}'"),
          "r.yaml:3:19: unknown column \"idel_ms\" of table \"use\"; did you mean \"idle_ms\"?");
  refused(TITLE("'{{idle_ms|function}}'"), "r.yaml:3:16: a filter needs a text column");
  refused(TITLE("'{{idle_ms|gaps}}'"), "r.yaml:3:16: a noun needs a count to go with");
  refused(
      "rules:\n  - {id: x, why: w, recommendation: r, table: causes, severity: low,\n     title: '{{gap_count|gap}}'}\n",
      "r.yaml:3:16: expected a noun in the plural, such as calls");
  refused(
      "rules:\n  - {id: x, why: w, recommendation: r, table: causes, severity: low,\n     title: '{{cause|shrt}}'}\n",
      "r.yaml:3:16: unknown filter: a text has short and function");
  refused(TITLE("[{when: true}]"), "r.yaml:3:14: expected {when: ..., text: ...} or {else: ...}");
  refused(TITLE("[{else: a, text: b}]"), "r.yaml:3:14: expected {when: ..., text: ...} or {else: ...}");
  refused(TITLE(""), "r.yaml:3:13: \"title\": expected text, got nothing");
  refused(
      ON_USE("severity: low, simulate: faster"),
      "r.yaml:3:31: \"faster\" is no change; they begin with remove-wait, remove-wait-at, kernel, copy, copy-at, pinned, own-stream, own-stream-comm, more-in-flight, fuse, graphs, call, host, "
      "no-profiler or balance");
  refused(ON_USE("severity: low, simulate: kernel gemm"),
          "r.yaml:3:31: kernel gemm: a factor of the duration (=0.55), a speed-up (=1.8x) or a range of factors "
          "(=0.5..0.7) stands at the end");
}

/* --- Files, parameters, descriptions ---------------------------------------------------------- */

static char *write_file(const char *text) {
  char *path = strdup("/tmp/nai-rules-XXXXXX");
  assert_non_null(path);
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  return path;
}

TEST(parameters_can_be_set) {
  struct result r = {.tables = make_tables()};
  struct nai_rule_set *set = compile(idle_rule);
  struct nai_err err = {0};
  assert_int_equal(nai_rules_set_parameter(set, "medium", 41, &err), 0);
  assert_int_equal(nai_rules_set_parameter(set, "medum", 41, &err), NAI_EUSAGE);
  assert_int_equal(nai_rules_set_parameter(set, "high", 0.0 / 0.0, &err), NAI_EUSAGE);
  evaluate(&r, set);
  assert_int_equal(r.findings->rows, 2);
  nai_rules_free(set);
  result_free(&r);
}

TEST(describes_rules) {
  struct nai_rule_set *set = compile(idle_rule);
  struct nai_err err = {0};
  struct nai_buf text = {0};
  nai_rules_list(&text, set);
  assert_string_equal(nai_buf_str(&text), "idle  high/medium      use  ... idle ... (...), limit ... %\n");
  nai_buf_clear(&text);
  assert_int_equal(nai_rules_explain(&text, set, "idle", &err), 0);
  assert_non_null(strstr(text.data, "idle (r.yaml, line 3)\nreads table \"use\": One GPU\nseverities: high/medium\n"));
  assert_non_null(strstr(text.data, "parameters:\n  high = 40\n  medium = 20\n"));
  assert_non_null(strstr(text.data, "with:\n  cause:\n    table: causes\n"));
  assert_int_equal(nai_rules_explain(&text, set, "idel", &err), NAI_EUSAGE);
  assert_string_equal(err.msg, "unknown rule \"idel\"; did you mean \"idle\"?");
  assert_int_equal(nai_rules_count(set), 1);
  nai_buf_free(&text);
  nai_rules_free(set);
}

TEST(missing_rule_file) {
  char *path = write_file("rules: [\n");
  const char *paths[] = {path, "/nonexistent"};
  struct nai_rule_set *set = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_rules_load(&set, paths, 1, schemas, SCHEMAS, &err), NAI_EUSAGE);
  assert_non_null(strstr(err.msg, ":2:1: did not find expected node content"));
  assert_int_equal(nai_rules_load(&set, paths + 1, 1, schemas, SCHEMAS, &err), NAI_EUSAGE);
  assert_null(set);
  unlink(path);
  free(path);
}
