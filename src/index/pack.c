/* What an index has of one run, as bytes: kept beside the run, so that an index of many need not open their captures.
 *
 *   "NSYSRUN1", XXH3 of what follows
 *   runs, metrics, findings, kernels: number of columns, of each its name and type; number of rows; cells, row by row
 *
 * Numbers are varints (base/buf.h), signed ones with the sign in the lowest bit; a text is its length and its bytes. A
 * cell is a byte, 0 for NULL, and where it is 1 the value: eight bytes of a double, a signed number or a text. The
 * column run_id is left out: whose run it is, its place says. Columns are found by name, so that other versions read
 * what they know. */
#include "base/hash.h"
#include "index/index.h"
#include "table/column.h"

static const char magic[8] = "NSYSRUN1";
enum { HEADER = sizeof magic + sizeof(uint64_t), TABLES = 4, MAX_COLUMNS = 64 };

static void list_tables(struct nai_table *out[TABLES], const struct nai_index *index) {
  out[0] = index->runs, out[1] = index->metrics, out[2] = index->findings, out[3] = index->kernels;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void put_text(struct nai_buf *out, const char *text) {
  size_t n = strlen(text);
  nai_buf_put_varint(out, n);
  nai_buf_put(out, text, n);
}

static void put_signed(struct nai_buf *out, int64_t value) {
  nai_buf_put_varint(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_cell(struct nai_buf *out, const struct nai_value *value) {
  nai_buf_putc(out, value->null ? 0 : 1);
  if (value->null)
    return;
  if (value->type == NAI_STR)
    put_text(out, value->s);
  else if (value->type == NAI_F64)
    nai_buf_put(out, &value->f, sizeof value->f);
  else
    put_signed(out, value->i);
}

/* The first column is run_id. */
static void put_table(struct nai_buf *out, const struct nai_table *table) {
  uint32_t columns = table->schema->column_count;
  nai_buf_put_varint(out, columns - 1);
  for (uint32_t c = 1; c < columns; c++) {
    put_text(out, table->schema->columns[c].name);
    nai_buf_putc(out, (char)table->schema->columns[c].type);
  }
  nai_buf_put_varint(out, (uint64_t)table->rows);
  for (int64_t row = 0; row < table->rows; row++)
    for (uint32_t c = 1; c < columns; c++) {
      struct nai_value value = nai_table_value(table, row, (int)c);
      put_cell(out, &value);
    }
}

int nai_index_pack(struct nai_buf *out, struct nai_index *index, struct nai_err *err) {
  NAI_SCOPED(nai_buf) body = {0};
  struct nai_table *tables[TABLES];
  NAI_TRY(nai_index_sort(index, err));
  list_tables(tables, index);
  for (int i = 0; i < TABLES; i++)
    put_table(&body, tables[i]);
  NAI_TRY(nai_buf_check(&body, err));
  uint64_t hash = nai_hash_bytes(0, body.data, body.len);
  nai_buf_put(out, magic, sizeof magic);
  nai_buf_put(out, &hash, sizeof hash);
  nai_buf_put(out, body.data, body.len);
  return nai_buf_check(out, err);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* What is left to read; `bad` is sticky, and everything read then is 0. */
struct reading {
  const char *at, *end;
  bool bad;
  struct nai_buf text; /* the last one, as a string */
};

static void reading_free(struct reading *r) { nai_buf_free(&r->text); }

static const char *get_bytes(struct reading *r, uint64_t n) {
  const char *at = r->at;
  if (r->bad || n > (uint64_t)(r->end - r->at)) {
    r->bad = true;
    return NULL;
  }
  r->at += n;
  return at;
}

static unsigned get_byte(struct reading *r) {
  const char *at = get_bytes(r, 1);
  return at ? (unsigned char)*at : 0;
}

static uint64_t get_varint(struct reading *r) {
  uint64_t value = 0;
  unsigned byte = 0x80;
  for (unsigned shift = 0; byte & 0x80; shift += 7) {
    byte = get_byte(r);
    r->bad |= shift > 63;
    if (r->bad)
      return 0;
    value |= (uint64_t)(byte & 0x7f) << shift;
  }
  return value;
}

static const char *get_text(struct reading *r) {
  uint64_t n = get_varint(r);
  const char *at = get_bytes(r, n);
  nai_buf_clear(&r->text);
  if (at)
    nai_buf_put(&r->text, at, n);
  return nai_buf_str(&r->text);
}

/* Where the value of a cell goes: the column with that name and type, -1: nowhere. */
struct target {
  enum nai_type type;
  int column;
  bool known; /* it may have a value, which stays: of runs, the row has what their store says of them */
};

/* Number `at` of a table that the same version wrote is there, too. */
static int find_column(const struct nai_schema *schema, uint64_t at, const char *name, enum nai_type type) {
  uint32_t count = schema->column_count - 1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t c = 1 + (uint32_t)((at + i) % count);
    const struct nai_column_def *def = &schema->columns[c];
    bool integers = type != NAI_STR && type != NAI_F64 && def->type != NAI_STR && def->type != NAI_F64;
    if (nai_schema_is_called(def->name, def->was, name))
      return def->type == type || integers ? (int)c : -1;
  }
  return -1;
}

static uint32_t get_columns(struct target targets[MAX_COLUMNS], struct reading *r, const struct nai_schema *schema) {
  uint64_t count = get_varint(r);
  r->bad |= count > MAX_COLUMNS;
  for (uint64_t c = 0; c < count && !r->bad; c++) {
    const char *name = get_text(r);
    unsigned type = get_byte(r);
    r->bad |= type != NAI_STR && type != NAI_F64 && type != NAI_I64 && type != NAI_I32;
    targets[c].type = (enum nai_type)type;
    targets[c].column = find_column(schema, c, name, targets[c].type);
    targets[c].known = schema == &nai_runs_schema;
  }
  return r->bad ? 0 : (uint32_t)count;
}

static bool is_wanted(const struct nai_table *table, int64_t row, const struct target *to) {
  return to->column >= 0 && (!to->known || nai_table_value(table, row, to->column).null);
}

static void get_cell(struct reading *r, struct nai_table *table, int64_t row, const struct target *to) {
  unsigned there = get_byte(r);
  r->bad |= there > 1;
  if (!there || r->bad)
    return;
  if (to->type == NAI_STR) {
    const char *text = get_text(r);
    if (is_wanted(table, row, to))
      nai_set_str(table, row, to->column, text);
  } else if (to->type == NAI_F64) {
    double value = NAN;
    const char *at = get_bytes(r, sizeof value);
    if (at)
      memcpy(&value, at, sizeof value);
    if (isfinite(value) && is_wanted(table, row, to))
      nai_set_f64(table, row, to->column, value);
  } else {
    uint64_t value = get_varint(r);
    int64_t number = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
    if (!r->bad && is_wanted(table, row, to) &&
        (table->schema->columns[to->column].type == NAI_I64 || number == (int32_t)number))
      nai_set_i64(table, row, to->column, number);
  }
}

/* Whether the row comes behind the one before by its key, which is whole: one that is there twice would count twice. */
static bool is_in_order(const struct nai_table *table, int64_t row, int64_t first) {
  const struct nai_schema *schema = table->schema;
  int order = row > first ? 0 : -1;
  for (uint32_t c = 1; c < schema->column_count; c++) {
    if (!schema->columns[c].key)
      continue;
    struct nai_value value = nai_table_value(table, row, (int)c);
    if (value.null)
      return false;
    struct nai_value before = order ? value : nai_table_value(table, row - 1, (int)c);
    if (!order && value.type == NAI_STR)
      order = strcmp(before.s, value.s);
    else if (!order)
      order = (before.i > value.i) - (before.i < value.i);
  }
  return order < 0;
}

static void get_table(struct reading *r, struct nai_table *table, const char *run_id) {
  struct target targets[MAX_COLUMNS];
  uint32_t columns = get_columns(targets, r, table->schema);
  uint64_t rows = get_varint(r);
  int64_t first = table->rows;
  r->bad |= rows && !columns;
  for (uint64_t i = 0; i < rows && !r->bad && !table->oom; i++) {
    int64_t row = nai_table_add_row(table);
    nai_set_str(table, row, 0, run_id);
    for (uint32_t c = 0; c < columns && !r->bad; c++)
      get_cell(r, table, row, &targets[c]);
    r->bad |= !table->oom && !is_in_order(table, row, first);
  }
}

/* A table that nobody asks for. */
static void pass_table(struct reading *r, struct nai_table *table) {
  struct target targets[MAX_COLUMNS];
  uint32_t columns = get_columns(targets, r, table->schema);
  uint64_t rows = get_varint(r);
  r->bad |= rows && !columns;
  for (uint32_t c = 0; c < columns; c++)
    targets[c].column = -1;
  for (uint64_t i = 0; i < rows && !r->bad; i++)
    for (uint32_t c = 0; c < columns && !r->bad; c++)
      get_cell(r, table, -1, &targets[c]);
}

/* The one row of runs goes into `at`, -1: nowhere. */
static void get_run(struct reading *r, struct nai_table *runs, int64_t at) {
  struct target targets[MAX_COLUMNS];
  uint32_t columns = get_columns(targets, r, runs->schema);
  r->bad |= get_varint(r) != 1;
  for (uint32_t c = 0; c < columns && !r->bad; c++) {
    targets[c].column = at < 0 ? -1 : targets[c].column;
    get_cell(r, runs, at, &targets[c]);
  }
}

/* The row is filled last: what cannot be read to its end has left nothing in it. */
static void get_all(struct reading *r, struct nai_index *index, int64_t row) {
  const char *run_id = nai_get_str(index->runs, row, RUNS_run_id);
  struct reading of_run = {.at = r->at, .end = r->end};
  get_run(r, index->runs, -1);
  get_table(r, index->metrics, run_id);
  struct nai_table *const others[] = {index->findings, index->kernels};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (index->only_metrics)
      pass_table(r, others[i]);
    else
      get_table(r, others[i], run_id);
  r->bad |= r->at != r->end;
  if (!r->bad)
    get_run(&of_run, index->runs, row);
  r->text.oom |= of_run.text.oom;
  reading_free(&of_run);
}

static bool is_whole(const struct nai_buf *bytes) {
  uint64_t hash;
  if (bytes->len < HEADER || memcmp(bytes->data, magic, sizeof magic) != 0)
    return false;
  memcpy(&hash, bytes->data + sizeof magic, sizeof hash);
  return hash == nai_hash_bytes(0, bytes->data + HEADER, bytes->len - HEADER);
}

int nai_index_unpack(bool *taken, struct nai_index *index, int64_t row, const struct nai_buf *bytes,
                     struct nai_err *err) {
  struct nai_table *tables[TABLES];
  int64_t rows[TABLES];
  *taken = false;
  if (!is_whole(bytes))
    return NAI_OK;
  NAI_SCOPED(reading) r = {.at = bytes->data + HEADER, .end = bytes->data + bytes->len};
  list_tables(tables, index);
  for (int i = 0; i < TABLES; i++)
    rows[i] = tables[i]->rows;
  get_all(&r, index, row);
  for (int i = 1; i < TABLES && r.bad; i++)
    nai_table_truncate(tables[i], rows[i]);
  for (int i = 0; i < TABLES; i++)
    NAI_TRY(nai_table_check(tables[i], err));
  *taken = !r.bad;
  return nai_buf_check(&r.text, err);
}
