/* annotations.csv: what people know about runs. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "features/nights/store_internal.h"
#include "table/csv.h"
#include "table/csv_read.h"

#include <unistd.h>

enum { MAX_BYTES = 16 << 20 };

struct annotation {
  const char *run, *kind, *text;
};

static const char *const kinds[] = {"expected-change", "ignore", "environment", NULL};

const char *nai_store_kind(size_t index) { return index < sizeof kinds / sizeof *kinds ? kinds[index] : NULL; }

/* What it means for its run; a run that is not there has nothing to be told. */
static int tell(struct nai_store *store, const struct annotation *a, struct nai_err *err) {
  struct nai_store_run *run = (struct nai_store_run *)nai_store_find(store, a->run);
  if (!run || run->told)
    return NAI_OK;
  run->ignored |= strcmp(a->kind, "ignore") == 0;
  run->expected |= strcmp(a->kind, "expected-change") == 0 || strcmp(a->kind, "environment") == 0;
  run->note = nai_arena_printf(&store->arena, "%s%s%s: %s", run->note, *run->note ? "; " : "", a->kind, a->text);
  uint64_t hash = nai_hash_text(strtoull(run->record, NULL, 16), run->note);
  snprintf(run->record, sizeof run->record, "%016" PRIx64, hash);
  return nai_arena_check(&store->arena, err);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The columns of a list; that of the text may be missing. */
struct columns {
  int run, kind, text;
};

static int find_columns(struct columns *out, const struct nai_csv *csv, const char *path, struct nai_err *err) {
  *out = (struct columns){nai_csv_column(csv, "run_id"), nai_csv_column(csv, "kind"), nai_csv_column(csv, "text")};
  return out->run < 0 || out->kind < 0
           ? nai_err_set(err, NAI_EUSAGE, "%s:1: expected the columns run_id, kind and text", path)
           : NAI_OK;
}

static int tell_all(struct nai_store *store, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_csv) *csv = NULL;
  struct columns columns;
  NAI_TRY(nai_csv_read(&csv, path, MAX_BYTES, err));
  NAI_TRY(find_columns(&columns, csv, path, err));
  for (uint32_t row = 1; row < csv->row_count; row++) {
    const struct annotation a = {nai_csv_cell(csv, row, columns.run), nai_csv_cell(csv, row, columns.kind),
                                 nai_csv_cell(csv, row, columns.text)};
    if (!nai_text_is_one(a.kind, strlen(a.kind), kinds))
      return nai_err_set(err, NAI_EUSAGE,
                         "%s:%u: \"%.60s\" is no kind: expected expected-change, ignore or environment", path,
                         csv->rows[row].line, a.kind);
    NAI_TRY(tell(store, &a, err));
  }
  return NAI_OK;
}

int nai_store_read_annotations(struct nai_store *store, struct nai_err *err) {
  char path[PATH_MAX];
  if (nai_store_join(path, store->path, "annotations.csv", NULL) || !nai_fs_exists(path))
    return NAI_OK;
  NAI_TRY(tell_all(store, path, err));
  for (uint32_t i = 0; i < store->count; i++)
    store->runs[i].told = true;
  return NAI_OK;
}

/* --- adding ----------------------------------------------------------------------------------- */

static const char *cell_of(const struct nai_store *store, const struct annotation *a, const char *column) {
  const struct nai_store_run *run = nai_store_find(store, a->run);
  return strcmp(column, "series") == 0 ? (run ? run->series : "")
       : strcmp(column, "run_id") == 0 ? a->run
       : strcmp(column, "kind") == 0   ? a->kind
       : strcmp(column, "text") == 0   ? a->text
                                       : "";
}

static void put_row(struct nai_buf *out, const struct nai_store *store, const struct annotation *a,
                    const struct nai_csv *csv) {
  static const char *const usual[] = {"series", "run_id", "kind", "text"};
  NAI_SCOPED(nai_buf) scratch = {0};
  bool has_names = csv && csv->row_count;
  uint32_t count = has_names ? csv->rows[0].count : sizeof usual / sizeof *usual;
  for (uint32_t c = 0; c < count; c++) {
    const char *text = cell_of(store, a, has_names ? csv->cells[csv->rows[0].first + c] : usual[c]);
    if (c)
      nai_buf_putc(out, ',');
    if (*text)
      nai_csv_text(out, &scratch, text, strlen(text));
  }
  nai_buf_putc(out, '\n');
  out->oom |= scratch.oom;
}

/* People write this file, too: what they wrote stays, byte for byte, with columns of their own. */
static int append(const struct nai_store *store, const struct annotation *a, struct nai_err *err) {
  NAI_OWNED(nai_csv) *csv = NULL;
  NAI_SCOPED(nai_buf) text = {0};
  char path[PATH_MAX];
  NAI_TRY(nai_store_join(path, store->path, "annotations.csv", err));
  NAI_FREED char *whole = realpath(path, NULL); /* a link to it stays one */
  int why = errno;
  if (!whole && nai_fs_exists(path)) /* what it says would be lost */
    return nai_err_sys(err, NAI_EIO, why, "cannot find what \"%s\" leads to", path);
  if (whole) {
    NAI_TRY(nai_csv_read(&csv, whole, MAX_BYTES, err));
    if (csv->row_count && nai_csv_column(csv, "text") < 0) /* what is said would be lost */
      return nai_err_set(err, NAI_EUSAGE, "%s:1: expected the columns run_id, kind and text", whole);
    NAI_TRY(nai_fs_read(&text, whole, MAX_BYTES, NAI_EIO, err));
  }
  if (!text.len)
    nai_buf_puts(&text, "series,run_id,kind,text\n");
  else if (text.data[text.len - 1] != '\n')
    nai_buf_putc(&text, '\n');
  put_row(&text, store, a, csv);
  NAI_TRY(nai_buf_check(&text, err));
  return nai_fs_replace(whole ? whole : path, nai_buf_str(&text), text.len, err);
}

int nai_store_annotate(struct nai_store *store, const char *id, const char *kind, const char *text,
                       struct nai_err *err) {
  int lock;
  if (!nai_store_find(store, id))
    return nai_err_set(err, NAI_EUSAGE, "the store has no run \"%.100s\"", id);
  const struct annotation a = {id, kind, nai_store_clean(&store->arena, text)};
  NAI_TRY(tell(store, &a, err));
  NAI_TRY(nai_store_lock(&lock, store, err));
  int rc = append(store, &a, err);
  close(lock);
  return rc;
}
