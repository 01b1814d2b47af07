/* Shared by the files behind query.h. Internal to src/query. */
#ifndef NAI_QUERY_INTERNAL_H
#define NAI_QUERY_INTERNAL_H

#include "query/query.h"

#include <sqlite3.h>

#include <sys/types.h>

/* What is known of a stored column, found out when it is first of use. */
struct nai_facts {
  bool known;       /* the three below */
  bool sorted;      /* ascending, without NULL */
  int64_t min, max; /* min > max: no values */
  uint32_t *order;  /* rows by value, then number, NULL first; NULL: not made yet, or no memory */
  uint32_t *slots;  /* of text columns: hash table of the dictionary, id + 1 */
  uint32_t slot_mask;
};

/* How a SQL column is read. */
struct nai_reader_of_column {
  struct nai_display_column print;
  double divide; /* integers of ns: what makes them the unit; 1: they stay integers */
};

struct nai_database;

/* A table as statements see it: of the run, or derived. */
struct nai_query_table {
  struct nai_database *db;
  const char *name;
  const struct nai_derived *derived;    /* NULL: of the run */
  const struct nai_table *table;        /* NULL until it is named by a statement */
  struct nai_table *own;                /* the same, when it has to be freed here */
  uint32_t built;                       /* derived: bits of the parts whose columns are filled */
  struct nai_facts *facts;              /* per stored column */
  struct nai_reader_of_column *columns; /* as many as SQL columns: what outputs show, then hidden stored ones */
  int column_count, shown_count;
};

struct nai_database {
  sqlite3 *sqlite;
  struct nai_run *run;
  const struct nai_trace *raw; /* attached under that name, or NULL */
  struct nai_query_table *tables;
  uint32_t table_count;
  struct nai_kernel_classes *classes;
  struct nai_strings classed; /* names that category() was asked for, with their categories */
  int32_t *classes_of;
  uint32_t classes_of_capacity;
  struct nai_model *model; /* the run's, once asked for */
  bool declaring;          /* a table's columns: what statements may do does not matter */
  struct nai_err failure;  /* why a table could not be read: SQLite passes on the text only */
};

/* derived.c: tables computed from the model, each of whose columns belongs to a part that is made on first use. */
struct nai_derived {
  const struct nai_schema *schema;
  const uint8_t *parts; /* per column: bit of the part that fills it; 0: filled when the table is opened */
  int (*open)(struct nai_query_table *t, struct nai_err *err); /* makes the table with its rows */
  int (*build)(struct nai_query_table *t, uint32_t part, struct nai_err *err);
};
extern const struct nai_derived *const nai_derived_tables[]; /* ends with NULL */
/* functions.c: db->classes, which category() and models use, are there. */
NAI_MUST_CHECK int nai_database_classes(struct nai_database *db, struct nai_err *err);
NAI_MUST_CHECK int nai_derived_model(struct nai_model **out, struct nai_database *db, uint32_t parts,
                                     struct nai_err *err);
/* Gives a table with `rows` rows and no columns yet; allocates one of its columns. */
NAI_MUST_CHECK int nai_derived_new(struct nai_query_table *t, int64_t rows, struct nai_err *err);
NAI_MUST_CHECK int nai_derived_column(struct nai_query_table *t, int column, struct nai_err *err);
/* The rest of the derived tables: derived_nvtx.c, describe.c. */
extern const struct nai_derived nai_derived_nodes, nai_derived_depths, nai_derived_columns, nai_derived_names;

/* database.c */
NAI_MUST_CHECK int nai_database_open(struct nai_database *db, struct nai_run *run, struct nai_err *err);
void nai_database_close(struct nai_database *db);
struct nai_query_table *nai_database_table(const struct nai_database *db, const char *name);
/* Opens a table for reading. */
NAI_MUST_CHECK int nai_database_read(struct nai_query_table *t, struct nai_err *err);
/* Fills a derived table's column, unless it is. */
NAI_MUST_CHECK int nai_database_fill(struct nai_query_table *t, int column, struct nai_err *err);

