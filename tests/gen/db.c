#include "gen/db.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

struct table_state {
  sqlite3_stmt *insert; /* NULL until the table exists */
  int64_t row_count;
  int parameters[NAI_GEN_MAX_COLUMNS]; /* canonical column -> SQL parameter, 0: not in this schema
                                        */
  bool bound[NAI_GEN_MAX_COLUMNS];     /* parameter holds a value of an earlier row */
};

struct nai_gen_db {
  sqlite3 *handle;
  char *path;
  char *temporary;
  struct nai_gen_db_options options;
  bool committed;
  struct table_state tables[T_COUNT];
};

void nai_gen_row_start(struct nai_gen_row *row, enum nai_gen_table table) {
  row->table = table;
  memset(row->cells, 0, nai_gen_schema_table(table)->column_count * sizeof row->cells[0]);
}

void nai_gen_row_int(struct nai_gen_row *row, int column, int64_t value) {
  row->cells[column] = (struct nai_gen_cell){.type = NAI_GEN_CELL_INT, .as.integer = value};
}

void nai_gen_row_real(struct nai_gen_row *row, int column, double value) {
  row->cells[column] = (struct nai_gen_cell){.type = NAI_GEN_CELL_REAL, .as.real = value};
}

void nai_gen_row_bytes(struct nai_gen_row *row, int column, const void *bytes, size_t size) {
  row->cells[column] = (struct nai_gen_cell){.type = NAI_GEN_CELL_TEXT, .size = (int)size, .as.bytes = bytes};
}

void nai_gen_row_text(struct nai_gen_row *row, int column, const char *text) {
  nai_gen_row_bytes(row, column, text, strlen(text));
}

void nai_gen_row_blob(struct nai_gen_row *row, int column, const void *bytes, size_t size) {
  nai_gen_row_bytes(row, column, bytes, size);
  row->cells[column].type = NAI_GEN_CELL_BLOB;
}

static int sql_failed(const struct nai_gen_db *db, const char *what, struct nai_gen_err *err) {
  return nai_gen_fail(NAI_GEN_EOUTPUT, err, "cannot %s: file=\"%s\": %s", what, db->path,
                      db->handle ? sqlite3_errmsg(db->handle) : "out of memory");
}

static int execute(struct nai_gen_db *db, const char *sql, struct nai_gen_err *err) {
  if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK) {
    return sql_failed(db, "write the trace", err);
  }
  return 0;
}

static bool exists_in(int schema, int first, int last) { return schema >= first && schema <= last; }

bool nai_gen_db_has_table(const struct nai_gen_db *db, enum nai_gen_table table) {
  const struct nai_gen_table_def *def = nai_gen_schema_table(table);
  return exists_in(db->options.schema, def->first, def->last);
}

static bool column_not_null(const struct nai_gen_db *db, const struct nai_gen_column_def *column) {
  return column->null != NAI_GEN_NULLABLE || db->options.schema == NAI_GEN_2019;
}

/* Builds both statements in one pass; they list the same columns in the same order. */
static int create_table(struct nai_gen_db *db, enum nai_gen_table table, struct nai_gen_err *err) {
  const struct nai_gen_table_def *def = nai_gen_schema_table(table);
  struct table_state *state = &db->tables[table];
  sqlite3_str *create = sqlite3_str_new(db->handle);
  sqlite3_str *insert = sqlite3_str_new(db->handle);
  int parameter = 0;
  sqlite3_str_appendf(create, "CREATE TABLE %s (", def->name);
  sqlite3_str_appendf(insert, "INSERT INTO \"%s\" VALUES (", def->name);
  for (size_t i = 0; i < def->column_count; i++) {
    const struct nai_gen_column_def *column = &def->columns[i];
    if (!exists_in(db->options.schema, column->first, column->last)) {
      continue;
    }
    bool checked = column_not_null(db, column) && !db->options.without_checks;
    state->parameters[i] = ++parameter;
    sqlite3_str_appendf(create, "%s\n    %-27s %s%s%s", parameter > 1 ? "," : "", column->name, column->type,
                        checked ? "   NOT NULL" : "", column->null == NAI_GEN_PRIMARY_KEY ? "   PRIMARY KEY" : "");
    sqlite3_str_appendall(insert, parameter > 1 ? ",?" : "?");
  }
  sqlite3_str_appendall(create, "\n)");
  sqlite3_str_appendall(insert, ")");
  char *create_sql = sqlite3_str_finish(create);
  char *insert_sql = sqlite3_str_finish(insert);
  int rc = 0;
  if (!create_sql || !insert_sql) {
    rc = nai_gen_fail(NAI_GEN_ENOMEM, err, "out of memory");
  } else {
    rc = execute(db, create_sql, err);
  }
  if (rc == 0 &&
      sqlite3_prepare_v3(db->handle, insert_sql, -1, SQLITE_PREPARE_PERSISTENT, &state->insert, NULL) != SQLITE_OK) {
    rc = sql_failed(db, "write the trace", err);
  }
  sqlite3_free(create_sql);
  sqlite3_free(insert_sql);
  return rc;
}

