#include "gen/db.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assets.h"

enum { PAGE_BYTES = 4096, MAX_COLUMNS = 48, MAX_TABLES = 80 };

static const char not_null[] = "   NOT NULL";

struct table {
  char name[64];
  sqlite3_str *create;  /* its statement in the schema, without the semicolon */
  sqlite3_stmt *insert; /* NULL until the table exists; its parameters are named like the columns */
  int column_count;
  char columns[MAX_COLUMNS][40];
  int64_t row_count;
};

struct nai_gen_db {
  sqlite3 *handle;
  char *path;
  char *temporary;
  struct nai_gen_db_options options;
  bool committed;
  struct table tables[MAX_TABLES];
  int table_count;
  int last_table; /* that of the row before: most rows go where the last one went */
};

void nai_gen_row_start(struct nai_gen_row *row, const char *table) {
  row->table = table;
  row->zeroed = false;
  row->cell_count = 0;
}

static void add_cell(struct nai_gen_row *row, struct nai_gen_cell cell) {
  if (row->cell_count == NAI_GEN_MAX_CELLS) {
    abort(); /* NAI_GEN_MAX_CELLS is too low for this scenario */
  }
  row->cells[row->cell_count++] = cell;
}

void nai_gen_row_null(struct nai_gen_row *row, const char *column) {
  add_cell(row, (struct nai_gen_cell){.column = column});
}

void nai_gen_row_int(struct nai_gen_row *row, const char *column, int64_t value) {
  add_cell(row, (struct nai_gen_cell){.column = column, .type = NAI_GEN_CELL_INT, .as.integer = value});
}

void nai_gen_row_real(struct nai_gen_row *row, const char *column, double value) {
  add_cell(row, (struct nai_gen_cell){.column = column, .type = NAI_GEN_CELL_REAL, .as.real = value});
}

void nai_gen_row_bytes(struct nai_gen_row *row, const char *column, const void *bytes, size_t size) {
  add_cell(row, (struct nai_gen_cell){column, NAI_GEN_CELL_TEXT, (int)size, {.bytes = bytes}});
}

void nai_gen_row_text(struct nai_gen_row *row, const char *column, const char *text) {
  nai_gen_row_bytes(row, column, text, strlen(text));
}

