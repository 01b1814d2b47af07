#include "features/analyze/schema_only.h"

#include "base/escape.h"
#include "base/text.h"
#include "base/sort.h"

#include <strings.h>

enum { STEP = 40, MAX_NUMBERS = 16, MAX_KEYS = 64, KEY_BYTES = 48 };

/* What was seen of a column. */
struct column {
  const char *name;
  int64_t cells[NAI_CELL_BLOB + 1]; /* by kind */
  bool enumeration, json, json_id;  /* its numbers, the keys of its objects, of the texts that it refers to are told */
  int64_t numbers[MAX_NUMBERS];
  int number_count; /* MAX_NUMBERS + 1: more */
  char keys[MAX_KEYS][KEY_BYTES];
  int key_count;
};

struct reading {
  struct column *columns;
  int count;
  int64_t rows;
  struct nai_lookup *strings; /* NULL for none */
};

static bool is_enumeration(const char *name) {
  static const char *const ends[] = {"Type", "Kind", "Class", "kind", "type", "flag", "tag"};
  bool found = strncmp(name, "is", 2) == 0;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    found |= nai_text_ends(name, ends[i]);
  return found;
}

/* --- what is told of cells -------------------------------------------------------------------- */

static void add_number(struct column *c, int64_t number) {
  int at = 0;
  while (at < c->number_count && at < MAX_NUMBERS && c->numbers[at] < number)
    at++;
  if (c->number_count > MAX_NUMBERS || (at < c->number_count && c->numbers[at] == number))
    return;
  if (c->number_count++ == MAX_NUMBERS)
    return;
  memmove(&c->numbers[at + 1], &c->numbers[at], (size_t)(c->number_count - 1 - at) * sizeof *c->numbers);
  c->numbers[at] = number;
}

/* A key as programs choose them: anything else may be a value. */
static void add_key(struct column *c, const char *key, size_t len) {
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  int at = 0, order = 1;
  if (!len || len >= KEY_BYTES)
    return;
  for (size_t i = 0; i < len; i++)
    if (!key[i] || !strchr(allowed, key[i]))
      return;
  for (; at < c->key_count; at++) {
    order = strncmp(c->keys[at], key, len);
    order = order ? order : c->keys[at][len] != '\0';
    if (order >= 0)
      break;
  }
  if (!order || c->key_count == MAX_KEYS)
    return;
  memmove(c->keys[at + 1], c->keys[at], (size_t)(c->key_count - at) * KEY_BYTES);
  memcpy(c->keys[at], key, len);
  c->keys[at][len] = '\0';
  c->key_count++;
}

/* Texts in front of a colon are keys, in an object of any depth. */
static void add_keys(struct column *c, const struct nai_cell *cell) {
  const char *text = cell->data, *end = text + cell->len;
  if (!nai_cell_is_text(cell) || text == end || *text != '{')
    return;
  for (const char *p = text; p < end; p++) {
    if (*p != '"')
      continue;
    const char *from = ++p;
    for (; p < end && *p != '"'; p++)
      p += *p == '\\';
    const char *after = p + 1;
    while (after < end && *after == ' ')
      after++;
    if (p < end && after < end && *after == ':')
      add_key(c, from, (size_t)(p - from));
  }
}

static int on_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  struct reading *r = ctx;
  (void)rowid;
  r->rows++;
  for (int i = 0; i < r->count; i++) {
    struct column *c = &r->columns[i];
    struct nai_cell text;
    bool found = false;
    c->cells[cells[i].type]++;
    if (c->enumeration && cells[i].type == NAI_CELL_INT)
      add_number(c, cells[i].i);
    if (c->json)
      add_keys(c, &cells[i]);
    if (c->json_id && cells[i].type == NAI_CELL_INT)
      NAI_TRY(nai_string_get(&found, &text, r->strings, cells[i].i, err));
    if (found)
      add_keys(c, &text);
  }
  return NAI_OK;
}

/* --- tables ----------------------------------------------------------------------------------- */

static void put_column(struct nai_buf *out, const struct column *c) {
  static const char *const words[] = {"NULL", "integer", "real", "text", "blob"};
  nai_buf_puts(out, "  ");
  nai_escape_terminal(out, c->name, strlen(c->name));
  nai_buf_putc(out, ':');
  for (int kind = 0; kind <= NAI_CELL_BLOB; kind++)
    if (c->cells[kind])
      nai_buf_printf(out, " %" PRId64 " %s", c->cells[kind], words[kind]);
  for (int i = 0; i < c->number_count && i < MAX_NUMBERS; i++)
    nai_buf_printf(out, "%s%" PRId64, i ? ", " : "; values ", c->numbers[i]);
  nai_buf_puts(out, c->number_count > MAX_NUMBERS ? " and others" : "");
  for (int i = 0; i < c->key_count; i++)
    nai_buf_printf(out, "%s%s", i ? ", " : "; keys ", c->keys[i]);
  nai_buf_putc(out, '\n');
}

