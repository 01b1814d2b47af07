/* Writing table files: at once from memory, or block by block where a table is too large for it. */
#include "table/file.h"

#include "base/fs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t nai_table_aligned(uint64_t offset) {
  return (offset + NAI_TABLE_ALIGNMENT - 1) & ~(uint64_t)(NAI_TABLE_ALIGNMENT - 1);
}

static struct nai_section section_of(uint64_t offset, const void *data, uint64_t bytes) {
  return (struct nai_section){offset, bytes, XXH3_64bits(bytes ? data : "", bytes)};
}

/* Bytes of a column's cells. */
static uint32_t cell_width(const struct nai_table *table, uint32_t column) {
  return table->packed ? table->packed[column].width : (uint32_t)nai_type_size(table->schema->columns[column].type);
}

/* Where each column's cells start in the file; returns the end of the last one. A word behind each column may be read.
 */
static uint64_t lay_out(uint64_t *offsets, const struct nai_table *table) {
  uint64_t at = nai_table_aligned(sizeof(struct nai_table_header));
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    offsets[c] = at;
    at = nai_table_aligned(at + (uint64_t)table->rows * cell_width(table, c) + sizeof(uint64_t));
  }
  return at;
}

static void hash_header(struct nai_table_header *header) {
  header->header_hash = XXH3_64bits(header, offsetof(struct nai_table_header, header_hash));
}

/* Descriptor and header for a table whose columns start at `offsets` and whose strings follow at `strings_at`. */
static int describe(struct nai_buf *out, struct nai_table_header *header, const struct nai_table *table,
                    const uint64_t *offsets, uint64_t strings_at, struct nai_err *err) {
  const struct nai_strings *strings = &table->strings;
  uint64_t offset_bytes = strings->count ? ((uint64_t)strings->count + 1) * 8 : 0;
  NAI_FREED struct nai_file_column *columns = calloc((size_t)table->schema->column_count + 1, sizeof *columns);
  NAI_TRY(nai_memory_check(columns, err));
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    uint32_t width = cell_width(table, c);
    const void *cells = table->packed ? table->packed[c].cells : table->columns[c];
    columns[c] = (struct nai_file_column){.width = width,
                                          .base = table->packed ? nai_column_base(&table->packed[c]) : 0,
                                          .cells = section_of(offsets[c], cells, (uint64_t)table->rows * width)};
  }
  nai_descriptor_put(out, &(struct nai_descriptor){
                              .schema = *table->schema,
                              .columns = columns,
                              .text_count = strings->count,
                              .text_offsets = section_of(strings_at, strings->offsets, offset_bytes),
                              .texts = section_of(strings_at + offset_bytes, strings->bytes, strings->bytes_len)});
  uint64_t descriptor_at = strings_at + offset_bytes + strings->bytes_len;
  *header = (struct nai_table_header){.magic = NAI_TABLE_MAGIC,
                                      .major = NAI_TABLE_MAJOR,
                                      .minor = NAI_TABLE_MINOR,
                                      .byte_order = NAI_TABLE_BYTE_ORDER,
                                      .rows = (uint64_t)table->rows,
                                      .key = table->key,
                                      .descriptor_offset = descriptor_at,
                                      .descriptor_bytes = out->len,
                                      .descriptor_hash = XXH3_64bits(nai_buf_str(out), out->len),
                                      .file_bytes = descriptor_at + out->len};
  hash_header(header);
  return nai_buf_check(out, err);
}

int nai_table_image_make(struct nai_table_image *image, const struct nai_table *table, struct nai_err *err) {
  *image = (struct nai_table_image){.table = table};
  NAI_TRY(nai_table_check(table, err));
  image->offsets = malloc(((size_t)table->schema->column_count + 1) * sizeof *image->offsets);
  NAI_TRY(nai_memory_check(image->offsets, err));
  image->end = lay_out(image->offsets, table);
  return describe(&image->descriptor, &image->header, table, image->offsets, image->end, err);
}

void nai_table_image_mark(struct nai_table_image *image, const char *magic) {
  memcpy(image->header.magic, magic, sizeof image->header.magic);
  hash_header(&image->header);
}

void nai_table_image_free(struct nai_table_image *image) {
  nai_buf_free(&image->descriptor);
  free(image->offsets);
}

void nai_table_image_put(struct nai_buf *file, const struct nai_table_image *image) {
  static const char zeros[2 * NAI_TABLE_ALIGNMENT];
  const struct nai_table *table = image->table;
  const struct nai_strings *strings = &table->strings;
  uint64_t start = nai_buf_position(file);
  nai_buf_put(file, &image->header, sizeof image->header);
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    const void *cells = table->packed ? table->packed[c].cells : table->columns[c];
    nai_buf_put(file, zeros, nai_buf_failed(file) ? 0 : (size_t)(start + image->offsets[c] - nai_buf_position(file)));
    nai_buf_put(file, cells ? cells : zeros, cells ? (size_t)table->rows * cell_width(table, c) : 0);
  }
  while (!nai_buf_failed(file) && nai_buf_position(file) < start + image->end)
    nai_buf_putc(file, '\0');
  if (strings->count) {
    nai_buf_put(file, strings->offsets, ((size_t)strings->count + 1) * 8);
    nai_buf_put(file, strings->bytes, strings->bytes_len);
  }
  nai_buf_put(file, nai_buf_str(&image->descriptor), image->descriptor.len);
}

/* --- tables made in a file -------------------------------------------------------------------- */

