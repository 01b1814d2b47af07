/* The descriptor of a table file: records of named fields, so that a reader skips what it does not know. */
#include "table/file.h"

enum { MAX_COLUMNS = 4096 };

static const char *const types[] = {[NAI_I64] = "i64", [NAI_I32] = "i32", [NAI_F64] = "f64", [NAI_STR] = "text"};
enum { TYPES = sizeof types / sizeof *types };

/* --- writing ---------------------------------------------------------------------------------- */

static void put_u32(struct nai_buf *out, size_t v) { nai_buf_put(out, &(uint32_t){(uint32_t)v}, 4); }

static void put_field(struct nai_buf *out, const char *name, const void *value, size_t bytes) {
  put_u32(out, strlen(name));
  nai_buf_puts(out, name);
  put_u32(out, bytes);
  nai_buf_put(out, value, bytes);
}

/* Empty texts are left out: a field that is absent is empty. */
static void put_text(struct nai_buf *out, const char *name, const char *text) {
  if (text && *text)
    put_field(out, name, text, strlen(text));
}

static void put_number(struct nai_buf *out, const char *name, uint64_t v) { put_field(out, name, &v, sizeof v); }

static void put_section(struct nai_buf *out, const char *name, const struct nai_section *section) {
  put_field(out, name, section, sizeof *section);
}

static void put_prints(struct nai_buf *out, unsigned display_units) {
  NAI_SCOPED(nai_buf) names = {0};
  for (int unit = 0; unit < NAI_UNIT_COUNT; unit++)
    if (display_units >> unit & 1)
      nai_buf_printf(&names, "%s%s", names.len ? " " : "", nai_unit_name((enum nai_unit)unit));
  put_text(out, "prints", nai_buf_str(&names));
  out->oom |= names.oom;
}

static void put_column(struct nai_buf *out, const struct nai_column_def *def, const struct nai_file_column *column) {
  put_text(out, "name", def->name);
  put_text(out, "type", types[def->type]);
  put_text(out, "unit", nai_unit_name(def->unit));
  put_text(out, "description", def->description);
  put_prints(out, def->display_units);
  put_text(out, "role", nai_role_name(def->role));
  put_text(out, "better", nai_better_name(def->better));
  put_text(out, "key", def->key ? "yes" : NULL);
  put_text(out, "sum", def->sum ? "yes" : NULL);
  put_text(out, "refers", def->refers);
  put_number(out, "width", column->width);
  put_number(out, "base", (uint64_t)column->base);
  put_section(out, "cells", &column->cells);
}

static void put_record(struct nai_buf *out, const char *kind, struct nai_buf *fields) {
  put_field(out, kind, nai_buf_str(fields), fields->len);
  out->oom |= fields->oom;
  nai_buf_clear(fields);
}

