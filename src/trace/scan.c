#include "trace/pages/pages.h"
#include "trace/scan_internal.h"

static int check_table(const struct nai_db_table **out, const struct nai_scan *scan, const struct nai_trace *trace,
                       struct nai_err *err) {
  const struct nai_db_table *table = nai_trace_table(trace, scan->table);
  if (!table)
    return nai_err_set(err, NAI_EINPUT, "there is no such table");
  if (!table->plain)
    return nai_err_set(err, NAI_EINPUT, "it is not a plain table but a %s", table->kind);
  if (scan->column_count > NAI_SCAN_MAX_COLUMNS)
    return nai_err_set(err, NAI_EUSAGE, "%d columns asked for, %d are possible", scan->column_count,
                       NAI_SCAN_MAX_COLUMNS);
  for (int i = 0; i < scan->column_count; i++) {
    int column = scan->columns[i];
    if (column < 0 || column >= table->column_count)
      return nai_err_set(err, NAI_EINPUT, "it has no column number %d", column);
    if (table->columns[column].hidden)
      return nai_err_set(err, NAI_EINPUT, "it is not a plain table: column \"%s\" is generated",
                         table->columns[column].name);
  }
  *out = table;
  return NAI_OK;
}

static int open_scan(struct nai_scan *scan, struct nai_trace *trace, int max_parts, struct nai_err *err) {
  const struct nai_db_table *table = NULL;
  NAI_TRY(check_table(&table, scan, trace, err));
  const char *refused = trace->options.reader == NAI_READER_SQLITE
                          ? "the SQLite reader was asked for"
                          : nai_pages_refuse(trace, table, scan->columns, scan->column_count);
  if (refused)
    NAI_TRY(nai_pages_check(trace, table, scan->columns, scan->column_count, err));
  scan->reader = refused ? "sqlite" : "direct";
  snprintf(scan->reason, sizeof scan->reason, "%s", refused ? refused : "");
  return refused ? nai_scan_open_sqlite(scan, trace, table, max_parts, err)
                 : nai_scan_open_direct(scan, trace, table, max_parts, err);
}

int nai_scan_open(struct nai_scan *scan, struct nai_trace *trace, int max_parts, struct nai_err *err) {
  scan->parts = 0;
  scan->part_rows = NULL;
  scan->run = NULL;
  scan->reason[0] = '\0';
  scan->arena = (struct nai_arena)NAI_ARENA(NULL);
  int rc = open_scan(scan, trace, max_parts < 1 ? 1 : max_parts, err);
  if (!rc)
    return NAI_OK;
  nai_scan_close(scan);
  return nai_scan_fail(scan->table, rc, err);
}

int nai_scan_run(struct nai_scan *scan, int part, nai_row_fn *fn, void *ctx, struct nai_err *err) {
  return scan->run(scan, part, fn, ctx, err);
}

void nai_scan_close(struct nai_scan *scan) {
  nai_arena_free(&scan->arena);
  scan->part_rows = NULL;
  scan->run = NULL;
}
