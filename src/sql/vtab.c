/* Tables as SQLite reads them: one module, a table each. */
#include "sql/internal.h"

/* Places lo..hi of the rows in `order`, or in their own; with `wanted` only those whose text has its bit set. */
struct cursor {
  sqlite3_vtab_cursor base;
  struct nai_sql_table *t;
  int64_t at, end;
  const uint32_t *order;
  uint32_t *sorted;      /* order, where it is this cursor's own */
  unsigned char *wanted; /* per text of the dictionary: whether a pattern matches; or NULL */
  struct nai_column texts;
};

static int fail(sqlite3_vtab *vtab, struct nai_sql_table *t, const struct nai_err *err) {
  t->sql->failure = *err;
  sqlite3_free(vtab->zErrMsg);
  vtab->zErrMsg = sqlite3_mprintf("%s", err->msg);
  return err->code == NAI_ELIMIT ? SQLITE_NOMEM : SQLITE_ERROR;
}

static const char *declared_type(const struct nai_sql_table *t, int column) {
  const struct nai_display_column *print = &t->columns[column].print;
  enum nai_type type = t->table->schema->columns[print->column].type;
  return type == NAI_STR ? "TEXT" : type == NAI_F64 || t->columns[column].divide != 1 ? "REAL" : "INTEGER";
}

static int declare(sqlite3 *sqlite, const struct nai_sql_table *t, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_buf_puts(&text, "CREATE TABLE t(");
  for (int i = 0; i < t->column_count; i++) {
    char name[NAI_COLUMN_NAME_MAX];
    nai_buf_puts(&text, i ? ",\"" : "\"");
    nai_buf_puts(&text, nai_sql_column_name(name, t, i));
    nai_buf_puts(&text, "\" ");
    nai_buf_puts(&text, declared_type(t, i));
    nai_buf_puts(&text, i < t->shown_count ? "" : " HIDDEN");
  }
  nai_buf_putc(&text, ')');
  NAI_TRY(nai_buf_check(&text, err));
  t->sql->declaring = true;
  int failed = sqlite3_declare_vtab(sqlite, nai_buf_str(&text));
  t->sql->declaring = false;
  if (failed == SQLITE_NOMEM)
    return nai_err_nomem(err);
  return failed ? nai_err_set(err, NAI_EINPUT, "table \"%s\" has columns SQL cannot have: %s", t->name,
                              sqlite3_errmsg(sqlite))
                : NAI_OK;
}

static int vtab_connect(sqlite3 *sqlite, void *table, int argc, const char *const *argv, sqlite3_vtab **out,
                        char **message) {
  struct nai_sql_table *t = table;
  struct nai_err err = {0};
  (void)argc, (void)argv;
  int rc = nai_sql_read(t, &err);
  if (!rc)
    rc = declare(sqlite, t, &err);
  struct nai_vtab *vtab = rc ? NULL : sqlite3_malloc(sizeof *vtab);
  if (rc) {
    t->sql->failure = err;
    *message = sqlite3_mprintf("%s", err.msg);
    return err.code == NAI_ELIMIT ? SQLITE_NOMEM : SQLITE_ERROR;
  }
  if (!vtab)
    return SQLITE_NOMEM;
  *vtab = (struct nai_vtab){.t = t};
  *out = &vtab->base;
  return sqlite3_vtab_config(sqlite, SQLITE_VTAB_INNOCUOUS);
}

static int vtab_disconnect(sqlite3_vtab *vtab) {
  sqlite3_free(vtab);
  return SQLITE_OK;
}

static int vtab_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
  struct cursor *cursor = sqlite3_malloc(sizeof *cursor);
  if (!cursor)
    return SQLITE_NOMEM;
  *cursor = (struct cursor){.t = ((struct nai_vtab *)vtab)->t};
  *out = &cursor->base;
  return SQLITE_OK;
}

static int vtab_close(sqlite3_vtab_cursor *base) {
  struct cursor *cursor = (struct cursor *)base;
  free(cursor->wanted);
  free(cursor->sorted);
  sqlite3_free(cursor);
  return SQLITE_OK;
}

/* --- values of a statement as bounds ------------------------------------------------------------- */

/* A value compared with an integer column, as SQLite compares it: numbers by value, then texts. */
enum comparand { NUMBER, ABOVE_ALL, NO_ROWS };

