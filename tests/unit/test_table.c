/* Tables: cells, sorting, the file form, and damaged files. */
#include "unit.h"

#include "base/fs.h"
#include "table/table.h"
#include "tables/events.h"
#include "tables/kernels.h"
#include "write_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct nai_column_def columns[] = {
    {"name", NAI_STR, NAI_TEXT, "a name", .role = NAI_ROLE_NAME, .key = true},
    {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start", .role = NAI_ROLE_START, .key = true},
    {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, "end", .role = NAI_ROLE_END},
    {"total_ns", NAI_I64, NAI_NS, "time", .display_units = NAI_AS_NS | NAI_AS_MS, .role = NAI_ROLE_METRIC,
     .better = NAI_BETTER_LOWER, .sum = true},
    {"share_pct", NAI_F64, NAI_PCT, "share", .role = NAI_ROLE_METRIC},
    {"device_id", NAI_I32, NAI_ID, "device", .role = NAI_ROLE_DEVICE, .refers = "gpus.device_id"},
};
static const struct nai_schema schema = NAI_SCHEMA("sample", "Sample", "a row", columns);
enum { NAME, START, END, TOTAL_NS, SHARE, DEVICE };

static char directory[] = "/tmp/nai-table-XXXXXX";

static const char *in_directory(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static int make_directory(void **state) {
  (void)state;
  return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state) {
  (void)state;
  return nai_fs_remove_tree(directory, NULL);
}

static void fill_row(struct nai_table *table, int64_t row, int i) {
  static const char *const names[] = {"beta", "alpha", "", NULL, "a|<b>\xc3\xa9"};
  nai_set_str(table, row, NAME, names[i % 5]);
  nai_set_i64(table, row, START, i * 1000);
  nai_set_i64(table, row, END, i * 1000 + 10);
  if (i % 4)
    nai_set_i64(table, row, TOTAL_NS, 136355595 - i);
  if (i % 3)
    nai_set_f64(table, row, SHARE, i / 8.0);
  nai_set_i64(table, row, DEVICE, i % 7 ? i % 2 : INT64_C(1) << 40); /* too large for 32 bits: NULL */
}

static struct nai_table *sample(int rows) {
  struct nai_table *table = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_table_new(&table, &schema, &err), 0);
  for (int i = 0; i < rows; i++)
    fill_row(table, nai_table_add_row(table), i);
  assert_int_equal(nai_table_check(table, &err), 0);
  return table;
}

static bool same_value(const struct nai_value *a, const struct nai_value *b) {
  if (a->type != b->type || a->null != b->null)
    return false;
  if (a->null)
    return true;
  return a->type == NAI_STR ? strcmp(a->s, b->s) == 0 : a->type == NAI_F64 ? a->f == b->f : a->i == b->i;
}

static bool same_content(const struct nai_table *a, const struct nai_table *b) {
  if (!nai_schema_equal(a->schema, b->schema) || a->rows != b->rows)
    return false;
  for (int64_t row = 0; row < a->rows; row++)
    for (int c = 0; c < (int)a->schema->column_count; c++) {
      struct nai_value va = nai_table_value(a, row, c), vb = nai_table_value(b, row, c);
      if (!same_value(&va, &vb))
        return false;
    }
  return true;
}

TEST(test_cells) {
  struct nai_table *table = sample(100);
  assert_int_equal(table->rows, 100);
  assert_string_equal(nai_get_str(table, 1, NAME), "alpha");
  assert_string_equal(nai_get_str(table, 3, NAME), "");
  assert_true(nai_table_value(table, 3, NAME).null);
  assert_false(nai_table_value(table, 2, NAME).null);
  assert_int_equal(nai_get_i64(table, 5, TOTAL_NS), 136355590);
  assert_true(isnan(nai_get_f64(table, 3, SHARE)));
  assert_true(nai_get_f64(table, 4, SHARE) == 0.5);
  assert_int_equal(nai_get_i64(table, 0, DEVICE), NAI_NULL_I64);
  assert_int_equal(nai_get_i64(table, 1, DEVICE), 1);
  assert_true(nai_get_f64(table, 1, DEVICE) == 1.0);
  nai_table_truncate(table, 10);
  nai_table_truncate(table, 50);
  assert_int_equal(table->rows, 10);
  nai_table_free(table);
  nai_table_free(NULL);
}

