/* Rows of a result in the formats that commands print: made row by row, so that a result of any length needs little
 * memory; only the text table, whose columns are as wide as their widest cell, is held until its end. */
#pragma once

#include "base/strings.h"
#include "table/json.h"

enum nai_rows_format {
  NAI_ROWS_TABLE,
  NAI_ROWS_CSV,
  NAI_ROWS_JSON,
  NAI_ROWS_NDJSON,
  NAI_ROWS_MARKDOWN,
  NAI_ROWS_FORMATS
};
const char *nai_rows_format_name(enum nai_rows_format format); /* "table", "csv", ... */

struct nai_rows_column {
  const char *name;
  enum nai_unit unit; /* NAI_UNIT_COUNT: unknown; durations are stored in ns whatever unit they are shown in */
};

struct nai_rows {
  enum nai_rows_format format;
  bool human;        /* in a text table and in Markdown: numbers for people */
  bool titles;       /* in a text table: headers for people, "total time" for total_time_ms */
  const char *none;  /* what a text table without rows prints in the place of its header; or NULL */
  const char *title; /* in JSON: a member of the object; or NULL */
  int width; /* of the terminal: until a text table fits, headers break, texts are shortened in their middle, and
                columns are left out at its right end, which is said; 0: nothing is */
  const struct nai_rows_column *columns; /* borrowed until the end */
  uint32_t count;

  /* private */
  struct nai_buf *out, scratch, cells; /* of a text table: its cells, each with its NUL */
  struct nai_json json;
  int64_t rows;
  int *widths;            /* of the cells below the headers */
  struct nai_strings cut; /* texts that were shortened, behind the number of their column */
  const char **whole;     /* what each of them was */
  uint32_t capacity;
  uint32_t shown; /* columns that fit */
  bool *numbers;  /* columns of a text table that hold numbers only */
};

/* Begins a result: the fields above `private` are set, the others zeroed. Errors show in `out` (nai_buf_check). */
void nai_rows_begin(struct nai_rows *rows, struct nai_buf *out);
void nai_rows_put(struct nai_rows *rows, const struct nai_value *cells);
/* `truncated`: there would have been more rows. */
void nai_rows_end(struct nai_rows *rows, bool truncated);

/* Appends a cell as CSV has it: exact, nothing for NULL. Numbers of unknown unit with as many digits as they need. */
void nai_rows_number(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value);
