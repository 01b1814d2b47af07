/* Kernels with the calls that launched them. */
#include "features/stats/operations.h"

#include "base/sort.h"
#include "base/threads.h"

/* Kernels are read beside the index of the calls. */
struct beside {
  struct nai_stats_calls *calls;
  struct nai_stats_events *kernels;
  struct nai_stats_source *source;
  const struct nai_stats_options *options;
  uint32_t wanted;
};

static int do_beside(void *ctx, int side, struct nai_err *err) {
  const struct beside *b = ctx;
  return side ? nai_stats_load_operations(b->kernels, b->source, NAI_STATS_KERNELS, b->wanted, b->options, err)
              : nai_stats_fill_index(b->calls, &b->source->arena, err);
}

int nai_stats_load_launches(struct nai_stats_calls *calls, uint32_t wanted_calls, struct nai_stats_events *kernels,
                            uint32_t wanted, struct nai_stats_source *source, const struct nai_stats_options *options,
                            struct nai_err *err) {
  struct beside b = {calls, kernels, source, options,
                     wanted | 1u << NAI_STATS_OP_CORRELATION | 1u << NAI_STATS_OP_PROCESS};
  NAI_TRY(nai_stats_load_all_calls(calls, source, wanted_calls, err));
  return nai_parallel(2, 2, do_beside, &b, err);
}

struct launches {
  struct nai_stats_calls calls;
  struct nai_stats_events kernels;
  uint32_t *call;        /* of each kernel, UINT32_MAX: none */
  struct nai_key *order; /* of the trace: kernels with a call */
  uint32_t count;        /* of those */
};

/* Says how many others there are. */
static int find_launches(struct launches *all, struct nai_stats_rows *rows, uint32_t wanted,
                         const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_source *source = rows->source;
  struct nai_stats_events *kernels = &all->kernels;
  NAI_TRY(nai_stats_load_launches(&all->calls, 1u << NAI_STATS_CALL_NAME, kernels, wanted | 1u << NAI_STATS_OP_DEVICE,
                                  source, options, err));
  NAI_TRY(nai_stats_find_calls(&all->call, &all->calls, kernels, NAI_STATS_OP_PROCESS, NAI_STATS_OP_CORRELATION,
                               &source->arena, err));
  const int64_t *start = kernels->at[NAI_STATS_OP_START], *end = kernels->at[NAI_STATS_OP_END];
  for (uint32_t i = 0; i < kernels->count; i++) {
    if (!nai_stats_has_times(start[i], end[i]))
      all->call[i] = UINT32_MAX;
    all->count += all->call[i] != UINT32_MAX;
  }
  if (all->count < kernels->count)
    rows->note = nai_arena_printf(&source->arena, "%u of %u kernels have no launching call and are left out",
                                  kernels->count - all->count, kernels->count);
  return nai_arena_check(&source->arena, err);
}

struct launch {
  int64_t call_start, call_ns, queue_start, queue_ns; /* queue: NAI_STATS_NULL: it began before its call ended */
  int64_t start, ns, total_ns;                        /* total: from the begin of the call to the end of both */
  int64_t thread, process, tid, device, call_name, grid, block, name;
};

static void make_launch(struct launch *out, const struct launches *all, uint32_t kernel) {
  int64_t *const *calls = all->calls.events.at, *const *kernels = all->kernels.at;
  const uint32_t call = all->call[kernel];
  const int64_t call_end = calls[NAI_STATS_CALL_END][call], end = kernels[NAI_STATS_OP_END][kernel];
  out->call_start = calls[NAI_STATS_CALL_START][call];
  out->call_ns = call_end - out->call_start;
  out->start = kernels[NAI_STATS_OP_START][kernel];
  out->ns = end - out->start;
  out->queue_start = out->start < call_end ? NAI_STATS_NULL : call_end;
  out->queue_ns = out->start < call_end ? NAI_STATS_NULL : out->start - call_end;
  out->total_ns = (end > call_end ? end : call_end) - out->call_start;
  out->thread = calls[NAI_STATS_CALL_THREAD][call];
  out->process = nai_stats_pid(out->thread);
  out->tid = nai_stats_tid(out->thread);
  out->device = kernels[NAI_STATS_OP_DEVICE][kernel];
  out->call_name = calls[NAI_STATS_CALL_NAME][call];
  out->name = kernels[NAI_STATS_OP_NAME][kernel];
}

/* --- trace ---------------------------------------------------------------------------------------------- */

