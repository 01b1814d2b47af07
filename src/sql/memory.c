/* A connection to tables in memory, under the names of their schemas. */
#include "sql/sql.h"

/* A few seconds of a statement, and what reading all rows once and sorting them takes; counted, so that it fails on any
 * machine or on none. */
enum { STEPS_AT_ONCE = 1000000, MAX_TIMES = 300, STEPS_A_ROW = 200 };

struct memory {
  struct nai_sql sql; /* first: what callers hold */
  int times;          /* that a million steps were taken */
  struct nai_sql_source sources[];
};

static int open_empty(struct nai_sql_table *t, struct nai_err *err) {
  NAI_TRY(nai_table_new(&t->own, t->source->schema, err));
  t->table = t->own;
  return NAI_OK;
}

static int took_too_many(void *ctx) {
  struct memory *m = ctx;
  int64_t rows = 0;
  for (uint32_t t = 0; t < m->sql.table_count; t++)
    rows += m->sql.tables[t].table ? m->sql.tables[t].table->rows : 0;
  return ++m->times > MAX_TIMES + rows / STEPS_AT_ONCE * STEPS_A_ROW;
}

void nai_sql_count_steps(struct nai_sql *sql) { ((struct memory *)sql)->times = 0; }

int nai_sql_new(struct nai_sql **out, const struct nai_schema *const *schemas, size_t count, struct nai_err *err) {
  struct memory *m = calloc(1, sizeof *m + count * sizeof *m->sources);
  *out = m ? &m->sql : NULL;
  NAI_TRY(nai_memory_check(m, err));
  for (size_t i = 0; i < count; i++) {
    m->sources[i] = (struct nai_sql_source){.schema = schemas[i], .open = open_empty};
    NAI_TRY(nai_sql_add(*out, schemas[i]->name, schemas[i]->was, &m->sources[i], err));
  }
  NAI_TRY(nai_sql_open(*out, err));
  int failed = nai_sql_guard(*out, 0);
  if (failed)
    return nai_sql_open_error(*out, failed, err);
  sqlite3_progress_handler(m->sql.sqlite, STEPS_AT_ONCE, took_too_many, m);
  return NAI_OK;
}

/* The first column of each row of a statement, the first `most` of them; *count: how many there are. */
static int read_column(int64_t *values, int64_t *count, int64_t most, struct nai_sql *sql, const char *text,
                       struct nai_err *err) {
  sqlite3_stmt *statement = NULL;
  *count = 0;
  nai_sql_count_steps(sql);
  if (sqlite3_prepare_v2(sql->sqlite, text, -1, &statement, NULL) == SQLITE_OK)
    while (*count < most && sqlite3_step(statement) == SQLITE_ROW)
      values[(*count)++] = sqlite3_column_int64(statement, 0);
  int code = sqlite3_errcode(sql->sqlite), rc = NAI_OK;
  if (code == SQLITE_NOMEM)
    rc = nai_err_nomem(err);
  else if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE)
    rc = nai_err_set(err, NAI_EINPUT, "%s", sqlite3_errmsg(sql->sqlite));
  sqlite3_finalize(statement);
  return rc;
}

int nai_sql_rows(int64_t *rows, int64_t most, int64_t *total, struct nai_sql *sql, const struct nai_table *table,
                 const char *clause, struct nai_err *err) {
  const char *name = table->schema->name;
  NAI_SCOPED(nai_buf) first = {0};
  NAI_SCOPED(nai_buf) count = {0};
  int64_t one;
  nai_buf_printf(&first, "SELECT rowid FROM \"%s\" %s%s rowid LIMIT %" PRId64, name, clause,
                 strstr(clause, "ORDER BY") ? "," : " ORDER BY", most);
  nai_buf_printf(&count, "SELECT count(*) FROM \"%s\" %s", name, clause);
  *total = 0;
  NAI_TRY(nai_buf_check(&first, err));
  NAI_TRY(nai_buf_check(&count, err));
  NAI_TRY(nai_sql_show(nai_sql_find(sql, name), table, err));
  NAI_TRY(read_column(rows, total, most, sql, nai_buf_str(&first), err));
  return *total == most ? read_column(total, &one, 1, sql, nai_buf_str(&count), err) : NAI_OK;
}

void nai_sql_free(struct nai_sql *sql) {
  if (sql)
    nai_sql_close(sql);
  free(sql);
}
