/* Follows allocations, releases and pools of a process in the order of time: part MEMORY. */
#include "model/memory/memory_track.h"

#include "base/sort.h"
#include "model/build.h"
#include "tables/memory_pool_events.h"
#include "tables/memory_usage_events.h"

/* One row of memory_usage_events or memory_pool_events. */
struct event {
  int64_t process, time, address;
  int32_t operation; /* of usage: 0 allocation, 1 release */
  bool pool;
  uint32_t row;
};

struct pool {
  int64_t bytes, used;
  uint32_t use;
};

/* What is known of the process whose events are looked at; the arena's. */
struct tracker {
  struct nai_model *m;
  struct nai_memory_track *track;
  struct MEMORY_USAGE_EVENTS_columns usage;
  struct MEMORY_POOL_EVENTS_columns pools;
  struct nai_arena *arena;
  uint32_t first_use; /* of the process, in track->uses */
  struct nai_keyset use_keys, addresses, pool_addresses;
  uint32_t *last; /* per address: the allocation that was there last, NAI_NO_ROW for none that is live */
  uint32_t last_capacity;
  struct pool *pool;
  uint32_t pool_capacity;
};

enum { ALLOCATE, RELEASE, POOL_DESTROYED = 2, POOL_TRIMMED = 3 };

/* At one moment releases come first: their addresses may be used again. */
NAI_ORDER(compare, struct event, {a->process, b->process}, {a->time, b->time}, {a->pool, b->pool},
          {b->operation, a->operation}, {a->address, b->address}, {a->row, b->row})

static void take_events(struct event *events, const struct nai_table *usage, const struct nai_table *pools) {
  uint32_t n = 0;
  for (int64_t i = 0; i < usage->rows; i++)
    events[n++] = (struct event){.process = nai_get_i64(usage, i, MEMORY_USAGE_EVENTS_process),
                                 .time = nai_get_i64(usage, i, MEMORY_USAGE_EVENTS_time_ns),
                                 .address = nai_get_i64(usage, i, MEMORY_USAGE_EVENTS_address),
                                 .operation = (int32_t)nai_get_i64(usage, i, MEMORY_USAGE_EVENTS_operation),
                                 .row = (uint32_t)i};
  for (int64_t i = 0; i < pools->rows; i++)
    events[n++] = (struct event){.process = nai_get_i64(pools, i, MEMORY_POOL_EVENTS_process),
                                 .time = nai_get_i64(pools, i, MEMORY_POOL_EVENTS_time_ns),
                                 .address = nai_get_i64(pools, i, MEMORY_POOL_EVENTS_pool_address),
                                 .operation = (int32_t)nai_get_i64(pools, i, MEMORY_POOL_EVENTS_operation),
                                 .pool = true,
                                 .row = (uint32_t)i};
  qsort(events, n, sizeof *events, compare);
}

/* --- what a process holds ------------------------------------------------------------------------- */

/* *out = index of the use that a row of memory_usage_events is of; kind 0 is as unknown as NULL. */
static int use_of(uint32_t *out, struct tracker *t, uint32_t row, struct nai_err *err) {
  struct nai_memory_track *track = t->track;
  int64_t device = nai_at(&t->usage.device_id, row);
  int32_t kind = nai_at_i32(&t->usage.memory_kind, row);
  bool added;
  uint32_t i = nai_keyset_add(&t->use_keys, nai_key_pair(device, (uint32_t)kind & 0xffff), &added);
  NAI_TRY(nai_memory_check(!t->use_keys.oom, err));
  *out = i += t->first_use;
  if (!added)
    return NAI_OK;
  char room[NAI_KIND_NAME_MAX];
  int32_t process = nai_at_i32(&t->usage.process, row);
  NAI_TRY(NAI_ROOM(track->uses, track->use_capacity, i, &t->m->arena, err));
  track->uses[i] = (struct nai_memory_use){
      .process = process,
      .pid = nai_model_pid(t->m, process),
      .device_id = device >= 0 ? device : NAI_NULL_I64,
      .kind = nai_arena_printf(&t->m->arena, "%s", nai_model_kind_name(room, t->m, NAI_LABEL_MEMORY, kind)),
      .kind_id = kind == NAI_NULL_I32 ? NAI_NULL_I64 : kind,
      .peak_time = NAI_NULL_I64};
  track->use_count = i + 1;
  return nai_arena_check(&t->m->arena, err);
}

