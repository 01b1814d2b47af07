/* A small undamaged database with all that damage can hit: interior pages, overflow chains, freed pages, an index,
 * records of several ages. */
#pragma once

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void seed_database(const char *path, int page_size, int rows) {
  static const char *const format =
      "PRAGMA page_size=%d; PRAGMA journal_mode=off; PRAGMA synchronous=off;"
      "CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
      "CREATE TABLE events(start INTEGER NOT NULL, \"end\" INTEGER, text TEXT, r REAL, x BLOB, n INTEGER);"
      "CREATE TABLE keyed(k TEXT PRIMARY KEY, v);"
      "CREATE TABLE plain_key(v, k TEXT PRIMARY KEY) WITHOUT ROWID;"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
      "INSERT INTO StringIds SELECT i * 2, printf('string %%d %%.*c', i, i * i %% 500, 's') FROM n;"
      "INSERT INTO events SELECT id * 1000003, CASE WHEN id %% 9 THEN id * 1000003 + (1 << (id %% 50)) END,"
      " CASE WHEN id %% 4 THEN value END, id / 3.0, zeroblob(id %% 700), id FROM StringIds;"
      "INSERT INTO events SELECT start, text, \"end\", n, value, 1 FROM events, StringIds WHERE id = 4;"
      "INSERT INTO keyed SELECT value, id FROM StringIds; INSERT INTO plain_key SELECT id, value FROM StringIds;"
      "ALTER TABLE events ADD COLUMN later INTEGER; INSERT INTO events(start, later) VALUES(1, 2), (3, 4);"
      "DELETE FROM events WHERE rowid %% 11 = 5; UPDATE events SET text = text || text WHERE rowid %% 13 = 6;";
  sqlite3 *db = NULL;
  char *sql = sqlite3_mprintf(format, page_size, rows);
  unlink(path);
  if (!sql || sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
    fprintf(stderr, "cannot create the seed database: %s\n", sqlite3_errmsg(db));
    abort();
  }
  sqlite3_free(sql);
  sqlite3_close(db);
}
