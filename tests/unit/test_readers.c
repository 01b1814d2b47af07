/* The two readers against each other and against plain SQL, on databases that cover the file format's variety. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/threads.h"
#include "scan_dump.h"

#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/nai-readers-XXXXXX";
static char path[64];

static void sql(sqlite3 *db, const char *text) {
  char *message = NULL;
  if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
    fail_msg("%s: %s", message, text);
}

/* A new, empty database at `path`. */
static sqlite3 *create(int page_size, int reserved_bytes, const char *pragmas) {
  sqlite3 *db;
  char text[64];
  unlink(path);
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  snprintf(text, sizeof text, "PRAGMA page_size=%d", page_size);
  sql(db, text);
  assert_int_equal(sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved_bytes), SQLITE_OK);
  sql(db, "PRAGMA journal_mode=off; PRAGMA synchronous=off");
  sql(db, pragmas);
  return db;
}

static struct nai_trace *open_trace(const char *file, enum nai_reader_choice reader) {
  struct nai_trace *trace = NULL;
  struct nai_err err = {0};
  const struct nai_trace_options options = {.reader = reader};
  if (nai_trace_open(&trace, file, &options, &err))
    fail_msg("%s", err.msg);
  return trace;
}

static void assert_same(const struct nai_buf *got, const struct nai_buf *expected, const char *what) {
  if (got->len == expected->len && (!got->len || memcmp(got->data, expected->data, got->len) == 0))
    return;
  size_t at = 0;
  while (at < got->len && at < expected->len && got->data[at] == expected->data[at])
    at++;
  while (at && got->data[at - 1] != '\n')
    at--;
  fail_msg("%s: got \"%.200s\", expected \"%.200s\"", what, nai_buf_str(got) + at, nai_buf_str(expected) + at);
}

/* Both readers deliver what SQL says, whatever the columns and parts. `reader`: which one `auto` has to choose, NULL to
 * accept either. */
static void check_table(const char *file, const char *name, const char *rowid, const char *reader) {
  static const int part_counts[] = {1, 2, 3, 7};
  sqlite3 *db;
  assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
  for (int choice = NAI_READER_AUTO; choice <= NAI_READER_SQLITE; choice++) { /* DIRECT is AUTO to the readers */
    struct nai_trace *trace = open_trace(file, (enum nai_reader_choice)choice);
    const struct nai_db_table *table = nai_trace_table(trace, name);
    assert_non_null(table);
    for (int order = 0; order < COLUMN_ORDERS; order++) {
      struct nai_buf expected = {0};
      assert_int_equal(dump_sql(&expected, db, table, rowid, (enum column_order)order), 0);
      for (size_t i = (size_t)order; i < sizeof part_counts / sizeof *part_counts; i++) { /* fewer counts for the simpler orders */
        struct nai_buf got = {0};
        struct nai_err err = {0};
        char used[16];
        if (dump_scan(&got, used, trace, table, (enum column_order)order, part_counts[i], &err))
          fail_msg("%s: %s", name, err.msg);
        if (choice == NAI_READER_SQLITE)
          assert_string_equal(used, "sqlite");
        else if (reader)
          assert_string_equal(used, reader);
        assert_same(&got, &expected, name);
        nai_buf_free(&got);
      }
      nai_buf_free(&expected);
    }
    struct nai_err err = {0};
    if (nai_trace_unchanged(trace, &err))
      fail_msg("%s", err.msg);
    nai_trace_close(trace);
  }
  sqlite3_close(db);
}

/* Integers of every width and sign, 0 and 1 (which are stored in no bytes), each other storage class in a column declared
 * INTEGER, and text around every length where a payload begins to need another overflow page. */
static void fill_mixed(sqlite3 *db, int page_size, int reserved_bytes) {
  char text[1500];
  int usable = page_size - reserved_bytes;
  sql(db, "CREATE TABLE mixed(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER NOT NULL, t TEXT, r REAL, x, c INTEGER, z BLOB)");
  snprintf(text, sizeof text,
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)"
           "INSERT INTO mixed SELECT i,"
           " CASE i %% 13 WHEN 0 THEN NULL WHEN 1 THEN 'text' WHEN 2 THEN x'00ff' WHEN 3 THEN 0.5 WHEN 4 THEN 0 WHEN 5 THEN 1"
           "  ELSE (i * 2654435761) << (i %% 40) END,"
           " CASE i %% 2 WHEN 0 THEN 1 ELSE -1 END * ((1 << (i %% 63)) - i %% 3),"
           " printf('%%.*c', CASE WHEN i < 200 THEN i WHEN i < 400 THEN %d - 300 + i WHEN i < 500 THEN %d - 450 + i"
           "  WHEN i < 600 THEN 2 * %d - 550 + i ELSE i %% 70 END, char(97 + i %% 26)),"
           " CASE i %% 5 WHEN 0 THEN i WHEN 1 THEN i / 7.0 WHEN 2 THEN NULL WHEN 3 THEN -0.0 ELSE 'r' || i END,"
           " CASE i %% 4 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775807 - 1 WHEN 2 THEN 9e999 ELSE -i END,"
           " i * i, zeroblob(i %% 300) FROM n",
           usable - 35 - 40, usable, usable);
  sql(db, text);
}

