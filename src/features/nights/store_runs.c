/* The runs of a store in order, and by id. */
#include "base/sort.h"
#include "features/nights/store_internal.h"

/* Runs without a time come last. */
NAI_ORDER_BY(in_order, struct nai_store_run, strcmp(a->group, b->group),
             (a->utc_ns == NAI_NULL_I64) - (b->utc_ns == NAI_NULL_I64), NAI_SIGN(a->utc_ns, b->utc_ns),
             strcmp(a->id, b->id))

struct id_search {
  const struct nai_store *store;
  const char *id;
};

static const char *id_at(const struct nai_store *store, size_t i) { return store->runs[store->by_id[i]].id; }

static bool id_before(const void *ctx, size_t i) {
  const struct id_search *search = ctx;
  return strcmp(id_at(search->store, i), search->id) < 0;
}

const struct nai_store_run *nai_store_find(const struct nai_store *store, const char *id) {
  size_t i = nai_search(0, store->count, id_before, &(struct id_search){store, id});
  return i < store->count && strcmp(id_at(store, i), id) == 0 ? &store->runs[store->by_id[i]] : NULL;
}

/* Of one id in two series, which only damage makes, the first in order is meant. */
static int by_id(const void *pa, const void *pb, void *runs) {
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  int order = strcmp(((const struct nai_store_run *)runs)[a].id, ((const struct nai_store_run *)runs)[b].id);
  return order ? order : (a > b) - (a < b);
}

int nai_store_sort(struct nai_store *store, struct nai_err *err) {
  NAI_TRY(NAI_NEW(store->by_id, &store->arena, store->count, err));
  for (uint32_t i = 0; i < store->count; i++)
    if (!store->runs[i].group)
      store->runs[i].group = store->runs[i].series;
  if (store->count)
    qsort(store->runs, store->count, sizeof *store->runs, in_order);
  for (uint32_t i = 0; i < store->count; i++)
    store->by_id[i] = i;
  if (store->count)
    qsort_r(store->by_id, store->count, sizeof *store->by_id, by_id, store->runs);
  return NAI_OK;
}
