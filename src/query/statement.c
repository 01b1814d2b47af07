/* One statement: preparing it, and saying where it is wrong. */
#include "query/internal.h"

#include "base/text.h"

/* --- where ---------------------------------------------------------------------------------------- */

static void put_place(struct nai_buf *out, const struct nai_query_text *text, int offset) {
  int line = text->line ? text->line : 1, column = text->column ? text->column : 1;
  for (int i = 0; i < offset && text->sql[i]; i++) {
    column += ((unsigned char)text->sql[i] & 0xC0) != 0x80;
    if (text->sql[i] == '\n') {
      line++;
      column = 1 + text->indent;
    }
  }
  if (offset >= 0)
    nai_buf_printf(out, "%s:%d:%d: ", text->label, line, column);
  else
    nai_buf_printf(out, "%s: ", text->label);
}

/* --- did you mean --------------------------------------------------------------------------------- */

/* The word behind `prefix` in a message of SQLite, without what stands in front of its last dot. */
static bool word_of(char word[NAI_COLUMN_NAME_MAX], const char *message, const char *prefix) {
  if (strncmp(message, prefix, strlen(prefix)) != 0)
    return false;
  const char *name = message + strlen(prefix), *dot = strrchr(name, '.');
  snprintf(word, NAI_COLUMN_NAME_MAX, "%s", dot ? dot + 1 : name);
  return *word;
}

/* total_ns and total_time_ns: columns are called by what, of what and a unit, and the middle is what one forgets. */
static bool shares_ends(const char *word, const char *candidate) {
  size_t first = strcspn(word, "_") + 1;
  const char *unit = strrchr(word, '_'), *other = strrchr(candidate, '_');
  return unit && other && strncmp(word, candidate, first) == 0 && strcmp(unit, other) == 0;
}

static void consider(const char **best, int *distance, const char *word, const char *candidate) {
  const char *near = nai_text_suggest(word, &candidate, 1);
  bool worth = near || shares_ends(word, candidate);
  int d = worth ? nai_text_distance(word, candidate) : 0;
  if (worth && d < *distance) {
    *best = candidate;
    *distance = d;
  }
}

