#include "base/threads.h"
#include "trace/lookup_internal.h"
#include "trace/pages/pages.h"
#include "trace/scan_internal.h"

struct sqlite_lookup {
  struct nai_lookup base;
  struct nai_loan loan;
  sqlite3_stmt *stmt;
  struct nai_buf long_value;
};

int nai_lookups_new(struct nai_trace *trace, struct nai_err *err) {
  NAI_TRY(NAI_NEW(trace->lookups, &trace->arena, 1, err));
  pthread_mutex_init(&trace->lookups->lock, NULL);
  return NAI_OK;
}

void nai_lookups_free(struct nai_trace *trace) {
  if (trace->lookups)
    pthread_mutex_destroy(&trace->lookups->lock);
}

/* A lookup meets few of a table's rows, and takes a row that is not where it belongs for one that is not there: where
 * damage has put other pages in the place of the table's, nothing would be found and nobody told. So all rows are
 * looked at first, whichever is the reader. */
static int check_once(const struct nai_lookup *base, struct nai_err *err) {
  struct nai_lookups *shared = base->trace->lookups;
  NAI_LOCKED(&shared->lock);
  if (shared->checked != base->table)
    NAI_TRY(nai_pages_check(base->trace, base->table, &base->column, 1, err));
  shared->checked = base->table;
  return NAI_OK;
}

static int open_by_rowid(struct nai_lookup **out, const struct nai_lookup *base, struct nai_err *err) {
  const struct nai_db_table *table = base->table;
  if (!table || !table->plain || !table->rowid_name)
    return nai_err_set(err, NAI_EINPUT, "it is not a plain table with rowids");
  if (base->column < 0 || base->column >= table->column_count || table->columns[base->column].hidden)
    return nai_err_set(err, NAI_EINPUT, "it has no stored column number %d", base->column);
  NAI_TRY(check_once(base, err));
  bool by_sqlite =
      base->trace->options.reader == NAI_READER_SQLITE || nai_pages_refuse(base->trace, table, &base->column, 1);
  return by_sqlite ? nai_lookup_open_sqlite(out, base, err) : nai_lookup_open_direct(out, base, err);
}

int nai_lookup_open(struct nai_lookup **out, struct nai_trace *trace, const char *table, int value_column,
                    struct nai_err *err) {
  const struct nai_lookup base = {.trace = trace, .table = nai_trace_table(trace, table), .column = value_column};
  NAI_OWNED(nai_lookup) *by_rowid = NULL;
  int rc = open_by_rowid(&by_rowid, &base, err);
  if (rc)
    return nai_scan_fail(table, rc, err);
  int key_column = nai_db_column(base.table, "id");
  if (key_column < 0 || base.table->columns[key_column].rowid_alias)
    return NAI_GIVE(out, by_rowid);
  NAI_TRY(nai_lookup_open_keyed(out, by_rowid, trace, key_column, err)); /* the scan has named the table */
  by_rowid = NULL;
  return NAI_OK;
}

int nai_string_open(struct nai_lookup **out, struct nai_trace *trace, struct nai_err *err) {
  const struct nai_db_table *table = nai_trace_table(trace, "StringIds");
  int value = table ? nai_db_column(table, "value") : -1;
  return value < 0 ? NAI_OK : nai_lookup_open(out, trace, table->name, value, err);
}

int nai_string_get(bool *found, struct nai_cell *cell, struct nai_lookup *strings, int64_t id, struct nai_err *err) {
  *found = false;
  if (!strings)
    return NAI_OK;
  NAI_TRY(nai_lookup_get(found, cell, strings, id, err));
  *found = *found && nai_cell_is_text(cell);
  return NAI_OK;
}

int nai_lookup_get(bool *found, struct nai_cell *cell, struct nai_lookup *lookup, int64_t key, struct nai_err *err) {
  int rc = lookup->get(found, cell, lookup, key, err);
  if (!rc)
    return NAI_OK;
  nai_err_wrap(err, rc, "row %lld", (long long)key);
  return nai_scan_fail(lookup->table->name, rc, err);
}

void nai_lookup_close(struct nai_lookup *lookup) {
  if (lookup)
    lookup->close(lookup);
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
    return nai_cell_long_prefix(cell, &self->long_value, self->loan.db, lookup->table, lookup->column, key, err);
  case SQLITE_DONE:
    return NAI_OK;
  default:
    return nai_sqlite_fail(err, self->loan.db, step, "cannot read it");
  }
}

static void close_sqlite(struct nai_lookup *lookup) {
  struct sqlite_lookup *self = (struct sqlite_lookup *)lookup;
  sqlite3_finalize(self->stmt);
  nai_loan_free(&self->loan);
  nai_buf_free(&self->long_value);
  free(self);
}

int nai_lookup_open_sqlite(struct nai_lookup **out, const struct nai_lookup *base, struct nai_err *err) {
  struct sqlite_lookup *self = calloc(1, sizeof *self);
  NAI_TRY(nai_memory_check(self, err));
  self->base = *base;
  self->base.get = get_sqlite;
  self->base.close = close_sqlite;
  NAI_OWNED(nai_lookup) *owned = &self->base;
  NAI_TRY(nai_trace_borrow(&self->loan, base->trace, err));
  NAI_TRY(nai_scan_prepare(&self->stmt, self->loan.db, "SELECT # FROM main.$ NOT INDEXED WHERE @ = ?1", base->table,
                           base->column, err));
  return NAI_GIVE(out, owned);
}
