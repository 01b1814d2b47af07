/* Writing table files: at once from memory, or block by block where a table is too large for it. */
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

static uint64_t aligned(uint64_t offset) {
  return (offset + NAI_TABLE_ALIGNMENT - 1) & ~(uint64_t)(NAI_TABLE_ALIGNMENT - 1);
}

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

/* Bytes of a column's cells. */
static uint32_t cell_width(const struct nai_table *table, uint32_t column) {
  return table->packed ? table->packed[column].width : (uint32_t)nai_type_size(table->schema->columns[column].type);
}

/* Where each column's cells start in the file; returns the end of the last one. A word behind each column may be read.
 */
static uint64_t lay_out(uint64_t *offsets, const struct nai_table *table) {
  uint64_t at = aligned(sizeof(struct nai_table_header));
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    offsets[c] = at;
    if (!table->schema->columns[c].same_as)
      at = aligned(at + (uint64_t)table->rows * cell_width(table, c) + sizeof(uint64_t));
  }
  return at;
}

/* Descriptor and header for a table whose columns start at `offsets` and whose strings follow at `strings_at`. */
static void describe(struct nai_buf *out, struct nai_table_header *header, const struct nai_table *table,
                     const uint64_t *offsets, uint64_t strings_at) {
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
    put_u32(out, cell_width(table, c));
    put_u64(out, table->packed ? (uint64_t)nai_column_base(&table->packed[c]) : 0);
    uint64_t bytes = def->same_as ? 0 : (uint64_t)table->rows * cell_width(table, c);
    put_section(out, offsets[c], table->packed ? table->packed[c].cells : table->columns[c], bytes);
  }
  const struct nai_strings *strings = &table->strings;
  put_u32(out, strings->count);
  uint64_t offset_bytes = strings->count ? ((uint64_t)strings->count + 1) * 8 : 0;
  put_section(out, strings_at, strings->offsets, offset_bytes);
  put_section(out, strings_at + offset_bytes, strings->bytes, strings->bytes_len);
  *header = (struct nai_table_header){
      .version = NAI_TABLE_VERSION, .byte_order = NAI_TABLE_BYTE_ORDER, .rows = (uint64_t)table->rows};
  memcpy(header->magic, NAI_TABLE_MAGIC, sizeof header->magic);
  header->descriptor_offset = strings_at + offset_bytes + strings->bytes_len;
  header->descriptor_bytes = out->len;
  header->descriptor_hash = XXH3_64bits(nai_buf_str(out), out->len);
  header->file_bytes = header->descriptor_offset + out->len;
  header->header_hash = XXH3_64bits(header, offsetof(struct nai_table_header, header_hash));
}

static void put_strings(struct nai_buf *out, const struct nai_strings *strings) {
  if (!strings->count)
    return;
  nai_buf_put(out, strings->offsets, ((size_t)strings->count + 1) * 8);
  nai_buf_put(out, strings->bytes, strings->bytes_len);
}

