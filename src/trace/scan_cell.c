/* What scans and lookups share: statements about a table, and values of SQLite as cells. */
#include "trace/scan_internal.h"

int nai_scan_fail(const char *table, int code, struct nai_err *err) {
  return nai_err_wrap(err, code, "cannot read table \"%s\"", table);
}

static uint32_t cut(int bytes) { return bytes > NAI_CELL_MAX_BYTES ? (uint32_t)NAI_CELL_MAX_BYTES : (uint32_t)bytes; }

int nai_cell_from_sqlite(struct nai_cell *cell, sqlite3_stmt *stmt, int column, struct nai_err *err) {
  switch (sqlite3_column_type(stmt, column)) {
  case SQLITE_INTEGER:
    cell->type = NAI_CELL_INT;
    cell->i = sqlite3_column_int64(stmt, column);
    return NAI_OK;
  case SQLITE_FLOAT:
    cell->type = NAI_CELL_REAL;
    cell->real = sqlite3_column_double(stmt, column);
    return NAI_OK;
  case SQLITE_TEXT:
    cell->type = NAI_CELL_TEXT;
    cell->data = (const char *)sqlite3_column_text(stmt, column);
    break;
  case SQLITE_BLOB:
    cell->type = NAI_CELL_BLOB;
    cell->data = sqlite3_column_blob(stmt, column);
    break;
  default:
    cell->type = NAI_CELL_NULL;
    return NAI_OK;
  }
  cell->len = cut(sqlite3_column_bytes(stmt, column));
  if (cell->data)
    return NAI_OK;
  cell->data = "";
  return cell->len ? nai_err_nomem(err) : NAI_OK;
}

int nai_scan_prepare(sqlite3_stmt **out, sqlite3 *db, const char *sql, const struct nai_db_table *table, int column,
                     struct nai_err *err) {
  NAI_SCOPED(nai_buf) buf = {0};
  for (const char *p = sql; *p; p++) {
    if (*p == '$')
      nai_sql_identifier(&buf, table->name);
    else if (*p == '@')
      nai_sql_identifier(&buf, table->rowid_name);
    else if (*p == '#')
      nai_sql_identifier(&buf, table->columns[column].name);
    else
      nai_buf_putc(&buf, *p);
  }
  NAI_TRY(nai_buf_check(&buf, err));
  return nai_sqlite_prepare(out, db, buf.data, "cannot query it", err);
}

static int stored_type(enum nai_cell_type *type, sqlite3 *db, const struct nai_db_table *table, int column,
                       int64_t rowid, struct nai_err *err) {
  NAI_OWNED(sqlite3_stmt) *stmt = NULL; /* SQLite answers typeof without loading the value */
  NAI_TRY(nai_scan_prepare(&stmt, db, "SELECT typeof(#) = 'text' FROM main.$ NOT INDEXED WHERE @ = ?1", table, column,
                           err));
  sqlite3_bind_int64(stmt, 1, rowid);
  int step = sqlite3_step(stmt);
  if (step != SQLITE_ROW)
    return nai_sqlite_fail(err, db, step, "cannot read a long value");
  *type = sqlite3_column_int(stmt, 0) ? NAI_CELL_TEXT : NAI_CELL_BLOB;
  return NAI_OK;
}

int nai_cell_long_prefix(struct nai_cell *cell, struct nai_buf *buf, sqlite3 *db, const struct nai_db_table *table,
                         int column, int64_t rowid, struct nai_err *err) {
  sqlite3_blob *blob = NULL;
  nai_buf_clear(buf);
  NAI_TRY(stored_type(&cell->type, db, table, column, rowid, err));
  int failed = sqlite3_blob_open(db, "main", table->name, table->columns[column].name, rowid, 0, &blob);
  if (failed == SQLITE_OK) {
    cell->len = cut(sqlite3_blob_bytes(blob));
    char *to = nai_buf_reserve(buf, cell->len);
    failed = to ? sqlite3_blob_read(blob, to, (int)cell->len, 0) : SQLITE_NOMEM;
    cell->data = to;
  }
  int rc = failed == SQLITE_OK ? NAI_OK : nai_sqlite_fail(err, db, failed, "cannot read a long value");
  sqlite3_blob_close(blob);
  return rc;
}