TEST(test_printing) {
  static const struct {
    enum nai_type type;
    enum nai_unit unit;
    int64_t i;
    double f;
    const char *machine, *human;
  } cases[] = {
      {NAI_I64, NAI_NS, 136355595, 0, "136355595", "136.4 ms"},
      {NAI_I64, NAI_US, 136355595, 0, "136355.595", "136.4 ms"},
      {NAI_I64, NAI_MS, 136355595, 0, "136.355595", "136.4 ms"},
      {NAI_I64, NAI_S, 136355595, 0, "0.136355595", "136.4 ms"},
      {NAI_F64, NAI_MS, 0, 1500000, "1.500000", "1.50 ms"},
      {NAI_I64, NAI_TIMESTAMP_NS, 1234567890, 0, "1234567890", "1.234567 s"},
      {NAI_I64, NAI_BYTES, 2048, 0, "2048", "2.0 KiB"},
      {NAI_F64, NAI_PCT, 0, 41.9, "41.9000", "41.9 %"},
      {NAI_I64, NAI_COUNT, 1234, 0, "1234", "1,234"},
      {NAI_I64, NAI_ID, INT64_C(0x0123456789abcdef), 0, "81985529216486895", "81985529216486895"},
      {NAI_F64, NAI_PER_S, 0, 1234.5678, "1234.568", "1,235/s"},
      {NAI_F64, NAI_GB_PER_S, 0, 3.14159, "3.141590", "3.14 GB/s"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_value value = {.type = cases[i].type, .i = cases[i].i, .f = cases[i].f};
    struct nai_buf machine = {0}, human = {0};
    nai_value_print(&machine, cases[i].unit, &value);
    nai_value_print_human(&human, cases[i].unit, &value);
    assert_string_equal(machine.data, cases[i].machine);
    assert_string_equal(human.data, cases[i].human);
    value.null = true;
    nai_buf_clear(&machine);
    nai_value_print(&machine, cases[i].unit, &value);
    assert_int_equal(machine.len, 0);
    assert_true(isnan(nai_value_number(cases[i].unit, &value)));
    nai_buf_free(&machine);
    nai_buf_free(&human);
  }
  assert_true(nai_value_number(NAI_MS, &(struct nai_value){.type = NAI_I64, .i = 1500000}) == 1.5);
}

TEST(test_schema) {
  int start = -1, end = -1;
  assert_int_equal(nai_schema_column(&schema, "share_pct"), SHARE);
  assert_int_equal(nai_schema_column(&schema, "nope"), -1);
  assert_true(nai_schema_place(&start, &end, &schema));
  assert_int_equal(start, START);
  assert_int_equal(end, END);
  struct nai_schema shorter = schema;
  shorter.column_count = 2;
  assert_false(nai_schema_place(&start, &end, &shorter));
  assert_false(nai_schema_equal(&schema, &shorter));
}

/* Names, units and types as outputs show them, and back. */
TEST(test_prints) {
  static const struct {
    const char *name, *type;
    int column;
    enum nai_unit unit;
  } shown[] = {{"name", "text", NAME, NAI_TEXT},         {"start_ns", "int", START, NAI_TIMESTAMP_NS},
               {"end_ns", "int", END, NAI_TIMESTAMP_NS}, {"total_ns", "int", TOTAL_NS, NAI_NS},
               {"total_ms", "float", TOTAL_NS, NAI_MS},  {"share_pct", "float", SHARE, NAI_PCT},
               {"device_id", "int", DEVICE, NAI_ID}};
  size_t n = 0;
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN, found; nai_display_column_next(&p, &schema); n++) {
    char name[NAI_COLUMN_NAME_MAX];
    assert_string_equal(nai_display_column_name(name, &schema, &p), shown[n].name);
    assert_string_equal(nai_display_column_type(&schema, &p), shown[n].type);
    assert_int_equal(p.column, shown[n].column);
    assert_int_equal(p.unit, shown[n].unit);
    assert_true(nai_display_column_find(&found, &schema, shown[n].name));
    assert_int_equal(found.column, p.column);
    assert_int_equal(found.unit, p.unit);
  }
  assert_int_equal(n, sizeof shown / sizeof *shown);
  static const struct nai_column_def averages[] = {
      {"avg_ns", NAI_F64, NAI_NS, "", .display_units = NAI_AS_US | NAI_AS_S}};
  static const struct nai_schema other = NAI_SCHEMA("o", "O", "", averages);
  struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN;
  char name[NAI_COLUMN_NAME_MAX];
  assert_true(nai_display_column_next(&p, &other));
  assert_string_equal(nai_display_column_name(name, &other, &p), "avg_us");
  assert_true(nai_display_column_next(&p, &other));
  assert_string_equal(nai_display_column_name(name, &other, &p), "avg_s");
  assert_false(nai_display_column_next(&p, &other));
  assert_true(nai_display_column_find(&p, &other, "avg_ns")); /* stored, though not shown */
  assert_int_equal(p.unit, NAI_NS);
  assert_false(nai_display_column_find(&p, &other, "avg_ms"));
}

