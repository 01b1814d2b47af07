/* Kernels with the calls that launched them. */
#include "features/stats/operations.h"

#include "base/sort.h"

struct launches {
  struct nai_stats_calls calls;
  struct nai_stats_events kernels;
  uint32_t *call;        /* of each kernel, UINT32_MAX: none */
  struct nai_key *order; /* kernels with a call, by its start */
  uint32_t count, known; /* kernels with a call, all kernels */
};

enum { WANTED = 1 << NAI_STATS_OP_CORRELATION | 1 << NAI_STATS_OP_PROCESS | 1 << NAI_STATS_OP_DEVICE };

/* The calls of some kernels. */
static int join(struct launches *out, const struct nai_stats_events *kernels, struct nai_arena *arena,
                struct nai_err *err) {
  out->kernels = *kernels;
  out->known += kernels->count;
  return nai_stats_find_calls(&out->call, &out->calls, kernels, NAI_STATS_OP_PROCESS, NAI_STATS_OP_CORRELATION, arena,
                              err);
}

static bool is_launched(const struct launches *all, uint32_t kernel) {
  return all->call[kernel] != UINT32_MAX &&
         nai_stats_has_times(all->kernels.at[NAI_STATS_OP_START][kernel], all->kernels.at[NAI_STATS_OP_END][kernel]);
}

static int note_others(struct nai_stats_rows *rows, const struct launches *all, struct nai_err *err) {
  struct nai_arena *arena = &rows->source->arena;
  if (all->count < all->known)
    rows->note = nai_arena_printf(arena, "%u of %u kernels have no launching call and are left out",
                                  all->known - all->count, all->known);
  return nai_arena_check(arena, err);
}

struct launch {
  int64_t call_start, call_end, start, end;
  int64_t queue;   /* NAI_STATS_NULL: it began before its call ended */
  int64_t total;   /* from the begin of the call to the end of both */
  int64_t thread;  /* globalTid */
  uint32_t kernel; /* row */
  uint32_t call;
};

static struct launch launch_of(const struct launches *all, uint32_t kernel) {
  struct launch l = {.kernel = kernel, .call = all->call[kernel]};
  l.call_start = all->calls.events.at[NAI_STATS_CALL_START][l.call];
  l.call_end = all->calls.events.at[NAI_STATS_CALL_END][l.call];
  l.thread = all->calls.events.at[NAI_STATS_CALL_THREAD][l.call];
  l.start = all->kernels.at[NAI_STATS_OP_START][kernel];
  l.end = all->kernels.at[NAI_STATS_OP_END][kernel];
  l.queue = l.start < l.call_end ? NAI_STATS_NULL : l.start - l.call_end;
  l.total = (l.end > l.call_end ? l.end : l.call_end) - l.call_start;
  return l;
}

/* --- trace ---------------------------------------------------------------------------------------------- */

int nai_stats_make_launches(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_source *source = rows->source;
  struct nai_stats_events kernels;
  struct launches *all = NULL;
  NAI_TRY(NAI_NEW(all, &source->arena, 1, err));
  NAI_TRY(nai_stats_index_calls(&all->calls, source, 1u << NAI_STATS_CALL_NAME, err));
  NAI_TRY(nai_stats_load_operations(&kernels, source, NAI_STATS_KERNELS, WANTED | 0x3fu << NAI_STATS_OP_GRID, options,
                                    err));
  NAI_TRY(join(all, &kernels, &source->arena, err));
  NAI_TRY(NAI_NEW(all->order, &source->arena, kernels.count, err));
  for (uint32_t i = 0; i < kernels.count; i++)
    if (is_launched(all, i))
      all->order[all->count++] =
          (struct nai_key){nai_key_from_i64(all->calls.events.at[NAI_STATS_CALL_START][all->call[i]]), i};
  rows->state = all;
  rows->count = all->count;
  NAI_TRY(note_others(rows, all, err));
  return nai_sort_keys(all->order, all->count, err);
}

static struct launch row_of(const struct nai_stats_rows *rows, uint32_t row) {
  const struct launches *all = rows->state;
  return launch_of(all, all->order[row].value);
}

#define NUMBER(function, expression) \
  NAI_STATS_CELL(function, const struct launch l = row_of(rows, row); nai_stats_put_int(out, expression))
