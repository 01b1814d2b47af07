/* An index read back: what is known of runs that have not changed need not be read from them again. */
#include "index/index.h"

#include "base/fs.h"

#include <sqlite3.h>
#include <string.h>

/* The file's columns are exactly the schema's, in its order; some may have the name they had before. */
static bool has_columns(sqlite3_stmt *select, const struct nai_schema *schema) {
  if (sqlite3_column_count(select) != (int)schema->column_count)
    return false;
  for (uint32_t c = 0; c < schema->column_count; c++)
    if (!nai_schema_is_called(schema->columns[c].name, schema->columns[c].was, sqlite3_column_name(select, (int)c)))
      return false;
  return true;
}

static void read_cell(struct nai_table *table, int64_t row, int column, sqlite3_stmt *select) {
  enum nai_type type = table->schema->columns[column].type;
  if (sqlite3_column_type(select, column) == SQLITE_NULL)
    return;
  if (type == NAI_STR)
    nai_set_str(table, row, column, (const char *)sqlite3_column_text(select, column));
  else if (type == NAI_F64)
    nai_set_f64(table, row, column, sqlite3_column_double(select, column));
  else
    nai_set_i64(table, row, column, sqlite3_column_int64(select, column));
}

static int compare_int(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* Whether the row comes behind the one before by its key: texts and numbers, as SQLite orders them. */
static bool is_in_order(const struct nai_table *table, int64_t row) {
  const struct nai_schema *schema = table->schema;
  int order = row ? 0 : -1;
  for (uint32_t c = 0; c < schema->column_count && !order; c++) {
    if (!schema->columns[c].key)
      continue;
    if (schema->columns[c].type == NAI_STR)
      order = strcmp(nai_get_str(table, row - 1, (int)c), nai_get_str(table, row, (int)c));
    else
      order = compare_int(nai_get_i64(table, row - 1, (int)c), nai_get_i64(table, row, (int)c));
  }
  return order < 0;
}

/* In order of the key, which is how our file keeps it: runs are searched by bisection, and a row that is there twice
 * would count twice. A file in another order is not ours. */
static bool read_table(struct nai_table *table, sqlite3 *db) {
  char sql[128];
  sqlite3_stmt *select = NULL;
  sqlite3_snprintf(sizeof sql, sql, "SELECT * FROM \"%w\"", table->schema->name);
  bool ok = sqlite3_prepare_v2(db, sql, -1, &select, NULL) == SQLITE_OK && has_columns(select, table->schema);
  int step = SQLITE_DONE;
  while (ok && (step = sqlite3_step(select)) == SQLITE_ROW) {
    int64_t row = nai_table_add_row(table);
    for (uint32_t c = 0; c < table->schema->column_count; c++)
      read_cell(table, row, (int)c, select);
    ok = table->oom || is_in_order(table, row); /* memory is looked at by whoever asked */
  }
  sqlite3_finalize(select);
  return ok && step == SQLITE_DONE;
}

int nai_index_load(bool *found, struct nai_index *out, const char *path, struct nai_err *err) {
  sqlite3 *db = NULL;
  *found = false;
  NAI_TRY(nai_index_new(out, err));
  if (!nai_fs_is_regular(path)) /* SQLite would wait for a writer of a FIFO */
    return NAI_OK;
  struct nai_table *const tables[] = {out->runs, out->metrics, out->findings, out->kernels};
  bool ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE, "unix-none") == SQLITE_OK;
  for (size_t i = 0; i < sizeof tables / sizeof *tables && ok; i++)
    ok = read_table(tables[i], db);
  sqlite3_close(db);
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    NAI_TRY(nai_table_check(tables[i], err));
  *found = ok;
  if (ok)
    return NAI_OK;
  nai_index_free(out);
  return nai_index_new(out, err);
}

static void copy_row(struct nai_table *to, const struct nai_table *from, int64_t at) {
  int64_t row = nai_table_add_row(to);
  for (uint32_t c = 0; c < from->schema->column_count; c++) {
    struct nai_value value = nai_table_value(from, at, (int)c);
    if (value.null)
      continue;
    if (value.type == NAI_STR)
      nai_set_str(to, row, (int)c, value.s);
    else if (value.type == NAI_F64)
      nai_set_f64(to, row, (int)c, value.f);
    else
      nai_set_i64(to, row, (int)c, value.i);
  }
}

bool nai_index_copy(struct nai_index *to, const struct nai_index *loaded, const char *id, const char *record) {
  struct nai_table *const into[] = {to->metrics, to->findings, to->kernels};
  const struct nai_table *const from[] = {loaded->metrics, loaded->findings, loaded->kernels};
  int64_t count, first = nai_index_rows_of(&count, loaded->runs, id);
  if (count != 1 || strcmp(nai_get_str(loaded->runs, first, RUNS_record), record) != 0)
    return false;
  if (strcmp(nai_get_str(loaded->runs, first, RUNS_status), "damaged") == 0) /* it could not be read then */
    return false;
  copy_row(to->runs, loaded->runs, first);
  for (size_t i = 0; i < sizeof into / sizeof *into; i++) {
    first = nai_index_rows_of(&count, from[i], id);
    for (int64_t row = first; row < first + count; row++)
      copy_row(into[i], from[i], row);
  }
  return true;
}
