/* SQL over a run: every table of it, tables and views derived from them, and functions on intervals of time. A
 * statement can only read, and runs in a process of its own that is ended when it takes too long. docs/asking.md. */
#pragma once

#include "rundir/run.h"

struct nai_trace; /* trace/trace/trace.h */

/* A statement and where it was written, for messages: "LABEL:LINE:COLUMN: no such column: x". */
struct nai_query_text {
  const char *sql;
  const char *label; /* "sql", or a file */
  int line, column;  /* of its first character in the file, from 1; 0: 1 */
  int indent;        /* what stands in front of every further line of it in the file */
};

/* A value for `:name` of the statement. */
struct nai_query_parameter {
  const char *name; /* without the colon */
  struct nai_value value;
};

/* NULL for the number `none`, and for no text. */
static inline struct nai_query_parameter nai_query_int(const char *name, int64_t number, int64_t none) {
  return (struct nai_query_parameter){name, {.type = NAI_I64, .i = number, .null = number == none}};
}
static inline struct nai_query_parameter nai_query_string(const char *name, const char *text) {
  return (struct nai_query_parameter){name, {.type = NAI_STR, .s = text, .null = !text}};
}

/* A table that a statement may read beside the run's: the rows of another statement, found once. Its columns have no
 * units. */
struct nai_query_table {
  const char *name, *sql; /* sql: one that may read those before it, and has the same parameters */
};
enum { NAI_QUERY_MAX_TABLES = 32 };

struct nai_query_limits {
  double timeout_s;     /* 0: none */
  int64_t memory_bytes; /* that the statement may take; 0: 1 GiB */
  int64_t rows;         /* as many are delivered, -1: all */
};

/* A column of a result. Cells of a plain column of a table have its unit and are stored as there: durations in ns,
 * whatever unit they are shown in. Of anything computed the unit is unknown. */
struct nai_query_column {
  const char *name;
  enum nai_unit unit;      /* NAI_UNIT_COUNT: unknown */
  enum nai_type type;      /* of the cells, where the unit is known */
  const char *description; /* "" where the unit is unknown */
};

/* Takes a result. Cells are borrowed for the call; their types can differ from row to row. */
struct nai_query_sink {
  int (*begin)(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err);
  int (*row)(void *ctx, const struct nai_value *cells, struct nai_err *err);
  void *ctx;
};

enum nai_query_mode {
  NAI_QUERY_RUN,
  NAI_QUERY_DESCRIBE, /* the columns only: checks the statement */
  NAI_QUERY_EXPLAIN   /* how it would be run, as rows */
};

struct nai_query {
  struct nai_run *run;
  const struct nai_trace *raw; /* the run's export, whose tables are read as raw.NAME, as far as trace/raw.h shows
                                  them; or NULL */
  const struct nai_query_text *text;
  const struct nai_query_table *tables; /* those that the statement has no need of are not made */
  size_t table_count;
  const struct nai_query_parameter *parameters; /* those the statement does not name are left out */
  size_t parameter_count;
  struct nai_query_limits limits;
  enum nai_query_mode mode;
  bool labels;                             /* values of enumerations, of plain columns, as reports show them */
  const struct nai_query_column *computed; /* what computed columns of these names are; of ns the cells are whole */
  size_t computed_count;
};

/* Runs one statement. *truncated: there were more rows than limits.rows. NAI_EUSAGE: a mistake in the statement or
 * something it may not do, with its place; NAI_ELIMIT: too much time or memory; NAI_EINPUT: a table is damaged. */
NAI_MUST_CHECK int nai_query_run(bool *truncated, const struct nai_query *query, const struct nai_query_sink *sink,
                                 struct nai_err *err);

/* Whether a table of that name, also a former one, is there for statements to read, derived ones and views included. */
bool nai_query_has(const struct nai_run *run, const char *table);
