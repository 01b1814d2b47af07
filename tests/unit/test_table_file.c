/* Table files of other versions and files that lie: what is read, what is refused. */
#include "unit.h"

#include "base/fs.h"
#include "columns.h"
#include "write_table.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { NAME, THING, TIME, SHARE };
static const struct nai_column_def columns[] = {
    [NAME] = NAI_NAME_COLUMN("name", "a name", .key = true),
    [THING] = {"thing", NAI_I32, NAI_ID, "row of table things", .refers = "things"},
    [TIME] = NAI_TIME_COLUMN("total_time_ns", "a time", .better = NAI_BETTER_LOWER, .sum = true),
    [SHARE] = NAI_PCT_COLUMN("share_pct", "a share", .better = NAI_BETTER_HIGHER),
};
static const struct nai_schema schema = NAI_SCHEMA("sample", "Sample", "One sample", columns);
static const char *const names[] = {"alpha", "beta\xc3\xa9", "alpha"};

static char directory[] = "/tmp/nai-file-XXXXXX";
static char path[128];

static int make_directory(void **state) {
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(path, sizeof path, "%s/sample.ntab", directory);
  return 0;
}

static int remove_directory(void **state) {
  (void)state;
  return nai_fs_remove_tree(directory, NULL);
}

static struct nai_table *sample(void) {
  struct nai_table *table = NULL;
  assert_int_equal(nai_table_new(&table, &schema, NULL), 0);
  for (int i = 0; i < 3; i++) {
    int64_t row = nai_table_add_row(table);
    nai_set_str(table, row, NAME, names[i]);
    nai_set_i64(table, row, THING, i - 1);
    nai_set_i64(table, row, TIME, 136355595 + i);
    if (i)
      nai_set_f64(table, row, SHARE, 12.5 * i);
  }
  return table;
}

static void check_sample(const struct nai_table *table, bool has_share) {
  assert_int_equal(table->rows, 3);
  for (int i = 0; i < 3; i++) {
    assert_string_equal(nai_cell_str(table, i, "name"), names[i]);
    assert_int_equal(nai_cell(table, i, "thing").i, i - 1);
    assert_int_equal(nai_cell(table, i, "total_time_ns").i, 136355595 + i);
    if (i && has_share)
      assert_true(nai_cell(table, i, "share_pct").f == 12.5 * i);
    else
      assert_true(nai_cell(table, i, "share_pct").null);
  }
}

static void check_meaning(const struct nai_schema *read) {
  assert_string_equal(read->title, "Sample");
  assert_int_equal(read->columns[NAME].role, NAI_ROLE_NAME);
  assert_true(read->columns[NAME].key);
  assert_string_equal(read->columns[THING].refers, "things");
  assert_int_equal(read->columns[TIME].display_units, NAI_AS_MS);
  assert_int_equal(read->columns[TIME].better, NAI_BETTER_LOWER);
  assert_true(read->columns[TIME].sum);
  assert_int_equal(read->columns[SHARE].unit, NAI_PCT);
}

/* Written by the first version of format 3.0: later ones of format 3 read it for ever. NAI_WRITE_STORED=1 made it. */
TEST(test_stored_file) {
  const char *root = getenv("NAI_SOURCE_DIR");
  char stored[512];
  snprintf(stored, sizeof stored, "%s/tests/data/table-3.0.ntab", root ? root : ".");
  struct nai_table *table = NULL;
  struct nai_err err = {0};
  if (getenv("NAI_WRITE_STORED")) {
    table = sample();
    assert_int_equal(write_table(table, stored, 0x123456789abcdef0, &err), 0);
    nai_table_free(table);
  }
  for (int own = 0; own < 2; own++) {
    if (nai_table_open(&table, stored, own ? NULL : &schema, &err))
      fail_msg("%s", err.msg);
    assert_true(table->key == 0x123456789abcdef0);
    check_sample(table, true);
    check_meaning(table->schema);
    nai_table_free(table);
  }
}

