/* What nsys-ai store does to a store: adding runs, pruning, writing its index anew. */
#include "base/fmt.h"
#include "base/fs.h"
#include "base/hash.h"
#include "features/nights/store_command.h"
#include "features/nights/store_internal.h"
#include "features/nights/trend.h"
#include "tables/changes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the index -------------------------------------------------------------------------------- */

/* The index of a store with the changes of all its series. */
struct changes {
  struct nai_index index;
  struct nai_trend trend;
  struct nai_table *table;
};

static void changes_free(struct changes *c) {
  nai_trend_free(&c->trend);
  nai_table_free(c->table);
  nai_index_free(&c->index);
}

static int find_changes(struct changes *c, const struct nai_store *store, bool keep, struct nai_err *err) {
  static const struct nai_trend_options all = {0};
  NAI_TRY(nai_store_index(&c->index, store, keep, err));
  if (c->index.runs->rows)
    NAI_TRY(nai_trend_find(&c->trend, &c->index, store, &all, err));
  NAI_TRY(nai_trend_changes_table(&c->table, &c->trend, err));
  c->index.more = c->table;
  return NAI_OK;
}

static int write_index(const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  NAI_SCOPED(changes) changes = {0};
  NAI_TRY(nai_store_open(&store, path, false, err));
  NAI_TRY(nai_store_read(&store, NULL, err));
  NAI_TRY(find_changes(&changes, &store, true, err));
  NAI_TRY(nai_index_write(&changes.index, store.path, err));
  const struct nai_err *unread = &changes.index.unread;
  return unread->code ? nai_err_set(err, unread->code, "%s", unread->msg) : NAI_OK;
}

/* Of what is there by then: others may have added runs meanwhile. */
int nai_cmd_store_write_index(const struct nai_store *store, struct nai_err *err) {
  int lock;
  NAI_TRY(nai_store_lock(&lock, store, err));
  int rc = write_index(store->path, err);
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

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

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
  qsort(paths, count, sizeof *paths, by_text);
  for (size_t i = 0; i < count; i++)
    NAI_TRY(open_capture(&night, paths[i], a, err));
  struct nai_store_add run = a->add;
  run.captures = night.captures;
  run.capture_count = night.count;
  run.error = run.error ? run.error : night.error;
  run.refused = night.refused;
  run.labels = a->labels;
  run.commit = commit_of_environment();
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

/* The runs around one, of its series. */
static int keep_near(struct nai_strings *near, const struct nai_table *runs, const char *id, struct nai_err *err) {
  enum { NEAR = 3 };
  int64_t at = 0;
  while (at < runs->rows && strcmp(nai_get_str(runs, at, RUNS_run_id), id) != 0)
    at++;
  for (int64_t i = at > NEAR ? at - NEAR : 0; i < runs->rows && i <= at + NEAR; i++)
    if (at < runs->rows && strcmp(nai_get_str(runs, i, RUNS_series), nai_get_str(runs, at, RUNS_series)) == 0)
      NAI_TRY(nai_store_list(near, nai_get_str(runs, i, RUNS_run_id), err));
  return NAI_OK;
}

/* Both sides of every change stay whole: somebody will want to look at them, and to compare those around them. */
static int keep_changes(struct nai_strings *keep, struct nai_strings *near, const struct nai_store *store,
                        struct nai_err *err) {
  NAI_SCOPED(changes) changes = {0};
  NAI_TRY(find_changes(&changes, store, false, err));
  for (int64_t i = 0; i < changes.table->rows; i++) {
    struct CHANGES_row change = CHANGES_at(changes.table, i);
    NAI_TRY(nai_store_list(keep, change.good_run, err));
    NAI_TRY(nai_store_list(keep, change.bad_run, err));
    NAI_TRY(keep_near(near, changes.index.runs, change.good_run, err));
    NAI_TRY(keep_near(near, changes.index.runs, change.bad_run, err));
  }
  return NAI_OK;
}

int nai_cmd_store_prune(const struct nai_store *store, const struct store_args *a, struct nai_err *err) {
  enum { KEEP_DAYS = 90 };
  int64_t days = a->keep >= 0 ? a->keep : a->keep_days >= 0 ? a->keep_days : KEEP_DAYS;
  int64_t monthly = a->weekly_days >= 0 && a->monthly_days < 0 ? INT32_MAX : a->monthly_days;
  NAI_SCOPED(nai_strings) keep = {0}, near = {0};
  NAI_SCOPED(pruned) pruned = {0};
  NAI_TRY(keep_changes(&keep, &near, store, err));
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
