#include "trace/scan_internal.h"

#include <stdlib.h>
#include <string.h>

struct sqlite_scan {
  const struct nai_trace *trace;
  const struct nai_db_table *table;
  struct nai_buf sql;
  int64_t *first, *last;     /* rowids of each part */
  uint64_t text_bytes_limit; /* more than this in one part: see too_much_text */
};

enum { MIN_ROWS_PER_PART = 512 };

/* NOT INDEXED here and below keeps SQLite from reading a covering index instead of the table: in a damaged file it may
 * hold other rows. */
static int build_select(struct nai_buf *sql, const struct nai_scan *scan, const struct nai_db_table *table,
                        struct nai_err *err) {
  nai_buf_puts(sql, "SELECT ");
  if (table->rowid_name)
    nai_sql_identifier(sql, table->rowid_name);
  else
    nai_buf_puts(sql, "0");
  for (int i = 0; i < scan->column_count; i++) {
    nai_buf_puts(sql, ", ");
    nai_sql_identifier(sql, table->columns[scan->columns[i]].name);
  }
  nai_buf_puts(sql, " FROM main.");
  nai_sql_identifier(sql, table->name);
  nai_buf_puts(sql, " NOT INDEXED");
  if (table->rowid_name) {
    nai_buf_puts(sql, " WHERE ");
    nai_sql_identifier(sql, table->rowid_name);
    nai_buf_puts(sql, " BETWEEN ?1 AND ?2 ORDER BY 1");
  }
  return nai_buf_check(sql, err);
}

/* The one integer a statement yields, 0 for NULL; args, if any, are ?1 and ?2. */
static int query_int(int64_t *value, sqlite3 *db, const char *sql, const struct nai_db_table *table,
                     const int64_t *args, struct nai_err *err) {
  sqlite3_stmt *stmt = NULL;
  int rc = nai_scan_prepare(&stmt, db, sql, table, 0, err);
  if (rc)
    return rc;
  for (int i = 0; args && i < 2; i++)
    sqlite3_bind_int64(stmt, i + 1, args[i]);
  int step = sqlite3_step(stmt);
  if (step == SQLITE_ROW)
    *value = sqlite3_column_int64(stmt, 0);
  else
    rc = nai_sqlite_fail(err, db, step, "cannot count rows");
  sqlite3_finalize(stmt);
  return rc;
}

/* Cuts the rowids lowest..highest into ranges of equal width. */
static void cut_ranges(struct sqlite_scan *impl, int parts, int64_t lowest, int64_t highest) {
  uint64_t step = ((uint64_t)highest - (uint64_t)lowest) / (uint64_t)parts;
  for (int i = 0; i < parts; i++) {
    impl->first[i] = i ? impl->last[i - 1] + 1 : lowest;
    impl->last[i] = i == parts - 1 ? highest : (int64_t)((uint64_t)lowest + step * (uint64_t)(i + 1));
  }
}

static int plan_parts(struct nai_scan *scan, struct sqlite_scan *impl, sqlite3 *db, int max_parts,
                      struct nai_err *err) {
  const struct nai_db_table *table = impl->table;
  int64_t total = 0, lowest = 0, highest = 0;
  int rc = query_int(&total, db, "SELECT count(*) FROM main.$ NOT INDEXED", table, NULL, err);
  if (rc)
    return rc;
  int64_t useful = total / MIN_ROWS_PER_PART;
  int parts = !table->rowid_name || useful < 1 ? 1 : useful < max_parts ? (int)useful : max_parts;
  scan->part_rows = calloc((size_t)parts, sizeof *scan->part_rows);
  impl->first = calloc((size_t)parts, sizeof *impl->first);
  impl->last = calloc((size_t)parts, sizeof *impl->last);
  if (!scan->part_rows || !impl->first || !impl->last)
    return nai_err_nomem(err);
  scan->parts = parts;
  scan->part_rows[0] = total;
  impl->first[0] = INT64_MIN;
  impl->last[0] = INT64_MAX;
  if (parts == 1)
    return NAI_OK;
  rc = query_int(&lowest, db, "SELECT min(@) FROM main.$ NOT INDEXED", table, NULL, err);
  if (!rc)
    rc = query_int(&highest, db, "SELECT max(@) FROM main.$ NOT INDEXED", table, NULL, err);
  if (rc)
    return rc;
  cut_ranges(impl, parts, lowest, highest);
  bool dense = (uint64_t)highest - (uint64_t)lowest == (uint64_t)total - 1;
  int64_t found = 0;
  for (int i = 0; i < parts && !rc; i++) {
    const int64_t range[2] = {impl->first[i], impl->last[i]};
    if (dense) /* no need to walk the table again */
      scan->part_rows[i] = impl->last[i] - impl->first[i] + 1;
    else
      rc = query_int(&scan->part_rows[i], db, "SELECT count(*) FROM main.$ NOT INDEXED WHERE @ BETWEEN ?1 AND ?2",
                     table, range, err);
    found += scan->part_rows[i];
  }
  /* A search misses rows that are not where they belong; counting all of them does not. */
  if (!rc && found != total)
    rc = nai_err_damaged(err, "the file is damaged: %lld of %lld rows are not where they belong",
                         (long long)(total - found), (long long)total);
  return rc;
}

