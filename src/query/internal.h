/* Shared by the files behind query.h. Internal to src/query. */
#pragma once

#include "query/query.h"
#include "sql/sql.h"

#include <sqlite3.h>

#include <sys/types.h>

struct nai_database {
  struct nai_sql sql; /* first: tables know it, and so this */
  struct nai_run *run;
  const struct nai_trace *raw; /* attached under that name, or NULL */
  struct nai_kernel_classes *classes;
  struct nai_sql_kept categories;
};
static inline struct nai_database *nai_database_of(const struct nai_sql_table *t) {
  return (struct nai_database *)t->sql;
}

/* derived.c: tables computed from the model. */
extern const struct nai_sql_source *const nai_derived_tables[]; /* ends with NULL */
/* functions.c: db->classes, which category() and models use, are there. */
NAI_MUST_CHECK int nai_database_classes(struct nai_database *db, struct nai_err *err);
NAI_MUST_CHECK int nai_derived_model(struct nai_model **out, struct nai_database *db, uint32_t parts,
                                     struct nai_err *err);
/* Gives a table with `rows` rows and no columns yet; allocates one of its columns. */
NAI_MUST_CHECK int nai_derived_new(struct nai_sql_table *t, int64_t rows, struct nai_err *err);
NAI_MUST_CHECK int nai_derived_column(struct nai_sql_table *t, int column, struct nai_err *err);
/* The rest of the derived tables: derived_nvtx.c, derived_projection.c, derived_slack.c, describe.c. */
extern const struct nai_sql_source nai_derived_nodes, nai_derived_depths, nai_derived_projection, nai_derived_columns,
    nai_derived_names, nai_derived_slack, nai_derived_path_steps;

/* views.c: whether there is a model to derive tables and views from; tables of a store have none. */
bool nai_database_has_model(const struct nai_run *run);
NAI_MUST_CHECK int nai_database_open(struct nai_database *db, struct nai_run *run, struct nai_err *err);
void nai_database_close(struct nai_database *db);
/* Whether it is computed from the model, not stored in the run. */
static inline bool nai_database_derives(const struct nai_sql_table *t) { return t->source->schema != NULL; }

/* functions.c: those that ask the run. */
NAI_MUST_CHECK int nai_database_functions(struct nai_database *db);
/* views.c */
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
/* statement_worker.c: runs the statement and sends what it returns. Frames: a byte that says what, then for
 *   HEADER  uint32 columns; each: uint32 unit, uint32 type, text: name, text: description
 *   ROW     cells: a byte that says of what type, then 8 bytes or a text
 *   FORMER  text: kind, text: was, text: now (base/former.h)
 *   END     uint32 error code as int32, text
 * A text is a uint32 length and its bytes with their NUL. */
enum { NAI_FRAME_FORMER = 'F', NAI_FRAME_HEADER = 'H', NAI_FRAME_ROW = 'R', NAI_FRAME_END = 'E' };
enum { NAI_SENT_NULL = 'n', NAI_SENT_INTEGER = 'i', NAI_SENT_REAL = 'f', NAI_SENT_TEXT = 't' };
enum { NAI_FRAME_BLOCK = 1 << 16 }; /* so much is written and read at a time */
_Noreturn void nai_query_work(int fd, const struct nai_query *query, pid_t parent);
