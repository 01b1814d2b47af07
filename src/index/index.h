/* Many runs at a glance: what each of them says in a few tables, as one SQLite file, one CSV and one page. Made from
 * the runs' own tables and from nothing else, so it can be deleted and made again, to the byte. */
#pragma once

#include "base/fmt.h"
#include "report/mustache.h"
#include "tables/runs.h"

enum { NAI_INDEX_TOP_KERNELS = 50 };

struct nai_run;

struct nai_index {
  struct nai_table *runs, *metrics, *findings, *kernels;
  const char *title; /* of the page; borrowed */
  const char *what;  /* how the page calls an entry and their group: "item", "group"; borrowed */
  const char *group;
  const char
      *directory;    /* where it lies: reports that are gone from there (pruned) get no links; NULL: all do; borrowed */
  bool only_metrics; /* of summaries: findings and kernels are left out */
  struct nai_err unread; /* why a run that is there could not be read; code 0 where all could */
};

NAI_MUST_CHECK int nai_index_new(struct nai_index *out, struct nai_err *err);
void nai_index_free(struct nai_index *index);
/* Adds what is known of a run without its reports; returns its row. Texts need not be clean, and are unknown where they
 * are empty. `path` is that of its report, relative to the index; `record` a hash of what is known of it elsewhere: an
 * index with the same one holds the same run. */
int64_t nai_index_add(struct nai_index *index, const struct RUNS_row *run);
/* Adds what one of its captures, an artifacts directory, says: metrics, findings, kernels, and to the row what is
 * worst. `path` is where the capture lies from the index. NAI_EINPUT when the directory holds no run. */
NAI_MUST_CHECK int nai_index_add_capture(struct nai_index *index, int64_t row, int capture, const char *directory,
                                         const char *path, struct nai_err *err);
/* What nai_index_add_capture would return for that directory. */
NAI_MUST_CHECK int nai_index_check_capture(const char *directory, struct nai_err *err);
/* An index of one run as bytes, appended; sorts it. */
NAI_MUST_CHECK int nai_index_pack(struct nai_buf *out, struct nai_index *index, struct nai_err *err);
/* Adds what such bytes say: metrics, findings, kernels, and to the row of runs what is not known yet. Not *taken, and
 * nothing is added, where they are damaged or something else. */
NAI_MUST_CHECK int nai_index_unpack(bool *taken, struct nai_index *index, int64_t row, const struct nai_buf *bytes,
                                    struct nai_err *err);
/* Sorts metrics, findings and kernels by run, and by what tells their rows apart. For whoever looks for a run's rows.
 * NAI_ELIMIT also where memory ran out while rows were added. */
NAI_MUST_CHECK int nai_index_sort(struct nai_index *index, struct nai_err *err);
/* Of a sorted table whose first column is run_id: the first row of a run and how many it has. */
int64_t nai_index_rows_of(int64_t *count, const struct nai_table *table, const char *run_id);
/* The UTC time at which a capture began, ns since 1970; NAI_NULL_I64 where the export does not say. */
NAI_MUST_CHECK int nai_index_utc(int64_t *utc_ns, struct nai_run *run, struct nai_err *err);

/* Writes index.sqlite, index.csv and the parts of index.html, each by renaming, in this order, and removes parts that
 * an earlier, longer index had. Runs are in parts of 1,000, the worst first. Sorts the index. */
NAI_MUST_CHECK int nai_index_write(struct nai_index *index, const char *directory, struct nai_err *err);
/* The same piece by piece, so that memory is for one piece: begin, add indexes, each of other runs than those before,
 * finish. The same pieces in the same order give the same bytes. Titles and words are those of the index added last. */
struct nai_index_writer;
NAI_MUST_CHECK int nai_index_writer_begin(struct nai_index_writer **out, const char *directory, struct nai_err *err);
NAI_MUST_CHECK int nai_index_writer_add(struct nai_index_writer *writer, struct nai_index *index, struct nai_err *err);
/* `more`: one more table for index.sqlite, or NULL. */
NAI_MUST_CHECK int nai_index_writer_finish(struct nai_index_writer *writer, const struct nai_table *more,
                                           struct nai_err *err);
void nai_index_writer_free(struct nai_index_writer *writer);
NAI_OWNER(nai_index_writer)
/* Whether a run with that status was analyzed: "ok", or "no-gpu" where its trace has no GPU activity. */
bool nai_index_is_analyzed(const char *status);
extern const char nai_index_no_gpu[]; /* "no-gpu" */
/* The file of a part, from 0: index.html, index-part2.html, ... */
enum { NAI_INDEX_PAGE_NAME = 40 };
void nai_index_page_name(char out[NAI_INDEX_PAGE_NAME], int64_t part);
/* Of a sorted index: appends a summary in Markdown. */
NAI_MUST_CHECK int nai_index_markdown(struct nai_buf *out, const struct nai_index *index, struct nai_err *err);
/* A value of a metric as people read it; units and bases are those of table metrics: "ns", "bytes", "percent", ...;
 * "step", "second", "total". Appended; into a view. */
void nai_index_print_value(struct nai_buf *out, const char *unit, const char *basis, double value);
void nai_index_put_value(struct nai_view *map, const char *key, const char *unit, const char *basis, double value);
/* A value below others of a table, whose times have one unit: that of all that were added. With NULL
 * nai_index_put_below has a unit for this value alone. */
void nai_index_add_time(struct nai_time_column *times, const char *unit, double value);
void nai_index_put_below(struct nai_view *map, const char *key, const struct nai_time_column *times, const char *unit,
                         const char *basis, double value);
/* What a value is of: "per step", "per second" or "in total". */
const char *nai_index_basis_words(const char *basis);
/* Appends a page or a text made by a built-in template: asset templates/many/NAME.mustache. A page's view gets script
 * and style, with their hashes. */
NAI_MUST_CHECK int nai_index_render(struct nai_buf *out, const char *name, struct nai_view *view,
                                    enum nai_escape_mode mode, struct nai_err *err);
