/* Tables of the export beside those of the run. */
#include "query/internal.h"

#include "trace/raw.h"

#include <strings.h>

static const char texts_name[] = "StringIds";

/* The statement names it; a word in a comment costs a moment, no more. */
static bool mentions(const char *sql, const char *name) {
  for (size_t len = strlen(name); *sql; sql++)
    if (strncasecmp(sql, name, len) == 0)
      return true;
  return false;
}

/* The texts that may be shown, as a table of this database: it hides the export's own. */
static int copy_texts(struct nai_database *db, const struct nai_trace *raw) {
  NAI_SCOPED(nai_buf) sql = {0};
  nai_buf_puts(&sql, "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds ");
  size_t before = sql.len;
  nai_raw_put_names(&sql, raw, "raw");
  return sql.oom ? SQLITE_NOMEM
                 : sqlite3_exec(db->sql.sqlite, sql.len > before ? nai_buf_str(&sql) : "SELECT 1", NULL, NULL, NULL);
}

int nai_raw_attach(struct nai_database *db, const struct nai_query *query, struct nai_err *err) {
  sqlite3_stmt *attach = NULL;
  db->raw = query->raw;
  if (!query->raw)
    return NAI_OK;
  int rc = sqlite3_prepare_v2(db->sql.sqlite, "ATTACH :uri AS raw", -1, &attach, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_bind_text(attach, 1, query->raw->uri, -1, SQLITE_STATIC);
  if (rc == SQLITE_OK)
    rc = sqlite3_step(attach) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
  sqlite3_finalize(attach);
  sqlite3_db_config(db->sql.sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL); /* before anything of it is read */
  sqlite3_db_config(db->sql.sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  if (rc == SQLITE_OK)
    rc = sqlite3_exec(db->sql.sqlite, "PRAGMA raw.cell_size_check=1", NULL, NULL, NULL);
  if (rc == SQLITE_OK && mentions(query->text->sql, texts_name))
    rc = copy_texts(db, query->raw);
  return rc == SQLITE_OK
           ? NAI_OK
           : nai_err_set(err, NAI_EINPUT, "cannot read \"%s\": %s", query->raw->path, sqlite3_errmsg(db->sql.sqlite));
}

/* SQLite does not say of which database a table is whose columns do not matter, as for count(*). */
bool nai_raw_is_hidden(const struct nai_database *db, const char *database, const char *table) {
  if (!db->raw || (database && strcmp(database, "raw") != 0))
    return false;
  const struct nai_db_table *found = nai_trace_table(db->raw, table);
  bool ours = !database && (nai_sql_find(&db->sql, table) || strcasecmp(table, texts_name) == 0);
  return found ? !ours && !nai_raw_is_shown(found) : database != NULL;
}
