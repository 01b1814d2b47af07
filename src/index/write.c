/* index.sqlite, index.csv and the pages. */
#include "base/fs.h"
#include "base/temporary.h"
#include "index/index.h"
#include "table/csv.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- tables as an SQLite file ----------------------------------------------------------------- */

static int fail(sqlite3 *db, const char *path, struct nai_err *err) {
  int failed = sqlite3_errcode(db) == SQLITE_CANTOPEN ? sqlite3_system_errno(db) : 0;
  if (failed) /* no descriptor left, as like as not */
    return nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", path);
  return sqlite3_errcode(db) == SQLITE_NOMEM
           ? nai_err_nomem(err)
           : nai_err_set(err, NAI_EIO, "cannot write \"%s\": %s", path, sqlite3_errmsg(db));
}

static int run_sql(sqlite3 *db, const char *sql, const char *path, struct nai_err *err) {
  return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? NAI_OK : fail(db, path, err);
}

static const char *type_of(enum nai_type type) {
  return type == NAI_STR ? "TEXT" : type == NAI_F64 ? "REAL" : "INTEGER";
}

/* Columns as they are stored (times in ns), the key as the primary key. Names are ours. */
static int create_table(sqlite3 *db, const struct nai_schema *schema, const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  const char *separator = "";
  nai_buf_printf(&sql, "CREATE TABLE \"%s\"(", schema->name);
  for (uint32_t c = 0; c < schema->column_count; c++)
    nai_buf_printf(&sql, "%s\"%s\" %s", c ? ", " : "", schema->columns[c].name, type_of(schema->columns[c].type));
  nai_buf_puts(&sql, ", PRIMARY KEY(");
  for (uint32_t c = 0; c < schema->column_count; c++)
    if (schema->columns[c].key) {
      nai_buf_printf(&sql, "%s\"%s\"", separator, schema->columns[c].name);
      separator = ", ";
    }
  nai_buf_puts(&sql, ")) WITHOUT ROWID");
  NAI_TRY(nai_buf_check(&sql, err));
  return run_sql(db, nai_buf_str(&sql), path, err);
}

static int prepare_insert(sqlite3_stmt **out, sqlite3 *db, const struct nai_schema *schema, const char *path,
                          struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  nai_buf_printf(&sql, "INSERT INTO \"%s\" VALUES(", schema->name);
  for (uint32_t c = 0; c < schema->column_count; c++)
    nai_buf_puts(&sql, c ? ", ?" : "?");
  nai_buf_putc(&sql, ')');
  NAI_TRY(nai_buf_check(&sql, err));
  return sqlite3_prepare_v2(db, nai_buf_str(&sql), -1, out, NULL) == SQLITE_OK ? NAI_OK : fail(db, path, err);
}

static void bind(sqlite3_stmt *insert, int column, const struct nai_value *value) {
  if (value->null)
    sqlite3_bind_null(insert, column);
  else if (value->type == NAI_STR)
    sqlite3_bind_text(insert, column, value->s, -1, SQLITE_STATIC);
  else if (value->type == NAI_F64)
    sqlite3_bind_double(insert, column, value->f);
  else
    sqlite3_bind_int64(insert, column, value->i);
}

static int put_rows(sqlite3 *db, sqlite3_stmt *insert, const struct nai_table *table, const char *path,
                    struct nai_err *err) {
  for (int64_t row = 0; row < table->rows; row++) {
    for (uint32_t c = 0; c < table->schema->column_count; c++) {
      struct nai_value value = nai_table_value(table, row, (int)c);
      bind(insert, (int)c + 1, &value);
    }
    if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
      return fail(db, path, err);
  }
  return NAI_OK;
}

static int put_table(sqlite3 *db, const struct nai_table *table, const char *path, struct nai_err *err) {
  sqlite3_stmt *insert = NULL;
  NAI_TRY(create_table(db, table->schema, path, err));
  NAI_TRY(prepare_insert(&insert, db, table->schema, path, err));
  int rc = put_rows(db, insert, table, path, err);
  sqlite3_finalize(insert);
  return rc;
}

/* What cannot be opened for writing SQLite opens for reading, and forgets why. The file is our own: a moment without
 * descriptors is over, or says what it is, when it is opened once more. */
