#include "trace/direct/direct_record.h"
#include "trace/scan_internal.h"

#include <stdlib.h>
#include <string.h>

struct direct_scan {
  const struct nai_direct *direct;
  struct nai_record_plan plan;
  struct nai_leaves leaves;
};

static const struct nai_scan_ops direct_ops;

/* The leaves of part `part`: from its first to before its end. */
static uint32_t part_begin(const struct nai_scan *scan, const struct direct_scan *impl, int part) {
  return (uint32_t)((uint64_t)impl->leaves.count * (uint64_t)part / (uint64_t)scan->parts);
}

/* How many rowids leaf i can hold. Its neighbours bound it; the first and the last leaf are bounded by their own rows.
 */
static int rowid_span(uint64_t *span, const struct direct_scan *impl, uint32_t i, struct nai_err *err) {
  const struct nai_leaves *leaves = &impl->leaves;
  bool first_leaf = i == 0, last_leaf = i == leaves->count - 1, empty = false;
  int64_t own_first = 0, own_last = 0;
  if (first_leaf || last_leaf) {
    int rc = nai_direct_leaf_rowids(&empty, &own_first, &own_last, impl->direct, leaves, i, err);
    if (rc)
      return rc;
  }
  uint64_t begin = first_leaf ? (uint64_t)own_first : (uint64_t)leaves->last[i - 1] + 1;
  uint64_t last = (uint64_t)(last_leaf ? own_last : leaves->last[i]);
  *span = empty || (int64_t)last < (int64_t)begin ? 0 : last - begin + 1;
  return NAI_OK;
}

/* Whether every rowid between the first and the last seems to exist, as in any table that was written once and left
 * alone. */
static int seems_dense(bool *dense, const struct direct_scan *impl, struct nai_err *err) {
  enum { SAMPLES = 64, SLACK = 2 };
  const struct nai_leaves *leaves = &impl->leaves;
  uint32_t cells, most = 0;
  uint64_t span, total = 0;
  *dense = true;
  for (uint64_t i = 0; i < SAMPLES && *dense; i++) {
    uint32_t leaf = (uint32_t)(leaves->count < SAMPLES ? i % leaves->count : i * (leaves->count - 1) / (SAMPLES - 1));
    int rc = nai_direct_leaf_cells(&cells, impl->direct, leaves, leaf,
                                   nai_direct_page(impl->direct, leaves->pages[leaf]), err);
    if (!rc)
      rc = rowid_span(&span, impl, leaf, err);
    if (rc)
      return rc;
    *dense = cells == span;
    most = cells > most ? cells : most;
  }
  /* A gap that no sample met must not let memory be reserved for rows that cannot exist. */
  for (uint32_t i = 0; i < leaves->count && *dense; i++) {
    int rc = rowid_span(&span, impl, i, err);
    if (rc)
      return rc;
    *dense = !__builtin_add_overflow(total, span, &total) && total <= (uint64_t)SLACK * leaves->count * most;
  }
  return NAI_OK;
}

/* Row counts without touching every page: where rowids are dense, interior pages tell how many rows a leaf holds. */
static int count_rows(struct nai_scan *scan, const struct direct_scan *impl, struct nai_err *err) {
  bool dense;
  int rc = seems_dense(&dense, impl, err);
  for (int part = 0; part < scan->parts && !rc; part++) {
    uint32_t end = part_begin(scan, impl, part + 1), cells;
    for (uint32_t i = part_begin(scan, impl, part); i < end && !rc; i++) {
      uint64_t rows;
      if (dense) {
        rc = rowid_span(&rows, impl, i, err);
      } else {
        uint32_t page = impl->leaves.pages[i];
        rc = nai_direct_leaf_cells(&cells, impl->direct, &impl->leaves, i, nai_direct_page(impl->direct, page), err);
        rows = cells;
      }
      scan->part_rows[part] += rc ? 0 : (int64_t)rows;
    }
  }
  return rc;
}

