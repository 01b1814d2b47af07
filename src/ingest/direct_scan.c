#include "ingest/direct_record.h"
#include "ingest/scan_internal.h"

#include <stdlib.h>

struct direct_scan {
  const struct nai_direct *direct;
  struct nai_record_plan plan;
  struct nai_leaves leaves;
};

static const struct nai_scan_ops direct_ops;

/* The leaves of part `part`: from its first to before its end. */
static uint32_t part_begin(const struct nai_scan *scan, const struct direct_scan *impl, int part) {
  return (uint32_t)((uint64_t)impl->leaves.count * (uint64_t)part / (uint64_t)scan->parts);
}

static int count_rows(struct nai_scan *scan, const struct direct_scan *impl, int part, struct nai_err *err) {
  uint32_t end = part_begin(scan, impl, part + 1), cells;
  int64_t rows = 0;
  for (uint32_t i = part_begin(scan, impl, part); i < end; i++) {
    int rc = nai_direct_leaf_cells(&cells, impl->direct, impl->leaves.pages[i], err);
    if (rc)
      return rc;
    rows += cells;
  }
  scan->part_rows[part] = rows;
  return NAI_OK;
}

int nai_scan_open_direct(struct nai_scan *scan, struct nai_trace *trace, const struct nai_db_table *table, int max_parts,
                         struct nai_err *err) {
  struct direct_scan *impl = calloc(1, sizeof *impl);
  if (!impl)
    return nai_err_nomem(err);
  scan->impl = impl;
  scan->ops = &direct_ops;
  impl->direct = trace->direct;
  nai_record_plan(&impl->plan, impl->direct, table, scan->columns, scan->column_count);
  int rc = nai_direct_leaves(&impl->leaves, impl->direct, (uint32_t)table->rootpage, err);
  if (!rc) {
    scan->parts = impl->leaves.count < (uint32_t)max_parts ? (int)impl->leaves.count : max_parts;
    scan->part_rows = calloc((size_t)scan->parts, sizeof *scan->part_rows);
    if (!scan->part_rows)
      rc = nai_err_nomem(err);
  }
  for (int i = 0; i < scan->parts && !rc; i++)
    rc = count_rows(scan, impl, i, err);
  return nai_direct_intact(impl->direct, rc, err);
}

static int run_direct(struct nai_scan *scan, int part, nai_row_fn *fn, void *ctx, struct nai_err *err) {
  const struct direct_scan *impl = scan->impl;
  const struct nai_leaves *leaves = &impl->leaves;
  bool stopped = false;
  int64_t rows = 0;
  struct nai_record_reader *reader = malloc(sizeof *reader);
  if (!reader)
    return nai_err_nomem(err);
  int rc = nai_record_reader_init(reader, &impl->plan, err);
  if (rc) {
    free(reader);
    return rc;
  }
  uint32_t end = part_begin(scan, impl, part + 1);
  for (uint32_t i = part_begin(scan, impl, part); i < end && !rc; i++)
    rc = nai_record_read_leaf(reader, leaves->pages[i], i ? &leaves->last[i - 1] : NULL, leaves->last[i], &rows,
                              scan->part_rows[part], &stopped, fn, ctx, err);
  nai_record_reader_free(reader);
  free(reader);
  if (!stopped)
    rc = nai_direct_intact(impl->direct, rc, err);
  if (rc && !stopped)
    nai_scan_fail(scan->table, err);
  return rc;
}

static void close_direct(struct nai_scan *scan) {
  struct direct_scan *impl = scan->impl;
  nai_leaves_free(&impl->leaves);
  free(impl);
}

static const struct nai_scan_ops direct_ops = {.run = run_direct, .close = close_direct};
