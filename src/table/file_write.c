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

static uint64_t aligned(uint64_t offset) { return (offset + NAI_TABLE_ALIGNMENT - 1) & ~(uint64_t)(NAI_TABLE_ALIGNMENT - 1); }

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
  uint64_t at = aligned(sizeof(struct nai_table_header));
  for (uint32_t c = 0; c < schema->column_count; c++) {
    offsets[c] = at;
    if (!schema->columns[c].same_as)
      at = aligned(at + (uint64_t)capacity * nai_type_size(schema->columns[c].type));
  }
  return at;
}

/* Descriptor and header for a table whose columns start at `offsets` and whose strings follow at `strings_at`. */
static void describe(struct nai_buf *out, struct nai_table_header *header, const struct nai_table *table, const uint64_t *offsets,
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
  *header = (struct nai_table_header){.version = NAI_TABLE_VERSION, .byte_order = NAI_TABLE_BYTE_ORDER, .rows = (uint64_t)table->rows};
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
  uint64_t end = lay_out(offsets, table->schema, table->rows);
  describe(&descriptor, &header, table, offsets, end);
  nai_buf_put(&file, &header, sizeof header);
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    const struct nai_column_def *def = &table->schema->columns[c];
    if (def->same_as)
      continue;
    static const char zeros[NAI_TABLE_ALIGNMENT];
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

/* --- tables made in a file ----------------------------------------------------------------------------------- */

static int create_file(struct nai_table *table, const char *path, struct nai_err *err) {
  struct nai_backing *backing = table->backing;
  backing->path = strdup(path);
  backing->offsets = malloc(((size_t)table->schema->column_count + 1) * sizeof *backing->offsets);
  if (!backing->path || !backing->offsets)
    return nai_err_nomem(err);
  backing->size = (size_t)lay_out(backing->offsets, table->schema, table->capacity);
  backing->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (backing->fd < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", path);
  /* Reserving the blocks first makes a full disk an error here instead of a SIGBUS in the mapping later. */
  int failed = posix_fallocate(backing->fd, 0, (off_t)backing->size);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot reserve %zu bytes for \"%s\"", backing->size, path) : NAI_OK;
}

int nai_table_create(struct nai_table **out, const struct nai_schema *schema, int64_t capacity, const char *path,
                     struct nai_err *err) {
  struct nai_table *table;
  int rc = nai_backing_new(&table, schema, err);
  if (rc)
    return rc;
  table->capacity = capacity;
  rc = create_file(table, path, err);
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

static off_t cell_offset(const struct nai_table *table, int column, int64_t row) {
  return (off_t)(table->backing->offsets[column] + (uint64_t)row * nai_type_size(table->schema->columns[column].type));
}

int nai_table_put_cells(const struct nai_table *table, int column, int64_t at, const void *cells, int64_t count,
                        struct nai_err *err) {
  size_t bytes = (size_t)count * nai_type_size(table->schema->columns[column].type);
  int failed = write_at(table->backing->fd, cells, bytes, cell_offset(table, column, at));
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", table->backing->path) : NAI_OK;
}

int nai_table_get_cells(void *cells, const struct nai_table *table, int column, int64_t at, int64_t count,
                        struct nai_err *err) {
  size_t bytes = (size_t)count * nai_type_size(table->schema->columns[column].type), done = 0;
  while (done < bytes) {
    ssize_t n = pread(table->backing->fd, (char *)cells + done, bytes - done, cell_offset(table, column, at) + (off_t)done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return nai_err_sys(err, NAI_EIO, n ? errno : EIO, "cannot read \"%s\"", table->backing->path);
    done += (size_t)n;
  }
  return NAI_OK;
}

int nai_table_map(struct nai_table *table, struct nai_err *err) {
  struct nai_backing *backing = table->backing;
  void *data = mmap(NULL, backing->size, PROT_READ | PROT_WRITE, MAP_SHARED, backing->fd, 0);
  if (data == MAP_FAILED)
    return nai_err_sys(err, NAI_EIO, errno, "cannot map \"%s\"", backing->path);
  backing->data = data;
  for (uint32_t c = 0; c < table->schema->column_count; c++)
    table->columns[c] = backing->data + backing->offsets[c];
  nai_table_share_columns(table);
  return NAI_OK;
}

int nai_table_seal(struct nai_table *table, struct nai_err *err) {
  struct nai_backing *backing = table->backing;
  struct nai_buf tail = {0}, descriptor = {0};
  struct nai_table_header header;
  int rc = nai_table_check(table, err);
  if (rc)
    return rc;
  /* Cells past the last row must not hold what dropped rows left there. */
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    size_t size = nai_type_size(table->schema->columns[c].type);
    memset((char *)table->columns[c] + (size_t)table->rows * size, 0, (size_t)(table->capacity - table->rows) * size);
  }
  describe(&descriptor, &header, table, backing->offsets, backing->size);
  put_strings(&tail, &table->strings);
  nai_buf_put(&tail, nai_buf_str(&descriptor), descriptor.len);
  if ((rc = nai_buf_check(&tail, err)))
    goto out;
  int failed = write_at(backing->fd, nai_buf_str(&tail), tail.len, (off_t)backing->size);
  if (!failed && ftruncate(backing->fd, (off_t)(backing->size + tail.len)) != 0)
    failed = errno;
  memcpy(backing->data, &header, sizeof header);
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