/* Grids and blocks become texts, where the first of their numbers was. */
static int name_sizes(const struct nai_stats_events *kernels, int column, struct nai_stats_source *source,
                      struct nai_err *err) {
  struct nai_stats_keys known = {.arena = &source->arena, .width = 3};
  int64_t *texts = NULL, *const *at = &kernels->at[column];
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < kernels->count; i++) {
    const int64_t size[3] = {at[0][i], at[1][i], at[2][i]};
    const uint32_t before = known.count, number = nai_stats_key_find(&known, size);
    NAI_TRY(nai_memory_check(number != NAI_NO_STRING, err));
    NAI_TRY(NAI_ROOM(texts, capacity, number, &source->arena, err));
    if (number == before)
      NAI_TRY(nai_stats_size_text(&texts[number], source, size, err));
    at[0][i] = texts[number];
  }
  return NAI_OK;
}

static void fill_launch(void *record, const struct nai_stats_rows *rows, uint32_t row) {
  const struct launches *all = rows->state;
  const uint32_t kernel = all->order[row].value;
  struct launch *out = record;
  make_launch(out, all, kernel);
  out->grid = all->kernels.at[NAI_STATS_OP_GRID][kernel];
  out->block = all->kernels.at[NAI_STATS_OP_BLOCK][kernel];
}

int nai_stats_make_launches(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct launches *all = NULL;
  NAI_TRY(NAI_NEW(all, &rows->source->arena, 1, err));
  NAI_TRY(find_launches(all, rows, 0x3fu << NAI_STATS_OP_GRID, options, err));
  NAI_TRY(name_sizes(&all->kernels, NAI_STATS_OP_GRID, rows->source, err));
  NAI_TRY(name_sizes(&all->kernels, NAI_STATS_OP_BLOCK, rows->source, err));
  NAI_TRY(NAI_NEW(all->order, &rows->source->arena, all->count, err));
  for (uint32_t i = 0, row = 0; i < all->kernels.count; i++)
    if (all->call[i] != UINT32_MAX)
      all->order[row++] =
          (struct nai_key){nai_key_from_i64(all->calls.events.at[NAI_STATS_CALL_START][all->call[i]]), i};
  rows->state = all;
  rows->fill = fill_launch;
  rows->count = all->count;
  return nai_sort_keys(all->order, all->count, err);
}

#define LAUNCH(member) NAI_STATS_NUMBER(launch, member)
const struct nai_stats_column nai_stats_launch_columns[] = {{"API Start", NAI_STATS_STAMP, LAUNCH(call_start)},
                                                            {"API Dur", NAI_STATS_TIME, LAUNCH(call_ns)},
                                                            {"Queue Start", NAI_STATS_STAMP, LAUNCH(queue_start)},
                                                            {"Queue Dur", NAI_STATS_TIME, LAUNCH(queue_ns)},
                                                            {"Kernel Start", NAI_STATS_STAMP, LAUNCH(start)},
                                                            {"Kernel Dur", NAI_STATS_TIME, LAUNCH(ns)},
                                                            {"Total Dur", NAI_STATS_TIME, LAUNCH(total_ns)},
                                                            {"PID", 0, LAUNCH(process)},
                                                            {"TID", 0, LAUNCH(tid)},
                                                            {"DevId", 0, LAUNCH(device)},
                                                            {"API Function", 0, NAI_STATS_WORDS(launch, call_name)},
                                                            {"GridXYZ", 0, NAI_STATS_WORDS(launch, grid)},
                                                            {"BlockXYZ", 0, NAI_STATS_WORDS(launch, block)},
                                                            {"Kernel Name", 0, NAI_STATS_NAME(launch, name)},
                                                            {0}};

/* --- sums ------------------------------------------------------------------------------------------------ */

enum { TOTAL, CALL, KERNEL, QUEUE, TIMES };
enum { KEY_PID, KEY_TID, KEY_DEVICE, KEY_CALL, KEY_KERNEL, KEYS };
struct launch_sum {
  int64_t key[KEYS];
  struct nai_stats times[TIMES];
};

/* What each launch belongs to, and its times: those of all launches one behind the other. */
static int group_launches(struct nai_stats_keys *keys, uint32_t *group, int64_t *times, const struct launches *all,
                          struct nai_err *err) {
  for (uint32_t i = 0; i < all->kernels.count; i++) {
    struct launch l;
    if (all->call[i] == UINT32_MAX)
      continue;
    make_launch(&l, all, i);
    *group = nai_stats_key_find(keys, (const int64_t[KEYS]){l.process, l.tid, l.device, l.call_name, l.name});
    NAI_TRY(nai_memory_check(*group++ != NAI_NO_STRING, err));
    times[(size_t)TOTAL * all->count] = l.total_ns;
    times[(size_t)CALL * all->count] = l.call_ns;
    times[(size_t)KERNEL * all->count] = l.ns;
    times[(size_t)QUEUE * all->count] = l.queue_ns;
    times++;
  }
  return NAI_OK;
}

