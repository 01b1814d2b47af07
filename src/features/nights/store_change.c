/* What nsys-ai store does to a store: adding runs, pruning, writing its index anew. */
#include "base/escape.h"
#include "base/fmt.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/sort.h"
#include "features/nights/store_command.h"
#include "features/nights/store_internal.h"
#include "features/nights/trend.h"
#include "tables/changes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the index -------------------------------------------------------------------------------- */

/* A series of a store: its runs, what they say, and how its metrics changed. */
struct series {
  struct nai_store store;
  struct nai_index index;
  struct nai_trend trend;
};

static void series_free(struct series *s) {
  nai_trend_free(&s->trend);
  nai_index_free(&s->index);
  nai_store_free(&s->store);
}

typedef int series_fn(void *ctx, struct series *series, struct nai_err *err);

static int visit_series(const char *path, const char *name, enum nai_store_summaries how, series_fn *visit, void *ctx,
                        struct nai_err *err) {
  static const struct nai_trend_options all = {0};
  NAI_SCOPED(series) s = {.store = {.arena = NAI_ARENA(NULL)}, .trend = {.arena = NAI_ARENA(NULL)}};
  NAI_TRY(nai_store_open(&s.store, path, false, err));
  NAI_TRY(nai_store_read(&s.store, name, err));
  NAI_TRY(nai_store_index(&s.index, &s.store, how, err));
  if (!s.index.runs->rows) /* removed meanwhile */
    return NAI_OK;
  NAI_TRY(nai_trend_find(&s.trend, &s.index, &s.store, &all, err));
  return visit(ctx, &s, err);
}

/* One after the other, so that memory is for one. */
static int each_series(const struct nai_store *store, enum nai_store_summaries how, series_fn *visit, void *ctx,
                       struct nai_err *err) {
  NAI_SCOPED(nai_strings) names = {0};
  NAI_TRY(nai_store_series(&names, store, NULL, err));
  for (uint32_t i = 0; i < names.count; i++)
    NAI_TRY(visit_series(store->path, nai_strings_get(&names, i), how, visit, ctx, err));
  return NAI_OK;
}

struct indexing {
  struct nai_index_writer *writer;
  struct nai_table *changes;
  struct nai_err unread;
};

static void indexing_free(struct indexing *x) {
  nai_index_writer_free(x->writer);
  nai_table_free(x->changes);
}

static int index_series(void *ctx, struct series *s, struct nai_err *err) {
  struct indexing *x = ctx;
  if (!x->unread.code)
    x->unread = s->index.unread;
  NAI_TRY(nai_trend_add_changes(x->changes, &s->trend, err));
  return nai_index_writer_add(x->writer, &s->index, err);
}

static int write_index(const struct nai_store *store, struct nai_err *err) {
  const struct nai_store none = {.path = store->path};
  NAI_SCOPED(indexing) x = {0};
  NAI_SCOPED(nai_index) empty = {0};
  NAI_TRY(nai_table_new(&x.changes, &nai_changes_schema, err));
  NAI_TRY(nai_index_writer_begin(&x.writer, store->path, err));
  NAI_TRY(nai_store_index(&empty, &none, NAI_STORE_READ, err)); /* a store without runs has an index, too */
  NAI_TRY(nai_index_writer_add(x.writer, &empty, err));
  NAI_TRY(each_series(store, NAI_STORE_KEEP, index_series, &x, err));
  NAI_TRY(nai_index_writer_finish(x.writer, x.changes, err));
  return x.unread.code ? nai_err_set(err, x.unread.code, "%s", x.unread.msg) : NAI_OK;
}

/* Of what is there by then: others may have added runs meanwhile. */
int nai_cmd_store_write_index(const struct nai_store *store, struct nai_err *err) {
  int lock;
  NAI_TRY(nai_store_lock(&lock, store, err));
  int rc = write_index(store, err);
  close(lock);
  return rc;
}

/* --- adding ----------------------------------------------------------------------------------- */

/* What one night brought: its captures, and the traces that could not be analysed. */
struct night {
  struct nai_arena arena;
  struct nai_run *captures[NAI_STORE_MAX_CAPTURES];
  struct nai_temporary directories[NAI_STORE_MAX_CAPTURES]; /* of traces */
  int count;
  const char *error; /* of the first trace that was refused */
  uint64_t refused;  /* hash of all that were */
};

