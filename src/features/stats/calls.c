/* CUDA calls, and which of them launched an operation. */
#include "features/stats/operations.h"

#include "base/threads.h"

int nai_stats_load_calls(struct nai_stats_events *out, struct nai_stats_source *source, uint32_t wanted,
                         struct nai_err *err) {
  static const char *const all[] = {"start", "end", "nameId", "globalTid", "correlationId", "returnValue"};
  const char *columns[NAI_STATS_CALL_COLUMNS + 1] = {0};
  const bool whole = wanted & 1u << NAI_STATS_CALL_WHOLE;
  wanted |= 1u << NAI_STATS_CALL_START | 1u << NAI_STATS_CALL_END | (uint32_t)whole << NAI_STATS_CALL_NAME;
  for (int c = 0; c < NAI_STATS_CALL_COLUMNS; c++)
    columns[c] = wanted & 1u << c ? all[c] : "";
  NAI_TRY(nai_stats_load(out, source, "CUPTI_ACTIVITY_KIND_RUNTIME", columns, err));
  int64_t *name = out->at[NAI_STATS_CALL_NAME];
  for (uint32_t i = 0; i < out->count && name; i++)
    NAI_TRY((whole ? nai_stats_name : nai_stats_function)(&name[i], source, name[i], err));
  return NAI_OK;
}

enum { AHEAD = 16 }; /* rows: so many are asked for memory at once */

static uint32_t slot_of(const struct nai_stats_calls *calls, int64_t process, int64_t correlation) {
  const uint64_t key = (uint64_t)nai_key_pair(nai_stats_pid(process), (uint32_t)correlation);
  return (uint32_t)(key * 0x9e3779b97f4a7c15u >> calls->shift);
}

/* Ids have 32 bits, with a sign or without. */
static bool is_id(int64_t correlation) { return correlation >= INT32_MIN && correlation <= UINT32_MAX; }

/* Where the call stands, or would. */
static uint32_t *find(const struct nai_stats_calls *calls, int64_t process, int64_t correlation) {
  const int64_t *ids = calls->events.at[NAI_STATS_CALL_CORRELATION], *threads = calls->events.at[NAI_STATS_CALL_THREAD];
  const uint32_t mask = UINT32_MAX >> (calls->shift - 32);
  uint32_t at = slot_of(calls, process, correlation);
  for (uint32_t row; (row = calls->slots[at]); at = (at + 1) & mask)
    if ((uint32_t)ids[row - 1] == (uint32_t)correlation && nai_stats_pid(threads[row - 1]) == nai_stats_pid(process))
      break;
  return &calls->slots[at];
}

/* An operation inside of a filter has its call, even outside. */
int nai_stats_load_all_calls(struct nai_stats_calls *out, struct nai_stats_source *source, uint32_t wanted,
                             struct nai_err *err) {
  const bool filtered = source->filter.on;
  *out = (struct nai_stats_calls){.shift = 63};
  source->filter.on = false;
  wanted |= 1u << NAI_STATS_CALL_THREAD | 1u << NAI_STATS_CALL_CORRELATION;
  int rc = nai_stats_load_calls(&out->events, source, wanted, err);
  source->filter.on = filtered;
  return rc;
}

int nai_stats_fill_index(struct nai_stats_calls *out, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_stats_events *calls = &out->events;
  const int64_t *ids = calls->at[NAI_STATS_CALL_CORRELATION], *threads = calls->at[NAI_STATS_CALL_THREAD];
  while (out->shift > 32 && UINT64_C(1) << (64 - out->shift) < 2 * (uint64_t)calls->count)
    out->shift--;
  const size_t slots = (size_t)1 << (64 - out->shift);
  NAI_TRY(NAI_NEW_UNSET(out->slots, arena, slots, err));
  memset(out->slots, 0, slots * sizeof *out->slots); /* a page that is read before it is written is had twice */
  for (uint32_t i = 0; i < calls->count; i++) {
    if (i + AHEAD < calls->count)
      __builtin_prefetch(&out->slots[slot_of(out, threads[i + AHEAD], ids[i + AHEAD])], 1);
    if (!is_id(ids[i]) || !nai_stats_has_times(calls->at[NAI_STATS_CALL_START][i], calls->at[NAI_STATS_CALL_END][i]))
      continue;
    uint32_t *row = find(out, threads[i], ids[i]);
    *row = *row ? *row : i + 1;
  }
  return NAI_OK;
}

int nai_stats_index_calls(struct nai_stats_calls *out, struct nai_stats_source *source, uint32_t wanted,
                          struct nai_err *err) {
  NAI_TRY(nai_stats_load_all_calls(out, source, wanted, err));
  return nai_stats_fill_index(out, &source->arena, err);
}

/* Of operations, in parts that are looked up side by side. */
struct finding {
  const struct nai_stats_calls *calls;
  const int64_t *processes, *ids;
  uint32_t *out, count;
};
enum { FIND_PARTS = 8 };

static int find_part(void *ctx, int part, struct nai_err *err) {
  const struct finding *f = ctx;
  const uint32_t first = (uint32_t)((uint64_t)f->count * part / FIND_PARTS),
                 end = (uint32_t)((uint64_t)f->count * (part + 1) / FIND_PARTS);
  (void)err;
  for (uint32_t i = first; i < end; i++) {
    if (i + AHEAD < end)
      __builtin_prefetch(&f->calls->slots[slot_of(f->calls, f->processes[i + AHEAD], f->ids[i + AHEAD])]);
    f->out[i] = is_id(f->ids[i]) ? *find(f->calls, f->processes[i], f->ids[i]) - 1 : UINT32_MAX;
  }
  return NAI_OK;
}

int nai_stats_find_calls(uint32_t **out, const struct nai_stats_calls *calls, const struct nai_stats_events *events,
                         int process, int correlation, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, arena, events->count, err));
  struct finding f = {calls, events->at[process], events->at[correlation], *out, events->count};
  return nai_parallel(nai_cpu_count(), FIND_PARTS, find_part, &f, err);
}

struct nai_stats_item nai_stats_item_of(const struct nai_stats_calls *calls, uint32_t call) {
  int64_t *const *at = calls->events.at;
  return (struct nai_stats_item){at[NAI_STATS_CALL_START][call], at[NAI_STATS_CALL_END][call],
                                 at[NAI_STATS_CALL_THREAD][call]};
}