static bool mentions(const char *sql, const char *name) {
  size_t len = strlen(name);
  for (const char *at = sql; *at; at++)
    if ((at == sql || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')) &&
        sqlite3_strnicmp(at, name, (int)len) == 0 && !isalnum((unsigned char)at[len]) && at[len] != '_')
      return true;
  return false;
}

/* The nearest column of the tables and views that the statement names. */
static void suggest_column(struct nai_buf *out, struct nai_database *db, const char *sql, const char *word) {
  char best[NAI_COLUMN_NAME_MAX] = "";
  int distance = 1 << 20;
  for (uint32_t i = 0; i < db->sql.table_count; i++) {
    const struct nai_sql_table *t = &db->sql.tables[i];
    for (int c = 0; t->table && mentions(sql, t->name) && c < t->column_count; c++) {
      char name[NAI_COLUMN_NAME_MAX];
      const char *near = NULL;
      nai_display_column_name(name, t->table->schema, &t->columns[c].print);
      consider(&near, &distance, word, name);
      if (near)
        snprintf(best, sizeof best, "%s", near);
    }
  }
  for (int i = 0; nai_query_views[i][0]; i++) {
    sqlite3_stmt *statement = NULL;
    char *select =
        mentions(sql, nai_query_views[i][0]) ? sqlite3_mprintf("SELECT * FROM %s", nai_query_views[i][0]) : NULL;
    if (select && sqlite3_prepare_v2(db->sql.sqlite, select, -1, &statement, NULL) == SQLITE_OK)
      for (int c = 0; c < sqlite3_column_count(statement); c++) {
        const char *near = NULL;
        consider(&near, &distance, word, sqlite3_column_name(statement, c));
        if (near)
          snprintf(best, sizeof best, "%s", near);
      }
    sqlite3_finalize(statement);
    sqlite3_free(select);
  }
  if (*best && strcmp(best, word) != 0) /* else the column is there, but not where the statement looks for it */
    nai_buf_printf(out, "; did you mean %s?", best);
}

/* Whether only --raw is missing. */
static bool is_of_export(const struct nai_database *db, const char *table) {
  return !db->raw && nai_strings_find(&nai_run_manifest(db->run)->tables, table, strlen(table)) != NAI_NO_STRING;
}

static void suggest_table(struct nai_buf *out, const struct nai_database *db, const char *word) {
  const char *best = NULL;
  int distance = 1 << 20;
  if (is_of_export(db, word)) {
    nai_buf_printf(out, "; the export has it: nsys-ai sql SRC --raw TRACE reads it as raw.%s", word);
    return;
  }
  if (nai_run_has(db->run, "capture") && !nai_run_has(db->run, "findings")) {
    nai_buf_puts(out, "; the run stopped early (--stage) and lacks tables: analyze its trace again without");
    return;
  }
  for (uint32_t i = 0; i < db->sql.table_count; i++)
    consider(&best, &distance, word, db->sql.tables[i].name);
  for (int i = 0; nai_database_has_model(db->run) && nai_query_views[i][0]; i++)
    consider(&best, &distance, word, nai_query_views[i][0]);
  if (best)
    nai_buf_printf(out, "; did you mean %s?", best);
  else
    nai_buf_puts(out, "; nsys-ai sql SRC --schema lists the tables");
}

/* Where a message that has no place names a word of the statement. */
static int offset_of(const char *sql, const char *message) {
  char word[NAI_COLUMN_NAME_MAX];
  const char *at = word_of(word, message, "no such table: ") ? strstr(sql, word) : NULL;
  return at ? (int)(at - sql) : -1;
}

static void put_hint(struct nai_buf *out, struct nai_database *db, const char *sql, const char *message) {
  char word[NAI_COLUMN_NAME_MAX];
  if (word_of(word, message, "no such column: "))
    suggest_column(out, db, sql, word);
  else if (word_of(word, message, "no such table: "))
    suggest_table(out, db, word);
  else if (strncmp(message, "near \"check\"", strlen("near \"check\"")) == 0)
    nai_buf_puts(out, "; check is a keyword: as a column it is written \"check\"");
}

int nai_statement_error(struct nai_database *db, int code, const struct nai_query_text *text, struct nai_err *err) {
  NAI_SCOPED(nai_buf) message = {0}, said = {0};
  int offset = sqlite3_error_offset(db->sql.sqlite);
  nai_buf_puts(&said, sqlite3_errmsg(db->sql.sqlite)); /* suggestions use the connection */
  const char *what = nai_buf_str(&said);
  if (said.oom || code == SQLITE_NOMEM)
    return nai_err_set(err, NAI_ELIMIT, "%s: the statement needs more memory than it may take (--max-memory)",
                       text->label);
  put_place(&message, text, offset >= 0 ? offset : offset_of(text->sql, what));
  if (db->sql.failure.code) {
    nai_buf_puts(&message, db->sql.failure.msg);
  } else if (code == SQLITE_AUTH) {
    nai_buf_printf(&message, "%s: statements can only read the run%s", what,
                   db->raw ? ", and of the export what is known to hold no secrets" : "");
  } else {
    nai_buf_puts(&message, what);
    put_hint(&message, db, text->sql, what);
  }
  return nai_err_set(err, db->sql.failure.code ? db->sql.failure.code : NAI_EUSAGE, "%s", nai_buf_str(&message));
}

static int mistake(const struct nai_query_text *text, int offset, const char *what, struct nai_err *err) {
  NAI_SCOPED(nai_buf) message = {0};
  put_place(&message, text, offset);
  nai_buf_puts(&message, what);
  return nai_err_set(err, NAI_EUSAGE, "%s", nai_buf_str(&message));
}

/* --- preparing ------------------------------------------------------------------------------------ */

/* Nothing but blanks, comments and ";" may follow. */
static int check_tail(struct nai_database *db, const struct nai_query_text *text, const char *tail,
                      struct nai_err *err) {
  while (*tail) {
    sqlite3_stmt *more = NULL;
    const char *next = tail;
    int rc = sqlite3_prepare_v2(db->sql.sqlite, tail, -1, &more, &next);
    bool empty = rc == SQLITE_OK && !more;
    sqlite3_finalize(more);
    if (!empty)
      return mistake(text, (int)(tail + strspn(tail, " \t\r\n") - text->sql), "one statement at a time", err);
    if (next == tail)
      break;
    tail = next;
  }
  return NAI_OK;
}

static int bind_one(sqlite3_stmt *statement, int index, const struct nai_value *value) {
  if (value->null)
    return sqlite3_bind_null(statement, index);
  if (value->type == NAI_STR)
    return sqlite3_bind_text(statement, index, value->s, -1, SQLITE_STATIC);
  return value->type == NAI_F64 ? sqlite3_bind_double(statement, index, value->f)
                                : sqlite3_bind_int64(statement, index, value->i);
}

static int bind(sqlite3_stmt *statement, const struct nai_query *query, struct nai_err *err) {
  for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
    const char *name = sqlite3_bind_parameter_name(statement, i);
    size_t p = 0;
    while (name && p < query->parameter_count && strcmp(name + 1, query->parameters[p].name) != 0)
      p++;
    if (!name || p == query->parameter_count) {
      char what[256];
      const char *at = name ? strstr(query->text->sql, name) : strchr(query->text->sql, '?');
      snprintf(what, sizeof what, "the parameter %.60s has no value; give it one with --param %.60s=VALUE",
               name ? name : "?", name ? name + 1 : "NAME");
      return mistake(query->text, at ? (int)(at - query->text->sql) : -1, name ? what : "parameters have names: :name",
                     err);
    }
    if (bind_one(statement, i, &query->parameters[p].value) != SQLITE_OK)
      return mistake(query->text, -1, "a parameter's value is too long", err);
  }
  return NAI_OK;
}

