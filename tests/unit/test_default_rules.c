/* The built-in rules against the tables the program really makes, and rule files of a user on top of them. */
#include "analyses/analysis.h"
#include "ingest/ingest.h"
#include "rules/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct nai_schema *catalogue[256];
static size_t catalogue_count;

static int make_catalogue(void **state) {
  (void)state;
  for (size_t i = 0; nai_analyses[i]; i++)
    for (size_t j = 0; nai_analyses[i]->schemas[j]; j++)
      catalogue[catalogue_count++] = nai_analyses[i]->schemas[j];
  for (size_t i = 0; i < NAI_IN_COUNT; i++)
    catalogue[catalogue_count++] = nai_event_tables[i];
  return 0;
}

/* The built-in rules, with `text` as a user's rule file (may be NULL). */
static int load(struct nai_rule_set **out, const char *text, struct nai_err *err) {
  char path[] = "/tmp/nai-rules-XXXXXX";
  const char *paths[] = {path};
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  if (text)
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  int rc = nai_rules_load(out, paths, text != NULL, catalogue, catalogue_count, err);
  unlink(path);
  return rc;
}

static const char *const ids[] = {"copy-bound",          "exposed-communication", "gpu-idle",
                                  "launch-storm",        "blocking-sync",         "gpu-imbalance",
                                  "dominant-kernel",     "pageable-copies",       "small-copies",
                                  "phase-dominates",     "low-nvtx-coverage",     "no-nvtx",
                                  "graph-envelope-only", "profiler-overhead",     "trace-health"};
enum { IDS = sizeof ids / sizeof *ids };

static void all_findings_are_there_and_documented(void **state) {
  (void)state;
  struct nai_rule_set *set = NULL;
  struct nai_err err = {0};
  if (load(&set, NULL, &err))
    fail_msg("%s", err.msg);
  assert_int_equal(nai_rules_count(set), IDS);
  const char *root = getenv("NAI_SOURCE_DIR");
  for (size_t i = 0; i < IDS; i++) {
    struct nai_buf text = {0};
    char path[512];
    if (nai_rules_explain(&text, set, ids[i], &err))
      fail_msg("%s", err.msg);
    snprintf(path, sizeof path, "links: docs/root-causes/%s.md\n", ids[i]);
    assert_non_null(strstr(text.data, path));
    snprintf(path, sizeof path, "%s/docs/root-causes/%s.md", root ? root : ".", ids[i]);
    if (root && access(path, R_OK) != 0)
      fail_msg("%s is missing", path);
    nai_buf_free(&text);
  }
  nai_rules_free(set);
}

/* One GPU with the given shares of a window of 100 ms. */
static struct nai_table *utilization(double compute_pct, double copy_pct) {
  const struct nai_schema *schema = NULL;
  struct nai_table *table = NULL;
  for (size_t i = 0; i < catalogue_count; i++)
    if (strcmp(catalogue[i]->name, "gpu_utilization") == 0)
      schema = catalogue[i];
  assert_int_equal(nai_table_new(&table, schema, NULL), 0);
  int64_t row = nai_table_add_row(table);
  const struct {
    const char *name;
    double value;
  } cells[] = {{"device_id", 3},
               {"window_ns", 1e8},
               {"idle_ns", (100 - compute_pct - copy_pct) * 1e6},
               {"exposed_copy_ns", copy_pct * 1e6},
               {"compute_pct", compute_pct},
               {"exposed_copy_pct", copy_pct},
               {"idle_pct_of_window", 100 - compute_pct - copy_pct}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    int column = nai_schema_column(schema, cells[i].name);
    assert_true(column >= 0);
    if (schema->columns[column].type == NAI_F64)
      nai_set_f64(table, row, column, cells[i].value);
    else
      nai_set_i64(table, row, column, (int64_t)cells[i].value);
  }
  return table;
}

/* "id/severity id/severity ..." for one GPU under the built-in rules and a user's. */
static char *findings_of(const char *user_rules, double compute_pct, double copy_pct) {
  struct nai_rule_set *set = NULL;
  struct nai_table *findings = NULL, *evidence = NULL, *table = utilization(compute_pct, copy_pct);
  struct nai_err err = {0};
  struct nai_buf text = {0};
  const struct nai_table *const tables[] = {table};
  const struct nai_rules_input input = {.tables = tables, .table_count = 1};
  if (load(&set, user_rules, &err) || nai_rules_evaluate(&findings, &evidence, set, &input, &err))
    fail_msg("%s", err.msg);
  for (int64_t i = 0; i < findings->rows; i++)
    nai_buf_printf(&text, "%s%s/%s", i ? " " : "", nai_get_str(findings, i, 1), nai_get_str(findings, i, 3));
  nai_table_free(findings);
  nai_table_free(evidence);
  nai_table_free(table);
  nai_rules_free(set);
  return text.data ? text.data : strdup("");
}

static void finds(const char *user_rules, double compute_pct, double copy_pct, const char *expected) {
  char *got = findings_of(user_rules, compute_pct, copy_pct);
  assert_string_equal(got, expected);
  free(got);
}

static void thresholds_are_inclusive(void **state) {
  (void)state;
  finds(NULL, 80.5, 0, "");
  finds(NULL, 80, 0, "gpu-idle/medium");
  finds(NULL, 60, 0, "gpu-idle/high");
  finds(NULL, 81, 19, "");
  finds(NULL, 80, 20, "copy-bound/medium");
  finds(NULL, 60, 40, "copy-bound/high");
}

/* A copy-bound GPU gets no advice about idle time, however idle it is. */
static void copy_bound_silences_idle(void **state) {
  (void)state;
  finds(NULL, 10, 20, "copy-bound/medium");
  finds(NULL, 10, 19, "gpu-idle/high");
}

static void user_files_change_the_rules(void **state) {
  (void)state;
  finds("parameters: {gpu_idle_high: 95}\n", 10, 0, "gpu-idle/medium");
  finds("rules: [{id: gpu-idle, disabled: true}]\n", 10, 0, "");
  finds("rules: [{id: copy-bound, disabled: true}]\n", 10, 50, "gpu-idle/high");
  finds("rules: [{id: gpu-idle, title: t, why: w, recommendation: r, table: gpu_utilization, severity: info}]\n", 99, 0,
        "gpu-idle/info");
  finds(
      "rules: [{id: mine, title: t, why: w, recommendation: r, table: gpu_utilization, severity: low, where: compute_pct > "
      "param.mine}]\nparameters: {mine: 98}\n",
      99, 0, "mine/low");
}

static void mistakes_name_the_users_file(void **state) {
  (void)state;
  struct nai_rule_set *set = NULL;
  struct nai_err err = {0};
  assert_int_equal(load(&set, "rules: [{id: gpu-idel, disabled: true}]\n", &err), NAI_EUSAGE);
  assert_non_null(strstr(err.msg, ":1:14: unknown rule \"gpu-idel\"; did you mean \"gpu-idle\"?"));
  assert_int_equal(load(&set, "rules: [{id: x, table: gpu_utilisation}]\n", &err), NAI_EUSAGE);
  assert_non_null(strstr(err.msg, ":1:24: unknown table \"gpu_utilisation\"; did you mean \"gpu_utilization\"?"));
  assert_null(set);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_findings_are_there_and_documented),
      cmocka_unit_test(thresholds_are_inclusive),
      cmocka_unit_test(copy_bound_silences_idle),
      cmocka_unit_test(user_files_change_the_rules),
      cmocka_unit_test(mistakes_name_the_users_file),
  };
  return cmocka_run_group_tests(tests, make_catalogue, NULL);
}
