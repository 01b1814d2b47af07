/* Reading table files, checked. */
#include "table/file.h"

#include "base/fs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Smaller files are read into memory: nothing that happens to them later can matter then. Of a mapped file that
 * another program truncates, pages are gone that may be looked at (SIGBUS); this program replaces files, it never
 * shortens one. */
enum { MAPPED_BYTES = 1 << 20 };

/* --- the file ---------------------------------------------------------------------------------- */

static bool is_set(const struct nai_table_header *header) {
  return memcmp(header->magic, NAI_TABLE_SET_MAGIC, sizeof header->magic) == 0;
}

static int read_into_memory(struct nai_backing *b, int fd, uint64_t at, const char *name, struct nai_err *err) {
  b->heap = true;
  b->data = malloc(b->size + 1);
  NAI_TRY(nai_memory_check(b->data, err));
  ssize_t n = nai_fs_read_upto(fd, b->data, b->size, at);
  if (n < 0)
    return nai_err_sys(err, NAI_ESTALE, errno, "cannot read \"%s\"", name);
  if ((size_t)n < b->size)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" became shorter while it was read", name);
  return NAI_OK;
}

static int map(struct nai_backing *b, int fd, uint64_t at, const char *name, struct nai_err *err) {
  b->before = (size_t)(at % (uint64_t)sysconf(_SC_PAGESIZE));
  unsigned char *data = mmap(NULL, b->before + b->size, PROT_READ, MAP_PRIVATE, fd, (off_t)(at - b->before));
  if (data == MAP_FAILED)
    return nai_err_sys(err, NAI_ESTALE, errno, "cannot map \"%s\"", name);
  b->data = data + b->before;
  return NAI_OK;
}

/* Where the table is in a file of that size which begins so: all of it, or the list in front of others. */
static struct nai_stretch find_stretch(const void *begin, size_t len, uint64_t size) {
  struct nai_table_header header;
  bool any = len >= sizeof header;
  if (any)
    memcpy(&header, begin, sizeof header);
  return (struct nai_stretch){.bytes = any && is_set(&header) && header.file_bytes < size ? header.file_bytes : size};
}

static int set_size(struct nai_backing *b, const struct nai_stretch *at, uint64_t size, const char *name,
                    struct nai_err *err) {
  if (at->offset > size || at->bytes > size - at->offset || at->offset % NAI_TABLE_ALIGNMENT)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is damaged", name);
  if (at->bytes < sizeof(struct nai_table_header))
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is too short for a table file", name);
  b->size = (size_t)at->bytes;
  return NAI_OK;
}

static int load(struct nai_backing *b, int directory_fd, const char *name, const struct nai_stretch *stretch,
                struct nai_err *err) {
  struct stat st;
  struct nai_table_header header;
  NAI_CLOSED int fd =
      directory_fd == AT_FDCWD ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : nai_fs_open_at(directory_fd, name);
  if (fd < 0)
    return nai_err_sys(err, NAI_ESTALE, errno, "cannot open \"%s\"", name);
  if (fstat(fd, &st) != 0)
    return nai_err_sys(err, NAI_ESTALE, errno, "cannot examine \"%s\"", name);
  if (!S_ISREG(st.st_mode))
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is not a regular file", name);
  ssize_t n = stretch ? 0 : nai_fs_read_upto(fd, &header, sizeof header, 0);
  if (n < 0)
    return nai_err_sys(err, NAI_ESTALE, errno, "cannot read \"%s\"", name);
  struct nai_stretch at = stretch ? *stretch : find_stretch(&header, (size_t)n, (uint64_t)st.st_size);
  NAI_TRY(set_size(b, &at, (uint64_t)st.st_size, name, err));
  return b->size < MAPPED_BYTES ? read_into_memory(b, fd, at.offset, name, err) : map(b, fd, at.offset, name, err);
}

/* The same of a file that is held. */
static int take_content(struct nai_backing *b, const struct nai_buf *content, const char *name,
                        const struct nai_stretch *stretch, struct nai_err *err) {
  struct nai_stretch at = stretch ? *stretch : find_stretch(content->data, content->len, content->len);
  NAI_TRY(set_size(b, &at, content->len, name, err));
  b->heap = true;
  b->data = malloc(b->size + 1);
  if (!b->data)
    return nai_err_nomem(err);
  memcpy(b->data, content->data + at.offset, b->size);
  return NAI_OK;
}

