/* annotations.csv: what people know about runs. */
#include "store/internal.h"

#include "base/array.h"
#include "base/csv_read.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "render/csv.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"expected-change", "ignore", "environment", NULL};

const char *nai_store_kind(size_t index) { return index < sizeof kinds / sizeof *kinds ? kinds[index] : NULL; }

static bool is_kind(const char *kind) {
  for (int i = 0; kinds[i]; i++)
    if (strcmp(kinds[i], kind) == 0)
      return true;
  return false;
}

static struct nai_store_run *find(struct nai_store *store, const char *id) {
  return (struct nai_store_run *)nai_store_find(store, id);
}

static int add(struct nai_store *store, const char *run, const char *kind, const char *text, struct nai_err *err) {
  if (!nai_array_room(&store->annotations, &store->annotation_capacity, store->annotation_count,
                      sizeof *store->annotations))
    return nai_err_nomem(err);
  struct nai_store_annotation *a = &store->annotations[store->annotation_count++];
  *a = (struct nai_store_annotation){strdup(run), strdup(kind), strdup(text)};
  return a->run && a->kind && a->text ? NAI_OK : nai_err_nomem(err);
}

/* What it means for its run; a run that is not there (any more) has nothing to be told. */
static int tell(struct nai_store *store, const struct nai_store_annotation *a, struct nai_err *err) {
  struct nai_store_run *run = find(store, a->run);
  char *note = NULL;
  if (!run)
    return NAI_OK;
  run->ignored |= strcmp(a->kind, "ignore") == 0;
  run->expected |= strcmp(a->kind, "expected-change") == 0 || strcmp(a->kind, "environment") == 0;
  if (asprintf(&note, "%s%s%s: %s", run->note, *run->note ? "; " : "", a->kind, a->text) < 0)
    return nai_err_nomem(err);
  free(run->note);
  run->note = note;
  uint64_t hash = nai_hash_text(strtoull(run->record, NULL, 16), note);
  snprintf(run->record, sizeof run->record, "%016" PRIx64, hash);
  return NAI_OK;
}

static bool file_of(char *path, size_t size, const struct nai_store *store) {
  return (size_t)snprintf(path, size, "%s/annotations.csv", store->path) < size;
}

int nai_store_read_annotations(struct nai_store *store, struct nai_err *err) {
  enum { MAX_BYTES = 16 << 20 };
  char path[PATH_MAX];
  struct nai_csv *csv = NULL;
  if (!file_of(path, sizeof path, store) || !nai_fs_exists(path))
    return NAI_OK;
  int rc = nai_csv_read(&csv, path, MAX_BYTES, err);
  int run = rc ? -1 : nai_csv_column(csv, "run_id"), kind = rc ? -1 : nai_csv_column(csv, "kind");
  if (!rc && (run < 0 || kind < 0))
    rc = nai_err_set(err, NAI_EUSAGE, "%s:1: expected the columns run_id, kind and text", path);
  for (uint32_t row = 1; !rc && row < csv->row_count; row++) {
    const char *word = nai_csv_cell(csv, row, kind);
    if (!is_kind(word))
      rc = nai_err_set(err, NAI_EUSAGE, "%s:%u: \"%.60s\" is no kind: expected expected-change, ignore or environment",
                       path, csv->rows[row].line, word);
    if (!rc)
      rc = add(store, nai_csv_cell(csv, row, run), word, nai_csv_cell(csv, row, nai_csv_column(csv, "text")), err);
    if (!rc)
      rc = tell(store, &store->annotations[store->annotation_count - 1], err);
  }
  nai_csv_free(csv);
  return rc;
}

static int write_all(const struct nai_store *store, struct nai_err *err) {
  static const struct nai_column_def columns[] = {{"series", NAI_STR, NAI_TEXT, "series of the run"},
                                                  {"run_id", NAI_STR, NAI_TEXT, "run"},
                                                  {"kind", NAI_STR, NAI_TEXT, "expected-change, ignore or environment"},
                                                  {"text", NAI_STR, NAI_TEXT, "why"}};
  static const struct nai_schema schema = NAI_SCHEMA("annotations", "Annotations", "One annotation", columns);
  char path[PATH_MAX];
  struct nai_table *table = NULL;
  struct nai_buf text = {0};
  int rc = nai_table_new(&table, &schema, err);
  for (uint32_t i = 0; i < store->annotation_count && !rc; i++) {
    const struct nai_store_annotation *a = &store->annotations[i];
    const struct nai_store_run *run = nai_store_find(store, a->run);
    int64_t row = nai_table_add_row(table);
    nai_set_str(table, row, 0, run ? run->series : "");
    nai_set_str(table, row, 1, a->run);
    nai_set_str(table, row, 2, a->kind);
    nai_set_str(table, row, 3, a->text);
  }
  if (!rc)
    rc = nai_table_check(table, err);
  if (!rc)
    nai_csv_table(&text, table);
  if (!rc)
    rc = nai_buf_check(&text, err);
  if (!rc && file_of(path, sizeof path, store))
    rc = nai_fs_replace(path, nai_buf_str(&text), text.len, err);
  nai_buf_free(&text);
  nai_table_free(table);
  return rc;
}

int nai_store_annotate(struct nai_store *store, const char *id, const char *kind, const char *text,
                       struct nai_err *err) {
  struct nai_buf clean = {0};
  if (!nai_store_find(store, id))
    return nai_err_set(err, NAI_EUSAGE, "the store has no run \"%.100s\"", id);
  nai_text_clean(&clean, text, strlen(text));
  int rc = nai_buf_check(&clean, err);
  if (!rc)
    rc = add(store, id, kind, nai_buf_str(&clean), err);
  nai_buf_free(&clean);
  if (!rc)
    rc = tell(store, &store->annotations[store->annotation_count - 1], err);
  return rc ? rc : write_all(store, err);
}
