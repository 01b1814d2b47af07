/* Text tables: headers for people, and what a narrow terminal makes of them. */
#include "unit.h"

#include "base/text.h"
#include "report/rows.h"

#include <string.h>

static const struct nai_rows_column columns[] = {{"device_id", NAI_ID},
                                                 {"total_time_ns", NAI_MS},
                                                 {"busy_pct", NAI_PCT},
                                                 {"kernel_count", NAI_COUNT},
                                                 {"kernel_name", NAI_TEXT},
                                                 {"first_start_ns", NAI_TIMESTAMP_NS},
                                                 {"last_end_ns", NAI_TIMESTAMP_NS}};
enum { COLUMNS = sizeof columns / sizeof *columns };
static const char name[] = "begin_of_a_kernel_name<float, 128, 64, LayoutRowMajor>_and_its_end";

static void print(struct nai_buf *out, int width, bool titles) {
  struct nai_rows rows = {
      .format = NAI_ROWS_TABLE, .human = true, .titles = titles, .width = width, .columns = columns, .count = COLUMNS};
  const struct nai_value cells[COLUMNS] = {{.type = NAI_I64, .i = 1},          {.type = NAI_I64, .i = 136400000},
                                           {.type = NAI_F64, .f = 41.9},       {.type = NAI_I64, .i = 1234},
                                           {.type = NAI_STR, .s = name},       {.type = NAI_I64, .i = 60111541000},
                                           {.type = NAI_I64, .i = 60411390000}};
  nai_rows_begin(&rows, out);
  nai_rows_put(&rows, cells);
  nai_rows_end(&rows, false);
  assert_false(out->oom);
}

TEST(headers_say_what_the_cells_are) {
  NAI_SCOPED(nai_buf) out = {0};
  print(&out, 0, true);
  assert_non_null(strstr(out.data, "GPU  total time  busy %  kernels  kernel name"));
  assert_non_null(strstr(out.data, name)); /* no terminal: whole */
  nai_buf_clear(&out);
  print(&out, 0, false);
  assert_non_null(strstr(out.data, "total_time_ns"));
}

/* All widths that a terminal may have: no line is longer, and numbers stay whole. */
TEST(tables_fit) {
  for (int width = 16; width < 200; width++) {
    NAI_SCOPED(nai_buf) out = {0};
    print(&out, width, true);
    for (const char *line = out.data; *line; line += strcspn(line, "\n") + 1)
      if (strncmp(line, "not shown", 9) != 0 && (int)nai_text_chars(line, strcspn(line, "\n")) > width)
        fail_msg("%d: %s", width, out.data);
    if (width >= 40)
      assert_non_null(strstr(out.data, "136.4 ms"));
    if (width >= 90) { /* in the middle: both ends tell names apart */
      assert_non_null(strstr(out.data, "begin_of"));
      assert_non_null(strstr(out.data, "end"));
      assert_null(strstr(out.data, "not shown"));
    }
  }
}

/* Names with the same ends are cut elsewhere, so that no two of them look alike; equal ones do. */
TEST(texts_that_differ_look_different) {
  static const char *const names[] = {"elementwise_kernel<128, 2, BinaryFunctor<float, MulFunctor<float>>>",
                                      "elementwise_kernel<128, 4, BinaryFunctor<float, MulFunctor<float>>>",
                                      "elementwise_kernel<128, 2, BinaryFunctor<float, MulFunctor<float>>>",
                                      "elementwise_kernel<128, 2, BinaryFunctor<half, MulFunctor<float>>>"};
  static const struct nai_rows_column one[] = {{"name", NAI_TEXT}};
  NAI_SCOPED(nai_buf) out = {0};
  struct nai_rows rows = {.format = NAI_ROWS_TABLE, .human = true, .width = 40, .columns = one, .count = 1};
  nai_rows_begin(&rows, &out);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    nai_rows_put(&rows, &(const struct nai_value){.type = NAI_STR, .s = names[i]});
  nai_rows_end(&rows, false);
  assert_string_equal(out.data, "name\n"
                                "elementwise_kernel<1…MulFunctor<float>>>\n"
                                "elementwise_kernel<128, 4, BinaryFuncto…\n"
                                "elementwise_kernel<1…MulFunctor<float>>>\n"
                                "elementwise_kernel<128, 2, BinaryFuncto…\n");
}

TEST(columns_left_out_are_named) {
  NAI_SCOPED(nai_buf) out = {0};
  print(&out, 60, true);
  assert_non_null(strstr(out.data, "not shown, too wide: last end\n"));
  assert_null(strstr(out.data, "60.411390"));
  assert_non_null(strstr(out.data, "60.111541"));
}
