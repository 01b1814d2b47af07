/* Rows as text, so that two ways of reading a table can be compared: through the readers under test, and by a plain
 * sqlite3 statement that shares no code with them. Used by the readers' tests and fuzz target. */
#pragma once

#include "base/buf.h"
#include "trace/trace/trace.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* In which order, and which, columns are asked for. */
enum column_order { IN_ORDER, REVERSED, EVERY_OTHER, LAST_ONLY, COLUMN_ORDERS };

static inline int choose_columns(int *columns, int column_count, enum column_order order) {
  int n = 0;
  for (int i = 0; i < column_count && n < NAI_SCAN_MAX_COLUMNS; i++) {
    int column = order == REVERSED || order == LAST_ONLY ? column_count - 1 - i : i;
    if (order != EVERY_OTHER || column % 2)
      columns[n++] = column;
    if (order == LAST_ONLY)
      break;
  }
  return n;
}

static inline void dump_value(struct nai_buf *out, int type, int64_t i, double real, const char *bytes, size_t len) {
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  len = len > NAI_CELL_MAX_BYTES ? (size_t)NAI_CELL_MAX_BYTES : len;
  if (type == SQLITE_INTEGER)
    nai_buf_printf(out, " %" PRId64, i);
  else if (type == SQLITE_FLOAT)
    nai_buf_printf(out, " r%016" PRIx64, bits);
  else if (type == SQLITE_NULL)
    nai_buf_puts(out, " -");
  else
    nai_buf_printf(out, " %c%zu:%016" PRIx64, type == SQLITE_TEXT ? 't' : 'b', len, XXH3_64bits(bytes, len));
}

static inline void dump_cell(struct nai_buf *out, const struct nai_cell *cell) {
  static const int types[] = {[NAI_CELL_NULL] = SQLITE_NULL,
                              [NAI_CELL_INT] = SQLITE_INTEGER,
                              [NAI_CELL_REAL] = SQLITE_FLOAT,
                              [NAI_CELL_TEXT] = SQLITE_TEXT,
                              [NAI_CELL_BLOB] = SQLITE_BLOB};
  bool real = cell->type == NAI_CELL_REAL, bytes = cell->type == NAI_CELL_TEXT || cell->type == NAI_CELL_BLOB;
  dump_value(out, types[cell->type], cell->type == NAI_CELL_INT ? cell->i : 0, real ? cell->real : 0,
             bytes ? cell->data : NULL, bytes ? cell->len : 0);
}

struct scan_dump {
  struct nai_buf *out;
  int column_count;
  int64_t rows;
};

static inline int dump_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  struct scan_dump *dump = ctx;
  (void)err;
  nai_buf_printf(dump->out, "%" PRId64 ":", rowid);
  for (int i = 0; i < dump->column_count; i++)
    dump_cell(dump->out, &cells[i]);
  if (cells[NAI_NO_CELL].type != NAI_CELL_NULL) /* what every row function takes for a column that is not there */
    nai_buf_puts(dump->out, " NAI_NO_CELL");
  for (int i = 0; i < dump->column_count; i++)
    if (cells[NAI_NO_CELL].i >> i & 1 && cells[i].type != NAI_CELL_NULL)
      nai_buf_puts(dump->out, " not NULL");
  nai_buf_putc(dump->out, '\n');
  dump->rows++;
  return 0;
}

/* Appends all rows of a table as read in at most `parts` parts. reader[0..15] becomes the name of the reader used. */
static inline int dump_scan(struct nai_buf *out, char *reader, struct nai_trace *trace,
                            const struct nai_db_table *table, enum column_order order, int parts, struct nai_err *err) {
  int columns[NAI_SCAN_MAX_COLUMNS];
  struct nai_scan scan = {.table = table->name, .columns = columns};
  scan.column_count = choose_columns(columns, table->column_count, order);
  int rc = nai_scan_open(&scan, trace, parts, err);
  if (rc)
    return rc;
  snprintf(reader, 16, "%s", scan.reader);
  for (int part = 0; part < scan.parts && !rc; part++) {
    struct scan_dump dump = {.out = out, .column_count = scan.column_count};
    rc = nai_scan_run(&scan, part, dump_row, &dump, err);
    if (dump.rows > scan.part_rows[part]) {
      fprintf(stderr, "part %d: %" PRId64 " rows, %" PRId64 " announced\n", part, dump.rows, scan.part_rows[part]);
      abort();
    }
  }
  nai_scan_close(&scan);
  return rc;
}

/* The same rows by SQL. `rowid` is the name of the rowid, or NULL for a table without: rows are then numbered. */
static inline int dump_sql(struct nai_buf *out, sqlite3 *db, const struct nai_db_table *table, const char *rowid,
                           enum column_order order) {
  int columns[NAI_SCAN_MAX_COLUMNS], count = choose_columns(columns, table->column_count, order);
  struct nai_buf sql = {0};
  sqlite3_stmt *stmt = NULL;
  int64_t rows = 0;
  nai_buf_printf(&sql, "SELECT %s", rowid ? rowid : "0");
  for (int i = 0; i < count; i++) {
    char *name = sqlite3_mprintf(", \"%w\"", table->columns[columns[i]].name);
    nai_buf_puts(&sql, name);
    sqlite3_free(name);
  }
  char *from = sqlite3_mprintf(" FROM \"%w\" NOT INDEXED", table->name);
  nai_buf_puts(&sql, from);
  sqlite3_free(from);
  if (rowid)
    nai_buf_printf(&sql, " ORDER BY %s", rowid);
  int rc = sqlite3_prepare_v2(db, sql.data, -1, &stmt, NULL);
  while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
    rc = SQLITE_OK;
    rows++;
    nai_buf_printf(out, "%" PRId64 ":", rowid ? (int64_t)sqlite3_column_int64(stmt, 0) : rows);
    for (int i = 1; i <= count; i++) {
      int type = sqlite3_column_type(stmt, i);
      const char *bytes = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(stmt, i)
                        : type == SQLITE_BLOB ? sqlite3_column_blob(stmt, i)
                                              : NULL;
      dump_value(out, type, type == SQLITE_INTEGER ? sqlite3_column_int64(stmt, i) : 0,
                 type == SQLITE_FLOAT ? sqlite3_column_double(stmt, i) : 0, bytes,
                 bytes ? (size_t)sqlite3_column_bytes(stmt, i) : 0);
    }
    nai_buf_putc(out, '\n');
  }
  sqlite3_finalize(stmt);
  nai_buf_free(&sql);
  return rc == SQLITE_DONE ? 0 : rc;
}
