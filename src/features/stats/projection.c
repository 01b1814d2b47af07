/* When what NVTX ranges launched ran on GPUs. */
#include "features/stats/operations.h"

#include "base/keyset.h"

enum { WHOLE_GRAPHS = NAI_STATS_SETS + 1, OPERATIONS };

/* CUDA graphs that were traced as a whole. */
static int load_graphs(struct nai_stats_events *out, struct nai_stats_source *source, struct nai_err *err) {
  static const char *const columns[NAI_STATS_OP_COLUMNS + 1] = {[NAI_STATS_OP_START] = "start",
                                                                "end",
                                                                "correlationId",
                                                                [NAI_STATS_OP_DEVICE] = "deviceId",
                                                                [NAI_STATS_OP_PROCESS] = "globalPid"};
  const char *all[NAI_STATS_OP_COLUMNS + 1] = {0};
  for (int c = 0; c < NAI_STATS_OP_COLUMNS; c++)
    all[c] = columns[c] ? columns[c] : "";
  return nai_stats_load(out, source, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", all, err);
}

/* Operations of a kind with their calls. */
static int add_launched(struct nai_stats_launched *out, const struct nai_stats_events *operations,
                        const struct nai_stats_calls *calls, bool *counted, struct nai_arena *arena,
                        struct nai_err *err) {
  uint32_t *calls_of;
  NAI_TRY(
      nai_stats_find_calls(&calls_of, calls, operations, NAI_STATS_OP_PROCESS, NAI_STATS_OP_CORRELATION, arena, err));
  for (uint32_t i = 0; i < operations->count; i++) {
    const uint32_t call = calls_of[i];
    const int64_t start = operations->at[NAI_STATS_OP_START][i], end = operations->at[NAI_STATS_OP_END][i];
    if (call == UINT32_MAX || !nai_stats_has_times(start, end))
      continue;
    out->times[out->count] = (struct nai_stats_extent){start, end, !counted[call]};
    counted[call] = true;
    out->device[out->count] = operations->at[NAI_STATS_OP_DEVICE][i];
    out->items[out->count++] = nai_stats_item_of(calls, call);
  }
  return NAI_OK;
}

static int read_launched(struct nai_stats_launched *out, struct nai_stats_source *own, bool graphs,
                         struct nai_arena *arena, struct nai_err *err) {
  static const struct nai_stats_options options;
  struct nai_stats_events events[OPERATIONS] = {0};
  struct nai_stats_calls calls;
  bool *counted; /* by call */
  uint64_t count = 0;
  const uint32_t wanted = 1u << NAI_STATS_OP_UNNAMED | 1u << NAI_STATS_OP_CORRELATION | 1u << NAI_STATS_OP_PROCESS |
                          1u << NAI_STATS_OP_DEVICE;
  NAI_TRY(nai_stats_load_launches(&calls, 0, &events[NAI_STATS_KERNELS], wanted, own, &options, err));
  for (int what = NAI_STATS_COPIES; what < WHOLE_GRAPHS; what++)
    NAI_TRY(nai_stats_load_operations(&events[what], own, (enum nai_stats_what)what, wanted, &options, err));
  if (graphs)
    NAI_TRY(load_graphs(&events[WHOLE_GRAPHS], own, err));
  for (int what = 0; what < OPERATIONS; what++)
    count += events[what].count;
  NAI_TRY(NAI_NEW(out->items, arena, count, err));
  NAI_TRY(NAI_NEW(out->times, arena, count, err));
  NAI_TRY(NAI_NEW(out->device, arena, count, err));
  NAI_TRY(NAI_NEW(counted, &own->arena, calls.events.count, err));
  for (int what = 0; what < OPERATIONS; what++)
    NAI_TRY(add_launched(out, &events[what], &calls, counted, &own->arena, err));
  return NAI_OK;
}

int nai_stats_find_launched(struct nai_stats_launched *out, const struct nai_stats_source *source, bool graphs,
                            struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_stats_source) own = {.arena = NAI_ARENA(NULL)};
  *out = (struct nai_stats_launched){0};
  NAI_TRY(nai_stats_source_open(&own, source->trace, source->run, err));
  own.filter = source->filter;
  return read_launched(out, &own, graphs, arena, err);
}

int nai_stats_project(struct nai_stats_extent **out, struct nai_stats_ranges *ranges,
                      const struct nai_stats_source *source, bool graphs, struct nai_arena *arena,
                      struct nai_err *err) {
  struct nai_stats_launched launched;
  NAI_TRY(nai_stats_find_launched(&launched, source, graphs, arena, err));
  return nai_stats_contain_extents(out, ranges, launched.items, launched.times, launched.count, arena, err);
}

/* Of what one GPU ran. */
struct by_gpu {
  struct nai_stats_instance *at;
  uint32_t count, capacity;
};
static int project_one_gpu(struct by_gpu *out, struct nai_stats_ranges *ranges,
                           const struct nai_stats_launched *launched, int64_t device, struct nai_arena *kept,
                           struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_stats_item *items;
  struct nai_stats_extent *times, *extents;
  uint32_t some = 0;
  NAI_TRY(NAI_NEW(items, &arena, launched->count, err));
  NAI_TRY(NAI_NEW(times, &arena, launched->count, err));
  for (uint32_t i = 0; i < launched->count; i++)
    if (launched->device[i] == device) {
      items[some] = launched->items[i];
      times[some++] = launched->times[i];
    }
  NAI_TRY(nai_stats_contain_extents(&extents, ranges, items, times, some, &arena, err));
  for (uint32_t i = 0; i < ranges->count; i++) {
    if (extents[i].start == INT64_MAX)
      continue;
    NAI_TRY(NAI_ROOM(out->at, out->capacity, out->count, kept, err));
    out->at[out->count++] = (struct nai_stats_instance){extents[i].start, extents[i].end, device, ranges->at[i].name};
  }
  return NAI_OK;
}

int nai_stats_project_by_gpu(struct nai_stats_instance **out, uint32_t *count, struct nai_stats_source *source,
                             struct nai_err *err) {
  struct nai_stats_ranges ranges;
  struct nai_stats_launched launched;
  struct nai_keyset devices = {.arena = &source->arena};
  struct by_gpu all = {0};
  bool added;
  NAI_TRY(nai_stats_load_ranges(&ranges, source, false, NAI_STATS_BOTH_STYLES, NULL, err));
  NAI_TRY(nai_stats_find_launched(&launched, source, false, &source->arena, err));
  NAI_TRY(nai_stats_order_ranges(&ranges, &source->arena, err)); /* once, in the source's arena */
  for (uint32_t i = 0; i < launched.count; i++)
    nai_keyset_add(&devices, launched.device[i], &added);
  NAI_TRY(nai_memory_check(!devices.oom, err));
  for (uint32_t d = 0; d < devices.count; d++)
    NAI_TRY(project_one_gpu(&all, &ranges, &launched, devices.keys[d], &source->arena, err));
  *out = all.at;
  *count = all.count;
  return NAI_OK;
}
