/* A connection to tables in memory, under the names of their schemas. */
#include "sql/sql.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A few seconds of a statement; counted, so that it fails on any machine or on none. */
enum { STEPS_AT_ONCE = 1000000, MAX_TIMES = 300 };

struct memory {
  struct nai_sql sql; /* first: what callers hold */
  int times;          /* that a million steps were taken */
  struct nai_sql_source sources[];
};

static int open_empty(struct nai_sql_table *t, struct nai_err *err) {
  int rc = nai_table_new(&t->own, t->source->schema, err);
  t->table = t->own;
  return rc;
}

static int took_too_many(void *ctx) { return ++((struct memory *)ctx)->times > MAX_TIMES; }

void nai_sql_count_steps(struct nai_sql *sql) { ((struct memory *)sql)->times = 0; }

int nai_sql_new(struct nai_sql **out, const struct nai_schema *const *schemas, size_t count, struct nai_err *err) {
  struct memory *m = calloc(1, sizeof *m + count * sizeof *m->sources);
  int rc = m ? NAI_OK : nai_err_nomem(err);
  *out = m ? &m->sql : NULL;
  for (size_t i = 0; i < count && !rc; i++) {
    m->sources[i] = (struct nai_sql_source){.schema = schemas[i], .open = open_empty};
    rc = nai_sql_add(*out, schemas[i]->name, &m->sources[i], err);
  }
  if (!rc)
    rc = nai_sql_open(*out, err);
  int failed = rc ? SQLITE_OK : nai_sql_guard(*out, 0);
  if (failed)
    rc = nai_sql_open_error(*out, failed, err);
  if (!rc)
    sqlite3_progress_handler(m->sql.sqlite, STEPS_AT_ONCE, took_too_many, m);
  return rc;
}

static int failure(struct nai_sql *sql, struct nai_err *err) {
  return sqlite3_errcode(sql->sqlite) == SQLITE_NOMEM ? nai_err_nomem(err)
                                                      : nai_err_set(err, NAI_EINPUT, "%s", sqlite3_errmsg(sql->sqlite));
}

/* The first column of each row of a statement, the first `most` of them. */
static int64_t read_column(int64_t *values, int64_t most, struct nai_sql *sql, const char *text, int *rc,
                           struct nai_err *err) {
  sqlite3_stmt *statement = NULL;
  int64_t n = 0;
  nai_sql_count_steps(sql);
  if (sqlite3_prepare_v2(sql->sqlite, text, -1, &statement, NULL) == SQLITE_OK)
    while (n < most && sqlite3_step(statement) == SQLITE_ROW)
      values[n++] = sqlite3_column_int64(statement, 0);
  int code = sqlite3_errcode(sql->sqlite);
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE)
    *rc = failure(sql, err);
  sqlite3_finalize(statement);
  return n;
}

int nai_sql_rows(int64_t *rows, int64_t most, int64_t *total, struct nai_sql *sql, const struct nai_table *table,
                 const char *clause, struct nai_err *err) {
  const char *name = table->schema->name;
  struct nai_buf first = {0}, count = {0};
  nai_buf_printf(&first, "SELECT rowid FROM \"%s\" %s%s rowid LIMIT %" PRId64, name, clause,
                 strstr(clause, "ORDER BY") ? "," : " ORDER BY", most);
  nai_buf_printf(&count, "SELECT count(*) FROM \"%s\" %s", name, clause);
  *total = 0;
  int rc = nai_buf_check(&first, err);
  if (!rc)
    rc = nai_buf_check(&count, err);
  if (!rc)
    rc = nai_sql_show(nai_sql_find(sql, name), table, err);
  if (!rc)
    *total = read_column(rows, most, sql, nai_buf_str(&first), &rc, err);
  if (!rc && *total == most)
    read_column(total, 1, sql, nai_buf_str(&count), &rc, err);
  nai_buf_free(&first);
  nai_buf_free(&count);
  return rc;
}

void nai_sql_free(struct nai_sql *sql) {
  if (sql)
    nai_sql_close(sql);
  free(sql);
}