int nai_gen_db_create_all(struct nai_gen_db *db, struct nai_gen_err *err) {
  for (int table = 0; table < T_COUNT; table++) {
    if (nai_gen_db_has_table(db, (enum nai_gen_table)table) && !db->tables[table].insert) {
      int rc = create_table(db, (enum nai_gen_table)table, err);
      if (rc) {
        return rc;
      }
    }
  }
  return 0;
}

static int make_temporary(struct nai_gen_db *db, const char *path, struct nai_gen_err *err) {
  if (!db->options.replace && access(path, F_OK) == 0) {
    return nai_gen_fail(NAI_GEN_EUSAGE, err, "output exists: file=\"%s\" (use --force to replace it)", path);
  }
  size_t size = strlen(path) + 32;
  db->path = nai_gen_plain_path(path);
  db->temporary = malloc(size);
  if (!db->path || !db->temporary) {
    return nai_gen_fail(NAI_GEN_ENOMEM, err, "out of memory");
  }
  snprintf(db->temporary, size, "%s.%ld.tmp", db->path, (long)getpid());
  if (unlink(db->temporary) != 0 && errno != ENOENT) {
    return nai_gen_fail(NAI_GEN_EOUTPUT, err, "cannot remove: file=\"%s\": %s", db->temporary, strerror(errno));
  }
  return 0;
}

int nai_gen_db_open(struct nai_gen_db **out, const char *path, const struct nai_gen_db_options *options,
                    struct nai_gen_err *err) {
  *out = NULL;
  struct nai_gen_db *db = calloc(1, sizeof *db);
  if (!db) {
    return nai_gen_fail(NAI_GEN_ENOMEM, err, "out of memory");
  }
  db->options = *options;
  int rc = make_temporary(db, path, err);
  if (rc == 0 &&
      sqlite3_open_v2(db->temporary, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK) {
    rc = sql_failed(db, "create the trace", err);
  }
  if (rc == 0) {
    char pragmas[160];
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA page_size=%d; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
             "PRAGMA locking_mode=EXCLUSIVE; BEGIN",
             PAGE_BYTES);
    rc = execute(db, pragmas, err);
  }
  if (rc) {
    nai_gen_db_free(db);
    return rc;
  }
  *out = db;
  return 0;
}

static int bind_cell(sqlite3_stmt *statement, int parameter, const struct nai_gen_cell *cell) {
  switch (cell->type) {
  case NAI_GEN_CELL_INT:
    return sqlite3_bind_int64(statement, parameter, cell->as.integer);
  case NAI_GEN_CELL_REAL:
    return sqlite3_bind_double(statement, parameter, cell->as.real);
  case NAI_GEN_CELL_TEXT:
    return sqlite3_bind_text(statement, parameter, cell->as.bytes, cell->size, SQLITE_STATIC);
  case NAI_GEN_CELL_BLOB:
    return sqlite3_bind_blob(statement, parameter, cell->as.bytes, cell->size, SQLITE_STATIC);
  case NAI_GEN_CELL_NULL:
    break;
  }
  return sqlite3_bind_null(statement, parameter);
}

