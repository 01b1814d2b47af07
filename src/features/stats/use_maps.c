/* Recipes that map time: per process and GPU, in pieces of the time from the first kernel to the last, the part in
 * which kernels ran; beside it that of NCCL's kernels, or of the process's MPI calls, and of both at once. */
#include "features/stats/stats.h"

#include "base/keyset.h"
#include "table/intervals.h"

enum kind { KERNELS, NCCL, MPI };
enum { ALL, CLASS, REST, OVERLAP, TIMES }; /* CLASS: NCCL's kernels, or MPI calls; REST: the other kernels */

/* Intervals in any order. */
struct list {
  struct nai_interval *v;
  uint32_t count, capacity;
};
struct user {
  int64_t process, device;
  struct list of_class, rest;
};
struct piece {
  int64_t start, ns[TIMES];
  uint32_t user;
};
struct map {
  struct nai_stats_source *source;
  enum kind kind;
  struct nai_keyset known; /* process and device */
  struct user *users;
  uint32_t user_capacity;
  int64_t first, last, length; /* length: of a piece */
  struct piece *pieces;
};

static int add_time(struct map *map, struct list *list, int64_t start, int64_t end, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(list->v, list->capacity, list->count, &map->source->arena, err));
  list->v[list->count++] = (struct nai_interval){start, end};
  return NAI_OK;
}

static int add_kernel(struct map *map, int64_t process, int64_t device, bool of_class, int64_t start, int64_t end,
                      struct nai_err *err) {
  bool added;
  uint32_t slot = nai_keyset_add(&map->known, nai_key_pair(process, (uint32_t)device), &added);
  NAI_TRY(nai_memory_check(!map->known.oom, err));
  NAI_TRY(NAI_ROOM(map->users, map->user_capacity, slot, &map->source->arena, err));
  if (added)
    map->users[slot] = (struct user){.process = process, .device = device};
  map->first = start < map->first ? start : map->first;
  map->last = end > map->last ? end : map->last;
  return add_time(map, of_class ? &map->users[slot].of_class : &map->users[slot].rest, start, end, err);
}

static bool is_nccl(const char *name) { return name && strncmp(name, "nccl", 4) == 0; }

/* `found`: a kernel of NCCL's. */
static int add_kernels(struct map *map, bool *found, struct nai_err *err) {
  enum { START, END, PROCESS, DEVICE, NAME };
  const char *columns[] = {"start", "end", "globalPid", "deviceId", map->kind == NCCL ? "shortName" : "", NULL};
  struct nai_stats_events e;
  NAI_TRY(nai_stats_load(&e, map->source, "CUPTI_ACTIVITY_KIND_KERNEL", columns, err));
  for (uint32_t i = 0; i < e.count; i++) {
    int64_t start = e.at[START][i], end = e.at[END][i], name = NAI_NO_STRING;
    if (!nai_stats_has_times(start, end) || start <= 0)
      continue;
    if (map->kind == NCCL)
      NAI_TRY(nai_stats_name(&name, map->source, e.at[NAME][i], err));
    bool nccl = is_nccl(nai_stats_text_of(map->source, name));
    *found |= nccl;
    NAI_TRY(add_kernel(map, nai_stats_pid(e.at[PROCESS][i]), e.at[DEVICE][i], nccl, start, end, err));
  }
  return NAI_OK;
}

static int add_mpi(struct map *map, struct nai_err *err) {
  enum { START, END, THREAD };
  static const char *const columns[] = {"start", "end", "globalTid", NULL};
  for (int t = 0; nai_stats_mpi_tables[t]; t++) {
    struct nai_stats_events e;
    NAI_TRY(nai_stats_load(&e, map->source, nai_stats_mpi_tables[t], columns, err));
    for (uint32_t i = 0; i < e.count; i++)
      for (uint32_t u = 0; u < map->known.count; u++)
        if (map->users[u].process == nai_stats_pid(e.at[THREAD][i]) &&
            nai_stats_has_times(e.at[START][i], e.at[END][i]))
          NAI_TRY(add_time(map, &map->users[u].of_class, e.at[START][i], e.at[END][i], err));
  }
  return NAI_OK;
}