static void test_pages(void **state) {
  (void)state;
  static const char *const pragmas[] = {"PRAGMA auto_vacuum=0", "PRAGMA auto_vacuum=1", "PRAGMA auto_vacuum=2"};
  int n = 0;
  for (int page_size = 512; page_size <= 65536; page_size *= 2) {
    for (int reserved = 0; reserved <= 32; reserved += 16, n++) {
      sqlite3 *db = create(page_size, reserved, pragmas[n % 3]);
      fill_mixed(db, page_size, reserved);
      sqlite3_close(db);
      check_table(path, "mixed", "rowid", "direct");
      struct nai_trace *trace = open_trace(path, NAI_READER_AUTO);
      assert_int_equal(trace->size_bytes % (uint64_t)page_size, 0);
      nai_trace_close(trace);
    }
  }
}

static void test_changed_rows(void **state) {
  (void)state;
  static const char *const changes[] = {
      "DELETE FROM mixed WHERE id % 3 = 0",
      "UPDATE mixed SET t = t || t || t, a = -a WHERE id % 7 = 1",
      "DELETE FROM mixed WHERE id BETWEEN 300 AND 900",
      "INSERT INTO mixed(id, b, t) VALUES(-5, 1, 'before'), (9223372036854775807, 2, 'last'), (-9223372036854775807 - 1, 3, 'first')",
      "UPDATE mixed SET t = NULL, z = zeroblob(70000) WHERE id % 100 = 50",
      "VACUUM",
      "DELETE FROM mixed WHERE id <> 1000",
      "DELETE FROM mixed",
      "INSERT INTO mixed(id, b) VALUES(77, 77)"};
  for (int page_size = 512; page_size <= 8192; page_size *= 4) {
    sqlite3 *db = create(page_size, 0, "PRAGMA auto_vacuum=0");
    fill_mixed(db, page_size, 0);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
      sql(db, changes[i]);
      check_table(path, "mixed", "rowid", "direct");
    }
    sqlite3_close(db);
  }
}

static void test_added_columns(void **state) {
  (void)state;
  sqlite3 *db = create(1024, 0, "PRAGMA user_version=1");
  fill_mixed(db, 1024, 0);
  sql(db, "ALTER TABLE mixed ADD COLUMN later INTEGER; INSERT INTO mixed(b, later) VALUES(1, 2)");
  check_table(path, "mixed", "rowid", "direct");
  sql(db, "ALTER TABLE mixed ADD COLUMN void TEXT DEFAULT NULL");
  check_table(path, "mixed", "rowid", "direct");
  sql(db, "ALTER TABLE mixed ADD COLUMN seven INTEGER NOT NULL DEFAULT 7; INSERT INTO mixed(b, seven) VALUES(3, 4)");
  check_table(path, "mixed", "rowid", NULL); /* depends on whether `seven` is asked for */
  sqlite3_close(db);
  struct nai_trace *trace = open_trace(path, NAI_READER_AUTO);
  const struct nai_db_table *table = nai_trace_table(trace, "MIXED");
  struct nai_err err = {0};
  int column = nai_db_column(table, "Seven");
  struct nai_scan scan = {.table = "mixed", .columns = &column, .column_count = 1};
  assert_true(table->columns[column].added_with_default);
  assert_int_equal(nai_scan_open(&scan, trace, 1, &err), 0);
  assert_string_equal(scan.reader, "sqlite");
  assert_non_null(strstr(scan.reason, "default"));
  nai_scan_close(&scan);
  column = nai_db_column(table, "later");
  assert_int_equal(nai_scan_open(&scan, trace, 1, &err), 0);
  assert_string_equal(scan.reader, "direct");
  assert_string_equal(scan.reason, "");
  nai_scan_close(&scan);
  nai_trace_close(trace);
}

