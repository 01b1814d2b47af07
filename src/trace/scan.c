#include "trace/direct/direct.h"
#include "trace/scan_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nai_scan_fail(const char *table, int code, struct nai_err *err) {
  return nai_err_wrap(err, code, "cannot read table \"%s\"", table);
}

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

int nai_scan_open(struct nai_scan *scan, struct nai_trace *trace, int max_parts, struct nai_err *err) {
  const struct nai_db_table *table = NULL;
  scan->parts = 0;
  scan->part_rows = NULL;
  scan->impl = NULL;
  scan->ops = NULL;
  scan->reason[0] = '\0';
  int rc = check_table(&table, scan, trace, err);
  if (rc)
    return nai_scan_fail(scan->table, rc, err);
  const char *refused = trace->options.reader == NAI_READER_SQLITE
                          ? "the SQLite reader was asked for"
                          : nai_direct_refuses(trace, table, scan->columns, scan->column_count);
  if (refused)
    rc = nai_scan_check(trace, table, scan->columns, scan->column_count, err);
  if (rc)
    return nai_scan_fail(scan->table, rc, err);
  scan->reader = refused ? "sqlite" : "direct";
  if (refused)
    snprintf(scan->reason, sizeof scan->reason, "%s", refused);
  max_parts = max_parts < 1 ? 1 : max_parts;
  rc = refused ? nai_scan_open_sqlite(scan, trace, table, max_parts, err)
               : nai_scan_open_direct(scan, trace, table, max_parts, err);
  if (rc) {
    nai_scan_close(scan);
    return nai_scan_fail(scan->table, rc, err);
  }
  return NAI_OK;
}

int nai_scan_run(struct nai_scan *scan, int part, nai_row_fn *fn, void *ctx, struct nai_err *err) {
  return scan->ops->run(scan, part, fn, ctx, err);
}

void nai_scan_close(struct nai_scan *scan) {
  if (scan->ops)
    scan->ops->close(scan);
  free(scan->part_rows);
  scan->part_rows = NULL;
  scan->impl = NULL;
  scan->ops = NULL;
}
