/* Recipes that map time: per process and GPU, in pieces of the time from the first kernel to the last, the part in
 * which kernels ran; beside it that of NCCL's kernels, or of the process's MPI calls, and of both at once. */
#include "features/stats/stats.h"

#include "base/keyset.h"
#include "table/intervals.h"

enum { KERNELS = NAI_STATS_KERNEL_MAP, NCCL = NAI_STATS_NCCL_MAP, MPI = NAI_STATS_MPI_MAP };
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
  int64_t process, device, start, ns;
  double percent[TIMES];
};
struct map {
  struct nai_stats_source *source;
  int kind;
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
  static const char *const tables[] = {NAI_STATS_MPI};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
    struct nai_stats_events e;
    NAI_TRY(nai_stats_load(&e, map->source, tables[t], columns, err));
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
    *piece = (struct piece){user->process, user->device, map->first + i * map->length, map->length, {0}};
    for (int t = 0; t < TIMES; t++)
      piece->percent[t] = 100.0 * (double)nai_intervals_overlap_ns(&set[t], piece->start, piece->start + map->length) /
                          (double)map->length;
  }
  return NAI_OK;
}

int nai_stats_make_use_map(struct nai_stats_rows *rows, const struct nai_stats_options *options, struct nai_err *err) {
  struct map *map = NULL;
  const int64_t pieces = options->number[0];
  const int kind = options->report->what;
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
  rows->note = kind == NCCL ? "kernels of NCCL are those whose name begins with nccl" : NULL;
  if (map->last <= map->first)
    return NAI_OK;
  if ((uint64_t)map->known.count * (uint64_t)pieces >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "the report has more rows than it can hold");
  map->length = (map->last - map->first + pieces - 1) / pieces;
  const uint32_t count = map->known.count * (uint32_t)pieces;
  NAI_TRY(NAI_NEW(map->pieces, &rows->source->arena, count, err));
  for (uint32_t u = 0; u < map->known.count; u++)
    NAI_TRY(put_user(map, u, pieces, err));
  nai_stats_show_records(rows, map->pieces, sizeof *map->pieces, count, -1);
  return NAI_OK;
}

/* --- columns ---------------------------------------------------------------------------------------------- */

#define PLACE                                                                                      \
  {"PID", 0, NAI_STATS_NUMBER(piece, process)}, {"Device ID", 0, NAI_STATS_NUMBER(piece, device)}, \
      {"Start", NAI_STATS_STAMP, NAI_STATS_NUMBER(piece, start)}, {                                \
    "Duration", NAI_STATS_TIME, NAI_STATS_NUMBER(piece, ns)                                        \
  }
#define PART(name, part) \
  { name, NAI_STATS_PERCENT, NAI_STATS_ROUNDED(piece, percent[part]) }
const struct nai_stats_column nai_stats_use_map_columns[] = {PLACE, PART("In-Use", ALL), {0}};
const struct nai_stats_column nai_stats_nccl_map_columns[] = {
    PLACE, PART("All", ALL), PART("NCCL", CLASS), PART("Compute", REST), PART("Overlap", OVERLAP), {0}};
const struct nai_stats_column nai_stats_mpi_map_columns[] = {
    PLACE, PART("Kernels", ALL), PART("MPI", CLASS), PART("Overlap", OVERLAP), {0}};