/* --- forged files ------------------------------------------------------------------------------ */

static void load(struct nai_buf *file) {
  struct nai_table *table = sample();
  assert_int_equal(write_table(table, path, 7, NULL), 0);
  assert_int_equal(nai_fs_read(file, path, 1 << 20, NAI_EIO, NULL), 0);
  nai_table_free(table);
}

/* Writes the file with another descriptor and correct checksums. */
static void store(struct nai_buf *file, const struct nai_buf *descriptor, int major, int minor) {
  struct nai_table_header header;
  memcpy(&header, file->data, sizeof header);
  if (descriptor) {
    file->len = header.descriptor_offset;
    nai_buf_put(file, descriptor->data, descriptor->len);
    header.descriptor_bytes = descriptor->len;
  }
  header.major = (uint16_t)major;
  header.minor = (uint16_t)minor;
  header.descriptor_hash = XXH3_64bits(file->data + header.descriptor_offset, header.descriptor_bytes);
  header.file_bytes = file->len;
  header.header_hash = XXH3_64bits(&header, offsetof(struct nai_table_header, header_hash));
  memcpy(file->data, &header, sizeof header);
  assert_int_equal(nai_fs_write(path, file->data, file->len, NULL), 0);
}

static void put_u32(struct nai_buf *out, uint32_t v) { nai_buf_put(out, &v, sizeof v); }

static void put_field(struct nai_buf *out, const char *name, const char *value, size_t len) {
  put_u32(out, (uint32_t)strlen(name));
  nai_buf_puts(out, name);
  put_u32(out, (uint32_t)len);
  nai_buf_put(out, value, len);
}

/* What a later minor version may do: a record of a new kind, a new field and a new role in every column, a column more
 * (here another name for the first one's cells). */
static void make_later(struct nai_buf *out, const struct nai_buf *file) {
  struct nai_table_header header;
  memcpy(&header, file->data, sizeof header);
  const char *at = file->data + header.descriptor_offset, *end = at + header.descriptor_bytes;
  bool extra = false;
  put_field(out, "index", "sorted by something", 19);
  while (at < end) {
    uint32_t kind_len, len;
    memcpy(&kind_len, at, 4);
    const char *kind = at + 4;
    memcpy(&len, kind + kind_len, 4);
    const char *record = kind + kind_len + 4;
    bool column = kind_len == 6 && memcmp(kind, "column", 6) == 0;
    struct nai_buf fields = {0};
    put_field(&fields, "histogram", "\1\2\3\0\4", column ? 5 : 0);
    nai_buf_put(&fields, record, len);
    if (column && !extra) { /* before all others, so that numbers of columns differ */
      struct nai_buf renamed = {0};
      nai_buf_put(&renamed, record, len);
      char *name = memmem(renamed.data, renamed.len, "\4\0\0\0name\4\0\0\0name", 16);
      assert_non_null(name);
      memcpy(name + 12, "nick", 4);
      put_field(out, "column", renamed.data, renamed.len);
      nai_buf_free(&renamed);
      extra = true;
    }
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)kind_len, kind);
    put_field(out, name, fields.data, fields.len);
    nai_buf_free(&fields);
    at = record + len;
  }
}

TEST(test_later_minor_version) {
  struct nai_buf file = {0}, later = {0};
  struct nai_table *table = NULL;
  struct nai_err err = {0};
  load(&file);
  make_later(&later, &file);
  store(&file, &later, 3, 9);
  if (nai_table_open(&table, path, &schema, &err))
    fail_msg("%s", err.msg);
  assert_ptr_equal(table->schema, &schema);
  check_sample(table, true);
  nai_table_free(table);
  assert_int_equal(nai_table_open(&table, path, NULL, &err), 0);
  assert_int_equal(table->schema->column_count, 5);
  assert_string_equal(nai_cell_str(table, 1, "nick"), names[1]);
  check_sample(table, true);
  nai_table_free(table);
  store(&file, NULL, 4, 0);
  assert_int_equal(nai_table_open(&table, path, &schema, &err), NAI_ESTALE);
  assert_non_null(strstr(err.msg, "format 4.0"));
  nai_buf_free(&file);
  nai_buf_free(&later);
}