int nai_table_write(const struct nai_table *table, const char *path, struct nai_err *err) {
  struct nai_buf file = {0}, descriptor = {0};
  struct nai_table_header header = {0};
  uint64_t *offsets = malloc(((size_t)table->schema->column_count + 1) * sizeof *offsets);
  int rc = offsets ? nai_table_check(table, err) : nai_err_nomem(err);
  if (rc)
    goto out;
  uint64_t end = lay_out(offsets, table);
  describe(&descriptor, &header, table, offsets, end);
  nai_buf_put(&file, &header, sizeof header);
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    const struct nai_column_def *def = &table->schema->columns[c];
    if (def->same_as)
      continue;
    static const char zeros[2 * NAI_TABLE_ALIGNMENT];
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

/* --- tables made in a file -------------------------------------------------------------------- */

static int create_file(struct nai_table *table, const char *path, struct nai_err *err) {
  struct nai_backing *backing = table->backing;
  backing->path = strdup(path);
  backing->offsets = malloc(((size_t)table->schema->column_count + 1) * sizeof *backing->offsets);
  if (!backing->path || !backing->offsets)
    return nai_err_nomem(err);
  backing->size = (size_t)lay_out(backing->offsets, table);
  backing->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (backing->fd < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", path);
  /* A disk too small says so here, before the work. */
  int failed = posix_fallocate(backing->fd, 0, (off_t)backing->size);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot reserve %zu bytes for \"%s\"", backing->size, path)
                : NAI_OK;
}

int nai_table_create(struct nai_table **out, const struct nai_schema *schema, int64_t rows,
                     const struct nai_extent *extents, const char *path, struct nai_err *err) {
  struct nai_table *table;
  int rc = nai_backing_new(&table, schema, err);
  if (rc)
    return rc;
  table->rows = table->capacity = rows;
  table->packed = calloc((size_t)schema->column_count + 1, sizeof *table->packed);
  bool any = false;
  for (uint32_t c = 0; table->packed && c < schema->column_count; c++) {
    table->packed[c] = nai_column_for(schema->columns[c].type, &extents[c]);
    any |= table->packed[c].width > 0;
  }
  /* A file is at least as long as it has rows, so that no short one can claim to have billions. */
  if (table->packed && !any)
    table->packed[0] = nai_column_of(schema->columns[0].type, NULL, 1, nai_column_base(&table->packed[0]));
  rc = table->packed ? create_file(table, path, err) : nai_err_nomem(err);
  if (rc) {
    nai_table_free(table);
    return rc;
  }
  *out = table;
  return NAI_OK;
}

void nai_writer_begin(struct nai_column_writer *w, const struct nai_table *table, int column, int64_t row) {
  w->table = table;
  w->column = column;
  w->row = row;
  w->held = 0;
}

int nai_writer_put(struct nai_column_writer *w, const int64_t *values, int64_t count, struct nai_err *err) {
  const struct nai_column *c = &w->table->packed[w->column];
  for (int64_t n; count; values += n, count -= n) {
    if (w->held == NAI_WRITER_CELLS) {
      int rc = nai_writer_end(w, err);
      if (rc)
        return rc;
    }
    n = count < NAI_WRITER_CELLS - w->held ? count : NAI_WRITER_CELLS - w->held;
    nai_pack(w->cells + w->held * c->width, c, values, (size_t)n);
    w->held += n;
  }
  return NAI_OK;
}

int nai_writer_end(struct nai_column_writer *w, struct nai_err *err) {
  const struct nai_backing *backing = w->table->backing;
  uint64_t width = w->table->packed[w->column].width;
  uint64_t at = backing->offsets[w->column] + (uint64_t)w->row * width;
  int failed = nai_fs_write_at(backing->fd, w->cells, (size_t)w->held * width, at);
  w->row += w->held;
  w->held = 0;
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", backing->path) : NAI_OK;
}

static int map_columns(struct nai_table *table, struct nai_err *err) {
  struct nai_backing *backing = table->backing;
  void *data = mmap(NULL, backing->size, PROT_READ, MAP_SHARED, backing->fd, 0);
  if (data == MAP_FAILED)
    return nai_err_sys(err, NAI_EIO, errno, "cannot map \"%s\"", backing->path);
  backing->data = data;
  for (uint32_t c = 0; c < table->schema->column_count; c++)
    if (table->packed[c].width)
      table->packed[c].cells = backing->data + backing->offsets[c];
  nai_table_share_columns(table);
  return NAI_OK;
}

int nai_table_seal(struct nai_table *table, struct nai_err *err) {
  struct nai_backing *backing = table->backing;
  struct nai_buf tail = {0}, descriptor = {0};
  struct nai_table_header header;
  int rc = nai_table_check(table, err);
  if (!rc)
    rc = map_columns(table, err);
  if (rc)
    return rc;
  describe(&descriptor, &header, table, backing->offsets, backing->size);
  /* Hashing has mapped every column; those that nobody reads need not stay in the process. */
  (void)madvise(backing->data, backing->size, MADV_DONTNEED);
  put_strings(&tail, &table->strings);
  nai_buf_put(&tail, nai_buf_str(&descriptor), descriptor.len);
  if ((rc = nai_buf_check(&tail, err)))
    goto out;
  int failed = nai_fs_write_at(backing->fd, nai_buf_str(&tail), tail.len, backing->size);
  if (!failed) /* the header last: without it the file is none */
    failed = nai_fs_write_at(backing->fd, &header, sizeof header, 0);
  if (close(backing->fd) != 0 && !failed)
    failed = errno;
  backing->fd = -1;
  if (failed)
    rc = nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", backing->path);
out:
  nai_buf_free(&tail);
  nai_buf_free(&descriptor);
  return rc;
}
