/* Stage extract: the normalised event tables. Every part of every source is read on whatever thread is free and keeps
 * its rows, packed, with its own dictionaries (part.c); merge.c brings those together, and write.c the rows. */
#include "ingest/extraction.h"

#include "base/threads.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

static int on_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  struct nai_part *p = ctx;
  if (p->rows == p->limit)
    return nai_err_damaged(err, "row %" PRId64 ": more rows than the pages announced; the file is damaged", rowid);
  p->first_rowid = p->read++ ? p->first_rowid : rowid;
  p->last_rowid = rowid;
  int rc = NAI_OK;
  int verdict = p->feed->row(p, p->open_rows, rowid, cells, &rc, err);
  p->row_failed = rc != NAI_OK;
  if (rc)
    return rc;
  if (verdict == NAI_KEEP) {
    p->rows++;
    p->open_rows++;
  } else if (verdict >= 0) {
    p->dropped[verdict]++;
  }
  if (p->oom || p->threads.oom || p->devices.oom)
    return nai_err_nomem(err);
  return p->open_rows == NAI_OPEN_ROWS ? nai_part_pack(p, err) : NAI_OK;
}

struct reading {
  struct extraction *x;
  struct nai_part **order;
};

static int read_part(void *ctx, int task, struct nai_err *err) {
  struct reading *reading = ctx;
  struct extraction *x = reading->x;
  struct nai_part *p = reading->order[task];
  int rc = nai_part_open(p, err);
  if (!rc)
    rc = nai_scan_run(p->scan, p->scan_part, on_row, p, err);
  if (!rc)
    rc = nai_part_settle(p, err);
  nai_part_close(p);
  if (!p->row_failed && nai_damage_is_borne(p->why, p->source, rc, err)) {
    p->damaged = true;
    return NAI_OK;
  }
  if (!rc || rc == NAI_EIO) /* what cannot be written says so itself */
    return rc;
  return nai_err_wrap(err, rc, "cannot read table: trace=\"%s\", table=\"%s\"", x->trace->path, p->scan->table);
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
  for (int i = 0; i < x->part_count; i++)
    reading.order[i] = &x->parts[i];
  qsort(reading.order, (size_t)x->part_count, sizeof(struct nai_part *), compare_parts);
  int rc = nai_parallel(x->options->threads, x->part_count, read_part, &reading, err);
  free(reading.order);
  return rc;
}

/* Of each table: small enough for no thread to wait long for another's last part, and few, since each may take a
 * scratch file. */
enum { PARTS_PER_THREAD = 8 };

static int open_scan(struct extraction *x, const struct nai_source *source, const struct nai_feed *feed,
                     struct nai_err *err) {
  int i = x->scan_count;
  struct nai_scan *scan = &x->scans[i];
  char why[160];
  const struct nai_db_table *table =
      nai_feed_resolve(x->slots[i], x->columns[i], &scan->column_count, why, x->trace, feed);
  if (!table)
    return NAI_OK;
  scan->table = table->name;
  scan->columns = x->columns[i];
  x->scan_source[i] = source;
  x->scan_feed[i] = feed;
  x->scan_count++;
  int rc = nai_scan_open(scan, x->trace, x->options->threads * PARTS_PER_THREAD, err);
  if (nai_damage_is_borne(scan->reason, source, rc, err)) {
    x->scan_damaged[i] = true;
    scan->parts = 0;
    return NAI_OK;
  }
  if (rc)
    return nai_err_wrap(err, rc, "cannot read table: trace=\"%s\", table=\"%s\"", x->trace->path, table->name);
  x->part_count += scan->parts;
  return NAI_OK;
}

bool nai_wanted(const struct extraction *x, enum nai_input_table table) { return x->tables & NAI_IN_BIT(table); }

static int open_scans(struct extraction *x, struct nai_err *err) {
  int rc = NAI_OK;
  for (int s = 0; s < nai_source_count; s++)
    for (int f = 0; !rc && nai_wanted(x, nai_sources[s]->table) && nai_source_applies(nai_sources[s], x->trace) &&
                    f < nai_sources[s]->feed_count;
         f++)
      rc = open_scan(x, nai_sources[s], &nai_sources[s]->feeds[f], err);
  return rc;
}