/* Columns `first` and those behind it, as many as are read at a time. */
static int read_columns(struct reading *r, struct nai_trace *trace, const struct nai_db_table *table, int first,
                        struct nai_err *err) {
  int numbers[STEP];
  struct nai_scan scan = {.table = table->name, .columns = numbers};
  bool generic = strcasecmp(table->name, "GENERIC_EVENTS") == 0;
  r->rows = 0;
  for (r->count = 0; r->count < STEP && first + r->count < table->column_count; r->count++) {
    const char *name = table->columns[first + r->count].name;
    numbers[scan.column_count++] = first + r->count;
    r->columns[r->count] = (struct column){.name = name,
                                           .enumeration = is_enumeration(name),
                                           .json = strcmp(name, "jsonText") == 0 || (generic && !strcmp(name, "data")),
                                           .json_id = r->strings && strcmp(name, "jsonTextId") == 0};
  }
  int rc = nai_scan_open(&scan, trace, 1, err);
  for (int part = 0; !rc && part < scan.parts; part++)
    rc = nai_scan_run(&scan, part, on_row, r, err);
  nai_scan_close(&scan);
  return rc;
}

/* The name of what cannot be read as a plain table; whether that is so. */
static bool put_refused(struct nai_buf *out, const struct nai_db_table *table) {
  bool hidden = false;
  for (int i = 0; i < table->column_count; i++)
    hidden |= table->columns[i].hidden;
  if (table->plain && !hidden)
    return false;
  nai_buf_printf(out, ": %s, not read\n", hidden ? "generated columns" : table->kind);
  return true;
}

static int put_table(struct nai_buf *out, struct reading *r, struct nai_trace *trace, const struct nai_db_table *table,
                     struct nai_err *err) {
  nai_buf_putc(out, '\n');
  nai_escape_terminal(out, table->name, strlen(table->name));
  if (put_refused(out, table))
    return NAI_OK;
  for (int first = 0; first < table->column_count; first += STEP) {
    int rc = read_columns(r, trace, table, first, err);
    if (rc == NAI_EINPUT && err->damaged) {
      nai_buf_puts(out, ": damaged\n");
      return NAI_OK;
    }
    NAI_TRY(rc);
    if (!first)
      nai_buf_printf(out, ": %" PRId64 " %s\n", r->rows, r->rows == 1 ? "row" : "rows");
    for (int i = 0; i < r->count; i++)
      put_column(out, &r->columns[i]);
  }
  return nai_buf_check(out, err);
}

/* --- enumerations ----------------------------------------------------------------------------- */

static int on_label(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  enum { LABEL_BYTES = 80 };
  struct nai_buf *out = ctx;
  (void)rowid, (void)err;
  if (cells[0].type != NAI_CELL_INT || cells[1].type != NAI_CELL_TEXT || cells[1].len > LABEL_BYTES)
    return NAI_OK;
  nai_buf_printf(out, "    %" PRId64 " ", cells[0].i);
  nai_escape_terminal(out, cells[1].data, cells[1].len);
  nai_buf_putc(out, '\n');
  return NAI_OK;
}

/* Numbers and names, which the exporter wrote. */
static int put_labels(struct nai_buf *out, struct nai_trace *trace, const struct nai_db_table *table,
                      struct nai_err *err) {
  int columns[] = {nai_db_column(table, "id"), nai_db_column(table, "name")};
  if (strncasecmp(table->name, "ENUM_", 5) != 0 || !table->plain || columns[0] < 0 || columns[1] < 0)
    return NAI_OK;
  struct nai_scan scan = {.table = table->name, .columns = columns, .column_count = 2};
  int rc = nai_scan_open(&scan, trace, 1, err);
  for (int part = 0; !rc && part < scan.parts; part++)
    rc = nai_scan_run(&scan, part, on_label, out, err);
  nai_scan_close(&scan);
  return rc == NAI_EINPUT && err->damaged ? NAI_OK : rc;
}

NAI_ORDER_BY(by_name, struct nai_db_table *const, strcmp((*a)->name, (*b)->name))

int nai_schema_only_put(struct nai_buf *out, struct nai_trace *trace, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_OWNED(nai_lookup) *strings = NULL;
  const struct nai_db_table **tables;
  struct reading r = {0};
  int rc = nai_string_open(&strings, trace, err);
  if (rc && !(rc == NAI_EINPUT && err->damaged))
    return rc;
  r.strings = strings;
  NAI_TRY(NAI_NEW(r.columns, &arena, STEP, err));
  NAI_TRY(NAI_NEW(tables, &arena, (size_t)trace->table_count, err));
  for (int i = 0; i < trace->table_count; i++)
    tables[i] = &trace->tables[i];
  qsort(tables, (size_t)trace->table_count, sizeof *tables, by_name);
  for (int i = 0; i < trace->table_count; i++) {
    NAI_TRY(put_table(out, &r, trace, tables[i], err));
    NAI_TRY(put_labels(out, trace, tables[i], err));
  }
  return nai_buf_check(out, err);
}