static void test_table_kinds(void **state) {
  (void)state;
  static const struct {
    const char *name, *sql, *rowid, *reader;
  } kinds[] = {
      {"empty", "CREATE TABLE empty(a, b)", "rowid", "direct"},
      {"without", "CREATE TABLE without(k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO without VALUES('b', 1), ('a', 2)", NULL,
       "sqlite"},
      {"descending", "CREATE TABLE descending(id INTEGER PRIMARY KEY DESC, v); INSERT INTO descending VALUES(5, 1), (NULL, 2)",
       "rowid", "direct"},
      {"int_key", "CREATE TABLE int_key(v, id INT PRIMARY KEY); INSERT INTO int_key VALUES(1, 70), (2, NULL)", "rowid", "direct"},
      {"key_last", "CREATE TABLE key_last(v, w, id integer, PRIMARY KEY(id)); INSERT INTO key_last VALUES(1, 2, 70), (2, 3, -1)",
       "id", "direct"},
      {"shadowed", "CREATE TABLE shadowed(rowid TEXT, v); INSERT INTO shadowed VALUES('not it', 1), ('nor', 2)", "_rowid_",
       "direct"},
      {"covered", "CREATE TABLE covered(rowid, oid, _rowid_); INSERT INTO covered VALUES(9, 8, 7), (6, 5, 4)", NULL, "sqlite"},
      {"covered_key", "CREATE TABLE covered_key(rowid, oid, _rowid_, \"k\"\"$@#\" INTEGER PRIMARY KEY);"
       "INSERT INTO covered_key VALUES(9, 8, 7, 50), (6, 5, 4, 40)", "\"k\"\"$@#\"", "direct"},
      {"od\"d [na]me", "CREATE TABLE \"od\"\"d [na]me\"(\"end\", \"a\"\"b\", \"select\"); INSERT INTO \"od\"\"d [na]me\" VALUES(1, 2, 3)",
       "rowid", "direct"},
      {"indexed", "CREATE TABLE indexed(a, b); CREATE INDEX i ON indexed(b, a); INSERT INTO indexed VALUES(1, 9), (2, 8), (3, 7)",
       "rowid", "direct"},
      {"strict", "CREATE TABLE strict(a INT, b ANY, c REAL) STRICT; INSERT INTO strict VALUES(1, '2', 3)", "rowid", "direct"},
      {"types", "CREATE TABLE types(a DOUBLE, b FLOATING POINT, c REAL, d NUMERIC, e CHARREAL, f BLOBREAL, g \"\", h \"REAL\");"
       "INSERT INTO types VALUES(1, 2, 3, 4, 5, 6, 7, 8), (1.5, '2', x'33', 4.0, 5.0, 6.0, 7.0, 9007199254740993)", "rowid", "direct"},
      {"sqlite_sequence", "CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO counted VALUES(9)", "rowid",
       "direct"}};
  sqlite3 *db = create(4096, 0, "PRAGMA user_version=1");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    sql(db, kinds[i].sql);
  sqlite3_close(db);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    check_table(path, kinds[i].name, kinds[i].rowid, kinds[i].reader);
}

static void test_utf16(void **state) {
  (void)state;
  sqlite3 *db = create(4096, 0, "PRAGMA encoding='UTF-16le'");
  fill_mixed(db, 4096, 0);
  sql(db, "INSERT INTO mixed(b, t) VALUES(1, 'grün \U0001F600')");
  sqlite3_close(db);
  check_table(path, "mixed", "rowid", "sqlite");
}

/* Record headers longer than a page: 400 columns in pages of 512 bytes. */
static void test_many_columns(void **state) {
  (void)state;
  struct nai_buf text = {0};
  sqlite3 *db = create(512, 0, "PRAGMA user_version=1");
  nai_buf_puts(&text, "CREATE TABLE mixed(c0");
  for (int i = 1; i < 400; i++)
    nai_buf_printf(&text, ", c%d", i);
  nai_buf_puts(&text, ")");
  sql(db, text.data);
  for (int row = 0; row < 40; row++) {
    nai_buf_clear(&text);
    nai_buf_puts(&text, "INSERT INTO mixed VALUES(1");
    for (int i = 1; i < 400; i++)
      nai_buf_printf(&text, (i + row) % 9 ? ", %d" : ", zeroblob(%d)", i * row);
    nai_buf_puts(&text, ")");
    sql(db, text.data);
  }
  nai_buf_free(&text);
  sqlite3_close(db);
  check_table(path, "mixed", "rowid", "direct");
}

