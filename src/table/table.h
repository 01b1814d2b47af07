/* The table: typed columns, stored column by column, with the strings its text columns refer to. The same object is
 * what stages exchange, what intermediate files hold (docs/table-format.md) and all a renderer sees. */
#pragma once

#include "base/scope.h"
#include "base/strings.h"
#include "table/column.h"

struct nai_table {
  const struct nai_schema *schema;
  struct nai_schema *own_schema; /* `schema`, where the table has to free it */
  uint64_t key; /* of the file it was written to or read from: what the table was made from, 0 when unknown */
  int64_t rows, capacity;
  void **columns; /* column_count arrays of `capacity` cells (but see `packed`) */
  struct nai_column
      *packed; /* per column, in a table that has packed ones: those have no array in `columns`; else NULL */
  struct nai_strings strings;
  bool oom;              /* sticky: an append or string could not be stored; see nai_table_check */
  const char *directory; /* where large columns of a table in memory lie (base/spill_array.h), or NULL; borrowed */
  struct nai_backing *backing; /* the mapped file behind the columns, NULL when they are in memory */
};

/* An empty table in memory that grows as rows are added. The schema is borrowed. */
NAI_MUST_CHECK int nai_table_new(struct nai_table **out, const struct nai_schema *schema, struct nai_err *err);
/* The same with a schema made at run time: the table keeps a copy of its own. */
NAI_MUST_CHECK int nai_table_new_copy(struct nai_table **out, const struct nai_schema *schema, struct nai_err *err);
/* Lets the columns and texts of a new table lie in unnamed files of `directory`, which is borrowed, once they are
 * large.
 */
void nai_table_keep_in(struct nai_table *table, const char *directory);
/* A table of `rows` rows in the new file `path` (docs/table-format.md), or in memory where that is NULL, whose columns
 * are packed: each holds what extents[column] says. Writers put its cells, nai_table_seal then completes the file and
 * makes them readable. */
NAI_MUST_CHECK int nai_table_create(struct nai_table **out, const struct nai_schema *schema, int64_t rows,
                                    const struct nai_extent *extents, const char *path, uint64_t key,
                                    struct nai_err *err);
/* Bytes of the cells of such a table. */
uint64_t nai_packed_bytes(const struct nai_schema *schema, int64_t rows, const struct nai_extent *extents);
/* Whether it was created in a file of its own. */
bool nai_table_has_file(const struct nai_table *table);
/* Writes a stretch of a column of integers or text numbers; any number of threads may write different rows. Begin it at
 * a row, put values as often as needed (NAI_NULL_I64 for NULL), end it. */
enum { NAI_WRITER_CELLS = 32768 };
struct nai_column_writer {
  const struct nai_table *table;
  int column;
  int64_t row, held; /* cells held back, the first of which is row `row` */
  unsigned char cells[NAI_WRITER_CELLS * 8 + 8];
};
void nai_writer_begin(struct nai_column_writer *writer, const struct nai_table *table, int column, int64_t row);
NAI_MUST_CHECK int nai_writer_put(struct nai_column_writer *writer, const int64_t *values, int64_t count,
                                  struct nai_err *err);
NAI_MUST_CHECK int nai_writer_end(struct nai_column_writer *writer, struct nai_err *err);
/* Writes schema, strings and checksums, and makes the cells readable. */
NAI_MUST_CHECK int nai_table_seal(struct nai_table *table, struct nai_err *err);
/* Opens a table file read-only: a small one is read into memory, a large one mapped, so it must not be truncated while
 * the table is open. With `schema` the table has exactly that layout: the file's columns are matched by name, those it
 * has beyond are left out, those it lacks read as NULL. Without it the file's own schema is used (owned by the table).
 * NAI_ESTALE for a file that is damaged, foreign, of another major version or table, or whose column has another
 * type. Text numbers are checked here, row numbers of other tables by nai_table_check_refs. */
NAI_MUST_CHECK int nai_table_open(struct nai_table **out, const char *path, const struct nai_schema *schema,
                                  struct nai_err *err);
/* Whether there is a file of one table or of several, of any version, whole or not. */
bool nai_table_is_file_at(int directory_fd, const char *name);
/* Whether it is as long as its header says; what it holds is not looked at. */
bool nai_table_is_whole_at(int directory_fd, const char *name);
/* nai_table_open for a file below a directory that is open (or AT_FDCWD). */
NAI_MUST_CHECK int nai_table_open_at(struct nai_table **out, int directory_fd, const char *name,
                                     const struct nai_schema *schema, struct nai_err *err);
