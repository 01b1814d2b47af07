/* Lookup where the key is not the rowid: exports that went through another program may have lost the declaration
 * INTEGER PRIMARY KEY. One pass over the key column makes a map from key to rowid, which all handles share. */
#include "base/array.h"
#include "base/sort.h"
#include "trace/lookup_internal.h"

#include <stdlib.h>

struct pair {
  int64_t key, rowid;
};

struct nai_key_map {
  struct nai_key_map *next;
  const struct nai_db_table *table;
  struct pair *pairs; /* by key, then rowid */
  uint32_t count, capacity;
};

struct keyed_lookup {
  struct nai_lookup base;
  const struct nai_key_map *map;
  struct nai_lookup *by_rowid;
};

static void free_map(struct nai_key_map *map) {
  free(map->pairs);
  free(map);
}

void nai_key_maps_free(struct nai_key_map *first) {
  for (struct nai_key_map *map = first, *next; map; map = next) {
    next = map->next;
    free_map(map);
  }
}

static int add_pair(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  struct nai_key_map *map = ctx;
  if (cells[0].type != NAI_CELL_INT)
    return NAI_OK; /* no key equals it */
  if (!nai_array_room(&map->pairs, &map->capacity, map->count, sizeof *map->pairs))
    return nai_err_nomem(err);
  map->pairs[map->count++] = (struct pair){cells[0].i, rowid};
  return NAI_OK;
}

static int compare_pairs(const void *a, const void *b) {
  const struct pair *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->rowid > y->rowid) - (x->rowid < y->rowid);
}

static int fill_map(struct nai_key_map *map, struct nai_trace *trace, int key_column, struct nai_err *err) {
  struct nai_scan scan = {.table = map->table->name, .columns = &key_column, .column_count = 1};
  int rc = nai_scan_open(&scan, trace, 1, err);
  if (rc)
    return rc;
  rc = nai_scan_run(&scan, 0, add_pair, map, err);
  nai_scan_close(&scan);
  if (!rc && map->count)
    qsort(map->pairs, map->count, sizeof *map->pairs, compare_pairs);
  return rc;
}

static int shared_map(const struct nai_key_map **out, struct nai_trace *trace, const struct nai_db_table *table,
                      int key_column, struct nai_err *err) {
  struct nai_lookups *shared = trace->lookups;
  int rc = NAI_OK;
  pthread_mutex_lock(&shared->lock);
  struct nai_key_map *map = shared->key_maps;
  while (map && map->table != table)
    map = map->next;
  if (!map) {
    map = calloc(1, sizeof *map);
    if (map)
      map->table = table;
    rc = map ? fill_map(map, trace, key_column, err) : nai_err_nomem(err);
    if (!rc) {
      map->next = shared->key_maps;
      shared->key_maps = map;
    } else if (map) {
      free_map(map);
    }
  }
  pthread_mutex_unlock(&shared->lock);
  *out = map;
  return rc;
}

static int get_keyed(bool *found, struct nai_cell *cell, struct nai_lookup *lookup, int64_t key, struct nai_err *err) {
  struct keyed_lookup *self = (struct keyed_lookup *)lookup;
  const struct pair *pairs = self->map->pairs;
  /* The first of equal keys has the lowest rowid. */
  size_t at = nai_bisect(pairs, self->map->count, sizeof *pairs, offsetof(struct pair, key), key);
  *found = at < self->map->count && pairs[at].key == key;
  return *found ? self->by_rowid->ops->get(found, cell, self->by_rowid, pairs[at].rowid, err) : NAI_OK;
}

static void close_keyed(struct nai_lookup *lookup) {
  struct keyed_lookup *self = (struct keyed_lookup *)lookup;
  nai_lookup_close(self->by_rowid);
  free(self);
}

static const struct nai_lookup_ops keyed_ops = {.get = get_keyed, .close = close_keyed};

int nai_lookup_open_keyed(struct nai_lookup **out, struct nai_lookup *by_rowid, struct nai_trace *trace, int key_column,
                          struct nai_err *err) {
  struct keyed_lookup *self = calloc(1, sizeof *self);
  int rc = self ? shared_map(&self->map, trace, by_rowid->table, key_column, err) : nai_err_nomem(err);
  if (rc) {
    free(self);
    return rc;
  }
  self->base = *by_rowid;
  self->base.ops = &keyed_ops;
  self->by_rowid = by_rowid;
  *out = &self->base;
  return NAI_OK;
}
