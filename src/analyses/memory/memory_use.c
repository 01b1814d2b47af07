/* How much memory was allocated at most, by whom, when, and does it grow? Tables memory_use, memory_peak_allocations,
 * memory_growth and memory_timeline. */
#include "analyses/analysis.h"
#include "analyses/idle/idle.h"
#include "analyses/memory/memory_growth.h"
#include "analyses/memory/memory_timeline.h"
#include "analyses/memory/memory_track.h"
#include "derive/cpu/cpu.h"
#include "table/columns.h"

#include <stdlib.h>

enum {
  PID,
  DEVICE,
  KIND,
  KIND_ID,
  ALLOCS,
  FREES,
  ALLOCATED,
  PEAK,
  PEAK_USED,
  PEAK_TIME,
  CAPACITY,
  CAPACITY_PCT,
  END_BYTES,
  END_COUNT,
  UNKNOWN,
  REUSED,
  MISMATCHED,
  TRIMS,
  TRIMMED
};
static const struct nai_column_def columns[] = {
    [PID] = NAI_PID_COLUMN("process", .key = true),
    [DEVICE] = NAI_DEVICE_COLUMN("GPU; empty for memory of the host", .key = true),
    [KIND] = NAI_NAME_COLUMN("memory_kind", "kind of memory", .key = true),
    [KIND_ID] = {"memory_kind_id", NAI_I32, NAI_ID, "number behind it: CUPTI memory kind", .key = true},
    [ALLOCS] = NAI_COUNT_COLUMN("alloc_count", "allocations", .sum = true),
    [FREES] = NAI_COUNT_COLUMN("free_count", "releases", .sum = true),
    [ALLOCATED] = NAI_BYTES_COLUMN("allocated_bytes", "bytes of all allocations together", .sum = true),
    [PEAK] = NAI_BYTES_COLUMN("peak_bytes",
                              "most memory held at one time: allocations besides pools, and whole pools. What was "
                              "allocated before the capture is not in it",
                              .better = NAI_BETTER_LOWER),
    [PEAK_USED] = NAI_BYTES_COLUMN("peak_used_bytes", "the same with the used part of pools only"),
    [PEAK_TIME] = NAI_START_COLUMN("peak_ns", "when peak_bytes was reached first"),
    [CAPACITY] = NAI_BYTES_COLUMN("capacity_bytes", "memory of the GPU; empty for other kinds"),
    [CAPACITY_PCT] = NAI_PCT_COLUMN("peak_pct_of_capacity", "peak_bytes of it", .better = NAI_BETTER_LOWER),
    [END_BYTES] = NAI_BYTES_COLUMN("end_bytes", "held after the last event"),
    [END_COUNT] = NAI_COUNT_COLUMN("end_count", "allocations that were never released"),
    [UNKNOWN] = NAI_COUNT_COLUMN("unknown_frees", "releases of what was allocated before the capture", .sum = true),
    [REUSED] = NAI_COUNT_COLUMN("reused_addresses",
                                "allocations where another was not released yet: its release is lost", .sum = true),
    [MISMATCHED] =
        NAI_COUNT_COLUMN("mismatched_frees", "releases that tell another size than the allocation", .sum = true),
    [TRIMS] =
        NAI_COUNT_COLUMN("pool_trims", "times that pools gave memory back", .better = NAI_BETTER_LOWER, .sum = true),
    [TRIMMED] = NAI_BYTES_COLUMN("pool_trimmed_bytes", "how much", .better = NAI_BETTER_LOWER, .sum = true),
};
static const struct nai_schema schema =
    NAI_SCHEMA("memory_use", "Memory use", "Memory of one kind that a process allocated on one GPU", columns);

enum { A_PID, A_DEVICE, A_KIND, A_KIND_ID, A_RANK, A_BYTES, A_PCT, A_START, A_END, A_API, A_RANGE, A_CALLER, A_NAME };
static const struct nai_column_def allocation_columns[] = {
    [A_PID] = NAI_PID_COLUMN("process", .key = true),
    [A_DEVICE] = NAI_DEVICE_COLUMN("GPU; empty for memory of the host", .key = true),
    [A_KIND] = NAI_LABEL_COLUMN("memory_kind", "kind of memory", .key = true),
    [A_KIND_ID] = {"memory_kind_id", NAI_I32, NAI_ID, "number behind it: CUPTI memory kind", .key = true},
    [A_RANK] = NAI_COUNT_COLUMN("rank", "1 for the largest", .key = true),
    [A_BYTES] = NAI_BYTES_COLUMN("bytes", "size", .sum = true),
    [A_PCT] = NAI_PCT_COLUMN("pct_of_peak", "of peak_bytes; of memory in pools of what they hold"),
    [A_START] = NAI_START_COLUMN("allocated_ns", "when it was allocated"),
    [A_END] = NAI_END_COLUMN("released_ns", "when it was released; empty for never"),
    [A_API] = NAI_NAME_COLUMN("api_name", "call that allocated it"),
    [A_RANGE] = NAI_RANGE_NAME_COLUMN("nvtx_range", "innermost NVTX range around the call"),
    [A_CALLER] = NAI_LABEL_COLUMN("caller", "function that made the call, where CUDA calls have callchains"),
    [A_NAME] = NAI_LABEL_COLUMN("variable", "variable, where the export tells one"),
};
static const struct nai_schema allocations_schema =
    NAI_SCHEMA("memory_peak_allocations", "Largest allocations at the peak",
               "One of the ten largest allocations that were live when memory of a kind was at its peak",
               allocation_columns);

enum { KIND_DEVICE = 2, LARGEST = 10 };

