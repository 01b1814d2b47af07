#include "trace/parquet/folder.h"

#include "base/fs.h"
#include "trace/parquet/parquet.h"
#include "trace/trace/trace_internal.h"

#include <fcntl.h>

#define SUFFIX ".parquet"
enum { ROWS_PER_LOOK = 4096 };

struct import {
  int folder, out; /* `out`: the database, to ask how full its disk is */
  const char *spare;
  sqlite3 *db;
};

static int fail(const struct import *import, const char *what, struct nai_err *err) {
  return nai_err_set(err, sqlite3_errcode(import->db) == SQLITE_NOMEM ? NAI_ELIMIT : NAI_EIO, "%s: %s", what,
                     sqlite3_errmsg(import->db));
}

static int execute(const struct import *import, const char *sql, struct nai_err *err) {
  return sqlite3_exec(import->db, sql, NULL, NULL, NULL) == SQLITE_OK
           ? NAI_OK
           : fail(import, "cannot make a database of it", err);
}

/* Exporters end a declaration with a line of its own, which tells readers that no column was added later. */
static int create(sqlite3_stmt **insert, const struct import *import, const char *table, const struct nai_pq_file *file,
                  struct nai_err *err) {
  static const char *const types[] = {
      [NAI_PQ_BOOLEAN] = "INTEGER", [NAI_PQ_INT32] = "INTEGER", [NAI_PQ_INT64] = "INTEGER",
      [NAI_PQ_FLOAT] = "REAL",      [NAI_PQ_DOUBLE] = "REAL",   [NAI_PQ_BYTES] = "BLOB"};
  NAI_SCOPED(nai_buf) sql = {0}, into = {0};
  nai_buf_printf(&sql, "CREATE TABLE \"%s\" (", table);
  nai_buf_printf(&into, "INSERT INTO \"%s\" VALUES (", table);
  for (uint32_t c = 0; c < file->column_count; c++) {
    nai_buf_puts(&sql, c ? ",\n  " : "\n  ");
    nai_sql_identifier(&sql, file->columns[c].name);
    nai_buf_printf(&sql, " %s", file->columns[c].is_text ? "TEXT" : types[file->columns[c].type]);
    nai_buf_puts(&into, c ? ", ?" : "?");
  }
  nai_buf_puts(&sql, "\n)");
  nai_buf_puts(&into, ")");
  NAI_TRY(nai_buf_check(&sql, err));
  NAI_TRY(nai_buf_check(&into, err));
  NAI_TRY(execute(import, sql.data, err));
  return sqlite3_prepare_v2(import->db, into.data, -1, insert, NULL) == SQLITE_OK
           ? NAI_OK
           : fail(import, "cannot make a database of it", err);
}

static int bind(sqlite3_stmt *insert, int index, const struct nai_cell *cell) {
  switch (cell->type) {
  case NAI_CELL_INT:
    return sqlite3_bind_int64(insert, index, cell->i);
  case NAI_CELL_REAL:
    return sqlite3_bind_double(insert, index, cell->real);
  case NAI_CELL_TEXT:
    return sqlite3_bind_text64(insert, index, cell->data, cell->len, SQLITE_STATIC, SQLITE_UTF8);
  case NAI_CELL_BLOB:
    return sqlite3_bind_blob64(insert, index, cell->data, cell->len, SQLITE_STATIC);
  default:
    return sqlite3_bind_null(insert, index);
  }
}