static int check(struct nai_database *db, sqlite3_stmt *statement, const struct nai_query_text *text, const char *tail,
                 struct nai_err *err) {
  if (!statement)
    return mistake(text, 0, "there is no statement", err);
  if (!sqlite3_stmt_readonly(statement) || !sqlite3_column_count(statement))
    return mistake(text, 0, "statements can only read the run: SELECT or WITH ... SELECT", err);
  return check_tail(db, text, tail, err);
}

/* Prepares a statement, for messages that of the query, once those of the query's first `count` tables that it reads
 * are made. */
static int prepare(sqlite3_stmt **out, const char **tail, struct nai_database *db, const struct nai_query *query,
                   size_t count, const char *sql, struct nai_err *err);

/* Makes a table of the rows of its statement. */
static int make_table(struct nai_database *db, const struct nai_query *query, size_t number, struct nai_err *err) {
  const struct nai_query_table *table = &query->tables[number];
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_buf) label = {0};
  sqlite3_stmt *statement = NULL;
  const char *tail;
  nai_buf_printf(&label, "%s: table %s", query->text->label, table->name);
  nai_buf_printf(&sql, "CREATE TEMP TABLE %s AS %s", table->name, table->sql);
  NAI_TRY(nai_buf_check(&label, err));
  NAI_TRY(nai_buf_check(&sql, err));
  const struct nai_query_text text = {.sql = nai_buf_str(&sql), .label = nai_buf_str(&label)};
  struct nai_query making = *query;
  making.text = &text;
  int code, rc = prepare(&statement, &tail, db, &making, number, text.sql, err);
  if (!rc)
    rc = check_tail(db, &text, tail, err);
  if (!rc)
    rc = bind(statement, &making, err);
  if (!rc && (code = sqlite3_step(statement)) != SQLITE_DONE)
    rc = nai_statement_error(db, code, &text, err);
  sqlite3_finalize(statement);
  return rc;
}

/* The first of the query's tables whose name a message has; `count`: none. */
static size_t missing_table(const struct nai_query *query, size_t count, const char *message) {
  char word[NAI_COLUMN_NAME_MAX];
  size_t i = word_of(word, message, "no such table: ") ? 0 : count;
  while (i < count && strcmp(query->tables[i].name, word) != 0)
    i++;
  return i;
}

static int prepare(sqlite3_stmt **out, const char **tail, struct nai_database *db, const struct nai_query *query,
                   size_t count, const char *sql, struct nai_err *err) {
  int code, rc = NAI_OK;
  while (!rc && (code = sqlite3_prepare_v2(db->sql.sqlite, sql, -1, out, tail)) != SQLITE_OK) {
    size_t missing = missing_table(query, count, sqlite3_errmsg(db->sql.sqlite));
    rc = missing < count ? make_table(db, query, missing, err) : nai_statement_error(db, code, query->text, err);
  }
  return rc;
}

/* Prepares the query's statement, with what it may read beside the run. */
static int prepare_all(sqlite3_stmt **out, const char **tail, struct nai_database *db, const struct nai_query *query,
                       const char *sql, struct nai_err *err) {
  if (!query->table_count)
    return prepare(out, tail, db, query, 0, sql, err);
  for (size_t i = 0; i < query->table_count; i++)
    if (nai_query_has(db->run, query->tables[i].name))
      return nai_err_set(err, NAI_EUSAGE, "%s: the run has a table %s; give this one another name", query->text->label,
                         query->tables[i].name);
  int code = nai_sql_make(&db->sql, true);
  int rc = code == SQLITE_OK ? prepare(out, tail, db, query, query->table_count, sql, err) : NAI_OK;
  code = code == SQLITE_OK ? nai_sql_make(&db->sql, false) : code;
  return rc || code == SQLITE_OK ? rc : nai_statement_error(db, code, query->text, err);
}

int nai_statement_prepare(sqlite3_stmt **out, struct nai_database *db, const struct nai_query *query,
                          struct nai_err *err) {
  static const char explain[] = "EXPLAIN QUERY PLAN ";
  const struct nai_query_text *text = query->text;
  bool explains = query->mode == NAI_QUERY_EXPLAIN;
  NAI_SCOPED(nai_buf) sql = {0};
  const char *tail = NULL;
  *out = NULL;
  nai_buf_printf(&sql, "%s%s", explains ? explain : "", text->sql);
  NAI_TRY(nai_buf_check(&sql, err));
  NAI_TRY(prepare_all(out, &tail, db, query, nai_buf_str(&sql), err));
  tail = text->sql + (tail - nai_buf_str(&sql)) - (explains ? strlen(explain) : 0);
  NAI_TRY(check(db, *out, text, tail, err));
  return explains ? NAI_OK : bind(*out, query, err);
}