static void night_free(struct night *night) {
  for (int i = 0; i < night->count; i++) {
    nai_run_close(night->captures[i]);
    nai_cmd_remove(&night->directories[i]);
  }
  nai_arena_free(&night->arena);
}

/* Tells the refused traces of two nights apart, which may have one name and one mistake. */
static int hash_file(uint64_t *hash, const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_buf) chunk = {0};
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t n = 0;
  if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && nai_buf_reserve(&chunk, 1 << 20))
    while ((n = read(fd, chunk.data, 1 << 20)) > 0)
      *hash = nai_hash_bytes(*hash, chunk.data, (size_t)n);
  if (fd >= 0)
    close(fd);
  return nai_buf_check(&chunk, err);
}

static int open_capture(struct night *night, const char *path, const struct store_args *a, struct nai_err *err) {
  const struct nai_cmd_source how = {.quiet = a->quiet, .keep = &night->directories[night->count]};
  int rc = nai_cmd_source_open(&night->captures[night->count], path, &how, err);
  if (!rc)
    night->count++;
  if (rc != NAI_EINPUT || !nai_cmd_is_trace(path) || !nai_fs_exists(path))
    return rc;
  if (!night->error)
    night->error = nai_arena_printf(&night->arena, "%s", err->msg);
  NAI_TRY(nai_arena_check(&night->arena, err));
  return hash_file(&night->refused, path, err);
}

/* What GitHub, GitLab and Jenkins say that they test. */
static const char *commit_of_environment(void) {
  static const char *const names[] = {"GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"};
  const char *commit = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !commit; i++)
    commit = getenv(names[i]);
  return commit;
}

/* A trace that is refused makes a night that failed: it stays in the store with the reason, and with the captures that
 * could be read. Of several that are refused the first by name gives the reason, whichever was named first. */
static int add_night(struct nai_store *store, const struct store_args *a, const char *const *operands, size_t count,
                     struct nai_err *err) {
  static const char *const words[] = {
      [NAI_STORE_NEW] = "", [NAI_STORE_SAME] = " is there already", [NAI_STORE_TOLD] = ": labels or verdict updated"};
  NAI_SCOPED(night) night = {.arena = NAI_ARENA(NULL)};
  NAI_SCOPED(nai_buf) id = {0};
  const char *paths[NAI_STORE_MAX_CAPTURES];
  enum nai_store_added added;
  for (size_t i = 0; i < count; i++)
    paths[i] = operands[i];
  qsort(paths, count, sizeof *paths, nai_by_text);
  for (size_t i = 0; i < count; i++)
    NAI_TRY(open_capture(&night, paths[i], a, err));
  struct nai_store_add run = a->add;
  run.captures = night.captures;
  run.capture_count = night.count;
  run.error = run.error ? run.error : night.error;
  run.refused = night.refused;
  run.labels = a->labels;
  run.commit = commit_of_environment();
  run.whole = a->keep >= 0;
  NAI_TRY(nai_store_add(&id, &added, store, &run, err));
  if (!a->quiet)
    printf("%s%s\n", nai_buf_str(&id), words[added]);
  return NAI_OK;
}

int nai_cmd_store_add(struct nai_store *store, const struct store_args *a, const char *const *operands, size_t count,
                      struct nai_err *err) {
  if (count > NAI_STORE_MAX_CAPTURES)
    return nai_err_set(err, NAI_EUSAGE, "more than %d captures of one run", NAI_STORE_MAX_CAPTURES);
  return add_night(store, a, operands, count, err);
}

/* --- pruning ---------------------------------------------------------------------------------- */

struct pruned {
  struct nai_buf text;
  int64_t bytes;
  uint32_t runs;
};

static void pruned_free(struct pruned *p) { nai_buf_free(&p->text); }

static void tell_pruned(void *ctx, const struct nai_store_run *run, int64_t bytes, const char *thinned) {
  struct pruned *p = ctx;
  nai_buf_printf(&p->text, "%s ", run->id);
  nai_fmt_bytes(&p->text, (double)bytes);
  nai_buf_puts(&p->text, thinned ? ", thinned out: " : "");
  nai_buf_puts(&p->text, thinned ? thinned : "");
  nai_buf_putc(&p->text, '\n');
  p->bytes += bytes;
  p->runs++;
}

struct kept {
  struct nai_strings *runs, *near;
};

