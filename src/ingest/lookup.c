#include "ingest/direct/direct.h"
#include "ingest/lookup_internal.h"
#include "ingest/scan_internal.h"

#include <stdlib.h>

struct sqlite_lookup {
  struct nai_lookup base;
  sqlite3 *db;
  sqlite3_stmt *stmt;
  struct nai_buf long_value;
};

int nai_lookup_open(struct nai_lookup **out, struct nai_trace *trace, const char *table, int value_column,
                    struct nai_err *err) {
  struct nai_lookup base = {
      .trace = trace, .table = nai_trace_table(trace, table), .column = value_column, .in_order = &trace->in_order};
  struct nai_lookup *by_rowid = NULL;
  int rc = NAI_OK;
  if (!base.table || !base.table->plain || !base.table->rowid_name)
    rc = nai_err_set(err, NAI_EINPUT, "it is not a plain table with rowids");
  else if (value_column < 0 || value_column >= base.table->column_count || base.table->columns[value_column].hidden)
    rc = nai_err_set(err, NAI_EINPUT, "it has no stored column number %d", value_column);
  else
    rc = trace->options.reader == NAI_READER_SQLITE || nai_direct_refuses(trace, base.table, &value_column, 1)
           ? nai_lookup_open_sqlite(&by_rowid, &base, err)
           : nai_lookup_open_direct(&by_rowid, &base, err);
  if (rc)
    return nai_scan_fail(table, rc, err);
  int key_column = nai_db_column(base.table, "id");
  if (key_column < 0 || base.table->columns[key_column].rowid_alias) {
    *out = by_rowid;
    return NAI_OK;
  }
  rc = nai_lookup_open_keyed(out, by_rowid, trace, key_column, err);
  if (rc)
    nai_lookup_close(by_rowid);
  return rc; /* the scan has named the table */
}

int nai_lookup_get(bool *found, struct nai_cell *cell, struct nai_lookup *lookup, int64_t key, struct nai_err *err) {
  int rc = lookup->ops->get(found, cell, lookup, key, err);
  if (!rc)
    return NAI_OK;
  nai_err_wrap(err, rc, "row %lld", (long long)key);
  return nai_scan_fail(lookup->table->name, rc, err);
}

void nai_lookup_close(struct nai_lookup *lookup) {
  if (lookup)
    lookup->ops->close(lookup);
}

static int get_sqlite(bool *found, struct nai_cell *cell, struct nai_lookup *lookup, int64_t key, struct nai_err *err) {
  struct sqlite_lookup *self = (struct sqlite_lookup *)lookup;
  sqlite3_reset(self->stmt);
  sqlite3_bind_int64(self->stmt, 1, key);
  int step = sqlite3_step(self->stmt);
  *found = step == SQLITE_ROW || step == SQLITE_TOOBIG;
  switch (step) {
  case SQLITE_ROW:
    return nai_cell_from_sqlite(cell, self->stmt, 0, err);
  case SQLITE_TOOBIG:
    return nai_cell_long_prefix(cell, &self->long_value, self->db, lookup->table, lookup->column, key, err);
  case SQLITE_DONE:
    return NAI_OK;
  default:
    return nai_sqlite_fail(err, self->db, step, "cannot read it");
  }
}

static void close_sqlite(struct nai_lookup *lookup) {
  struct sqlite_lookup *self = (struct sqlite_lookup *)lookup;
  sqlite3_finalize(self->stmt);
  nai_trace_return(lookup->trace, self->db);
  nai_buf_free(&self->long_value);
  free(self);
}

static const struct nai_lookup_ops sqlite_ops = {.get = get_sqlite, .close = close_sqlite};

/* SQLite's search misses rows that are not where they belong, as on a damaged page, and says that there are none. One
 * walk over the table tells, once for the trace. */
static int check_order(struct sqlite_lookup *self, struct nai_err *err) {
  const struct nai_db_table *table = self->base.table;
  sqlite3_stmt *stmt = NULL;
  int64_t last = 0;
  int step = SQLITE_DONE;
  if (atomic_load(self->base.in_order) == table)
    return NAI_OK;
  int rc = nai_scan_check(self->base.trace, table, &self->base.column, 1, err);
  if (!rc)
    rc = nai_scan_prepare(&stmt, self->db, "SELECT @ FROM main.$ NOT INDEXED", table, 0, err);
  for (bool any = false; !rc && (step = sqlite3_step(stmt)) == SQLITE_ROW; any = true) {
    int64_t rowid = sqlite3_column_int64(stmt, 0);
    if (any && rowid <= last)
      rc = nai_err_damaged(err, "the file is damaged: row %lld: rowids are out of order", (long long)rowid);
    last = rowid;
  }
  if (!rc && step != SQLITE_DONE)
    rc = nai_sqlite_fail(err, self->db, step, "cannot read it");
  sqlite3_finalize(stmt);
  if (!rc)
    atomic_store(self->base.in_order, table);
  return rc;
}

int nai_lookup_open_sqlite(struct nai_lookup **out, const struct nai_lookup *base, struct nai_err *err) {
  struct sqlite_lookup *self = calloc(1, sizeof *self);
  if (!self)
    return nai_err_nomem(err);
  self->base = *base;
  self->base.ops = &sqlite_ops;
  int rc = nai_trace_borrow(&self->db, base->trace, err);
  if (!rc)
    rc = nai_scan_prepare(&self->stmt, self->db, "SELECT # FROM main.$ NOT INDEXED WHERE @ = ?1", base->table,
                          base->column, err);
  if (!rc)
    rc = check_order(self, err);
  if (rc)
    close_sqlite(&self->base);
  else
    *out = &self->base;
  return rc;
}
