/* A connection to tables in memory, under the names of their schemas. */
#include "sql/sql.h"

#include "base/array.h"

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

int nai_sql_rows(int64_t **rows, int64_t *count, struct nai_sql *sql, const struct nai_table *table, const char *clause,
                 struct nai_err *err) {
  const char *name = table->schema->name;
  struct nai_buf text = {0};
  sqlite3_stmt *statement = NULL;
  uint32_t capacity = 0, n = 0;
  *rows = NULL;
  nai_buf_printf(&text, "SELECT rowid FROM \"%s\" %s%s rowid", name, clause,
                 strstr(clause, "ORDER BY") ? "," : " ORDER BY");
  int rc = nai_buf_check(&text, err);
  if (!rc)
    rc = nai_sql_show(nai_sql_find(sql, name), table, err);
  nai_sql_count_steps(sql);
  if (!rc && sqlite3_prepare_v2(sql->sqlite, nai_buf_str(&text), -1, &statement, NULL) != SQLITE_OK)
    rc = failure(sql, err);
  while (!rc && sqlite3_step(statement) == SQLITE_ROW)
    if (nai_array_room(rows, &capacity, n, sizeof **rows))
      (*rows)[n++] = sqlite3_column_int64(statement, 0);
    else
      rc = nai_err_nomem(err);
  if (sqlite3_finalize(statement) != SQLITE_OK && !rc)
    rc = failure(sql, err);
  nai_buf_free(&text);
  *count = n;
  if (!rc)
    return NAI_OK;
  free(*rows);
  *rows = NULL;
  *count = 0;
  return rc;
}

void nai_sql_free(struct nai_sql *sql) {
  if (sql)
    nai_sql_close(sql);
  free(sql);
}
