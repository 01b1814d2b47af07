/* What reading the rows found out about them: notes for data_quality, and which reader read which table. */
#include "trace/extraction.h"
#include "tables/readers.h"

void nai_ingest_note(struct nai_table *notes, const char *check, const char *severity, const char *source,
                     int64_t count, const char *detail) {
  const struct PROBE_NOTES_row note = {check, severity, source, count, detail};
  nai_table_add(notes, notes->schema, &note); /* of probe, or of extract, which has the same columns */
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
    [NAI_DROP_VALUE] = {NAI_CHECK_WITHOUT_VALUE, NAI_DETAIL_WITHOUT_VALUE},
};

/* Exporters number rows without gaps. Where some are missing, somebody deleted them or damage took them: the pages do
 * not tell. */
static void note_gaps(struct extraction *x, const struct nai_intake *intake) {
  const struct nai_scan *scan = &x->scans[intake->scan];
  const struct nai_db_table *table = nai_trace_table(x->trace, scan->table);
  int64_t gaps = 0, next = 0;
  bool any = false;
  for (int i = 0; i < table->column_count; i++)
    if (table->columns[i].rowid_alias) /* numbers with a meaning of their own */
      return;
  for (int i = 0; table->rowid_name && i < x->part_count; i++) {
    const struct nai_part *p = &x->parts[i];
    if (p->intake != intake || !p->read)
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

/* Whether an earlier intake has the same table: it has spoken for it. */
static bool read_before(const struct extraction *x, const struct nai_intake *intake) {
  for (const struct nai_intake *i = x->intakes; i < intake; i++)
    if (strcmp(x->scans[i->scan].table, x->scans[intake->scan].table) == 0)
      return true;
  return false;
}

/* What the parts of an intake noticed. */
struct noticed {
  int64_t dropped[NAI_DROP_COUNT], open_ranges, clipped, bad_sizes, long_payloads, cut_names, doubtful_names, rows;
  uint64_t total_ns, total_bytes; /* saturating */
};

static struct noticed add_parts(const struct extraction *x, const struct nai_intake *intake) {
  struct noticed all = {0};
  for (int i = 0; i < x->part_count; i++) {
    const struct nai_part *p = &x->parts[i];
    if (p->intake != intake)
      continue;
    for (int d = 0; d < NAI_DROP_COUNT; d++)
      all.dropped[d] += p->dropped[d];
    all.open_ranges += p->open_ranges;
    all.clipped += p->clipped;
    all.bad_sizes += p->bad_sizes;
    all.long_payloads += p->long_payloads;
    all.cut_names += p->cut_names;
    all.doubtful_names += p->doubtful_names;
    all.rows += p->limit;
    nai_sum_add(&all.total_ns, p->total_ns);
    nai_sum_add(&all.total_bytes, p->total_bytes);
  }
  return all;
}

/* Everything later adds durations and sizes of one table in int64. */
static int check_sums(const struct noticed *all, const char *table, struct nai_err *err) {
  if (all->total_bytes > (uint64_t)INT64_MAX / 4)
    return nai_err_set(err, NAI_EINPUT, "table \"%s\": sizes add up to more than 2 EiB; they cannot be right", table);
  if (all->total_ns > (uint64_t)INT64_MAX / 4)
    return nai_err_set(err, NAI_EINPUT,
                       "table \"%s\": durations add up to more than 73 years; the times cannot be right", table);
  return NAI_OK;
}

static void note(struct nai_table *notes, const char *check, const char *severity, const char *table, int64_t count,
                 const char *detail) {
  if (count)
    nai_ingest_note(notes, check, severity, table, count, detail);
}

int nai_note_intake(struct extraction *x, const struct nai_intake *intake, struct nai_err *err) {
  const struct nai_scan *scan = &x->scans[intake->scan];
  struct nai_table *notes = x->out->tables[NAI_IN_EXTRACT_NOTES];
  const struct noticed all = add_parts(x, intake);
  bool first = !read_before(x, intake);
  NAI_TRY(check_sums(&all, scan->table, err));
  for (int d = 0; d < NAI_DROP_COUNT; d++)
    note(notes, drops[d].check, "warning", scan->table, all.dropped[d], drops[d].detail);
  if (first)
    note_gaps(x, intake);
  note(notes, "open-ranges", "info", scan->table, all.open_ranges,
       "ranges still open when the capture ended; counted until the last timestamp");
  note(notes, "bad-sizes", "warning", scan->table, all.bad_sizes,
       "the size is no possible number of bytes; counted as 0");
  note(notes, "long-payloads", "info", scan->table, all.long_payloads,
       "payloads of more than 4 KiB; their size is kept, their bytes are not");
  note(notes, "clipped-rows", "info", scan->table, all.clipped, "cut at the edges of the trimmed window");
  if (first)
    NAI_ADD(READERS, x->out->tables[NAI_IN_READERS], .source_table = scan->table, .reader = scan->reader,
            .rows = all.rows, .reason = scan->reason, .cut_names = all.cut_names, .doubtful_names = all.doubtful_names);
  return NAI_OK;
}