static void test_deep_tree(void **state) {
  (void)state;
  sqlite3 *db = create(512, 0, "PRAGMA user_version=1");
  sql(db, "CREATE TABLE mixed(a INTEGER, t TEXT);"
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
          "INSERT INTO mixed(rowid, a, t) SELECT (i * 7919) % 30011 * 3000000017, i, 'row ' || i FROM n");
  sqlite3_close(db);
  check_table(path, "mixed", "rowid", "direct");
}

static void test_long_values(void **state) {
  (void)state;
  sqlite3 *db = create(65536, 0, "PRAGMA user_version=1");
  sql(db, "CREATE TABLE mixed(a INTEGER, t TEXT, b BLOB, c INTEGER);"
          "INSERT INTO mixed VALUES(1, 'short', NULL, 10);"
          "INSERT INTO mixed VALUES(2, printf('%.*c', 70000000, 'x'), NULL, 20);"
          "INSERT INTO mixed VALUES(3, 'short', zeroblob(70000000), 30), (4, printf('%.*c', 1048577, 'y'), 'b', 40)");
  sqlite3_close(db);
  check_table(path, "mixed", "rowid", "direct");
}

struct parallel {
  struct nai_scan *scan;
  struct nai_buf rows[7];
};

static int run_part(void *ctx, int part, struct nai_err *err) {
  struct parallel *job = ctx;
  struct scan_dump dump = {.out = &job->rows[part], .column_count = job->scan->column_count};
  return nai_scan_run(job->scan, part, dump_row, &dump, err);
}

static void test_parts_in_threads(void **state) {
  (void)state;
  static const int columns[] = {0, 3, 4, 7};
  sqlite3 *db = create(1024, 0, "PRAGMA user_version=1");
  fill_mixed(db, 1024, 0);
  sql(db, "INSERT INTO mixed(a, b, t) SELECT a, b, t FROM mixed; INSERT INTO mixed(a, b, t) SELECT a, b, t FROM mixed");
  sqlite3_close(db);
  struct nai_buf all[2] = {{0}, {0}};
  for (int i = 0; i < 2; i++) {
    struct nai_trace *trace = open_trace(path, i ? NAI_READER_SQLITE : NAI_READER_DIRECT);
    struct nai_scan scan = {.table = "mixed", .columns = columns, .column_count = 4};
    struct parallel job = {.scan = &scan};
    struct nai_err err = {0};
    assert_int_equal(nai_scan_open(&scan, trace, 7, &err), 0);
    assert_int_equal(scan.parts, 7);
    int64_t announced = 0;
    for (int part = 0; part < scan.parts; part++)
      announced += scan.part_rows[part];
    assert_int_equal(announced, 6000); /* rowids are dense: exact */
    assert_int_equal(nai_parallel(4, scan.parts, run_part, &job, &err), 0);
    for (int part = 0; part < scan.parts; part++) {
      nai_buf_put(&all[i], job.rows[part].data, job.rows[part].len);
      nai_buf_free(&job.rows[part]);
    }
    nai_scan_close(&scan);
    nai_trace_close(trace);
  }
  assert_true(all[0].len > 100000);
  assert_same(&all[0], &all[1], "threads");
  nai_buf_free(&all[0]);
  nai_buf_free(&all[1]);
}

static int stop_at_ten(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  (void)cells;
  (void)err;
  *(int *)ctx += 1;
  return rowid == 10 ? 1234 : 0;
}

static void test_stop(void **state) {
  (void)state;
  static const int columns[] = {1};
  sqlite3 *db = create(1024, 0, "PRAGMA user_version=1");
  fill_mixed(db, 1024, 0);
  sqlite3_close(db);
  for (int i = 0; i < 2; i++) {
    struct nai_trace *trace = open_trace(path, i ? NAI_READER_SQLITE : NAI_READER_DIRECT);
    struct nai_scan scan = {.table = "mixed", .columns = columns, .column_count = 1};
    struct nai_err err = {0};
    int rows = 0;
    assert_int_equal(nai_scan_open(&scan, trace, 1, &err), 0);
    assert_int_equal(nai_scan_run(&scan, 0, stop_at_ten, &rows, &err), 1234);
    assert_int_equal(rows, 10);
    nai_scan_close(&scan);
    nai_trace_close(trace);
  }
}

