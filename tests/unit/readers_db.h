/* What the readers' tests share: databases to read, and readable failures. Included after unit.h. */
#pragma once

#include "scan_dump.h"
#include "scratch_file.h"

static inline void sql(sqlite3 *db, const char *text) {
  char *message = NULL;
  if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
    fail_msg("%s: %s", message, text);
}

/* A new, empty database at `path`. */
static inline sqlite3 *create(int page_size, int reserved_bytes, const char *pragmas) {
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

static inline struct nai_trace *open_trace(const char *file, enum nai_reader_choice reader) {
  struct nai_trace *trace = NULL;
  struct nai_err err = {0};
  const struct nai_trace_options options = {.reader = reader};
  if (nai_trace_open(&trace, file, &options, &err))
    fail_msg("%s", err.msg);
  return trace;
}

static inline void assert_same(const struct nai_buf *got, const struct nai_buf *expected, const char *what) {
  if (got->len == expected->len && (!got->len || memcmp(got->data, expected->data, got->len) == 0))
    return;
  size_t at = 0;
  while (at < got->len && at < expected->len && got->data[at] == expected->data[at])
    at++;
  while (at && got->data[at - 1] != '\n')
    at--;
  fail_msg("%s: got \"%.200s\", expected \"%.200s\"", what, nai_buf_str(got) + at, nai_buf_str(expected) + at);
}

/* Integers of every width and sign, 0 and 1 (which are stored in no bytes), each other storage class in a column
 * declared INTEGER, and text around every length where a payload begins to need another overflow page. */
static inline void fill_mixed(sqlite3 *db, int page_size, int reserved_bytes) {
  char text[1500];
  int usable = page_size - reserved_bytes;
  sql(db,
      "CREATE TABLE mixed(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER NOT NULL, t TEXT, r REAL, x, c INTEGER, z BLOB)");
  snprintf(
      text, sizeof text,
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
