/* annotations.csv: what people know about runs. */
#include "features/nights/store_internal.h"

#include "base/array.h"
#include "table/csv_read.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "table/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BYTES = 16 << 20 };

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

static const char *cell_of(const struct nai_store *store, const struct nai_store_annotation *a, const char *column) {
  const struct nai_store_run *run = nai_store_find(store, a->run);
  return strcmp(column, "series") == 0 ? (run ? run->series : "")
       : strcmp(column, "run_id") == 0 ? a->run
       : strcmp(column, "kind") == 0   ? a->kind
       : strcmp(column, "text") == 0   ? a->text
                                       : "";
}

static void put_row(struct nai_buf *out, const struct nai_store *store, const struct nai_store_annotation *a,
                    const struct nai_csv *csv) {
  static const char *const usual[] = {"series", "run_id", "kind", "text"};
  struct nai_buf scratch = {0};
  uint32_t count = csv ? csv->rows[0].count : sizeof usual / sizeof *usual;
  for (uint32_t c = 0; c < count; c++) {
    const char *text = cell_of(store, a, csv ? csv->cells[csv->rows[0].first + c] : usual[c]);
    if (c)
      nai_buf_putc(out, ',');
    if (*text)
      nai_csv_text(out, &scratch, text, strlen(text));
  }
  nai_buf_putc(out, '\n');
  out->oom |= scratch.oom;
  nai_buf_free(&scratch);
}

/* People write this file, too: what they wrote stays, byte for byte, with columns of their own. */
static int append(const struct nai_store *store, const struct nai_store_annotation *a, struct nai_err *err) {
  char path[PATH_MAX];
  struct nai_csv *csv = NULL;
  struct nai_buf text = {0};
  if (!file_of(path, sizeof path, store))
    return nai_err_set(err, NAI_EUSAGE, "the name of the store is too long");
  char *whole = realpath(path, NULL); /* a link to it stays one */
  int failed = errno;
  if (!whole && nai_fs_exists(path)) /* what it says would be lost */
    return nai_err_sys(err, NAI_EIO, failed, "cannot find what \"%s\" leads to", path);
  int rc = whole ? nai_csv_read(&csv, whole, MAX_BYTES, err) : NAI_OK;
  if (!rc && csv && csv->row_count && nai_csv_column(csv, "text") < 0) /* what is said would be lost */
    rc = nai_err_set(err, NAI_EUSAGE, "%s:1: expected the columns run_id, kind and text", whole);
  if (!rc && whole)
    rc = nai_fs_read(&text, whole, MAX_BYTES, NAI_EIO, err);
  if (!text.len)
    nai_buf_puts(&text, "series,run_id,kind,text\n");
  else if (text.data[text.len - 1] != '\n')
    nai_buf_putc(&text, '\n');
  if (!rc) {
    put_row(&text, store, a, csv && csv->row_count ? csv : NULL);
    rc = nai_buf_check(&text, err);
  }
  if (!rc)
    rc = nai_fs_replace(whole ? whole : path, nai_buf_str(&text), text.len, err);
  nai_buf_free(&text);
  nai_csv_free(csv);
  free(whole);
  return rc;
}

static int append_locked(const struct nai_store *store, const struct nai_store_annotation *a, struct nai_err *err) {
  int lock, rc = nai_store_lock(&lock, store, err);
  if (rc)
    return rc;
  rc = append(store, a, err);
  close(lock);
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
  return rc ? rc : append_locked(store, &store->annotations[store->annotation_count - 1], err);
}
