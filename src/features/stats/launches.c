/* Kernels with the calls that launched them. */
#include "features/stats/operations.h"

#include "base/sort.h"
#include "base/threads.h"

/* Kernels are read beside the index of the calls: by kind, or each. */
struct beside {
  struct nai_stats_calls *calls;
  struct nai_stats_events *kernels;
  struct nai_stats_operations *by_kind;
  struct nai_stats_keys *kinds;
  struct nai_stats_source *source;
  const struct nai_stats_options *options;
  uint32_t wanted;
};

static int do_beside(void *ctx, int side, struct nai_err *err) {
  const struct beside *b = ctx;
  if (!side)
    return nai_stats_fill_index(b->calls, &b->source->arena, err);
  return b->kernels
           ? nai_stats_load_operations(b->kernels, b->source, NAI_STATS_KERNELS, b->wanted, b->options, err)
           : nai_stats_load_kinds(b->by_kind, b->kinds, b->source, NAI_STATS_KERNELS, b->wanted, b->options, err);
}

static int load_beside(struct beside *b, uint32_t wanted_calls, struct nai_err *err) {
  b->wanted |= 1u << NAI_STATS_OP_CORRELATION | 1u << NAI_STATS_OP_PROCESS;
  NAI_TRY(nai_stats_load_all_calls(b->calls, b->source, wanted_calls, err));
  return nai_parallel(2, 2, do_beside, b, err);
}

int nai_stats_load_launches(struct nai_stats_calls *calls, uint32_t wanted_calls, struct nai_stats_events *kernels,
                            uint32_t wanted, struct nai_stats_source *source, const struct nai_stats_options *options,
                            struct nai_err *err) {
  struct beside b = {.calls = calls, .kernels = kernels, .source = source, .options = options, .wanted = wanted};
  return load_beside(&b, wanted_calls, err);
}

/* What launches of a kind have in common. */
struct launch_kind {
  int64_t process, tid, device, call_name, grid, block, name; /* grid, block: texts */
};

struct launches {
  struct nai_stats_calls calls;
  struct nai_stats_operations kernels;
  struct nai_stats_keys kinds; /* of kernels; grids and blocks become texts, where the first of their numbers was */
  uint32_t *call;              /* of each kernel, UINT32_MAX: none */
  uint32_t *kind;              /* of each kernel with a call: its launch's */
  struct launch_kind *launch_kinds;
  uint32_t launch_kind_count;
  struct nai_key *order; /* of the trace: kernels with a call */
  uint32_t count;        /* of those */
};

static int find_calls(struct launches *all, struct nai_arena *arena, struct nai_err *err) {
  enum { PROCESS, CORRELATION };
  const struct nai_stats_operations *kernels = &all->kernels;
  struct nai_stats_events events = {
      .count = kernels->events.count,
      .at = {[CORRELATION] = kernels->events.at[NAI_STATS_OP_CORRELATION]},
  };
  NAI_TRY(NAI_NEW_UNSET(events.at[PROCESS], arena, events.count, err));
  for (uint32_t i = 0; i < events.count; i++)
    events.at[PROCESS][i] = *nai_stats_of_kind(&all->kinds, kernels->kind[i], NAI_STATS_OP_PROCESS);
  return nai_stats_find_calls(&all->call, &all->calls, &events, PROCESS, CORRELATION, arena, err);
}

/* Of a kind: what it takes over from the kinds of its kernel and its call. */
static struct launch_kind describe_kind(const struct launches *all, const int64_t *key) {
  const uint32_t kernel = (uint32_t)key[0];
  return (struct launch_kind){.process = nai_stats_pid(key[1]),
                              .tid = nai_stats_tid(key[1]),
                              .device = *nai_stats_of_kind(&all->kinds, kernel, NAI_STATS_OP_DEVICE),
                              .call_name = key[2],
                              .grid = *nai_stats_of_kind(&all->kinds, kernel, NAI_STATS_OP_GRID),
                              .block = *nai_stats_of_kind(&all->kinds, kernel, NAI_STATS_OP_BLOCK),
                              .name = *nai_stats_of_kind(&all->kinds, kernel, NAI_STATS_OP_NAME)};
}