/* The pieces of a user. */
static int put_user(struct map *map, uint32_t number, int64_t pieces, struct nai_err *err) {
  struct nai_arena *arena = &map->source->arena;
  const struct user *user = &map->users[number];
  struct nai_intervals set[TIMES] = {{.arena = arena}, {.arena = arena}, {.arena = arena}, {.arena = arena}};
  bool oom = false;
  nai_intervals_gather(&set[CLASS], user->of_class.v, user->of_class.count);
  nai_intervals_gather(&set[REST], user->rest.v, user->rest.count);
  nai_intervals_intersect(&set[OVERLAP], &set[CLASS], &set[REST]);
  nai_intervals_union(&set[ALL], map->kind == MPI ? &(struct nai_intervals){0} : &set[CLASS], &set[REST]);
  for (int t = 0; t < TIMES; t++)
    oom |= set[t].oom;
  NAI_TRY(nai_memory_check(!oom, err));
  for (int64_t i = 0; i < pieces; i++) {
    struct piece *piece = &map->pieces[number * pieces + i];
    *piece = (struct piece){.start = map->first + i * map->length, .user = number};
    for (int t = 0; t < TIMES; t++)
      piece->ns[t] = nai_intervals_overlap_ns(&set[t], piece->start, piece->start + map->length);
  }
  return NAI_OK;
}

static int make(struct nai_stats_rows *rows, const struct nai_stats_options *options, enum kind kind,
                struct nai_err *err) {
  struct map *map = NULL;
  const int64_t pieces = options->number[0];
  bool nccl = false;
  NAI_TRY(NAI_NEW(map, &rows->source->arena, 1, err));
  *map = (struct map){.source = rows->source,
                      .kind = kind,
                      .known = {.arena = &rows->source->arena},
                      .first = INT64_MAX,
                      .last = INT64_MIN};
  NAI_TRY(add_kernels(map, &nccl, err));
  if (kind == MPI)
    NAI_TRY(add_mpi(map, err));
  rows->absent = kind == NCCL && !nccl;
  rows->state = map;
  if (map->last <= map->first)
    return NAI_OK;
  if ((uint64_t)map->known.count * (uint64_t)pieces >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "the report has more rows than it can hold");
  map->length = (map->last - map->first + pieces - 1) / pieces;
  rows->count = map->known.count * (uint32_t)pieces;
  NAI_TRY(NAI_NEW(map->pieces, &rows->source->arena, rows->count, err));
  for (uint32_t u = 0; u < map->known.count; u++)
    NAI_TRY(put_user(map, u, pieces, err));
  return NAI_OK;
}

int nai_stats_make_use_map(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  return make(rows, options, KERNELS, err);
}
int nai_stats_make_nccl_map(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  rows->note = "kernels of NCCL are those whose name begins with nccl";
  return make(rows, options, NCCL, err);
}
int nai_stats_make_mpi_map(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  return make(rows, options, MPI, err);
}

/* --- columns ---------------------------------------------------------------------------------------------- */

static const struct map *map_of(const struct nai_stats_rows *rows) { return rows->state; }
static const struct piece *piece_of(const struct nai_stats_rows *rows, uint32_t row) {
  return &map_of(rows)->pieces[row];
}
static const struct user *user_of(const struct nai_stats_rows *rows, uint32_t row) {
  return &map_of(rows)->users[piece_of(rows, row)->user];
}
static void put_share(struct nai_stats_cell *out, const struct nai_stats_rows *rows, uint32_t row, int time) {
  nai_stats_put_rounded(out, 100.0 * (double)piece_of(rows, row)->ns[time] / (double)map_of(rows)->length);
}

NAI_STATS_CELL(process, nai_stats_put_int(out, user_of(rows, row)->process))
NAI_STATS_CELL(device, nai_stats_put_int(out, user_of(rows, row)->device))
NAI_STATS_CELL(start, nai_stats_put_int(out, piece_of(rows, row)->start))
NAI_STATS_CELL(duration, (void)row; nai_stats_put_int(out, map_of(rows)->length))
NAI_STATS_CELL(all, put_share(out, rows, row, ALL))
NAI_STATS_CELL(of_class, put_share(out, rows, row, CLASS))
NAI_STATS_CELL(rest, put_share(out, rows, row, REST))
NAI_STATS_CELL(overlap, put_share(out, rows, row, OVERLAP))

#define PLACE                                                                         \
  {"PID", 0, process}, {"Device ID", 0, device}, {"Start", NAI_STATS_STAMP, start}, { \
    "Duration", NAI_STATS_TIME, duration                                              \
  }
const struct nai_stats_column nai_stats_use_map_columns[] = {PLACE, {"In-Use", NAI_STATS_PERCENT, all}, {0}};
const struct nai_stats_column nai_stats_nccl_map_columns[] = {PLACE,
                                                              {"All", NAI_STATS_PERCENT, all},
                                                              {"NCCL", NAI_STATS_PERCENT, of_class},
                                                              {"Compute", NAI_STATS_PERCENT, rest},
                                                              {"Overlap", NAI_STATS_PERCENT, overlap},
                                                              {0}};
const struct nai_stats_column nai_stats_mpi_map_columns[] = {PLACE,
                                                             {"Kernels", NAI_STATS_PERCENT, all},
                                                             {"MPI", NAI_STATS_PERCENT, of_class},
                                                             {"Overlap", NAI_STATS_PERCENT, overlap},
                                                             {0}};
