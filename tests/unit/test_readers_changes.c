/* No false alarms: databases that SQLite itself has changed at random, with any page size and setting, are read whole
 * by both readers, with the rows that SQL has. */
#include "unit.h"

#include "scan_dump.h"
#include "scratch_file.h"

#include <unistd.h>

enum { DATABASES = 30, ROUNDS = 12, CHANGES = 4 };

static uint64_t random_state = 20220331;

static uint32_t next_random(uint32_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % below);
}

static void execute(sqlite3 *db, char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
    fail_msg("%s: %s", sqlite3_errmsg(db), sql);
  sqlite3_free(sql);
}

static sqlite3 *open_writable(void) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  execute(db, sqlite3_mprintf("PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA temp_store = memory;"
                              "PRAGMA secure_delete = %d; PRAGMA cache_size = %d",
                              next_random(3), 10 + next_random(200)));
  return db;
}

static void create(int number) {
  static const char *const tables =
      "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
      "CREATE TABLE events(start INTEGER NOT NULL, \"end\" INT, text TEXT, r REAL, x BLOB, n NUMERIC, z);"
      "CREATE TABLE narrow(a); CREATE TABLE other(start INTEGER NOT NULL, text VARCHAR(10) NOT NULL, v DOUBLE);";
  sqlite3 *db;
  unlink(path);
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, number + 1, NULL); /* the same changes each time */
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  int reserved = next_random(4) ? 0 : (int)next_random(33);
  assert_int_equal(sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved), SQLITE_OK);
  execute(db, sqlite3_mprintf("PRAGMA page_size = %d; PRAGMA auto_vacuum = %d; PRAGMA legacy_file_format = %d; %s",
                              512 << number % 8, next_random(3), next_random(2), tables));
  if (next_random(2))
    execute(db, sqlite3_mprintf("CREATE INDEX by_text ON events(text, start)"));
  sqlite3_close(db);
}

/* A value of random kind and length; every thirtieth does not fit into its page. */
#define VALUE                                                                                                                 \
  "CASE abs(random()) %% 9 WHEN 0 THEN NULL WHEN 1 THEN random() WHEN 2 THEN random() %% 100 WHEN 3 THEN random() / 1e5"      \
  " WHEN 4 THEN hex(randomblob(abs(random()) %% 30)) WHEN 5 THEN randomblob(abs(random()) %% 60) WHEN 6 THEN 0 WHEN 7 THEN 1" \
  " ELSE hex(randomblob(CASE WHEN abs(random()) %% 30 THEN 9 ELSE abs(random()) %% 3000 END)) END"

static void change(sqlite3 *db) {
  static const char *const columns[] = {"\"end\"", "text", "r", "x", "n", "z"};
  uint32_t step = 1 + next_random(20), rest = next_random(20) % step, rows = 1 + next_random(200);
  switch (next_random(9)) {
  case 0:
  case 1:
    execute(db, sqlite3_mprintf(
                    "WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < %u) INSERT INTO events"
                    " SELECT random(), " VALUE ", " VALUE ", " VALUE ", " VALUE ", " VALUE ", " VALUE " FROM i",
                    rows));
    break;
  case 2: /* between others, or far behind them */
    execute(db,
            sqlite3_mprintf(
                "WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < %u) INSERT OR REPLACE INTO"
                " StringIds SELECT random() %% %u, hex(randomblob(abs(random()) %% 40)) FROM i",
                rows, next_random(3) ? 1000 : UINT32_MAX));
    execute(db,
            sqlite3_mprintf("INSERT INTO other SELECT id, value, id FROM StringIds; INSERT INTO narrow(a) SELECT " VALUE
                            " FROM StringIds"));
    break;
  case 3:
    execute(db, sqlite3_mprintf("DELETE FROM events WHERE rowid %% %u = %u; DELETE FROM StringIds WHERE id %% %u = %u",
                                step, rest, step, rest));
    break;
  case 4:
    execute(db, sqlite3_mprintf("UPDATE events SET %s = " VALUE " WHERE rowid %% %u = %u", columns[next_random(6)],
                                step, rest));
    break;
  case 5:
    execute(db,
            sqlite3_mprintf("UPDATE StringIds SET value = value || value WHERE id %% %u = %u AND length(value) < 5000;"
                            "UPDATE other SET text = substr(text, 1, 3) WHERE rowid %% %u = %u",
                            step, rest, step, rest));
    break;
  case 6:
    execute(db, sqlite3_mprintf(next_random(4) ? "DELETE FROM narrow WHERE rowid > %u" : "DELETE FROM narrow", rows));
    break;
  case 7:
    execute(db, sqlite3_mprintf(next_random(3) ? "PRAGMA incremental_vacuum(3)" : "VACUUM"));
    break;
  default:
    execute(db,
            sqlite3_mprintf("CREATE TABLE short(a, b); INSERT INTO short SELECT rowid, text FROM events; DROP TABLE %s",
                            next_random(2) ? "short" : "narrow; ALTER TABLE short RENAME TO narrow"));
    break;
  }
}