/* Whether all rows of a leaf page could be the table's. */
static bool holds_rows_of(const struct nai_direct *direct, uint32_t page, const struct nai_db_table *table) {
  const unsigned char *data = nai_direct_page(direct, page);
  uint32_t cells = nai_be16(data + 3);
  bool fits = 8 + 2 * cells <= direct->usable_bytes;
  for (uint32_t i = 0; i < cells && fits; i++) {
    uint32_t at = nai_be16(data + 8 + 2 * i);
    int64_t rowid;
    struct nai_payload payload;
    fits = at <= direct->usable_bytes - 4 && !nai_leaf_cell(&rowid, &payload, direct, data, at) &&
           nai_record_fits(&payload, table);
  }
  return fits;
}

/* SQLite leaves no page behind. Where a whole page was written over, with one that fits in its place by itself, nothing
 * but the pages that belonged to it tell that rows are missing. */
static int look_for_stray_rows(const struct nai_direct *direct, const struct nai_db_table *table, struct nai_err *err) {
  for (uint32_t i = 0; i < direct->stray_count; i++)
    if (holds_rows_of(direct, direct->stray[i], table))
      return nai_direct_damaged(err, direct->stray[i], "it has rows like this table's, and nothing refers to it");
  return NAI_OK;
}

/* Everything but the parts. */
static int open_leaves(struct nai_scan *scan, const struct nai_trace *trace, const struct nai_db_table *table,
                       struct nai_err *err) {
  struct direct_scan *impl = calloc(1, sizeof *impl);
  if (!impl)
    return nai_err_nomem(err);
  scan->impl = impl;
  scan->ops = &direct_ops;
  impl->direct = trace->direct;
  nai_record_plan(&impl->plan, impl->direct, table, scan->columns, scan->column_count);
  int rc = nai_direct_leaves(&impl->leaves, impl->direct, (uint32_t)table->rootpage, err);
  return rc ? rc : look_for_stray_rows(impl->direct, table, err);
}

int nai_scan_open_direct(struct nai_scan *scan, const struct nai_trace *trace, const struct nai_db_table *table,
                         int max_parts, struct nai_err *err) {
  int rc = open_leaves(scan, trace, table, err);
  if (!rc) {
    const struct direct_scan *impl = scan->impl;
    scan->parts = impl->leaves.count < (uint32_t)max_parts ? (int)impl->leaves.count : max_parts;
    scan->part_rows = calloc((size_t)scan->parts, sizeof *scan->part_rows);
    rc = scan->part_rows ? count_rows(scan, impl, err) : nai_err_nomem(err);
  }
  return nai_direct_intact(trace->direct, rc, err);
}

/* What one running part needs. */
struct worker {
  struct nai_record_reader reader;
  struct nai_window window;
};

static int read_leaves(const struct nai_scan *scan, struct worker *worker, int part, bool *stopped, nai_row_fn *fn,
                       void *ctx, struct nai_err *err) {
  const struct direct_scan *impl = scan->impl;
  const struct nai_leaves *leaves = &impl->leaves;
  uint32_t end = part_begin(scan, impl, part + 1);
  int64_t rows = 0;
  int rc = NAI_OK;
  for (uint32_t i = part_begin(scan, impl, part); i < end && !rc; i++) {
    const unsigned char *data;
    rc = nai_window_leaf(&data, &worker->window, leaves, i, end, err);
    if (!rc)
      rc = nai_record_read_leaf(&worker->reader, leaves, i, data, &rows, scan->part_rows[part], stopped, fn, ctx, err);
  }
  return rc;
}

/* *stopped = it was fn that failed. */
static int read_part(const struct nai_scan *scan, int part, bool *stopped, nai_row_fn *fn, void *ctx,
                     struct nai_err *err) {
  const struct direct_scan *impl = scan->impl;
  *stopped = false;
  struct worker *worker = calloc(1, sizeof *worker);
  if (!worker)
    return nai_err_nomem(err);
  int rc = nai_record_reader_init(&worker->reader, &impl->plan, err);
  if (!rc)
    rc = nai_window_open(&worker->window, impl->direct, err);
  if (!rc)
    rc = read_leaves(scan, worker, part, stopped, fn, ctx, err);
  nai_window_close(&worker->window);
  nai_record_reader_free(&worker->reader);
  free(worker);
  return *stopped ? rc : nai_direct_intact(impl->direct, rc, err);
}

