#include "table/file.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const char MAGIC[8] = "NSYSTAB";
enum { FORMAT_VERSION = 1, BYTE_ORDER_MARK = 0x01020304, ALIGNMENT = 64, MAX_COLUMNS = 4096 };

struct header {
  char magic[8];
  uint32_t version, byte_order;
  uint64_t rows;
  uint64_t descriptor_offset, descriptor_bytes, descriptor_hash;
  uint64_t file_bytes;
  uint64_t header_hash; /* of everything before it */
};

struct nai_backing {
  unsigned char *data; /* the mapping */
  size_t size;
  char *path;     /* of a table being created, else NULL */
  int fd;         /* likewise, else -1 */
  size_t used;    /* bytes taken by header and columns of a table being created */
  bool borrowed_strings;
  /* the file's own schema, when the caller brought none */
  struct nai_schema schema;
  struct nai_column_def *defs;
  struct nai_buf names; /* texts of the schema */
};

static uint64_t aligned(uint64_t offset) { return (offset + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1); }

/* --- writing ------------------------------------------------------------------------------------------------- */

static void put_u32(struct nai_buf *out, uint32_t v) { nai_buf_put(out, &v, sizeof v); }
static void put_u64(struct nai_buf *out, uint64_t v) { nai_buf_put(out, &v, sizeof v); }

static void put_text(struct nai_buf *out, const char *text) {
  text = text ? text : "";
  put_u32(out, (uint32_t)strlen(text));
  nai_buf_puts(out, text);
}

static void put_section(struct nai_buf *out, uint64_t offset, const void *data, uint64_t bytes) {
  put_u64(out, offset);
  put_u64(out, bytes);
  put_u64(out, XXH3_64bits(bytes ? data : "", bytes));
}

/* Where each column's array starts in a file of `capacity` rows; returns the end of the last one. */
static uint64_t lay_out(uint64_t *offsets, const struct nai_schema *schema, int64_t capacity) {
  uint64_t at = aligned(sizeof(struct header));
  for (uint32_t c = 0; c < schema->column_count; c++) {
    offsets[c] = at;
    if (!schema->columns[c].same_as)
      at = aligned(at + (uint64_t)capacity * nai_type_size(schema->columns[c].type));
  }
  return at;
}

/* Descriptor and header for a table whose columns start at `offsets` and whose strings follow at `strings_at`. */
static void describe(struct nai_buf *out, struct header *header, const struct nai_table *table, const uint64_t *offsets,
                     uint64_t strings_at) {
  const struct nai_schema *schema = table->schema;
  put_text(out, schema->name);
  put_text(out, schema->title);
  put_text(out, schema->description);
  put_u32(out, schema->column_count);
  for (uint32_t c = 0; c < schema->column_count; c++) {
    const struct nai_column_def *def = &schema->columns[c];
    put_text(out, def->name);
    put_u32(out, def->type);
    put_u32(out, def->unit);
    put_text(out, def->description);
    put_text(out, def->same_as);
    uint64_t bytes = def->same_as ? 0 : (uint64_t)table->rows * nai_type_size(def->type);
    put_section(out, offsets[c], table->columns[c], bytes);
  }
  const struct nai_strings *strings = &table->strings;
  put_u32(out, strings->count);
  uint64_t offset_bytes = strings->count ? ((uint64_t)strings->count + 1) * 8 : 0;
  put_section(out, strings_at, strings->offsets, offset_bytes);
  put_section(out, strings_at + offset_bytes, strings->bytes, strings->bytes_len);
  *header = (struct header){.version = FORMAT_VERSION, .byte_order = BYTE_ORDER_MARK, .rows = (uint64_t)table->rows};
  memcpy(header->magic, MAGIC, sizeof MAGIC);
  header->descriptor_offset = strings_at + offset_bytes + strings->bytes_len;
  header->descriptor_bytes = out->len;
  header->descriptor_hash = XXH3_64bits(nai_buf_str(out), out->len);
  header->file_bytes = header->descriptor_offset + out->len;
  header->header_hash = XXH3_64bits(header, offsetof(struct header, header_hash));
}

static void put_strings(struct nai_buf *out, const struct nai_strings *strings) {
  if (!strings->count)
    return;
  nai_buf_put(out, strings->offsets, ((size_t)strings->count + 1) * 8);
  nai_buf_put(out, strings->bytes, strings->bytes_len);
}

