/* The rows of a statement, held. */
#pragma once

#include "base/arena.h"
#include "query/query.h"

struct nai_query_rows {
  struct nai_value *cells; /* row by row */
  const char **names;      /* of columns */
  enum nai_unit *units;    /* NAI_UNIT_COUNT: unknown */
  uint32_t columns;
  uint32_t rows;

  /* private */
  struct nai_arena arena;
  struct nai_strings texts, keys; /* keys: of rows whose sums are collected, by row */
  struct nai_buf key;
  uint32_t capacity;
};
/* Runs a statement and keeps what it returns, at most limits.rows; freed with nai_query_rows_free, also on failure. */
NAI_MUST_CHECK int nai_query_collect(struct nai_query_rows *out, const struct nai_query *query, struct nai_err *err);
/* The same of a statement of this program's own: all its rows. */
NAI_MUST_CHECK int nai_query_ask(struct nai_query_rows *out, struct nai_run *run, const char *sql,
                                 const struct nai_query_parameter *parameters, size_t count, struct nai_err *err);
/* The same of one whose last column is added up over the rows that are otherwise equal: for sums of millions of rows,
 * which GROUP BY would put in order with all their texts. Rows stand in the order in which they first came. */
NAI_MUST_CHECK int nai_query_ask_sums(struct nai_query_rows *out, struct nai_run *run, const char *sql,
                                      const struct nai_query_parameter *parameters, size_t count, struct nai_err *err);
void nai_query_rows_free(struct nai_query_rows *rows);

static inline const struct nai_value *nai_query_cell(const struct nai_query_rows *rows, int64_t row, uint32_t column) {
  return &rows->cells[row * rows->columns + column];
}
/* The number of one cell, 0 for NULL and text. */
static inline int64_t nai_query_cell_int(const struct nai_query_rows *rows, int64_t row, uint32_t column) {
  const struct nai_value *cell = nai_query_cell(rows, row, column);
  return cell->null || cell->type == NAI_STR ? 0 : cell->type == NAI_F64 ? (int64_t)cell->f : cell->i;
}
/* The text of one cell, "" for NULL and numbers. */
static inline const char *nai_query_cell_text(const struct nai_query_rows *rows, int64_t row, uint32_t column) {
  const struct nai_value *cell = nai_query_cell(rows, row, column);
  return cell->null || cell->type != NAI_STR ? "" : cell->s;
}