NUMBER(call_start, l.call_start)
NUMBER(call_duration, l.call_end - l.call_start)
NUMBER(queue_start, l.queue == NAI_STATS_NULL ? l.queue : l.call_end)
NUMBER(queue_duration, l.queue)
NUMBER(kernel_start, l.start)
NUMBER(kernel_duration, l.end - l.start)
NUMBER(total_duration, l.total)
NUMBER(process, nai_stats_pid(l.thread))
NUMBER(thread, nai_stats_tid(l.thread))

/* A column of the kernel; of its call a text. */
static int64_t kernel_cell(const struct nai_stats_rows *rows, uint32_t row, size_t column) {
  const struct launches *all = rows->state;
  return all->kernels.at[column][all->order[row].value];
}
NAI_STATS_CELL(device, nai_stats_put_int(out, kernel_cell(rows, row, NAI_STATS_OP_DEVICE)))
NAI_STATS_CELL(call_name, const struct launches *all = rows->state; nai_stats_put_text(
                   out, nai_stats_text_of(rows->source,
                                          all->calls.events.at[NAI_STATS_CALL_NAME][all->call[all->order[row].value]])))
NAI_STATS_CELL(kernel_name,
               const char *name = nai_stats_text_of(rows->source, kernel_cell(rows, row, NAI_STATS_OP_NAME));
               nai_stats_put_text(out, name ? name : ""))
NAI_STATS_CELL(sizes, nai_stats_put_sizes(out, rows, kernel_cell(rows, row, at), kernel_cell(rows, row, at + 1),
                                          kernel_cell(rows, row, at + 2)))

const struct nai_stats_column nai_stats_launch_columns[] = {{"API Start", NAI_STATS_STAMP, call_start},
                                                            {"API Dur", NAI_STATS_TIME, call_duration},
                                                            {"Queue Start", NAI_STATS_STAMP, queue_start},
                                                            {"Queue Dur", NAI_STATS_TIME, queue_duration},
                                                            {"Kernel Start", NAI_STATS_STAMP, kernel_start},
                                                            {"Kernel Dur", NAI_STATS_TIME, kernel_duration},
                                                            {"Total Dur", NAI_STATS_TIME, total_duration},
                                                            {"PID", 0, process},
                                                            {"TID", 0, thread},
                                                            {"DevId", 0, device},
                                                            {"API Function", 0, call_name},
                                                            {"GridXYZ", 0, sizes, NAI_STATS_OP_GRID},
                                                            {"BlockXYZ", 0, sizes, NAI_STATS_OP_BLOCK},
                                                            {"Kernel Name", 0, kernel_name},
                                                            {0}};

/* --- sums ------------------------------------------------------------------------------------------------ */

enum { TOTAL, CALL, QUEUE, KERNEL, TIMES };
enum { KEY_PID, KEY_TID, KEY_DEVICE, KEY_CALL, KEY_KERNEL, KEYS };
struct launch_sums {
  struct nai_stats_groups groups[TIMES]; /* of the same groups, with the same ids */
  struct launches all;
  struct nai_arena *arena;
};

static int add_launch(struct launch_sums *sums, struct launch l, struct nai_err *err) {
  const struct launches *all = &sums->all;
  const int64_t key[KEYS] = {nai_stats_pid(l.thread), nai_stats_tid(l.thread),
                             all->kernels.at[NAI_STATS_OP_DEVICE][l.kernel],
                             all->calls.events.at[NAI_STATS_CALL_NAME][l.call],
                             all->kernels.at[NAI_STATS_OP_NAME][l.kernel]};
  const int64_t times[TIMES] = {l.total, l.call_end - l.call_start, l.queue, l.end - l.start};
  const uint32_t group = nai_stats_key_find(&sums->groups[TOTAL].of, key, KEYS);
  for (int t = 0; t < TIMES; t++)
    if (times[t] != NAI_STATS_NULL)
      NAI_TRY(nai_stats_groups_put(&sums->groups[t], group, times[t], err));
  return NAI_OK;
}

static int add_launches(void *ctx, const struct nai_stats_events *kernels, struct nai_err *err) {
  struct launch_sums *sums = ctx;
  for (int t = 0; t < TIMES && !kernels->at[NAI_STATS_OP_START]; t++)
    NAI_TRY(nai_stats_groups_expect(&sums->groups[t], kernels->count, err));
  if (!kernels->at[NAI_STATS_OP_START])
    return NAI_OK;
  NAI_TRY(join(&sums->all, kernels, sums->arena, err));
  for (uint32_t i = 0; i < kernels->count; i++)
    if (is_launched(&sums->all, i)) {
      NAI_TRY(add_launch(sums, launch_of(&sums->all, i), err));
      sums->all.count++;
    }
  return NAI_OK;
}