uint64_t nai_packed_bytes(const struct nai_schema *schema, int64_t rows, const struct nai_extent *extents) {
  uint64_t bytes = 0;
  for (uint32_t c = 0; c < schema->column_count; c++)
    bytes += (uint64_t)rows * nai_column_for(schema->columns[c].type, &extents[c]).width;
  return bytes;
}

bool nai_table_has_file(const struct nai_table *table) { return table->backing && table->backing->path; }

static int create_in_memory(struct nai_backing *backing, struct nai_err *err) {
  backing->heap = true;
  backing->data = calloc(1, backing->size);
  return backing->data ? NAI_OK : nai_err_nomem(err);
}

static int create_file(struct nai_backing *backing, const char *path, struct nai_err *err) {
  backing->path = strdup(path);
  NAI_TRY(nai_memory_check(backing->path, err));
  backing->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (backing->fd < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", path);
  /* A disk too small says so here, before the work. */
  int failed = nai_fs_reserve(backing->fd, backing->size);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot reserve %zu bytes for \"%s\"", backing->size, path)
                : NAI_OK;
}

static int create_cells(struct nai_table *table, const char *path, struct nai_err *err) {
  struct nai_backing *backing = table->backing;
  backing->offsets = malloc(((size_t)table->schema->column_count + 1) * sizeof *backing->offsets);
  NAI_TRY(nai_memory_check(backing->offsets, err));
  backing->size = (size_t)lay_out(backing->offsets, table);
  return path ? create_file(backing, path, err) : create_in_memory(backing, err);
}

int nai_table_create(struct nai_table **out, const struct nai_schema *schema, int64_t rows,
                     const struct nai_extent *extents, const char *path, uint64_t key, struct nai_err *err) {
  NAI_OWNED(nai_table) *table = NULL;
  bool any = false;
  NAI_TRY(nai_table_new(&table, schema, err));
  NAI_TRY(nai_backing_new(&table->backing, err));
  table->rows = table->capacity = rows;
  table->key = key;
  table->packed = calloc((size_t)schema->column_count + 1, sizeof *table->packed);
  NAI_TRY(nai_memory_check(table->packed, err));
  for (uint32_t c = 0; c < schema->column_count; c++) {
    table->packed[c] = nai_column_for(schema->columns[c].type, &extents[c]);
    any |= table->packed[c].width > 0;
  }
  /* A file is at least as long as it has rows, so that no short one can claim to have billions. */
  if (!any)
    table->packed[0] = nai_column_of(schema->columns[0].type, NULL, 1, nai_column_base(&table->packed[0]));
  NAI_TRY(create_cells(table, path, err));
  return NAI_GIVE(out, table);
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
    if (w->held == NAI_WRITER_CELLS)
      NAI_TRY(nai_writer_end(w, err));
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
  int failed = 0;
  if (backing->path)
    failed = nai_fs_write_at(backing->fd, w->cells, (size_t)w->held * width, at);
  else
    memcpy(backing->data + at, w->cells, (size_t)w->held * width);
  w->row += w->held;
  w->held = 0;
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", backing->path) : NAI_OK;
}

static void take_cells(struct nai_table *table) {
  const struct nai_backing *backing = table->backing;
  for (uint32_t c = 0; c < table->schema->column_count; c++)
    if (table->packed[c].width)
      table->packed[c].cells = backing->data + backing->offsets[c];
}

static int map_columns(struct nai_table *table, struct nai_err *err) {
  struct nai_backing *backing = table->backing;
  void *data = mmap(NULL, backing->size, PROT_READ, MAP_SHARED, backing->fd, 0);
  if (data == MAP_FAILED)
    return nai_err_sys(err, NAI_EIO, errno, "cannot map \"%s\"", backing->path);
  backing->data = data;
  take_cells(table);
  return NAI_OK;
}

/* Strings and descriptor behind the columns, then the header: a file without one is no table. 0 or errno. */
static int write_rest(const struct nai_table *table, const struct nai_table_header *header,
                      const struct nai_buf *descriptor) {
  const struct nai_strings *strings = &table->strings;
  int fd = table->backing->fd;
  uint64_t at = table->backing->size, offset_bytes = strings->count ? ((uint64_t)strings->count + 1) * 8 : 0;
  NAI_TRY(nai_fs_write_at(fd, strings->offsets, offset_bytes, at));
  NAI_TRY(nai_fs_write_at(fd, strings->bytes, strings->bytes_len, at + offset_bytes));
  NAI_TRY(nai_fs_write_at(fd, nai_buf_str(descriptor), descriptor->len, header->descriptor_offset));
  return nai_fs_write_at(fd, header, sizeof *header, 0);
}

/* Maps the file's columns and writes what follows them. */
static int seal_file(struct nai_table *table, struct nai_err *err) {
  struct nai_backing *backing = table->backing;
  NAI_SCOPED(nai_buf) descriptor = {0};
  struct nai_table_header header;
  NAI_TRY(map_columns(table, err));
  int rc = describe(&descriptor, &header, table, backing->offsets, backing->size, err);
  /* Hashing has mapped every column; those that nobody reads need not stay in the process. */
  (void)madvise(backing->data, backing->size, MADV_DONTNEED);
  if (rc)
    return rc;
  int failed = write_rest(table, &header, &descriptor);
  if (close(backing->fd) != 0 && !failed)
    failed = errno;
  backing->fd = -1;
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", backing->path) : NAI_OK;
}

int nai_table_seal(struct nai_table *table, struct nai_err *err) {
  NAI_TRY(nai_table_check(table, err));
  if (nai_table_has_file(table))
    return seal_file(table, err);
  take_cells(table);
  return NAI_OK;
}