static int insert_rows(const struct import *import, sqlite3_stmt *insert, struct nai_pq_cells *cells, uint32_t columns,
                       uint64_t rows, struct nai_err *err) {
  for (uint64_t row = 0; row < rows; row++) {
    for (uint32_t c = 0; c < columns; c++) {
      struct nai_cell cell;
      NAI_TRY(nai_pq_cells_next(&cell, &cells[c], err));
      if (bind(insert, (int)c + 1, &cell) != SQLITE_OK)
        return fail(import, "cannot make a database of it", err);
    }
    if (row % ROWS_PER_LOOK == 0 && !nai_fs_has_room(import->out, 0))
      return nai_err_sys(err, NAI_EIO, ENOSPC, "cannot make a database of it");
    if (sqlite3_step(insert) != SQLITE_DONE)
      return fail(import, "cannot make a database of it", err);
    sqlite3_reset(insert);
  }
  for (uint32_t c = 0; c < columns; c++)
    NAI_TRY(nai_pq_cells_end(&cells[c], err));
  return NAI_OK;
}

static int import_group(const struct import *import, sqlite3_stmt *insert, const struct nai_pq_file *file,
                        uint32_t group, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_pq_cells *cells;
  uint32_t columns = file->column_count;
  int rc = NAI_OK;
  NAI_TRY(NAI_NEW(cells, &arena, columns, err));
  for (uint32_t c = 0; c < columns && !rc; c++)
    rc = nai_pq_cells_open(&cells[c], file, &file->chunks[group * columns + c], import->spare, err);
  if (!rc)
    rc = insert_rows(import, insert, cells, columns, file->group_rows[group], err);
  for (uint32_t c = 0; c < columns; c++)
    nai_pq_cells_free(&cells[c]);
  return rc;
}

static int import_file(const struct import *import, const char *table, const char *name, struct nai_err *err) {
  NAI_SCOPED(nai_pq_file) file = {.arena = NAI_ARENA(NULL)};
  NAI_OWNED(sqlite3_stmt) *insert = NULL;
  NAI_CLOSED int fd = nai_fs_open_at(import->folder, name);
  if (fd < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot open it");
  NAI_TRY(nai_pq_open(&file, fd, err));
  NAI_TRY(create(&insert, import, table, &file, err));
  for (uint32_t group = 0; group < file.group_count; group++)
    NAI_TRY(import_group(import, insert, &file, group, err));
  return NAI_OK;
}

/* The table's name, NULL for a file that is no table's. */
static const char *table_of(struct nai_arena *arena, const char *name) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  size_t n = strspn(name, letters);
  return n && strcmp(name + n, SUFFIX) == 0 ? nai_arena_printf(arena, "%.*s", (int)n, name) : NULL;
}

static int import_all(const struct import *import, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const char **names;
  size_t count;
  int failed = nai_fs_names(&names, &count, &arena, import->folder, ".");
  if (failed)
    return nai_err_sys(err, NAI_EINPUT, failed, "cannot list it");
  for (size_t i = 0; i < count; i++) {
    const char *table = table_of(&arena, names[i]);
    int rc = table ? import_file(import, table, names[i], err) : NAI_OK;
    if (rc)
      return nai_err_wrap(err, rc, "table \"%s\"", table);
  }
  return nai_arena_check(&arena, err);
}

int nai_parquet_import(const char *to, const char *spare, const char *path, struct nai_err *err) {
  NAI_OWNED(sqlite3) *db = NULL;
  NAI_CLOSED int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  NAI_CLOSED int out = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (folder < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot open \"%s\"", path);
  if (out < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", to);
  int state = sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  struct import import = {.folder = folder, .out = out, .spare = spare, .db = db};
  if (state != SQLITE_OK)
    return fail(&import, "cannot make a database of it", err);
  /* nobody else reads it, and what is left of an attempt that failed is removed */
  int rc = execute(&import, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", err);
  rc = rc ? rc : import_all(&import, err);
  rc = rc ? rc : execute(&import, "COMMIT", err);
  if (rc == NAI_EINPUT)
    return nai_err_wrap(
        err, rc, "cannot read the Parquet folder \"%s\" (nsys export --type sqlite makes what is read best)", path);
  return rc ? nai_err_wrap(err, rc, "cannot read the Parquet folder \"%s\"", path) : NAI_OK;
}
