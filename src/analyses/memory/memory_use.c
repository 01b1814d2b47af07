/* How much memory was allocated at most, by whom, when, and does it grow? Tables memory_use, memory_peak_allocations,
 * memory_growth and memory_timeline. */
#include "analyses/analysis.h"
#include "model/idle/gap_names.h"
#include "analyses/memory/memory_growth.h"
#include "analyses/memory/memory_timeline.h"
#include "analyses/memory/memory_track.h"
#include "model/cpu/cpu.h"
#include "tables/api_events.h"
#include "tables/gpus.h"
#include "tables/memory_growth.h"
#include "tables/memory_peak_allocations.h"
#include "tables/memory_timeline.h"
#include "tables/memory_usage_events.h"
#include "tables/memory_use.h"
#include "tables/steps.h"

#include <stdlib.h>

enum { KIND_DEVICE = 2, LARGEST = 10 };

static int64_t capacity_of(const struct nai_model *m, int32_t device) {
  const struct nai_table *gpus = m->tables[NAI_IN_GPUS];
  for (int64_t i = 0; i < gpus->rows; i++)
    if (nai_get_i64(gpus, i, GPUS_device_id) == device)
      return nai_get_i64(gpus, i, GPUS_memory_bytes);
  return NAI_NULL_I64;
}

static void put_use(struct nai_table *table, const struct nai_model *m, const struct nai_memory_use *use) {
  int64_t row = nai_table_add_row(table);
  nai_memory_put_place(table, row, MEMORY_USE_pid, MEMORY_USE_device_id, MEMORY_USE_memory_kind,
                       MEMORY_USE_memory_kind_id, m, use);
  const int64_t values[][2] = {
      {MEMORY_USE_alloc_count, use->allocs},          {MEMORY_USE_free_count, use->frees},
      {MEMORY_USE_allocated_bytes, use->allocated},   {MEMORY_USE_peak_bytes, use->peak},
      {MEMORY_USE_peak_used_bytes, use->peak_used},   {MEMORY_USE_peak_ns, use->peak_time},
      {MEMORY_USE_end_bytes, nai_memory_held(use)},   {MEMORY_USE_end_count, use->live_count},
      {MEMORY_USE_unknown_frees, use->unknown_frees}, {MEMORY_USE_reused_addresses, use->reused},
      {MEMORY_USE_mismatched_frees, use->mismatched}, {MEMORY_USE_pool_trims, use->trims},
      {MEMORY_USE_pool_trimmed_bytes, use->trimmed}};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    nai_set_i64(table, row, (int)values[i][0], values[i][1]);
  int64_t capacity = use->kind == KIND_DEVICE && use->device >= 0 ? capacity_of(m, use->device) : NAI_NULL_I64;
  if (capacity > 0) {
    nai_set_i64(table, row, MEMORY_USE_capacity_bytes, capacity);
    nai_set_f64(table, row, MEMORY_USE_peak_pct_of_capacity, nai_percent((double)use->peak, (double)capacity));
  }
}

/* --- the largest at the peak ------------------------------------------------------------------ */

struct largest {
  const struct nai_allocation *v[LARGEST];
  int count;
};

static void keep_largest(struct largest *l, const struct nai_allocation *a) {
  int at = l->count < LARGEST ? l->count++ : LARGEST;
  for (; at > 0 && l->v[at - 1]->bytes < a->bytes; at--)
    if (at < LARGEST)
      l->v[at] = l->v[at - 1];
  if (at < LARGEST)
    l->v[at] = a;
}

static struct largest *find_largest(const struct nai_memory_track *track) {
  struct largest *all = calloc((size_t)track->use_count + 1, sizeof *all);
  for (uint32_t i = 0; all && i < track->allocation_count; i++) {
    const struct nai_allocation *a = &track->allocations[i];
    uint32_t peak = track->uses[a->use].peak_event;
    if (a->from <= peak && (a->until == NAI_NO_ROW || a->until > peak))
      keep_largest(&all[a->use], a);
  }
  return all;
}

/* The calls that made some allocations: one pass over all calls. */
struct calls {
  struct nai_keyset wanted; /* process << 40 | correlation */
  uint32_t *api;
};

static int64_t call_key(int64_t process, int64_t correlation) {
  return (int64_t)((uint64_t)process << 40 | ((uint64_t)correlation & 0xffffffffff));
}

static int find_calls(struct calls *c, const struct nai_model *m, const struct largest *all, uint32_t count,
                      struct nai_err *err) {
  const struct nai_table *usage = m->tables[NAI_IN_MEMORY_USAGE];
  bool added;
  for (uint32_t u = 0; u < count; u++)
    for (int i = 0; i < all[u].count; i++) {
      int64_t id = nai_get_i64(usage, all[u].v[i]->row, MEMORY_USAGE_EVENTS_correlation_id);
      if (id != NAI_NULL_I64 && id)
        nai_keyset_add(&c->wanted, call_key(nai_get_i64(usage, all[u].v[i]->row, MEMORY_USAGE_EVENTS_process), id),
                       &added);
    }
  c->api = malloc(((size_t)c->wanted.count + 1) * sizeof *c->api);
  if (!c->api || c->wanted.oom)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < c->wanted.count; i++)
    c->api[i] = NAI_NO_ROW;
  for (uint32_t i = 0; c->wanted.count && i < m->apis.n; i++) {
    int32_t thread = nai_at_i32(&m->apis.thread, i);
    int64_t id = nai_at(&m->apis.correlation_id, i);
    uint32_t found = thread < 0 || id == NAI_NULL_I64
                       ? UINT32_MAX
                       : nai_keyset_find(&c->wanted, call_key(m->thread_process[thread], id));
    if (found != UINT32_MAX && c->api[found] == NAI_NO_ROW)
      c->api[found] = i;
  }
  return NAI_OK;
}