/* Columns a file of an earlier minor version lacks are NULL, in memory and when written again. */
TEST(test_missing_columns) {
  struct nai_schema shorter = schema;
  shorter.column_count = SHARE;
  struct nai_table *table = sample(), *old = NULL, *read = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_table_new(&old, &shorter, &err), 0);
  for (int i = 0; i < 3; i++) {
    nai_table_add_row(old);
    nai_set_str(old, i, NAME, names[i]);
    nai_set_i64(old, i, THING, i - 1);
    nai_set_i64(old, i, TIME, 136355595 + i);
  }
  assert_int_equal(write_table(old, path, 0, &err), 0);
  static const struct nai_column_def more[] = {
      {"new_text", NAI_STR, NAI_TEXT, ""},
      {"total_time_ns", NAI_I64, NAI_NS, ""},
      {"share_pct", NAI_F64, NAI_PCT, ""},
      {"name", NAI_STR, NAI_TEXT, ""},
      {"new_id", NAI_I32, NAI_ID, ""},
      {"new_count", NAI_I64, NAI_COUNT, ""},
      {"thing", NAI_I32, NAI_ID, "", .refers = "things"},
  };
  static const struct nai_schema newer = NAI_SCHEMA("sample", "", "", more);
  int fd = open(directory, O_RDONLY | O_DIRECTORY);
  assert_int_equal(nai_table_open_at(&read, fd, "sample.ntab", &newer, &err), 0);
  close(fd);
  check_sample(read, false);
  for (int i = 0; i < 3; i++) {
    assert_true(nai_cell(read, i, "new_text").null);
    assert_true(nai_cell(read, i, "new_id").null);
    assert_true(nai_cell(read, i, "new_count").null);
  }
  nai_table_free(read);
  nai_table_free(old);
  nai_table_free(table);
}

static const struct nai_table *find_things(void *things, const char *name) {
  assert_string_equal(name, "things");
  return things;
}

/* Row numbers and text numbers index arrays: those out of range are refused, whatever the checksums say. */
TEST(test_references) {
  struct nai_table *table = sample(), *things = NULL, *read = NULL;
  struct nai_err err = {0};
  static const struct nai_column_def thing_columns[] = {{"id", NAI_I64, NAI_ID, "", .key = true}};
  static const struct nai_schema things_schema = NAI_SCHEMA("things", "", "", thing_columns);
  assert_int_equal(nai_table_new(&things, &things_schema, NULL), 0);
  nai_table_add_row(things);
  assert_int_equal(nai_table_check_refs(table, find_things, things, &err), NAI_ESTALE); /* row 1 of one */
  assert_string_equal(err.msg, "table \"sample\", row 2: thing is 1, but table \"things\" has 1 rows");
  nai_table_add_row(things);
  assert_int_equal(nai_table_check_refs(table, find_things, things, &err), 0);
  nai_set_i64(table, 1, THING, -2);
  assert_int_equal(nai_table_check_refs(table, find_things, things, &err), NAI_ESTALE);
  nai_set_i64(table, 1, THING, NAI_NULL_I64);
  assert_int_equal(nai_table_check_refs(table, find_things, things, &err), 0);
  nai_column_str(table, NAME)[1] = 2; /* of two texts */
  assert_int_equal(write_table(table, path, 0, &err), 0);
  assert_int_equal(nai_table_open(&read, path, &schema, &err), NAI_ESTALE);
  nai_column_str(table, NAME)[1] = NAI_NO_STRING;
  assert_int_equal(write_table(table, path, 0, &err), 0);
  assert_int_equal(nai_table_open(&read, path, &schema, &err), 0);
  nai_table_free(read);
  nai_table_free(things);
  nai_table_free(table);
}