/* Kernels of a kind are mostly launched by the same call as the one before. */
static int find_kinds(struct launches *all, struct nai_arena *arena, struct nai_err *err) {
  struct nai_stats_keys keys = {.arena = arena, .width = 3};
  int64_t *const *calls = all->calls.events.at;
  struct last_launch {
    int64_t thread, name;
    uint32_t number; /* number + 1, 0: none */
  } * lasts;         /* by kind of kernel */
  NAI_TRY(NAI_NEW(lasts, arena, all->kinds.count, err));
  NAI_TRY(NAI_NEW_UNSET(all->kind, arena, all->kernels.events.count, err));
  for (uint32_t i = 0; i < all->kernels.events.count; i++) {
    const uint32_t call = all->call[i];
    if (call == UINT32_MAX)
      continue;
    const int64_t thread = calls[NAI_STATS_CALL_THREAD][call], name = calls[NAI_STATS_CALL_NAME][call];
    struct last_launch *last = &lasts[all->kernels.kind[i]];
    if (!last->number || last->thread != thread || last->name != name)
      *last =
          (struct last_launch){thread, name,
                               nai_stats_key_find(&keys, (const int64_t[]){all->kernels.kind[i], thread, name}) + 1};
    NAI_TRY(nai_memory_check(last->number, err));
    all->kind[i] = last->number - 1;
  }
  all->launch_kind_count = keys.count;
  NAI_TRY(NAI_NEW(all->launch_kinds, arena, keys.count, err));
  for (uint32_t kind = 0; kind < keys.count; kind++)
    all->launch_kinds[kind] = describe_kind(all, nai_stats_key_of(&keys, kind));
  return NAI_OK;
}

static int name_sizes(const struct nai_stats_keys *kinds, struct nai_stats_source *source, struct nai_err *err) {
  for (uint32_t kind = 0; kind < kinds->count; kind++)
    for (int column = NAI_STATS_OP_GRID; column <= NAI_STATS_OP_BLOCK; column += 3) {
      int64_t *first = nai_stats_of_kind(kinds, kind, column);
      NAI_TRY(nai_stats_size_text(first, source, (const int64_t[]){first[0], first[1], first[2]}, err));
    }
  return NAI_OK;
}

/* Says how many kernels have no launch. */
static int find_launches(struct launches *all, struct nai_stats_rows *rows, uint32_t wanted,
                         const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_arena *arena = &rows->source->arena;
  const struct nai_stats_events *kernels = &all->kernels.events;
  struct beside b = {.calls = &all->calls,
                     .by_kind = &all->kernels,
                     .kinds = &all->kinds,
                     .source = rows->source,
                     .options = options,
                     .wanted = wanted | 1u << NAI_STATS_OP_DEVICE};
  all->kinds = (struct nai_stats_keys){.arena = arena, .width = NAI_STATS_KIND_COLUMNS};
  NAI_TRY(load_beside(&b, 1u << NAI_STATS_CALL_NAME, err));
  NAI_TRY(find_calls(all, arena, err));
  const int64_t *start = kernels->at[NAI_STATS_OP_START], *end = kernels->at[NAI_STATS_OP_END];
  for (uint32_t i = 0; i < kernels->count; i++) {
    if (!nai_stats_has_times(start[i], end[i]))
      all->call[i] = UINT32_MAX;
    all->count += all->call[i] != UINT32_MAX;
  }
  if (all->count < kernels->count)
    rows->note = nai_arena_printf(arena, "%u of %u kernels have no launching call and are left out",
                                  kernels->count - all->count, kernels->count);
  NAI_TRY(name_sizes(&all->kinds, rows->source, err));
  NAI_TRY(find_kinds(all, arena, err));
  return nai_arena_check(arena, err);
}

struct launch {
  int64_t call_start, call_ns, queue_start, queue_ns; /* queue: NAI_STATS_NULL: it began before its call ended */
  int64_t start, ns, total_ns;                        /* total: from the begin of the call to the end of both */
  int64_t number;                                     /* of its kind */
  struct launch_kind kind;
};

static void make_launch(struct launch *out, const struct launches *all, uint32_t kernel) {
  int64_t *const *calls = all->calls.events.at, *const *kernels = all->kernels.events.at;
  const uint32_t call = all->call[kernel];
  const int64_t call_end = calls[NAI_STATS_CALL_END][call], end = kernels[NAI_STATS_OP_END][kernel];
  out->call_start = calls[NAI_STATS_CALL_START][call];
  out->call_ns = call_end - out->call_start;
  out->start = kernels[NAI_STATS_OP_START][kernel];
  out->ns = end - out->start;
  out->queue_start = out->start < call_end ? NAI_STATS_NULL : call_end;
  out->queue_ns = out->start < call_end ? NAI_STATS_NULL : out->start - call_end;
  out->total_ns = (end > call_end ? end : call_end) - out->call_start;
  out->number = all->kind[kernel];
}

/* --- trace ---------------------------------------------------------------------------------------------- */

static void fill_launch(void *record, const struct nai_stats_rows *rows, uint32_t row) {
  const struct launches *all = rows->state;
  struct launch *out = record;
  make_launch(out, all, all->order[row].value);
  out->kind = all->launch_kinds[out->number];
}