/* Makes the parts: of each source all of its feeds, one after the other. */
static int lay_out_parts(struct extraction *x, struct nai_err *err) {
  x->parts = calloc((size_t)x->part_count + 1, sizeof *x->parts);
  if (!x->parts)
    return nai_err_nomem(err);
  int64_t offset = nai_get_i64(x->out->tables[NAI_IN_CAPTURE], 0, CA_TIME_OFFSET_NS);
  int next = 0;
  for (int s = 0; s < nai_source_count; s++) {
    const struct nai_source *source = nai_sources[s];
    assert(nai_event_tables[source->table]->column_count <= NAI_MAX_EVENT_COLUMNS);
    int64_t limit = 0;
    for (int i = 0; i < x->scan_count; i++) {
      for (int k = 0; x->scan_source[i] == source && k < x->scans[i].parts; k++) {
        struct nai_part *p = &x->parts[next++];
        p->source = source;
        p->feed = x->scan_feed[i];
        p->scan = &x->scans[i];
        p->scan_part = k;
        p->trace = x->trace;
        p->options = x->options;
        p->time_offset_ns = offset;
        memcpy(p->slot, x->slots[i], sizeof p->slot);
        p->limit = x->scans[i].part_rows[k];
        p->last_ns = INT64_MIN;
        limit += p->limit;
      }
    }
    if (limit >= UINT32_MAX)
      return nai_err_set(err, NAI_ELIMIT,
                         "\"%s\": %" PRId64 " %s are more than the supported 4,294,967,294; use --trim on a part "
                         "of the capture or export fewer tables",
                         x->trace->path, limit, source->capability);
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
      known |= nai_get_i64(gpus, g, GP_DEVICE) == x->options->gpus[i];
    if (known)
      continue;
    struct nai_buf list = {0};
    for (int64_t g = 0; g < gpus->rows; g++)
      nai_buf_printf(&list, "%s%" PRId64, g ? ", " : "", nai_get_i64(gpus, g, GP_DEVICE));
    nai_err_set(err, NAI_EUSAGE, "--gpu %" PRId64 ": the trace has no such GPU; it has: %s", x->options->gpus[i],
                list.len ? nai_buf_str(&list) : "none");
    nai_buf_free(&list);
    return NAI_EUSAGE;
  }
  if (x->options->gpu_count) {
    struct nai_table *all = x->out->tables[NAI_IN_GPUS];
    int64_t kept = 0;
    for (int64_t row = 0; row < all->rows; row++)
      if (nai_keeps_gpu(x->options, nai_get_i64(all, row, GP_DEVICE)))
        move_row(all, kept++, row);
    nai_table_truncate(all, kept);
  }
  return NAI_OK;
}

static const struct {
  const char *check, *detail;
} drops[NAI_DROP_COUNT] = {
    [NAI_DROP_NO_TIME] = {"rows-without-time", "start or end is NULL; dropped"},
    [NAI_DROP_TYPE] = {"rows-with-bad-type", "start or end is no integer; dropped"},
    [NAI_DROP_REVERSED] = {"rows-reversed", "end lies before start; dropped"},
    [NAI_DROP_ZERO] = {"rows-not-collected",
                       "start and end are 0, which CUPTI writes when it could not measure; dropped"},
    [NAI_DROP_RANGE] = {"rows-out-of-range", "times no capture can have; dropped"},
    [NAI_DROP_VALUE] = {"rows-without-value", "what the row is about is missing or no possible value; dropped"},
};

/* Exporters number rows without gaps. Where some are missing, somebody deleted them or damage took them: the pages do
 * not tell. */
static void note_gaps(struct extraction *x, const struct nai_scan *scan) {
  const struct nai_db_table *table = nai_trace_table(x->trace, scan->table);
  int64_t gaps = 0, next = 0;
  bool any = false;
  for (int i = 0; i < table->column_count; i++)
    if (table->columns[i].rowid_alias) /* numbers with a meaning of their own */
      return;
  for (int i = 0; table->rowid_name && i < x->part_count; i++) {
    const struct nai_part *p = &x->parts[i];
    if (p->scan != scan || !p->read)
      continue;
    uint64_t missing = (uint64_t)p->last_rowid - (uint64_t)p->first_rowid + 1 - (uint64_t)p->read;
    missing += any ? (uint64_t)p->first_rowid - (uint64_t)next : 0;
    if (missing > INT64_MAX || __builtin_add_overflow(gaps, (int64_t)missing, &gaps))
      gaps = INT64_MAX;
    next = p->last_rowid + (p->last_rowid < INT64_MAX);
    any = true;
  }
  if (gaps)
    nai_ingest_note(x->out->tables[NAI_IN_EXTRACT_NOTES], "rows-missing", "warning", scan->table, gaps,
                    "rowids between the first and the last row have none: deleted after the export, or lost to damage; "
                    "export again if nobody deleted any");
}