int nai_table_write(const struct nai_table *table, const char *path, struct nai_err *err) {
  struct nai_buf file = {0}, descriptor = {0};
  struct header header = {0};
  uint64_t *offsets = malloc(((size_t)table->schema->column_count + 1) * sizeof *offsets);
  int rc = offsets ? nai_table_check(table, err) : nai_err_nomem(err);
  if (rc)
    goto out;
  uint64_t end = lay_out(offsets, table->schema, table->rows);
  describe(&descriptor, &header, table, offsets, end);
  nai_buf_put(&file, &header, sizeof header);
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    const struct nai_column_def *def = &table->schema->columns[c];
    if (def->same_as)
      continue;
    static const char zeros[ALIGNMENT];
    nai_buf_put(&file, zeros, file.oom ? 0 : (size_t)(offsets[c] - file.len));
    nai_buf_put(&file, table->rows ? table->columns[c] : zeros, (size_t)table->rows * nai_type_size(def->type));
  }
  while (!file.oom && file.len < end)
    nai_buf_putc(&file, '\0');
  put_strings(&file, &table->strings);
  nai_buf_put(&file, nai_buf_str(&descriptor), descriptor.len);
  if ((rc = nai_buf_check(&descriptor, err)) || (rc = nai_buf_check(&file, err)))
    goto out;
  rc = nai_fs_write(path, nai_buf_str(&file), file.len, err);
out:
  if (rc)
    nai_err_wrap(err, "cannot write table \"%s\"", table->schema->name);
  free(offsets);
  nai_buf_free(&file);
  nai_buf_free(&descriptor);
  return rc;
}

int nai_table_create(struct nai_table **out, const struct nai_schema *schema, int64_t capacity, const char *path,
                     struct nai_err *err) {
  struct nai_table *table = NULL;
  uint64_t *offsets = malloc(((size_t)schema->column_count + 1) * sizeof *offsets);
  int rc = offsets ? nai_table_alloc(&table, schema, err) : nai_err_nomem(err);
  if (rc)
    goto out;
  struct nai_backing *backing = table->backing = calloc(1, sizeof *backing);
  if (!backing) {
    rc = nai_err_nomem(err);
    goto out;
  }
  backing->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (backing->fd < 0) {
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", path);
    goto out;
  }
  backing->path = strdup(path);
  backing->used = backing->size = (size_t)lay_out(offsets, schema, capacity);
  /* Reserving the blocks first makes a full disk an error here instead of a SIGBUS later, and page faults cheaper. */
  int failed = backing->path ? posix_fallocate(backing->fd, 0, (off_t)backing->size) : ENOMEM;
  if (failed) {
    rc = nai_err_sys(err, NAI_EIO, failed, "cannot reserve %zu bytes for \"%s\"", backing->size, path);
    goto out;
  }
  void *data = mmap(NULL, backing->size, PROT_READ | PROT_WRITE, MAP_SHARED, backing->fd, 0);
  if (data == MAP_FAILED) {
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot map \"%s\"", path);
    goto out;
  }
  backing->data = data;
  for (uint32_t c = 0; c < schema->column_count; c++)
    table->columns[c] = backing->data + offsets[c];
  nai_table_share_columns(table);
  table->capacity = capacity;
out:
  free(offsets);
  if (rc) {
    nai_table_free(table);
    return rc;
  }
  *out = table;
  return NAI_OK;
}

static int write_at(int fd, const char *data, size_t len, off_t at) {
  while (len) {
    ssize_t n = pwrite(fd, data, len, at);
    if (n < 0 && errno != EINTR)
      return errno;
    if (n > 0) {
      data += n;
      len -= (size_t)n;
      at += n;
    }
  }
  return 0;
}

int nai_table_seal(struct nai_table *table, struct nai_err *err) {
  struct nai_backing *backing = table->backing;
  struct nai_buf tail = {0}, descriptor = {0};
  struct header header;
  uint64_t *offsets = malloc(((size_t)table->schema->column_count + 1) * sizeof *offsets);
  int rc = offsets ? nai_table_check(table, err) : nai_err_nomem(err);
  if (rc)
    goto out;
  lay_out(offsets, table->schema, table->capacity);
  /* Cells past the last row must not hold what dropped rows left there. */
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    size_t size = nai_type_size(table->schema->columns[c].type);
    memset((char *)table->columns[c] + (size_t)table->rows * size, 0, (size_t)(table->capacity - table->rows) * size);
  }
  describe(&descriptor, &header, table, offsets, backing->used);
  put_strings(&tail, &table->strings);
  nai_buf_put(&tail, nai_buf_str(&descriptor), descriptor.len);
  if ((rc = nai_buf_check(&tail, err)))
    goto out;
  int failed = write_at(backing->fd, nai_buf_str(&tail), tail.len, (off_t)backing->used);
  if (!failed && ftruncate(backing->fd, (off_t)(backing->used + tail.len)) != 0)
    failed = errno;
  memcpy(backing->data, &header, sizeof header);
  if (close(backing->fd) != 0 && !failed)
    failed = errno;
  backing->fd = -1;
  if (failed)
    rc = nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", backing->path);
