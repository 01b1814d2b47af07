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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_only_kernel_names_are_shortened),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