/* Texts in the place of their numbers, so that equal means are in the order of names. */
static int by_mean(const void *left, const void *right) {
  const struct nai_stats_group *a = left, *b = right;
  if (a->stats.mean != b->stats.mean)
    return a->stats.mean < b->stats.mean ? 1 : -1;
  return NAI_COMPARE({a->key[KEY_PID], b->key[KEY_PID]}, {a->key[KEY_TID], b->key[KEY_TID]},
                     {a->key[KEY_DEVICE], b->key[KEY_DEVICE]}, {a->key[KEY_CALL], b->key[KEY_CALL]},
                     {a->key[KEY_KERNEL], b->key[KEY_KERNEL]});
}

int nai_stats_make_launch_sums(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                               struct nai_err *err) {
  struct launch_sums *sums = NULL;
  NAI_TRY(NAI_NEW(sums, &rows->source->arena, 1, err));
  sums->arena = &rows->source->arena;
  for (int t = 0; t < TIMES; t++)
    NAI_TRY(nai_stats_groups_begin(&sums->groups[t], rows->source, KEYS, 0, err));
  NAI_TRY(nai_stats_index_calls(&sums->all.calls, rows->source, 1u << NAI_STATS_CALL_NAME, err));
  NAI_TRY(nai_stats_each_operation(rows->source, NAI_STATS_KERNELS, WANTED, options, add_launches, sums, err));
  NAI_TRY(note_others(rows, &sums->all, err));
  for (int t = 0; t < TIMES; t++) {
    sums->groups[t].of = sums->groups[TOTAL].of;
    NAI_TRY(nai_stats_groups_finish(&sums->groups[t], rows->source, KEY_KERNEL, NAI_STATS_BY_NAME, err));
  }
  rows->state = sums;
  rows->count = sums->groups[TOTAL].count;
  if (rows->count)
    qsort(sums->groups[TOTAL].sorted, rows->count, sizeof *sums->groups[TOTAL].sorted, by_mean);
  return NAI_OK;
}

/* Statistics of one of the times; of none they are missing, but for the deviation, as with NVIDIA. */
static const struct nai_stats *times_of(const struct nai_stats_rows *rows, uint32_t row, size_t time) {
  const struct launch_sums *sums = rows->state;
  return &sums->groups[time].stats[nai_stats_group_of(rows, row)->id];
}
#define STATISTIC(function, put, member, none) \
  NAI_STATS_CELL(function, const struct nai_stats *s = times_of(rows, row, at); put(out, s->count ? s->member : none))
STATISTIC(average, nai_stats_put_rounded, mean, (double)INFINITY)
STATISTIC(median, nai_stats_put_rounded, p50, (double)INFINITY)
STATISTIC(least, nai_stats_put_int, min, NAI_STATS_NULL)
STATISTIC(most, nai_stats_put_int, max, NAI_STATS_NULL)
STATISTIC(deviation, nai_stats_put_rounded, stddev, 0)
STATISTIC(count, nai_stats_put_int, count, 0)

#define COLUMNS(letter, time)                                                                    \
  {letter "Avg", NAI_STATS_TIME, average, time}, {letter "Med", NAI_STATS_TIME, median, time},   \
      {letter "Min", NAI_STATS_TIME, least, time}, {letter "Max", NAI_STATS_TIME, most, time}, { \
    letter "StdDev", NAI_STATS_TIME, deviation, time                                             \
  }
const struct nai_stats_column nai_stats_launch_sum_columns[] = {{"PID", 0, nai_stats_group_key, KEY_PID},
                                                                {"TID", 0, nai_stats_group_key, KEY_TID},
                                                                {"DevId", 0, nai_stats_group_key, KEY_DEVICE},
                                                                {"Count", 0, NAI_STATS_COUNT},
                                                                {"QCount", 0, count, QUEUE},
                                                                COLUMNS("T", TOTAL),
                                                                COLUMNS("A", CALL),
                                                                COLUMNS("Q", QUEUE),
                                                                COLUMNS("K", KERNEL),
                                                                {"API Name", 0, nai_stats_group_text, KEY_CALL},
                                                                {"Kernel Name", 0, nai_stats_group_name},
                                                                {0}};