static int order_launches(struct nai_stats_rows *rows, struct launches *all, struct nai_err *err) {
  NAI_TRY(NAI_NEW(all->order, &rows->source->arena, all->count, err));
  for (uint32_t i = 0; i < all->kernels.events.count; i++)
    if (all->call[i] != UINT32_MAX)
      all->order[rows->count++] =
          (struct nai_key){nai_key_from_i64(all->calls.events.at[NAI_STATS_CALL_START][all->call[i]]), i};
  return nai_sort_keys(all->order, rows->count, err);
}

int nai_stats_make_launches(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct launches *all = NULL;
  uint32_t *first;
  NAI_TRY(NAI_NEW(all, &rows->source->arena, 1, err));
  NAI_TRY(find_launches(all, rows, 0x3fu << NAI_STATS_OP_GRID, options, err));
  NAI_TRY(order_launches(rows, all, err));
  rows->state = all;
  rows->fill = fill_launch;
  NAI_TRY(NAI_NEW(first, &rows->source->arena, all->launch_kind_count, err));
  for (uint32_t row = rows->count; row-- > 0;)
    first[all->kind[all->order[row].value]] = row;
  nai_stats_show_kinds(rows, first, all->launch_kind_count, offsetof(struct launch, number));
  return NAI_OK;
}

#define LAUNCH(member) NAI_STATS_NUMBER(launch, member)
#define KIND(shows, member) NAI_STATS_##shows(launch, kind.member), .of_kind = true
const struct nai_stats_column nai_stats_launch_columns[] = {{"API Start", NAI_STATS_STAMP, LAUNCH(call_start)},
                                                            {"API Dur", NAI_STATS_TIME, LAUNCH(call_ns)},
                                                            {"Queue Start", NAI_STATS_STAMP, LAUNCH(queue_start)},
                                                            {"Queue Dur", NAI_STATS_TIME, LAUNCH(queue_ns)},
                                                            {"Kernel Start", NAI_STATS_STAMP, LAUNCH(start)},
                                                            {"Kernel Dur", NAI_STATS_TIME, LAUNCH(ns)},
                                                            {"Total Dur", NAI_STATS_TIME, LAUNCH(total_ns)},
                                                            {"PID", 0, KIND(NUMBER, process)},
                                                            {"TID", 0, KIND(NUMBER, tid)},
                                                            {"DevId", 0, KIND(NUMBER, device)},
                                                            {"API Function", 0, KIND(WORDS, call_name)},
                                                            {"GridXYZ", 0, KIND(WORDS, grid)},
                                                            {"BlockXYZ", 0, KIND(WORDS, block)},
                                                            {"Kernel Name", 0, KIND(NAME, name)},
                                                            {0}};

/* --- sums ------------------------------------------------------------------------------------------------ */

enum { TOTAL, CALL, KERNEL, QUEUE, TIMES };
enum { KEY_PID, KEY_TID, KEY_DEVICE, KEY_CALL, KEY_KERNEL, KEYS };
struct launch_sum {
  int64_t key[KEYS];
  struct nai_stats times[TIMES];
};

/* Which sum the launches of each kind are of. */
static int group_kinds(struct nai_stats_keys *keys, uint32_t *group, const struct launches *all, struct nai_err *err) {
  for (uint32_t i = 0; i < all->launch_kind_count; i++) {
    const struct launch_kind *kind = &all->launch_kinds[i];
    group[i] = nai_stats_key_find(keys, (const int64_t[KEYS]){kind->process, kind->tid, kind->device, kind->call_name,
                                                              kind->name});
    NAI_TRY(nai_memory_check(group[i] != NAI_NO_STRING, err));
  }
  return NAI_OK;
}

/* What each launch belongs to, and its times: those of all launches one behind the other. */
static void take_launches(uint32_t *group, int64_t *times, const uint32_t *group_of_kind, const struct launches *all) {
  for (uint32_t i = 0; i < all->kernels.events.count; i++) {
    struct launch l;
    if (all->call[i] == UINT32_MAX)
      continue;
    make_launch(&l, all, i);
    *group++ = group_of_kind[l.number];
    times[(size_t)TOTAL * all->count] = l.total_ns;
    times[(size_t)CALL * all->count] = l.call_ns;
    times[(size_t)KERNEL * all->count] = l.ns;
    times[(size_t)QUEUE * all->count] = l.queue_ns;
    times++;
  }
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
  NAI_TRY(nai_stats_describe(stats, d->groups, &values, err));
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
  uint32_t *group, *group_of_kind;
  int64_t *times;
  NAI_TRY(find_launches(&all, rows, 0, options, err));
  NAI_TRY(NAI_NEW(group_of_kind, arena, all.launch_kind_count, err));
  NAI_TRY(NAI_NEW(group, arena, all.count, err));
  NAI_TRY(NAI_NEW(times, arena, (size_t)TIMES * all.count, err));
  NAI_TRY(group_kinds(&keys, group_of_kind, &all, err));
  take_launches(group, times, group_of_kind, &all);
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
