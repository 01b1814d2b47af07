/* Scans by the leaf reader: a part is a stretch of a table's leaves. */
#include "trace/direct/record.h"
#include "trace/scan_internal.h"

struct direct_scan {
  const struct nai_pages *pages;
  struct nai_record_plan plan;
  struct nai_leaves leaves;
};

/* The leaves of part `part`: from its first to before its end. */
static uint32_t part_begin(const struct nai_scan *scan, const struct direct_scan *impl, int part) {
  return (uint32_t)((uint64_t)impl->leaves.count * (uint64_t)part / (uint64_t)scan->parts);
}

/* How many rowids leaf i can hold. Its neighbours bound it; the first and the last leaf are bounded by their own rows.
 */
static int rowid_span(uint64_t *span, const struct direct_scan *impl, uint32_t i, struct nai_err *err) {
  const struct nai_leaves *leaves = &impl->leaves;
  bool first_leaf = i == 0, last_leaf = i == leaves->count - 1, empty = false;
  int64_t own_first = 0, own_last = 0;
  if (first_leaf || last_leaf)
    NAI_TRY(nai_leaf_rowids(&empty, &own_first, &own_last, impl->pages, leaves, i, err));
  uint64_t begin = first_leaf ? (uint64_t)own_first : (uint64_t)leaves->last[i - 1] + 1;
  uint64_t last = (uint64_t)(last_leaf ? own_last : leaves->last[i]);
  *span = empty || (int64_t)last < (int64_t)begin ? 0 : last - begin + 1;
  return NAI_OK;
}

static int cells_of(uint32_t *cells, const struct direct_scan *impl, uint32_t i, struct nai_err *err) {
  const unsigned char *data = nai_page_at(impl->pages, impl->leaves.pages[i]);
  return nai_leaf_cells(cells, impl->pages, &impl->leaves, i, data, err);
}

/* Whether every rowid between the first and the last seems to exist, as in any table that was written once and left
 * alone. */
static int seems_dense(bool *dense, const struct direct_scan *impl, struct nai_err *err) {
  enum { SAMPLES = 64, SLACK = 2 };
  const struct nai_leaves *leaves = &impl->leaves;
  uint32_t cells, most = 0;
  uint64_t span, total = 0;
  *dense = true;
  for (uint64_t i = 0; i < SAMPLES && *dense; i++) {
    uint32_t leaf = (uint32_t)(leaves->count < SAMPLES ? i % leaves->count : i * (leaves->count - 1) / (SAMPLES - 1));
    NAI_TRY(cells_of(&cells, impl, leaf, err));
    NAI_TRY(rowid_span(&span, impl, leaf, err));
    *dense = cells == span;
    most = cells > most ? cells : most;
  }
  /* A gap that no sample met must not let memory be reserved for rows that cannot exist. */
  for (uint32_t i = 0; i < leaves->count && *dense; i++) {
    NAI_TRY(rowid_span(&span, impl, i, err));
    *dense = !__builtin_add_overflow(total, span, &total) && total <= (uint64_t)SLACK * leaves->count * most;
  }
  return NAI_OK;
}

/* Row counts without touching every page: where rowids are dense, interior pages tell how many rows a leaf holds. */
static int count_rows(struct nai_scan *scan, const struct direct_scan *impl, struct nai_err *err) {
  bool dense;
  NAI_TRY(seems_dense(&dense, impl, err));
  for (int part = 0; part < scan->parts; part++)
    for (uint32_t i = part_begin(scan, impl, part); i < part_begin(scan, impl, part + 1); i++) {
      uint64_t rows = 0;
      uint32_t cells;
      if (dense) {
        NAI_TRY(rowid_span(&rows, impl, i, err));
      } else {
        NAI_TRY(cells_of(&cells, impl, i, err));
        rows = cells;
      }
      scan->part_rows[part] += (int64_t)rows;
    }
  return NAI_OK;
}

static int read_leaves(const struct nai_scan *scan, int part, bool *stopped, nai_row_fn *fn, void *ctx,
                       struct nai_err *err) {
  const struct direct_scan *impl = scan->impl;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_record_reader) reader = {0};
  struct nai_window window = {.pages = impl->pages, .arena = &arena};
  uint32_t end = part_begin(scan, impl, part + 1);
  int64_t rows = 0;
  NAI_TRY(nai_record_reader_init(&reader, &impl->plan, &arena, err));
  for (uint32_t i = part_begin(scan, impl, part); i < end; i++) {
    const unsigned char *data;
    NAI_TRY(nai_window_leaf(&data, &window, &impl->leaves, i, end, err));
    NAI_TRY(nai_record_read_leaf(&reader, &impl->leaves, i, data, &rows, scan->part_rows[part], stopped, fn, ctx, err));
  }
  return NAI_OK;
}

static int run_direct(struct nai_scan *scan, int part, nai_row_fn *fn, void *ctx, struct nai_err *err) {
  const struct direct_scan *impl = scan->impl;
  bool stopped = false; /* it was fn that failed */
  int rc = read_leaves(scan, part, &stopped, fn, ctx, err);
  if (stopped)
    return rc;
  rc = nai_pages_intact(impl->pages, rc, err);
  return rc ? nai_scan_fail(scan->table, rc, err) : NAI_OK;
}

static int open_leaves(struct nai_scan *scan, const struct nai_trace *trace, const struct nai_db_table *table,
                       int max_parts, struct nai_err *err) {
  struct direct_scan *impl;
  NAI_TRY(NAI_NEW(impl, &scan->arena, 1, err));
  scan->impl = impl;
  scan->run = run_direct;
  impl->pages = trace->pages;
  nai_record_plan(&impl->plan, impl->pages, table, scan->columns, scan->column_count);
  NAI_TRY(nai_leaves_find(&impl->leaves, impl->pages, (uint32_t)table->rootpage, &scan->arena, err));
  NAI_TRY(nai_pages_check_strays(impl->pages, table, err));
  scan->parts = impl->leaves.count < (uint32_t)max_parts ? (int)impl->leaves.count : max_parts;
  NAI_TRY(NAI_NEW(scan->part_rows, &scan->arena, (size_t)scan->parts, err));
  return count_rows(scan, impl, err);
}

int nai_scan_open_direct(struct nai_scan *scan, const struct nai_trace *trace, const struct nai_db_table *table,
                         int max_parts, struct nai_err *err) {
  return nai_pages_intact(trace->pages, open_leaves(scan, trace, table, max_parts, err), err);
}
