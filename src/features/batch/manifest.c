#include "features/batch/internal.h"

#include "base/sort.h"
#include "base/array.h"
#include "table/csv_read.h"
#include "base/fs.h"
#include "base/hash.h"
#include "table/csv.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void free_item(const struct nai_batch_manifest *m, struct nai_batch_item *item) {
  free(item->id);
  free(item->path);
  free(item->group);
  for (uint32_t i = 0; item->labels && i < m->labels.count; i++)
    free(item->labels[i]);
  free(item->labels);
}

void nai_batch_manifest_free(struct nai_batch_manifest *m) {
  for (uint32_t i = 0; i < m->count; i++)
    free_item(m, &m->items[i]);
  free(m->items);
  nai_strings_free(&m->labels);
  *m = (struct nai_batch_manifest){0};
}

/* The path from the root on, "." and ".." resolved where the file is there. */
static char *absolute(const char *path) {
  char directory[PATH_MAX], *out = realpath(path, NULL);
  if (!out && path[0] != '/' && getcwd(directory, sizeof directory) && asprintf(&out, "%s/%s", directory, path) < 0)
    out = NULL;
  return out ? out : strdup(path);
}

int nai_batch_add(struct nai_batch_manifest *m, const char *id, const char *path, const char *group,
                  struct nai_err *err) {
  if (!nai_array_room(&m->items, &m->capacity, m->count, sizeof *m->items))
    return nai_err_nomem(err);
  struct nai_batch_item *item = &m->items[m->count++];
  *item = (struct nai_batch_item){.id = id && *id ? strdup(id) : NULL, .path = absolute(path), .group = strdup(group)};
  if (!item->path || !item->group || (id && *id && !item->id))
    return nai_err_nomem(err);
  nai_stamp_of(&item->stamp, item->path); /* where that fails, the analysis says why */
  return NAI_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool is_label(const char *column) {
  static const char *const known[] = {"id", "path", "group", "bytes"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(column, known[i]) == 0)
      return false;
  return true;
}

static int read_labels(struct nai_batch_manifest *m, const struct nai_csv *csv, struct nai_err *err) {
  for (uint32_t c = 0; c < csv->rows[0].count; c++) {
    const char *name = csv->cells[c];
    uint32_t before = m->labels.count;
    if (is_label(name) && nai_strings_add(&m->labels, name, strlen(name)) != before)
      return nai_err_set(err, NAI_EUSAGE, "%s:1: the column \"%.60s\" occurs twice", csv->name, name);
  }
  return NAI_OK;
}

/* Relative paths are seen from the manifest's directory. */
static int read_item(struct nai_batch_manifest *m, const struct nai_csv *csv, uint32_t row, struct nai_err *err) {
  char joined[PATH_MAX];
  const char *path = nai_csv_cell(csv, row, nai_csv_column(csv, "path"));
  const char *base = nai_fs_basename(csv->name);
  if (!*path)
    return nai_err_set(err, NAI_EUSAGE, "%s:%u: the cell of \"path\" is empty", csv->name, csv->rows[row].line);
  if (path[0] != '/' && base != csv->name) {
    snprintf(joined, sizeof joined, "%.*s%s", (int)(base - csv->name), csv->name, path);
    path = joined;
  }
  int rc = nai_batch_add(m, nai_csv_cell(csv, row, nai_csv_column(csv, "id")), path,
                         nai_csv_cell(csv, row, nai_csv_column(csv, "group")), err);
  if (rc || !m->labels.count)
    return rc;
  struct nai_batch_item *item = &m->items[m->count - 1];
  item->labels = calloc(m->labels.count, sizeof *item->labels);
  for (uint32_t i = 0; item->labels && i < m->labels.count; i++)
    if (!(item->labels[i] = strdup(nai_csv_cell(csv, row, nai_csv_column(csv, nai_strings_get(&m->labels, i))))))
      return nai_err_nomem(err);
  return item->labels ? NAI_OK : nai_err_nomem(err);
}

static int read_rows(struct nai_batch_manifest *m, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_csv) *csv = NULL;
  NAI_TRY(nai_csv_read(&csv, path, NAI_BATCH_MANIFEST_MAX, err));
  if (nai_csv_column(csv, "path") < 0)
    return nai_err_set(err, NAI_EUSAGE,
                       "%s:1: a manifest needs a column \"path\"; known are id, path, group, and labels", path);
  NAI_TRY(read_labels(m, csv, err));
  for (uint32_t row = 1; row < csv->row_count; row++)
    NAI_TRY(read_item(m, csv, row, err));
  return NAI_OK;
}

int nai_batch_manifest_read(struct nai_batch_manifest *m, const char *path, struct nai_err *err) {
  *m = (struct nai_batch_manifest){0};
  NAI_TRY(read_rows(m, path, err));
  return nai_batch_name_items(m, err);
}

/* --- making ----------------------------------------------------------------------------------- */

static bool is_manifest(const char *input) {
  size_t n = strlen(input);
  return n > 4 && strcmp(input + n - 4, ".csv") == 0;
}

/* By path, those with an id first. */
static int compare_paths(const void *pa, const void *pb) {
  const struct nai_batch_item *a = pa, *b = pb;
  int order = strverscmp(a->path, b->path);
  if (!order)
    order = (a->id == NULL) - (b->id == NULL);
  return order ? order : strcmp(a->id ? a->id : "", b->id ? b->id : "");
}

static bool is_said_alike(const struct nai_batch_manifest *m, const struct nai_batch_item *a,
                          const struct nai_batch_item *b) {
  bool alike = strcmp(a->group, b->group) == 0;
  for (uint32_t i = 0; i < m->labels.count && alike; i++)
    alike = !a->labels || !b->labels || strcmp(a->labels[i], b->labels[i]) == 0;
  return alike;
}

