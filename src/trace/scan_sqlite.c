/* Scans by SQLite: a part is a range of rowids. */
#include "trace/scan_internal.h"

struct sqlite_scan {
  const struct nai_trace *trace;
  const struct nai_db_table *table;
  const char *sql;
  int64_t *first, *last;     /* rowids of each part */
  uint64_t text_bytes_limit; /* more than this in one part: see too_much_text */
};

enum { MIN_ROWS_PER_PART = 512 };

/* NOT INDEXED here and below keeps SQLite from reading a covering index instead of the table: in a damaged file it may
 * hold other rows. */
static int build_select(const char **out, struct nai_scan *scan, const struct nai_db_table *table,
                        struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  nai_buf_puts(&sql, "SELECT ");
  if (table->rowid_name)
    nai_sql_identifier(&sql, table->rowid_name);
  else
    nai_buf_puts(&sql, "0");
  for (int i = 0; i < scan->column_count; i++) {
    nai_buf_puts(&sql, ", ");
    nai_sql_identifier(&sql, table->columns[scan->columns[i]].name);
  }
  nai_buf_puts(&sql, " FROM main.");
  nai_sql_identifier(&sql, table->name);
  nai_buf_puts(&sql, " NOT INDEXED");
  if (table->rowid_name) {
    nai_buf_puts(&sql, " WHERE ");
    nai_sql_identifier(&sql, table->rowid_name);
    nai_buf_puts(&sql, " BETWEEN ?1 AND ?2 ORDER BY 1");
  }
  NAI_TRY(nai_buf_check(&sql, err));
  *out = nai_arena_printf(&scan->arena, "%s", sql.data);
  return nai_arena_check(&scan->arena, err);
}

/* The one integer a statement yields, 0 for NULL; args, if any, are ?1 and ?2. */
static int query_int(int64_t *value, sqlite3 *db, const char *sql, const struct nai_db_table *table,
                     const int64_t *args, struct nai_err *err) {
  NAI_OWNED(sqlite3_stmt) *stmt = NULL;
  NAI_TRY(nai_scan_prepare(&stmt, db, sql, table, 0, err));
  for (int i = 0; args && i < 2; i++)
    sqlite3_bind_int64(stmt, i + 1, args[i]);
  int step = sqlite3_step(stmt);
  if (step != SQLITE_ROW)
    return nai_sqlite_fail(err, db, step, "cannot count rows");
  *value = sqlite3_column_int64(stmt, 0);
  return NAI_OK;
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
  int64_t total = 0, lowest = 0, highest = 0, found = 0;
  NAI_TRY(query_int(&total, db, "SELECT count(*) FROM main.$ NOT INDEXED", table, NULL, err));
  int64_t useful = total / MIN_ROWS_PER_PART;
  int parts = !table->rowid_name || useful < 1 ? 1 : useful < max_parts ? (int)useful : max_parts;
  NAI_TRY(NAI_NEW(scan->part_rows, &scan->arena, (size_t)parts, err));
  NAI_TRY(NAI_NEW(impl->first, &scan->arena, (size_t)parts, err));
  NAI_TRY(NAI_NEW(impl->last, &scan->arena, (size_t)parts, err));
  scan->parts = parts;
  scan->part_rows[0] = total;
  impl->first[0] = INT64_MIN;
  impl->last[0] = INT64_MAX;
  if (parts == 1)
    return NAI_OK;
  NAI_TRY(query_int(&lowest, db, "SELECT min(@) FROM main.$ NOT INDEXED", table, NULL, err));
  NAI_TRY(query_int(&highest, db, "SELECT max(@) FROM main.$ NOT INDEXED", table, NULL, err));
  cut_ranges(impl, parts, lowest, highest);
  bool dense = (uint64_t)highest - (uint64_t)lowest == (uint64_t)total - 1;
  for (int i = 0; i < parts; i++) {
    const int64_t range[2] = {impl->first[i], impl->last[i]};
    if (dense) /* no need to walk the table again */
      scan->part_rows[i] = impl->last[i] - impl->first[i] + 1;
    else
      NAI_TRY(query_int(&scan->part_rows[i], db, "SELECT count(*) FROM main.$ NOT INDEXED WHERE @ BETWEEN ?1 AND ?2",
                        table, range, err));
    found += scan->part_rows[i];
  }
  /* A search misses rows that are not where they belong; counting all of them does not. */
  if (found != total)
    return nai_err_damaged(err, "the file is damaged: %lld of %lld rows are not where they belong",
                           (long long)(total - found), (long long)total);
  return NAI_OK;
}

