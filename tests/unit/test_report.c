/* What templates see of tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/report.h"
#include "table/columns.h"

#include <string.h>

enum { RANGE, KERNEL, PROCESS, TIME, DEVICE };
static const struct nai_column_def columns[] = {
    [RANGE] = NAI_RANGE_NAME_COLUMN("range_name", "a range"),
    [KERNEL] = NAI_KERNEL_NAME_COLUMN("kernel_name", "a kernel"),
    [PROCESS] = NAI_LABEL_COLUMN("process_name", "a process"),
    [TIME] = NAI_TIME_COLUMN("total_time_ns", "a time"),
    [DEVICE] = NAI_DEVICE_COLUMN("a GPU"),
};
static const struct nai_schema schema = NAI_SCHEMA("things", "Things", "A thing", columns);

static const char *text_of(const struct nai_view *map, const char *key) {
  const struct nai_view *text = nai_view_get(map, key, strlen(key));
  assert_non_null(text);
  assert_int_equal(text->kind, NAI_VIEW_TEXT);
  return text->text;
}

static struct nai_table *things(void) {
  static const char *const names[] = {"train::step(3)::forward", "train::step(4)::forward",
                                      "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"};
  struct nai_table *table = NULL;
  assert_int_equal(nai_table_new(&table, &schema, NULL), 0);
  for (int i = 0; i < 3; i++) {
    int64_t row = nai_table_add_row(table);
    nai_set_str(table, row, RANGE, names[i]);
    nai_set_str(table, row, KERNEL, "void at::native::fill_kernel<float>(float *, int)");
    nai_set_str(table, row, PROCESS, names[i]);
    nai_set_i64(table, row, TIME, 136355595);
  }
  assert_int_equal(nai_table_check(table, NULL), 0);
  return table;
}

/* Names of ranges and processes are no C++: what is in brackets tells them apart. */
static void test_only_kernel_names_are_shortened(void **state) {
  (void)state;
  struct nai_table *table = things();
  const struct nai_table *const tables[] = {table};
  const struct nai_report report = {.tables = tables, .table_count = 1, .version = "x", .top = 10};
  struct nai_view *root = nai_report_view(&report, 10, true);
  assert_int_equal(nai_view_check(root, NULL), 0);
  const struct nai_view *all = nai_view_get(root, "tables", 6), *shown = nai_view_get(all, "things", 6);
  const struct nai_view *row = nai_view_get(shown, "rows", 4)->first;
  for (int64_t i = 0; i < 3; i++, row = row->next) {
    assert_string_equal(text_of(row, "range_name_short"), nai_get_str(table, i, RANGE));
    assert_string_equal(text_of(row, "process_name_short"), nai_get_str(table, i, PROCESS));
    assert_string_equal(text_of(row, "kernel_name_short"), "fill_kernel<float>");
    assert_string_equal(text_of(row, "total_time_ms"), "136.4\xc2\xa0ms"); /* by the name that outputs show */
    assert_null(nai_view_get(row, "total_time_ns", 13));
    assert_null(nai_view_get(row, "gpu_label", 9));
  }
  nai_view_free(root);
  nai_table_free(table);
}

enum { SEVERITY, TITLE, SCOPE, PLACE, AT_STAKE, PCT, REASON, PART_OF, SHARE_OF };
static const struct nai_column_def finding_columns[] = {
    [SEVERITY] = NAI_LABEL_COLUMN("severity", "how bad"),  [TITLE] = NAI_LABEL_COLUMN("title", "what"),
    [SCOPE] = NAI_LABEL_COLUMN("scope", "where"),          [PLACE] = NAI_LABEL_COLUMN("place", "in what"),
    [AT_STAKE] = NAI_TIME_COLUMN("at_stake_ns", "a time"), [PCT] = NAI_PCT_COLUMN("pct_of_active", "a share"),
    [REASON] = NAI_LABEL_COLUMN("reason", "why lowered"),  [PART_OF] = NAI_LABEL_COLUMN("part_of", "of which finding"),
    [SHARE_OF] = NAI_LABEL_COLUMN("share_of", "of what"),
};
static const struct nai_schema findings_schema = NAI_SCHEMA("findings", "Findings", "A finding", finding_columns);

/* A finding of the verdict's test; reason and part_of may be "". */
static void add_finding(struct nai_table *table, const char *severity, const char *title, int64_t ms,
                        const char *reason, const char *part_of) {
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, SEVERITY, severity);
  nai_set_str(table, row, TITLE, title);
  nai_set_str(table, row, SCOPE, "GPU 0");
  nai_set_i64(table, row, AT_STAKE, ms * 1000000);
  nai_set_f64(table, row, PCT, (double)ms / 10);
  nai_set_str(table, row, REASON, reason);
  nai_set_str(table, row, PART_OF, part_of);
  nai_set_str(table, row, SHARE_OF, "active time");
}

/* The reader of "15 %" asks what the larger idle time is: the verdict says why that comes second. */
static void test_verdict_says_what_larger_loss_was_rated_lower(void **state) {
  (void)state;
  struct nai_table *table = NULL;
  struct nai_buf text = {0};
  enum nai_severity severity;
  assert_int_equal(nai_table_new(&table, &findings_schema, NULL), 0);
  add_finding(table, "low", "Few blocks", 151, "", "");
  add_finding(table, "info", "Idle in host code", 493, "an input sets the pace", "");
  add_finding(table, "info", "Within the first", 700, "a part", "few-blocks");
  add_finding(table, "info", "Nothing was lowered here", 800, "", "");
  const struct nai_table *const tables[] = {table};
  const struct nai_report report = {.tables = tables, .table_count = 1, .version = "x", .top = 10};
  nai_report_verdict(&text, &severity, &report);
  assert_int_equal(severity, NAI_SEVERITY_LOW);
  assert_non_null(strstr(nai_buf_str(&text),
                         "Few blocks: at most 151.0 ms on GPU 0, 15.1 % of the active time. More time, but "
                         "rated lower: idle in host code (49.3 %; an input sets the pace)."));
  nai_buf_free(&text);
  nai_table_free(table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_only_kernel_names_are_shortened),
      cmocka_unit_test(test_verdict_says_what_larger_loss_was_rated_lower),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
