#include "trace/trace/trace_internal.h"

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
  sqlite3_stmt *tables, *roots, *columns, *key_index;
};

static void statements_free(struct statements *s) {
  sqlite3_finalize(s->tables);
  sqlite3_finalize(s->roots);
  sqlite3_finalize(s->columns);
  sqlite3_finalize(s->key_index);
}

static const char reading[] = "cannot read the schema";

/* INTEGER PRIMARY KEY is the rowid unless declared DESC, which SQLite then keeps in an index of its own. */
static int find_rowid_alias(struct nai_db_table *table, int key_column, sqlite3 *db, sqlite3_stmt *key_index,
                            struct nai_err *err) {
  sqlite3_bind_text(key_index, 1, table->name, -1, SQLITE_STATIC);
  int step = sqlite3_step(key_index);
  sqlite3_reset(key_index);
  if (step != SQLITE_ROW && step != SQLITE_DONE)
    return nai_sqlite_fail(err, db, step, reading);
  struct nai_db_column *column = &table->columns[key_column];
  column->rowid_alias = step == SQLITE_DONE;
  if (column->rowid_alias)
    table->rowid_name = column->name;
  return NAI_OK;
}

static int add_column(struct nai_db_table *table, uint32_t *capacity, struct nai_trace *trace, sqlite3_stmt *row,
                      struct nai_err *err) {
  NAI_TRY(NAI_ROOM(table->columns, *capacity, (uint32_t)table->column_count, &trace->arena, err));
  const char *default_value = column_text(row, 2);
  struct nai_db_column *column = &table->columns[table->column_count++];
  *column = (struct nai_db_column){.name = nai_arena_printf(&trace->arena, "%s", column_text(row, 0)),
                                   .hidden = sqlite3_column_int(row, 4) != 0,
                                   .added_with_default = *default_value && sqlite3_stricmp(default_value, "NULL") != 0,
                                   .not_null = sqlite3_column_int(row, 5) != 0};
  set_affinity(column, column_text(row, 1));
  return out_of_memory(trace->db) ? nai_err_nomem(err) : nai_arena_check(&trace->arena, err);
}

static int read_columns(struct nai_db_table *table, struct nai_trace *trace, const struct statements *stmts,
                        struct nai_err *err) {
  sqlite3_stmt *row = stmts->columns;
  uint32_t capacity = 0;
  int keys = 0, key_column = -1, step, rc = NAI_OK;
  sqlite3_bind_text(row, 1, table->name, -1, SQLITE_STATIC);
  while (!rc && (step = sqlite3_step(row)) == SQLITE_ROW) {
    if (sqlite3_column_int(row, 3)) {
      keys++;
      key_column = sqlite3_stricmp(column_text(row, 1), "INTEGER") == 0 ? table->column_count : -1;
    }
    rc = add_column(table, &capacity, trace, row, err);
  }
  sqlite3_reset(row);
  if (rc)
    return rc;
  if (step != SQLITE_DONE)
    return nai_sqlite_fail(err, trace->db, step, reading);
  table->plain = table->column_count > 0;
  NAI_TRY(find_rowid_name(table, trace->db, err));
  if (keys != 1 || key_column < 0 || table->without_rowid)
    return NAI_OK;
  return find_rowid_alias(table, key_column, trace->db, stmts->key_index, err);
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
  NAI_TRY(NAI_ROOM(trace->tables, trace->table_capacity, (uint32_t)trace->table_count, &trace->arena, err));
  struct nai_db_table *table = &trace->tables[trace->table_count++];
  *table = (struct nai_db_table){.name = nai_arena_printf(&trace->arena, "%s", column_text(list, 1)),
                                 .rootpage = sqlite3_column_int64(list, 2),
                                 .altered = may_be_altered(column_text(list, 3))};
  bool view = strcmp(column_text(list, 0), "view") == 0;
  table->kind = view ? "view" : table->rootpage > 0 ? "table" : "virtual table";
  if (view)
    table->rootpage = 0;
  return out_of_memory(trace->db) ? nai_err_nomem(err) : nai_arena_check(&trace->arena, err);
}

static int add_root(struct nai_trace *trace, sqlite3_stmt *row, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(trace->roots, trace->root_capacity, trace->root_count, &trace->arena, err));
  trace->roots[trace->root_count++] = (uint32_t)sqlite3_column_int64(row, 0);
  return NAI_OK;
}

static int for_each_row(struct nai_trace *trace, sqlite3_stmt *stmt,
                        int (*add)(struct nai_trace *trace, sqlite3_stmt *row, struct nai_err *err),
                        struct nai_err *err) {
  int step;
  while ((step = sqlite3_step(stmt)) == SQLITE_ROW)
    NAI_TRY(add(trace, stmt, err));
  return step == SQLITE_DONE ? NAI_OK : nai_sqlite_fail(err, trace->db, step, reading);
}

int nai_trace_read_schema(struct nai_trace *trace, struct nai_err *err) {
  NAI_SCOPED(statements) stmts = {0};
  sqlite3 *db = trace->db;
  NAI_TRY(nai_sqlite_prepare(
      &stmts.tables, db,
      "SELECT type, name, rootpage, sql FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid", reading,
      err));
  NAI_TRY(for_each_row(trace, stmts.tables, add_table, err));
  /* Also those of indexes, and of tables that no name leads to. */
  NAI_TRY(nai_sqlite_prepare(
      &stmts.roots, db, "SELECT rootpage FROM sqlite_schema WHERE rootpage BETWEEN 1 AND 4294967294", reading, err));
  NAI_TRY(for_each_row(trace, stmts.roots, add_root, err));
  NAI_TRY(nai_sqlite_prepare(
      &stmts.columns, db,
      "SELECT name, type, dflt_value, pk, hidden, \"notnull\" FROM pragma_table_xinfo(?1) ORDER BY cid", reading, err));
  NAI_TRY(nai_sqlite_prepare(&stmts.key_index, db, "SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk'", reading,
                             err));
  for (int i = 0; i < trace->table_count; i++)
    if (trace->tables[i].rootpage >
        0) /* SQLite would compile views and run modules of virtual tables to list columns */
      NAI_TRY(read_columns(&trace->tables[i], trace, &stmts, err));
  return NAI_OK;
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