/* One running part. */
struct cursor {
  const struct nai_scan *scan;
  const struct sqlite_scan *impl;
  sqlite3 *db;
  sqlite3_stmt *stmt;
  nai_row_fn *fn;
  void *ctx;
  bool stopped;       /* by fn, which failed */
  int64_t next, last; /* rowids still to come */
  uint64_t rows, rows_limit, text_bytes;
  struct nai_buf long_values[NAI_SCAN_MAX_COLUMNS]; /* of a row of which SQLite does not read all */
  struct nai_cell cells[NAI_SCAN_CELLS];
};

static void cursor_free(struct cursor *c) {
  for (int i = 0; i < NAI_SCAN_MAX_COLUMNS; i++)
    nai_buf_free(&c->long_values[i]);
}

/* In a damaged file many rows can claim the same overflow pages, so that reading it would take for ever. Together the
 * values of a column cannot be longer than the file (times two when UTF-16 becomes UTF-8). */
static bool too_much_text(struct cursor *c, const struct nai_cell *cell) {
  if (cell->type == NAI_CELL_TEXT || cell->type == NAI_CELL_BLOB)
    c->text_bytes += cell->len;
  return c->text_bytes > c->impl->text_bytes_limit;
}

static int deliver(struct cursor *c, int64_t rowid, struct nai_err *err) {
  for (int i = 0; i < c->scan->column_count; i++)
    if (too_much_text(c, &c->cells[i]))
      return nai_err_damaged(err, "the file is damaged: rows share overflow pages");
  if (c->rows == c->rows_limit)
    return nai_err_damaged(err, "the file is damaged: more rows than were counted");
  /* SQLite believes the pages: where some are out of place or met twice, so are their rows. */
  if (c->impl->table->rowid_name && (rowid < c->next || rowid > c->last))
    return nai_err_damaged(err, "the file is damaged: row %lld: rowids are out of order", (long long)rowid);
  int rc = c->fn(c->ctx, c->impl->table->rowid_name ? rowid : (int64_t)c->rows + 1, c->cells, err);
  c->stopped = rc != 0;
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

/* The value of a column of one row, by prefix where it is long. */
static int read_long_cell(struct cursor *c, int i, int64_t rowid, sqlite3_stmt **stmt, struct nai_err *err) {
  const struct nai_db_table *table = c->impl->table;
  int column = c->scan->columns[i];
  NAI_TRY(nai_scan_prepare(stmt, c->db, "SELECT # FROM main.$ NOT INDEXED WHERE @ = ?1", table, column, err));
  sqlite3_bind_int64(*stmt, 1, rowid);
  int step = sqlite3_step(*stmt);
  if (step == SQLITE_ROW)
    return nai_cell_from_sqlite(&c->cells[i], *stmt, 0, err);
  if (step == SQLITE_TOOBIG)
    return nai_cell_long_prefix(&c->cells[i], &c->long_values[i], c->db, table, column, rowid, err);
  return nai_sqlite_fail(err, c->db, step, "cannot read a row with a long value");
}

/* The row after the last one delivered holds a value beyond SQLITE_LIMIT_LENGTH, which ended the statement: reads that
 * row column by column. */
static int deliver_long_row(struct cursor *c, struct nai_err *err) {
  const int64_t range[2] = {c->next, c->last};
  sqlite3_stmt *stmts[NAI_SCAN_MAX_COLUMNS] = {NULL}; /* the cells are theirs */
  int64_t rowid = 0;
  int rc = query_int(&rowid, c->db, "SELECT min(@) FROM main.$ NOT INDEXED WHERE @ BETWEEN ?1 AND ?2", c->impl->table,
                     range, err);
  for (int i = 0; i < c->scan->column_count && !rc; i++)
    rc = read_long_cell(c, i, rowid, &stmts[i], err);
  if (!rc)
    rc = deliver(c, rowid, err);
  for (int i = 0; i < c->scan->column_count; i++)
    sqlite3_finalize(stmts[i]);
  advance(c, rowid);
  return rc;
}

static void bind_range(struct cursor *c) {
  if (!c->impl->table->rowid_name)
    return;
  sqlite3_bind_int64(c->stmt, 1, c->next);
  sqlite3_bind_int64(c->stmt, 2, c->last);
}

static int deliver_rows(struct cursor *c, struct nai_err *err) {
  for (;;) {
    int step = sqlite3_step(c->stmt);
    if (step == SQLITE_DONE)
      return c->rows < c->rows_limit ? nai_err_damaged(err, "the file is damaged: fewer rows than were counted")
                                     : NAI_OK;
    if (step == SQLITE_TOOBIG && c->impl->table->rowid_name) {
      NAI_TRY(deliver_long_row(c, err));
      sqlite3_reset(c->stmt);
      bind_range(c);
      continue;
    }
    if (step != SQLITE_ROW)
      return nai_sqlite_fail(err, c->db, step, "cannot read a row");
    int64_t rowid = sqlite3_column_int64(c->stmt, 0);
    for (int i = 0; i < c->scan->column_count; i++)
      NAI_TRY(nai_cell_from_sqlite(&c->cells[i], c->stmt, i + 1, err));
    NAI_TRY(deliver(c, rowid, err));
    advance(c, rowid);
  }
}

static int run_cursor(struct cursor *c, struct nai_err *err) {
  NAI_SCOPED(nai_loan) loan = {0};
  NAI_OWNED(sqlite3_stmt) *stmt = NULL;
  NAI_TRY(nai_trace_borrow(&loan, c->impl->trace, err));
  NAI_TRY(nai_sqlite_prepare(&stmt, loan.db, c->impl->sql, "cannot query it", err));
  c->db = loan.db;
  c->stmt = stmt;
  bind_range(c);
  int rc = deliver_rows(c, err);
  return rc && !c->stopped ? nai_err_wrap(err, rc, "after %llu rows", (unsigned long long)c->rows) : rc;
}

static int run_sqlite(struct nai_scan *scan, int part, nai_row_fn *fn, void *ctx, struct nai_err *err) {
  const struct sqlite_scan *impl = scan->impl;
  NAI_SCOPED(cursor)
  c = {.scan = scan,
       .impl = impl,
       .fn = fn,
       .ctx = ctx,
       .next = impl->first[part],
       .last = impl->last[part],
       .rows_limit = (uint64_t)scan->part_rows[part]};
  int rc = run_cursor(&c, err);
  return rc && !c.stopped ? nai_scan_fail(scan->table, rc, err) : rc;
}

int nai_scan_open_sqlite(struct nai_scan *scan, struct nai_trace *trace, const struct nai_db_table *table,
                         int max_parts, struct nai_err *err) {
  NAI_SCOPED(nai_loan) loan = {0};
  struct sqlite_scan *impl;
  NAI_TRY(NAI_NEW(impl, &scan->arena, 1, err));
  scan->impl = impl;
  scan->run = run_sqlite;
  impl->trace = trace;
  impl->table = table;
  impl->text_bytes_limit = 2 * (trace->size_bytes + trace->wal_stamp.size_bytes) * (uint64_t)(scan->column_count + 1);
  NAI_TRY(build_select(&impl->sql, scan, table, err));
  NAI_TRY(nai_trace_borrow(&loan, trace, err));
  return plan_parts(scan, impl, loan.db, max_parts, err);
}
