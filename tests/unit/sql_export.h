/* Exports that a test writes with SQL, and what becomes of them. Included after model_fixture.h. */
#pragma once

#include "base/fs.h"

#include <stdio.h>
#include <unistd.h>

#include <sqlite3.h>

struct run {
  char dir[64], path[96];
  struct nai_trace *trace;
  struct nai_ingest in;
  struct nai_err err;
  int rc;
};

/* An export with table StringIds and what `sql` makes. */
static void write_export(struct run *r, const char *sql) {
  sqlite3 *db;
  char *message = NULL;
  *r = (struct run){.dir = "/tmp/nai-export-XXXXXX"};
  assert_non_null(mkdtemp(r->dir));
  snprintf(r->path, sizeof r->path, "%s/t.sqlite", r->dir);
  assert_int_equal(sqlite3_open(r->path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)", NULL, NULL, NULL),
                   SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
    fail_msg("%s", message);
  sqlite3_close(db);
}

static void stop(struct run *r) {
  nai_ingest_free(&r->in);
  nai_trace_close(r->trace);
  ok(nai_fs_remove_tree(r->dir, err));
}
