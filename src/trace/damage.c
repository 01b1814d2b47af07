/* Damage inside of a table. Where the numbers of all other tables stay right without it, it costs that table and
 * nothing else: none of its rows is used, since those that happen to be readable would tell half of a story. What is
 * said about it does not depend on the reader that noticed. */
#include "trace/extraction.h"
#include "trace/scan_internal.h"

#include "base/fmt.h"

bool nai_damage_is_borne(char why[160], const struct nai_source *source, int rc, const struct nai_err *err) {
  if (rc != NAI_EINPUT || !err->damaged || source->vital)
    return false;
  snprintf(why, 160, "%.159s", err->msg);
  return true;
}

/* --- how much is lost ------------------------------------------------------------------------- */

struct extent {
  int64_t found; /* rows from the first on, until the damage */
  int64_t last;  /* highest rowid, which is how many rows an exporter wrote; 0 where it cannot be told */
};

/* Rows that can be reached. A page that is met twice would bring the same rows again: they end the walk. */
static int walk(struct extent *extent, sqlite3 *db, const struct nai_db_table *table, struct nai_err *err) {
  NAI_OWNED(sqlite3_stmt) *stmt = NULL;
  const char *sql = table->rowid_name ? "SELECT @ FROM main.$ NOT INDEXED" : "SELECT 0 FROM main.$";
  int64_t last = INT64_MIN;
  NAI_TRY(nai_scan_prepare(&stmt, db, sql, table, 0, err));
  for (int step; (step = sqlite3_step(stmt)) != SQLITE_DONE; extent->found++) {
    int64_t rowid = table->rowid_name && step == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : extent->found;
    if (step == SQLITE_NOMEM)
      return nai_err_nomem(err);
    if (step != SQLITE_ROW || rowid <= last)
      break;
    last = rowid;
  }
  return NAI_OK;
}

static int find_last(struct extent *extent, sqlite3 *db, const struct nai_db_table *table, uint64_t file_bytes,
                     struct nai_err *err) {
  NAI_OWNED(sqlite3_stmt) *stmt = NULL;
  if (!table->rowid_name)
    return NAI_OK;
  NAI_TRY(nai_scan_prepare(&stmt, db, "SELECT max(@) FROM main.$ NOT INDEXED", table, 0, err));
  if (sqlite3_step(stmt) == SQLITE_ROW)
    extent->last = sqlite3_column_int64(stmt, 0);
  if (extent->last < 0 || (uint64_t)extent->last > file_bytes) /* no row takes less than a byte */
    extent->last = 0;
  return NAI_OK;
}

static int measure(struct extent *extent, const struct nai_trace *trace, const struct nai_db_table *table,
                   struct nai_err *err) {
  NAI_OWNED(sqlite3) *db = NULL;
  /* A connection that has met the damage before keeps pages that it did not look through: it may come further. */
  NAI_TRY(nai_trace_connect(&db, trace, err));
  NAI_TRY(walk(extent, db, table, err));
  return find_last(extent, db, table, trace->size_bytes, err);
}

int nai_damage_note(struct nai_table *notes, struct nai_trace *trace, const char *name, struct nai_err *err) {
  struct extent extent = {0};
  NAI_SCOPED(nai_buf) detail = {0};
  NAI_TRY(measure(&extent, trace, nai_trace_table(trace, name), err));
  nai_buf_puts(&detail, "the table is damaged and left out as a whole; ");
  if (extent.found)
    nai_fmt_count(&detail, extent.found);
  else
    nai_buf_puts(&detail, "none");
  if (extent.last > extent.found) {
    nai_buf_puts(&detail, " of about ");
    nai_fmt_count(&detail, extent.last);
  }
  nai_buf_puts(&detail, " rows can be found; the numbers of other tables do not depend on it");
  NAI_TRY(nai_buf_check(&detail, err));
  nai_ingest_note(notes, NAI_CHECK_DAMAGE, "error", name, extent.last > extent.found ? extent.last : extent.found,
                  detail.data);
  return NAI_OK;
}

/* --- leaving it out --------------------------------------------------------------------------- */

/* Parts that found damage speak for their scan. */
static void hear_parts(struct extraction *x) {
  for (int i = 0; i < x->part_count; i++) {
    struct nai_part *p = &x->parts[i];
    int s = (int)(p->scan - x->scans);
    if (!p->damaged || x->scan_damaged[s])
      continue;
    x->scan_damaged[s] = true;
    memcpy(p->scan->reason, p->why, sizeof p->scan->reason);
  }
}

/* Another scan of the same table reads other columns: it may not have met the damage. */
static void spread(struct extraction *x) {
  for (int s = 0; s < x->scan_count; s++)
    for (int i = 0; i < x->scan_count && x->scan_damaged[s]; i++)
      x->scan_damaged[i] |= !x->scan_vital[i] && strcmp(x->scans[i].table, x->scans[s].table) == 0;
}

static void drop_parts(struct extraction *x) {
  int kept = 0;
  for (int i = 0; i < x->part_count; i++) {
    if (!x->scan_damaged[x->parts[i].scan - x->scans])
      x->parts[kept++] = x->parts[i];
    else
      nai_part_free(&x->parts[i]);
  }
  x->part_count = kept;
}

static bool is_noted(const struct nai_table *notes, const char *table) {
  for (int64_t i = 0; i < notes->rows; i++)
    if (strcmp(nai_get_str(notes, i, PROBE_NOTES_check), NAI_CHECK_DAMAGE) == 0 &&
        strcmp(nai_get_str(notes, i, PROBE_NOTES_source_table), table) == 0)
      return true;
  return false;
}

int nai_damage_settle(struct extraction *x, struct nai_err *err) {
  struct nai_table *const *tables = x->out->tables;
  hear_parts(x);
  spread(x);
  drop_parts(x);
  for (int s = 0; s < x->scan_count; s++) {
    const char *table = x->scans[s].table;
    if (x->scan_damaged[s] && !is_noted(tables[NAI_IN_PROBE_NOTES], table) &&
        !is_noted(tables[NAI_IN_EXTRACT_NOTES], table))
      NAI_TRY(nai_damage_note(tables[NAI_IN_EXTRACT_NOTES], x->trace, table, err));
  }
  return NAI_OK;
}