/* By name: checked, NULL for what is not there. */
TEST(test_cells_by_name) {
  struct nai_table *table = sample(3);
  assert_int_equal(nai_cell(table, 1, "start_ns").i, 1000);
  assert_string_equal(nai_cell_str(table, 1, "name"), "alpha");
  assert_true(nai_cell(table, 1, "share_pct").f == 0.125);
  assert_true(nai_cell(table, 0, "share_pct").null);
  assert_true(nai_cell(table, 3, "start_ns").null);
  assert_true(nai_cell(table, -1, "start_ns").null);
  assert_true(nai_cell(table, 0, "nope").null);
  assert_true(nai_cell(table, 0, "total_ms").null); /* cells are stored in ns */
  assert_string_equal(nai_cell_str(NULL, 0, "name"), "");
  assert_true(nai_cell(NULL, 0, "name").null);
  nai_table_free(table);
}

TEST(test_sort) {
  struct nai_table *table = sample(200);
  const struct nai_sort_by by[] = {{NAME, false}, {SHARE, true}};
  assert_int_equal(nai_table_sort_by(table, by, 2, NULL), 0);
  for (int64_t row = 1; row < table->rows; row++) {
    struct nai_value a = nai_table_value(table, row - 1, NAME), b = nai_table_value(table, row, NAME);
    assert_true(a.null || (!b.null && strcmp(a.s, b.s) <= 0)); /* NULL first */
    if (a.null != b.null || strcmp(nai_get_str(table, row - 1, NAME), nai_get_str(table, row, NAME)) != 0)
      continue;
    struct nai_value fa = nai_table_value(table, row - 1, SHARE), fb = nai_table_value(table, row, SHARE);
    assert_true(fb.null || (!fa.null && fa.f >= fb.f)); /* NULL last, descending */
    if (fa.null && fb.null)
      assert_true(nai_get_i64(table, row - 1, START) < nai_get_i64(table, row, START)); /* stable */
  }
  for (int64_t row = 0; row < table->rows; row++) /* rows stay whole */
    assert_int_equal(nai_get_i64(table, row, END), nai_get_i64(table, row, START) + 10);
  nai_table_free(table);
}

static void assert_same_def(const struct nai_column_def *a, const struct nai_column_def *b) {
  assert_string_equal(a->name, b->name);
  assert_string_equal(a->description, b->description);
  assert_int_equal(a->type, b->type);
  assert_int_equal(a->unit, b->unit);
  assert_int_equal(a->display_units, b->display_units);
  assert_int_equal(a->role, b->role);
  assert_int_equal(a->better, b->better);
  assert_int_equal(a->key, b->key);
  assert_int_equal(a->sum, b->sum);
  assert_string_equal(a->refers ? a->refers : "", b->refers ? b->refers : "");
}