/* What an exporter without NULLs writes for a value it does not have. */
static struct nai_gen_cell default_cell(const struct nai_gen_column_def *column) {
  if (strcmp(column->type, "TEXT") == 0) {
    return (struct nai_gen_cell){.type = NAI_GEN_CELL_TEXT, .as.bytes = ""};
  }
  if (strcmp(column->type, "REAL") == 0) {
    return (struct nai_gen_cell){.type = NAI_GEN_CELL_REAL};
  }
  return (struct nai_gen_cell){.type = NAI_GEN_CELL_INT};
}

int nai_gen_db_insert(struct nai_gen_db *db, const struct nai_gen_row *row, struct nai_gen_err *err) {
  const struct nai_gen_table_def *def = nai_gen_schema_table(row->table);
  struct table_state *state = &db->tables[row->table];
  if (!nai_gen_db_has_table(db, row->table)) {
    return 0;
  }
  if (!state->insert) {
    int rc = create_table(db, row->table, err);
    if (rc) {
      return rc;
    }
  }
  for (size_t i = 0; i < def->column_count; i++) {
    struct nai_gen_cell cell = row->cells[i];
    int parameter = state->parameters[i];
    if (parameter == 0) {
      continue;
    }
    if (cell.type == NAI_GEN_CELL_NULL && !db->options.without_checks && column_not_null(db, &def->columns[i])) {
      cell = default_cell(&def->columns[i]);
    }
    /* SQLite keeps bindings between rows, so a column that stays NULL costs nothing. */
    if (cell.type == NAI_GEN_CELL_NULL && !state->bound[i]) {
      continue;
    }
    state->bound[i] = cell.type != NAI_GEN_CELL_NULL;
    if (bind_cell(state->insert, parameter, &cell) != SQLITE_OK) {
      return sql_failed(db, "write the trace", err);
    }
  }
  int rc = sqlite3_step(state->insert);
  sqlite3_reset(state->insert);
  if (rc != SQLITE_DONE) {
    return sql_failed(db, "write the trace", err);
  }
  state->row_count++;
  return 0;
}

int64_t nai_gen_db_size(struct nai_gen_db *db, struct nai_gen_err *err) {
  sqlite3_stmt *statement = NULL;
  int64_t size = NAI_GEN_EOUTPUT;
  if (sqlite3_prepare_v2(db->handle, "PRAGMA page_count", -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    size = sqlite3_column_int64(statement, 0) * PAGE_BYTES;
  } else {
    sql_failed(db, "measure the trace", err);
  }
  sqlite3_finalize(statement);
  return size;
}

int64_t nai_gen_db_row_count(const struct nai_gen_db *db, enum nai_gen_table table) {
  return db->tables[table].row_count;
}

static int close_handle(struct nai_gen_db *db) {
  for (int table = 0; table < T_COUNT; table++) {
    sqlite3_finalize(db->tables[table].insert);
    db->tables[table].insert = NULL;
  }
  int rc = sqlite3_close(db->handle);
  db->handle = NULL;
  return rc;
}

int nai_gen_db_commit(struct nai_gen_db *db, struct nai_gen_err *err) {
  int rc = execute(db, "COMMIT", err);
  if (close_handle(db) != SQLITE_OK && rc == 0) {
    rc = nai_gen_fail(NAI_GEN_EOUTPUT, err, "cannot close: file=\"%s\"", db->path);
  }
  if (rc == 0 && rename(db->temporary, db->path) != 0) {
    rc = nai_gen_fail(NAI_GEN_EOUTPUT, err, "cannot replace: file=\"%s\": %s", db->path, strerror(errno));
  }
  db->committed = rc == 0;
  return rc;
}

void nai_gen_db_free(struct nai_gen_db *db) {
  if (!db) {
    return;
  }
  close_handle(db);
  if (!db->committed && db->temporary) {
    unlink(db->temporary);
  }
  free(db->path);
  free(db->temporary);
  free(db);
}