void nai_gen_row_blob(struct nai_gen_row *row, const char *column, const void *bytes, size_t size) {
  add_cell(row, (struct nai_gen_cell){column, NAI_GEN_CELL_BLOB, (int)size, {.bytes = bytes}});
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

/* Whether what a line of the schemas declares is in exports of that year. */
static bool is_of_year(const char *line, int year) {
  const char *since = strstr(line, "since "), *until = strstr(line, "until ");
  return (!since || year >= atoi(since + strlen("since "))) && (!until || year <= atoi(until + strlen("until ")));
}

static void add_column(const struct nai_gen_db *db, sqlite3_str *create, const char *column) {
  bool first = sqlite3_str_length(create) && sqlite3_str_value(create)[sqlite3_str_length(create) - 1] == '(';
  bool nullable = db->options.schema > NAI_GEN_2019 || strstr(column, not_null);
  sqlite3_str_appendf(create, "%s\n%s%s", first ? "" : ",", column, nullable ? "" : not_null);
}

/* Adds a line of the schemas to the table that began last; `*table` is NULL where that is of other years. */
static void add_line(struct nai_gen_db *db, struct table **table, char *line) {
  static const char create[] = "CREATE TABLE ";
  bool there = is_of_year(line, db->options.schema);
  char *comma = strchr(line, ','), *years = strstr(line, " --"), *end = comma ? comma : years;
  if (end) {
    *end = '\0';
  }
  if (strncmp(line, create, strlen(create)) == 0) {
    *table = there && db->table_count < MAX_TABLES ? &db->tables[db->table_count++] : NULL;
    if (*table) {
      sscanf(line + strlen(create), "%63s", (*table)->name);
      (*table)->create = sqlite3_str_new(NULL);
      sqlite3_str_appendall((*table)->create, line);
    }
  } else if (*table && *line == ')') {
    sqlite3_str_appendall((*table)->create, "\n)");
  } else if (*table && there) {
    add_column(db, (*table)->create, line);
  }
}

/* The tables of the generation: a line a column. */
static int read_schema(struct nai_gen_db *db, struct nai_gen_err *err) {
  const struct nai_asset *schema = nai_asset_find("tests/gen/schemas.sql");
  struct table *table = NULL;
  char line[160];
  for (const char *at = schema ? schema->data : ""; *at; at += strcspn(at, "\n") + 1) {
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    add_line(db, &table, line);
  }
  return db->table_count ? 0 : nai_gen_fail(NAI_GEN_EOUTPUT, err, "cannot read the tables of %d", db->options.schema);
}

static struct table *find_table(const struct nai_gen_db *db, const char *name) {
  for (int i = 0; i < db->table_count; i++) {
    int at = (db->last_table + i) % db->table_count;
    if (strcmp(db->tables[at].name, name) == 0) {
      return (struct table *)&db->tables[at];
    }
  }
  return NULL;
}

const char *nai_gen_db_table(const struct nai_gen_db *db, int index) {
  return index < db->table_count ? db->tables[index].name : NULL;
}

int64_t nai_gen_db_row_count(const struct nai_gen_db *db, const char *table) {
  const struct table *found = find_table(db, table);
  return found ? found->row_count : 0;
}

/* The statement that creates the table; where invalid rows are to be written, without what would refuse them. */
static char *create_statement(const struct nai_gen_db *db, const struct table *table) {
  char *sql = sqlite3_mprintf("%s", sqlite3_str_value(table->create));
  for (char *at = sql; at && db->options.without_checks && (at = strstr(at, not_null));) {
    memmove(at, at + strlen(not_null), strlen(at + strlen(not_null)) + 1);
  }
  return sql;
}

/* The statement that inserts a row: a parameter per column, and what stands for NULL where the column must not be. */
static int prepare_insert(struct nai_gen_db *db, struct table *table, struct nai_gen_err *err) {
  static const char columns[] =
      "SELECT printf('INSERT INTO \"%w\" VALUES (%s)', ?1, group_concat(iif(\"notnull\", printf('ifnull(:%s, %s)', name,"
      " iif(type = 'TEXT', quote(''), '0')), ':' || name), ', ')) FROM pragma_table_info(?1)";
  sqlite3_stmt *text = NULL;
  bool done = sqlite3_prepare_v2(db->handle, columns, -1, &text, NULL) == SQLITE_OK &&
              sqlite3_bind_text(text, 1, table->name, -1, SQLITE_STATIC) == SQLITE_OK &&
              sqlite3_step(text) == SQLITE_ROW &&
              sqlite3_prepare_v3(db->handle, (const char *)sqlite3_column_text(text, 0), -1, SQLITE_PREPARE_PERSISTENT,
                                 &table->insert, NULL) == SQLITE_OK;
  int rc = done ? 0 : sql_failed(db, "write the trace", err);
  sqlite3_finalize(text);
  table->column_count = rc ? 0 : sqlite3_bind_parameter_count(table->insert);
  if (table->column_count > MAX_COLUMNS) {
    return nai_gen_fail(NAI_GEN_EOUTPUT, err, "table %s has too many columns", table->name);
  }
  for (int i = 0; i < table->column_count; i++) {
    const char *name = sqlite3_bind_parameter_name(table->insert, i + 1) + strlen(":");
    snprintf(table->columns[i], sizeof table->columns[i], "%s", name); /* SQLite's own moves when tables are added */
  }
  return rc;
}

static int create_table(struct nai_gen_db *db, struct table *table, struct nai_gen_err *err) {
  char *sql = create_statement(db, table);
  int rc = sql ? execute(db, sql, err) : nai_gen_fail(NAI_GEN_ENOMEM, err, "out of memory");
  sqlite3_free(sql);
  return rc ? rc : prepare_insert(db, table, err);
}

int nai_gen_db_create_all(struct nai_gen_db *db, struct nai_gen_err *err) {
  int rc = 0;
  for (int i = 0; i < db->table_count && !rc; i++) {
    rc = db->tables[i].insert ? 0 : create_table(db, &db->tables[i], err);
  }
  return rc;
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
  int rc = read_schema(db, err);
  if (rc == 0) {
    rc = make_temporary(db, path, err);
  }
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

/* Cells come in the order of the columns, mostly: looks from `from` on. -1: there is none. */
static int find_column(const struct table *table, const char *name, int from) {
  for (int i = 0; i < table->column_count; i++) {
    int at = (from + i) % table->column_count;
    if (strcmp(table->columns[at], name) == 0) {
      return at;
    }
  }
  return -1;
}

/* Only the newest generation has all tables and columns: there, what is unknown is misspelt. */
static int check_missing(const struct nai_gen_db *db, const char *table, const char *column, struct nai_gen_err *err) {
  return db->options.schema < NAI_GEN_2026
           ? 0
           : nai_gen_fail(NAI_GEN_EUSAGE, err, "schemas.sql has no %s.%s", table, column);
}

static int bind_row(struct nai_gen_db *db, struct table *table, const struct nai_gen_row *row,
                    struct nai_gen_err *err) {
  int bound = sqlite3_clear_bindings(table->insert), rc = 0;
  for (int i = 1; row->zeroed && i <= table->column_count; i++) {
    bound |= sqlite3_bind_int64(table->insert, i, 0);
  }
  for (int i = 0, last = -1; i < row->cell_count && !rc; i++) {
    int at = find_column(table, row->cells[i].column, last + 1);
    if (at < 0) {
      rc = check_missing(db, row->table, row->cells[i].column, err);
    } else {
      bound |= bind_cell(table->insert, at + 1, &row->cells[i]);
      last = at;
    }
  }
  return rc || bound == SQLITE_OK ? rc : sql_failed(db, "write the trace", err);
}

int nai_gen_db_insert(struct nai_gen_db *db, const struct nai_gen_row *row, struct nai_gen_err *err) {
  struct table *table = find_table(db, row->table);
  if (!table) {
    return check_missing(db, row->table, "*", err);
  }
  db->last_table = (int)(table - db->tables);
  int rc = table->insert ? 0 : create_table(db, table, err);
  if (rc == 0) {
    rc = bind_row(db, table, row, err);
  }
  if (rc) {
    return rc;
  }
  int done = sqlite3_step(table->insert);
  sqlite3_reset(table->insert);
  if (done != SQLITE_DONE) {
    return sql_failed(db, "write the trace", err);
  }
  table->row_count++;
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

static int close_handle(struct nai_gen_db *db) {
  for (int table = 0; table < db->table_count; table++) {
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
  for (int table = 0; table < db->table_count; table++) {
    sqlite3_free(sqlite3_str_finish(db->tables[table].create));
  }
  free(db);
}
