#include "features/batch/internal.h"

#include "base/sort.h"
#include "command/command.h"
#include "table/csv_read.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "table/csv.h"

#include <fts.h>
#include <glob.h>
#include <unistd.h>

/* The path from the root on, "." and ".." resolved where the file is there. */
static const char *absolute(const char *path, struct nai_arena *arena) {
  char whole[PATH_MAX], directory[PATH_MAX];
  if (realpath(path, whole))
    return nai_arena_printf(arena, "%s", whole);
  return path[0] != '/' && getcwd(directory, sizeof directory) ? nai_arena_printf(arena, "%s/%s", directory, path)
                                                               : nai_arena_printf(arena, "%s", path);
}

/* Adds an item; NULL or "" for an id that is still to be found. */
static int add_item(struct nai_batch_manifest *m, const char *id, const char *path, const char *group,
                    struct nai_err *err) {
  NAI_TRY(NAI_ROOM(m->items, m->capacity, m->count, m->arena, err));
  struct nai_batch_item *item = &m->items[m->count++];
  *item = (struct nai_batch_item){.id = id && *id ? nai_arena_printf(m->arena, "%s", id) : NULL,
                                  .path = absolute(path, m->arena),
                                  .group = nai_arena_printf(m->arena, "%s", group)};
  NAI_TRY(nai_arena_check(m->arena, err));
  int failed = nai_stamp_of(&item->stamp, item->path); /* of what is refused the analysis says why */
  return !failed || nai_fs_is_absent(failed) || failed == EACCES || failed == ENAMETOOLONG
           ? NAI_OK
           : nai_err_sys(err, NAI_EIO, failed, "cannot examine \"%s\"", item->path);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool is_label(const char *column) {
  return !nai_text_is_one(column, strlen(column), NAI_WORDS("id", "path", "group", "bytes"));
}

static int read_labels(struct nai_batch_manifest *m, const struct nai_csv *csv, struct nai_err *err) {
  NAI_TRY(NAI_NEW(m->labels, m->arena, csv->rows[0].count, err));
  for (uint32_t c = 0; c < csv->rows[0].count; c++) {
    if (!is_label(csv->cells[c]))
      continue;
    for (uint32_t i = 0; i < m->label_count; i++)
      if (strcmp(m->labels[i], csv->cells[c]) == 0)
        return nai_err_set(err, NAI_EUSAGE, "%s:1: the column \"%.60s\" occurs twice", csv->name, csv->cells[c]);
    m->labels[m->label_count++] = nai_arena_printf(m->arena, "%s", csv->cells[c]);
  }
  return nai_arena_check(m->arena, err);
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
  NAI_TRY(add_item(m, nai_csv_cell(csv, row, nai_csv_column(csv, "id")), path,
                   nai_csv_cell(csv, row, nai_csv_column(csv, "group")), err));
  struct nai_batch_item *item = &m->items[m->count - 1];
  NAI_TRY(NAI_NEW(item->labels, m->arena, m->label_count, err));
  for (uint32_t i = 0; i < m->label_count; i++)
    item->labels[i] = nai_arena_printf(m->arena, "%s", nai_csv_cell(csv, row, nai_csv_column(csv, m->labels[i])));
  return nai_arena_check(m->arena, err);
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
  NAI_TRY(read_rows(m, path, err));
  return nai_batch_name_items(m, err);
}

/* --- operands: a file, a directory, a pattern that the shell left alone ------------------------- */

static bool is_trace_name(const char *name) { return nai_cmd_trace_suffix(name, strlen(name)) > 0; }

/* A directory below costs itself, not the others. */
static int note_unreadable(struct nai_batch_manifest *m, const FTSENT *e, struct nai_err *err) {
  if (e->fts_level == 0)
    return nai_err_sys(err, NAI_EUSAGE, e->fts_errno, "cannot read the directory \"%s\"", e->fts_path);
  if (!m->unreadable++)
    m->unread_why =
        nai_arena_printf(m->arena, "cannot read the directory \"%s\": %s", e->fts_path, strerror(e->fts_errno));
  return nai_arena_check(m->arena, err);
}

/* Hidden files and directories are left out. */
static int add_directory(struct nai_batch_manifest *m, const char *path, struct nai_err *err) {
  char *const roots[] = {(char *)path, NULL};
  FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  int rc = NAI_OK;
  if (!walk)
    return nai_err_sys(err, NAI_EUSAGE, errno, "cannot read the directory \"%s\"", path);
  for (FTSENT *e; !rc && (e = fts_read(walk));) {
    if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR)
      rc = note_unreadable(m, e, err);
    else if (e->fts_info == FTS_D && e->fts_level > 0 && e->fts_name[0] == '.')
      fts_set(walk, e, FTS_SKIP);
    else if (e->fts_info == FTS_D && nai_cmd_is_parquet(e->fts_path)) {
      fts_set(walk, e, FTS_SKIP);
      rc = add_item(m, NULL, e->fts_path, "", err);
    } else if ((e->fts_info == FTS_F || e->fts_info == FTS_SL) && e->fts_name[0] != '.' && is_trace_name(e->fts_name))
      rc = add_item(m, NULL, e->fts_path, "", err);
  }
  fts_close(walk);
  return rc;
}

