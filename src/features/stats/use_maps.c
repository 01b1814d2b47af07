/* Recipes that map time: per process and GPU, in pieces of the time from the first kernel to the last, the part in
 * which kernels ran; beside it that of NCCL's kernels, or of the process's MPI calls, and of both at once. */
#include "features/stats/gpu_users.h"

enum { KERNELS = NAI_STATS_KERNEL_MAP, NCCL = NAI_STATS_NCCL_MAP, MPI = NAI_STATS_MPI_MAP };
/* CLASS: NCCL's kernels, or MPI calls; REST: the other kernels. Of a user's times these two. */
enum { CLASS, REST, ALL, OVERLAP, TIMES };

struct piece {
  int64_t process, device, start, ns;
  double percent[TIMES];
};
struct map {
  struct nai_stats_source *source;
  int kind;
  struct nai_stats_users users;
  int64_t first, last, length; /* length: of a piece */
  struct piece *pieces;
};

static bool is_nccl(const char *name) { return name && strncmp(name, "nccl", 4) == 0; }

/* `found`: a kernel of NCCL's. */
static int add_kernels(struct map *map, bool *found, struct nai_err *err) {
  enum { START, END, PROCESS, DEVICE, NAME };
  const char *columns[] = {"start", "end", "globalPid", "deviceId", map->kind == NCCL ? "shortName" : "", NULL};
  struct nai_stats_events e;
  NAI_TRY(nai_stats_load(&e, map->source, "CUPTI_ACTIVITY_KIND_KERNEL", columns, err));
  for (uint32_t i = 0; i < e.count; i++) {
    int64_t start = e.at[START][i], end = e.at[END][i], name = NAI_NO_STRING;
    if (!nai_stats_has_times(start, end) || start <= 0) /* its name does not count, either */
      continue;
    if (map->kind == NCCL)
      NAI_TRY(nai_stats_name(&name, map->source, e.at[NAME][i], err));
    bool nccl = is_nccl(nai_stats_text_of(map->source, name));
    *found |= nccl;
    NAI_TRY(nai_stats_add_use(&map->users, e.at[PROCESS][i], e.at[DEVICE][i], 0, start, end, nccl ? CLASS : REST, err));
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
      for (uint32_t u = 0; u < map->users.known.count; u++)
        if (map->users.at[u].process == nai_stats_pid(e.at[THREAD][i]) &&
            nai_stats_has_times(e.at[START][i], e.at[END][i]))
          NAI_TRY(nai_stats_add_time(&map->users, &map->users.at[u].times[CLASS], e.at[START][i], e.at[END][i], err));
  }
  return NAI_OK;
}

/* The pieces of a user. */
static int put_user(struct map *map, uint32_t number, int64_t pieces, struct nai_err *err) {
  struct nai_arena *arena = &map->source->arena;
  const struct nai_stats_user *user = &map->users.at[number];
  struct nai_intervals set[TIMES] = {{.arena = arena}, {.arena = arena}, {.arena = arena}, {.arena = arena}};
  bool oom = false;
  for (int kind = CLASS; kind <= REST; kind++)
    nai_intervals_gather(&set[kind], user->times[kind].at, user->times[kind].count);
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
                      .users = {.source = rows->source, .known = {.arena = &rows->source->arena}},
                      .first = INT64_MAX,
                      .last = INT64_MIN};
  NAI_TRY(add_kernels(map, &nccl, err));
  if (kind == MPI)
    NAI_TRY(add_mpi(map, err));
  rows->absent = kind == NCCL && !nccl;
  rows->note = kind == NCCL ? "kernels of NCCL are those whose name begins with nccl" : NULL;
  for (uint32_t u = 0; u < map->users.known.count; u++) {
    map->first = map->users.at[u].first < map->first ? map->users.at[u].first : map->first;
    map->last = map->users.at[u].last > map->last ? map->users.at[u].last : map->last;
  }
  if (map->last <= map->first)
    return NAI_OK;
  if ((uint64_t)map->users.known.count * (uint64_t)pieces >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "the report has more rows than it can hold");
  map->length = (map->last - map->first + pieces - 1) / pieces;
  const uint32_t count = map->users.known.count * (uint32_t)pieces;
  NAI_TRY(NAI_NEW(map->pieces, &rows->source->arena, count, err));
  for (uint32_t u = 0; u < map->users.known.count; u++)
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