static const struct nai_scan_ops sqlite_ops;

int nai_scan_open_sqlite(struct nai_scan *scan, struct nai_trace *trace, const struct nai_db_table *table,
                         int max_parts, struct nai_err *err) {
  sqlite3 *db = NULL;
  struct sqlite_scan *impl = calloc(1, sizeof *impl);
  if (!impl)
    return nai_err_nomem(err);
  scan->impl = impl;
  scan->ops = &sqlite_ops;
  impl->trace = trace;
  impl->table = table;
  impl->text_bytes_limit = 2 * (trace->size_bytes + trace->wal_stamp.size_bytes) * (uint64_t)(scan->column_count + 1);
  int rc = build_select(&impl->sql, scan, table, err);
  if (!rc)
    rc = nai_trace_borrow(&db, trace, err);
  if (!rc)
    rc = plan_parts(scan, impl, db, max_parts, err);
  nai_trace_return(trace, db);
  return rc;
}

static void close_sqlite(struct nai_scan *scan) {
  struct sqlite_scan *impl = scan->impl;
  nai_buf_free(&impl->sql);
  free(impl->first);
  free(impl->last);
  free(impl);
}

/* One running part. */
struct cursor {
  const struct nai_scan *scan;
  const struct sqlite_scan *impl;
  sqlite3 *db;
  sqlite3_stmt *stmt;
  nai_row_fn *fn;
  void *ctx;
  int64_t next, last; /* rowids still to come */
  uint64_t rows, rows_limit, text_bytes;
  struct nai_buf *long_values; /* one per column, made when first needed */
  struct nai_cell cells[NAI_SCAN_CELLS];
};

/* In a damaged file many rows can claim the same overflow pages, so that reading it would take for ever. Together the
 * values of a column cannot be longer than the file (times two when UTF-16 becomes UTF-8). */
static bool too_much_text(struct cursor *c, const struct nai_cell *cell) {
  if (cell->type == NAI_CELL_TEXT || cell->type == NAI_CELL_BLOB)
    c->text_bytes += cell->len;
  return c->text_bytes > c->impl->text_bytes_limit;
}

static int deliver(struct cursor *c, int64_t rowid, bool *stopped, struct nai_err *err) {
  for (int i = 0; i < c->scan->column_count; i++)
    if (too_much_text(c, &c->cells[i]))
      return nai_err_damaged(err, "the file is damaged: rows share overflow pages");
  if (c->rows == c->rows_limit)
    return nai_err_damaged(err, "the file is damaged: more rows than were counted");
  /* SQLite believes the pages: where some are out of place or met twice, so are their rows. */
  if (c->impl->table->rowid_name && (rowid < c->next || rowid > c->last))
    return nai_err_damaged(err, "the file is damaged: row %lld: rowids are out of order", (long long)rowid);
  int rc = c->fn(c->ctx, c->impl->table->rowid_name ? rowid : (int64_t)c->rows + 1, c->cells, err);
  *stopped = rc != 0;
  c->rows++;
  return rc;
}

static void advance(struct cursor *c, int64_t rowid) {
  if (rowid < c->last) {
    c->next = rowid + 1;
  } else { /* an empty range: there may be no rowid beyond this one */
    c->next = INT64_MAX;
    c->last = INT64_MIN;
  }
}

/* The row after the last one delivered holds a value beyond SQLITE_LIMIT_LENGTH, which ended the statement: reads that
 * row column by column, long values by prefix. */
