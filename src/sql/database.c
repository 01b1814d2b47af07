/* The connection: its tables by name, opened when a statement names them. */
#include "sql/internal.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static double divisor_of(const struct nai_column_def *def, enum nai_unit unit) {
  if (def->type > NAI_I32)
    return 1;
  return unit == NAI_US ? 1e3 : unit == NAI_MS ? 1e6 : unit == NAI_S ? 1e9 : 1;
}

static int add_column(struct nai_sql_table *t, uint32_t *capacity, struct nai_display_column print,
                      struct nai_err *err) {
  if (!nai_array_room(&t->columns, capacity, (uint32_t)t->column_count, sizeof *t->columns))
    return nai_err_nomem(err);
  double divide = divisor_of(&t->table->schema->columns[print.column], print.unit);
  t->columns[t->column_count++] = (struct nai_sql_column){print, divide};
  return NAI_OK;
}

/* What outputs show of the table, then what is stored and not shown. */
static int list_columns(struct nai_sql_table *t, struct nai_err *err) {
  const struct nai_schema *schema = t->table->schema;
  uint32_t capacity = 0;
  t->column_count = 0;
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, schema);)
    NAI_TRY(add_column(t, &capacity, p, err));
  t->shown_count = t->column_count;
  for (int c = 0; c < (int)schema->column_count; c++) {
    const struct nai_column_def *def = &schema->columns[c];
    if (def->display_units && !(def->display_units & 1u << def->unit))
      NAI_TRY(add_column(t, &capacity, (struct nai_display_column){c, def->unit}, err));
  }
  return NAI_OK;
}

int nai_sql_read(struct nai_sql_table *t, struct nai_err *err) {
  if (t->facts) /* made last */
    return NAI_OK;
  int rc = t->table ? NAI_OK : t->source->open(t, err);
  if (rc == NAI_ESTALE)
    rc = err->code = NAI_EINPUT;
  NAI_TRY(rc);
  NAI_TRY(list_columns(t, err));
  t->facts = calloc((size_t)t->table->schema->column_count + 1, sizeof *t->facts);
  return t->facts ? NAI_OK : nai_err_nomem(err);
}

int nai_sql_fill(struct nai_sql_table *t, int column, struct nai_err *err) {
  uint32_t part = t->source->parts ? t->source->parts[column] : 0;
  if ((t->built & part) == part)
    return NAI_OK;
  NAI_TRY(t->source->build(t, part, err));
  t->built |= part;
  return NAI_OK;
}

int nai_sql_show(struct nai_sql_table *t, const struct nai_table *table, struct nai_err *err) {
  NAI_TRY(nai_sql_read(t, err));
  nai_facts_clear(t);
  t->table = table ? table : t->own;
  return NAI_OK;
}

struct nai_sql_table *nai_sql_find(const struct nai_sql *sql, const char *name) {
  for (uint32_t i = 0; i < sql->table_count; i++)
    if (sqlite3_stricmp(sql->tables[i].name, name) == 0)
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
    if (strcmp(nai_display_column_name(name, t->table->schema, &t->columns[c].print), column) == 0)
      return &t->columns[c];
  }
  return NULL;
}

/* --- opening ------------------------------------------------------------------------------------- */

int nai_sql_add(struct nai_sql *sql, const char *name, const struct nai_sql_source *source, struct nai_err *err) {
  if (nai_sql_find(sql, name))
    return NAI_OK;
  if (!nai_array_room(&sql->tables, &sql->capacity, sql->table_count, sizeof *sql->tables))
    return nai_err_nomem(err);
  sql->tables[sql->table_count++] = (struct nai_sql_table){.sql = sql, .name = name, .source = source};
  return NAI_OK;
}

/* NAI_TRY here returns codes of SQLite. */
static int create_modules(struct nai_sql *sql) {
  NAI_FREED const char **keep = calloc((size_t)sql->table_count + 2, sizeof *keep);
  if (!keep)
    return SQLITE_NOMEM;
  for (uint32_t i = 0; i < sql->table_count; i++) {
    keep[i] = sql->tables[i].name;
    NAI_TRY(sqlite3_create_module(sql->sqlite, sql->tables[i].name, &nai_sql_module, &sql->tables[i]));
  }
  keep[sql->table_count] = "json_each";
  return sqlite3_drop_modules(sql->sqlite, keep);
}

static int open_sqlite(struct nai_sql *sql) {
  static const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
  NAI_TRY(sqlite3_open_v2(":memory:", &sql->sqlite, flags, NULL));
  NAI_TRY(create_modules(sql));
  NAI_TRY(nai_functions_add(sql->sqlite));
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
}
