/* Stage extract: the normalised event tables. Every part of every source is read on whatever thread is free and keeps
 * its rows, packed, with its own dictionaries (part.c); merge.c brings those together, and write.c the rows. */
#include "trace/extraction.h"
#include "trace/small.h"

#include "base/threads.h"
#include "base/sort.h"
#include "tables/capture.h"
#include "tables/gpus.h"

#include <assert.h>

/* --- reading ---------------------------------------------------------------------------------- */

/* The cells are the same for all rows of a part. Inlined, it would cost each row what only the first one needs. */
__attribute__((noinline)) static void begin_rows(struct nai_part *p, int64_t rowid, const struct nai_cell *cells) {
  p->first_rowid = rowid;
  for (int f = 0; f < p->intake->feed->field_count; f++)
    p->fields[f] = &cells[p->intake->slot[f]];
}

static int feed_part(struct nai_part *p, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  if (!p->read++)
    begin_rows(p, rowid, cells);
  p->last_rowid = rowid;
  if (p->intake->picks && !(p->intake->one_of & ~(uint64_t)cells[NAI_NO_CELL].i))
    return NAI_OK;
  int verdict = p->intake->feed->row(p);
  if (p->failed)
    return p->failed;
  if (verdict != NAI_KEEP) {
    if (verdict >= 0)
      p->dropped[verdict]++;
    return NAI_OK;
  }
  p->rows++;
  p->row++;
  return ++p->open_rows == NAI_OPEN_ROWS ? nai_part_pack(p, err) : NAI_OK;
}

static int on_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  for (struct nai_part *p = ctx; p; p = p->shares)
    NAI_TRY(feed_part(p, rowid, cells, err));
  return NAI_OK;
}

static int read_rows(struct nai_part *first, struct nai_err *err) {
  for (struct nai_part *p = first; p; p = p->shares)
    NAI_TRY(nai_part_open(p, err));
  NAI_TRY(nai_scan_run(first->scan, first->scan_part, on_row, first, err));
  for (struct nai_part *p = first; p; p = p->shares)
    NAI_TRY(nai_part_settle(p, err));
  return NAI_OK;
}

static int fail(const struct nai_trace *trace, const struct nai_scan *scan, int code, struct nai_err *err) {
  return nai_err_wrap(err, code, "cannot read table: trace=\"%s\", table=\"%s\"", trace->path, scan->table);
}

/* `ctx`: the first of those parts that share their rows, in the order of reading. */
static int read_part(void *ctx, int task, struct nai_err *err) {
  struct nai_part *first = ((struct nai_part **)ctx)[task];
  int rc = read_rows(first, err);
  bool borne = rc != NAI_OK;
  for (struct nai_part *p = first; p; p = p->shares) {
    nai_part_close(p);
    borne = borne && !p->failed && nai_damage_is_borne(p->why, p->source, rc, err);
  }
  for (struct nai_part *p = first; p && borne; p = p->shares)
    p->damaged = true;
  if (!rc || borne)
    return NAI_OK;
  return rc == NAI_EIO ? rc : fail(first->trace, first->scan, rc, err); /* what cannot be written says so itself */
}

NAI_ORDER_BY(compare_parts, struct nai_part *const, NAI_SIGN((*b)->limit, (*a)->limit), NAI_SIGN(*a, *b))

/* Reads all parts, the longest first: no thread waits long for another's last one. */
static int read_parts(struct extraction *x, struct nai_err *err) {
  struct nai_part **order;
  int tasks = 0;
  NAI_TRY(NAI_NEW(order, &x->arena, (size_t)x->part_count, err));
  for (int i = 0; i < x->part_count; i++)
    if (x->parts[i].leads)
      order[tasks++] = &x->parts[i];
  qsort(order, (size_t)tasks, sizeof *order, compare_parts);
  return nai_parallel(x->options->threads, tasks, read_part, order, err);
}

/* Of each table: small enough for no thread to wait long for another's last part, and few, since each may take a
 * scratch file. */
enum { PARTS_PER_THREAD = 8 };

/* The scan that reads `table` for sources that are as vital, or a new one. Damage of what one reads is damage to all.
 */
static int scan_of(struct extraction *x, const char *table, const struct nai_source *source) {
  for (int s = 0; s < x->scan_count; s++)
    if (strcmp(x->scans[s].table, table) == 0 && x->scan_vital[s] == source->vital)
      return s;
  x->scans[x->scan_count].table = table;
  x->scans[x->scan_count].columns = x->columns[x->scan_count];
  x->scan_vital[x->scan_count] = source->vital;
  return x->scan_count++;
}