static void put_call(struct nai_table *table, int64_t row, const struct nai_model *m, const struct calls *c,
                     uint32_t usage_row) {
  const struct nai_table *usage = m->tables[NAI_IN_MEMORY_USAGE];
  uint32_t at =
      nai_keyset_find(&c->wanted, call_key(nai_get_i64(usage, usage_row, MEMORY_USAGE_EVENTS_process),
                                           nai_get_i64(usage, usage_row, MEMORY_USAGE_EVENTS_correlation_id)));
  if (at == UINT32_MAX || c->api[at] == NAI_NO_ROW)
    return;
  int64_t id = nai_get_i64(m->tables[NAI_IN_APIS], c->api[at], API_EVENTS_callchain_id);
  const struct nai_chain *chain = id > 0 ? nai_cpu_chain(m, NAI_CALLCHAIN_CUDA, id) : NULL;
  nai_set_str(table, row, MEMORY_PEAK_ALLOCATIONS_api_name, nai_model_api_name(m, c->api[at]));
  nai_set_str(table, row, MEMORY_PEAK_ALLOCATIONS_nvtx_range, nai_launch_range(m, c->api[at]));
  nai_set_str(table, row, MEMORY_PEAK_ALLOCATIONS_caller, chain && chain->is_own ? nai_chain_name(m, chain) : NULL);
}

static void put_allocation(struct nai_table *table, const struct nai_model *m, const struct nai_memory_use *use,
                           const struct nai_allocation *a, int rank, const struct calls *c) {
  const struct nai_table *usage = m->tables[NAI_IN_MEMORY_USAGE];
  int64_t row = nai_table_add_row(table);
  struct nai_value name = nai_table_value(usage, a->row, MEMORY_USAGE_EVENTS_name);
  nai_memory_put_place(table, row, MEMORY_PEAK_ALLOCATIONS_pid, MEMORY_PEAK_ALLOCATIONS_device_id,
                       MEMORY_PEAK_ALLOCATIONS_memory_kind, MEMORY_PEAK_ALLOCATIONS_memory_kind_id, m, use);
  nai_set_i64(table, row, MEMORY_PEAK_ALLOCATIONS_rank, rank);
  nai_set_i64(table, row, MEMORY_PEAK_ALLOCATIONS_bytes, a->bytes);
  if (use->peak)
    nai_set_f64(table, row, MEMORY_PEAK_ALLOCATIONS_pct_of_peak, nai_percent((double)a->bytes, (double)use->peak));
  nai_set_i64(table, row, MEMORY_PEAK_ALLOCATIONS_allocated_ns,
              nai_get_i64(usage, a->row, MEMORY_USAGE_EVENTS_time_ns));
  nai_set_i64(table, row, MEMORY_PEAK_ALLOCATIONS_released_ns, a->until_time);
  nai_set_str(table, row, MEMORY_PEAK_ALLOCATIONS_variable, name.null ? NULL : name.s);
  put_call(table, row, m, c, a->row);
}

static int put_allocations(struct nai_table *table, const struct nai_model *m, const struct nai_memory_track *track,
                           struct nai_err *err) {
  struct largest *all = find_largest(track);
  struct calls calls = {0};
  int rc = all ? find_calls(&calls, m, all, track->use_count, err) : nai_err_nomem(err);
  for (uint32_t u = 0; !rc && u < track->use_count; u++)
    for (int i = 0; i < all[u].count; i++)
      put_allocation(table, m, &track->uses[u], all[u].v[i], i + 1, &calls);
  nai_keyset_free(&calls.wanted);
  free(calls.api);
  free(all);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_memory_track track;
  int rc = nai_memory_track_new(&track, m, err);
  for (uint32_t i = 0; !rc && i < track.use_count; i++)
    put_use(io->out[0], m, &track.uses[i]);
  if (!rc && track.use_count)
    rc = put_allocations(io->out[1], m, &track, err);
  if (!rc && track.use_count && io->in && io->in[0])
    rc = nai_memory_growth_put(io->out[2], m, &track, io->in[0], err);
  if (!rc && track.use_count)
    rc = nai_memory_timeline_put(io->out[3], m, &track, err);
  nai_memory_track_free(&track);
  return rc;
}

NAI_ANALYSIS(memory_use,
             .outputs = NAI_SCHEMAS(&nai_memory_use_schema, &nai_memory_peak_allocations_schema,
                                    &nai_memory_growth_schema, &nai_memory_timeline_schema),
             .inputs = NAI_SCHEMAS(&nai_steps_schema), .parts = NAI_PART(CALLS) | NAI_PART(NVTX_TREE) | NAI_PART(CPU),
             .tables = NAI_IN(MEMORY_USAGE) | NAI_IN(MEMORY_POOLS) | NAI_IN(APIS) | NAI_IN(PROCESSES) | NAI_IN(GPUS) |
                       NAI_IN(LABELS) | NAI_IN(NVTX) | NAI_IN(CALLCHAINS) | NAI_IN(THREADS),
             .run = run)