/* Checks that every column which refers to rows of a table has row numbers of it (or -1, or NULL), in one pass over
 * those columns whose cells could hold others, and every one which refers to a key column has values of it, which
 * ascend. `lookup` finds a table by name, NULL when it is not at hand: columns that refer to it are not looked at.
 * NAI_ESTALE names table, column, row and value. */
typedef const struct nai_table *nai_table_lookup_fn(void *ctx, const char *name);
NAI_MUST_CHECK int nai_table_check_refs(const struct nai_table *table, nai_table_lookup_fn *lookup, void *ctx,
                                        struct nai_err *err);
/* Checks, in one pass over the columns concerned, what loops over the table count on: no NULL in filled columns, times
 * that a capture can have, no end before its start, durations that can be summed. NAI_ESTALE names table, column and
 * row. */
NAI_MUST_CHECK int nai_table_check_cells(const struct nai_table *table, struct nai_err *err);
void nai_table_free(struct nai_table *table);
NAI_OWNER(nai_table)
/* 0, or NAI_ELIMIT when anything could not be stored. */
NAI_MUST_CHECK int nai_table_check(const struct nai_table *table, struct nai_err *err);

/* Adds a row of NULLs to a table in memory and returns its number (0 when out of memory: sticky). */
int64_t nai_table_add_row(struct nai_table *table);
/* Cells by row and column number. Setters convert nothing: the column must have that type (checked by assert). */
void nai_set_i64(struct nai_table *table, int64_t row, int column, int64_t value); /* NAI_I64 and NAI_I32 */
void nai_set_f64(struct nai_table *table, int64_t row, int column, double value);
void nai_set_str(struct nai_table *table, int64_t row, int column, const char *text); /* NULL stores NULL */
struct nai_value nai_table_value(const struct nai_table *table, int64_t row, int column);
/* Integer cell (NAI_NULL_I64 for NULL), real cell (NaN for NULL; integers convert), text cell ("" for NULL). The column
 * must have such a type (checked by assert). */
int64_t nai_get_i64(const struct nai_table *table, int64_t row, int column);
double nai_get_f64(const struct nai_table *table, int64_t row, int column);
const char *nai_get_str(const struct nai_table *table, int64_t row, int column);

/* The first row with that in the column, -1 for none. */
int64_t nai_find_i64(const struct nai_table *table, int column, int64_t value);
int64_t nai_find_str(const struct nai_table *table, int column, const char *text);

/* A cell by the column's stored name (durations in ns). NULL when there is no table, row or column of that name. */
struct nai_value nai_cell(const struct nai_table *table, int64_t row, const char *column);
/* Such a cell as a text; NULL and types as with nai_get_str. */
const char *nai_cell_str(const struct nai_table *table, int64_t row, const char *column);

/* A column of integers or text numbers of any table, for loops over millions of rows. */
struct nai_column nai_table_column(const struct nai_table *table, int column);
/* A column's array, in a table without packed columns. */
static inline int64_t *nai_column_i64(const struct nai_table *table, int column) { return table->columns[column]; }
static inline int32_t *nai_column_i32(const struct nai_table *table, int column) { return table->columns[column]; }
static inline double *nai_column_f64(const struct nai_table *table, int column) { return table->columns[column]; }
static inline uint32_t *nai_column_str(const struct nai_table *table, int column) { return table->columns[column]; }

size_t nai_type_size(enum nai_type type);

/* Whole rows: what tables/declare.h makes of a declared table (NAME_add, NAME_at), one word a cell. */
int64_t nai_table_add(struct nai_table *table, const struct nai_schema *schema, const void *cells);
void nai_table_read(void *cells, const struct nai_table *table, const struct nai_schema *schema, int64_t row);

/* Sorts the rows of a table in memory in the order that its columns declare (stable; text bytewise; NULL first
 * ascending, last descending). */
NAI_MUST_CHECK int nai_table_sort(struct nai_table *table, struct nai_err *err);
/* In another order. */
struct nai_sort_by {
  int column;
  bool descending;
};
NAI_MUST_CHECK int nai_table_sort_by(struct nai_table *table, const struct nai_sort_by *by, int keys,
                                     struct nai_err *err);
/* Keeps the first `rows` rows. */
void nai_table_truncate(struct nai_table *table, int64_t rows);
/* Hash of the content of a table in memory: equal for tables with the same columns, cells and dictionary. */
uint64_t nai_table_hash(const struct nai_table *table);
