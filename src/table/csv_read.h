/* CSV files (RFC 4180) as rows of texts: what people write lists in, and what this program wrote itself. A ' that our
 * own writer put in front of = + - @ (base/escape.h) is taken away again. */
#pragma once

#include "base/arena.h"

struct nai_csv_row {
  uint32_t first, count; /* cells */
  uint32_t line;         /* of the file, from 1 */
};

struct nai_csv {
  struct nai_arena arena; /* of all but the text */
  const char *name;       /* as it appears in messages */
  char *text;             /* that the cells lie in */
  const char **cells;
  uint32_t cell_count, cell_capacity;
  struct nai_csv_row *rows; /* the first one holds the names of the columns */
  uint32_t row_count, row_capacity;
};

/* Reads a file of at most `max` bytes; blank lines are left out. NAI_EUSAGE with file:line for one that cannot be read
 * or is no CSV, and for rows with another number of cells than the first. */
NAI_MUST_CHECK int nai_csv_read(struct nai_csv **out, const char *path, size_t max, struct nai_err *err);
void nai_csv_free(struct nai_csv *csv);
NAI_OWNER(nai_csv)

/* Number of the column of that name, -1 when there is none. */
int nai_csv_column(const struct nai_csv *csv, const char *name);
/* A cell; "" for column -1. */
const char *nai_csv_cell(const struct nai_csv *csv, uint32_t row, int column);
