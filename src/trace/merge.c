/* From each part's own dictionaries to those of the whole trace. */
#include "trace/extraction.h"

/* (*map)[local index] = result[index in `global`]; -1 for keys that only witnesses have. */
static int map_keys(int64_t **map, struct nai_part *p, const struct nai_keyset *local, const struct nai_keyset *global,
                    const int32_t *result, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*map, &p->arena, local->count, err));
  for (uint32_t i = 0; i < local->count; i++) {
    uint32_t at = nai_keyset_find(global, local->keys[i]);
    (*map)[i] = at == UINT32_MAX ? -1 : result[at];
  }
  return NAI_OK;
}

/* Device ids, and rows of the devices' processes. */
static int map_devices(const struct extraction *x, struct nai_part *p, struct nai_err *err) {
  const struct nai_identity *identity = &x->identity;
  struct nai_remap *m = &p->remap;
  NAI_TRY(map_keys(&m->device_ids, p, &p->devices, &identity->devices, identity->device_id, err));
  NAI_TRY(map_keys(&m->device_processes, p, &p->devices, &identity->devices, identity->device_process, err));
  for (uint32_t i = 0; i < p->devices.count; i++) {
    int64_t key = p->devices.keys[i];
    /* A witness that names no GPU is of none, while work without one is of its process's only one. */
    if (p->source->witness && (key & 0xffffff) == NAI_DEVICE_UNKNOWN)
      m->device_ids[i] = -1;
    if (m->device_processes[i] < 0) /* a witness may know a device of a process that nothing else mentions */
      m->device_processes[i] = nai_identity_process(x->out->tables[NAI_IN_PROCESSES], key);
  }
  return NAI_OK;
}

/* Adds the part's texts to those of the whole; *map tells where each went. */
static int map_texts(int64_t **map, struct nai_part *p, struct nai_strings *all, const struct nai_strings *local,
                     struct nai_err *err) {
  NAI_TRY(NAI_NEW(*map, &p->arena, local->count, err));
  for (uint32_t i = 0; i < local->count; i++) {
    uint32_t id = nai_strings_add(all, nai_strings_get(local, i), nai_strings_len(local, i));
    NAI_TRY(nai_memory_check(id != NAI_NO_STRING, err));
    (*map)[i] = id;
  }
  return NAI_OK;
}

/* The names of the part's records, but for records that have one. */
static int name_records(struct extraction *x, const struct nai_part *p, struct nai_err *err) {
  enum nai_input_table table = p->source->records;
  uint32_t count = x->records[table].count, have = x->record_capacity[table];
  if (count)
    NAI_TRY(NAI_ROOM(x->record_name[table], x->record_capacity[table], count - 1, &x->arena, err));
  for (; have < x->record_capacity[table]; have++)
    x->record_name[table][have] = NAI_NO_STRING;
  for (uint32_t i = 0; i < p->record_capacity && i < p->records.count; i++) {
    uint32_t *name = &x->record_name[table][p->remap.records[i]], local = p->record_name[i];
    if (local == NAI_NO_STRING || *name != NAI_NO_STRING)
      continue;
    const char *text = nai_strings_get(&p->record_names, local);
    *name = nai_strings_add(&x->record_names[table], text, nai_strings_len(&p->record_names, local));
    NAI_TRY(nai_memory_check(*name != NAI_NO_STRING, err));
  }
  return NAI_OK;
}

static int merge_part(struct extraction *x, struct nai_part *p, struct nai_err *err) {
  const struct nai_identity *identity = &x->identity;
  struct nai_remap *m = &p->remap;
  struct nai_strings *names = &x->names[p->source->table];
  names->directory = x->options->directory;
  NAI_TRY(map_keys(&m->threads, p, &p->threads, &identity->threads, identity->thread_row, err));
  NAI_TRY(map_devices(x, p, err));
  NAI_TRY(map_texts(&m->names, p, names, &p->names, err));
  NAI_TRY(map_texts(&m->records, p, &x->records[p->source->records], &p->records, err));
  NAI_TRY(name_records(x, p, err));
  /* Only as many sizes as are kept: with one more there are too many, and none is. */
  if (p->sizes.count && !x->too_many_sizes)
    NAI_TRY(map_texts(&m->sizes, p, &x->sizes, &p->sizes, err));
  x->too_many_sizes |= p->too_many_sizes || x->sizes.count > NAI_MAX_SIZES;
  return NAI_OK;
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
  NAI_TRY(collect_keys(x, err));
  NAI_TRY(nai_identity_resolve(&x->identity, x->out, x->trace, err));
  for (int i = 0; i < x->part_count; i++)
    NAI_TRY(merge_part(x, &x->parts[i], err));
  return NAI_OK;
}
