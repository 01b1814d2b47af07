/* Stage extract: the normalised event tables. Every part of every source is read on whatever thread is free and keeps
 * its rows, packed, with its own dictionaries (part.c); merge.c brings those together, and write.c the rows. */
#include "trace/extraction.h"
#include "trace/small.h"

#include "base/threads.h"
#include "tables/capture.h"
#include "tables/gpus.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

static int feed_part(struct nai_part *p, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  if (p->rows == p->limit)
    return nai_err_damaged(err, "row %" PRId64 ": more rows than the pages announced; the file is damaged", rowid);
  if (!p->read++)
    p->first_rowid = rowid;
  p->last_rowid = rowid;
  int rc = NAI_OK;
  int verdict = p->intake->feed->row(p, p->open_rows, rowid, cells, &rc, err);
  if (rc) {
    p->row_failed = true;
    return rc;
  }
  if (p->oom || p->threads.oom || p->devices.oom)
    return nai_err_nomem(err);
  if (verdict != NAI_KEEP) {
    if (verdict >= 0)
      p->dropped[verdict]++;
    return NAI_OK;
  }
  p->rows++;
  return ++p->open_rows == NAI_OPEN_ROWS ? nai_part_pack(p, err) : NAI_OK;
}

static int on_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  int rc = NAI_OK;
  for (struct nai_part *p = ctx; p && !rc; p = p->shares)
    rc = feed_part(p, rowid, cells, err);
  return rc;
}

struct reading {
  struct extraction *x;
  struct nai_part **order; /* the first of those that share their rows */
};

static int read_rows(struct nai_part *first, struct nai_err *err) {
  int rc = NAI_OK;
  for (struct nai_part *p = first; p && !rc; p = p->shares)
    rc = nai_part_open(p, err);
  if (!rc)
    rc = nai_scan_run(first->scan, first->scan_part, on_row, first, err);
  for (struct nai_part *p = first; p && !rc; p = p->shares)
    rc = nai_part_settle(p, err);
  for (struct nai_part *p = first; p; p = p->shares)
    nai_part_close(p);
  return rc;
}

static int read_part(void *ctx, int task, struct nai_err *err) {
  struct reading *reading = ctx;
  struct nai_part *first = reading->order[task];
  int rc = read_rows(first, err);
  bool borne = rc != NAI_OK;
  for (struct nai_part *p = first; p && borne; p = p->shares)
    borne = !p->row_failed && nai_damage_is_borne(p->why, p->source, rc, err);
  for (struct nai_part *p = first; p && borne; p = p->shares)
    p->damaged = true;
  if (!rc || borne)
    return NAI_OK;
  if (rc == NAI_EIO) /* what cannot be written says so itself */
    return rc;
  return nai_err_wrap(err, rc, "cannot read table: trace=\"%s\", table=\"%s\"", reading->x->trace->path,
                      first->scan->table);
}

static int compare_parts(const void *pa, const void *pb) {
  const struct nai_part *const *a = pa, *const *b = pb;
  return (*a)->limit != (*b)->limit ? ((*a)->limit > (*b)->limit ? -1 : 1) : (*a < *b ? -1 : 1);
}

/* Reads all parts, the longest first: no thread waits long for another's last one. */
static int read_parts(struct extraction *x, struct nai_err *err) {
  struct reading reading = {x, malloc(((size_t)x->part_count + 1) * sizeof(struct nai_part *))};
  if (!reading.order)
    return nai_err_nomem(err);
  int tasks = 0;
  for (int i = 0; i < x->part_count; i++)
    if (x->parts[i].leads)
      reading.order[tasks++] = &x->parts[i];
  qsort(reading.order, (size_t)tasks, sizeof(struct nai_part *), compare_parts);
  int rc = nai_parallel(x->options->threads, tasks, read_part, &reading, err);
  free(reading.order);
  return rc;
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
  for (int f = 0; f < feed->field_count && column_count; f++)
    if (intake->slot[f] != NAI_NO_CELL)
      intake->slot[f] = slot_of(&x->scans[intake->scan], x->columns[intake->scan], columns[intake->slot[f]]);
}

static int open_scan(struct extraction *x, const struct nai_intake *intake, struct nai_err *err) {
  struct nai_scan *scan = &x->scans[intake->scan];
  if (!scan->ops && !x->scan_damaged[intake->scan]) {
    int rc = nai_scan_open(scan, x->trace, x->options->threads * PARTS_PER_THREAD, err);
    if (nai_damage_is_borne(scan->reason, intake->source, rc, err)) {
      x->scan_damaged[intake->scan] = true;
      scan->parts = 0;
    } else if (rc) {
      return nai_err_wrap(err, rc, "cannot read table: trace=\"%s\", table=\"%s\"", x->trace->path, scan->table);
    }
  }
  x->part_count += scan->parts;
  return NAI_OK;
}

bool nai_wanted(const struct extraction *x, enum nai_input_table table) { return x->tables & NAI_IN_BIT(table); }