static int run_direct(struct nai_scan *scan, int part, nai_row_fn *fn, void *ctx, struct nai_err *err) {
  bool stopped;
  int rc = read_part(scan, part, &stopped, fn, ctx, err);
  return rc && !stopped ? nai_scan_fail(scan->table, rc, err) : rc;
}

static void close_direct(struct nai_scan *scan) {
  struct direct_scan *impl = scan->impl;
  nai_leaves_free(&impl->leaves);
  free(impl);
}

static const struct nai_scan_ops direct_ops = {.run = run_direct, .close = close_direct};

static int look_away(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  (void)ctx, (void)rowid, (void)cells, (void)err;
  return NAI_OK;
}

/* The first thing that quick_check says, behind a line that names the database. */
static int damage_found(const char *said, sqlite3 *db, struct nai_err *err) {
  int failed = nai_sqlite_unread(db);
  if (failed)
    return nai_err_sys(err, NAI_EINPUT, failed, "cannot check it");
  const char *behind = strncmp(said, "***", 3) == 0 ? strchr(said, '\n') : NULL, *line = behind ? behind + 1 : said;
  const char *unread = strstr(line, "error code="); /* SQLITE_CORRUPT is 11 */
  if (unread && strncmp(unread, "error code=11", 13) != 0)
    return nai_err_set(err, NAI_EINPUT, "cannot check it: %.*s", (int)strcspn(line, "\n"), line);
  return nai_err_damaged(err, "the file is damaged: %.*s", (int)strcspn(line, "\n"), line);
}

/* SQLite's own look at what only SQLite can read. */
static int quick_check(const struct nai_trace *trace, const struct nai_db_table *table, struct nai_err *err) {
  sqlite3 *db = NULL;
  sqlite3_stmt *stmt = NULL;
  int rc = nai_trace_borrow(&db, trace, err);
  if (!rc)
    rc = nai_scan_prepare(&stmt, db, "PRAGMA main.quick_check($)", table, 0, err);
  if (!rc) {
    int step = sqlite3_step(stmt);
    const char *found = step == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    if (!found)
      rc = nai_sqlite_fail(err, db, step == SQLITE_ROW ? SQLITE_NOMEM : step, "cannot check it");
    else if (strcmp(found, "ok") != 0)
      rc = damage_found(found, db, err);
  }
  sqlite3_finalize(stmt);
  nai_trace_return(trace, db);
  return rc;
}

int nai_scan_check(const struct nai_trace *trace, const struct nai_db_table *table, const int *columns,
                   int column_count, struct nai_err *err) {
  struct nai_scan scan = {.table = table->name, .columns = columns, .column_count = column_count};
  bool stopped;
  if (nai_direct_refuses(trace, table, columns, column_count))
    return quick_check(trace, table, err);
  int64_t no_limit = INT64_MAX; /* nobody makes room for the rows */
  scan.parts = 1;
  scan.part_rows = &no_limit;
  int rc = open_leaves(&scan, trace, table, err);
  if (!rc)
    rc = read_part(&scan, 0, &stopped, look_away, NULL, err);
  if (scan.impl)
    close_direct(&scan);
  return nai_direct_intact(trace->direct, rc, err);
}

int nai_schema_check(const struct nai_trace *trace, struct nai_err *err) {
  /* type, name, tbl_name, rootpage, sql */
  struct nai_db_column columns[] = {{.text_affinity = true},
                                    {.text_affinity = true},
                                    {.text_affinity = true},
                                    {.name = NULL},
                                    {.text_affinity = true}};
  static const int all[] = {0, 1, 2, 3, 4};
  enum { COLUMNS = sizeof all / sizeof *all };
  const struct nai_db_table schema = {.name = (char[]){"sqlite_schema"},
                                      .kind = "table",
                                      .rowid_name = "rowid",
                                      .rootpage = 1,
                                      .plain = true,
                                      .columns = columns,
                                      .column_count = COLUMNS};
  int rc = nai_scan_check(trace, &schema, all, COLUMNS, err);
  return rc ? nai_scan_fail(schema.name, rc, err) : NAI_OK;
}
