/* The reader of table files with its checksums switched off, so that what lies behind them meets arbitrary bytes. */
#define XXH_INLINE_ALL
#include <xxhash.h>

static XXH64_hash_t no_hash(const void *data, size_t len) {
  (void)data;
  (void)len;
  return 0;
}
#undef XXH3_64bits
#define XXH3_64bits no_hash
#include "table/file_read.c"
#include "table/file_write.c"

#include "write_table.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looks at every cell. */
static void read_all(const struct nai_table *table) {
  struct nai_buf out = {0};
  for (int64_t row = 0; row < table->rows && row < 64; row++)
    for (uint32_t c = 0; c < table->schema->column_count; c++) {
      struct nai_value value = nai_table_value(table, row, (int)c);
      nai_value_print(&out, table->schema->columns[c].unit, &value);
      nai_value_print_human(&out, table->schema->columns[c].unit, &value);
    }
  for (uint32_t c = 0; c < table->schema->column_count; c++) /* the last cell of each column lies inside the file */
    if (table->rows)
      nai_table_value(table, table->rows - 1, (int)c);
  nai_strings_find(&table->strings, "x", 1);
  nai_buf_free(&out);
}

/* A file to start from, with packed columns: the reader accepts it. */
static void make_packed_seed(struct nai_buf *out, const char *path) {
  static const struct nai_column_def columns[] = {
      {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, ""}, {"name", NAI_STR, NAI_TEXT, ""}, {"same", NAI_I32, NAI_ID, ""}};
  static const struct nai_schema schema = NAI_SCHEMA("p", "P", "d", columns);
  static const struct nai_extent extents[] = {{0, 1 << 20, false}, {0, 1, true}, {7, 7, false}};
  static const int64_t starts[] = {0, 77, 1 << 20}, names[] = {0, 1, NAI_NULL_I64};
  static struct nai_column_writer writer;
  struct nai_table *table = NULL;
  if (nai_table_create(&table, &schema, 3, extents, path, 7, NULL))
    return;
  nai_strings_add(&table->strings, "x", 1);
  nai_strings_add(&table->strings, "yy", 2);
  nai_writer_begin(&writer, table, 0, 0);
  int rc = nai_writer_put(&writer, starts, 3, NULL) || nai_writer_end(&writer, NULL);
  nai_writer_begin(&writer, table, 1, 0);
  rc = rc || nai_writer_put(&writer, names, 3, NULL) || nai_writer_end(&writer, NULL) || nai_table_seal(table, NULL);
  if (!rc && nai_fs_read(out, path, 1 << 20, NAI_EIO, NULL) != 0)
    nai_buf_clear(out);
  nai_table_free(table);
}

/* The same, without. */
static void make_seed(struct nai_buf *out, const char *path) {
  static const struct nai_column_def columns[] = {{"s", NAI_STR, NAI_TEXT, ""},
                                                  {"a_ns", NAI_I64, NAI_NS, "", .display_units = NAI_AS_NS | NAI_AS_MS},
                                                  {"f", NAI_F64, NAI_PCT, ""},
                                                  {"i", NAI_I32, NAI_ID, ""}};
  static const struct nai_schema schema = NAI_SCHEMA("t", "T", "d", columns);
  struct nai_table *table = NULL;
  if (nai_table_new(&table, &schema, NULL))
    return;
  for (int i = 0; i < 3; i++)
    nai_set_str(table, nai_table_add_row(table), 0, i ? "x" : "y");
  if (write_table(table, path, 7, NULL) == 0 && nai_fs_read(out, path, 1 << 20, NAI_EIO, NULL) != 0)
    nai_buf_clear(out);
  nai_table_free(table);
}

/* The input is a list of (place, byte) changes to the seed, or a whole file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct nai_buf seeds[2];
  static char path[64];
  if (!path[0]) {
    snprintf(path, sizeof path, "/tmp/nai-fuzz-table-%d", (int)getpid());
    make_seed(&seeds[0], path);
    make_packed_seed(&seeds[1], path);
  }
  const struct nai_buf *seed = &seeds[size && data[0] & 2 ? 1 : 0];
  struct nai_buf file = {0};
  struct nai_table *table = NULL;
  struct nai_err err = {0};
  if (size && data[0] & 1) {
    nai_buf_put(&file, seed->data, seed->len);
    for (size_t i = 1; i + 3 <= size; i += 3)
      file.data[((size_t)data[i] << 8 | data[i + 1]) % seed->len] = (char)data[i + 2];
  } else {
    nai_buf_put(&file, data, size);
  }
  if (file.len >= sizeof(struct nai_table_header)) { /* the length is a checksum of a kind, too */
    uint64_t bytes = file.len;
    memcpy(file.data + offsetof(struct nai_table_header, file_bytes), &bytes, sizeof bytes);
  }
  if (nai_fs_write(path, nai_buf_str(&file), file.len, &err) == 0 && nai_table_open(&table, path, NULL, &err) == 0) {
    read_all(table);
    nai_table_free(table);
  }
  unlink(path);
  nai_buf_free(&file);
  return 0;
}
