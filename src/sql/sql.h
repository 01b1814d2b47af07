/* Tables as SQL: a connection whose tables are nai_tables, with functions on intervals of time and names, which can
 * only read. Who opens one says which tables there are and where their rows come from. */
#pragma once

#include "base/former.h"
#include "table/table.h"

#include <sqlite3.h>

struct nai_sql;
struct nai_sql_table;

/* Where a table comes from. With `parts` each column belongs to a part that is made on first use. */
struct nai_sql_source {
  const struct nai_schema *schema; /* NULL: known when the table is open */
  const uint8_t
      *parts; /* per column: bit of the part that fills it; 0: filled when the table is opened. NULL: all are */
  int (*open)(struct nai_sql_table *t, struct nai_err *err); /* sets t->table; t->own, too, when it is made here */
  int (*build)(struct nai_sql_table *t, uint32_t part, struct nai_err *err);
};

/* How a SQL column is read. */
struct nai_sql_column {
  struct nai_display_column print;
  double divide; /* integers of ns: what makes them the unit; 1: they stay integers */
  bool former;   /* under the name that the column had before */
};

/* A table as statements see it. */
struct nai_sql_table {
  struct nai_sql *sql;
  const char *name, *was; /* was: the name it had before, by which statements find it, too; or NULL */
  const struct nai_sql_source *source;
  const struct nai_table *table;  /* NULL until it is named by a statement */
  struct nai_table *own;          /* the same, when it has to be freed here */
  uint32_t built;                 /* bits of the source's parts whose columns are filled */
  struct nai_facts *facts;        /* per stored column */
  struct nai_sql_column *columns; /* as many as SQL columns: what outputs show, then hidden ones: stored, former */
  int column_count, shown_count;
};

/* What a function made of texts, once each: rows have few different ones. */
struct nai_sql_kept {
  struct nai_strings texts, made;
  uint32_t *made_of, capacity; /* by text */
};

struct nai_sql {
  sqlite3 *sqlite;
  struct nai_sql_kept short_names;
  struct nai_sql_table *tables;
  uint32_t table_count, capacity;
  bool declaring; /* a table's columns: what statements may do does not matter */
  bool making;    /* nai_sql_make */
  /* Hears of former names that statements say, as they are prepared; NULL: nai_former_tell, without a place. */
  void (*tell)(void *ctx, const struct nai_former *former);
  void *tell_ctx;
  struct nai_err failure; /* why a table could not be read: SQLite passes on the text only */
  /* Whether a table that is not one of these may not be read; NULL: all may. */
  bool (*hides)(const struct nai_sql *sql, const char *database, const char *table);
};

/* Adds a table, unless one of that name is there. Names and source are borrowed. */
NAI_MUST_CHECK int nai_sql_add(struct nai_sql *sql, const char *name, const char *was,
                               const struct nai_sql_source *source, struct nai_err *err);
/* Opens the connection; no table can be added after it. */
NAI_MUST_CHECK int nai_sql_open(struct nai_sql *sql, struct nai_err *err);
/* What was made of a text, borrowed until more is kept; NULL: it has to be made. There is a limit to what is kept, and
 * without memory nothing is. */
const char *nai_sql_kept(const struct nai_sql_kept *kept, const char *text);
void nai_sql_keep(struct nai_sql_kept *kept, const char *text, const char *made);
void nai_sql_kept_free(struct nai_sql_kept *kept);
/* The failure of an SQLite call that sets a connection up. */
int nai_sql_open_error(const struct nai_sql *sql, int code, struct nai_err *err);
void nai_sql_close(struct nai_sql *sql);
/* What statements may do, and how much memory the process may then take for SQL; 0: any. Before: views. After: nothing
 * can be created, but within nai_sql_make. */
NAI_MUST_CHECK int nai_sql_guard(struct nai_sql *sql, int64_t memory_bytes);

/* Begins and ends what a statement may do beside reading: make a temporary table. SQLite's code. */
NAI_MUST_CHECK int nai_sql_make(struct nai_sql *sql, bool making);

/* A connection to tables in memory, guarded, whose statements end after some hundred million steps (SQLITE_INTERRUPT).
 * Each table is empty until one of its schema is shown. Schemas are borrowed; what *out is, is to be freed, also after
 * an error. */
NAI_MUST_CHECK int nai_sql_new(struct nai_sql **out, const struct nai_schema *const *schemas, size_t count,
                               struct nai_err *err);
void nai_sql_free(struct nai_sql *sql);
NAI_OWNER(nai_sql)
/* A statement of such a connection begins: its steps count from here. */
void nai_sql_count_steps(struct nai_sql *sql);

/* The numbers of the rows of a table that "WHERE ... ORDER BY ..." leaves, in that order and then their own; either may
 * be missing. `rows` holds the first `most` of *total: no more is kept, however large the table. */
NAI_MUST_CHECK int nai_sql_rows(int64_t *rows, int64_t most, int64_t *total, struct nai_sql *sql,
                                const struct nai_table *table, const char *clause, struct nai_err *err);

/* By name or, where no table has that, by former name; NULL for none. */
struct nai_sql_table *nai_sql_find(const struct nai_sql *sql, const char *name);
/* What SQL calls column `i`; returns `name`. */
const char *nai_sql_column_name(char name[NAI_COLUMN_NAME_MAX], const struct nai_sql_table *t, int i);
/* Opens a table for reading. */
NAI_MUST_CHECK int nai_sql_read(struct nai_sql_table *t, struct nai_err *err);
/* Lets the table show the rows of another one of the same columns, which is borrowed; NULL: its own again. Between
 * statements only. */
NAI_MUST_CHECK int nai_sql_show(struct nai_sql_table *t, const struct nai_table *table, struct nai_err *err);
/* Fills a column of it, unless it is. */
NAI_MUST_CHECK int nai_sql_fill(struct nai_sql_table *t, int column, struct nai_err *err);
/* The table's column that result column `i` is a plain reference to, NULL when it is computed. */
const struct nai_sql_column *nai_sql_origin(const struct nai_schema **schema, const struct nai_sql *sql,
                                            sqlite3_stmt *statement, int i);
