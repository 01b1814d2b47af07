/* What nsys-ai store does to a store: adding runs, pruning, writing its index anew. */
#include "cmd/store/store.h"

#include "base/fmt.h"
#include "base/strings.h"
#include "trend/trend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int nai_cmd_store_write_index(const struct nai_store *store, struct nai_err *err) {
  struct changes changes;
  int rc = find_changes(&changes, store, err);
  if (!rc)
    rc = nai_index_write(&changes.index, store->path, err);
  free_changes(&changes);
  return rc;
}

/* Traces that are refused are runs that failed: they stay in the store with the reason. */
static int open_captures(struct nai_run **captures, int *count, char **error, const char *const *paths, size_t n,
                         const struct store_args *a, struct nai_err *err) {
  const struct nai_cmd_source how = {.quiet = a->quiet};
  for (size_t i = 0; i < n; i++) {
    int rc = nai_cmd_source_open(&captures[*count], paths[i], &how, err);
    if (rc == NAI_EINPUT && nai_cmd_is_trace(paths[i])) {
      *error = strdup(err->msg);
      return *error ? NAI_OK : nai_err_nomem(err);
    }
    if (rc)
      return rc;
    ++*count;
  }
  return NAI_OK;
}

int nai_cmd_store_add(struct nai_store *store, const struct store_args *a, const char *const *paths, size_t count,
                      struct nai_err *err) {
  struct nai_run *captures[NAI_STORE_MAX_CAPTURES] = {NULL};
  char *error = NULL, *id = NULL;
  int n = 0;
  bool added = false;
  if (count > NAI_STORE_MAX_CAPTURES)
    return nai_err_set(err, NAI_EUSAGE, "more than %d captures of one run", NAI_STORE_MAX_CAPTURES);
  int rc = open_captures(captures, &n, &error, paths, count, a, err);
  const struct nai_store_add run = {.captures = captures,
                                    .capture_count = error ? 0 : n,
                                    .name = a->series ? a->series : "default",
                                    .id = a->id,
                                    .utc_ns = a->utc_ns,
                                    .error = a->failed ? a->failed : error,
                                    .verdict = a->verdict,
                                    .environment = a->environment,
                                    .labels = a->labels,
                                    .label_count = a->label_count};
  if (!rc)
    rc = nai_store_add(&id, &added, store, &run, err);
  if (!rc && !a->quiet)
    printf("%s%s\n", id, added ? "" : " is there already");
  for (int i = 0; i < n; i++)
    nai_run_close(captures[i]);
  free(error);
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
  struct nai_strings keep = {0};
  struct pruned pruned = {0};
  int rc = keep_changes(&keep, store, err);
  if (!rc)
    rc = nai_store_prune(
        store,
        &(struct nai_store_pruning){
            .keep_days = a->keep_days, .keep = &keep, .dry_run = a->dry_run, .tell = tell_pruned, .ctx = &pruned},
        err);
  nai_buf_printf(&pruned.text, "%u runs, ", pruned.runs);
  nai_fmt_bytes(&pruned.text, (double)pruned.bytes);
  nai_buf_puts(&pruned.text, a->dry_run ? " would be removed\n" : " removed\n");
  if (!rc && !a->quiet)
    rc = nai_cmd_print(&pruned.text, err);
  nai_buf_free(&pruned.text);
  nai_strings_free(&keep);
  return rc;
}
