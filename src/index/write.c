/* Writing an index: index.sqlite first, from which the parts of the page take their runs. */
#include "base/fs.h"
#include "base/sink.h"
#include "index/database.h"
#include "index/summary.h"
#include "table/csv.h"

#include <sys/stat.h>
#include <unistd.h>

enum { PART_RUNS = 1000 }; /* of a page: what a browser opens at once */

struct nai_index_writer {
  char directory[PATH_MAX], csv_path[PATH_MAX];
  struct nai_index_database database;
  struct nai_temporary csv_aside;
  struct nai_file_sink csv;
  bool csv_open;
  struct nai_index_sums sums;
  const char *title, *what, *group;
};

static int join(char out[PATH_MAX], const struct nai_index_writer *w, const char *name, struct nai_err *err) {
  return nai_fs_join(out, PATH_MAX, w->directory, name)
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE, "the name of the directory \"%.200s\" is too long", w->directory);
}

/* --- the tables ------------------------------------------------------------------------------- */

static int begin_csv(struct nai_index_writer *w, struct nai_err *err) {
  NAI_TRY(join(w->csv_path, w, "index.csv", err));
  NAI_TRY(nai_temporary_file(&w->csv_aside, w->csv_path, err));
  NAI_TRY(nai_sink_create(&w->csv, w->csv_aside.path, err));
  w->csv_open = true;
  nai_csv_names(&w->csv.text, &nai_runs_schema);
  return NAI_OK;
}

static int publish_csv(struct nai_index_writer *w, struct nai_err *err) {
  w->csv_open = false;
  NAI_TRY(nai_sink_finish(&w->csv, NAI_OK, err));
  int failed = nai_temporary_become(&w->csv_aside, w->csv_path);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", w->csv_path) : NAI_OK;
}

int nai_index_writer_begin(struct nai_index_writer **out, const char *directory, struct nai_err *err) {
  NAI_OWNED(nai_index_writer) *w = *out = calloc(1, sizeof *w);
  char path[PATH_MAX];
  *out = NULL;
  NAI_TRY(nai_memory_check(w, err));
  w->title = "Index", w->what = "run", w->group = "series";
  snprintf(w->directory, sizeof w->directory, "%s", directory);
  NAI_TRY(join(path, w, "index.sqlite", err));
  NAI_TRY(nai_index_database_begin(&w->database, path, err));
  NAI_TRY(begin_csv(w, err));
  return NAI_GIVE(out, w);
}

void nai_index_writer_free(struct nai_index_writer *w) {
  if (!w)
    return;
  if (w->csv_open)
    nai_file_sink_free(&w->csv);
  nai_temporary_remove(&w->csv_aside);
  nai_index_database_free(&w->database);
  nai_index_sums_free(&w->sums);
  free(w);
}

int nai_index_writer_add(struct nai_index_writer *w, struct nai_index *index, struct nai_err *err) {
  const struct nai_table *const tables[] = {index->runs, index->metrics, index->findings, index->kernels};
  w->title = index->title, w->what = index->what, w->group = index->group;
  NAI_TRY(nai_index_sort(index, err));
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    NAI_TRY(nai_index_database_add(&w->database, tables[i], err));
  nai_csv_rows(&w->csv.text, index->runs);
  return nai_index_sums_add(&w->sums, index, err);
}

/* --- the pages -------------------------------------------------------------------------------- */

/* An index of some runs, without their kernels, which no page shows. */
static int read_runs(struct nai_index *out, struct nai_index_writer *w, const struct nai_index_entry *entries,
                     int64_t count, struct nai_err *err) {
  NAI_TRY(nai_index_new(out, err));
  out->title = w->title, out->what = w->what, out->group = w->group;
  out->directory = w->directory;
  struct nai_table *const tables[] = {out->runs, out->metrics, out->findings};
  for (int64_t i = 0; i < count; i++)
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
      NAI_TRY(nai_index_database_read(tables[t], &w->database, entries[i].run, err));
  return nai_index_sort(out, err);
}

static int write_part(struct nai_index_writer *w, int64_t number, int64_t count, struct nai_err *err) {
  NAI_SCOPED(nai_index) index = {0};
  NAI_SCOPED(nai_buf) text = {0};
  char name[NAI_INDEX_PAGE_NAME], path[PATH_MAX];
  int64_t first = number * PART_RUNS, left = (int64_t)w->sums.entry_count - first;
  const struct nai_index_entry *entries = left ? w->sums.entries + first : NULL;
  nai_index_page_name(name, number);
  NAI_TRY(join(path, w, name, err));
  NAI_TRY(read_runs(&index, w, entries, left < PART_RUNS ? left : PART_RUNS, err));
  const struct nai_index_part part = {&w->sums, entries, &index, number, count};
  NAI_TRY(nai_index_print_part(&text, &part, err));
  NAI_TRY(nai_buf_check(&text, err));
  return nai_fs_replace(path, nai_buf_str(&text), text.len, err);
}

/* The last one first: what a killed process leaves are those that follow, and the next one finds them. */
static int remove_further(const struct nai_index_writer *w, int64_t count, struct nai_err *err) {
  char name[NAI_INDEX_PAGE_NAME], path[PATH_MAX];
  int64_t end = count;
  for (;; end++) {
    nai_index_page_name(name, end);
    NAI_TRY(join(path, w, name, err));
    struct stat st;
    if (lstat(path, &st) != 0) /* where nothing can be looked at there is no last one */
      break;
  }
  while (end-- > count) {
    nai_index_page_name(name, end);
    NAI_TRY(join(path, w, name, err));
    if (unlink(path) != 0 && errno != ENOENT)
      return nai_err_sys(err, NAI_EIO, errno, "cannot remove \"%s\"", path);
  }
  return NAI_OK;
}

/* From the last part to the first, which is index.html. */
static int write_pages(struct nai_index_writer *w, struct nai_err *err) {
  int64_t runs = w->sums.entry_count, count = runs ? (runs + PART_RUNS - 1) / PART_RUNS : 1;
  for (int64_t i = count; i-- > 0;)
    NAI_TRY(write_part(w, i, count, err));
  return remove_further(w, count, err);
}

/* --- all of them ------------------------------------------------------------------------------ */

int nai_index_writer_finish(struct nai_index_writer *w, const struct nai_table *more, struct nai_err *err) {
  char path[PATH_MAX];
  NAI_TRY(join(path, w, "index.sqlite", err));
  if (more)
    NAI_TRY(nai_index_database_add(&w->database, more, err));
  NAI_TRY(nai_index_database_publish(&w->database, path, err));
  NAI_TRY(publish_csv(w, err));
  NAI_TRY(nai_index_sums_finish(&w->sums, err));
  return write_pages(w, err);
}

int nai_index_write(struct nai_index *index, const char *directory, struct nai_err *err) {
  NAI_OWNED(nai_index_writer) *writer = NULL;
  NAI_TRY(nai_index_writer_begin(&writer, directory, err));
  NAI_TRY(nai_index_writer_add(writer, index, err));
  return nai_index_writer_finish(writer, NULL, err);
}
