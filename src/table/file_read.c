/* Reading table files, mapped and checked. */
#include "table/file.h"

#include "base/fs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MAX_COLUMNS = 4096 };

int nai_backing_new(struct nai_table **out, const struct nai_schema *schema, struct nai_err *err) {
  struct nai_table *table;
  int rc = nai_table_alloc(&table, schema, err);
  if (rc)
    return rc;
  table->backing = calloc(1, sizeof *table->backing);
  if (!table->backing) {
    nai_table_free(table);
    return nai_err_nomem(err);
  }
  table->backing->fd = -1;
  *out = table;
  return NAI_OK;
}

void nai_backing_release(struct nai_table *table) {
  struct nai_backing *backing = table->backing;
  if (backing->data)
    munmap(backing->data, backing->size);
  if (backing->fd >= 0)
    close(backing->fd);
  if (backing->borrowed_strings) {
    table->strings.bytes = NULL;
    table->strings.offsets = NULL;
  }
  free(backing->path);
  free(backing->offsets);
  free(backing->defs);
  nai_buf_free(&backing->names);
  free(backing);
  table->backing = NULL;
}

/* A bounds-checked cursor; reading past the end makes it bad and yields zeros. */
struct cursor {
  const unsigned char *at, *end;
  bool bad;
};

static uint64_t take(struct cursor *c, size_t bytes) {
  uint64_t v = 0;
  if ((size_t)(c->end - c->at) < bytes) {
    c->bad = true;
    return 0;
  }
  memcpy(&v, c->at, bytes);
  c->at += bytes;
  return v;
}

/* Copies a text into `names` and returns its offset there; pointers are made once the buffer stops growing. */
static size_t take_text(struct cursor *c, struct nai_buf *names) {
  size_t len = (size_t)take(c, 4), at = names->len;
  if (c->bad || (size_t)(c->end - c->at) < len || memchr(c->at, 0, len)) {
    c->bad = true;
    return at;
  }
  nai_buf_put(names, c->at, len);
  nai_buf_put(names, "", 1);
  c->at += len;
  return at;
}

/* A section's bytes, or NULL with the cursor bad when it lies outside the file or its checksum differs. */
static const unsigned char *take_section(struct cursor *c, const struct nai_backing *b, uint64_t *bytes) {
  uint64_t offset = take(c, 8), size = take(c, 8), hash = take(c, 8);
  *bytes = size;
  if (c->bad || offset > b->size || size > b->size - offset || offset % 8 ||
      XXH3_64bits(b->data + offset, (size_t)size) != hash) {
    c->bad = true;
    return NULL;
  }
  return b->data + offset;
}

static void take_strings(struct cursor *c, struct nai_table *table) {
  struct nai_strings *s = &table->strings;
  uint64_t offset_bytes, text_bytes;
  uint32_t count = (uint32_t)take(c, 4);
  const uint64_t *offsets = (const void *)take_section(c, table->backing, &offset_bytes);
  uint64_t text_offset, ignored_hash;
  struct cursor peek = *c;
  text_offset = take(&peek, 8);
  text_bytes = take(&peek, 8);
  ignored_hash = take(&peek, 8);
  /* Text starts wherever the offsets end, so its section is exempt from take_section's alignment rule. */
  const struct nai_backing *b = table->backing;
  *c = peek;
  c->bad |= text_offset > b->size || text_bytes > b->size - text_offset;
  if (c->bad || XXH3_64bits(b->data + text_offset, (size_t)text_bytes) != ignored_hash) {
    c->bad = true;
    return;
  }
  if (count == 0)
    return;
  const char *text = (const char *)b->data + text_offset;
  c->bad |= offset_bytes != ((uint64_t)count + 1) * 8 || offsets[0] != 0 || offsets[count] != text_bytes;
  for (uint32_t i = 0; i < count && !c->bad; i++)
    c->bad |= offsets[i + 1] <= offsets[i] || offsets[i + 1] > text_bytes || text[offsets[i + 1] - 1] != '\0';
  if (c->bad)
    return;
  table->backing->borrowed_strings = true;
  s->bytes = (char *)text;
  s->bytes_len = s->bytes_capacity = (size_t)text_bytes;
  s->offsets = (uint64_t *)offsets;
  s->count = s->capacity = count;
}

/* Column i, whose type is known: an array where its cells are plain. */
static void take_column(struct cursor *c, struct nai_table *table, uint32_t i) {
  const struct nai_backing *b = table->backing;
  uint32_t width = (uint32_t)take(c, 4);
  int64_t base = (int64_t)take(c, 8);
  uint64_t bytes;
  const unsigned char *cells = take_section(c, b, &bytes);
  enum nai_type type = c->bad ? NAI_I64 : b->defs[i].type;
  bool plain = width == nai_type_size(type) && base == 0;
  c->bad |= width > 8 || (type == NAI_F64 && !plain);
  c->bad |= !c->bad && bytes != (uint64_t)table->rows * width;
  c->bad |= !c->bad && (size_t)(b->data + b->size - cells) < bytes + 8; /* nai_at reads a word from each cell */
  if (c->bad)
    return;
  table->packed[i] = nai_column_of(type, cells, width, base);
  table->columns[i] = plain ? (void *)cells : NULL;
}

