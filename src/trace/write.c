/* The event tables, from the rows of all parts once their dictionaries are one. */
#include "trace/extraction.h"

#include "base/threads.h"
#include "tables/nvtx_events.h"

/* Tables of less are written with the others of their stage, not into files of their own. */
enum { SMALL_TABLE_BYTES = 1 << 18 };

bool nai_keeps_gpu(const struct nai_ingest_options *options, int64_t device) {
  bool keep = options->gpu_count == 0;
  for (int i = 0; i < options->gpu_count; i++)
    keep |= device == options->gpus[i];
  return keep;
}

/* Where a column's cells come from: a column of the part, and what becomes of them. */
struct origin {
  int column;
  const int64_t *map; /* for dictionary columns */
  uint32_t map_count;
};

static struct origin origin_of(const struct nai_part *p, int column) {
  const struct nai_remap *m = &p->remap;
  int devices;
  switch (nai_dictionary_of(p->source, column)) {
  case NAI_NAMES:
    return (struct origin){column, m->names, p->names.count};
  case NAI_THREADS:
    return (struct origin){column, m->threads, p->threads.count};
  case NAI_RECORDS:
    return (struct origin){column, m->records, p->records.count};
  case NAI_SIZES:
    return (struct origin){column, m->sizes, p->sizes.count};
  case NAI_DEVICES:
    return (struct origin){column, m->device_ids, p->devices.count};
  case NAI_PROCESSES: /* parts hold devices of processes, once */
    devices = nai_source_column(p->source, NAI_DEVICES);
    return (struct origin){devices >= 0 ? devices : column, m->device_processes, p->devices.count};
  case NAI_VALUES:
    break;
  }
  return (struct origin){column, NULL, 0};
}

/* Texts of sizes are no column where there were too many. */
static bool is_left_out(const struct extraction *x, const struct nai_part *p, int column) {
  return x->too_many_sizes && nai_dictionary_of(p->source, column) == NAI_SIZES;
}

/* --- what the columns have to hold ------------------------------------------------------------ */

/* Whether any row of the source has a value there. */
static bool has_values(const struct extraction *x, const struct nai_source *source, int column) {
  for (int i = 0; i < x->part_count; i++) {
    const struct nai_part *p = &x->parts[i];
    if (p->source != source)
      continue;
    const struct nai_extent *extent = &p->extent[origin_of(p, column).column];
    if (extent->min <= extent->max)
      return true;
  }
  return false;
}

/* The cells one part puts into a column of the table, or more of its dictionary, which rows that are not kept fill,
 * too: then that of each part counts, so that the column's extent is the same however readers cut the rows into parts.
 */
static struct nai_extent part_extent(const struct extraction *x, const struct nai_part *p, int column, bool any) {
  struct origin from = origin_of(p, column);
  struct nai_extent extent = p->extent[from.column];
  if (is_left_out(x, p, column))
    return (struct nai_extent){INT64_MAX, INT64_MIN, p->rows > 0};
  if (from.map && any) {
    struct nai_extent mapped = NAI_EMPTY_EXTENT;
    nai_extent_add(&mapped, from.map, from.map_count);
    mapped.null |= extent.null;
    return mapped;
  }
  if (p->source->table == NAI_IN_NVTX && column == NVTX_EVENTS_export_row_offset && extent.min <= extent.max) {
    extent.min -= p->first;
    extent.max -= p->first;
  }
  return extent;
}

/* Rows of a part that --gpu keeps. */
static uint32_t select_rows(uint32_t *rows, const struct nai_part *p, const struct nai_chunk *chunk) {
  struct origin device = origin_of(p, nai_source_column(p->source, NAI_DEVICES));
  uint32_t kept = 0;
  for (uint32_t i = 0; i < chunk->rows; i++)
    if (nai_keeps_gpu(p->options, device.map[nai_at(&chunk->columns[device.column], i)]))
      rows[kept++] = i;
  return kept;
}

static bool is_filtered(const struct nai_part *p) {
  return p->options->gpu_count && nai_source_column(p->source, NAI_DEVICES) >= 0;
}

static int64_t count_rows(const struct nai_part *p) {
  uint32_t rows[NAI_OPEN_ROWS];
  int64_t kept = 0;
  for (uint32_t i = 0; is_filtered(p) && i < p->chunk_count; i++)
    kept += select_rows(rows, p, &p->chunks[i]);
  return is_filtered(p) ? kept : p->rows;
}

/* Creates a source's table and gives its parts their rows. */
static int create_table(struct extraction *x, const struct nai_source *source, struct nai_err *err) {
  const struct nai_schema *schema = nai_event_tables[source->table];
  struct nai_extent extents[NAI_MAX_EVENT_COLUMNS];
  bool any[NAI_MAX_EVENT_COLUMNS] = {false};
  int64_t rows = 0;
  for (uint32_t c = 0; c < NAI_MAX_EVENT_COLUMNS; c++)
    extents[c] = NAI_EMPTY_EXTENT;
  for (uint32_t c = 0; c < schema->column_count; c++)
    any[c] = has_values(x, source, (int)c);
  for (int i = 0; i < x->part_count; i++) {
    struct nai_part *p = &x->parts[i];
    if (p->source != source)
      continue;
    p->first = rows;
    rows += count_rows(p);
    for (uint32_t c = 0; c < schema->column_count; c++) {
      struct nai_extent extent = part_extent(x, p, (int)c, any[c]);
      nai_extent_join(&extents[c], &extent);
    }
  }
  if (source->table == NAI_IN_NVTX &&
      extents[NVTX_EVENTS_end_ns].null) { /* open ranges end with the trace, or where they begin */
    nai_extent_join(&extents[NVTX_EVENTS_end_ns], &extents[NVTX_EVENTS_start_ns]);
    nai_extent_add(&extents[NVTX_EVENTS_end_ns], &x->last_ns, 1);
    extents[NVTX_EVENTS_end_ns].null = false;
  }
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.ntab", x->options->directory, schema->name);
  bool small = nai_packed_bytes(schema, rows, extents) < SMALL_TABLE_BYTES;
  struct nai_table **table = &x->out->tables[source->table];
  NAI_TRY(nai_table_create(table, schema, rows, extents, small ? NULL : path, x->options->key, err));
  (*table)->strings = x->names[source->table];
  x->names[source->table] = (struct nai_strings){0};
  return NAI_OK;
}

