/* Rules of `nsys analyze` about a process's time on a GPU: gaps, and stretches of low utilization. */
#include "features/stats/gpu_users.h"

#include "base/sort.h"

enum { START, END, PROCESS, DEVICE, CONTEXT };
enum { NS_PER_MS = 1000000 };

struct stretch {
  double percent;
  int64_t start, ns, process, device, context, number; /* number: of the row */
  uint32_t user;
};
struct stretches {
  struct nai_stats_users users;
  struct stretch *at;
  uint32_t count, capacity;
};

/* --- what they did --------------------------------------------------------------------------------------- */

/* The profiler's own work counts as the GPU's: what it flushes, its start and its end. */
static bool is_profiler(const char *name) {
  return name && (strcmp(name, "CUDA profiling data flush overhead") == 0 ||
                  strcmp(name, "CUDA profiling stop overhead") == 0 || strcmp(name, "CUDA profiling overhead") == 0);
}

static int add_profiler(struct nai_stats_users *users, struct nai_err *err) {
  static const char *const columns[] = {"start", "end", "globalTid", "nameId", NULL};
  enum { OVERHEAD_NAME = 3 };
  struct nai_stats_events e;
  NAI_TRY(nai_stats_load(&e, users->source, "PROFILER_OVERHEAD", columns, err));
  for (uint32_t i = 0; i < e.count; i++) {
    int64_t name, start = e.at[START][i], end = e.at[END][i], process = nai_stats_pid(e.at[PROCESS][i]);
    NAI_TRY(nai_stats_name(&name, users->source, e.at[OVERHEAD_NAME][i], err));
    if (!is_profiler(nai_stats_text_of(users->source, name)) || !nai_stats_has_times(start, end))
      continue;
    for (uint32_t u = 0; u < users->known.count; u++)
      if (users->at[u].process == process && start >= users->at[u].first && end <= users->at[u].last)
        NAI_TRY(nai_stats_add_time(users, users->at[u].times, start, end, err));
  }
  return NAI_OK;
}

static uint64_t by_end(const void *times, uint32_t i) {
  return nai_key_from_i64(((const struct nai_stats_times *)times)->at[i].end);
}

/* By start and end: each table's mostly are. */
static int order_times(struct nai_stats_times *times, struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_arena) own = NAI_ARENA(NULL);
  struct nai_interval *ordered;
  struct nai_key *keys;
  NAI_TRY(NAI_NEW_UNSET(keys, &own, times->count, err));
  NAI_TRY(NAI_NEW_UNSET(ordered, arena, times->count, err));
  for (uint32_t i = 0; i < times->count; i++)
    keys[i] = (struct nai_key){nai_key_from_i64(times->at[i].start), i};
  NAI_TRY(nai_sort_keys_by(keys, times->count, by_end, times, err));
  for (uint32_t i = 0; i < times->count; i++)
    ordered[i] = times->at[keys[i].value];
  times->at = ordered;
  times->capacity = times->count;
  return NAI_OK;
}

static int find_users(struct nai_stats_users *users, struct nai_stats_source *source, struct nai_err *err) {
  static const char *const columns[] = {"start", "end", "globalPid", "deviceId", "contextId", NULL};
  static const char *const tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                       "CUPTI_ACTIVITY_KIND_MEMSET"};
  *users = (struct nai_stats_users){.source = source, .known = {.arena = &source->arena}};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
    struct nai_stats_events e;
    NAI_TRY(nai_stats_load(&e, source, tables[t], columns, err));
    for (uint32_t i = 0; i < e.count; i++)
      NAI_TRY(nai_stats_add_use(users, e.at[PROCESS][i], e.at[DEVICE][i], e.at[CONTEXT][i], e.at[START][i],
                                e.at[END][i], 0, err));
  }
  NAI_TRY(add_profiler(users, err));
  for (uint32_t u = 0; u < users->known.count; u++)
    NAI_TRY(order_times(users->at[u].times, &source->arena, err));
  return NAI_OK;
}

/* --- gaps ------------------------------------------------------------------------------------------------- */

static int add_stretch(struct stretches *all, struct stretch stretch, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(all->at, all->capacity, all->count, &all->users.source->arena, err));
  const struct nai_stats_user *user = &all->users.at[stretch.user];
  stretch.process = user->process;
  stretch.device = user->device;
  stretch.context = user->context;
  all->at[all->count++] = stretch;
  return NAI_OK;
}

static int find_gaps(struct stretches *all, uint32_t number, int64_t longer_than, struct nai_err *err) {
  const struct nai_stats_user *user = &all->users.at[number];
  int64_t until = user->first;
  for (uint32_t i = 0; i < user->times->count; i++) {
    if (user->times->at[i].start - until > longer_than)
      NAI_TRY(add_stretch(all, (struct stretch){.start = until, .ns = user->times->at[i].start - until, .user = number},
                          err));
    until = user->times->at[i].end > until ? user->times->at[i].end : until;
  }
  return NAI_OK;
}