/* Whether an earlier scan reads the same table, for another source. */
static bool read_before(const struct extraction *x, int s) {
  for (int i = 0; i < s; i++)
    if (strcmp(x->scans[i].table, x->scans[s].table) == 0)
      return true;
  return false;
}

/* Counts of one source table over its parts, reader and drops. */
static int note_scan(struct extraction *x, int s, struct nai_err *err) {
  const struct nai_scan *scan = &x->scans[s];
  int64_t dropped[NAI_DROP_COUNT] = {0}, open_ranges = 0, clipped = 0, bad_sizes = 0, long_payloads = 0, rows = 0;
  uint64_t total_ns = 0, total_bytes = 0;
  for (int i = 0; i < x->part_count; i++) {
    const struct nai_part *p = &x->parts[i];
    if (p->scan != scan)
      continue;
    for (int d = 0; d < NAI_DROP_COUNT; d++)
      dropped[d] += p->dropped[d];
    open_ranges += p->open_ranges;
    clipped += p->clipped;
    rows += p->limit;
    bad_sizes += p->bad_sizes;
    long_payloads += p->long_payloads;
    if (__builtin_add_overflow(total_ns, p->total_ns, &total_ns))
      total_ns = UINT64_MAX;
    if (__builtin_add_overflow(total_bytes, p->total_bytes, &total_bytes))
      total_bytes = UINT64_MAX;
  }
  /* Everything later adds durations and sizes of one table in int64. */
  if (total_bytes > (uint64_t)INT64_MAX / 4)
    return nai_err_set(err, NAI_EINPUT, "table \"%s\": sizes add up to more than 2 EiB; they cannot be right",
                       scan->table);
  if (total_ns > (uint64_t)INT64_MAX / 4)
    return nai_err_set(err, NAI_EINPUT,
                       "table \"%s\": durations add up to more than 73 years; the times cannot be right", scan->table);
  for (int d = 0; d < NAI_DROP_COUNT; d++)
    if (dropped[d])
      nai_ingest_note(x->out->tables[NAI_IN_EXTRACT_NOTES], drops[d].check, "warning", scan->table, dropped[d],
                      drops[d].detail);
  if (!read_before(x, s))
    note_gaps(x, scan);
  if (open_ranges)
    nai_ingest_note(x->out->tables[NAI_IN_EXTRACT_NOTES], "open-ranges", "info", scan->table, open_ranges,
                    "ranges still open when the capture ended; counted until the last timestamp");
  if (bad_sizes)
    nai_ingest_note(x->out->tables[NAI_IN_EXTRACT_NOTES], "bad-sizes", "warning", scan->table, bad_sizes,
                    "the size is no possible number of bytes; counted as 0");
  if (long_payloads)
    nai_ingest_note(x->out->tables[NAI_IN_EXTRACT_NOTES], "long-payloads", "info", scan->table, long_payloads,
                    "payloads of more than 4 KiB; their size is kept, their bytes are not");
  if (clipped)
    nai_ingest_note(x->out->tables[NAI_IN_EXTRACT_NOTES], "clipped-rows", "info", scan->table, clipped,
                    "cut at the edges of the trimmed window");
  struct nai_table *readers = x->out->tables[NAI_IN_READERS];
  if (read_before(x, s))
    return NAI_OK;
  int64_t row = nai_table_add_row(readers);
  nai_set_str(readers, row, RD_TABLE, scan->table);
  nai_set_str(readers, row, RD_READER, scan->reader);
  nai_set_i64(readers, row, RD_ROWS, rows);
  nai_set_str(readers, row, RD_REASON, scan->reason);
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
  for (int s = 0; !rc && s < x.scan_count; s++)
    rc = note_scan(&x, s, err);
  if (!rc)
    rc = nai_describe(&x, err);
  for (int i = NAI_IN_EXTRACT_NOTES; !rc && i < NAI_IN_FIRST_EVENTS; i++)
    if (nai_wanted(&x, i))
      rc = nai_table_check(out->tables[i], err);
  free_extraction(&x);
  return rc;
}