/* facts.c */
const struct nai_facts *nai_facts_of(struct nai_query_table *t, int column);
/* facts->order, made now; NULL when there is no memory. */
const uint32_t *nai_facts_order(struct nai_query_table *t, int column);
/* Rows by the values of one column, then of another; NULL when there is no memory. Freed with free. */
uint32_t *nai_facts_order_by_two(struct nai_query_table *t, int first, int second);
/* NAI_NO_STRING when the column's dictionary lacks the text. */
uint32_t nai_facts_text(struct nai_query_table *t, int column, const char *text, size_t len);
/* First of `count` places whose row has no less than `least`; `order` may be NULL: rows in their own order. */
uint32_t nai_facts_bisect(const struct nai_query_table *t, int column, const uint32_t *order, int64_t least);
void nai_facts_free(struct nai_query_table *t);

/* vtab.c, plan.c */
enum nai_plan {
  NAI_PLAN_FULL,
  NAI_PLAN_ROWID,
  NAI_PLAN_EQUAL,
  NAI_PLAN_RANGE,
  NAI_PLAN_GROUPS,
  NAI_PLAN_LIKE,
  NAI_PLAN_GLOB
};
enum { NAI_PLAN_LOW = 8, NAI_PLAN_LOW_OPEN = 16, NAI_PLAN_HIGH = 32, NAI_PLAN_HIGH_OPEN = 64, NAI_PLAN_COLUMN = 128 };
/* NAI_PLAN_GROUPS: the second column + 1, above the first; 0: none. */
enum { NAI_PLAN_COLUMNS = 1 << 10, NAI_PLAN_SECOND = NAI_PLAN_COLUMN * NAI_PLAN_COLUMNS, NAI_PLAN_SECONDS = 1 << 13 };
struct nai_vtab {
  sqlite3_vtab base;
  struct nai_query_table *t;
};
extern const sqlite3_module nai_query_module;
int nai_plan_best(sqlite3_vtab *vtab, sqlite3_index_info *info);

/* functions.c, aggregates.c, guard.c, views.c */
NAI_MUST_CHECK int nai_functions_add(struct nai_database *db);
NAI_MUST_CHECK int nai_aggregates_add(struct nai_database *db);
/* What statements may do and how much. Before: views. After: nothing can be created. */
NAI_MUST_CHECK int nai_guard_set(struct nai_database *db, int64_t memory_bytes);
extern const char *const nai_query_views[][3]; /* name, SELECT, what a row is; ends with NULL */
/* Columns that views compute or rename, the same in every view that has them; ends with NULL. */
struct nai_query_view_column {
  const char *name, *type;
  enum nai_unit unit;
  const char *description, *refers;
};
extern const struct nai_query_view_column nai_query_view_columns[];

/* raw.c: attaches the export, before what statements may do is restricted; whether what is
 * read is a table of it that is not shown. */
NAI_MUST_CHECK int nai_raw_attach(struct nai_database *db, const struct nai_query *query, struct nai_err *err);
bool nai_raw_is_hidden(const struct nai_database *db, const char *database, const char *table);

/* statement.c: in the process that runs it. */
NAI_MUST_CHECK int nai_statement_prepare(sqlite3_stmt **out, struct nai_database *db, const struct nai_query *query,
                                         struct nai_err *err);
/* The failure of SQLite's last call as an error with its place. */
int nai_statement_error(struct nai_database *db, int code, const struct nai_query_text *text, struct nai_err *err);
/* The run's column that result column `i` is a plain reference to, NULL when it is computed. */
const struct nai_reader_of_column *nai_statement_origin(const struct nai_schema **schema, const struct nai_database *db,
                                                        sqlite3_stmt *statement, int i);

/* worker.c: runs the statement and sends what it returns. Frames: a byte that says what, then for
 *   HEADER  uint32 columns; each: uint32 unit, uint32 type, text: name, text: description
 *   ROW     cells: a byte that says of what type, then 8 bytes or a text
 *   END     uint32 error code as int32, text
 * A text is a uint32 length and its bytes with their NUL. */
enum { NAI_FRAME_HEADER = 'H', NAI_FRAME_ROW = 'R', NAI_FRAME_END = 'E' };
enum { NAI_SENT_NULL = 'n', NAI_SENT_INTEGER = 'i', NAI_SENT_REAL = 'f', NAI_SENT_TEXT = 't' };
enum { NAI_FRAME_BLOCK = 1 << 16 }; /* so much is written and read at a time */
_Noreturn void nai_query_work(int fd, const struct nai_query *query, pid_t parent);

#endif
