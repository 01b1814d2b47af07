/* Follows allocations, releases and pools of a process in the order of time. */
#include "analyses/memory/memory_track.h"

#include "base/array.h"
#include "tables/memory_pool_events.h"
#include "tables/memory_usage_events.h"

#include <stdlib.h>

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

/* What is known of the process whose events are looked at. */
struct tracker {
  struct nai_memory_track *track;
  const struct nai_table *usage, *pools;
  struct nai_keyset use_keys, addresses, pool_addresses;
  uint32_t *last; /* per address: the allocation that was there last, NAI_NO_ROW for none that is live */
  uint32_t last_capacity;
  struct pool *pool;
  uint32_t pool_capacity;
  bool oom;
};

enum { ALLOCATE, RELEASE, POOL_DESTROYED = 2, POOL_TRIMMED = 3 };

/* At one moment releases come first: their addresses may be used again. */
static int compare(const void *pa, const void *pb) {
  const struct event *a = pa, *b = pb;
  if (a->process != b->process)
    return a->process < b->process ? -1 : 1;
  if (a->time != b->time)
    return a->time < b->time ? -1 : 1;
  if (a->pool != b->pool)
    return a->pool ? 1 : -1;
  if (a->operation != b->operation)
    return a->operation > b->operation ? -1 : 1;
  if (a->address != b->address)
    return a->address < b->address ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static uint32_t take_events(struct event *events, const struct nai_table *usage, const struct nai_table *pools) {
  uint32_t n = 0;
  for (int64_t i = 0; i < usage->rows; i++)
    events[n++] = (struct event){nai_get_i64(usage, i, MEMORY_USAGE_EVENTS_process),
                                 nai_get_i64(usage, i, MEMORY_USAGE_EVENTS_time_ns),
                                 nai_get_i64(usage, i, MEMORY_USAGE_EVENTS_address),
                                 (int32_t)nai_get_i64(usage, i, MEMORY_USAGE_EVENTS_operation),
                                 false,
                                 (uint32_t)i};
  for (int64_t i = 0; i < pools->rows; i++)
    events[n++] = (struct event){nai_get_i64(pools, i, MEMORY_POOL_EVENTS_process),
                                 nai_get_i64(pools, i, MEMORY_POOL_EVENTS_time_ns),
                                 nai_get_i64(pools, i, MEMORY_POOL_EVENTS_pool_address),
                                 (int32_t)nai_get_i64(pools, i, MEMORY_POOL_EVENTS_operation),
                                 true,
                                 (uint32_t)i};
  qsort(events, n, sizeof *events, compare);
  return n;
}

/* Index of the use, NAI_NO_ROW when out of memory. */
static uint32_t use_of(struct tracker *t, int64_t process, int64_t device, int64_t kind) {
  struct nai_memory_track *track = t->track;
  bool added;
  int64_t key = nai_key_pair(process, (uint32_t)(((uint64_t)device + 1) & 0xffff) << 16 | (uint32_t)(kind & 0xffff));
  uint32_t i = nai_keyset_add(&t->use_keys, key, &added);
  if (t->use_keys.oom ||
      (i == track->use_capacity && !nai_array_room(&track->uses, &track->use_capacity, i, sizeof *track->uses))) {
    t->oom = true;
    return NAI_NO_ROW;
  }
  if (added) {
    track->uses[i] = (struct nai_memory_use){.process = (int32_t)process,
                                             .device = (int32_t)device,
                                             .kind = kind == NAI_NULL_I64 ? NAI_NULL_I32 : (int32_t)kind,
                                             .first_time = NAI_NULL_I64,
                                             .peak_time = NAI_NULL_I64};
    track->use_count = i + 1;
  }
  return i;
}

/* What a pool holds from now on. */
static void set_pool(struct tracker *t, uint32_t use, int64_t address, int64_t bytes, int64_t used) {
  bool added;
  uint32_t i = nai_keyset_add(&t->pool_addresses, address, &added);
  if (t->pool_addresses.oom ||
      (i == t->pool_capacity && !nai_array_room(&t->pool, &t->pool_capacity, i, sizeof *t->pool))) {
    t->oom = true;
    return;
  }
  if (added)
    t->pool[i] = (struct pool){.use = use};
  struct nai_memory_use *of = &t->track->uses[t->pool[i].use];
  bytes = bytes == NAI_NULL_I64 ? t->pool[i].bytes : bytes;
  used = used == NAI_NULL_I64 ? t->pool[i].used : used;
  of->pool_bytes += bytes - t->pool[i].bytes;
  of->pool_used += used - t->pool[i].used;
  t->pool[i].bytes = bytes;
  t->pool[i].used = used;
}

/* The allocation at an address, NULL where none is live. */
static struct nai_allocation *live_at(struct tracker *t, int64_t address) {
  uint32_t i = nai_keyset_find(&t->addresses, address);
  return i == UINT32_MAX || t->last[i] == NAI_NO_ROW ? NULL : &t->track->allocations[t->last[i]];
}

static void end_allocation(struct tracker *t, struct nai_allocation *a, const struct event *e, uint32_t event) {
  struct nai_memory_use *use = &t->track->uses[a->use];
  bool pooled = nai_get_i64(t->usage, a->row, MEMORY_USAGE_EVENTS_pool_address) != NAI_NULL_I64;
  a->until = event;
  a->until_time = e->time;
  use->live -= pooled ? 0 : a->bytes;
  use->live_count--;
  t->last[nai_keyset_find(&t->addresses, nai_get_i64(t->usage, a->row, MEMORY_USAGE_EVENTS_address))] = NAI_NO_ROW;
}

static void allocate(struct tracker *t, uint32_t use, const struct event *e, uint32_t event) {
  struct nai_memory_track *track = t->track;
  struct nai_allocation *before = live_at(t, e->address);
  int64_t bytes = nai_get_i64(t->usage, e->row, MEMORY_USAGE_EVENTS_bytes);
  bool added;
  if (before) {
    track->uses[before->use].reused++;
    end_allocation(t, before, e, event);
  }
  uint32_t i = nai_keyset_add(&t->addresses, e->address, &added);
  if (t->addresses.oom || (i == t->last_capacity && !nai_array_room(&t->last, &t->last_capacity, i, sizeof *t->last))) {
    t->oom = true;
    return;
  }
  bytes = bytes > 0 ? bytes : 0;
  t->last[i] = track->allocation_count;
  track->allocations[track->allocation_count++] =
      (struct nai_allocation){use, e->row, event, NAI_NO_ROW, bytes, NAI_NULL_I64};
  struct nai_memory_use *of = &track->uses[use];
  of->allocs++;
  of->allocated += bytes;
  of->live += nai_get_i64(t->usage, e->row, MEMORY_USAGE_EVENTS_pool_address) == NAI_NULL_I64 ? bytes : 0;
  of->live_count++;
}

/* The size that counts is the allocation's own. */
static void release(struct tracker *t, uint32_t use, const struct event *e, uint32_t event) {
  struct nai_allocation *a = live_at(t, e->address);
  int64_t bytes = nai_get_i64(t->usage, e->row, MEMORY_USAGE_EVENTS_bytes);
  if (!a) {
    t->track->uses[use].frees++;
    t->track->uses[use].unknown_frees++;
    return;
  }
  t->track->uses[a->use].frees++;
  t->track->uses[a->use].mismatched += bytes > 0 && bytes != a->bytes;
  end_allocation(t, a, e, event);
}

/* What a use holds after an event. */
static void note(struct tracker *t, uint32_t use, int64_t time, uint32_t event) {
  struct nai_memory_track *track = t->track;
  struct nai_memory_use *of = &track->uses[use];
  struct nai_memory_point now = {time, nai_memory_held(of), nai_memory_used(of), use};
  track->points[track->point_count++] = now;
  if (of->first_time == NAI_NULL_I64)
    of->first_time = time;
  if (of->peak_time == NAI_NULL_I64 || now.held > of->peak) {
    of->peak = now.held;
    of->peak_time = time;
    of->peak_event = event;
  }
  of->peak_used = now.used > of->peak_used ? now.used : of->peak_used;
}

static void look_at_usage(struct tracker *t, const struct event *e, uint32_t event) {
  const struct nai_table *u = t->usage;
  struct nai_allocation *a = e->operation == RELEASE ? live_at(t, e->address) : NULL;
  uint32_t use = a ? a->use
                   : use_of(t, e->process, nai_get_i64(u, e->row, MEMORY_USAGE_EVENTS_device_id),
                            nai_get_i64(u, e->row, MEMORY_USAGE_EVENTS_memory_kind));
  if (use == NAI_NO_ROW)
    return;
  if (e->operation == RELEASE)
    release(t, use, e, event);
  else if (e->operation == ALLOCATE)
    allocate(t, use, e, event);
  int64_t pool = nai_get_i64(u, e->row, MEMORY_USAGE_EVENTS_pool_address);
  if (pool != NAI_NULL_I64)
    set_pool(t, use, pool, nai_get_i64(u, e->row, MEMORY_USAGE_EVENTS_pool_bytes),
             nai_get_i64(u, e->row, MEMORY_USAGE_EVENTS_pool_used_bytes));
  note(t, use, e->time, event);
}

/* Pools that nothing was allocated from are of no use whose memory is known. */
static void look_at_pool(struct tracker *t, const struct event *e, uint32_t event) {
  uint32_t i = nai_keyset_find(&t->pool_addresses, e->address);
  if (i == UINT32_MAX)
    return;
  struct pool *pool = &t->pool[i];
  int64_t before = pool->bytes, bytes = nai_get_i64(t->pools, e->row, MEMORY_POOL_EVENTS_pool_bytes),
          used = nai_get_i64(t->pools, e->row, MEMORY_POOL_EVENTS_pool_used_bytes);
  bool gone = e->operation == POOL_DESTROYED;
  set_pool(t, pool->use, e->address, gone ? 0 : bytes, gone ? 0 : used);
  note(t, pool->use, e->time, event);
  if (e->operation != POOL_TRIMMED)
    return;
  t->track->uses[pool->use].trims++;
  t->track->uses[pool->use].trimmed += before > pool->bytes ? before - pool->bytes : 0;
}

static void next_process(struct tracker *t) {
  nai_keyset_free(&t->addresses);
  nai_keyset_free(&t->pool_addresses);
  t->addresses = t->pool_addresses = (struct nai_keyset){0};
}

int nai_memory_track_new(struct nai_memory_track *track, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *usage = m->tables[NAI_IN_MEMORY_USAGE], *pools = m->tables[NAI_IN_MEMORY_POOLS];
  struct tracker t = {.track = track, .usage = usage, .pools = pools};
  *track = (struct nai_memory_track){0};
  if (!usage->rows)
    return NAI_OK;
  struct event *events = malloc((size_t)(usage->rows + pools->rows) * sizeof *events);
  track->allocations = malloc((size_t)usage->rows * sizeof *track->allocations);
  track->points = malloc((size_t)(usage->rows + pools->rows) * sizeof *track->points);
  t.oom = !events || !track->allocations || !track->points;
  uint32_t n = t.oom ? 0 : take_events(events, usage, pools);
  for (uint32_t i = 0; i < n && !t.oom; i++) {
    if (i && events[i].process != events[i - 1].process)
      next_process(&t);
    if (events[i].pool)
      look_at_pool(&t, &events[i], i);
    else
      look_at_usage(&t, &events[i], i);
  }
  next_process(&t);
  nai_keyset_free(&t.use_keys);
  free(t.last);
  free(t.pool);
  free(events);
  return t.oom ? nai_err_nomem(err) : NAI_OK;
}

void nai_memory_track_free(struct nai_memory_track *track) {
  free(track->uses);
  free(track->allocations);
  free(track->points);
}

void nai_memory_put_place(struct nai_table *table, int64_t row, int pid, int device, int label, int id,
                          const struct nai_model *m, const struct nai_memory_use *use) {
  char room[NAI_KIND_NAME_MAX];
  nai_set_i64(table, row, pid, nai_model_pid(m, use->process));
  if (use->device >= 0)
    nai_set_i64(table, row, device, use->device);
  nai_set_str(table, row, label, nai_model_kind_name(room, m, NAI_LABEL_MEMORY, use->kind));
  if (use->kind != NAI_NULL_I32)
    nai_set_i64(table, row, id, use->kind);
}
