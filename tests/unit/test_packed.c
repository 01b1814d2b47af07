/* Packed columns and the tables made of them, against the plain numbers they stand for. */
#include "model_fixture.h"

#include "base/fs.h"

#include <stdio.h>

enum { MANY = 3000 };

/* Numbers whose distance from `low` takes `bytes` bytes, all of them used, with NULLs among them where wanted. */
static void make_values(struct fixture *f, int64_t *values, int count, int64_t low, int bytes, int nulls) {
  uint64_t most = bytes == 8 ? UINT64_MAX - 1 : bytes == 0 ? 0 : (UINT64_C(1) << (8 * bytes)) - 2;
  for (int i = 0; i < count; i++) {
    uint64_t random = (uint64_t)fixture_random(f, INT32_MAX) << 33 ^ (uint64_t)fixture_random(f, INT32_MAX) << 11 ^
                      (uint64_t)fixture_random(f, INT32_MAX);
    uint64_t distance = i == 0 ? 0 : i == 1 ? most : most == 0 ? 0 : random % most;
    values[i] = nulls && i % 7 == 5 ? NAI_NULL_I64 : (int64_t)((uint64_t)low + distance);
  }
}

/* Bounds that all values meet, that one misses on either side, and that are apart from all. */
static void check_bounds(const struct nai_column *column, enum nai_type type, const int64_t *values, int count) {
  const int64_t shifts[] = {-300, -2, -1, 0, 1, 2, 300};
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int i = 0; i < count; i++)
    if (values[i] != NAI_NULL_I64 && !(type == NAI_STR && (uint32_t)values[i] == NAI_NO_STRING)) {
      low = values[i] < low ? values[i] : low;
      high = values[i] > high ? values[i] : high;
    }
  if (low > high || low < INT64_MIN / 2 || high > INT64_MAX / 2) /* of no value, or where shifts overflow */
    return;
  for (size_t a = 0; a < sizeof shifts / sizeof *shifts; a++)
    for (size_t b = 0; b < sizeof shifts / sizeof *shifts; b++) {
      int64_t from = low + shifts[a], to = high + shifts[b];
      assert_int_equal(nai_column_within(column, count, from, to), from <= low && high <= to);
    }
}

static void check_column(enum nai_type type, const int64_t *values, int count, int bytes) {
  struct nai_extent extent = NAI_EMPTY_EXTENT;
  static uint64_t cells[MANY + 1];
  int64_t back[MANY], null = type == NAI_STR ? NAI_NO_STRING : type == NAI_I32 ? NAI_NULL_I32 : NAI_NULL_I64;
  nai_extent_add(&extent, values, (size_t)count / 2);
  nai_extent_add(&extent, values + count / 2, (size_t)(count - count / 2));
  struct nai_column column = nai_column_for(type, &extent);
  assert_int_equal(column.width, bytes);
  memset(cells, 0xee, sizeof cells);
  nai_pack(cells, &column, values, (size_t)count);
  /* As a file tells it: type, width and base. */
  struct nai_column read = nai_column_of(type, cells, column.width, nai_column_base(&column));
  for (int i = 0; i < count; i++)
    assert_int_equal(nai_at(&read, (uint64_t)i), values[i] == NAI_NULL_I64 ? null : values[i]);
  check_bounds(&read, type, values, count);
  nai_unpack(back, &read, 0, (size_t)count);
  assert_memory_equal(back, values, (size_t)count * sizeof *values);
  int first = count / 3;
  nai_unpack(back, &read, (uint64_t)first, (size_t)(count - first));
  assert_memory_equal(back, values + first, (size_t)(count - first) * sizeof *values);
  if (column.width) { /* what the writer itself uses */
    column.cells = (const unsigned char *)cells;
    nai_unpack(back, &column, 0, (size_t)count);
    assert_memory_equal(back, values, (size_t)count * sizeof *values);
  }
}

TEST(test_widths) {
  struct fixture f = {.seed = 3};
  static const int64_t lows[] = {0, 1, -1, -100, 1000000007, INT64_C(1) << 40, -(INT64_C(1) << 50)};
  int64_t values[MANY];
  for (int bytes = 0; bytes <= 7; bytes++)
    for (size_t low = 0; low < sizeof lows / sizeof *lows; low++)
      for (int nulls = 0; nulls < 2; nulls++) {
        make_values(&f, values, MANY, lows[low], bytes, nulls);
        check_column(NAI_I64, values, MANY, bytes == 0 && nulls ? 1 : bytes);
      }
  make_values(&f, values, MANY, INT64_MIN + 1, 8, 1);
  check_column(NAI_I64, values, MANY, 8);
  make_values(&f, values, MANY, -5, 1, 1);
  check_column(NAI_I32, values, MANY, 1);
  make_values(&f, values, MANY, 0, 2, 1);
  check_column(NAI_STR, values, MANY, 2);
}