out:
  free(offsets);
  nai_buf_free(&tail);
  nai_buf_free(&descriptor);
  return rc;
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
  free(backing->defs);
  nai_buf_free(&backing->names);
  free(backing);
  table->backing = NULL;
}

/* --- reading ------------------------------------------------------------------------------------------------- */

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

struct def_offsets {
  size_t name, description, same_as;
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
  if (!b->defs || !at || !columns) {
    free(at);
    free(columns);
    return nai_err_nomem(err);
  }
  free(table->columns);
  table->columns = columns;
  for (uint32_t i = 0; i < count && !c->bad; i++) {
    at[i].name = take_text(c, &b->names);
    uint32_t type = (uint32_t)take(c, 4), unit = (uint32_t)take(c, 4);
    at[i].description = take_text(c, &b->names);
    at[i].same_as = take_text(c, &b->names);
    uint64_t bytes;
    columns[i] = (void *)take_section(c, b, &bytes);
    b->defs[i].type = type;
    b->defs[i].unit = unit;
    c->bad |= type > NAI_STR || unit >= NAI_UNIT_COUNT;
    bool shared = !c->bad && !b->names.oom && b->names.data[at[i].same_as] != '\0';
    c->bad |= !c->bad && bytes != (shared ? 0 : (uint64_t)table->rows * nai_type_size(type));
  }
  if (!c->bad && !b->names.oom) {
    for (uint32_t i = 0; i < count; i++) {
      b->defs[i].name = b->names.data + at[i].name;
      b->defs[i].description = b->names.data + at[i].description;
      b->defs[i].same_as = b->names.data[at[i].same_as] ? b->names.data + at[i].same_as : NULL;
    }
    b->schema = (struct nai_schema){b->names.data + name, b->names.data + title, b->names.data + text, b->defs, count};
    take_strings(c, table);
  }
  free(at);
  if (b->names.oom)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < count && !c->bad; i++) {
    const char *other = b->defs[i].same_as;
    int source = other ? nai_schema_column(&b->schema, other) : (int)i;
    c->bad |= source < 0 || b->defs[source].type != b->defs[i].type || (other && b->defs[source].same_as);
  }
  return c->bad ? NAI_ESTALE : NAI_OK;
}

static int open_checked(struct nai_table *table, const char *path, const struct nai_schema *schema,
                        struct nai_err *err) {
  struct nai_map map;
  struct header header;
  int rc = nai_map_open(&map, path, NAI_ESTALE, err);
  if (rc)
    return rc;
  struct nai_backing *b = table->backing;
  b->data = (unsigned char *)map.data;
  b->size = map.size;
  if (b->size < sizeof header)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is too short for a table file", path);
  memcpy(&header, b->data, sizeof header);
  if (memcmp(header.magic, MAGIC, sizeof MAGIC) != 0)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is not a table file (*.ntab)", path);
  if (header.version != FORMAT_VERSION || header.byte_order != BYTE_ORDER_MARK)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" was written by another version of this program", path);
  uint64_t at = header.descriptor_offset, bytes = header.descriptor_bytes;
  if (header.header_hash != XXH3_64bits(&header, offsetof(struct header, header_hash)) || header.file_bytes != b->size ||
      at > b->size || bytes > b->size - at || header.rows > b->size ||
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
  /* Columns the file shares have no data of their own, whatever the caller's schema says about them. */
  table->schema = &b->schema;
  nai_table_share_columns(table);
  table->schema = schema ? schema : &b->schema;
  nai_table_share_columns(table);
  return NAI_OK;
}

int nai_table_open(struct nai_table **out, const char *path, const struct nai_schema *schema, struct nai_err *err) {
  static const struct nai_schema none = {.name = ""};
  struct nai_table *table = NULL;
  int rc = nai_table_alloc(&table, &none, err);
  if (rc)
    return rc;
  table->backing = calloc(1, sizeof *table->backing);
  if (table->backing)
    table->backing->fd = -1;
  rc = table->backing ? open_checked(table, path, schema, err) : nai_err_nomem(err);
  if (rc) {
    table->schema = &none;
    nai_table_free(table);
    return rc;
  }
  *out = table;
  return NAI_OK;
}