void nai_descriptor_put(struct nai_buf *out, const struct nai_descriptor *d) {
  NAI_SCOPED(nai_buf) fields = {0};
  put_text(&fields, "name", d->schema.name);
  put_text(&fields, "title", d->schema.title);
  put_text(&fields, "description", d->schema.description);
  put_record(out, "table", &fields);
  for (uint32_t c = 0; c < d->schema.column_count; c++) {
    put_column(&fields, &d->schema.columns[c], &d->columns[c]);
    put_record(out, "column", &fields);
  }
  put_number(&fields, "count", d->text_count);
  put_section(&fields, "offsets", &d->text_offsets);
  put_section(&fields, "bytes", &d->texts);
  put_record(out, "texts", &fields);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Bytes of a record or field. */
struct bytes {
  const unsigned char *at;
  size_t len;
};

static bool take_bytes(struct bytes *out, struct bytes *from) {
  uint32_t len;
  if (from->len < sizeof len)
    return false;
  memcpy(&len, from->at, sizeof len);
  if (from->len - sizeof len < len)
    return false;
  *out = (struct bytes){from->at + sizeof len, len};
  from->at += sizeof len + len;
  from->len -= sizeof len + len;
  return true;
}

static bool is(const struct bytes *text, const char *name) {
  return text->len == strlen(name) && memcmp(text->at, name, text->len) == 0;
}

/* The value of a field; no bytes when it is absent. Records are checked before fields are looked for. */
static struct bytes field(struct bytes record, const char *wanted) {
  struct bytes name, value;
  while (take_bytes(&name, &record) && take_bytes(&value, &record))
    if (is(&name, wanted))
      return value;
  return (struct bytes){NULL, 0};
}

static bool is_record(struct bytes record) {
  struct bytes name, value;
  while (record.len)
    if (!take_bytes(&name, &record) || !take_bytes(&value, &record))
      return false;
  return true;
}

static bool read_value(void *out, size_t bytes, struct bytes record, const char *name) {
  struct bytes value = field(record, name);
  if (value.len == bytes)
    memcpy(out, value.at, bytes);
  return value.len == bytes;
}

static bool read_number(uint64_t *out, struct bytes record, const char *name) {
  return read_value(out, sizeof *out, record, name);
}

static bool read_section(struct nai_section *out, struct bytes record, const char *name) {
  return read_value(out, sizeof *out, record, name);
}

/* Copies a text. There is room for all: what a record has around its texts is more than their NULs. */
static const char *read_text(struct nai_descriptor *d, struct bytes record, const char *name, bool *bad) {
  struct bytes value = field(record, name);
  char *text = d->texts_of_schema + d->texts_len;
  *bad |= value.len && memchr(value.at, 0, value.len);
  if (value.len)
    memcpy(text, value.at, value.len);
  text[value.len] = '\0';
  d->texts_len += value.len + 1;
  return text;
}

/* Values of a later version that this one does not know are shown plainly. */
static void read_meaning(struct nai_column_def *def, struct bytes record) {
  struct bytes unit = field(record, "unit"), role = field(record, "role"), better = field(record, "better");
  def->unit = def->type == NAI_STR ? NAI_TEXT : NAI_COUNT;
  for (int i = 0; i < NAI_UNIT_COUNT; i++)
    if (is(&unit, nai_unit_name((enum nai_unit)i)))
      def->unit = (enum nai_unit)i;
  for (int i = 0; i < NAI_ROLE_COUNT; i++)
    if (is(&role, nai_role_name((enum nai_role)i)))
      def->role = (enum nai_role)i;
  for (int i = NAI_BETTER_LOWER; i < NAI_BETTER_COUNT; i++)
    if (is(&better, nai_better_name((enum nai_better)i)))
      def->better = (enum nai_better)i;
  def->key = field(record, "key").len > 0;
  def->sum = field(record, "sum").len > 0;
  struct bytes prints = field(record, "prints");
  for (size_t n; def->unit == NAI_NS && prints.len; prints.at += n, prints.len -= n) {
    const unsigned char *space = memchr(prints.at, ' ', prints.len);
    n = space ? (size_t)(space - prints.at) : prints.len;
    struct bytes word = {prints.at, n};
    for (int i = NAI_NS; i <= NAI_S; i++)
      def->display_units |= is(&word, nai_unit_name((enum nai_unit)i)) ? 1u << i : 0;
    n += space != NULL;
  }
}

static bool read_column(struct nai_descriptor *d, struct bytes record) {
  bool bad = false;
  uint64_t width = 0, base = 0;
  struct nai_column_def *def = &d->defs[d->schema.column_count];
  struct nai_file_column *column = &d->columns[d->schema.column_count];
  struct bytes type = field(record, "type");
  int t = 0;
  while (t < TYPES && !is(&type, types[t]))
    t++;
  if (t == TYPES || field(record, "name").len == 0 || field(record, "name").len >= NAI_COLUMN_NAME_MAX)
    return false;
  def->type = (enum nai_type)t;
  def->name = read_text(d, record, "name", &bad);
  def->description = read_text(d, record, "description", &bad);
  if (field(record, "refers").len)
    def->refers = read_text(d, record, "refers", &bad);
  read_meaning(def, record);
  if (!read_number(&width, record, "width") || !read_number(&base, record, "base") || width > 8)
    return false;
  column->width = (uint32_t)width;
  column->base = (int64_t)base;
  d->schema.column_count++;
  return read_section(&column->cells, record, "cells") && !bad;
}

static bool read_records(struct nai_descriptor *d, struct bytes all) {
  struct bytes kind, record;
  bool bad = false, table = false, texts = false;
  while (all.len && !bad) {
    if (!take_bytes(&kind, &all) || !take_bytes(&record, &all))
      return false;
    bool known = is(&kind, "table") || is(&kind, "column") || is(&kind, "texts");
    if (known && !is_record(record))
      return false;
    if (is(&kind, "table")) {
      bad |= table;
      table = true;
      d->schema.name = read_text(d, record, "name", &bad);
      d->schema.title = read_text(d, record, "title", &bad);
      d->schema.description = read_text(d, record, "description", &bad);
    } else if (is(&kind, "column")) {
      bad |= d->schema.column_count == MAX_COLUMNS || !read_column(d, record);
    } else if (is(&kind, "texts")) {
      texts = read_number(&d->text_count, record, "count") && read_section(&d->text_offsets, record, "offsets") &&
              read_section(&d->texts, record, "bytes");
    }
  }
  return !bad && table && texts;
}

int nai_descriptor_read(struct nai_descriptor *d, const void *bytes, size_t size, struct nai_err *err) {
  *d = (struct nai_descriptor){.defs = calloc(MAX_COLUMNS, sizeof *d->defs),
                               .columns = calloc(MAX_COLUMNS, sizeof *d->columns),
                               .texts_of_schema = malloc(2 * size + 1)};
  d->schema.columns = d->defs;
  d->schema.csv = true; /* of a table that is declared its declaration says it; others are of skills */
  NAI_TRY(nai_memory_check(d->defs && d->columns && d->texts_of_schema, err));
  return read_records(d, (struct bytes){bytes, size}) ? NAI_OK : NAI_ESTALE;
}

void nai_descriptor_free(struct nai_descriptor *d) {
  free(d->defs);
  free(d->columns);
  free(d->texts_of_schema);
  *d = (struct nai_descriptor){0};
}