NAI_ORDER(by_length, struct stretch, {b->ns, a->ns}, {a->start, b->start}, {a->user, b->user})

static void show(struct nai_stats_rows *rows, struct stretches *all, int64_t most,
                 int (*order)(const void *, const void *)) {
  if (all->count)
    qsort(all->at, all->count, sizeof *all->at, order);
  for (uint32_t i = 0; i < all->count; i++)
    all->at[i].number = i + 1;
  nai_stats_show_records(rows, all->at, sizeof *all->at, all->count, most);
}

int nai_stats_make_gaps(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct stretches *all = NULL;
  NAI_TRY(NAI_NEW(all, &rows->source->arena, 1, err));
  NAI_TRY(find_users(&all->users, rows->source, err));
  for (uint32_t u = 0; u < all->users.known.count; u++)
    NAI_TRY(find_gaps(all, u, options->number[0] * NS_PER_MS, err));
  show(rows, all, options->rows, by_length);
  return NAI_OK;
}

/* --- utilization ------------------------------------------------------------------------------------------ */

/* Summed durations in each of the pieces, all `piece` ns long but the last. */
static void sum_pieces(int64_t *busy, const struct nai_stats_user *user, int64_t piece) {
  for (uint32_t i = 0; i < user->times->count; i++)
    for (int64_t at = user->times->at[i].start; at < user->times->at[i].end;) {
      int64_t number = (at - user->first) / piece, until = user->first + (number + 1) * piece;
      until = user->times->at[i].end < until ? user->times->at[i].end : until;
      nai_stats_add(&busy[number], until - at);
      at = until;
    }
}

/* Pieces below the threshold, neighbours joined. */
static int find_low(struct stretches *all, uint32_t number, int64_t chunks, int64_t threshold, struct nai_err *err) {
  const struct nai_stats_user *user = &all->users.at[number];
  int64_t window = user->last - user->first, piece = (window + chunks - 1) / chunks, *busy, sum = 0;
  struct stretch open = {.user = number};
  if (window <= 0)
    return NAI_OK;
  NAI_TRY(NAI_NEW(busy, &all->users.source->arena, (size_t)chunks, err));
  sum_pieces(busy, user, piece);
  for (int64_t i = 0; i * piece < window; i++) {
    int64_t ns = window - i * piece < piece ? window - i * piece : piece;
    bool low = (double)busy[i] * 100 < (double)threshold * (double)ns;
    if (low && !open.ns)
      open.start = user->first + i * piece;
    if (low) {
      open.ns += ns;
      sum += busy[i];
    }
    if (open.ns && (!low || (i + 1) * piece >= window)) {
      open.percent = (double)sum * 100 / (double)open.ns;
      NAI_TRY(add_stretch(all, open, err));
      open.ns = sum = 0;
    }
  }
  return NAI_OK;
}

/* As they are printed. */
static int by_percent(const void *left, const void *right) {
  double a = nai_stats_round(((const struct stretch *)left)->percent);
  double b = nai_stats_round(((const struct stretch *)right)->percent);
  return a != b ? (a < b ? -1 : 1) : by_length(left, right);
}

int nai_stats_make_utilization(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                               struct nai_err *err) {
  struct stretches *all = NULL;
  NAI_TRY(NAI_NEW(all, &rows->source->arena, 1, err));
  NAI_TRY(find_users(&all->users, rows->source, err));
  for (uint32_t u = 0; u < all->users.known.count; u++)
    NAI_TRY(find_low(all, u, options->number[0], options->number[1], err));
  show(rows, all, options->rows, by_percent);
  return NAI_OK;
}

/* --- columns ---------------------------------------------------------------------------------------------- */

#define PLACE                                                                                                       \
  {"Duration", NAI_STATS_TIME, NAI_STATS_NUMBER(stretch, ns)},                                                      \
      {"Start", NAI_STATS_STAMP, NAI_STATS_NUMBER(stretch, start)}, {"PID", 0, NAI_STATS_NUMBER(stretch, process)}, \
      {"Device ID", 0, NAI_STATS_NUMBER(stretch, device)}, {"Context ID", 0, NAI_STATS_NUMBER(stretch, context)}, { \
    0                                                                                                               \
  }
const struct nai_stats_column nai_stats_gap_columns[] = {{"Row#", 0, NAI_STATS_NUMBER(stretch, number)}, PLACE};
const struct nai_stats_column nai_stats_utilization_columns[] = {{"Row#", 0, NAI_STATS_NUMBER(stretch, number)},
                                                                 {"In-Use", NAI_STATS_PERCENT,
                                                                  NAI_STATS_ROUNDED(stretch, percent)},
                                                                 PLACE};