/* The least integer that is >= (or, with `open`, >) the value; *beyond: none is. */
static enum comparand least_of(int64_t *out, bool *beyond, sqlite3_value *value, bool open) {
  *beyond = false;
  switch (sqlite3_value_numeric_type(value)) {
  case SQLITE_NULL:
    return NO_ROWS;
  case SQLITE_INTEGER:
    *out = sqlite3_value_int64(value);
    *beyond = open && *out == INT64_MAX;
    *out += open && !*beyond;
    return NUMBER;
  case SQLITE_FLOAT: {
    double real = sqlite3_value_double(value), up = open ? floor(real) + 1 : ceil(real);
    *beyond = up >= 0x1p63;
    *out = *beyond ? INT64_MAX : up < -0x1p63 ? INT64_MIN : (int64_t)up;
    return NUMBER;
  }
  default:
    return ABOVE_ALL;
  }
}

/* First place whose value is >= the comparand (with `open` >), or the end. */
static int64_t first_place(const struct cursor *c, int column, sqlite3_value *value, bool open, bool *none) {
  int64_t least, rows = c->t->table->rows;
  bool beyond;
  switch (least_of(&least, &beyond, value, open)) {
  case NUMBER:
    return beyond ? rows : nai_facts_bisect(c->t, column, c->order, least);
  case ABOVE_ALL:
    return rows;
  default:
    *none = true;
    return rows;
  }
}

/* Rows with one text. False: the value is no text, so that all rows are to be tested. */
static bool find_text(struct cursor *c, int column, sqlite3_value *value) {
  if (sqlite3_value_type(value) != SQLITE_TEXT)
    return false;
  const char *text = (const char *)sqlite3_value_text(value);
  uint32_t id = text ? nai_facts_text(c->t, column, text, (size_t)sqlite3_value_bytes(value)) : NAI_NO_STRING;
  if (id == NAI_NO_STRING) {
    c->at = c->end = 0;
    return true;
  }
  c->order = nai_facts_order(c->t, column);
  if (!c->order)
    return false;
  c->at = nai_facts_bisect(c->t, column, c->order, id);
  c->end = nai_facts_bisect(c->t, column, c->order, (int64_t)id + 1);
  return true;
}

static void filter_equal(struct cursor *c, int column, sqlite3_value *value) {
  bool none = false;
  if (sqlite3_value_type(value) == SQLITE_NULL) {
    c->end = 0;
    return;
  }
  if (c->t->table->schema->columns[column].type == NAI_STR) {
    if (!find_text(c, column, value)) {
      c->order = NULL;
      c->at = 0;
      c->end = c->t->table->rows;
    }
    return;
  }
  if (!nai_facts_of(c->t, column)->sorted && !(c->order = nai_facts_order(c->t, column)))
    return; /* no memory: all rows are tested */
  int64_t at = first_place(c, column, value, false, &none), end = first_place(c, column, value, true, &none);
  c->at = none ? 0 : at;
  c->end = none ? 0 : end;
}

static void filter_range(struct cursor *c, int column, int code, sqlite3_value **argv) {
  bool none = false;
  if (code & NAI_PLAN_LOW)
    c->at = first_place(c, column, *argv++, code & NAI_PLAN_LOW_OPEN, &none);
  if (code & NAI_PLAN_HIGH)
    c->end = first_place(c, column, *argv, !(code & NAI_PLAN_HIGH_OPEN), &none);
  if (none)
    c->end = 0;
}

static void filter_rowid(struct cursor *c, sqlite3_value *value) {
  int64_t least;
  bool beyond;
  c->at = c->end = 0;
  if (least_of(&least, &beyond, value, false) == NUMBER && !beyond && least >= 0 && least < c->t->table->rows) {
    c->at = least;
    c->end = least + 1;
  }
}

/* Tests a pattern once per text. */
static void filter_pattern(struct cursor *c, int column, bool like, sqlite3_value *value) {
  enum { LONGEST = 1000 }; /* longer ones are SQLite's error */
  const struct nai_strings *texts = &c->t->table->strings;
  const char *pattern = sqlite3_value_type(value) == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;
  if (!pattern || sqlite3_value_bytes(value) > LONGEST || (int64_t)texts->count > c->t->table->rows ||
      !(c->wanted = malloc((size_t)texts->count + 1)))
    return;
  for (uint32_t id = 0; id < texts->count; id++) {
    const char *text = nai_strings_get(texts, id);
    c->wanted[id] = like ? !sqlite3_strlike(pattern, text, 0) : !sqlite3_strglob(pattern, text);
  }
  c->texts = nai_table_column(c->t->table, column);
}

/* Goes on to a row that is wanted. */
static void skip(struct cursor *c) {
  uint32_t texts = c->t->table->strings.count;
  for (; c->wanted && c->at < c->end; c->at++) {
    uint32_t id = nai_at_text(&c->texts, (uint64_t)c->at);
    if (id < texts ? c->wanted[id] : id != NAI_NO_STRING)
      return;
  }
}

