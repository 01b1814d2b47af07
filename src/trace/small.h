/* Reading the small descriptive tables of an export. Internal to src/trace. */
#pragma once

#include "base/arena.h"
#include "table/table.h"
#include "trace/trace/trace.h"

enum { NAI_SMALL_COLUMNS = 32 };

/* Called per row; cells[i] is the value of column names[i], NULL-typed where the export lacks the column. */
typedef int nai_small_fn(void *ctx, const struct nai_cell *cells, struct nai_err *err);

/* Every row of table `table` whose values are what its columns are declared to hold (nothing when it is absent or is no
 * plain table), at most `max_rows` of them. `names` ends with NULL. */
NAI_MUST_CHECK int nai_small_scan(struct nai_trace *trace, const char *table, const char *const *names,
                                  int64_t max_rows, nai_small_fn *fn, void *ctx, struct nai_err *err);

/* Rows left out since the last call, because they hold text where the table declares an integer. Out of memory shows in
 * `notes`. */
void nai_small_note(struct nai_table *notes, struct nai_trace *trace);

/* The cell's text cleaned for output and cut to `max` bytes; NULL for other types. Out of memory shows in the arena. */
const char *nai_small_text(struct nai_arena *arena, const struct nai_cell *cell, size_t max);
/* The same as a cell of a table, NULL for other types. Out of memory shows in the table. */
void nai_small_put_text(struct nai_table *table, int64_t row, int column, const struct nai_cell *cell, size_t max);
/* Integer value or `otherwise`. */
int64_t nai_small_int(const struct nai_cell *cell, int64_t otherwise);
