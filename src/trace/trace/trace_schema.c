#include "base/array.h"
#include "trace/trace/trace_internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_any_of(const char *type, const char *const *patterns) {
  for (; *patterns; patterns++)
    if (sqlite3_strlike(*patterns, type, 0) == 0)
      return true;
  return false;
}

/* SQLite's rules of column affinity, as far as they decide on INTEGER, TEXT and REAL: see docs/readers.md. */
static void set_affinity(struct nai_db_column *column, const char *type) {
  static const char *const integer[] = {"%INT%", NULL}, *const text[] = {"%CHAR%", "%CLOB%", "%TEXT%", NULL},
                           *const blob[] = {"%BLOB%", NULL}, *const real[] = {"%REAL%", "%FLOA%", "%DOUB%", NULL};
  column->integer_affinity = is_any_of(type, integer);
  if (column->integer_affinity)
    return;
  column->text_affinity = is_any_of(type, text);
  column->real_affinity = !column->text_affinity && !is_any_of(type, blob) && is_any_of(type, real);
}

static const char *column_text(sqlite3_stmt *stmt, int column) {
  const char *text = (const char *)sqlite3_column_text(stmt, column);
  return text ? text : "";
}

/* A text that could not be had is "", too: to be asked after reading some. */
static bool out_of_memory(sqlite3 *db) { return sqlite3_errcode(db) == SQLITE_NOMEM; }

/* SQL reaches the rowid by three names, each of which a column may take away. Asking for the name of a column that does
 * not exist succeeds for the rowid of a rowid table only. */