/* Whether a column can be read, filled in now where that is left to do; else the connection has the failure. Apart from
 * those who ask for each cell: a failure takes two kilobytes, which would be cleared each time. */
__attribute__((noinline)) static bool fill_now(struct nai_sql_table *t, int column) {
  struct nai_err err = {0};
  if (!nai_sql_fill(t, column, &err))
    return true;
  t->sql->failure = err;
  return false;
}
static inline bool is_readable(struct nai_sql_table *t, int column) { return !t->source->parts || fill_now(t, column); }

static int vtab_filter(sqlite3_vtab_cursor *base, int code, const char *text, int argc, sqlite3_value **argv) {
  struct cursor *c = (struct cursor *)base;
  int column = c->t->columns[code / NAI_PLAN_COLUMN % NAI_PLAN_COLUMNS].print.column, second = code / NAI_PLAN_SECOND;
  (void)text, (void)argc;
  free(c->wanted);
  free(c->sorted);
  c->wanted = NULL;
  c->order = c->sorted = NULL;
  c->at = 0;
  c->end = c->t->table->rows;
  if ((code & 7) != NAI_PLAN_FULL && (code & 7) != NAI_PLAN_ROWID && !is_readable(c->t, column))
    return fail(base->pVtab, c->t, &c->t->sql->failure);
  switch ((enum nai_plan)(code & 7)) {
  case NAI_PLAN_FULL:
    break;
  case NAI_PLAN_ROWID:
    filter_rowid(c, argv[0]);
    break;
  case NAI_PLAN_EQUAL:
    filter_equal(c, column, argv[0]);
    break;
  case NAI_PLAN_RANGE:
    filter_range(c, column, code, argv);
    break;
  case NAI_PLAN_GROUPS:
    if (second)
      c->sorted = nai_facts_order_by_two(c->t, column, c->t->columns[second - 1].print.column);
    if (!(c->order = second ? c->sorted : nai_facts_order(c->t, column)))
      return SQLITE_NOMEM; /* SQLite relies on it */
    break;
  case NAI_PLAN_LIKE:
  case NAI_PLAN_GLOB:
    filter_pattern(c, column, (code & 7) == NAI_PLAN_LIKE, argv[0]);
    break;
  }
  skip(c);
  return SQLITE_OK;
}

/* --- rows ----------------------------------------------------------------------------------------- */

static int vtab_next(sqlite3_vtab_cursor *base) {
  struct cursor *c = (struct cursor *)base;
  c->at++;
  if (c->wanted)
    skip(c);
  return SQLITE_OK;
}

static int vtab_eof(sqlite3_vtab_cursor *base) {
  const struct cursor *c = (const struct cursor *)base;
  return c->at >= c->end;
}

static int64_t row_of(const struct cursor *c) { return c->order ? c->order[c->at] : c->at; }

static int vtab_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
  *out = row_of((const struct cursor *)base);
  return SQLITE_OK;
}

/* The texts of a table that is made by parts move when a further part of it is filled. */
static bool may_move(const struct nai_sql_table *t, int stored) { return t->source->parts && t->source->parts[stored]; }

static int vtab_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int i) {
  const struct cursor *c = (const struct cursor *)base;
  struct nai_sql_table *t = c->t;
  const struct nai_sql_column *column = &t->columns[i];
  int stored = column->print.column;
  if (!is_readable(t, stored)) {
    sqlite3_result_error(out, t->sql->failure.msg, -1);
    return SQLITE_ERROR;
  }
  struct nai_value value = nai_table_value(t->table, row_of(c), stored);
  if (value.null)
    sqlite3_result_null(out);
  else if (value.type == NAI_STR)
    sqlite3_result_text(out, value.s, -1, may_move(t, stored) ? SQLITE_TRANSIENT : SQLITE_STATIC);
  else if (value.type == NAI_F64)
    sqlite3_result_double(out, nai_value_number(column->print.unit, &value));
  else if (column->divide != 1)
    sqlite3_result_double(out, (double)value.i / column->divide);
  else
    sqlite3_result_int64(out, value.i);
  return SQLITE_OK;
}

const sqlite3_module nai_sql_module = {
    .iVersion = 1,
    .xConnect =
        vtab_connect, /* without xCreate: the table is there under its module's name, and no other can be made */
    .xBestIndex = nai_plan_best,
    .xDisconnect = vtab_disconnect,
    .xOpen = vtab_open,
    .xClose = vtab_close,
    .xFilter = vtab_filter,
    .xNext = vtab_next,
    .xEof = vtab_eof,
    .xColumn = vtab_column,
    .xRowid = vtab_rowid,
};