TEST(test_edges) {
  static const int64_t nothing[1], nulls[] = {NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64}, one[] = {-42};
  static const int64_t ends[] = {INT64_MIN + 1, INT64_MAX, 0}, with_null[] = {INT64_MAX, NAI_NULL_I64, INT64_MIN + 1};
  static const int64_t fits[] = {0, 254}, just_not[] = {0, 255};
  check_column(NAI_I64, nothing, 0, 0);
  check_column(NAI_I64, nulls, 3, 0);
  check_column(NAI_I32, nulls, 3, 0);
  check_column(NAI_STR, nulls, 3, 0);
  check_column(NAI_I64, one, 1, 0);
  check_column(NAI_I64, ends, 3, 8);
  check_column(NAI_I64, with_null, 3, 8);
  check_column(NAI_I64, fits, 2, 1);
  check_column(NAI_I64, just_not, 2, 2);
}

/* Plain arrays are columns, too. */
TEST(test_arrays) {
  static const int64_t longs[] = {0, -1, INT64_MAX, INT64_MIN + 1, NAI_NULL_I64};
  static const int32_t ints[] = {0, -1, INT32_MAX, INT32_MIN + 1, NAI_NULL_I32, 0};
  static const uint32_t texts[] = {0, 1, 77, INT32_MAX, NAI_NO_STRING, 0};
  struct nai_column l = nai_column_of(NAI_I64, longs, 8, 0), i = nai_column_of_i32(ints), t = nai_column_of_u32(texts);
  for (int row = 0; row < 5; row++) {
    assert_true(nai_at(&l, (uint64_t)row) == longs[row]);
    assert_int_equal(nai_at_i32(&i, (uint64_t)row), ints[row]);
    assert_int_equal(nai_at_text(&t, (uint64_t)row), texts[row]);
  }
}

/* --- tables ----------------------------------------------------------------------------------- */

static const struct nai_column_def columns[] = {{"start_ns", NAI_I64, NAI_TIMESTAMP_NS, "start"},
                                                {"device", NAI_I32, NAI_ID, "device"},
                                                {"name", NAI_STR, NAI_TEXT, "name"},
                                                {"same", NAI_I64, NAI_ID, "always the same"},
                                                {"none", NAI_I32, NAI_ID, "always NULL"}};
static const struct nai_schema schema = NAI_SCHEMA("packed", "Packed", "a row", columns);
enum { START, DEVICE, NAME, SAME, NONE, COLUMNS };

static int64_t value_of(int column, int64_t row) {
  switch (column) {
  case START:
    return row * 1234567 - 5;
  case DEVICE:
    return row % 5 == 4 ? NAI_NULL_I64 : row % 5 - 1;
  case NAME:
    return row % 3 == 2 ? NAI_NULL_I64 : row % 3;
  default:
    return column == SAME ? -7 : NAI_NULL_I64;
  }
}

/* Writes the table in stretches of `step` rows, the last one first. */
static void make_table(struct nai_table **out, const char *path, int64_t rows, int64_t step) {
  struct nai_extent extents[COLUMNS];
  for (int c = 0; c < COLUMNS; c++) {
    extents[c] = NAI_EMPTY_EXTENT;
    for (int64_t row = 0; row < rows; row++) {
      int64_t value = value_of(c, row);
      nai_extent_add(&extents[c], &value, 1);
    }
  }
  ok(nai_table_create(out, &schema, rows, extents, path, 7, err));
  assert_true(nai_strings_add(&(*out)->strings, "alpha", 5) == 0 && nai_strings_add(&(*out)->strings, "beta", 4) == 1);
  struct nai_column_writer *writer = malloc(sizeof *writer);
  assert_non_null(writer);
  for (int64_t first = rows ? (rows - 1) / step * step : -1; first >= 0; first -= step)
    for (int c = 0; c < COLUMNS; c++) {
      nai_writer_begin(writer, *out, c, first);
      for (int64_t row = first; row < first + step && row < rows; row++) {
        int64_t value = value_of(c, row);
        ok(nai_writer_put(writer, &value, 1, err));
      }
      ok(nai_writer_end(writer, err));
    }
  free(writer);
  ok(nai_table_seal(*out, err));
}

static void check_table(const struct nai_table *t, int64_t rows) {
  static const char *const names[] = {"alpha", "beta", ""};
  assert_int_equal(t->rows, rows);
  for (int64_t row = 0; row < rows; row++) {
    for (int c = 0; c < COLUMNS; c++)
      if (c != NAME)
        assert_int_equal(nai_get_i64(t, row, c), value_of(c, row));
    assert_string_equal(nai_get_str(t, row, NAME), names[row % 3]);
    assert_int_equal(nai_table_value(t, row, NAME).null, row % 3 == 2);
  }
}

