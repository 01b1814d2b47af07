/* From each part's own dictionaries to those of the whole trace. */
#include "ingest/extraction.h"

#include "base/threads.h"

#include <stdlib.h>

/* One part's index -> index in the whole, all 32-bit as the cells are. */
struct remap {
  uint32_t *names, *threads, *device_ids, *device_processes, *configs;
};

struct merging {
  struct extraction *x;
  struct remap *remaps; /* one per part */
};

static uint32_t *new_map(uint32_t count) { return malloc(((size_t)count + 1) * sizeof(uint32_t)); }

static uint32_t *map_keys(const struct nai_keyset *local, const struct nai_keyset *global, const int32_t *result) {
  uint32_t *map = new_map(local->count);
  for (uint32_t i = 0; map && i < local->count; i++)
    map[i] = (uint32_t)result[nai_keyset_find(global, local->keys[i])];
  return map;
}

static int merge_part(struct remap *m, struct extraction *x, struct nai_part *p, struct nai_err *err) {
  m->names = new_map(p->names.count);
  m->configs = new_map(p->configs.count);
  m->threads = map_keys(&p->threads, &x->identity.threads, x->identity.thread_row);
  m->device_ids = map_keys(&p->devices, &x->identity.devices, x->identity.device_id);
  m->device_processes = map_keys(&p->devices, &x->identity.devices, x->identity.device_process);
  if (!m->names || !m->configs || !m->threads || !m->device_ids || !m->device_processes)
    return nai_err_nomem(err);
  int rc = nai_strings_merge(m->names, &p->table->strings, &p->names, err);
  return rc ? rc : nai_strings_merge(m->configs, &x->configs, &p->configs, err);
}

static bool is_identity(const uint32_t *map, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (map[i] != i)
      return false;
  return true;
}

/* Cells of column `to` = map[cells of column `from`]; -1 for either: nothing to do. */
static int remap_column(struct nai_part *p, int to, int from, const uint32_t *map, uint32_t count, struct nai_err *err) {
  enum { CHUNK = 16384 };
  if (to < 0 || from < 0 || (to == from && is_identity(map, count)))
    return NAI_OK;
  uint32_t *cells = malloc(CHUNK * sizeof *cells);
  int rc = cells ? NAI_OK : nai_err_nomem(err);
  for (int64_t done = 0, n; !rc && done < p->rows; done += n) {
    n = p->rows - done < CHUNK ? p->rows - done : CHUNK;
    rc = nai_table_get_cells(cells, p->table, from, p->first + done, n, err);
    for (int64_t i = 0; !rc && i < n; i++)
      cells[i] = map[cells[i]];
    if (!rc)
      rc = nai_table_put_cells(p->table, to, p->first + done, cells, n, err);
  }
  free(cells);
  return rc;
}

/* Rewrites one part's dictionary columns. */
static int remap_part(void *ctx, int task, struct nai_err *err) {
  const struct merging *merging = ctx;
  struct nai_part *p = &merging->x->parts[task];
  const struct remap *m = &merging->remaps[task];
  const struct nai_source *s = p->source;
  /* Rows carry the device key in whichever column is there; the process goes first. */
  int device_key = s->device_column >= 0 ? s->device_column : s->process_column;
  const struct {
    int to, from;
    const uint32_t *map;
    uint32_t count;
  } columns[] = {{s->name_column, s->name_column, m->names, p->names.count},
                 {s->thread_column, s->thread_column, m->threads, p->threads.count},
                 {s->process_column, device_key, m->device_processes, p->devices.count},
                 {s->device_column, s->device_column, m->device_ids, p->devices.count},
                 {s->config_column, s->config_column, m->configs, p->configs.count}};
  int rc = NAI_OK;
  for (size_t i = 0; !rc && i < sizeof columns / sizeof *columns; i++)
    rc = remap_column(p, columns[i].to, columns[i].from, columns[i].map, columns[i].count, err);
  return rc;
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
  struct merging merging = {x, calloc((size_t)x->part_count + 1, sizeof *merging.remaps)};
  int rc = merging.remaps ? collect_keys(x, err) : nai_err_nomem(err);
  if (!rc)
    rc = nai_identity_resolve(&x->identity, x->out, x->trace, err);
  for (int i = 0; !rc && i < x->part_count; i++)
    rc = merge_part(&merging.remaps[i], x, &x->parts[i], err);
  if (!rc)
    rc = nai_parallel(x->options->threads, x->part_count, remap_part, &merging, err);
  for (int i = 0; merging.remaps && i < x->part_count; i++) {
    struct remap *m = &merging.remaps[i];
    free(m->names);
    free(m->threads);
    free(m->device_ids);
    free(m->device_processes);
    free(m->configs);
  }
  free(merging.remaps);
  return rc;
}