/* A file that is named again without an id of its own is one item, as long as nothing else is said of it: which of two
 * groups were meant, nobody could tell. */
static int drop_repeated(struct nai_batch_manifest *m, struct nai_err *err) {
  uint32_t kept = 0;
  int rc = NAI_OK;
  for (uint32_t i = 0; i < m->count; i++) {
    struct nai_batch_item *item = &m->items[i];
    bool again = kept && !item->id && strcmp(m->items[kept - 1].path, item->path) == 0;
    if (again && !rc && !is_said_alike(m, &m->items[kept - 1], item))
      rc = nai_err_set(err, NAI_EUSAGE,
                       "the manifest names \"%s\" twice with different groups or labels; give each of the two an id",
                       item->path);
    if (again)
      free_item(m, item);
    else
      m->items[kept++] = *item;
  }
  m->count = kept;
  return rc;
}

int nai_batch_manifest_make(struct nai_batch_manifest *m, const char *const *inputs, size_t count,
                            struct nai_err *err) {
  *m = (struct nai_batch_manifest){0};
  int rc = NAI_OK;
  for (size_t i = 0; i < count && !rc; i++) {
    if (is_manifest(inputs[i]) && count > 1)
      rc = nai_err_set(err, NAI_EUSAGE, "\"%s\" is a manifest and must be the only input", inputs[i]);
    else
      rc = is_manifest(inputs[i]) ? read_rows(m, inputs[i], err) : nai_batch_expand(m, inputs[i], err);
  }
  if (!rc && !m->count)
    rc = nai_err_set(err, NAI_EUSAGE, "no traces: nothing that ends in .sqlite or .nsys-rep was found");
  if (rc)
    return rc;
  qsort(m->items, m->count, sizeof *m->items, compare_paths);
  rc = drop_repeated(m, err);
  return rc ? rc : nai_batch_name_items(m, err);
}

/* --- writing ---------------------------------------------------------------------------------- */

enum { ID, PATH, GROUP, BYTES, FIXED };

static void put_rows(struct nai_table *table, const struct nai_batch_manifest *m) {
  for (uint32_t i = 0; i < m->count; i++) {
    const struct nai_batch_item *item = &m->items[i];
    int64_t row = nai_table_add_row(table);
    nai_set_str(table, row, ID, item->id);
    nai_set_str(table, row, PATH, item->path);
    nai_set_str(table, row, GROUP, item->group);
    nai_set_i64(table, row, BYTES, item->stamp.bytes);
    for (uint32_t c = 0; item->labels && c < m->labels.count; c++)
      nai_set_str(table, row, (int)(FIXED + c), item->labels[c]);
  }
}

static int write_table(uint64_t *hash, const struct nai_table *table, const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_csv_table(&text, table);
  NAI_TRY(nai_table_check(table, err));
  NAI_TRY(nai_buf_check(&text, err));
  *hash = nai_hash_bytes(0, nai_buf_str(&text), text.len);
  return nai_fs_replace(path, nai_buf_str(&text), text.len, err);
}

int nai_batch_manifest_write(uint64_t *hash, const struct nai_batch_manifest *m, const char *path,
                             struct nai_err *err) {
  static const struct nai_column_def fixed[FIXED] = {[ID] = {"id", NAI_STR, NAI_TEXT, "item", .key = true},
                                                     [PATH] = {"path", NAI_STR, NAI_TEXT, "file"},
                                                     [GROUP] = {"group", NAI_STR, NAI_TEXT, "group"},
                                                     [BYTES] = {"bytes", NAI_I64, NAI_BYTES, "size"}};
  NAI_FREED struct nai_column_def *columns = calloc(FIXED + m->labels.count, sizeof *columns);
  NAI_OWNED(nai_table) *table = NULL;
  if (!columns)
    return nai_err_nomem(err);
  memcpy(columns, fixed, sizeof fixed);
  for (uint32_t i = 0; i < m->labels.count; i++)
    columns[FIXED + i] =
        (struct nai_column_def){nai_strings_get(&m->labels, i), NAI_STR, NAI_TEXT, "label of the manifest"};
  const struct nai_schema schema = {"manifest", "Manifest", "One item of a batch", columns, FIXED + m->labels.count};
  NAI_TRY(nai_table_new(&table, &schema, err));
  put_rows(table, m);
  return write_table(hash, table, path, err);
}

/* --- finding ---------------------------------------------------------------------------------- */

static int compare_ids(const void *pa, const void *pb, void *ctx) {
  const struct nai_batch_manifest *m = ctx;
  return strcmp(m->items[*(const uint32_t *)pa].id, m->items[*(const uint32_t *)pb].id);
}

int nai_batch_by_id(uint32_t **out, const struct nai_batch_manifest *m, struct nai_err *err) {
  uint32_t *order = *out = malloc(((size_t)m->count + 1) * sizeof *order);
  if (!order)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < m->count; i++)
    order[i] = i;
  qsort_r(order, m->count, sizeof *order, compare_ids, (void *)m);
  return NAI_OK;
}

struct looked_up {
  const struct nai_batch_manifest *manifest;
  const uint32_t *by_id;
  const char *id;
};

static bool id_before(const void *ctx, size_t i) {
  const struct looked_up *key = ctx;
  return strcmp(key->manifest->items[key->by_id[i]].id, key->id) < 0;
}

int64_t nai_batch_find(const struct nai_batch_manifest *m, const uint32_t *by_id, const char *id) {
  size_t i = nai_search(0, m->count, id_before, &(struct looked_up){m, by_id, id});
  return i < m->count && strcmp(m->items[by_id[i]].id, id) == 0 ? (int64_t)by_id[i] : -1;
}