static int check_header(struct nai_table_header *header, const struct nai_backing *b, const char *name,
                        struct nai_err *err) {
  memcpy(header, b->data, sizeof *header);
  if (memcmp(header->magic, NAI_TABLE_MAGIC, sizeof header->magic) != 0 && !is_set(header))
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is not a table file (*.ntab)", name);
  if (header->major != NAI_TABLE_MAJOR || header->byte_order != NAI_TABLE_BYTE_ORDER)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" was written by another version of this program (format %u.%u)", name,
                       header->major, header->minor);
  uint64_t at = header->descriptor_offset, bytes = header->descriptor_bytes;
  if (header->header_hash != XXH3_64bits(header, offsetof(struct nai_table_header, header_hash)) ||
      header->file_bytes != b->size || at > b->size || bytes > b->size - at || header->rows > b->size ||
      XXH3_64bits(b->data + at, (size_t)bytes) != header->descriptor_hash)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is damaged", name);
  return NAI_OK;
}

/* A section's bytes, NULL when it lies outside the file or its checksum differs. */
static const unsigned char *section_at(const struct nai_backing *b, const struct nai_section *s) {
  if (s->offset > b->size || s->bytes > b->size - s->offset ||
      XXH3_64bits(b->data + s->offset, (size_t)s->bytes) != s->hash)
    return NULL;
  return b->data + s->offset;
}

/* --- texts and columns ------------------------------------------------------------------------- */

static bool take_strings(struct nai_table *table, const struct nai_descriptor *d) {
  struct nai_strings *s = &table->strings;
  const uint64_t *offsets = (const void *)section_at(table->backing, &d->text_offsets);
  const char *text = (const char *)section_at(table->backing, &d->texts);
  uint64_t count = d->text_count, bytes = d->texts.bytes;
  if (!offsets || !text || count >= NAI_NO_STRING)
    return false;
  if (count == 0)
    return true;
  if (d->text_offsets.offset % 8 || d->text_offsets.bytes != (count + 1) * 8 || offsets[0] != 0 ||
      offsets[count] != bytes)
    return false;
  for (uint64_t i = 0; i < count; i++)
    if (offsets[i + 1] <= offsets[i] || offsets[i + 1] > bytes || text[offsets[i + 1] - 1] != '\0')
      return false;
  table->backing->borrowed_strings = true;
  s->bytes = (char *)text;
  s->bytes_len = s->bytes_capacity = (size_t)bytes;
  s->offsets = (uint64_t *)offsets;
  s->count = s->capacity = (uint32_t)count;
  return true;
}

/* Column c of the table is column f of the file: an array where its cells are plain. */
static bool take_column(struct nai_table *table, uint32_t c, const struct nai_descriptor *d, uint32_t f) {
  const struct nai_backing *b = table->backing;
  const struct nai_file_column *from = &d->columns[f];
  enum nai_type type = d->defs[f].type;
  bool plain = from->width == nai_type_size(type) && from->base == 0;
  const unsigned char *cells = section_at(b, &from->cells);
  if (!cells || from->cells.offset % 8 || (type == NAI_F64 && !plain) ||
      from->cells.bytes != (uint64_t)table->rows * from->width ||
      (size_t)(b->data + b->size - cells) < from->cells.bytes + 8) /* nai_at reads a word from each cell */
    return false;
  table->packed[c] = nai_column_of(type, cells, from->width, from->base);
  table->columns[c] = plain ? (void *)cells : NULL;
  if (type != NAI_STR)
    return true;
  /* A text number may be an index into something sized by the dictionary. */
  return nai_column_within(&table->packed[c], table->rows, 0, (int64_t)table->strings.count - 1);
}

/* A column that the file lacks reads as NULL. */
static bool take_nulls(struct nai_table *table, uint32_t c) {
  enum nai_type type = table->schema->columns[c].type;
  struct nai_backing *b = table->backing;
  table->packed[c] = nai_column_of(type, NULL, 0, NAI_NULL_I64);
  if (type == NAI_F64 && !b->nulls) {
    b->nulls = malloc(((size_t)table->rows + 1) * sizeof *b->nulls);
    for (int64_t i = 0; b->nulls && i < table->rows; i++)
      b->nulls[i] = NAN;
  }
  if (type == NAI_F64)
    table->columns[c] = b->nulls;
  return type != NAI_F64 || b->nulls;
}