/* What a pool holds from now on; NULL: as before. */
static void set_pool(struct tracker *t, struct pool *pool, int64_t bytes, int64_t used) {
  struct nai_memory_use *of = &t->track->uses[pool->use];
  bytes = bytes == NAI_NULL_I64 ? pool->bytes : bytes;
  used = used == NAI_NULL_I64 ? pool->used : used;
  of->pool_bytes += bytes - pool->bytes;
  of->pool_used += used - pool->used;
  pool->bytes = bytes;
  pool->used = used;
}

/* What a use holds after an event. */
static void note(struct tracker *t, uint32_t use, int64_t time, uint32_t event) {
  struct nai_memory_track *track = t->track;
  struct nai_memory_use *of = &track->uses[use];
  struct nai_memory_point now = {time, nai_memory_held(of), of->live + of->pool_used, use};
  track->points[track->point_count++] = now;
  if (of->peak_time == NAI_NULL_I64 || now.held > of->peak) {
    of->peak = now.held;
    of->peak_time = time;
    of->peak_event = event;
  }
  of->peak_used = now.used > of->peak_used ? now.used : of->peak_used;
}

/* --- allocations and releases --------------------------------------------------------------------- */

static bool is_pooled(const struct tracker *t, uint32_t row) {
  return nai_at(&t->usage.pool_address, row) != NAI_NULL_I64;
}

/* The allocation at an address, NULL where none is live. */
static struct nai_allocation *live_at(struct tracker *t, int64_t address) {
  uint32_t i = nai_keyset_find(&t->addresses, address);
  return i == UINT32_MAX || t->last[i] == NAI_NO_ROW ? NULL : &t->track->allocations[t->last[i]];
}

static void end_allocation(struct tracker *t, struct nai_allocation *a, const struct event *e, uint32_t event) {
  struct nai_memory_use *use = &t->track->uses[a->use];
  a->until = event;
  a->until_time = e->time;
  use->live -= is_pooled(t, a->row) ? 0 : a->bytes;
  use->live_count--;
  t->last[nai_keyset_find(&t->addresses, nai_at(&t->usage.address, a->row))] = NAI_NO_ROW;
}

static int allocate(struct tracker *t, uint32_t use, const struct event *e, uint32_t event, struct nai_err *err) {
  struct nai_memory_track *track = t->track;
  struct nai_memory_use *of = &track->uses[use];
  struct nai_allocation *before = live_at(t, e->address);
  int64_t bytes = nai_at(&t->usage.bytes, e->row);
  bool added;
  if (before) {
    track->uses[before->use].reused++;
    end_allocation(t, before, e, event);
  }
  uint32_t i = nai_keyset_add(&t->addresses, e->address, &added);
  NAI_TRY(nai_memory_check(!t->addresses.oom, err));
  NAI_TRY(NAI_ROOM(t->last, t->last_capacity, i, t->arena, err));
  bytes = bytes > 0 ? bytes : 0;
  t->last[i] = track->allocation_count;
  track->allocations[track->allocation_count++] =
      (struct nai_allocation){use, e->row, event, NAI_NO_ROW, bytes, NAI_NULL_I64};
  of->allocs++;
  of->allocated += bytes;
  of->live += is_pooled(t, e->row) ? 0 : bytes;
  of->live_count++;
  return NAI_OK;
}

/* Of `a`, NULL: of what was allocated before the capture. The size that counts is the allocation's own. */
static void release(struct tracker *t, struct nai_allocation *a, uint32_t use, const struct event *e, uint32_t event) {
  int64_t bytes = nai_at(&t->usage.bytes, e->row);
  t->track->uses[use].frees++;
  if (!a) {
    t->track->uses[use].unknown_frees++;
    return;
  }
  t->track->uses[use].mismatched += bytes > 0 && bytes != a->bytes;
  end_allocation(t, a, e, event);
}

