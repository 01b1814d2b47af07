#include "trace/direct/direct.h"
#include "trace/lookup_internal.h"
#include "trace/scan_internal.h"

#include <stdlib.h>

struct sqlite_lookup {
  struct nai_lookup base;
  sqlite3 *db;
  sqlite3_stmt *stmt;
  struct nai_buf long_value;
};

int nai_lookups_new(struct nai_lookups **out, struct nai_err *err) {
  *out = calloc(1, sizeof **out);
  if (!*out)
    return nai_err_nomem(err);
  pthread_mutex_init(&(*out)->lock, NULL);
  return NAI_OK;
}

void nai_lookups_free(struct nai_lookups *lookups) {
  if (!lookups)
    return;
  nai_key_maps_free(lookups->key_maps);
  pthread_mutex_destroy(&lookups->lock);
  free(lookups);
}

/* A lookup meets few of a table's rows, and takes a row that is not where it belongs for one that is not there: where
 * damage has put other pages in the place of the table's, nothing would be found and nobody told. So all rows are
 * looked at first, whichever is the reader. */
static int check_once(const struct nai_lookup *base, struct nai_err *err) {
  struct nai_lookups *shared = base->trace->lookups;
  pthread_mutex_lock(&shared->lock);
  int rc = shared->checked == base->table ? NAI_OK : nai_scan_check(base->trace, base->table, &base->column, 1, err);
  if (!rc)
    shared->checked = base->table;
  pthread_mutex_unlock(&shared->lock);
  return rc;
}

int nai_lookup_open(struct nai_lookup **out, struct nai_trace *trace, const char *table, int value_column,
                    struct nai_err *err) {
  struct nai_lookup base = {.trace = trace, .table = nai_trace_table(trace, table), .column = value_column};
  struct nai_lookup *by_rowid = NULL;
  int rc = NAI_OK;
  if (!base.table || !base.table->plain || !base.table->rowid_name)
    rc = nai_err_set(err, NAI_EINPUT, "it is not a plain table with rowids");
  else if (value_column < 0 || value_column >= base.table->column_count || base.table->columns[value_column].hidden)
    rc = nai_err_set(err, NAI_EINPUT, "it has no stored column number %d", value_column);
  else
    rc = check_once(&base, err);
  if (!rc)
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
  if (rc)
    close_sqlite(&self->base);
  else
    *out = &self->base;
  return rc;
}