TEST(test_tables) {
  char directory[] = "/tmp/nai-packed-XXXXXX", path[64], other[64];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/a.ntab", directory);
  snprintf(other, sizeof other, "%s/b.ntab", directory);
  static const int64_t sizes[] = {0, 1, 2, 100, NAI_WRITER_CELLS + 1, 2 * NAI_WRITER_CELLS + 77};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct nai_table *made = NULL, *read = NULL, *again = NULL;
    struct nai_buf first = {0}, second = {0};
    make_table(&made, path, sizes[i], 70000);
    check_table(made, sizes[i]);
    ok(nai_table_open(&read, path, &schema, err));
    check_table(read, sizes[i]);
    make_table(&again, other, sizes[i], 1 + sizes[i] / 3); /* the same cells, the same file */
    ok(nai_fs_read(&first, path, 1 << 24, NAI_EIO, err));
    ok(nai_fs_read(&second, other, 1 << 24, NAI_EIO, err));
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.data, second.data, first.len);
    /* 5 bytes of time at most, one of device, one of name */
    assert_true(first.len < 2000 + (size_t)sizes[i] * 7);
    nai_table_free(made);
    nai_table_free(read);
    nai_table_free(again);
    nai_buf_free(&first);
    nai_buf_free(&second);
  }
  struct nai_err refused = {0};
  struct nai_table *table = NULL;
  struct nai_extent extents[COLUMNS] = {NAI_EMPTY_EXTENT};
  assert_int_equal(nai_table_create(&table, &schema, 1, extents, "/nonexistent/x.ntab", 7, &refused), NAI_EIO);
  ok(nai_fs_remove_tree(directory, err));
}

/* Rows that are all the same still take a byte each: what a file claims is bounded by its size. */
TEST(test_equal_rows) {
  enum { ROWS = 5000 };
  char directory[] = "/tmp/nai-packed-XXXXXX", path[64];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/a.ntab", directory);
  for (int null = 0; null < 2; null++) {
    struct nai_extent extents[COLUMNS];
    static int64_t values[ROWS];
    for (int c = 0; c < COLUMNS; c++)
      extents[c] = null ? (struct nai_extent){INT64_MAX, INT64_MIN, true} : (struct nai_extent){1, 1, false};
    for (int i = 0; i < ROWS; i++)
      values[i] = null ? NAI_NULL_I64 : 1;
    struct nai_table *made = NULL, *read = NULL;
    ok(nai_table_create(&made, &schema, ROWS, extents, path, 7, err));
    assert_int_equal(nai_strings_add(&made->strings, "x", 1), 0);
    assert_int_equal(nai_strings_add(&made->strings, "y", 1), 1);
    static struct nai_column_writer writer;
    for (int c = 0; c < COLUMNS; c++) {
      nai_writer_begin(&writer, made, c, 0);
      ok(nai_writer_put(&writer, values, ROWS, err));
      ok(nai_writer_end(&writer, err));
    }
    ok(nai_table_seal(made, err));
    ok(nai_table_open(&read, path, &schema, err));
    for (int64_t row = 0; row < ROWS; row += 7)
      for (int c = 0; c < COLUMNS; c++)
        assert_true(c == NAME || nai_get_i64(read, row, c) == (null ? NAI_NULL_I64 : 1));
    struct nai_buf file = {0};
    ok(nai_fs_read(&file, path, 1 << 20, NAI_EIO, err));
    assert_true(file.len > ROWS);
    nai_buf_free(&file);
    nai_table_free(made);
    nai_table_free(read);
  }
  ok(nai_fs_remove_tree(directory, err));
}

/* A file whose columns say something impossible of themselves is stale; so is one with any byte changed. */
TEST(test_damage) {
  char directory[] = "/tmp/nai-packed-XXXXXX", path[64];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/a.ntab", directory);
  struct nai_table *table = NULL;
  struct nai_buf good = {0};
  make_table(&table, path, 9, 9);
  nai_table_free(table);
  ok(nai_fs_read(&good, path, 1 << 20, NAI_EIO, err));
  for (size_t at = 0; at < good.len; at++) {
    good.data[at] = (char)(good.data[at] ^ 0x11);
    ok(nai_fs_write(path, good.data, good.len, err));
    struct nai_err refused = {0};
    int rc = nai_table_open(&table, path, &schema, &refused);
    if (rc == 0) { /* the bytes between columns mean nothing */
      check_table(table, 9);
      nai_table_free(table);
    } else {
      assert_int_equal(rc, NAI_ESTALE);
    }
    good.data[at] = (char)(good.data[at] ^ 0x11);
  }
  nai_buf_free(&good);
  ok(nai_fs_remove_tree(directory, err));
}