static int open_scans(struct extraction *x, struct nai_err *err) {
  int rc = NAI_OK;
  for (int s = 0; s < nai_source_count; s++)
    for (int f = 0; nai_wanted(x, nai_sources[s]->table) && nai_source_applies(nai_sources[s], x->trace) &&
                    f < nai_sources[s]->feed_count;
         f++)
      add_intake(x, nai_sources[s], &nai_sources[s]->feeds[f]);
  for (int i = 0; i < x->intake_count && !rc; i++)
    rc = open_scan(x, &x->intakes[i], err);
  return rc;
}

static void lay_out_part(struct extraction *x, struct nai_part *p, const struct nai_intake *intake, int scan_part) {
  p->intake = intake;
  p->source = intake->source;
  p->scan = &x->scans[intake->scan];
  p->scan_part = scan_part;
  p->trace = x->trace;
  p->options = x->options;
  p->time_offset_ns = nai_get_i64(x->out->tables[NAI_IN_CAPTURE], 0, CAPTURE_time_offset_ns);
  p->limit = p->scan->part_rows[scan_part];
  p->last_ns = INT64_MIN;
}

/* Makes the parts: of each source all of its feeds, one after the other. */
static int lay_out_parts(struct extraction *x, struct nai_err *err) {
  x->parts = calloc((size_t)x->part_count + 1, sizeof *x->parts);
  if (!x->parts)
    return nai_err_nomem(err);
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

static void move_row(struct nai_table *table, int64_t to, int64_t from) {
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    size_t size = nai_type_size(table->schema->columns[c].type);
    char *data = table->columns[c];
    memmove(data + (size_t)to * size, data + (size_t)from * size, size);
  }
}

/* The GPUs --gpu names must be there; the others leave the table of GPUs. */
static int keep_gpus(struct extraction *x, struct nai_err *err) {
  const struct nai_table *gpus = x->out->tables[NAI_IN_GPUS];
  for (int i = 0; i < x->options->gpu_count; i++) {
    bool known = false;
    for (int64_t g = 0; g < gpus->rows; g++)
      known |= nai_get_i64(gpus, g, GPUS_device_id) == x->options->gpus[i];
    if (known)
      continue;
    struct nai_buf list = {0};
    for (int64_t g = 0; g < gpus->rows; g++)
      nai_buf_printf(&list, "%s%" PRId64, g ? ", " : "", nai_get_i64(gpus, g, GPUS_device_id));
    nai_err_set(err, NAI_EUSAGE, "--gpu %" PRId64 ": the trace has no such GPU; it has: %s", x->options->gpus[i],
                list.len ? nai_buf_str(&list) : "none");
    nai_buf_free(&list);
    return NAI_EUSAGE;
  }
  if (x->options->gpu_count) {
    struct nai_table *all = x->out->tables[NAI_IN_GPUS];
    int64_t kept = 0;
    for (int64_t row = 0; row < all->rows; row++)
      if (nai_keeps_gpu(x->options, nai_get_i64(all, row, GPUS_device_id)))
        move_row(all, kept++, row);
    nai_table_truncate(all, kept);
  }
  return NAI_OK;
}

static void free_extraction(struct extraction *x) {
  for (int i = 0; i < x->part_count && x->parts; i++)
    nai_part_free(&x->parts[i]);
  free(x->parts);
  for (int i = 0; i < x->scan_count; i++)
    nai_scan_close(&x->scans[i]);
  nai_identity_free(&x->identity);
  nai_strings_free(&x->sizes);
  for (int i = 0; i < NAI_IN_COUNT; i++) {
    nai_strings_free(&x->names[i]);
    nai_strings_free(&x->records[i]);
    nai_strings_free(&x->record_names[i]);
    free(x->record_name[i]);
  }
}

int nai_extract(struct nai_ingest *out, struct nai_trace *trace, const struct nai_ingest_options *options,
                struct nai_err *err) {
  struct extraction x = {.out = out, .trace = trace, .options = options};
  x.tables = nai_ingest_closure(options->tables ? options->tables : NAI_IN_DEFAULT);
  int rc = NAI_OK;
  for (int i = NAI_IN_EXTRACT_NOTES; !rc && i < NAI_IN_FIRST_EVENTS; i++)
    if (nai_wanted(&x, i))
      rc = nai_table_new(&out->tables[i], nai_event_tables[i], err);
  if (!rc)
    rc = open_scans(&x, err);
  if (!rc)
    rc = lay_out_parts(&x, err);
  if (!rc)
    rc = read_parts(&x, err);
  if (!rc)
    rc = nai_damage_settle(&x, err);
  if (!rc)
    rc = nai_merge(&x, err);
  if (!rc)
    rc = keep_gpus(&x, err);
  if (!rc)
    rc = nai_write_events(&x, err);
  for (int i = 0; !rc && i < x.intake_count; i++)
    rc = nai_note_intake(&x, &x.intakes[i], err);
  if (!rc)
    rc = nai_describe(&x, err);
  if (!rc)
    nai_small_note(out->tables[NAI_IN_EXTRACT_NOTES], trace);
  for (int i = NAI_IN_EXTRACT_NOTES; !rc && i < NAI_IN_FIRST_EVENTS; i++)
    if (nai_wanted(&x, i))
      rc = nai_table_check(out->tables[i], err);
  free_extraction(&x);
  return rc;
}