struct def_offsets {
  size_t name, description;
};

/* Reads the descriptor: the schema into backing->schema/defs, the columns and strings into the table. */
static int read_descriptor(struct nai_table *table, struct cursor *c, struct nai_err *err) {
  struct nai_backing *b = table->backing;
  size_t name = take_text(c, &b->names), title = take_text(c, &b->names), text = take_text(c, &b->names);
  uint32_t count = (uint32_t)take(c, 4);
  if (c->bad || count > MAX_COLUMNS)
    return NAI_ESTALE;
  b->defs = calloc(count + 1, sizeof *b->defs);
  struct def_offsets *at = calloc(count + 1, sizeof *at);
  void **columns = calloc(count + 1, sizeof *columns);
  struct nai_column *packed = calloc(count + 1, sizeof *packed);
  if (!b->defs || !at || !columns || !packed) {
    free(at);
    free(columns);
    free(packed);
    return nai_err_nomem(err);
  }
  free(table->columns);
  table->columns = columns;
  table->packed = packed;
  bool any_packed = false;
  for (uint32_t i = 0; i < count && !c->bad; i++) {
    at[i].name = take_text(c, &b->names);
    uint32_t type = (uint32_t)take(c, 4), unit = (uint32_t)take(c, 4);
    at[i].description = take_text(c, &b->names);
    b->defs[i].prints = (uint32_t)take(c, 4);
    b->defs[i].type = type;
    b->defs[i].unit = unit;
    c->bad |= type > NAI_STR || unit >= NAI_UNIT_COUNT;
    take_column(c, table, i);
    any_packed |= !c->bad && !columns[i];
  }
  if (!any_packed) {
    free(packed);
    table->packed = NULL;
  }
  if (!c->bad && !b->names.oom) {
    for (uint32_t i = 0; i < count; i++) {
      b->defs[i].name = b->names.data + at[i].name;
      b->defs[i].description = b->names.data + at[i].description;
    }
    b->schema = (struct nai_schema){b->names.data + name, b->names.data + title, b->names.data + text, b->defs, count};
    take_strings(c, table);
  }
  free(at);
  if (b->names.oom)
    return nai_err_nomem(err);
  return c->bad ? NAI_ESTALE : NAI_OK;
}

static int open_checked(struct nai_table *table, const char *path, const struct nai_schema *schema,
                        struct nai_err *err) {
  struct nai_map map;
  struct nai_table_header header;
  int rc = nai_map_open(&map, path, NAI_ESTALE, err);
  if (rc)
    return rc;
  struct nai_backing *b = table->backing;
  b->data = (unsigned char *)map.data;
  b->size = map.size;
  if (b->size < sizeof header)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is too short for a table file", path);
  memcpy(&header, b->data, sizeof header);
  if (memcmp(header.magic, NAI_TABLE_MAGIC, sizeof header.magic) != 0)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is not a table file (*.ntab)", path);
  if (header.version != NAI_TABLE_VERSION || header.byte_order != NAI_TABLE_BYTE_ORDER)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" was written by another version of this program", path);
  uint64_t at = header.descriptor_offset, bytes = header.descriptor_bytes;
  if (header.header_hash != XXH3_64bits(&header, offsetof(struct nai_table_header, header_hash)) ||
      header.file_bytes != b->size || at > b->size || bytes > b->size - at || header.rows > b->size ||
      XXH3_64bits(b->data + at, (size_t)bytes) != header.descriptor_hash)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is damaged", path);
  table->rows = table->capacity = (int64_t)header.rows;
  struct cursor c = {b->data + at, b->data + at + bytes, false};
  rc = read_descriptor(table, &c, err);
  if (rc == NAI_ESTALE)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is damaged", path);
  if (rc)
    return rc;
  if (schema && !nai_schema_equal(schema, &b->schema))
    return nai_err_set(err, NAI_ESTALE, "\"%s\" has other columns than this version of the program writes", path);
  table->schema = schema ? schema : &b->schema;
  return NAI_OK;
}

int nai_table_open(struct nai_table **out, const char *path, const struct nai_schema *schema, struct nai_err *err) {
  static const struct nai_schema none = {.name = ""};
  struct nai_table *table = NULL; /* GCC cannot see that the read sets it */
  int rc = nai_backing_new(&table, &none, err);
  if (rc)
    return rc;
  rc = open_checked(table, path, schema, err);
  if (rc) {
    table->schema = &none;
    nai_table_free(table);
    return rc;
  }
  *out = table;
  return NAI_OK;
}