TEST(test_file_round_trip) {
  static const int sizes[] = {0, 1, 2, 7, 64, 1000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    struct nai_err err = {0};
    struct nai_table *table = sample(sizes[s]), *read = NULL, *own = NULL;
    const char *path = in_directory("t.ntab");
    assert_int_equal(write_table(table, path, 7, &err), 0);
    assert_int_equal(nai_table_open(&read, path, &schema, &err), 0);
    assert_true(same_content(table, read));
    assert_ptr_equal(read->schema, &schema);
    if (sizes[s] > 2) {
      assert_int_equal(nai_strings_find(&read->strings, "alpha", 5), nai_strings_find(&table->strings, "alpha", 5));
      assert_int_equal(nai_strings_find(&read->strings, "nope", 4), NAI_NO_STRING);
    }
    assert_int_equal(nai_table_open(&own, path, NULL, &err), 0); /* with the schema in the file */
    assert_true(same_content(table, own));
    assert_string_equal(own->schema->title, "Sample");
    for (int c = NAME; c <= DEVICE; c++)
      assert_same_def(&own->schema->columns[c], &columns[c]);
    assert_string_equal(own->schema->columns[SHARE].description, "share");
    nai_table_free(read);
    nai_table_free(own);
    nai_table_free(table);
  }
}

TEST(test_other_schema_is_refused) {
  struct nai_err err = {0};
  struct nai_table *table = sample(3), *read = NULL;
  char path[512];
  snprintf(path, sizeof path, "%s", in_directory("other.ntab"));
  struct nai_column_def changed[sizeof columns / sizeof *columns];
  memcpy(changed, columns, sizeof columns);
  changed[DEVICE].type = NAI_I64;
  struct nai_schema other = schema;
  other.columns = changed;
  assert_int_equal(write_table(table, path, 7, &err), 0);
  assert_int_equal(nai_table_open(&read, path, &other, &err), NAI_ESTALE);
  assert_non_null(strstr(err.msg, "another type"));
  assert_int_equal(nai_table_open(&read, in_directory("missing.ntab"), &schema, &err), NAI_ESTALE);
  assert_int_equal(nai_fs_write(in_directory("x.ntab"), "SQLite format 3", 16, &err), 0);
  assert_int_equal(nai_table_open(&read, in_directory("x.ntab"), &schema, &err), NAI_ESTALE);
  nai_table_free(table);
}

/* Whatever is in the file: refused, or the content that was written. */
static void expect_stale_or_same(const struct nai_table *table, const void *bytes, size_t len, const char *what,
                                 size_t at) {
  struct nai_err err = {0};
  struct nai_table *read = NULL;
  const char *path = in_directory("damaged.ntab");
  assert_int_equal(nai_fs_write(path, bytes, len, &err), 0);
  for (int own = 0; own < 2; own++) {
    int rc = nai_table_open(&read, path, own ? NULL : &schema, &err);
    if (rc != NAI_ESTALE && (rc || !same_content(table, read)))
      fail_msg("%s %zu: rc %d %s", what, at, rc, err.msg);
    if (!rc)
      nai_table_free(read);
  }
}

TEST(test_damaged_files) {
  struct nai_err err = {0};
  struct nai_table *table = sample(6);
  struct nai_buf good = {0};
  assert_int_equal(write_table(table, in_directory("good.ntab"), 7, &err), 0);
  assert_int_equal(nai_fs_read(&good, in_directory("good.ntab"), 1 << 20, NAI_EIO, &err), 0);
  for (size_t i = 0; i < good.len; i++)
    for (int bit = 0; bit < 8; bit += 3) {
      good.data[i] = (char)(good.data[i] ^ 1 << bit);
      expect_stale_or_same(table, good.data, good.len, "flip", i);
      good.data[i] = (char)(good.data[i] ^ 1 << bit);
    }
  for (size_t len = 0; len < good.len; len++) {
    struct nai_table *read = NULL;
    assert_int_equal(nai_fs_write(in_directory("short.ntab"), good.data, len, &err), 0);
    assert_int_equal(nai_table_open(&read, in_directory("short.ntab"), &schema, &err), NAI_ESTALE);
  }
  nai_buf_puts(&good, "more");
  expect_stale_or_same(table, good.data, good.len, "longer", good.len);
  nai_buf_free(&good);
  nai_table_free(table);
}