/* Of none they are missing, but for the deviation, as with NVIDIA. */
static struct nai_stats or_missing(struct nai_stats stats) {
  if (!stats.count) {
    stats.mean = NAN;
    stats.min = stats.max = NAI_STATS_NULL;
  }
  return stats;
}

static int by_mean(const void *left, const void *right) {
  const struct launch_sum *a = left, *b = right;
  if (a->times[TOTAL].mean != b->times[TOTAL].mean)
    return a->times[TOTAL].mean < b->times[TOTAL].mean ? 1 : -1;
  return NAI_COMPARE({a->key[KEY_PID], b->key[KEY_PID]}, {a->key[KEY_TID], b->key[KEY_TID]},
                     {a->key[KEY_DEVICE], b->key[KEY_DEVICE]}, {a->key[KEY_CALL], b->key[KEY_CALL]},
                     {a->key[KEY_KERNEL], b->key[KEY_KERNEL]});
}

/* Each of the times by itself, side by side. */
struct describing {
  struct launch_sum *sums;
  const uint32_t *group;
  const int64_t *times;
  uint32_t groups, rows;
};

static int describe_times(void *ctx, int time, struct nai_err *err) {
  const struct describing *d = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_values values = {.rows = d->rows, .groups = d->group, .values = d->times + (size_t)time * d->rows};
  struct nai_stats *stats;
  uint32_t *queued;
  NAI_TRY(NAI_NEW(stats, &arena, d->groups, err));
  if (time == QUEUE) {
    NAI_TRY(NAI_NEW(queued, &arena, d->rows, err));
    for (uint32_t i = 0; i < d->rows; i++)
      queued[i] = values.values[i] == NAI_STATS_NULL ? NAI_NO_GROUP : d->group[i];
    values.groups = queued;
  }
  NAI_TRY(nai_stats_describe(stats, d->groups, &values, &arena, err));
  for (uint32_t g = 0; g < d->groups; g++)
    d->sums[g].times[time] = or_missing(stats[g]);
  return NAI_OK;
}

int nai_stats_make_launch_sums(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                               struct nai_err *err) {
  struct nai_arena *arena = &rows->source->arena;
  struct nai_stats_keys keys = {.arena = arena, .width = KEYS};
  struct launches all = {0};
  struct launch_sum *sums;
  uint32_t *group;
  int64_t *times;
  NAI_TRY(find_launches(&all, rows, 0, options, err));
  NAI_TRY(NAI_NEW(group, arena, all.count, err));
  NAI_TRY(NAI_NEW(times, arena, (size_t)TIMES * all.count, err));
  NAI_TRY(group_launches(&keys, group, times, &all, err));
  NAI_TRY(NAI_NEW(sums, arena, keys.count, err));
  for (uint32_t g = 0; g < keys.count; g++)
    memcpy(sums[g].key, nai_stats_key_of(&keys, g), sizeof sums[g].key);
  NAI_TRY(nai_parallel(nai_cpu_count(), TIMES, describe_times,
                       &(struct describing){sums, group, times, keys.count, all.count}, err));
  if (keys.count)
    qsort(sums, keys.count, sizeof *sums, by_mean);
  nai_stats_show_records(rows, sums, sizeof *sums, keys.count, -1);
  return NAI_OK;
}

#define TIME(letter, time)                                                             \
  {letter "Avg", NAI_STATS_TIME, NAI_STATS_ROUNDED(launch_sum, times[time].mean)},     \
      {letter "Med", NAI_STATS_TIME, NAI_STATS_ROUNDED(launch_sum, times[time].p50)},  \
      {letter "Min", NAI_STATS_TIME, NAI_STATS_NUMBER(launch_sum, times[time].min)},   \
      {letter "Max", NAI_STATS_TIME, NAI_STATS_NUMBER(launch_sum, times[time].max)}, { \
    letter "StdDev", NAI_STATS_TIME, NAI_STATS_ROUNDED(launch_sum, times[time].stddev) \
  }
const struct nai_stats_column nai_stats_launch_sum_columns[] = {
    {"PID", 0, NAI_STATS_NUMBER(launch_sum, key[KEY_PID])},
    {"TID", 0, NAI_STATS_NUMBER(launch_sum, key[KEY_TID])},
    {"DevId", 0, NAI_STATS_NUMBER(launch_sum, key[KEY_DEVICE])},
    {"Count", 0, NAI_STATS_NUMBER(launch_sum, times[TOTAL].count)},
    {"QCount", 0, NAI_STATS_NUMBER(launch_sum, times[QUEUE].count)},
    TIME("T", TOTAL),
    TIME("A", CALL),
    TIME("Q", QUEUE),
    TIME("K", KERNEL),
    {"API Name", 0, NAI_STATS_WORDS(launch_sum, key[KEY_CALL])},
    {"Kernel Name", 0, NAI_STATS_NAME(launch_sum, key[KEY_KERNEL])},
    {0}};
