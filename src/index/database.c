#include "index/database.h"

#include "base/buf.h"

#include <assert.h>

static int fail(const struct nai_index_database *db, struct nai_err *err) {
  sqlite3 *sqlite = db->sqlite;
  int failed = sqlite3_errcode(sqlite) == SQLITE_CANTOPEN ? sqlite3_system_errno(sqlite) : 0;
  if (failed) /* no descriptor left, as like as not */
    return nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", db->aside.path);
  return sqlite3_errcode(sqlite) == SQLITE_NOMEM
           ? nai_err_nomem(err)
           : nai_err_set(err, NAI_EIO, "cannot write \"%s\": %s", db->aside.path, sqlite3_errmsg(sqlite));
}

static int run_sql(const struct nai_index_database *db, const char *sql, struct nai_err *err) {
  return sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK ? NAI_OK : fail(db, err);
}

static int prepare(sqlite3_stmt **out, const struct nai_index_database *db, const struct nai_buf *sql,
                   struct nai_err *err) {
  NAI_TRY(nai_buf_check(sql, err));
  return sqlite3_prepare_v2(db->sqlite, nai_buf_str(sql), -1, out, NULL) == SQLITE_OK ? NAI_OK : fail(db, err);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* What cannot be opened for writing SQLite opens for reading, and forgets why. The file is our own: a moment without
 * descriptors is over, or says what it is, when it is opened once more. */
static int open_new(struct nai_index_database *db, struct nai_err *err) {
  enum { TRIES = 2 };
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_PRIVATECACHE;
  for (int i = 0; i < TRIES; i++) {
    if (sqlite3_open_v2(db->aside.path, &db->sqlite, flags, "unix-none") != SQLITE_OK)
      return fail(db, err);
    if (sqlite3_db_readonly(db->sqlite, "main") == 0)
      return NAI_OK;
    sqlite3_close(db->sqlite);
    db->sqlite = NULL;
  }
  return nai_err_set(err, NAI_EIO, "cannot write \"%s\"", db->aside.path);
}

int nai_index_database_begin(struct nai_index_database *out, const char *path, struct nai_err *err) {
  static const char begin[] =
      "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN";
  NAI_TRY(nai_temporary_file(&out->aside, path, err));
  NAI_TRY(open_new(out, err));
  return run_sql(out, begin, err);
}

static void finalize(struct nai_index_database *db) {
  for (int i = 0; i < NAI_INDEX_TABLES; i++) {
    sqlite3_finalize(db->inserts[i]);
    sqlite3_finalize(db->selects[i]);
    db->inserts[i] = db->selects[i] = NULL;
  }
}

void nai_index_database_free(struct nai_index_database *db) {
  finalize(db);
  sqlite3_close(db->sqlite);
  nai_temporary_remove(&db->aside);
  *db = (struct nai_index_database){0};
}

/* --- writing ---------------------------------------------------------------------------------- */

static const char *type_of(enum nai_type type) {
  return type == NAI_STR ? "TEXT" : type == NAI_F64 ? "REAL" : "INTEGER";
}

/* Columns as they are stored (times in ns), the key as the primary key. Names are ours. */
static int create_table(const struct nai_index_database *db, const struct nai_schema *schema, struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  const char *separator = "";
  nai_buf_printf(&sql, "CREATE TABLE \"%s\"(", schema->name);
  for (uint32_t c = 0; c < schema->column_count; c++)
    nai_buf_printf(&sql, "%s\"%s\" %s", c ? ", " : "", schema->columns[c].name, type_of(schema->columns[c].type));
  nai_buf_puts(&sql, ", PRIMARY KEY(");
  for (uint32_t c = 0; c < schema->column_count; c++)
    if (schema->columns[c].key) {
      nai_buf_printf(&sql, "%s\"%s\"", separator, schema->columns[c].name);
      separator = ", ";
    }
  nai_buf_puts(&sql, ")) WITHOUT ROWID");
  NAI_TRY(nai_buf_check(&sql, err));
  return run_sql(db, nai_buf_str(&sql), err);
}

static int prepare_insert(sqlite3_stmt **out, const struct nai_index_database *db, const struct nai_schema *schema,
                          struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  nai_buf_printf(&sql, "INSERT INTO \"%s\" VALUES(", schema->name);
  for (uint32_t c = 0; c < schema->column_count; c++)
    nai_buf_puts(&sql, c ? ", ?" : "?");
  nai_buf_putc(&sql, ')');
  return prepare(out, db, &sql, err);
}

/* The number of a table, NAI_INDEX_TABLES where it is not there. */
static int find_table(const struct nai_index_database *db, const struct nai_schema *schema) {
  int i = 0;
  while (i < NAI_INDEX_TABLES && db->schemas[i] != schema)
    i++;
  return i;
}

static int make_table(int *out, struct nai_index_database *db, const struct nai_schema *schema, struct nai_err *err) {
  if ((*out = find_table(db, schema)) < NAI_INDEX_TABLES)
    return NAI_OK;
  *out = find_table(db, NULL);
  assert(*out < NAI_INDEX_TABLES);
  db->schemas[*out] = schema;
  NAI_TRY(create_table(db, schema, err));
  return prepare_insert(&db->inserts[*out], db, schema, err);
}

static void bind(sqlite3_stmt *insert, int column, const struct nai_value *value) {
  if (value->null)
    sqlite3_bind_null(insert, column);
  else if (value->type == NAI_STR)
    sqlite3_bind_text(insert, column, value->s, -1, SQLITE_STATIC);
  else if (value->type == NAI_F64)
    sqlite3_bind_double(insert, column, value->f);
  else
    sqlite3_bind_int64(insert, column, value->i);
}

int nai_index_database_add(struct nai_index_database *db, const struct nai_table *table, struct nai_err *err) {
  int number;
  NAI_TRY(make_table(&number, db, table->schema, err));
  sqlite3_stmt *insert = db->inserts[number];
  for (int64_t row = 0; row < table->rows; row++) {
    for (uint32_t c = 0; c < table->schema->column_count; c++) {
      struct nai_value value = nai_table_value(table, row, (int)c);
      bind(insert, (int)c + 1, &value);
    }
    if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
      return fail(db, err);
  }
  return NAI_OK;
}

/* A file is whole when it is closed; what reads it from then on has it open before it can be replaced. */
int nai_index_database_publish(struct nai_index_database *db, const char *path, struct nai_err *err) {
  NAI_TRY(run_sql(db, "COMMIT", err));
  finalize(db);
  if (sqlite3_close(db->sqlite) != SQLITE_OK)
    return nai_err_set(err, NAI_EIO, "cannot write \"%s\"", db->aside.path);
  db->sqlite = NULL;
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE;
  if (sqlite3_open_v2(db->aside.path, &db->sqlite, flags, "unix-none") != SQLITE_OK)
    return fail(db, err);
  int failed = nai_temporary_become(&db->aside, path);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", path) : NAI_OK;
}

/* --- reading back ----------------------------------------------------------------------------- */

static int prepare_select(sqlite3_stmt **out, const struct nai_index_database *db, const struct nai_schema *schema,
                          struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  nai_buf_printf(&sql, "SELECT * FROM \"%s\" WHERE run_id = ?", schema->name);
  return prepare(out, db, &sql, err);
}

static void put_cell(struct nai_table *to, int64_t row, int column, sqlite3_stmt *select) {
  enum nai_type type = to->schema->columns[column].type;
  if (sqlite3_column_type(select, column) == SQLITE_NULL)
    return;
  if (type == NAI_STR)
    nai_set_str(to, row, column, (const char *)sqlite3_column_text(select, column));
  else if (type == NAI_F64)
    nai_set_f64(to, row, column, sqlite3_column_double(select, column));
  else
    nai_set_i64(to, row, column, sqlite3_column_int64(select, column));
}

int nai_index_database_read(struct nai_table *to, struct nai_index_database *db, const char *run_id,
                            struct nai_err *err) {
  int number = find_table(db, to->schema), rc;
  if (number == NAI_INDEX_TABLES)
    return NAI_OK;
  if (!db->selects[number])
    NAI_TRY(prepare_select(&db->selects[number], db, to->schema, err));
  sqlite3_stmt *select = db->selects[number];
  if (sqlite3_bind_text(select, 1, run_id, -1, SQLITE_STATIC) != SQLITE_OK)
    return fail(db, err);
  while ((rc = sqlite3_step(select)) == SQLITE_ROW) {
    int64_t row = nai_table_add_row(to);
    for (uint32_t c = 0; c < to->schema->column_count; c++)
      put_cell(to, row, (int)c, select);
  }
  if (rc != SQLITE_DONE || sqlite3_reset(select) != SQLITE_OK)
    return fail(db, err);
  return nai_table_check(to, err);
}
