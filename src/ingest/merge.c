/* From each part's own dictionaries to those of the whole trace. */
#include "ingest/extraction.h"

#include <stdlib.h>

static int64_t *map_keys(const struct nai_keyset *local, const struct nai_keyset *global, const int32_t *result) {
  int64_t *map = malloc(((size_t)local->count + 1) * sizeof *map);
  for (uint32_t i = 0; map && i < local->count; i++)
    map[i] = result[nai_keyset_find(global, local->keys[i])];
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

static int merge_part(struct extraction *x, struct nai_part *p, struct nai_err *err) {
  struct nai_remap *m = &p->remap;
  x->names[p->source->table].directory = x->options->directory;
  m->threads = map_keys(&p->threads, &x->identity.threads, x->identity.thread_row);
  m->device_ids = map_keys(&p->devices, &x->identity.devices, x->identity.device_id);
  m->device_processes = map_keys(&p->devices, &x->identity.devices, x->identity.device_process);
  if (!m->threads || !m->device_ids || !m->device_processes)
    return nai_err_nomem(err);
  int rc = map_texts(&m->names, &x->names[p->source->table], &p->names, err);
  return rc ? rc : map_texts(&m->configs, &x->configs, &p->configs, err);
}

static int collect_keys(struct extraction *x, struct nai_err *err) {
  bool added;
  x->last_ns = INT64_MIN;
  for (int i = 0; i < x->part_count; i++) {
    struct nai_part *p = &x->parts[i];
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
