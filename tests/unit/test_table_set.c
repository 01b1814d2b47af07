/* Several tables in one file: each is found by name, and damage costs the tables it is in. */
#include "model_fixture.h"

#include "base/fs.h"
#include "table/set.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct nai_column_def columns[] = {{"label", NAI_STR, NAI_TEXT, "a label"},
                                                {"number", NAI_I64, NAI_COUNT, "a number"}};
static const struct nai_schema one = NAI_SCHEMA("one", "One", "A row", columns),
                               none = NAI_SCHEMA("none", "None", "A row", columns),
                               asked = NAI_SCHEMA("asked", "Asked for", "A row", columns),
                               two = NAI_SCHEMA("two", "Two", "A row", columns);
static const struct nai_schema *const schemas[] = {&one, &none, &asked, &two};
enum { TABLES = 4 };
static const int64_t rows[TABLES] = {3, 0, 0, 200};

static char directory[] = "/tmp/nai-set-XXXXXX";
static char path[64];

static int make_directory(void **state) {
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(path, sizeof path, "%s/set.ntab", directory);
  return 0;
}

static int remove_directory(void **state) {
  (void)state;
  return nai_fs_remove_tree(directory, NULL);
}

/* "asked" is no table of the program's. */
static bool is_declared(const char *name) { return strcmp(name, "asked") != 0; }

static void write_set(const char *to) {
  struct nai_table *tables[TABLES];
  for (int t = 0; t < TABLES; t++) {
    ok(nai_table_new(&tables[t], schemas[t], err));
    tables[t]->key = 100 + (uint64_t)t;
    for (int64_t i = 0; i < rows[t]; i++) {
      int64_t row = nai_table_add_row(tables[t]);
      nai_set_str(tables[t], row, 0, i % 2 ? "odd" : "even");
      nai_set_i64(tables[t], row, 1, t * 1000 + i);
    }
  }
  ok(nai_table_set_write(tables, TABLES, is_declared, to, err));
  for (int t = 0; t < TABLES; t++)
    nai_table_free(tables[t]);
}

static void check(const struct nai_table *table, int t) {
  assert_int_equal(table->rows, rows[t]);
  assert_true(table->key == 100 + (uint64_t)t);
  assert_string_equal(table->schema->name, schemas[t]->name);
  for (int64_t i = 0; i < rows[t]; i++) {
    assert_string_equal(nai_cell_str(table, i, "label"), i % 2 ? "odd" : "even");
    assert_int_equal(nai_cell(table, i, "number").i, t * 1000 + i);
  }
}

/* Which tables can be read, a bit each; those that can are right. */
static unsigned read_set(const char *file, bool own_schema) {
  struct nai_table *list = NULL, *table = NULL;
  struct nai_err refused = {0};
  unsigned found = 0;
  int rc = nai_table_open(&list, file, &nai_table_set_schema, &refused);
  assert_true(rc == NAI_OK || rc == NAI_ESTALE);
  if (rc)
    return 0;
  for (int t = 0; t < TABLES; t++) {
    int64_t row = nai_table_set_find(list, schemas[t]->name);
    assert_int_equal(row, t);
    rc = nai_table_set_open(&table, AT_FDCWD, file, list, row, own_schema ? NULL : schemas[t], &refused);
    assert_true(rc == NAI_OK || rc == NAI_ESTALE);
    if (rc)
      continue;
    check(table, t);
    nai_table_free(table);
    found |= 1u << t;
  }
  assert_int_equal(nai_table_set_find(list, "three"), -1);
  nai_table_free(list);
  return found;
}

TEST(test_round_trip) {
  struct nai_table *list = NULL;
  struct nai_buf file = {0};
  write_set(path);
  assert_int_equal(read_set(path, false), 15);
  assert_int_equal(read_set(path, true), 13); /* one that is only listed does not say its columns */
  ok(nai_table_open(&list, path, NULL, err));
  ok(nai_fs_read(&file, path, 1 << 20, NAI_EIO, err));
  assert_int_equal(nai_table_set_end(list), file.len);
  assert_int_equal(nai_get_i64(list, 1, TABLE_SET_size_bytes), 0);
  assert_true(nai_get_i64(list, 2, TABLE_SET_size_bytes) > 0);
  nai_table_free(list);
  nai_buf_free(&file);
}

/* Written by the first version of the format. NAI_WRITE_STORED=1 made it. */
TEST(test_stored_file) {
  const char *root = getenv("NAI_SOURCE_DIR");
  char stored[512];
  snprintf(stored, sizeof stored, "%s/tests/data/table-set-3.0.ntab", root ? root : ".");
  if (getenv("NAI_WRITE_STORED"))
    write_set(stored);
  assert_int_equal(read_set(stored, false), 15);
}

/* Whatever byte is damaged: never is a wrong cell read, and a table costs no other. */
TEST(test_damage) {
  struct nai_buf good = {0};
  unsigned seen = 0;
  write_set(path);
  ok(nai_fs_read(&good, path, 1 << 20, NAI_EIO, err));
  for (size_t at = 0; at < good.len; at += 3) {
    good.data[at] = (char)(good.data[at] ^ 0x11);
    ok(nai_fs_write(path, good.data, good.len, err));
    unsigned found = read_set(path, false), lost = 15 & ~found;
    assert_true(found == 0 || (lost & (lost - 1)) == 0);
    seen |= found ? lost : 16;
    good.data[at] = (char)(good.data[at] ^ 0x11);
  }
  assert_int_equal(seen, 1 | 4 | 8 | 16); /* each table that has bytes, and the list */
  for (size_t len = 0; len < good.len; len += 17) {
    ok(nai_fs_write(path, good.data, len, err));
    assert_true(!(read_set(path, false) & 8)); /* the last table */
  }
  nai_buf_free(&good);
}

UNIT_FIXTURE(make_directory, remove_directory)
