/* How much memory was allocated at most, by whom, when? Tables memory_use and memory_peak_allocations. */
#include "analyses/analysis.h"
#include "model/cpu/cpu.h"
#include "model/idle/gap_names.h"
#include "model/memory/memory_track.h"
#include "tables/api_events.h"
#include "tables/gpus.h"
#include "tables/memory_peak_allocations.h"
#include "tables/memory_usage_events.h"
#include "tables/memory_use.h"

enum { KIND_DEVICE = 2, LARGEST = 10 };

/* NULL for all but a GPU's own memory. */
static int64_t capacity_of(const struct nai_model *m, const struct nai_memory_use *use) {
  const struct nai_table *gpus = m->tables[NAI_IN_GPUS];
  bool on_gpu = use->kind_id == KIND_DEVICE && use->device_id != NAI_NULL_I64;
  int64_t row = on_gpu ? nai_find_i64(gpus, GPUS_device_id, use->device_id) : -1;
  return row < 0 ? NAI_NULL_I64 : nai_get_i64(gpus, row, GPUS_memory_bytes);
}

static void put_use(struct nai_table *table, const struct nai_model *m, const struct nai_memory_use *use) {
  int64_t capacity = capacity_of(m, use);
  struct MEMORY_USE_row row =
      NAI_ROW(MEMORY_USE, .pid = use->pid, .device_id = use->device_id, .memory_kind = use->kind,
              .memory_kind_id = use->kind_id, .alloc_count = use->allocs, .free_count = use->frees,
              .allocated_bytes = use->allocated, .peak_bytes = use->peak, .peak_used_bytes = use->peak_used,
              .peak_ns = use->peak_time, .end_bytes = nai_memory_held(use), .end_count = use->live_count,
              .unknown_frees = use->unknown_frees, .reused_addresses = use->reused, .mismatched_frees = use->mismatched,
              .pool_trims = use->trims, .pool_trimmed_bytes = use->trimmed);
  if (capacity > 0) {
    row.capacity_bytes = capacity;
    row.peak_pct_of_capacity = nai_percent((double)use->peak, (double)capacity);
  }
  MEMORY_USE_add(table, &row);
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

static void find_largest(struct largest *all, const struct nai_memory_track *track) {
  for (uint32_t i = 0; i < track->allocation_count; i++) {
    const struct nai_allocation *a = &track->allocations[i];
    uint32_t peak = track->uses[a->use].peak_event;
    if (a->from <= peak && (a->until == NAI_NO_ROW || a->until > peak))
      keep_largest(&all[a->use], a);
  }
}

/* The calls that made some allocations: one pass over all calls. */
struct calls {
  struct nai_keyset wanted; /* process << 40 | correlation */
  uint32_t *api;
};

static int64_t call_key(int64_t process, int64_t correlation) {
  return (int64_t)((uint64_t)process << 40 | ((uint64_t)correlation & 0xffffffffff));
}

static int64_t key_of(const struct MEMORY_USAGE_EVENTS_columns *usage, const struct nai_allocation *a) {
  return call_key(nai_at(&usage->process, a->row), nai_at(&usage->correlation_id, a->row));
}

static int find_calls(struct calls *c, const struct nai_node_io *io, const struct MEMORY_USAGE_EVENTS_columns *usage,
                      const struct largest *all, struct nai_err *err) {
  const struct nai_model *m = io->model;
  bool added;
  for (uint32_t u = 0; u < m->memory->use_count; u++)
    for (int i = 0; i < all[u].count; i++) {
      int64_t id = nai_at(&usage->correlation_id, all[u].v[i]->row);
      if (id != NAI_NULL_I64 && id)
        nai_keyset_add(&c->wanted, key_of(usage, all[u].v[i]), &added);
    }
  NAI_TRY(nai_memory_check(!c->wanted.oom, err));
  NAI_TRY(NAI_NEW(c->api, io->arena, c->wanted.count, err));
  for (uint32_t i = 0; i < c->wanted.count; i++)
    c->api[i] = NAI_NO_ROW;
  for (uint32_t i = 0; c->wanted.count && i < m->apis.n; i++) {
    int32_t thread = nai_val_i32(&m->apis.thread, i);
    int64_t id = nai_at(&m->apis.correlation_id, i);
    uint32_t found = thread < 0 || id == NAI_NULL_I64
                       ? UINT32_MAX
                       : nai_keyset_find(&c->wanted, call_key(m->thread_process[thread], id));
    if (found != UINT32_MAX && c->api[found] == NAI_NO_ROW)
      c->api[found] = i;
  }
  return NAI_OK;
}

static void add_call(struct MEMORY_PEAK_ALLOCATIONS_row *row, const struct nai_model *m, uint32_t api) {
  int64_t id = nai_get_i64(m->tables[NAI_IN_APIS], api, API_EVENTS_callchain_id);
  const struct nai_chain *chain = id > 0 ? nai_cpu_chain(m, NAI_CALLCHAIN_CUDA, id) : NULL;
  row->api_name = nai_model_api_name(m, api);
  row->nvtx_range = nai_launch_range(m, api);
  row->caller = chain && chain->is_own ? nai_chain_name(m, chain) : NULL;
}

static void put_allocation(const struct nai_node_io *io, const struct MEMORY_USAGE_EVENTS_columns *usage,
                           const struct nai_allocation *a, int rank, const struct calls *c) {
  const struct nai_memory_use *use = &io->model->memory->uses[a->use];
  struct nai_value name = nai_table_value(io->model->tables[NAI_IN_MEMORY_USAGE], a->row, MEMORY_USAGE_EVENTS_name);
  struct MEMORY_PEAK_ALLOCATIONS_row row =
      NAI_ROW(MEMORY_PEAK_ALLOCATIONS, .pid = use->pid, .device_id = use->device_id, .memory_kind = use->kind,
              .memory_kind_id = use->kind_id, .rank = rank, .bytes = a->bytes,
              .allocated_ns = nai_at(&usage->time_ns, a->row), .released_ns = a->until_time,
              .variable = name.null ? NULL : name.s);
  uint32_t call = nai_keyset_find(&c->wanted, key_of(usage, a));
  if (use->peak)
    row.pct_of_peak = nai_percent((double)a->bytes, (double)use->peak);
  if (call != UINT32_MAX && c->api[call] != NAI_NO_ROW)
    add_call(&row, io->model, c->api[call]);
  MEMORY_PEAK_ALLOCATIONS_add(io->out[1], &row);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct MEMORY_USAGE_EVENTS_columns usage = MEMORY_USAGE_EVENTS_columns_of(m->tables[NAI_IN_MEMORY_USAGE]);
  struct calls calls = {.wanted = {.arena = io->arena}};
  struct largest *all;
  NAI_TRY(NAI_NEW(all, io->arena, m->memory->use_count, err));
  find_largest(all, m->memory);
  NAI_TRY(find_calls(&calls, io, &usage, all, err));
  for (uint32_t u = 0; u < m->memory->use_count; u++) {
    put_use(io->out[0], m, &m->memory->uses[u]);
    for (int i = 0; i < all[u].count; i++)
      put_allocation(io, &usage, all[u].v[i], i + 1, &calls);
  }
  return NAI_OK;
}

NAI_ANALYSIS(memory_use, .outputs = NAI_SCHEMAS(&nai_memory_use_schema, &nai_memory_peak_allocations_schema),
             .parts = NAI_PART(MEMORY) | NAI_PART(CALLS) | NAI_PART(NVTX_TREE) | NAI_PART(CPU), .tables = NAI_IN(GPUS),
             .run = run)