/* Lookups by key in StringIds as it is declared by the exporter, and as other programs leave it. */
static void test_lookup(void **state) {
  (void)state;
  static const char *const declarations[] = {"id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL", "value TEXT, id INT",
                                             "id INT PRIMARY KEY, value"};
  for (int round = 0; round < 6; round++) {
    char create_table[128];
    snprintf(create_table, sizeof create_table, "CREATE TABLE StringIds(%s)", declarations[round % 3]);
    sqlite3 *db = create(round < 3 ? 512 : 4096, 0, "PRAGMA user_version=1");
    sql(db, create_table);
    sql(db, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
            "INSERT INTO StringIds(id, value) SELECT i * 3 - 600, printf('name %d %.*c', i, i % 97 * (i % 13), 'z') FROM n;"
            "INSERT INTO StringIds(id, value) VALUES(9223372036854775807, 'last'), (-9223372036854775807 - 1, 'first')");
    if (round % 3 == 1)
      sql(db, "INSERT INTO StringIds(id, value) VALUES(30, 'again'), ('30', 'text'), (NULL, 'none');"
              "CREATE INDEX by_id ON StringIds(id)");
    for (int choice = NAI_READER_SQLITE; choice <= NAI_READER_DIRECT; choice++) {
      struct nai_trace *trace = open_trace(path, (enum nai_reader_choice)choice);
      struct nai_lookup *lookup = NULL;
      struct nai_err err = {0};
      sqlite3_stmt *stmt = NULL;
      int64_t hits = 0;
      assert_int_equal(nai_lookup_open(&lookup, trace, "stringids", round % 3 == 1 ? 0 : 1, &err), 0);
      assert_int_equal(sqlite3_prepare_v2(db, "SELECT value FROM StringIds WHERE id = ? ORDER BY rowid LIMIT 1", -1, &stmt, NULL), SQLITE_OK);
      for (int64_t i = 0; i < 40000; i++) {
        /* sequential runs, then jumps, then the ends */
        int64_t key = i < 20000 ? i - 800 : i < 39990 ? (i * 7919) % 16000 - 700 : i % 2 ? INT64_MAX - (i & 2) : INT64_MIN + (i & 2);
        bool found = false;
        struct nai_cell cell;
        sqlite3_bind_int64(stmt, 1, key);
        bool expected = sqlite3_step(stmt) == SQLITE_ROW;
        if (nai_lookup_get(&found, &cell, lookup, key, &err))
          fail_msg("%s", err.msg);
        assert_int_equal(found, expected);
        if (found) {
          hits++;
          assert_int_equal(cell.type, NAI_CELL_TEXT);
          assert_int_equal(cell.len, sqlite3_column_bytes(stmt, 0));
          assert_memory_equal(cell.data, sqlite3_column_text(stmt, 0), cell.len);
        }
        sqlite3_reset(stmt);
      }
      assert_true(hits > 5000);
      sqlite3_finalize(stmt);
      nai_lookup_close(lookup);
      nai_trace_close(trace);
    }
    sqlite3_close(db);
  }
}

static void test_real_traces(void **state) {
  (void)state;
  static const char *const names[] = {"fsdp_2gpu.sqlite", "cuda_small.sqlite"};
  const char *shared = getenv("NAI_SHARED_DIR");
  for (size_t i = 0; shared && i < sizeof names / sizeof *names; i++) {
    char file[4096];
    snprintf(file, sizeof file, "%s/traces/%s", shared, names[i]);
    if (access(file, R_OK) != 0)
      continue;
    struct nai_trace *trace = open_trace(file, NAI_READER_AUTO);
    assert_true(trace->table_count > 40);
    for (int t = 0; t < trace->table_count; t++)
      check_table(file, trace->tables[t].name, "rowid", "direct");
    nai_trace_close(trace);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pages),        cmocka_unit_test(test_changed_rows), cmocka_unit_test(test_added_columns),
      cmocka_unit_test(test_table_kinds),  cmocka_unit_test(test_utf16),        cmocka_unit_test(test_many_columns),
      cmocka_unit_test(test_deep_tree),    cmocka_unit_test(test_long_values),  cmocka_unit_test(test_parts_in_threads),
      cmocka_unit_test(test_stop),         cmocka_unit_test(test_lookup),       cmocka_unit_test(test_real_traces)};
  if (!mkdtemp(directory))
    return 1;
  snprintf(path, sizeof path, "%s/db.sqlite", directory);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(path);
  rmdir(directory);
  return failed;
}
