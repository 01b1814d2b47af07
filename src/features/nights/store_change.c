/* What nsys-ai store does to a store: adding runs, pruning, writing its index anew. */
#include "features/nights/store_command.h"

#include "base/fmt.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/strings.h"
#include "features/nights/trend.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The index of a store with the changes of all its series in index.more; release with free_changes. */
struct changes {
  struct nai_index index;
  struct nai_trend trend;
  struct nai_table *table;
};

static int find_changes(struct changes *c, const struct nai_store *store, struct nai_err *err) {
  static const struct nai_trend_options all = {0};
  *c = (struct changes){0};
  int rc = nai_store_index(&c->index, store, err);
  if (!rc && c->index.runs->rows)
    rc = nai_trend_find(&c->trend, &c->index, store, &all, err);
  if (!rc)
    rc = nai_trend_changes_table(&c->table, &c->trend, err);
  c->index.more = c->table;
  return rc;
}

static void free_changes(struct changes *c) {
  nai_trend_free(&c->trend);
  nai_table_free(c->table);
  nai_index_free(&c->index);
}

static int write_index(const struct nai_store *store, struct nai_err *err) {
  struct changes changes;
  int rc = find_changes(&changes, store, err);
  if (!rc)
    rc = nai_index_write(&changes.index, store->path, err);
  free_changes(&changes);
  return rc;
}

/* Of what is there by now: others may have added runs meanwhile. */
int nai_cmd_store_write_index(const struct nai_store *store, struct nai_err *err) {
  struct nai_store now;
  int lock, rc = nai_store_lock(&lock, store, err);
  if (rc)
    return rc;
  rc = nai_store_open(&now, store->path, false, err);
  if (!rc)
    rc = write_index(&now, err);
  nai_store_close(&now);
  close(lock);
  return rc;
}

/* What one night brought: its captures, and the traces that could not be analysed. */
struct night {
  struct nai_run *captures[NAI_STORE_MAX_CAPTURES];
  struct nai_temporary directories[NAI_STORE_MAX_CAPTURES]; /* of traces */
  int count;
  char *error;      /* of the first trace that was refused */
  uint64_t refused; /* hash of all that were */
};

static void free_night(struct night *night) {
  for (int i = 0; i < night->count; i++) {
    nai_run_close(night->captures[i]);
    nai_cmd_remove(&night->directories[i]);
  }
  free(night->error);
}

/* Tells the refused traces of two nights apart, which may have one name and one mistake. */
static int hash_file(uint64_t *hash, const char *path, struct nai_err *err) {
  struct nai_buf chunk = {0};
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = NAI_OK;
  ssize_t n = 0;
  if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && nai_buf_reserve(&chunk, 1 << 20))
    while ((n = read(fd, chunk.data, 1 << 20)) > 0)
      *hash = nai_hash_bytes(*hash, chunk.data, (size_t)n);
  if (chunk.oom)
    rc = nai_err_nomem(err);
  if (fd >= 0)
    close(fd);
  nai_buf_free(&chunk);
  return rc;
}

static int open_capture(struct night *night, const char *path, const struct store_args *a, struct nai_err *err) {
  const struct nai_cmd_source how = {.quiet = a->quiet, .keep = &night->directories[night->count]};
  int rc = nai_cmd_source_open(&night->captures[night->count], path, &how, err);
  if (!rc)
    night->count++;
  if (rc != NAI_EINPUT || !nai_cmd_is_trace(path) || !nai_fs_exists(path))
    return rc;
  if (!night->error && !(night->error = strdup(err->msg)))
    return nai_err_nomem(err);
  return hash_file(&night->refused, path, err);
}