static int64_t capacity_of(const struct nai_model *m, int32_t device) {
  const struct nai_table *gpus = m->tables[NAI_IN_GPUS];
  for (int64_t i = 0; i < gpus->rows; i++)
    if (nai_get_i64(gpus, i, GP_DEVICE) == device)
      return nai_get_i64(gpus, i, GP_MEMORY);
  return NAI_NULL_I64;
}

static void put_use(struct nai_table *table, const struct nai_model *m, const struct nai_memory_use *use) {
  int64_t row = nai_table_add_row(table);
  nai_memory_put_place(table, row, PID, DEVICE, KIND, KIND_ID, m, use);
  const int64_t values[][2] = {{ALLOCS, use->allocs},
                               {FREES, use->frees},
                               {ALLOCATED, use->allocated},
                               {PEAK, use->peak},
                               {PEAK_USED, use->peak_used},
                               {PEAK_TIME, use->peak_time},
                               {END_BYTES, nai_memory_held(use)},
                               {END_COUNT, use->live_count},
                               {UNKNOWN, use->unknown_frees},
                               {REUSED, use->reused},
                               {MISMATCHED, use->mismatched},
                               {TRIMS, use->trims},
                               {TRIMMED, use->trimmed}};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    nai_set_i64(table, row, (int)values[i][0], values[i][1]);
  int64_t capacity = use->kind == KIND_DEVICE && use->device >= 0 ? capacity_of(m, use->device) : NAI_NULL_I64;
  if (capacity > 0) {
    nai_set_i64(table, row, CAPACITY, capacity);
    nai_set_f64(table, row, CAPACITY_PCT, nai_percent((double)use->peak, (double)capacity));
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
      int64_t id = nai_get_i64(usage, all[u].v[i]->row, MU_CORRELATION);
      if (id != NAI_NULL_I64 && id)
        nai_keyset_add(&c->wanted, call_key(nai_get_i64(usage, all[u].v[i]->row, MU_PROCESS), id), &added);
    }
  c->api = malloc(((size_t)c->wanted.count + 1) * sizeof *c->api);
  if (!c->api || c->wanted.oom)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < c->wanted.count; i++)
    c->api[i] = NAI_NO_ROW;
  for (uint32_t i = 0; c->wanted.count && i < m->apis.n; i++) {
    int32_t thread = nai_at_i32(&m->apis.thread, i);
    int64_t id = nai_at(&m->apis.correlation, i);
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
  uint32_t at = nai_keyset_find(&c->wanted, call_key(nai_get_i64(usage, usage_row, MU_PROCESS),
                                                     nai_get_i64(usage, usage_row, MU_CORRELATION)));
  if (at == UINT32_MAX || c->api[at] == NAI_NO_ROW)
    return;
  int64_t id = nai_get_i64(m->tables[NAI_IN_APIS], c->api[at], AE_CALLCHAIN);
  const struct nai_chain *chain = id > 0 ? nai_cpu_chain(m, NAI_CALLCHAIN_CUDA, id) : NULL;
  nai_set_str(table, row, A_API, nai_model_api_name(m, c->api[at]));
  nai_set_str(table, row, A_RANGE, nai_launch_range(m, c->api[at]));
  nai_set_str(table, row, A_CALLER, chain && chain->is_own ? nai_chain_name(m, chain) : NULL);
}

static void put_allocation(struct nai_table *table, const struct nai_model *m, const struct nai_memory_use *use,
                           const struct nai_allocation *a, int rank, const struct calls *c) {
  const struct nai_table *usage = m->tables[NAI_IN_MEMORY_USAGE];
  int64_t row = nai_table_add_row(table);
  struct nai_value name = nai_table_value(usage, a->row, MU_NAME);
  nai_memory_put_place(table, row, A_PID, A_DEVICE, A_KIND, A_KIND_ID, m, use);
  nai_set_i64(table, row, A_RANK, rank);
  nai_set_i64(table, row, A_BYTES, a->bytes);
  if (use->peak)
    nai_set_f64(table, row, A_PCT, nai_percent((double)a->bytes, (double)use->peak));
  nai_set_i64(table, row, A_START, nai_get_i64(usage, a->row, MU_TIME));
  nai_set_i64(table, row, A_END, a->until_time);
  nai_set_str(table, row, A_NAME, name.null ? NULL : name.s);
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
  static const struct nai_sort_by uses[] = {{PEAK, true}, {PID, false}, {DEVICE, false}, {KIND_ID, false}},
                                  allocations[] = {
                                      {A_PID, false}, {A_DEVICE, false}, {A_KIND_ID, false}, {A_RANK, false}};
  if (!rc)
    rc = nai_table_sort(io->out[0], uses, 4, err);
  return rc ? rc : nai_table_sort(io->out[1], allocations, 4, err);
}

static const struct nai_schema *const schemas[] = {&schema, &allocations_schema, &nai_memory_growth_schema,
                                                   &nai_memory_timeline_schema, NULL};
static const char *const inputs[] = {"steps", NULL};
const struct nai_node nai_analysis_memory_use = {.name = "memory_use",
                                                 .outputs = schemas,
                                                 .inputs = inputs,
                                                 .parts = NAI_PART(CALLS) | NAI_PART(NVTX_TREE) | NAI_PART(CPU),
                                                 .tables = NAI_IN(MEMORY_USAGE) | NAI_IN(MEMORY_POOLS) | NAI_IN(APIS) |
                                                           NAI_IN(PROCESSES) | NAI_IN(GPUS) | NAI_IN(LABELS) |
                                                           NAI_IN(NVTX) | NAI_IN(CALLCHAINS) | NAI_IN(THREADS),
                                                 .run = run};
