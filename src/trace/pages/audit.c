/* SQLite believes what pages and the heads of rows say, though rows may be missing then, or values be others: so all
 * pages and rows of a table are looked at before SQLite reads it, or looks up a few of its rows. */
#include "trace/pages/pages.h"

#include "trace/scan_internal.h"

/* --- leaves that nothing refers to ------------------------------------------------------------ */

/* Whether all rows of a leaf page could be the table's. */
static bool holds_rows_of(const struct nai_pages *pages, uint32_t page, const struct nai_db_table *table) {
  const unsigned char *data = nai_page_at(pages, page);
  uint32_t cells = nai_be16(data + 3);
  bool fits = 8 + 2 * cells <= pages->usable_bytes;
  for (uint32_t i = 0; i < cells && fits; i++) {
    uint32_t at = nai_be16(data + 8 + 2 * i);
    int64_t rowid;
    struct nai_payload payload;
    fits = at <= pages->usable_bytes - 4 && !nai_leaf_cell(&rowid, &payload, pages, data, at) &&
           nai_record_fits(&payload, table);
  }
  return fits;
}

/* SQLite leaves no page behind. Where a whole page was written over, with one that fits in its place by itself, nothing
 * but the pages that belonged to it tell that rows are missing. */
int nai_pages_check_strays(const struct nai_pages *pages, const struct nai_db_table *table, struct nai_err *err) {
  for (uint32_t i = 0; i < pages->stray_count; i++)
    if (holds_rows_of(pages, pages->stray[i], table))
      return nai_page_damaged(err, pages->stray[i], "it has rows like this table's, and nothing refers to it");
  return NAI_OK;
}

/* --- the rows of a table ---------------------------------------------------------------------- */

struct audit {
  const struct nai_pages *pages;
  struct nai_row_rules rules;
  uint64_t *types; /* of the columns looked at */
  uint32_t *offsets;
  struct nai_buf head;
};

static void audit_free(struct audit *audit) { nai_buf_free(&audit->head); }

static int check_leaf(struct audit *audit, const struct nai_leaves *leaves, uint32_t leaf, const unsigned char *data,
                      struct nai_err *err) {
  struct nai_leaf_walk walk;
  struct nai_record_head head;
  struct nai_payload payload = {0};
  int64_t rowid;
  NAI_TRY(nai_leaf_walk(&walk, audit->pages, leaves, leaf, data, err));
  while (walk.next < walk.cells) {
    NAI_TRY(nai_leaf_next(&walk, &rowid, &payload, err));
    if (payload.link)
      NAI_TRY(nai_overflow_check(audit->pages, &payload, err));
    NAI_TRY(
        nai_record_head(&head, audit->types, audit->offsets, &audit->rules, audit->pages, &payload, &audit->head, err));
  }
  return nai_leaf_end(&walk, err);
}

static int check_rows(const struct nai_pages *pages, const struct nai_db_table *table, int looked_at,
                      struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(audit) audit = {.pages = pages, .rules = nai_row_rules_of(table, looked_at)};
  struct nai_leaves leaves;
  struct nai_window window = {.pages = pages, .arena = &arena};
  NAI_TRY(nai_leaves_find(&leaves, pages, (uint32_t)table->rootpage, &arena, err));
  NAI_TRY(nai_pages_check_strays(pages, table, err));
  NAI_TRY(NAI_NEW(audit.types, &arena, (size_t)looked_at, err));
  NAI_TRY(NAI_NEW(audit.offsets, &arena, (size_t)looked_at, err));
  for (uint32_t i = 0; i < leaves.count; i++) {
    const unsigned char *data;
    NAI_TRY(nai_window_leaf(&data, &window, &leaves, i, leaves.count, err));
    NAI_TRY(check_leaf(&audit, &leaves, i, data, err));
  }
  return NAI_OK;
}

/* --- what only SQLite can read ---------------------------------------------------------------- */

/* The first thing that quick_check says, behind a line that names the database. */
static int damage_found(const char *said, sqlite3 *db, struct nai_err *err) {
  int failed = nai_sqlite_unread(db);
  if (failed)
    return nai_err_sys(err, NAI_EINPUT, failed, "cannot check it");
  const char *behind = strncmp(said, "***", 3) == 0 ? strchr(said, '\n') : NULL, *line = behind ? behind + 1 : said;
  const char *unread = strstr(line, "error code="); /* SQLITE_CORRUPT is 11 */
  if (unread && strncmp(unread, "error code=11", 13) != 0)
    return nai_err_set(err, NAI_EINPUT, "cannot check it: %.*s", (int)strcspn(line, "\n"), line);
  return nai_err_damaged(err, "the file is damaged: %.*s", (int)strcspn(line, "\n"), line);
}

/* SQLite's own look. */
static int quick_check(const struct nai_trace *trace, const struct nai_db_table *table, struct nai_err *err) {
  NAI_SCOPED(nai_loan) loan = {0};
  NAI_OWNED(sqlite3_stmt) *stmt = NULL;
  NAI_TRY(nai_trace_borrow(&loan, trace, err));
  NAI_TRY(nai_scan_prepare(&stmt, loan.db, "PRAGMA main.quick_check($)", table, 0, err));
  int step = sqlite3_step(stmt);
  const char *found = step == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
  if (!found)
    return nai_sqlite_fail(err, loan.db, step == SQLITE_ROW ? SQLITE_NOMEM : step, "cannot check it");
  return strcmp(found, "ok") == 0 ? NAI_OK : damage_found(found, loan.db, err);
}

/* --- both ------------------------------------------------------------------------------------- */

int nai_pages_check(const struct nai_trace *trace, const struct nai_db_table *table, const int *columns,
                    int column_count, struct nai_err *err) {
  int looked_at = 0;
  if (nai_pages_refuse(trace, table, columns, column_count))
    return quick_check(trace, table, err);
  for (int i = 0; i < column_count; i++)
    if (!table->columns[columns[i]].rowid_alias && columns[i] >= looked_at)
      looked_at = columns[i] + 1;
  return nai_pages_intact(trace->pages, check_rows(trace->pages, table, looked_at, err), err);
}

int nai_pages_check_schema(const struct nai_trace *trace, struct nai_err *err) {
  /* type, name, tbl_name, rootpage, sql */
  struct nai_db_column columns[] = {{.text_affinity = true},
                                    {.text_affinity = true},
                                    {.text_affinity = true},
                                    {.name = NULL},
                                    {.text_affinity = true}};
  static const int all[] = {0, 1, 2, 3, 4};
  enum { COLUMNS = sizeof all / sizeof *all };
  const struct nai_db_table schema = {.name = "sqlite_schema",
                                      .kind = "table",
                                      .rowid_name = "rowid",
                                      .rootpage = 1,
                                      .plain = true,
                                      .columns = columns,
                                      .column_count = COLUMNS};
  int rc = nai_pages_check(trace, &schema, all, COLUMNS, err);
  return rc ? nai_scan_fail(schema.name, rc, err) : NAI_OK;
}