static int add_any(struct nai_batch_manifest *m, const char *path, struct nai_err *err) {
  return nai_fs_is_dir(path) ? add_directory(m, path, err) : add_item(m, NULL, path, "", err);
}

static int add_operand(struct nai_batch_manifest *m, const char *input, struct nai_err *err) {
  glob_t found = {0};
  int rc = NAI_OK;
  if (nai_fs_exists(input) || !strpbrk(input, "*?["))
    return add_any(m, input, err);
  int status = glob(input, GLOB_NOSORT, NULL, &found);
  if (status == GLOB_NOMATCH)
    rc = nai_err_set(err, NAI_EUSAGE, "no file matches \"%s\"", input);
  else if (status)
    rc = nai_err_set(err, NAI_EUSAGE, "cannot expand \"%s\"", input);
  for (size_t i = 0; i < found.gl_pathc && !rc; i++)
    rc = add_any(m, found.gl_pathv[i], err);
  globfree(&found);
  return rc;
}

/* --- making ----------------------------------------------------------------------------------- */

static bool is_manifest(const char *input) {
  size_t n = strlen(input);
  return n > 4 && strcmp(input + n - 4, ".csv") == 0;
}

/* By path, those with an id first. */
NAI_ORDER_BY(compare_paths, struct nai_batch_item, strverscmp(a->path, b->path), !a->id - !b->id,
             strcmp(a->id ? a->id : "", b->id ? b->id : ""))

static bool is_said_alike(const struct nai_batch_manifest *m, const struct nai_batch_item *a,
                          const struct nai_batch_item *b) {
  bool alike = strcmp(a->group, b->group) == 0;
  for (uint32_t i = 0; i < m->label_count && alike; i++)
    alike = !a->labels || !b->labels || strcmp(a->labels[i], b->labels[i]) == 0;
  return alike;
}

/* A file that is named again without an id of its own is one item, as long as nothing else is said of it: which of two
 * groups were meant, nobody could tell. */
static int drop_repeated(struct nai_batch_manifest *m, struct nai_err *err) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->count; i++) {
    const struct nai_batch_item *item = &m->items[i];
    bool again = kept && !item->id && strcmp(m->items[kept - 1].path, item->path) == 0;
    if (again && !is_said_alike(m, &m->items[kept - 1], item))
      return nai_err_set(err, NAI_EUSAGE,
                         "the manifest names \"%s\" twice with different groups or labels; give each of the two an id",
                         item->path);
    if (!again)
      m->items[kept++] = *item;
  }
  m->count = kept;
  return NAI_OK;
}

/* A name that was mistyped is no trace that failed. */
static int check_any_is_there(const struct nai_batch_manifest *m, struct nai_err *err) {
  for (uint32_t i = 0; i < m->count; i++)
    if (nai_fs_exists(m->items[i].path))
      return NAI_OK;
  return nai_err_set(err, NAI_EUSAGE, "there is no \"%s\"%s", m->items[0].path,
                     m->count > 1 ? ", nor any other trace that is named" : "");
}

int nai_batch_manifest_make(struct nai_batch_manifest *m, const char *const *inputs, size_t count,
                            struct nai_err *err) {
  for (size_t i = 0; i < count; i++) {
    if (is_manifest(inputs[i]) && count > 1)
      return nai_err_set(err, NAI_EUSAGE, "\"%s\" is a manifest and must be the only input", inputs[i]);
    NAI_TRY(is_manifest(inputs[i]) ? read_rows(m, inputs[i], err) : add_operand(m, inputs[i], err));
  }
  if (!m->count)
    return nai_err_set(err, NAI_EUSAGE,
                       "no traces: nothing that ends in .sqlite, .sqlite.gz, .sqlite.zst or .nsys-rep was found");
  qsort(m->items, m->count, sizeof *m->items, compare_paths);
  NAI_TRY(drop_repeated(m, err));
  NAI_TRY(nai_batch_name_items(m, err));
  return check_any_is_there(m, err);
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
    for (uint32_t c = 0; item->labels && c < m->label_count; c++)
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
  struct nai_column_def *columns;
  NAI_OWNED(nai_table) *table = NULL;
  NAI_TRY(NAI_NEW(columns, m->arena, FIXED + m->label_count, err));
  memcpy(columns, fixed, sizeof fixed);
  for (uint32_t i = 0; i < m->label_count; i++)
    columns[FIXED + i] = (struct nai_column_def){m->labels[i], NAI_STR, NAI_TEXT, "label of the manifest"};
  const struct nai_schema schema = {"manifest", "Manifest", "One item of a batch", columns, FIXED + m->label_count};
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
  NAI_TRY(NAI_NEW(*out, m->arena, m->count, err));
  for (uint32_t i = 0; i < m->count; i++)
    (*out)[i] = i;
  qsort_r(*out, m->count, sizeof **out, compare_ids, (void *)m);
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