/* --- the rows --------------------------------------------------------------------------------- */

/* Open ranges last until the last timestamp of the trace. */
static void close_ranges(struct nai_part *p, int64_t last_ns, int64_t *end, const struct nai_chunk *chunk) {
  for (uint32_t i = 0; i < chunk->rows; i++) {
    if (end[i] != NAI_NULL_I64)
      continue;
    int64_t start = nai_at(&chunk->columns[NVTX_EVENTS_start_ns], i), length = last_ns > start ? last_ns - start : 0;
    end[i] = start + (length < NAI_DURATION_LIMIT ? length : NAI_DURATION_LIMIT);
    nai_sum_add(&p->total_ns, end[i] - start);
  }
}

static void map_cells(int64_t *restrict cells, uint32_t rows, const int64_t *restrict map, bool filled) {
  for (uint32_t i = 0; i < rows; i++)
    cells[i] = !filled && cells[i] == NAI_NULL_I64 ? cells[i] : map[cells[i]];
}

/* The cells of a column of the table for all rows of a chunk. */
static void make_cells(int64_t *cells, const struct extraction *x, struct nai_part *p, const struct nai_chunk *chunk,
                       int column) {
  struct origin from = origin_of(p, column);
  nai_unpack(cells, &chunk->columns[from.column], 0, chunk->rows);
  if (from.map)
    map_cells(cells, chunk->rows, from.map, !p->extent[from.column].null);
  if (p->source->table != NAI_IN_NVTX)
    return;
  for (uint32_t i = 0; column == NVTX_EVENTS_export_row_offset && i < chunk->rows; i++)
    cells[i] -= cells[i] == NAI_NULL_I64 ? 0 : p->first;
  if (column == NVTX_EVENTS_end_ns && p->open_ranges)
    close_ranges(p, x->last_ns, cells, chunk);
}

static int write_column(struct nai_column_writer *writer, const struct extraction *x, struct nai_part *p, int column,
                        struct nai_err *err) {
  int64_t cells[NAI_OPEN_ROWS];
  uint32_t rows[NAI_OPEN_ROWS];
  bool closes_ranges = p->source->table == NAI_IN_NVTX && column == NVTX_EVENTS_end_ns;
  if (nai_table_column(x->out->tables[p->source->table], column).width == 0 && !closes_ranges)
    return NAI_OK; /* all rows have the same value, which the descriptor holds */
  nai_writer_begin(writer, x->out->tables[p->source->table], column, p->first);
  for (uint32_t i = 0; i < p->chunk_count; i++) {
    const struct nai_chunk *chunk = &p->chunks[i];
    uint32_t kept = is_filtered(p) ? select_rows(rows, p, chunk) : chunk->rows;
    make_cells(cells, x, p, chunk, column);
    for (uint32_t k = 0; kept < chunk->rows && k < kept; k++)
      cells[k] = cells[rows[k]];
    NAI_TRY(nai_writer_put(writer, cells, kept, err));
  }
  return nai_writer_end(writer, err);
}

struct writing {
  struct extraction *x;
  int *order; /* of the parts */
};

static int write_columns(const struct extraction *x, struct nai_part *p, struct nai_err *err) {
  NAI_FREED struct nai_column_writer *writer = malloc(sizeof *writer);
  NAI_TRY(nai_memory_check(writer, err));
  for (int c = 0; c < (int)nai_event_tables[p->source->table]->column_count; c++)
    NAI_TRY(write_column(writer, x, p, c, err));
  return NAI_OK;
}

static int write_part(void *ctx, int task, struct nai_err *err) {
  const struct writing *w = ctx;
  struct nai_part *p = &w->x->parts[w->order[task]];
  int rc = write_columns(w->x, p, err);
  nai_part_free_rows(p);
  return rc;
}

static int seal_table(void *ctx, int task, struct nai_err *err) {
  struct extraction *x = ctx;
  struct nai_table *table = x->out->tables[NAI_IN_FIRST_EVENTS + task];
  return table ? nai_table_seal(table, err) : NAI_OK;
}

/* The first part of each source, the second of each, and so on: threads that write to one file at a time would wait for
 * each other. */
static void order_parts(int *order, const struct extraction *x) {
  int rank[NAI_IN_COUNT], n = 0;
  for (int round = 0; n < x->part_count; round++) {
    memset(rank, 0, sizeof rank);
    for (int i = 0; i < x->part_count; i++)
      if (rank[x->parts[i].source->table]++ == round)
        order[n++] = i;
  }
}

int nai_write_events(struct extraction *x, struct nai_err *err) {
  struct writing w = {.x = x};
  NAI_TRY(NAI_NEW(w.order, &x->arena, (size_t)x->part_count, err));
  for (int s = 0; s < nai_source_count; s++)
    if (nai_wanted(x, nai_sources[s]->table))
      NAI_TRY(create_table(x, nai_sources[s], err));
  order_parts(w.order, x);
  NAI_TRY(nai_parallel(x->options->threads, x->part_count, write_part, &w, err));
  return nai_parallel(x->options->threads, NAI_IN_COUNT - NAI_IN_FIRST_EVENTS, seal_table, x, err);
}