/* Position of a column among those that a scan reads. */
static int8_t slot_of(struct nai_scan *scan, int *columns, int column) {
  int slot = 0;
  while (slot < scan->column_count && columns[slot] != column)
    slot++;
  if (slot == scan->column_count) {
    assert(slot < NAI_SCAN_MAX_COLUMNS);
    columns[scan->column_count++] = column;
  }
  return (int8_t)slot;
}

static void add_intake(struct extraction *x, const struct nai_source *source, const struct nai_feed *feed) {
  struct nai_intake *intake = &x->intakes[x->intake_count];
  int columns[NAI_MAX_FIELDS], column_count;
  char why[160];
  const struct nai_db_table *table = nai_feed_resolve(intake->slot, columns, &column_count, why, x->trace, feed);
  if (!table)
    return;
  x->intake_count++;
  intake->source = source;
  intake->feed = feed;
  intake->scan = scan_of(x, table->name, source);
  for (int f = 0; f < feed->field_count && column_count; f++) {
    bool found = intake->slot[f] != NAI_NO_CELL, picks = feed->fields[f].need == NAI_ONE_OF;
    if (found)
      intake->slot[f] = slot_of(&x->scans[intake->scan], x->columns[intake->scan], columns[intake->slot[f]]);
    intake->picks |= picks;
    intake->one_of |= found && picks ? UINT64_C(1) << intake->slot[f] : 0;
  }
}

static int open_scan(struct extraction *x, const struct nai_intake *intake, struct nai_err *err) {
  struct nai_scan *scan = &x->scans[intake->scan];
  if (!scan->run && !x->scan_damaged[intake->scan]) {
    int rc = nai_scan_open(scan, x->trace, x->options->threads * PARTS_PER_THREAD, err);
    if (nai_damage_is_borne(scan->reason, intake->source, rc, err)) {
      x->scan_damaged[intake->scan] = true;
      scan->parts = 0;
    } else if (rc) {
      return fail(x->trace, scan, rc, err);
    }
  }
  x->part_count += scan->parts;
  return NAI_OK;
}

static int open_scans(struct extraction *x, struct nai_err *err) {
  for (int s = 0; s < nai_source_count; s++)
    if (nai_wanted(x, nai_sources[s]->table) && nai_source_applies(nai_sources[s], x->trace))
      for (const struct nai_feed *feed = nai_sources[s]->feeds; feed->row; feed++)
        add_intake(x, nai_sources[s], feed);
  for (int i = 0; i < x->intake_count; i++)
    NAI_TRY(open_scan(x, &x->intakes[i], err));
  return NAI_OK;
}

static void lay_out_part(struct extraction *x, struct nai_part *p, const struct nai_intake *intake, int scan_part) {
  p->intake = intake;
  p->source = intake->source;
  p->scan = &x->scans[intake->scan];
  p->scan_part = scan_part;
  p->trace = x->trace;
  p->reading = p->arena = p->rows_arena = (struct nai_arena)NAI_ARENA(NULL);
  p->options = x->options;
  p->time_offset_ns = nai_get_i64(x->out->tables[NAI_IN_CAPTURE], 0, CAPTURE_time_offset_ns);
  p->limit = p->scan->part_rows[scan_part];
  p->last_ns = INT64_MIN;
}

/* Makes the parts: of each source all of its feeds, one after the other. */
static int lay_out_parts(struct extraction *x, struct nai_err *err) {
  NAI_TRY(NAI_NEW(x->parts, &x->arena, (size_t)x->part_count, err));
  struct nai_part *next = x->parts, *of_scan[NAI_MAX_SCANS] = {NULL}; /* of_scan: parts of the scan's latest intake */
  int64_t limit = 0;
  for (int i = 0; i < x->intake_count; i++) {
    const struct nai_intake *intake = &x->intakes[i];
    struct nai_part *before = of_scan[intake->scan];
    assert(nai_event_tables[intake->source->table]->column_count <= NAI_MAX_EVENT_COLUMNS);
    limit = i && intake[-1].source == intake->source ? limit : 0;
    of_scan[intake->scan] = next;
    for (int k = 0; k < x->scans[intake->scan].parts; k++, next++) {
      lay_out_part(x, next, intake, k);
      limit += next->limit;
      next->leads = !before;
      if (before)
        before[k].shares = next;
    }
    if (limit >= UINT32_MAX)
      return nai_err_set(err, NAI_ELIMIT,
                         "\"%s\": %" PRId64 " %s are more than the supported 4,294,967,294; use --trim on a part "
                         "of the capture or export fewer tables",
                         x->trace->path, limit, intake->source->capability);
  }
  return NAI_OK;
}