static int find_rowid_name(struct nai_db_table *table, sqlite3 *db, struct nai_err *err) {
  static const char *const names[] = {"rowid", "_rowid_", "oid"};
  bool asked = false;
  for (size_t i = 0; i < sizeof names / sizeof *names && !table->rowid_name; i++) {
    if (nai_db_column(table, names[i]) >= 0)
      continue;
    asked = true;
    int rc = sqlite3_table_column_metadata(db, "main", table->name, names[i], NULL, NULL, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
      table->rowid_name = names[i];
    else if (rc != SQLITE_ERROR)
      return nai_sqlite_fail(err, db, rc, "cannot read the schema");
  }
  table->without_rowid = asked && !table->rowid_name;
  return NAI_OK;
}

struct statements {
  sqlite3_stmt *columns, *key_index;
};

/* INTEGER PRIMARY KEY is the rowid unless declared DESC, which SQLite then keeps in an index of its own. */
static int find_rowid_alias(struct nai_db_table *table, int key_column, sqlite3 *db, sqlite3_stmt *key_index,
                            struct nai_err *err) {
  sqlite3_bind_text(key_index, 1, table->name, -1, SQLITE_STATIC);
  int step = sqlite3_step(key_index);
  sqlite3_reset(key_index);
  if (step != SQLITE_ROW && step != SQLITE_DONE)
    return nai_sqlite_fail(err, db, step, "cannot read the schema");
  struct nai_db_column *column = &table->columns[key_column];
  column->rowid_alias = step == SQLITE_DONE;
  if (column->rowid_alias)
    table->rowid_name = column->name;
  return NAI_OK;
}

static int read_columns(struct nai_db_table *table, sqlite3 *db, const struct statements *stmts, struct nai_err *err) {
  uint32_t capacity = 0;
  int keys = 0, key_column = -1, step;
  sqlite3_bind_text(stmts->columns, 1, table->name, -1, SQLITE_STATIC);
  while ((step = sqlite3_step(stmts->columns)) == SQLITE_ROW) {
    if (!nai_array_room(&table->columns, &capacity, (uint32_t)table->column_count, sizeof *table->columns))
      break;
    struct nai_db_column *column = &table->columns[table->column_count];
    const char *type = column_text(stmts->columns, 1);
    const char *default_value = column_text(stmts->columns, 2);
    *column =
        (struct nai_db_column){.name = strdup(column_text(stmts->columns, 0)),
                               .hidden = sqlite3_column_int(stmts->columns, 4) != 0,
                               .added_with_default = *default_value && sqlite3_stricmp(default_value, "NULL") != 0,
                               .not_null = sqlite3_column_int(stmts->columns, 5) != 0};
    set_affinity(column, type);
    if (!column->name)
      break;
    table->column_count++;
    if (out_of_memory(db))
      break;
    if (sqlite3_column_int(stmts->columns, 3)) {
      keys++;
      key_column = sqlite3_stricmp(type, "INTEGER") == 0 ? table->column_count - 1 : -1;
    }
  }
  sqlite3_reset(stmts->columns);
  if (step == SQLITE_ROW)
    return nai_err_nomem(err);
  if (step != SQLITE_DONE)
    return nai_sqlite_fail(err, db, step, "cannot read the schema");
  table->plain = table->column_count > 0;
  int rc = find_rowid_name(table, db, err);
  if (rc)
    return rc;
  if (keys != 1 || key_column < 0 || table->without_rowid)
    return NAI_OK;
  return find_rowid_alias(table, key_column, db, stmts->key_index, err);
}

/* Exporters end a declaration with a line of its own; ALTER TABLE puts what it adds right before the last bracket. */
static bool may_be_altered(const char *sql) {
  size_t len = strlen(sql);
  if (!len || sql[--len] != ')')
    return true;
  while (len && (sql[len - 1] == ' ' || sql[len - 1] == '\t'))
    len--;
  return !len || sql[len - 1] != '\n';
}

static int add_table(struct nai_trace *trace, sqlite3_stmt *list, struct nai_err *err) {
  if (trace->table_count == NAI_TRACE_MAX_TABLES)
    return nai_err_set(err, NAI_EINPUT, "the database has more than %d tables: it is no trace export",
                       NAI_TRACE_MAX_TABLES);
  if (!nai_array_room(&trace->tables, &trace->table_capacity, (uint32_t)trace->table_count, sizeof *trace->tables))
    return nai_err_nomem(err);
  struct nai_db_table *table = &trace->tables[trace->table_count++];
  *table = (struct nai_db_table){.name = strdup(column_text(list, 1)),
                                 .rootpage = sqlite3_column_int64(list, 2),
                                 .altered = may_be_altered(column_text(list, 3))};
  bool view = strcmp(column_text(list, 0), "view") == 0;
  table->kind = view ? "view" : table->rootpage > 0 ? "table" : "virtual table";
  if (view)
    table->rootpage = 0;
  return table->name && !out_of_memory(trace->db) ? NAI_OK : nai_err_nomem(err);
}

/* Also those of indexes, and of tables that no name leads to. */
static int read_roots(struct nai_trace *trace, struct nai_err *err) {
  sqlite3_stmt *stmt = NULL;
  int step = SQLITE_DONE;
  int rc =
      nai_sqlite_prepare(&stmt, trace->db, "SELECT rootpage FROM sqlite_schema WHERE rootpage BETWEEN 1 AND 4294967294",
                         "cannot read the schema", err);
  while (!rc && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
    if (!nai_array_room(&trace->roots, &trace->root_capacity, trace->root_count, sizeof *trace->roots))
      rc = nai_err_nomem(err);
    else
      trace->roots[trace->root_count++] = (uint32_t)sqlite3_column_int64(stmt, 0);
  }
  if (!rc && step != SQLITE_DONE)
    rc = nai_sqlite_fail(err, trace->db, step, "cannot read the schema");
  sqlite3_finalize(stmt);
  return rc;
}

int nai_trace_read_schema(struct nai_trace *trace, struct nai_err *err) {
  static const char what[] = "cannot read the schema";
  sqlite3 *db = trace->db;
  sqlite3_stmt *list = NULL;
  struct statements stmts = {0};
  int step = SQLITE_DONE;
  int rc = nai_sqlite_prepare(
      &list, db, "SELECT type, name, rootpage, sql FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid",
      what, err);
  while (!rc && (step = sqlite3_step(list)) == SQLITE_ROW)
    rc = add_table(trace, list, err);
  if (!rc && step != SQLITE_DONE)
    rc = nai_sqlite_fail(err, db, step, what);
  if (!rc)
    rc = read_roots(trace, err);
  if (!rc)
    rc = nai_sqlite_prepare(
        &stmts.columns, db,
        "SELECT name, type, dflt_value, pk, hidden, \"notnull\" FROM pragma_table_xinfo(?1) ORDER BY cid", what, err);
  if (!rc)
    rc = nai_sqlite_prepare(&stmts.key_index, db, "SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk'", what, err);
  for (int i = 0; i < trace->table_count && !rc; i++)
    if (trace->tables[i].rootpage >
        0) /* SQLite would compile a view and run a virtual table's module to list columns */
      rc = read_columns(&trace->tables[i], db, &stmts, err);
  sqlite3_finalize(list);
  sqlite3_finalize(stmts.columns);
  sqlite3_finalize(stmts.key_index);
  return rc;
}

void nai_trace_free_schema(struct nai_trace *trace) {
  for (int i = 0; i < trace->table_count; i++) {
    for (int c = 0; c < trace->tables[i].column_count; c++)
      free(trace->tables[i].columns[c].name);
    free(trace->tables[i].columns);
    free(trace->tables[i].name);
  }
  free(trace->tables);
  free(trace->roots);
}

const struct nai_db_table *nai_trace_table(const struct nai_trace *trace, const char *name) {
  for (int i = 0; i < trace->table_count; i++)
    if (sqlite3_stricmp(trace->tables[i].name, name) == 0)
      return &trace->tables[i];
  return NULL;
}

int nai_db_column(const struct nai_db_table *table, const char *name) {
  for (int i = 0; i < table->column_count; i++)
    if (sqlite3_stricmp(table->columns[i].name, name) == 0)
      return i;
  return -1;
}
