#include "trace/small.h"

#include "base/text.h"
#include "trace/ingest.h"

struct small {
  const struct nai_scan *scan;
  const struct nai_db_table *table;
  int64_t mistyped;
  nai_small_fn *fn;
  void *ctx;
  int slots[NAI_SMALL_COLUMNS], names; /* slots[i] = cell of names[i], -1 when absent */
  int64_t left;
};

enum { ENOUGH = 1 }; /* positive: stops the scan without being an error */

/* SQLite keeps a text where an integer is declared. Exporters write none: the row is another table's, as on a damaged
 * page, or somebody's who edited the trace. */
static bool is_mistyped(const struct small *small, const struct nai_cell *cells) {
  for (int i = 0; i < small->scan->column_count; i++)
    if (small->table->columns[small->scan->columns[i]].integer_affinity && nai_cell_is_text(&cells[i]))
      return true;
  return false;
}

static int on_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  (void)rowid;
  struct small *small = ctx;
  if (small->left-- <= 0)
    return ENOUGH;
  if (is_mistyped(small, cells)) {
    small->mistyped++;
    return NAI_OK;
  }
  struct nai_cell named[NAI_SMALL_COLUMNS];
  for (int i = 0; i < small->names; i++)
    named[i] = small->slots[i] < 0 ? (struct nai_cell){.type = NAI_CELL_NULL} : cells[small->slots[i]];
  return small->fn(small->ctx, named, err);
}

int nai_small_scan(struct nai_trace *trace, const char *table, const char *const *names, int64_t max_rows,
                   nai_small_fn *fn, void *ctx, struct nai_err *err) {
  const struct nai_db_table *found = nai_trace_table(trace, table);
  if (!found || !found->plain)
    return NAI_OK;
  int columns[NAI_SMALL_COLUMNS];
  struct nai_scan scan = {.table = found->name, .columns = columns};
  struct small small = {.scan = &scan, .table = found, .fn = fn, .ctx = ctx, .left = max_rows};
  for (; names[small.names] && small.names < NAI_SMALL_COLUMNS; small.names++) {
    int column = nai_db_column(found, names[small.names]);
    small.slots[small.names] = column < 0 ? -1 : scan.column_count;
    if (column >= 0)
      columns[scan.column_count++] = column;
  }
  if (scan.column_count == 0)
    return NAI_OK;
  int rc = nai_scan_open(&scan, trace, 1, err);
  for (int part = 0; !rc && part < scan.parts; part++)
    rc = nai_scan_run(&scan, part, on_row, &small, err);
  nai_scan_close(&scan);
  struct nai_db_table *read = &trace->tables[found - trace->tables];
  if ((!rc || rc == ENOUGH) && small.mistyped > read->mistyped_rows)
    read->mistyped_rows = small.mistyped;
  return rc == ENOUGH ? NAI_OK : rc;
}

void nai_small_note(struct nai_table *notes, struct nai_trace *trace) {
  for (int i = 0; i < trace->table_count; i++) {
    struct nai_db_table *table = &trace->tables[i];
    if (table->mistyped_rows)
      nai_ingest_note(notes, NAI_CHECK_WITHOUT_VALUE, "warning", table->name, table->mistyped_rows,
                      NAI_DETAIL_WITHOUT_VALUE);
    table->mistyped_rows = 0;
  }
}

const char *nai_small_text(struct nai_arena *arena, const struct nai_cell *cell, size_t max) {
  NAI_SCOPED(nai_buf) clean = {0};
  if (!nai_cell_is_text(cell))
    return NULL;
  nai_text_clean(&clean, cell->data, cell->len < max ? cell->len : max);
  arena->oom |= clean.oom;
  return nai_arena_printf(arena, "%s", nai_buf_str(&clean));
}

void nai_small_put_text(struct nai_table *table, int64_t row, int column, const struct nai_cell *cell, size_t max) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  nai_set_str(table, row, column, nai_small_text(&arena, cell, max));
  table->oom |= arena.oom;
}

int64_t nai_small_int(const struct nai_cell *cell, int64_t otherwise) {
  return cell->type == NAI_CELL_INT ? cell->i : otherwise;
}
