/* CUDA calls, and which of them launched an operation. */
#include "features/stats/operations.h"

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

/* Ids have 32 bits, with a sign or without. */
static bool has_key(int64_t *key, int64_t global, int64_t correlation) {
  *key = nai_key_pair(nai_stats_pid(global), (uint32_t)correlation);
  return correlation >= INT32_MIN && correlation <= UINT32_MAX;
}

int nai_stats_index_calls(struct nai_stats_calls *out, struct nai_stats_source *source, uint32_t wanted,
                          struct nai_err *err) {
  const bool filtered = source->filter.on;
  *out = (struct nai_stats_calls){.known = {.arena = &source->arena}};
  source->filter.on = false; /* an operation inside has its call, even outside */
  wanted |= 1u << NAI_STATS_CALL_THREAD | 1u << NAI_STATS_CALL_CORRELATION;
  int rc = nai_stats_load_calls(&out->events, source, wanted, err);
  source->filter.on = filtered;
  NAI_TRY(rc);
  const struct nai_stats_events *calls = &out->events;
  NAI_TRY(NAI_NEW(out->row, &source->arena, calls->count, err));
  for (uint32_t i = 0; i < calls->count; i++) {
    int64_t key;
    bool added;
    if (!nai_stats_has_times(calls->at[NAI_STATS_CALL_START][i], calls->at[NAI_STATS_CALL_END][i]) ||
        !has_key(&key, calls->at[NAI_STATS_CALL_THREAD][i], calls->at[NAI_STATS_CALL_CORRELATION][i]))
      continue;
    uint32_t slot = nai_keyset_add(&out->known, key, &added);
    NAI_TRY(nai_memory_check(!out->known.oom, err));
    if (added)
      out->row[slot] = i;
  }
  return NAI_OK;
}

uint32_t nai_stats_call_of(const struct nai_stats_calls *calls, int64_t process, int64_t correlation) {
  int64_t key;
  uint32_t slot = has_key(&key, process, correlation) ? nai_keyset_find(&calls->known, key) : UINT32_MAX;
  return slot == UINT32_MAX ? UINT32_MAX : calls->row[slot];
}

struct nai_stats_item nai_stats_item_of(const struct nai_stats_calls *calls, uint32_t call) {
  int64_t *const *at = calls->events.at;
  return (struct nai_stats_item){at[NAI_STATS_CALL_START][call], at[NAI_STATS_CALL_END][call],
                                 at[NAI_STATS_CALL_THREAD][call]};
}
