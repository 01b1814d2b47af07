/* From each part's own dictionaries to those of the whole trace. */
#include "trace/extraction.h"

#include "base/array.h"

#include <stdlib.h>

/* result[index in `global`] of each local key; -1 for keys that only witnesses have. */
static int64_t *map_keys(const struct nai_keyset *local, const struct nai_keyset *global, const int32_t *result) {
  int64_t *map = malloc(((size_t)local->count + 1) * sizeof *map);
  for (uint32_t i = 0; map && i < local->count; i++) {
    uint32_t at = nai_keyset_find(global, local->keys[i]);
    map[i] = at == UINT32_MAX ? -1 : result[at];
  }
  return map;
}

/* Device ids; a witness that names no GPU is of none, while work without one is of its process's only one. */
static int64_t *map_devices(const struct extraction *x, const struct nai_part *p) {
  int64_t *map = map_keys(&p->devices, &x->identity.devices, x->identity.device_id);
  for (uint32_t i = 0; map && p->source->witness && i < p->devices.count; i++)
    if ((p->devices.keys[i] & 0xffffff) == NAI_DEVICE_UNKNOWN)
      map[i] = -1;
  return map;
}

/* Rows of the processes of the part's devices: a witness may know a device of a process that nothing else mentions. */
static int64_t *map_processes(const struct extraction *x, const struct nai_part *p) {
  int64_t *map = map_keys(&p->devices, &x->identity.devices, x->identity.device_process);
  for (uint32_t i = 0; map && i < p->devices.count; i++)
    if (map[i] < 0)
      map[i] = nai_identity_process(x->out->tables[NAI_IN_PROCESSES], p->devices.keys[i]);
  return map;
}

/* Adds the part's texts to those of the whole; *map tells where each went. */
static int map_texts(int64_t **map, struct nai_strings *all, const struct nai_strings *local, struct nai_err *err) {
  uint32_t *ids = malloc(((size_t)local->count + 1) * sizeof *ids);
  *map = malloc(((size_t)local->count + 1) * sizeof **map);
  int rc = ids && *map ? nai_strings_merge(ids, all, local, err) : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < local->count; i++)
    (*map)[i] = ids[i];
  free(ids);
  return rc;
}

/* The names of the part's records, but for records that have one. */
static int name_records(struct extraction *x, const struct nai_part *p, struct nai_err *err) {
  enum nai_input_table table = p->source->records;
  uint32_t count = x->records[table].count, have = x->record_capacity[table];
  if (count && !nai_array_room(&x->record_name[table], &x->record_capacity[table], count - 1, sizeof(uint32_t)))
    return nai_err_nomem(err);
  for (; have < x->record_capacity[table]; have++)
    x->record_name[table][have] = NAI_NO_STRING;
  for (uint32_t i = 0; i < p->record_capacity && i < p->records.count; i++) {
    uint32_t *name = &x->record_name[table][p->remap.records[i]], local = p->record_name[i];
    if (local == NAI_NO_STRING || *name != NAI_NO_STRING)
      continue;
    const char *text = nai_strings_get(&p->record_names, local);
    *name = nai_strings_add(&x->record_names[table], text, nai_strings_len(&p->record_names, local));
    if (*name == NAI_NO_STRING)
      return nai_err_nomem(err);
  }
  return NAI_OK;
}

/* Only as many as are kept: with one more there are too many, and none is. */
static int merge_sizes(struct extraction *x, struct nai_part *p, struct nai_err *err) {
  int rc = NAI_OK;
  if (p->sizes.count && !x->too_many_sizes)
    rc = map_texts(&p->remap.sizes, &x->sizes, &p->sizes, err);
  x->too_many_sizes |= p->too_many_sizes || x->sizes.count > NAI_MAX_SIZES;
  return rc;
}

static int merge_part(struct extraction *x, struct nai_part *p, struct nai_err *err) {
  struct nai_remap *m = &p->remap;
  x->names[p->source->table].directory = x->options->directory;
  m->threads = map_keys(&p->threads, &x->identity.threads, x->identity.thread_row);
  m->device_ids = map_devices(x, p);
  m->device_processes = map_processes(x, p);
  if (!m->threads || !m->device_ids || !m->device_processes)
    return nai_err_nomem(err);
  int rc = map_texts(&m->names, &x->names[p->source->table], &p->names, err);
  if (!rc)
    rc = map_texts(&m->records, &x->records[p->source->records], &p->records, err);
  if (!rc)
    rc = name_records(x, p, err);
  return rc ? rc : merge_sizes(x, p, err);
}

static int collect_keys(struct extraction *x, struct nai_err *err) {
  bool added;
  x->last_ns = INT64_MIN;
  for (int i = 0; i < x->part_count; i++) {
    struct nai_part *p = &x->parts[i];
    if (p->source->witness)
      continue;
    for (uint32_t k = 0; k < p->threads.count; k++)
      nai_keyset_add(&x->identity.threads, p->threads.keys[k], &added);
    for (uint32_t k = 0; k < p->devices.count; k++)
      nai_keyset_add(&x->identity.devices, p->devices.keys[k], &added);
    if (p->last_ns > x->last_ns)
      x->last_ns = p->last_ns;
  }
  if (x->options->trim && x->last_ns > x->options->trim_end_ns)
    x->last_ns = x->options->trim_end_ns;
  return x->identity.threads.oom || x->identity.devices.oom ? nai_err_nomem(err) : NAI_OK;
}

int nai_merge(struct extraction *x, struct nai_err *err) {
  int rc = collect_keys(x, err);
  if (!rc)
    rc = nai_identity_resolve(&x->identity, x->out, x->trace, err);
  for (int i = 0; !rc && i < x->part_count; i++)
    rc = merge_part(x, &x->parts[i], err);
  return rc;
}
