/* Lookup where the key is not the rowid: exports that went through another program may have lost the declaration
 * INTEGER PRIMARY KEY. One pass over the key column makes a map from key to rowid, which all handles share. */
#include "base/sort.h"
#include "base/threads.h"
#include "trace/lookup_internal.h"

struct pair {
  int64_t key, rowid;
};

struct nai_key_map {
  struct nai_key_map *next;
  struct nai_arena *arena; /* the trace's */
  const struct nai_db_table *table;
  struct pair *pairs; /* by key, then rowid */
  uint32_t count, capacity;
};

struct keyed_lookup {
  struct nai_lookup base;
  const struct nai_key_map *map;
  struct nai_lookup *by_rowid;
};

static int add_pair(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  struct nai_key_map *map = ctx;
  if (cells[0].type != NAI_CELL_INT)
    return NAI_OK; /* no key equals it */
  NAI_TRY(NAI_ROOM(map->pairs, map->capacity, map->count, map->arena, err));
  map->pairs[map->count++] = (struct pair){cells[0].i, rowid};
  return NAI_OK;
}

NAI_ORDER(compare_pairs, struct pair, {a->key, b->key}, {a->rowid, b->rowid})

static int fill_map(struct nai_key_map *map, struct nai_trace *trace, int key_column, struct nai_err *err) {
  struct nai_scan scan = {.table = map->table->name, .columns = &key_column, .column_count = 1};
  NAI_TRY(nai_scan_open(&scan, trace, 1, err));
  int rc = nai_scan_run(&scan, 0, add_pair, map, err);
  nai_scan_close(&scan);
  if (!rc && map->count)
    qsort(map->pairs, map->count, sizeof *map->pairs, compare_pairs);
  return rc;
}

static int shared_map(const struct nai_key_map **out, struct nai_trace *trace, const struct nai_db_table *table,
                      int key_column, struct nai_err *err) {
  struct nai_lookups *shared = trace->lookups;
  NAI_LOCKED(&shared->lock);
  struct nai_key_map *map = shared->key_maps;
  while (map && map->table != table)
    map = map->next;
  if (!map) {
    NAI_TRY(NAI_NEW(map, &trace->arena, 1, err));
    *map = (struct nai_key_map){.next = shared->key_maps, .arena = &trace->arena, .table = table};
    NAI_TRY(fill_map(map, trace, key_column, err));
    shared->key_maps = map;
  }
  *out = map;
  return NAI_OK;
}

static int get_keyed(bool *found, struct nai_cell *cell, struct nai_lookup *lookup, int64_t key, struct nai_err *err) {
  struct keyed_lookup *self = (struct keyed_lookup *)lookup;
  const struct pair *pairs = self->map->pairs;
  /* The first of equal keys has the lowest rowid. */
  size_t at = nai_bisect(pairs, self->map->count, sizeof *pairs, offsetof(struct pair, key), key);
  *found = at < self->map->count && pairs[at].key == key;
  return *found ? self->by_rowid->get(found, cell, self->by_rowid, pairs[at].rowid, err) : NAI_OK;
}

static void close_keyed(struct nai_lookup *lookup) {
  struct keyed_lookup *self = (struct keyed_lookup *)lookup;
  self->by_rowid->close(self->by_rowid);
  free(self);
}

int nai_lookup_open_keyed(struct nai_lookup **out, struct nai_lookup *by_rowid, struct nai_trace *trace, int key_column,
                          struct nai_err *err) {
  const struct nai_key_map *map;
  NAI_TRY(shared_map(&map, trace, by_rowid->table, key_column, err));
  struct keyed_lookup *self = malloc(sizeof *self);
  NAI_TRY(nai_memory_check(self, err));
  *self = (struct keyed_lookup){.base = *by_rowid, .map = map, .by_rowid = by_rowid};
  self->base.get = get_keyed;
  self->base.close = close_keyed;
  *out = &self->base;
  return NAI_OK;
}
