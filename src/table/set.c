#include "table/set.h"

#include "base/sink.h"
#include "table/file.h"

static const struct nai_column_def columns[] = {
    [TABLE_SET_table_name] = {"table_name", NAI_STR, NAI_TEXT, "name of the table", .role = NAI_ROLE_NAME, .key = true},
    [TABLE_SET_row_count] = {"row_count", NAI_I64, NAI_COUNT, "its rows", .role = NAI_ROLE_METRIC},
    [TABLE_SET_key] = {"key", NAI_I64, NAI_ID, "what it was made from"},
    [TABLE_SET_offset] = {"offset", NAI_I64, NAI_BYTES, "where it begins in the file"},
    [TABLE_SET_size_bytes] = {"size_bytes", NAI_I64, NAI_BYTES, "its bytes there; 0: only listed",
                              .role = NAI_ROLE_METRIC},
};
const struct nai_schema nai_table_set_schema = NAI_SCHEMA("table_set", "Tables in a file", "One table", columns);

/* --- writing ---------------------------------------------------------------------------------- */

struct set {
  struct nai_table_image *images, front; /* of the tables that are not only listed, and of the list */
  size_t count;
  struct nai_table *list;
};

static void set_free(struct set *set) {
  for (size_t i = 0; i < set->count; i++)
    nai_table_image_free(&set->images[i]);
  free(set->images);
  nai_table_image_free(&set->front);
  nai_table_free(set->list);
}

static int add(struct set *set, const struct nai_table *table, bool listed, struct nai_err *err) {
  struct nai_table_image *image = &set->images[set->count++];
  if (!listed)
    NAI_TRY(nai_table_image_make(image, table, err));
  int64_t row = nai_table_add_row(set->list);
  nai_set_str(set->list, row, TABLE_SET_table_name, table->schema->name);
  nai_set_i64(set->list, row, TABLE_SET_row_count, table->rows);
  nai_set_i64(set->list, row, TABLE_SET_key, (int64_t)table->key);
  nai_set_i64(set->list, row, TABLE_SET_size_bytes, (int64_t)image->header.file_bytes);
  return nai_table_check(set->list, err);
}

/* The list is as long wherever the tables are. */
static int place(struct set *set, struct nai_err *err) {
  NAI_TRY(nai_table_image_make(&set->front, set->list, err));
  uint64_t at = nai_table_aligned(set->front.header.file_bytes);
  for (size_t i = 0; i < set->count; i++) {
    nai_set_i64(set->list, (int64_t)i, TABLE_SET_offset, set->images[i].table ? (int64_t)at : 0);
    at = nai_table_aligned(at + set->images[i].header.file_bytes);
  }
  nai_table_image_free(&set->front);
  NAI_TRY(nai_table_image_make(&set->front, set->list, err));
  nai_table_image_mark(&set->front, NAI_TABLE_SET_MAGIC);
  return NAI_OK;
}

static void put(struct nai_buf *file, const struct set *set) {
  nai_table_image_put(file, &set->front);
  for (size_t i = 0; i < set->count; i++) {
    if (!set->images[i].table)
      continue;
    while (!nai_buf_failed(file) && nai_buf_position(file) % NAI_TABLE_ALIGNMENT)
      nai_buf_putc(file, '\0');
    nai_table_image_put(file, &set->images[i]);
  }
}

int nai_table_set_write(struct nai_table *const *tables, size_t count, bool (*is_declared)(const char *name),
                        const char *path, struct nai_err *err) {
  NAI_SCOPED(set) set = {0};
  struct nai_file_sink sink;
  NAI_TRY(nai_table_new(&set.list, &nai_table_set_schema, err));
  set.images = calloc(count + 1, sizeof *set.images);
  NAI_TRY(nai_memory_check(set.images, err));
  for (size_t i = 0; i < count; i++)
    NAI_TRY(add(&set, tables[i], !tables[i]->rows && is_declared(tables[i]->schema->name), err));
  NAI_TRY(place(&set, err));
  int rc = nai_sink_create(&sink, path, err);
  if (!rc)
    put(&sink.text, &set);
  return nai_sink_finish(&sink, rc, err);
}

/* --- reading ---------------------------------------------------------------------------------- */

int64_t nai_table_set_find(const struct nai_table *list, const char *name) {
  return nai_find_str(list, TABLE_SET_table_name, name);
}

uint64_t nai_table_set_end(const struct nai_table *list) {
  uint64_t end = 0;
  for (int64_t row = 0; row < list->rows; row++)
    if (nai_get_i64(list, row, TABLE_SET_size_bytes))
      end = (uint64_t)nai_get_i64(list, row, TABLE_SET_offset) + (uint64_t)nai_get_i64(list, row, TABLE_SET_size_bytes);
  return end;
}

static int make_empty(struct nai_table **out, const struct nai_table *list, int64_t row, const char *name,
                      const struct nai_schema *schema, struct nai_err *err) {
  if (!schema || nai_get_i64(list, row, TABLE_SET_row_count))
    return nai_err_set(err, NAI_ESTALE, "\"%s\" does not say what table \"%s\" is", name,
                       nai_get_str(list, row, TABLE_SET_table_name));
  NAI_TRY(nai_table_new(out, schema, err));
  (*out)->key = (uint64_t)nai_get_i64(list, row, TABLE_SET_key);
  return NAI_OK;
}

static int open_row(struct nai_table **out, int directory_fd, const char *name, const struct nai_buf *content,
                    const struct nai_table *list, int64_t row, const struct nai_schema *schema, struct nai_err *err) {
  const struct nai_stretch at = {(uint64_t)nai_get_i64(list, row, TABLE_SET_offset),
                                 (uint64_t)nai_get_i64(list, row, TABLE_SET_size_bytes)};
  if (!at.bytes)
    return make_empty(out, list, row, name, schema, err);
  int rc = nai_table_open_within(out, directory_fd, name, content, &at, schema, err);
  return rc ? nai_err_wrap(err, rc, "table \"%s\"", nai_get_str(list, row, TABLE_SET_table_name)) : NAI_OK;
}

int nai_table_set_open(struct nai_table **out, int directory_fd, const char *name, const struct nai_table *list,
                       int64_t row, const struct nai_schema *schema, struct nai_err *err) {
  return open_row(out, directory_fd, name, NULL, list, row, schema, err);
}

int nai_table_held_open(struct nai_table **out, const struct nai_buf *content, const char *name,
                        const struct nai_table *list, int64_t row, const struct nai_schema *schema,
                        struct nai_err *err) {
  return list ? open_row(out, -1, name, content, list, row, schema, err)
              : nai_table_open_within(out, -1, name, content, NULL, schema, err);
}