static void say_added(const char *id, enum nai_store_added added) {
  static const char *const words[] = {
      [NAI_STORE_NEW] = "", [NAI_STORE_SAME] = " is there already", [NAI_STORE_TOLD] = ": what is said of it is new"};
  printf("%s%s\n", id, words[added]);
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* A trace that is refused makes a night that failed: it stays in the store with the reason, and with the captures that
 * could be read. Of several that are refused the first by name gives the reason, whichever was named first. */
int nai_cmd_store_add(struct nai_store *store, const struct store_args *a, const char *const *operands, size_t count,
                      struct nai_err *err) {
  struct night night = {0};
  const char *paths[NAI_STORE_MAX_CAPTURES];
  char *id = NULL;
  enum nai_store_added added = NAI_STORE_NEW;
  int rc = NAI_OK;
  if (count > NAI_STORE_MAX_CAPTURES)
    return nai_err_set(err, NAI_EUSAGE, "more than %d captures of one run", NAI_STORE_MAX_CAPTURES);
  for (size_t i = 0; i < count; i++)
    paths[i] = operands[i];
  qsort(paths, count, sizeof *paths, by_text);
  for (size_t i = 0; i < count && !rc; i++)
    rc = open_capture(&night, paths[i], a, err);
  const struct nai_store_add run = {.captures = night.captures,
                                    .capture_count = night.count,
                                    .name = a->series,
                                    .id = a->id,
                                    .utc_ns = a->utc_ns,
                                    .error = a->failed ? a->failed : night.error,
                                    .refused = night.refused,
                                    .verdict = a->verdict,
                                    .environment = a->environment,
                                    .labels = a->labels,
                                    .label_count = a->label_count};
  if (!rc)
    rc = nai_store_add(&id, &added, store, &run, err);
  if (!rc && !a->quiet)
    say_added(id, added);
  free_night(&night);
  free(id);
  return rc ? rc : nai_cmd_store_write_index(store, err);
}

struct pruned {
  struct nai_buf text;
  int64_t bytes;
  uint32_t runs;
};

static void tell_pruned(void *ctx, const struct nai_store_run *run, int64_t bytes) {
  struct pruned *p = ctx;
  nai_buf_printf(&p->text, "%s ", run->id);
  nai_fmt_bytes(&p->text, (double)bytes);
  nai_buf_putc(&p->text, '\n');
  p->bytes += bytes;
  p->runs++;
}

/* Both sides of every change stay whole: somebody will want to look at them. */
static int keep_changes(struct nai_strings *keep, const struct nai_store *store, struct nai_err *err) {
  struct changes changes;
  int rc = find_changes(&changes, store, err);
  for (int64_t i = 0; !rc && i < changes.table->rows; i++) {
    const char *good = nai_cell_str(changes.table, i, "good_run"), *bad = nai_cell_str(changes.table, i, "bad_run");
    if (nai_strings_add(keep, good, strlen(good)) == NAI_NO_STRING ||
        nai_strings_add(keep, bad, strlen(bad)) == NAI_NO_STRING)
      rc = nai_err_nomem(err);
  }
  free_changes(&changes);
  return rc;
}

int nai_cmd_store_prune(const struct nai_store *store, const struct store_args *a, struct nai_err *err) {
  enum { KEEP_DAYS = 90 };
  struct nai_strings keep = {0};
  struct pruned pruned = {0};
  int rc = keep_changes(&keep, store, err);
  if (!rc)
    rc = nai_store_prune(store,
                         &(struct nai_store_pruning){.keep_days = a->keep_days < 0 ? KEEP_DAYS : a->keep_days,
                                                     .keep = &keep,
                                                     .dry_run = a->dry_run,
                                                     .tell = tell_pruned,
                                                     .ctx = &pruned},
                         err);
  nai_buf_printf(&pruned.text, "%u %s, ", pruned.runs, pruned.runs == 1 ? "run" : "runs");
  nai_fmt_bytes(&pruned.text, (double)pruned.bytes);
  nai_buf_puts(&pruned.text, a->dry_run ? " would be removed\n" : " removed\n");
  if (!rc && !a->quiet)
    rc = nai_cmd_print(&pruned.text, err);
  nai_buf_free(&pruned.text);
  nai_strings_free(&keep);
  return rc;
}