static void must_be_read(sqlite3 *db, enum nai_reader_choice choice, int round) {
  struct nai_trace *trace = NULL;
  struct nai_err err = {0};
  if (nai_trace_open(&trace, path, &(struct nai_trace_options){.reader = choice}, &err))
    fail_msg("%s", err.msg);
  for (int i = 0; i < trace->table_count; i++) {
    struct nai_buf got = {0}, want = {0};
    char reader[16] = "";
    enum column_order order = (enum column_order)((round + i) % COLUMN_ORDERS);
    if (dump_scan(&got, reader, trace, &trace->tables[i], order, 1 + round % 4, &err))
      fail_msg("%s: %s", trace->tables[i].name, err.msg);
    assert_string_equal(reader, choice == NAI_READER_SQLITE ? "sqlite" : "direct");
    assert_int_equal(dump_sql(&want, db, &trace->tables[i], "rowid", order), 0);
    assert_string_equal(nai_buf_str(&got), nai_buf_str(&want));
    nai_buf_free(&got);
    nai_buf_free(&want);
  }
  nai_trace_close(trace);
}

static void look_up(sqlite3 *db, enum nai_reader_choice choice) {
  struct nai_trace *trace = NULL;
  struct nai_lookup *lookup = NULL;
  struct nai_err err = {0};
  sqlite3_stmt *stmt;
  assert_int_equal(nai_trace_open(&trace, path, &(struct nai_trace_options){.reader = choice}, &err), 0);
  assert_int_equal(nai_lookup_open(&lookup, trace, "StringIds", 1, &err), 0);
  assert_int_equal(
      sqlite3_prepare_v2(db, "SELECT id, value FROM StringIds ORDER BY random() LIMIT 50", -1, &stmt, NULL), SQLITE_OK);
  while (sqlite3_step(stmt) == SQLITE_ROW) {
    bool found = false;
    struct nai_cell cell;
    if (nai_lookup_get(&found, &cell, lookup, sqlite3_column_int64(stmt, 0), &err))
      fail_msg("%s", err.msg);
    assert_true(found);
    assert_int_equal(cell.len, sqlite3_column_bytes(stmt, 1));
    assert_memory_equal(cell.data, sqlite3_column_text(stmt, 1), cell.len);
  }
  sqlite3_finalize(stmt);
  nai_lookup_close(lookup);
  nai_trace_close(trace);
}

TEST(test_changes_by_sqlite) {
  for (int number = 0; number < DATABASES; number++) {
    create(number);
    for (int round = 0; round < ROUNDS; round++) {
      sqlite3 *db = open_writable();
      for (int i = 0; i < CHANGES; i++)
        change(db);
      for (int reader = NAI_READER_SQLITE; reader <= NAI_READER_DIRECT; reader++) {
        must_be_read(db, (enum nai_reader_choice)reader, round);
        look_up(db, (enum nai_reader_choice)reader);
      }
      sqlite3_close(db);
    }
  }
}

UNIT_FIXTURE(make_path, remove_path)
