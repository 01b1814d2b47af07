/* The connection: its tables by name, opened when a statement names them. */
#include "sql/internal.h"

#include "base/array.h"

struct nai_sql_table *nai_sql_find(const struct nai_sql *sql, const char *name) {
  for (uint32_t i = 0; i < sql->table_count; i++)
    if (sqlite3_stricmp(sql->tables[i].name, name) == 0)
      return &sql->tables[i];
  for (uint32_t i = 0; i < sql->table_count; i++)
    if (sql->tables[i].was && sqlite3_stricmp(sql->tables[i].was, name) == 0)
      return &sql->tables[i];
  return NULL;
}

const struct nai_sql_column *nai_sql_origin(const struct nai_schema **schema, const struct nai_sql *sql,
                                            sqlite3_stmt *statement, int i) {
  const char *table = sqlite3_column_table_name(statement, i), *column = sqlite3_column_origin_name(statement, i);
  const char *database = sqlite3_column_database_name(statement, i);
  bool ours = table && column && database && strcmp(database, "main") == 0;
  const struct nai_sql_table *t = ours ? nai_sql_find(sql, table) : NULL;
  for (int c = 0; t && t->table && c < t->column_count; c++) {
    char name[NAI_COLUMN_NAME_MAX];
    *schema = t->table->schema;
    if (strcmp(nai_sql_column_name(name, t, c), column) == 0)
      return &t->columns[c];
  }
  return NULL;
}

/* --- former names -------------------------------------------------------------------------------- */

static void tell(const struct nai_sql *sql, const struct nai_former *former) {
  if (sql->tell)
    sql->tell(sql->tell_ctx, former);
  else
    nai_former_tell(NULL, 0, 0, former);
}

void nai_sql_tell_former(const struct nai_sql *sql, const char *table, const char *column) {
  const struct nai_sql_table *t = nai_sql_find(sql, table);
  char was[NAI_COLUMN_NAME_MAX], now[NAI_COLUMN_NAME_MAX];
  if (t && sqlite3_stricmp(t->name, table) != 0)
    tell(sql, &(struct nai_former){"table", t->was, t->name});
  for (int i = t ? t->shown_count : 0; t && column && i < t->column_count; i++)
    if (t->columns[i].former && sqlite3_stricmp(nai_sql_column_name(was, t, i), column) == 0)
      tell(sql,
           &(struct nai_former){"column", was, nai_display_column_name(now, t->table->schema, &t->columns[i].print)});
}

/* --- opening ------------------------------------------------------------------------------------- */

static bool has_table(const struct nai_sql *sql, const char *name) {
  const struct nai_sql_table *t = nai_sql_find(sql, name);
  return t && sqlite3_stricmp(t->name, name) == 0;
}

int nai_sql_add(struct nai_sql *sql, const char *name, const char *was, const struct nai_sql_source *source,
                struct nai_err *err) {
  if (has_table(sql, name))
    return NAI_OK;
  NAI_TRY(nai_memory_check(nai_array_room(&sql->tables, &sql->capacity, sql->table_count, sizeof *sql->tables), err));
  sql->tables[sql->table_count++] = (struct nai_sql_table){.sql = sql, .name = name, .was = was, .source = source};
  return NAI_OK;
}

/* NAI_TRY here returns codes of SQLite. */
static int create_modules(struct nai_sql *sql) {
  NAI_FREED const char **keep = calloc(2 * (size_t)sql->table_count + 2, sizeof *keep);
  uint32_t count = 0;
  if (!keep)
    return SQLITE_NOMEM;
  for (uint32_t i = 0; i < sql->table_count; i++) {
    struct nai_sql_table *t = &sql->tables[i];
    keep[count++] = t->name;
    NAI_TRY(sqlite3_create_module(sql->sqlite, t->name, &nai_sql_module, t));
    if (!t->was || has_table(sql, t->was))
      continue;
    keep[count++] = t->was;
    NAI_TRY(sqlite3_create_module(sql->sqlite, t->was, &nai_sql_module, t));
  }
  keep[count] = "json_each";
  return sqlite3_drop_modules(sql->sqlite, keep);
}

static int open_sqlite(struct nai_sql *sql) {
  static const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
  NAI_TRY(sqlite3_open_v2(":memory:", &sql->sqlite, flags, NULL));
  NAI_TRY(create_modules(sql));
  NAI_TRY(nai_functions_add(sql));
  return nai_aggregates_add(sql->sqlite);
}

int nai_sql_open_error(const struct nai_sql *sql, int code, struct nai_err *err) {
  if (code == SQLITE_NOMEM)
    return nai_err_nomem(err);
  return nai_err_set(err, NAI_EINPUT, "cannot prepare the tables of the run for SQL: %s", sqlite3_errmsg(sql->sqlite));
}

int nai_sql_open(struct nai_sql *sql, struct nai_err *err) {
  int failed = open_sqlite(sql);
  return failed ? nai_sql_open_error(sql, failed, err) : NAI_OK;
}

void nai_sql_close(struct nai_sql *sql) {
  sqlite3_close_v2(sql->sqlite);
  for (uint32_t i = 0; i < sql->table_count; i++) {
    struct nai_sql_table *t = &sql->tables[i];
    nai_facts_clear(t);
    free(t->facts);
    nai_table_free(t->own);
    free(t->columns);
  }
  free(sql->tables);
  nai_sql_kept_free(&sql->short_names);
}