static int look_at_usage(struct tracker *t, const struct event *e, uint32_t event, struct nai_err *err) {
  struct nai_allocation *released = e->operation == RELEASE ? live_at(t, e->address) : NULL;
  uint32_t use = released ? released->use : NAI_NO_ROW;
  bool added;
  if (!released)
    NAI_TRY(use_of(&use, t, e->row, err));
  if (e->operation == RELEASE)
    release(t, released, use, e, event);
  else if (e->operation == ALLOCATE)
    NAI_TRY(allocate(t, use, e, event, err));
  if (is_pooled(t, e->row)) {
    uint32_t pool = nai_keyset_add(&t->pool_addresses, nai_at(&t->usage.pool_address, e->row), &added);
    NAI_TRY(nai_memory_check(!t->pool_addresses.oom, err));
    NAI_TRY(NAI_ROOM(t->pool, t->pool_capacity, pool, t->arena, err));
    t->pool[pool].use = added ? use : t->pool[pool].use;
    set_pool(t, &t->pool[pool], nai_at(&t->usage.pool_bytes, e->row), nai_at(&t->usage.pool_used_bytes, e->row));
  }
  note(t, use, e->time, event);
  return NAI_OK;
}

/* Pools that nothing was allocated from are of no use whose memory is known. */
static void look_at_pool(struct tracker *t, const struct event *e, uint32_t event) {
  uint32_t i = nai_keyset_find(&t->pool_addresses, e->address);
  if (i == UINT32_MAX)
    return;
  struct pool *pool = &t->pool[i];
  int64_t before = pool->bytes;
  bool gone = e->operation == POOL_DESTROYED;
  set_pool(t, pool, gone ? 0 : nai_at(&t->pools.pool_bytes, e->row),
           gone ? 0 : nai_at(&t->pools.pool_used_bytes, e->row));
  note(t, pool->use, e->time, event);
  if (e->operation != POOL_TRIMMED)
    return;
  t->track->uses[pool->use].trims++;
  t->track->uses[pool->use].trimmed += before > pool->bytes ? before - pool->bytes : 0;
}

/* Events first .. end - 1 are those of one process. */
static int follow_process(struct nai_model *m, const struct event *events, uint32_t first, uint32_t end,
                          struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct tracker t = {.m = m,
                      .track = m->memory,
                      .usage = MEMORY_USAGE_EVENTS_columns_of(m->tables[NAI_IN_MEMORY_USAGE]),
                      .pools = MEMORY_POOL_EVENTS_columns_of(m->tables[NAI_IN_MEMORY_POOLS]),
                      .arena = &arena,
                      .first_use = m->memory->use_count,
                      .use_keys = {.arena = &arena},
                      .addresses = {.arena = &arena},
                      .pool_addresses = {.arena = &arena}};
  for (uint32_t i = first; i < end; i++)
    if (events[i].pool)
      look_at_pool(&t, &events[i], i);
    else
      NAI_TRY(look_at_usage(&t, &events[i], i, err));
  return NAI_OK;
}

static int begin(struct nai_model *m, struct nai_err *err) {
  const struct nai_table *usage = m->tables[NAI_IN_MEMORY_USAGE], *pools = m->tables[NAI_IN_MEMORY_POOLS];
  struct event *events;
  NAI_TRY(NAI_NEW(m->memory, &m->arena, 1, err));
  if (!usage->rows)
    return NAI_OK;
  uint32_t n = (uint32_t)(usage->rows + pools->rows);
  NAI_TRY(NAI_NEW(events, &m->work->arenas[NAI_PART_MEMORY], n, err));
  NAI_TRY(NAI_NEW(m->memory->allocations, &m->arena, (size_t)usage->rows, err));
  NAI_TRY(NAI_NEW(m->memory->points, &m->arena, n, err));
  take_events(events, usage, pools);
  for (uint32_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && events[end].process == events[i].process; end++)
      ;
    NAI_TRY(follow_process(m, events, i, end, err));
  }
  return NAI_OK;
}

const struct nai_part_def nai_part_memory = {.name = "memory",
                                             .tables = NAI_IN(MEMORY_USAGE) | NAI_IN(MEMORY_POOLS) | NAI_IN(PROCESSES) |
                                                       NAI_IN(LABELS),
                                             .begin = begin};