/* --- closing up ------------------------------------------------------------------------------- */

static int refuse_gpu(const struct nai_table *gpus, int64_t device, struct nai_err *err) {
  NAI_SCOPED(nai_buf) list = {0};
  for (int64_t g = 0; g < gpus->rows; g++)
    nai_buf_printf(&list, "%s%" PRId64, g ? ", " : "", nai_get_i64(gpus, g, GPUS_device_id));
  return nai_err_set(err, NAI_EUSAGE, "--gpu %" PRId64 ": the trace has no such GPU; it has: %s", device,
                     list.len ? nai_buf_str(&list) : "none");
}

static void move_row(struct nai_table *table, int64_t to, int64_t from) {
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    size_t size = nai_type_size(table->schema->columns[c].type);
    char *data = table->columns[c];
    memmove(data + (size_t)to * size, data + (size_t)from * size, size);
  }
}

/* The GPUs --gpu names must be there; the others leave the table of GPUs. */
static int keep_gpus(struct extraction *x, struct nai_err *err) {
  struct nai_table *gpus = x->out->tables[NAI_IN_GPUS];
  int64_t kept = 0;
  for (int i = 0; i < x->options->gpu_count; i++)
    if (nai_find_i64(gpus, GPUS_device_id, x->options->gpus[i]) < 0)
      return refuse_gpu(gpus, x->options->gpus[i], err);
  for (int64_t row = 0; row < gpus->rows; row++)
    if (nai_keeps_gpu(x->options, nai_get_i64(gpus, row, GPUS_device_id)))
      move_row(gpus, kept++, row);
  nai_table_truncate(gpus, kept);
  return NAI_OK;
}

static void extraction_free(struct extraction *x) {
  if (!x)
    return;
  for (int i = 0; i < x->part_count && x->parts; i++)
    nai_part_free(&x->parts[i]);
  for (int i = 0; i < x->scan_count; i++)
    nai_scan_close(&x->scans[i]);
  nai_identity_free(&x->identity);
  nai_strings_free(&x->sizes);
  for (int i = 0; i < NAI_IN_COUNT; i++) {
    nai_strings_free(&x->names[i]);
    nai_strings_free(&x->records[i]);
    nai_strings_free(&x->record_names[i]);
  }
  nai_arena_free(&x->arena);
  free(x);
}
NAI_OWNER(extraction)

int nai_extract(struct nai_ingest *out, struct nai_trace *trace, const struct nai_ingest_options *options,
                struct nai_err *err) {
  NAI_OWNED(extraction) *x = calloc(1, sizeof *x); /* too large for a small stack */
  NAI_TRY(nai_memory_check(x, err));
  *x = (struct extraction){.arena = NAI_ARENA(NULL), .out = out, .trace = trace, .options = options};
  struct nai_table **tables = out->tables;
  x->tables = nai_ingest_closure(options->tables ? options->tables : NAI_IN_DEFAULT);
  for (int i = NAI_IN_EXTRACT_NOTES; i < NAI_IN_FIRST_EVENTS; i++)
    if (nai_wanted(x, i))
      NAI_TRY(nai_table_new(&tables[i], nai_event_tables[i], err));
  NAI_TRY(open_scans(x, err));
  NAI_TRY(lay_out_parts(x, err));
  NAI_TRY(read_parts(x, err));
  NAI_TRY(nai_damage_settle(x, err));
  nai_probe_take_back(tables[NAI_IN_CAPABILITIES], tables[NAI_IN_PROBE_NOTES]);
  nai_probe_take_back(tables[NAI_IN_CAPABILITIES], tables[NAI_IN_EXTRACT_NOTES]);
  NAI_TRY(nai_table_check(tables[NAI_IN_CAPABILITIES], err));
  NAI_TRY(nai_merge(x, err));
  NAI_TRY(keep_gpus(x, err));
  NAI_TRY(nai_write_events(x, err));
  for (int i = 0; i < x->intake_count; i++)
    NAI_TRY(nai_note_intake(x, &x->intakes[i], err));
  NAI_TRY(nai_describe(x, err));
  nai_small_note(tables[NAI_IN_EXTRACT_NOTES], trace);
  for (int i = NAI_IN_EXTRACT_NOTES; i < NAI_IN_FIRST_EVENTS; i++)
    if (nai_wanted(x, i))
      NAI_TRY(nai_table_check(tables[i], err));
  return NAI_OK;
}