/* The runs around one. */
static int keep_near(struct nai_strings *near, const struct nai_table *runs, uint32_t run, struct nai_err *err) {
  enum { NEAR = 3 };
  for (int64_t i = run > NEAR ? run - NEAR : 0; i < runs->rows && i <= (int64_t)run + NEAR; i++)
    NAI_TRY(nai_strings_put(NULL, near, nai_get_str(runs, i, RUNS_run_id), err));
  return NAI_OK;
}

static int keep_run(const struct kept *kept, const struct nai_table *runs, uint32_t run, struct nai_err *err) {
  NAI_TRY(nai_strings_put(NULL, kept->runs, nai_get_str(runs, run, RUNS_run_id), err));
  return keep_near(kept->near, runs, run, err);
}

/* Both sides of every change stay whole: somebody will want to look at them, and to compare those around them. */
static int keep_changes(void *ctx, struct series *s, struct nai_err *err) {
  for (uint32_t t = 0; t < s->trend.series_count; t++)
    for (uint32_t i = 0; i < s->trend.series[t].metric_count; i++) {
      const struct nai_trend_metric *m = &s->trend.series[t].metrics[i];
      for (uint32_t c = 0; c < m->found.count; c++) {
        NAI_TRY(keep_run(ctx, s->index.runs, nai_trend_good_run(m, &m->found.changes[c]), err));
        NAI_TRY(keep_run(ctx, s->index.runs, nai_trend_bad_run(m, &m->found.changes[c]), err));
      }
    }
  return NAI_OK;
}

int nai_cmd_store_prune(const struct nai_store *store, const struct store_args *a, struct nai_err *err) {
  enum { KEEP_DAYS = 90 };
  int64_t days = a->keep >= 0 ? a->keep : a->keep_days >= 0 ? a->keep_days : KEEP_DAYS;
  int64_t monthly = a->weekly_days >= 0 && a->monthly_days < 0 ? INT32_MAX : a->monthly_days;
  NAI_SCOPED(nai_strings) keep = {0}, near = {0};
  NAI_SCOPED(pruned) pruned = {0};
  NAI_TRY(each_series(store, NAI_STORE_METRICS, keep_changes, &(struct kept){&keep, &near}, err));
  NAI_TRY(nai_store_prune(store,
                          &(struct nai_store_pruning){.keep_days = days,
                                                      .weekly_days = a->weekly_days,
                                                      .monthly_days = monthly,
                                                      .keep = &keep,
                                                      .near = &near,
                                                      .dry_run = a->dry_run,
                                                      .tell = tell_pruned,
                                                      .ctx = &pruned},
                          err));
  nai_buf_printf(&pruned.text, "%u %s, ", pruned.runs, pruned.runs == 1 ? "run" : "runs");
  nai_fmt_bytes(&pruned.text, (double)pruned.bytes);
  nai_buf_puts(&pruned.text, a->dry_run ? " would be removed\n" : " removed\n");
  return a->quiet ? NAI_OK : nai_cmd_print(&pruned.text, err);
}

/* --- upgrading -------------------------------------------------------------------------------- */

struct upgraded {
  struct nai_buf text;
  uint32_t again, left;
};

static void upgraded_free(struct upgraded *u) { nai_buf_free(&u->text); }

static void tell_upgraded(void *ctx, const struct nai_store_run *run, const char *why_not) {
  struct upgraded *u = ctx;
  nai_buf_printf(&u->text, "%s %s", run->id, why_not ? "stays as it is: " : "analyzed again");
  nai_escape_terminal(&u->text, why_not ? why_not : "", why_not ? strlen(why_not) : 0);
  nai_buf_putc(&u->text, '\n');
  u->left += why_not != NULL;
  u->again += !why_not;
}

int nai_cmd_store_upgrade(const struct nai_store *store, const struct store_args *a, struct nai_err *err) {
  NAI_SCOPED(upgraded) u = {.left = 0};
  NAI_TRY(nai_store_upgrade(store,
                            &(struct nai_store_upgrading){.metrics = a->metrics,
                                                          .metric_count = a->metric_count,
                                                          .dry_run = a->dry_run,
                                                          .tell = tell_upgraded,
                                                          .ctx = &u},
                            err));
  nai_buf_printf(&u.text, "%u of %u runs %sanalyzed again, %u cannot be\n", u.again, store->count,
                 a->dry_run ? "would be " : "", u.left);
  return a->quiet ? NAI_OK : nai_cmd_print(&u.text, err);
}
