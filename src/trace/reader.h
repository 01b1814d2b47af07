/* Reading the rows of one table of an export, in parts that may run on different threads. Two readers stand behind this
 * interface: the SQLite library and the leaf reader (src/trace/direct: b-tree leaf pages straight from the file). Which
 * one served a table, and why, is recorded. */
#pragma once

#include "base/arena.h"

enum nai_cell_type { NAI_CELL_NULL, NAI_CELL_INT, NAI_CELL_REAL, NAI_CELL_TEXT, NAI_CELL_BLOB };

/* One value as stored (SQLite's storage class, not the declared type). A column that is the rowid (INTEGER PRIMARY KEY)
 * yields the rowid as NAI_CELL_INT. */
struct nai_cell {
  enum nai_cell_type type;
  uint32_t len;     /* bytes of TEXT/BLOB; longer values are cut at NAI_CELL_MAX_BYTES */
  int64_t i;        /* INT */
  double real;      /* REAL */
  const char *data; /* TEXT/BLOB, not NUL-terminated, valid only during the callback */
};

static inline bool nai_cell_is_text(const struct nai_cell *cell) {
  return cell->type == NAI_CELL_TEXT || cell->type == NAI_CELL_BLOB;
}

enum {
  NAI_CELL_MAX_BYTES = 1 << 20,
  NAI_SCAN_MAX_COLUMNS = 48,
  NAI_NO_CELL = NAI_SCAN_MAX_COLUMNS, /* that of a column which is not there: NULL in every row */
  NAI_SCAN_CELLS
};

enum nai_reader_choice { NAI_READER_AUTO, NAI_READER_SQLITE, NAI_READER_DIRECT };

struct nai_trace; /* an open export: trace/trace/trace.h */

/* Called once per row, in rowid order within a part. cells[k] is column columns[k] of the scan. cells[NAI_NO_CELL] is
 * NULL; bit k of its `i` is set only where cells[k] is NULL, too, so that rows without what is looked for cost little.
 * Nonzero stops the scan. */
typedef int nai_row_fn(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err);

struct nai_scan {
  const char *table;  /* as spelled in the schema */
  const int *columns; /* column numbers as PRAGMA table_xinfo gives them (cid), in any order */
  int column_count;   /* <= NAI_SCAN_MAX_COLUMNS */
  int parts;          /* after opening: at least 1; concatenating parts 0..n-1 gives rowid order */
  int64_t *part_rows; /* after opening: rows of each part: never fewer than are delivered, and exact unless
                         rowids have gaps */
  const char *reader; /* "direct" or "sqlite" */
  char reason[160];   /* why not direct; "" when direct */
  void *impl;         /* the reader's own */
  int (*run)(struct nai_scan *scan, int part, nai_row_fn *fn, void *ctx, struct nai_err *err); /* NULL: not open */
  struct nai_arena arena; /* of all that opening makes */
};

/* Prepares a scan split into at most `max_parts` parts. `scan->table/columns/column_count` are set by the caller and
 * borrowed. Parts do not depend on anything but the file and max_parts. NAI_EINPUT for a damaged file. */
NAI_MUST_CHECK int nai_scan_open(struct nai_scan *scan, struct nai_trace *trace, int max_parts, struct nai_err *err);
/* Runs one part; different parts may run at the same time. NAI_EINPUT (damaged file, naming table and page or row),
 * NAI_ELIMIT, or what `fn` returned. */
NAI_MUST_CHECK int nai_scan_run(struct nai_scan *scan, int part, nai_row_fn *fn, void *ctx, struct nai_err *err);
void nai_scan_close(struct nai_scan *scan);

/* Text of a rowid table by key, for StringIds(id INTEGER PRIMARY KEY, value). One handle per thread. Consecutive
 * lookups of nearby keys cost a few comparisons (the last leaf page is remembered). The key is the rowid, except in a
 * table whose column `id` is not declared as its alias: then it is that column (of equal ids the first row), for 16
 * bytes per row. */
struct nai_lookup;
NAI_MUST_CHECK int nai_lookup_open(struct nai_lookup **out, struct nai_trace *trace, const char *table,
                                   int value_column, struct nai_err *err);
/* *found = whether the row exists. The cell is valid until the next call on this handle. */
NAI_MUST_CHECK int nai_lookup_get(bool *found, struct nai_cell *cell, struct nai_lookup *lookup, int64_t key,
                                  struct nai_err *err);
void nai_lookup_close(struct nai_lookup *lookup);
NAI_OWNER_BY(nai_lookup, nai_lookup_close)

/* The texts of StringIds; *out is NULL where the export has none. */
NAI_MUST_CHECK int nai_string_open(struct nai_lookup **out, struct nai_trace *trace, struct nai_err *err);
/* *found = whether there is such a row, and it is a text. `strings` may be NULL: then there is none. */
NAI_MUST_CHECK int nai_string_get(bool *found, struct nai_cell *cell, struct nai_lookup *strings, int64_t id,
                                  struct nai_err *err);
