/* The two readers against each other and against plain SQL, on databases that cover the file format's variety. */
#include "unit.h"

#include "readers_db.h"
#include "tier.h"

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
      for (size_t i = (size_t)order; i < sizeof part_counts / sizeof *part_counts;
           i++) { /* fewer counts for the simpler orders */
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

TEST(test_pages) {
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

TEST(test_changed_rows) {
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

static int count_values(void *values, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  (void)rowid, (void)err;
  *(int64_t *)values += cells->type != NAI_CELL_NULL;
  return NAI_OK;
}

TEST(test_added_columns) {
  sqlite3 *db = create(1024, 0, "PRAGMA user_version=1");
  fill_mixed(db, 1024, 0);
  sql(db, "ALTER TABLE mixed ADD COLUMN later INTEGER; INSERT INTO mixed(b, later) VALUES(1, 2)");
  check_table(path, "mixed", "rowid", "direct");
  sql(db, "ALTER TABLE mixed ADD COLUMN void TEXT DEFAULT NULL");
  check_table(path, "mixed", "rowid", "direct");
  sql(db, "ALTER TABLE mixed ADD COLUMN seven INTEGER NOT NULL DEFAULT 7; INSERT INTO mixed(b, seven) VALUES(3, 4)");
  check_table(path, "mixed", "rowid", NULL); /* depends on whether `seven` is asked for */
  /* Old rows have no `seven`, though it is NOT NULL, where only what is behind it is asked for. */
  sql(db, "ALTER TABLE mixed ADD COLUMN behind TEXT; INSERT INTO mixed(b, behind) VALUES(4, 'five')");
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
  static const char *const around[] = {"later", "behind"};
  for (int i = 0; i < 2; i++) {
    int64_t values = 0;
    column = nai_db_column(table, around[i]);
    assert_int_equal(nai_scan_open(&scan, trace, 1, &err), 0);
    assert_string_equal(scan.reader, "direct");
    assert_string_equal(scan.reason, "");
    if (nai_scan_run(&scan, 0, count_values, &values, &err))
      fail_msg("%s: %s", around[i], err.msg);
    assert_int_equal(values, 1);
    nai_scan_close(&scan);
  }
  nai_trace_close(trace);
}

TEST(test_table_kinds) {
  static const struct {
    const char *name, *sql, *rowid, *reader;
  } kinds[] = {
      {"empty", "CREATE TABLE empty(a, b)", "rowid", "direct"},
      {"without",
       "CREATE TABLE without(k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO without VALUES('b', 1), ('a', 2)", NULL,
       "sqlite"},
      {"descending",
       "CREATE TABLE descending(id INTEGER PRIMARY KEY DESC, v); INSERT INTO descending VALUES(5, 1), (NULL, 2)",
       "rowid", "direct"},
      {"int_key", "CREATE TABLE int_key(v, id INT PRIMARY KEY); INSERT INTO int_key VALUES(1, 70), (2, NULL)", "rowid",
       "direct"},
      {"key_last",
       "CREATE TABLE key_last(v, w, id integer, PRIMARY KEY(id)); INSERT INTO key_last VALUES(1, 2, 70), (2, 3, -1)",
       "id", "direct"},
      {"shadowed", "CREATE TABLE shadowed(rowid TEXT, v); INSERT INTO shadowed VALUES('not it', 1), ('nor', 2)",
       "_rowid_", "direct"},
      {"covered", "CREATE TABLE covered(rowid, oid, _rowid_); INSERT INTO covered VALUES(9, 8, 7), (6, 5, 4)", NULL,
       "sqlite"},
      {"covered_key",
       "CREATE TABLE covered_key(rowid, oid, _rowid_, \"k\"\"$@#\" INTEGER PRIMARY KEY);"
       "INSERT INTO covered_key VALUES(9, 8, 7, 50), (6, 5, 4, 40)",
       "\"k\"\"$@#\"", "direct"},
      {"od\"d [na]me",
       "CREATE TABLE \"od\"\"d [na]me\"(\"end\", \"a\"\"b\", \"select\"); INSERT INTO \"od\"\"d [na]me\" VALUES(1, 2, 3)",
       "rowid", "direct"},
      {"indexed",
       "CREATE TABLE indexed(a, b); CREATE INDEX i ON indexed(b, a); INSERT INTO indexed VALUES(1, 9), (2, 8), (3, 7)",
       "rowid", "direct"},
      {"strict", "CREATE TABLE strict(a INT, b ANY, c REAL) STRICT; INSERT INTO strict VALUES(1, '2', 3)", "rowid",
       "direct"},
      {"types",
       "CREATE TABLE types(a DOUBLE, b FLOATING POINT, c REAL, d NUMERIC, e CHARREAL, f BLOBREAL, g \"\", h \"REAL\");"
       "INSERT INTO types VALUES(1, 2, 3, 4, 5, 6, 7, 8), (1.5, '2', x'33', 4.0, 5.0, 6.0, 7.0, 9007199254740993)",
       "rowid", "direct"},
      {"sqlite_sequence", "CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO counted VALUES(9)",
       "rowid", "direct"}};
  sqlite3 *db = create(4096, 0, "PRAGMA user_version=1");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    sql(db, kinds[i].sql);
  sqlite3_close(db);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    check_table(path, kinds[i].name, kinds[i].rowid, kinds[i].reader);
}

TEST(test_utf16) {
  sqlite3 *db = create(4096, 0, "PRAGMA encoding='UTF-16le'");
  fill_mixed(db, 4096, 0);
  sql(db, "INSERT INTO mixed(b, t) VALUES(1, 'grün \U0001F600')");
  sqlite3_close(db);
  check_table(path, "mixed", "rowid", "sqlite");
}

/* Record headers longer than a page: 400 columns in pages of 512 bytes. */
TEST(test_many_columns) {
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

TEST(test_deep_tree) {
  sqlite3 *db = create(512, 0, "PRAGMA user_version=1");
  sql(db, "CREATE TABLE mixed(a INTEGER, t TEXT);"
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
          "INSERT INTO mixed(rowid, a, t) SELECT (i * 7919) % 30011 * 3000000017, i, 'row ' || i FROM n");
  sqlite3_close(db);
  check_table(path, "mixed", "rowid", "direct");
}

TEST(test_long_values) {
  sqlite3 *db = create(65536, 0, "PRAGMA user_version=1");
  sql(db, "CREATE TABLE mixed(a INTEGER, t TEXT, b BLOB, c INTEGER);"
          "INSERT INTO mixed VALUES(1, 'short', NULL, 10);"
          "INSERT INTO mixed VALUES(2, printf('%.*c', 70000000, 'x'), NULL, 20);"
          "INSERT INTO mixed VALUES(3, 'short', zeroblob(70000000), 30), (4, printf('%.*c', 1048577, 'y'), 'b', 40)");
  sqlite3_close(db);
  check_table(path, "mixed", "rowid", "direct");
}

static void check_all_tables(const char *file) {
  struct nai_trace *trace = open_trace(file, NAI_READER_AUTO);
  for (int i = 0; i < trace->table_count; i++)
    check_table(file, trace->tables[i].name, "rowid", "direct");
  nai_trace_close(trace);
}

TEST(test_generated_traces) {
  const char *generator = getenv("NSYS_AI_GEN");
  char command[4400], line[256];
  int scenarios = 0;
  assert_non_null(generator);
  snprintf(command, sizeof command, "'%s' list", generator);
  FILE *list = popen(command, "r");
  assert_non_null(list);
  while (fgets(line, sizeof line, list)) {
    char name[64];
    if (sscanf(line, "%63s", name) != 1)
      continue;
    if (scenarios++ % 6 && in_part())
      continue;
    for (int shuffle = 0; shuffle <= in_whole(); shuffle++) {
      snprintf(command, sizeof command, "'%s' %s %s --force %s%s", generator, name, path,
               strcmp(name, "bench") ? "" : "--size 1M", shuffle ? " --shuffle" : "");
      assert_int_equal(system(command), 0);
      check_all_tables(path);
    }
  }
  assert_int_equal(pclose(list), 0);
  assert_true(scenarios > 10);
}

TEST(test_real_traces) {
  static const char *const names[] = {"fsdp_2gpu.sqlite", "cuda_small.sqlite"};
  const char *shared = getenv("NAI_SHARED_DIR");
  int files = 0;
  for (size_t i = 0; shared && i < sizeof names / sizeof *names; i++) {
    char file[4096];
    snprintf(file, sizeof file, "%s/traces/%s", shared, names[i]);
    if (access(file, R_OK) != 0)
      continue;
    check_all_tables(file);
    files++;
  }
  if (!files)
    skip_because("no reference traces");
}

UNIT_FIXTURE(make_path, remove_path)