/* GPUs are looked up by halves, and what runs on one has one: numbers out of order, or -1 there, are refused. */
TEST(test_references_to_values) {
  enum { ANY, ALWAYS };
  static const struct nai_column_def key[] = {{"id", NAI_I64, NAI_ID, "", .key = true}};
  static const struct nai_column_def refers[] = {{"any", NAI_I32, NAI_ID, "", .refers = "things.id"},
                                                 {"always", NAI_I32, NAI_ID, "", .refers = "things.id",
                                                  .always = true}};
  static const struct nai_schema things_schema = NAI_SCHEMA("things", "", "", key);
  static const struct nai_schema table_schema = NAI_SCHEMA("table", "", "", refers);
  static const struct {
    int64_t ids[2], any, always;
    const char *said;
  } tried[] = {{{3, 5}, 5, 3, NULL},
               {{3, 5}, -1, 3, NULL},
               {{3, 5}, NAI_NULL_I64, NAI_NULL_I64, NULL},
               {{3, 5}, 4, 3, "table \"table\", row 0: any is 4, which table \"things\" lacks"},
               {{3, 5}, 3, -1, "table \"table\", row 0: always is -1, which table \"things\" lacks"},
               {{5, 3}, 3, 3, "table \"things\", row 1: id is not above that of the row before"},
               {{3, 3}, 3, 3, "table \"things\", row 1: id is not above that of the row before"}};
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    struct nai_table *things = NULL, *table = NULL;
    struct nai_err err = {0};
    assert_int_equal(nai_table_new(&things, &things_schema, NULL), 0);
    assert_int_equal(nai_table_new(&table, &table_schema, NULL), 0);
    for (int row = 0; row < 2; row++)
      nai_set_i64(things, nai_table_add_row(things), 0, tried[i].ids[row]);
    nai_table_add_row(table);
    nai_set_i64(table, 0, ANY, tried[i].any);
    nai_set_i64(table, 0, ALWAYS, tried[i].always);
    assert_int_equal(nai_table_check_refs(table, find_things, things, &err), tried[i].said ? NAI_ESTALE : NAI_OK);
    assert_string_equal(err.msg, tried[i].said ? tried[i].said : "");
    nai_table_free(table);
    nai_table_free(things);
  }
}

/* A small table is in memory: whoever truncates its file later does no harm. */
TEST(test_truncated_while_open) {
  struct nai_table *table = sample(), *read = NULL;
  assert_int_equal(write_table(table, path, 0, NULL), 0);
  assert_int_equal(nai_table_open(&read, path, NULL, NULL), 0);
  assert_int_equal(truncate(path, 0), 0);
  check_sample(read, true);
  nai_table_free(read);
  nai_table_free(table);
}

/* Schemas made at run time: the table's copy outlives them. */
TEST(test_schema_copy) {
  struct nai_table *table = NULL;
  {
    char name[] = "name", other[] = "other";
    struct nai_column_def defs[] = {columns[NAME], columns[THING]};
    defs[0].name = name;
    struct nai_schema made = {.name = other, .title = "", .description = "", .columns = defs, .column_count = 2};
    assert_int_equal(nai_table_new_copy(&table, &made, NULL), 0);
    memset(name, 'x', sizeof name);
    memset(other, 'x', sizeof other);
    memset(defs, 0xff, sizeof defs);
  }
  nai_set_str(table, nai_table_add_row(table), NAME, "a");
  assert_string_equal(nai_cell_str(table, 0, "name"), "a");
  assert_string_equal(table->schema->name, "other");
  assert_string_equal(table->schema->columns[THING].refers, "things");
  nai_table_free(table);
}

UNIT_FIXTURE(make_directory, remove_directory)