/* Fills the table's columns, whatever order the file has them in. */
static int take_columns(struct nai_table *table, const struct nai_descriptor *d, const char *name,
                        struct nai_err *err) {
  bool any_packed = false;
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    const struct nai_column_def *def = &table->schema->columns[c];
    int f = nai_schema_column(&d->schema, def->name);
    if (f < 0 && def->was) /* written before it was renamed */
      f = nai_schema_column(&d->schema, def->was);
    if (f >= 0 && d->defs[f].type != def->type)
      return nai_err_set(err, NAI_ESTALE,
                         "\"%s\": column \"%s\" has another type than this version of the program writes", name,
                         def->name);
    if (f < 0 && !take_nulls(table, c))
      return nai_err_nomem(err);
    if (f >= 0 && !take_column(table, c, d, (uint32_t)f))
      return nai_err_set(err, NAI_ESTALE, "\"%s\" is damaged", name);
    any_packed |= !table->columns[c];
  }
  if (!any_packed) {
    free(table->packed);
    table->packed = NULL;
  }
  return NAI_OK;
}

/* --- opening ----------------------------------------------------------------------------------- */

static int fill(struct nai_table *table, const struct nai_descriptor *d, const char *name, struct nai_err *err) {
  table->packed = calloc((size_t)table->schema->column_count + 1, sizeof *table->packed);
  NAI_TRY(nai_memory_check(table->packed, err));
  if (!take_strings(table, d))
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is damaged", name);
  return take_columns(table, d, name, err);
}

/* The table of a file that was loaded; takes the backing over. */
static int make_table(struct nai_table **out, struct nai_backing **backing, const struct nai_table_header *header,
                      const struct nai_descriptor *d, const struct nai_schema *schema, const char *name,
                      struct nai_err *err) {
  NAI_OWNED(nai_table) *table = NULL;
  if (schema && !nai_schema_is_called(schema->name, schema->was, d->schema.name))
    return nai_err_set(err, NAI_ESTALE, "\"%s\" holds table \"%s\", not \"%s\"", name, d->schema.name, schema->name);
  NAI_TRY(schema ? nai_table_new(&table, schema, err) : nai_table_new_copy(&table, &d->schema, err));
  table->backing = *backing;
  *backing = NULL;
  table->rows = table->capacity = (int64_t)header->rows;
  table->key = header->key;
  NAI_TRY(fill(table, d, name, err));
  return NAI_GIVE(out, table);
}

int nai_table_open_within(struct nai_table **out, int directory_fd, const char *name, const struct nai_buf *content,
                          const struct nai_stretch *stretch, const struct nai_schema *schema, struct nai_err *err) {
  struct nai_table_header header;
  NAI_SCOPED(nai_descriptor) d = {0};
  NAI_OWNED(nai_backing) *b = NULL;
  NAI_TRY(nai_backing_new(&b, err));
  NAI_TRY(content ? take_content(b, content, name, stretch, err) : load(b, directory_fd, name, stretch, err));
  NAI_TRY(check_header(&header, b, name, err));
  int rc = nai_descriptor_read(&d, b->data + header.descriptor_offset, (size_t)header.descriptor_bytes, err);
  if (rc)
    return rc == NAI_ESTALE ? nai_err_set(err, rc, "\"%s\" is damaged", name) : rc;
  return make_table(out, &b, &header, &d, schema, name, err);
}

int nai_table_open_at(struct nai_table **out, int directory_fd, const char *name, const struct nai_schema *schema,
                      struct nai_err *err) {
  return nai_table_open_within(out, directory_fd, name, NULL, NULL, schema, err);
}

int nai_table_open(struct nai_table **out, const char *path, const struct nai_schema *schema, struct nai_err *err) {
  return nai_table_open_at(out, AT_FDCWD, path, schema, err);
}

static bool begins_with(int directory, const char *name, const char *magic) {
  char first[sizeof NAI_TABLE_MAGIC];
  NAI_CLOSED int fd = nai_fs_open_at(directory, name);
  return fd >= 0 && nai_fs_read_upto(fd, first, sizeof first, 0) == (ssize_t)sizeof first &&
         memcmp(first, magic, sizeof first) == 0;
}

bool nai_table_is_whole_at(int directory, const char *name) {
  struct nai_table_header header;
  struct stat st;
  NAI_CLOSED int fd = nai_fs_open_at(directory, name);
  return fd >= 0 && fstat(fd, &st) == 0 && nai_fs_read_upto(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
         header.file_bytes == (uint64_t)st.st_size;
}

bool nai_table_is_file_at(int directory, const char *name) {
  return begins_with(directory, name, NAI_TABLE_MAGIC) || begins_with(directory, name, NAI_TABLE_SET_MAGIC);
}
