/* How the readers are used: parts on threads, stopping early, looking up by key. */
#include "unit.h"

#include "base/threads.h"
#include "readers_db.h"

struct parallel {
  struct nai_scan *scan;
  struct nai_buf rows[7];
};

static int run_part(void *ctx, int part, struct nai_err *err) {
  struct parallel *job = ctx;
  struct scan_dump dump = {.out = &job->rows[part], .column_count = job->scan->column_count};
  return nai_scan_run(job->scan, part, dump_row, &dump, err);
}

TEST(test_parts_in_threads) {
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

TEST(test_stop) {
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
TEST(test_lookup) {
  static const char *const declarations[] = {"id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
                                             "value TEXT, id INT", "id INT PRIMARY KEY, value"};
  for (int round = 0; round < 6; round++) {
    char create_table[128];
    snprintf(create_table, sizeof create_table, "CREATE TABLE StringIds(%s)", declarations[round % 3]);
    sqlite3 *db = create(round < 3 ? 512 : 4096, 0, "PRAGMA user_version=1");
    sql(db, create_table);
    sql(db,
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
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
      assert_int_equal(sqlite3_prepare_v2(db, "SELECT value FROM StringIds WHERE id = ? ORDER BY rowid LIMIT 1", -1,
                                          &stmt, NULL),
                       SQLITE_OK);
      for (int64_t i = 0; i < 40000; i++) {
        /* sequential runs, then jumps, then the ends */
        int64_t key = i < 20000 ? i - 800
                    : i < 39990 ? (i * 7919) % 16000 - 700
                    : i % 2     ? INT64_MAX - (i & 2)
                                : INT64_MIN + (i & 2);
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

UNIT_FIXTURE(make_path, remove_path)