static int open_new(sqlite3 **db, const char *path, struct nai_err *err) {
  enum { TRIES = 2 };
  /* Nobody knows this file yet, so it needs no locks, which some network file systems do not have. */
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_PRIVATECACHE;
  for (int i = 0; i < TRIES; i++) {
    if (sqlite3_open_v2(path, db, flags, "unix-none") != SQLITE_OK)
      return fail(*db, path, err);
    if (sqlite3_db_readonly(*db, "main") == 0)
      return NAI_OK;
    sqlite3_close(*db);
    *db = NULL;
  }
  return nai_err_set(err, NAI_EIO, "cannot write \"%s\"", path);
}

static int put_tables(sqlite3 *db, const char *path, const struct nai_table *const *tables, struct nai_err *err) {
  static const char begin[] =
      "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN";
  NAI_TRY(run_sql(db, begin, path, err));
  for (; *tables; tables++)
    NAI_TRY(put_table(db, *tables, path, err));
  return run_sql(db, "COMMIT", path, err);
}

/* A new file in the place of `path`, written under another name by one process, then renamed: no reader ever sees half
 * of it and nothing is locked, so the directory may be on a network. */
static int write_sqlite(const char *path, const struct nai_table *const *tables, struct nai_err *err) {
  struct nai_temporary aside;
  sqlite3 *db = NULL;
  NAI_TRY(nai_temporary_file(&aside, path, err));
  int rc = open_new(&db, aside.path, err);
  if (!rc)
    rc = put_tables(db, aside.path, tables, err);
  if (sqlite3_close(db) != SQLITE_OK && !rc)
    rc = nai_err_set(err, NAI_EIO, "cannot write \"%s\"", aside.path);
  int failed = rc ? 0 : nai_temporary_become(&aside, path);
  if (failed)
    rc = nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", path);
  if (rc)
    nai_temporary_remove(&aside);
  return rc;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int write_text(const struct nai_buf *text, const char *directory, const char *name, struct nai_err *err) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  NAI_TRY(nai_buf_check(text, err));
  return nai_fs_replace(path, nai_buf_str(text), text->len, err);
}

/* Where the pages go, and how many there are. */
struct pages {
  const char *directory;
  int64_t count;
};

static int write_page(void *ctx, int64_t part, const struct nai_buf *text, struct nai_err *err) {
  struct pages *pages = ctx;
  char name[NAI_INDEX_PAGE_NAME];
  nai_index_page_name(name, part);
  pages->count = part >= pages->count ? part + 1 : pages->count;
  return write_text(text, pages->directory, name, err);
}

static void page_path(char out[PATH_MAX], const struct pages *pages, int64_t part) {
  char name[NAI_INDEX_PAGE_NAME];
  nai_index_page_name(name, part);
  snprintf(out, PATH_MAX, "%s/%s", pages->directory, name);
}

/* The last one first: what a killed process leaves are those that follow, and the next one finds them. */
static int remove_further(const struct pages *pages, struct nai_err *err) {
  char path[PATH_MAX];
  int64_t end = pages->count;
  for (page_path(path, pages, end); nai_fs_exists(path); page_path(path, pages, end))
    end++;
  while (end-- > pages->count) {
    page_path(path, pages, end);
    if (unlink(path) != 0 && errno != ENOENT)
      return nai_err_sys(err, NAI_EIO, errno, "cannot remove \"%s\"", path);
  }
  return NAI_OK;
}

int nai_index_write(struct nai_index *index, const char *directory, struct nai_err *err) {
  const struct nai_table *const tables[] = {index->runs,    index->metrics, index->findings,
                                            index->kernels, index->more,    NULL};
  struct pages pages = {directory, 0};
  NAI_SCOPED(nai_buf) csv = {0};
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/index.sqlite", directory);
  index->directory = directory;
  NAI_TRY(nai_index_sort(index, err));
  NAI_TRY(write_sqlite(path, tables, err));
  nai_csv_table(&csv, index->runs);
  NAI_TRY(write_text(&csv, directory, "index.csv", err));
  NAI_TRY(nai_index_pages(index, write_page, &pages, err));
  return remove_further(&pages, err);
}
