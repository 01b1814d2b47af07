/* The rows of a statement, held. Internal to src/cmd. */
#ifndef NAI_CMD_COLLECT_H
#define NAI_CMD_COLLECT_H

#include "query/query.h"

struct nai_cmd_collected {
  struct nai_value *cells; /* row by row */
  uint32_t columns;
  int64_t rows;

  /* private */
  struct nai_strings texts, keys; /* keys: of rows whose sums are collected, by row */
  struct nai_buf key;
  size_t capacity;
};
/* Runs a statement and keeps what it returns; freed with nai_cmd_collected_free, also on failure. */
NAI_MUST_CHECK int nai_cmd_collect(struct nai_cmd_collected *out, struct nai_run *run, const char *sql,
                                   const struct nai_query_parameter *parameters, size_t count, struct nai_err *err);
/* The same of a statement whose last column is added up over the rows that are otherwise equal: for sums of millions of
 * rows, which GROUP BY would put in order with all their texts. Rows stand in the order in which they first came. */
NAI_MUST_CHECK int nai_cmd_collect_sums(struct nai_cmd_collected *out, struct nai_run *run, const char *sql,
                                        const struct nai_query_parameter *parameters, size_t count,
                                        struct nai_err *err);
void nai_cmd_collected_free(struct nai_cmd_collected *rows);
static inline const struct nai_value *nai_cmd_cell(const struct nai_cmd_collected *rows, int64_t row, uint32_t column) {
  return &rows->cells[row * rows->columns + column];
}
/* The number of one cell, 0 for NULL. */
static inline int64_t nai_cmd_int(const struct nai_cmd_collected *rows, int64_t row, uint32_t column) {
  const struct nai_value *cell = nai_cmd_cell(rows, row, column);
  return cell->null ? 0 : cell->i;
}
static inline const char *nai_cmd_text(const struct nai_cmd_collected *rows, int64_t row, uint32_t column) {
  const struct nai_value *cell = nai_cmd_cell(rows, row, column);
  return cell->null ? "" : cell->s;
}

#endif