/* Rows of a declared table, and the order that it declares. */
TEST(test_declared_rows) {
  struct nai_err err = {0};
  NAI_OWNED(nai_table) *table = NULL;
  assert_int_equal(nai_table_new(&table, &nai_kernels_schema, &err), NAI_OK);
  NAI_ADD(KERNELS, table, .kernel_name = "b", .device_id = 1, .total_time_ns = 5);
  NAI_ADD(KERNELS, table, .kernel_name = "c", .device_id = 0, .total_time_ns = 9, .avg_duration_ns = 2.5);
  struct KERNELS_row third = NAI_ROW(KERNELS, .kernel_name = "a", .device_id = INT64_C(1) << 40);
  third.total_time_ns = 5;
  assert_int_equal(KERNELS_add(table, &third), 2);
  assert_int_equal(nai_table_sort(table, &err), NAI_OK); /* the longest first, then by name */
  assert_string_equal(KERNELS_at(table, 0).kernel_name, "c");
  assert_string_equal(KERNELS_at(table, 1).kernel_name, "a");
  assert_string_equal(KERNELS_at(table, 2).kernel_name, "b");
  struct KERNELS_row row = KERNELS_at(table, 0);
  assert_int_equal(row.total_time_ns, 9);
  assert_true(row.avg_duration_ns == 2.5 && isnan(row.p50_duration_ns));
  assert_true(row.call_count == NAI_NULL_I64);
  assert_string_equal(row.category, "");
  assert_true(KERNELS_at(table, 1).device_id == NAI_NULL_I64); /* too large for 32 bits */
}

/* Sizes that a file may hold, but whose sum no analysis could hold. */
TEST(test_sizes_of_events_can_be_summed_up) {
  static const int64_t sizes[][2] = {{5, 0}, {-1, 5}, {INT64_MAX / 2, 1}};
  static const char *const said[] = {NULL, "row 0: bytes is negative", "row 1: bytes makes the sum"};
  for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
    NAI_OWNED(nai_table) *table = NULL;
    struct nai_err err = {0};
    assert_int_equal(nai_table_new(&table, &nai_memop_events_schema, &err), NAI_OK);
    for (int row = 0; row < 2; row++)
      NAI_ADD(MEMOP_EVENTS, table, .start_ns = row, .end_ns = row + 1, .kind = 0, .device_id = 0, .process = -1,
              .bytes = sizes[i][row]);
    assert_int_equal(nai_table_check_cells(table, &err), said[i] ? NAI_ESTALE : NAI_OK);
    assert_true(!said[i] || strstr(err.msg, said[i]));
  }
}

TEST(test_sizes_of_all_events_can_be_summed_up) {
  static const struct {
    const struct nai_schema *schema;
    int column;
  } tried[] = {
      {&nai_mpi_events_schema, MPI_EVENTS_bytes},     {&nai_mpi_events_schema, MPI_EVENTS_received_bytes},
      {&nai_ucx_events_schema, UCX_EVENTS_bytes},     {&nai_openacc_events_schema, OPENACC_EVENTS_bytes},
      {&nai_file_events_schema, FILE_EVENTS_bytes},   {&nai_memory_usage_events_schema, MEMORY_USAGE_EVENTS_bytes},
      {&nai_memop_events_schema, MEMOP_EVENTS_bytes}, {&nai_um_fault_events_schema, UM_FAULT_EVENTS_faults}};
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    NAI_OWNED(nai_table) *table = NULL;
    struct nai_err err = {0};
    assert_int_equal(nai_table_new(&table, tried[i].schema, &err), NAI_OK);
    nai_table_add_row(table);
    for (int c = 0; c < (int)tried[i].schema->column_count; c++)
      if (tried[i].schema->columns[c].filled && tried[i].schema->columns[c].type == NAI_STR)
        nai_set_str(table, 0, c, "any");
      else if (tried[i].schema->columns[c].filled)
        nai_set_i64(table, 0, c, 0);
    assert_int_equal(nai_table_check_cells(table, &err), NAI_OK);
    nai_set_i64(table, 0, tried[i].column, -5);
    assert_int_equal(nai_table_check_cells(table, &err), NAI_ESTALE);
  }
}

UNIT_FIXTURE(make_directory, remove_directory)