static int deliver_long_row(struct cursor *c, bool *stopped, struct nai_err *err) {
  const struct nai_db_table *table = c->impl->table;
  const int64_t range[2] = {c->next, c->last};
  sqlite3_stmt *stmts[NAI_SCAN_MAX_COLUMNS] = {NULL};
  int64_t rowid = 0;
  int rc =
      query_int(&rowid, c->db, "SELECT min(@) FROM main.$ NOT INDEXED WHERE @ BETWEEN ?1 AND ?2", table, range, err);
  if (!rc && !c->long_values && !(c->long_values = calloc(NAI_SCAN_MAX_COLUMNS, sizeof *c->long_values)))
    rc = nai_err_nomem(err);
  for (int i = 0; i < c->scan->column_count && !rc; i++) {
    int column = c->scan->columns[i];
    rc = nai_scan_prepare(&stmts[i], c->db, "SELECT # FROM main.$ NOT INDEXED WHERE @ = ?1", table, column, err);
    if (rc)
      break;
    sqlite3_bind_int64(stmts[i], 1, rowid);
    int step = sqlite3_step(stmts[i]);
    if (step == SQLITE_ROW)
      rc = nai_cell_from_sqlite(&c->cells[i], stmts[i], 0, err);
    else if (step == SQLITE_TOOBIG)
      rc = nai_cell_long_prefix(&c->cells[i], &c->long_values[i], c->db, table, column, rowid, err);
    else
      rc = nai_sqlite_fail(err, c->db, step, "cannot read a row with a long value");
  }
  if (!rc)
    rc = deliver(c, rowid, stopped, err);
  for (int i = 0; i < c->scan->column_count; i++)
    sqlite3_finalize(stmts[i]);
  advance(c, rowid);
  return rc;
}

static int deliver_rows(struct cursor *c, bool *stopped, struct nai_err *err) {
  for (;;) {
    int step = sqlite3_step(c->stmt);
    if (step == SQLITE_DONE)
      return NAI_OK;
    int rc;
    if (step == SQLITE_TOOBIG && c->impl->table->rowid_name) {
      rc = deliver_long_row(c, stopped, err);
      sqlite3_reset(c->stmt);
      sqlite3_bind_int64(c->stmt, 1, c->next);
      sqlite3_bind_int64(c->stmt, 2, c->last);
      if (rc)
        return rc;
      continue;
    }
    if (step != SQLITE_ROW)
      return nai_sqlite_fail(err, c->db, step, "cannot read a row");
    int64_t rowid = sqlite3_column_int64(c->stmt, 0);
    for (int i = 0; i < c->scan->column_count; i++)
      if ((rc = nai_cell_from_sqlite(&c->cells[i], c->stmt, i + 1, err)))
        return rc;
    rc = deliver(c, rowid, stopped, err);
    if (rc)
      return rc;
    advance(c, rowid);
  }
}

static int run_sqlite(struct nai_scan *scan, int part, nai_row_fn *fn, void *ctx, struct nai_err *err) {
  const struct sqlite_scan *impl = scan->impl;
  bool stopped = false;
  struct cursor *c = calloc(1, sizeof *c);
  if (!c)
    return nai_err_nomem(err);
  *c = (struct cursor){.scan = scan,
                       .impl = impl,
                       .fn = fn,
                       .ctx = ctx,
                       .next = impl->first[part],
                       .last = impl->last[part],
                       .rows_limit = (uint64_t)scan->part_rows[part]};
  int rc = nai_trace_borrow(&c->db, impl->trace, err);
  if (!rc)
    rc = nai_sqlite_prepare(&c->stmt, c->db, impl->sql.data, "cannot query it", err);
  if (!rc) {
    if (impl->table->rowid_name) {
      sqlite3_bind_int64(c->stmt, 1, c->next);
      sqlite3_bind_int64(c->stmt, 2, c->last);
    }
    rc = deliver_rows(c, &stopped, err);
    if (!rc && c->rows < c->rows_limit)
      rc = nai_err_damaged(err, "the file is damaged: fewer rows than were counted");
    if (rc && !stopped)
      nai_err_wrap(err, rc, "after %llu rows", (unsigned long long)c->rows);
  }
  if (rc && !stopped)
    nai_scan_fail(scan->table, rc, err);
  sqlite3_finalize(c->stmt);
  nai_trace_return(impl->trace, c->db);
  for (int i = 0; c->long_values && i < NAI_SCAN_MAX_COLUMNS; i++)
    nai_buf_free(&c->long_values[i]);
  free(c->long_values);
  free(c);
  return rc;
}

static const struct nai_scan_ops sqlite_ops = {.run = run_sqlite, .close = close_sqlite};
