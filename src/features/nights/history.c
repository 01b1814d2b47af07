#include "features/nights/history.h"

#include "features/nights/store_internal.h"
#include "features/nights/trend.h"
#include "tables/changes.h"

struct history {
  struct nai_store store;
  struct nai_index index;
  struct nai_trend trend;
  struct nai_table *changes;
};

static void history_free(struct history *h) {
  nai_table_free(h->changes);
  nai_trend_free(&h->trend);
  nai_index_free(&h->index);
  nai_store_free(&h->store);
}

static int read_store(struct history *h, const char *store, const char *series, struct nai_err *err) {
  const struct nai_trend_options meant = {.series = series};
  NAI_TRY(nai_store_open(&h->store, store, false, err));
  NAI_TRY(nai_store_read(&h->store, series, err));
  NAI_TRY(nai_store_index(&h->index, &h->store, NAI_STORE_READ, err));
  NAI_TRY(nai_trend_find(&h->trend, &h->index, &h->store, &meant, err));
  NAI_TRY(nai_table_new(&h->changes, &nai_changes_schema, err));
  return nai_trend_add_changes(h->changes, &h->trend, err);
}

static int tell_damage(const struct history *h, void (*note)(const char *line), struct nai_err *err) {
  NAI_SCOPED(nai_strings) lines = {0};
  NAI_TRY(nai_store_damage(&lines, &h->store, err));
  for (uint32_t i = 0; note && i < lines.count; i++)
    note(nai_strings_get(&lines, i));
  const struct nai_err *unread = &h->index.unread;
  return unread->code ? nai_err_set(err, unread->code, "%s", unread->msg) : NAI_OK;
}

int nai_history_open(struct nai_run **out, const char *store, const char *series, void (*note)(const char *line),
                     struct nai_err *err) {
  NAI_SCOPED(history) h = {.store = {.arena = NAI_ARENA(NULL)}, .trend = {.arena = NAI_ARENA(NULL)}};
  NAI_OWNED(nai_run) *run = NULL;
  *out = NULL;
  NAI_TRY(read_store(&h, store, series, err));
  NAI_TRY(tell_damage(&h, note, err));
  NAI_TRY(nai_run_new(&run, err));
  struct nai_table **const tables[] = {&h.index.runs, &h.index.metrics, &h.index.findings, &h.index.kernels,
                                       &h.changes};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    struct nai_table *table = *tables[i];
    *tables[i] = NULL;
    NAI_TRY(nai_run_add(run, table, err));
  }
  return NAI_GIVE(out, run);
}
