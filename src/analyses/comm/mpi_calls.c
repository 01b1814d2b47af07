/* Where does MPI cost GPU time, by function and message size? Tables mpi_calls, mpi_sizes. */
#include "analyses/analysis.h"
#include "model/idle/active.h"
#include "table/stats.h"
#include "tables/mpi_calls.h"
#include "tables/mpi_events.h"
#include "tables/mpi_sizes.h"

#include <stdlib.h>
#include <string.h>

/* --- classes ---------------------------------------------------------------------------------- */

enum { SETUP, WAIT, P2P, POST, COLLECTIVE, ICOLLECTIVE, SYNC, RMA, FILES, PACK, OTHER, CLASSES };
static const char *const class_words[CLASSES] = {"setup", "wait", "p2p",  "post", "collective", "icollective",
                                                 "sync",  "rma",  "file", "pack", "other"};

static bool begins_with(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

/* The first that a name begins with, behind MPI_. */
static int class_of(const char *name) {
  static const struct {
    const char *prefix;
    int class;
  } known[] = {{"File_", FILES},
               {"Win_fence", SYNC},
               {"Win_lock", RMA},
               {"Win_unlock", RMA},
               {"Win_flush", RMA},
               {"Win_post", RMA},
               {"Win_start", RMA},
               {"Win_complete", RMA},
               {"Win_wait", RMA},
               {"Win_", SETUP},
               {"Init", SETUP},
               {"Finalize", SETUP},
               {"Comm_", SETUP},
               {"Wait", WAIT},
               {"Test", WAIT},
               {"Barrier", SYNC},
               {"Ibarrier", ICOLLECTIVE},
               {"Ibcast", ICOLLECTIVE},
               {"Igather", ICOLLECTIVE},
               {"Iscatter", ICOLLECTIVE},
               {"Iall", ICOLLECTIVE},
               {"Ireduce", ICOLLECTIVE},
               {"Iscan", ICOLLECTIVE},
               {"Iexscan", ICOLLECTIVE},
               {"Ineighbor", ICOLLECTIVE},
               {"Bcast", COLLECTIVE},
               {"Gather", COLLECTIVE},
               {"Scatter", COLLECTIVE},
               {"All", COLLECTIVE},
               {"Reduce", COLLECTIVE},
               {"Scan", COLLECTIVE},
               {"Exscan", COLLECTIVE},
               {"Neighbor", COLLECTIVE},
               {"Isend", POST},
               {"Irecv", POST},
               {"Ibsend", POST},
               {"Issend", POST},
               {"Irsend", POST},
               {"Imrecv", POST},
               {"Start", POST},
               {"Send", P2P},
               {"Recv", P2P},
               {"Bsend", P2P},
               {"Ssend", P2P},
               {"Rsend", P2P},
               {"Mrecv", P2P},
               {"Put", RMA},
               {"Get_", OTHER},
               {"Get", RMA},
               {"Accumulate", RMA},
               {"Rput", RMA},
               {"Rget", RMA},
               {"Raccumulate", RMA},
               {"Pack", PACK},
               {"Unpack", PACK}};
  size_t len = strlen(name);
  name += begins_with(name, "MPI_") ? 4 : 0;
  if (len > 5 && strcmp(name + strlen(name) - 5, "_init") == 0)
    return POST; /* persistent: MPI_Send_init */
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (begins_with(name, known[i].prefix))
      return known[i].class;
  return OTHER;
}

/* --- calls ------------------------------------------------------------------------------------ */

struct call {
  int32_t process, thread;
  uint32_t name;
  int64_t start, end, sent, received; /* NAI_NULL_I64 unknown */
  int64_t rows;
  bool open;
};

static int compare_i64(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare(const void *pa, const void *pb) {
  const struct call *a = pa, *b = pb;
  int c = compare_i64(a->process, b->process);
  c = c ? c : compare_i64(a->name, b->name);
  c = c ? c : compare_i64(a->start, b->start);
  c = c ? c : compare_i64(a->thread, b->thread);
  c = c ? c : compare_i64(a->end, b->end);
  return c ? c : compare_i64(a->sent, b->sent);
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; } /* NULL is the least */

/* Rows of one call become one: a wait has a row per request, MPI_Sendrecv one per direction, which end at different
 * times. */
static uint32_t merge(struct call *v, uint32_t n, const struct nai_strings *names) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    struct call *last = kept ? &v[kept - 1] : NULL;
    bool same = last && last->process == v[i].process && last->name == v[i].name && last->thread == v[i].thread &&
                last->start == v[i].start;
    if (!same || (last->end != v[i].end && !strstr(nai_strings_get(names, v[i].name), "Sendrecv"))) {
      v[kept++] = v[i];
      continue;
    }
    last->rows += v[i].rows;
    last->end = most(last->end, v[i].end);
    last->sent = most(last->sent, v[i].sent);
    last->received = most(last->received, v[i].received);
    last->open |= v[i].open;
  }
  return kept;
}

static int collect(struct call **calls, uint32_t *count, const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_table *t = m->tables[NAI_IN_MPI];
  NAI_TRY(NAI_NEW(*calls, io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t thread = nai_get_i64(t, i, MPI_EVENTS_thread);
    struct nai_column name = nai_table_column(t, MPI_EVENTS_name);
    uint32_t text = nai_at_text(&name, (uint64_t)i);
    if (thread < 0 || thread >= m->thread_count || m->thread_process[thread] < 0 || text >= t->strings.count)
      continue;
    (*calls)[(*count)++] = (struct call){.process = m->thread_process[thread],
                                         .thread = (int32_t)thread,
                                         .name = text,
                                         .start = nai_get_i64(t, i, MPI_EVENTS_start_ns),
                                         .end = nai_get_i64(t, i, MPI_EVENTS_end_ns),
                                         .sent = nai_get_i64(t, i, MPI_EVENTS_bytes),
                                         .received = nai_get_i64(t, i, MPI_EVENTS_received_bytes),
                                         .rows = 1,
                                         .open = nai_get_i64(t, i, MPI_EVENTS_open) == 1};
  }
  qsort(*calls, *count, sizeof **calls, compare);
  *count = merge(*calls, *count, &t->strings);
  return NAI_OK;
}

/* --- processes -------------------------------------------------------------------------------- */

/* Active time in which no GPU of the process does anything; *any: it has a GPU. */
static int find_idle(struct nai_intervals *idle, bool *any, const struct nai_model *m, int32_t process,
                     struct nai_err *err) {
  NAI_SCOPED(nai_intervals) active = {0};
  NAI_SCOPED(nai_intervals) busy = {0};
  *any = false;
  for (uint32_t g = m->process_gpus.first[process]; g < m->process_gpus.first[process + 1]; g++) {
    uint32_t gpu = m->process_gpus.order[g];
    NAI_SCOPED(nai_intervals) both = {0};
    NAI_SCOPED(nai_intervals) all = {0};
    nai_intervals_union(&both, &active, &m->active[gpu].active);
    nai_intervals_union(&all, &busy, &m->gpus[gpu].all);
    nai_intervals_free(&active);
    nai_intervals_free(&busy);
    active = both;
    busy = all;
    both = (struct nai_intervals){0};
    all = (struct nai_intervals){0};
    *any = true;
  }
  nai_intervals_subtract(idle, &active, &busy);
  return active.oom || busy.oom || idle->oom ? nai_err_nomem(err) : NAI_OK;
}

/* NULL where its threads are told several, or none. */
static int64_t rank_of(const struct nai_model *m, int32_t process) {
  const struct nai_table *t = m->tables[NAI_IN_MPI_RANKS];
  int64_t rank = NAI_NULL_I64;
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_RANKS_row row = MPI_RANKS_at(t, i);
    if (row.thread < 0 || row.thread >= m->thread_count || m->thread_process[row.thread] != process)
      continue;
    if (rank != NAI_NULL_I64 && rank != row.rank)
      return NAI_NULL_I64;
    rank = row.rank;
  }
  return rank;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void add_known(int64_t *sum, int64_t value) {
  if (value != NAI_NULL_I64)
    *sum = (*sum == NAI_NULL_I64 ? 0 : *sum) + value;
}

/* Calls of one function in one process, by start. `idle`: NULL without a GPU. */
static int put_function(const struct nai_node_io *io, const struct call *v, uint32_t n, int64_t rank,
                        const struct nai_intervals *idle, int64_t *room, struct nai_err *err) {
  const char *name = nai_strings_get(&io->model->tables[NAI_IN_MPI]->strings, v->name);
  NAI_SCOPED(nai_intervals) running = {0};
  NAI_SCOPED(nai_intervals) exposed = {0};
  const struct call *longest = v;
  struct MPI_CALLS_row row =
      NAI_ROW(MPI_CALLS, .pid = nai_model_pid(io->model, v->process), .rank = rank,
              .class = class_words[class_of(name)], .function = name, .call_count = n, .row_count = 0, .open_count = 0);
  for (uint32_t i = 0; i < n; i++) {
    room[i] = v[i].end - v[i].start;
    row.row_count += v[i].rows;
    row.open_count += v[i].open;
    add_known(&row.sent_bytes, v[i].sent);
    add_known(&row.received_bytes, v[i].received);
    longest = room[i] > longest->end - longest->start ? &v[i] : longest;
    nai_intervals_add(&running, v[i].start, v[i].end);
  }
  if (idle)
    nai_intervals_intersect(&exposed, &running, idle);
  if (running.oom || exposed.oom)
    return nai_err_nomem(err);
  struct nai_stats stats = nai_stats_of(room, n);
  row.total_time_ns = stats.total;
  row.exposed_ns = idle ? nai_intervals_total_ns(&exposed) : NAI_NULL_I64;
  row.p50_duration_ns = stats.p50;
  row.max_duration_ns = stats.max;
  row.longest_start_ns = longest->start;
  row.longest_end_ns = longest->end;
  MPI_CALLS_add(io->out[0], &row);
  return NAI_OK;
}

/* Sizes that messages are told apart by. */
static const int64_t limits[] = {0, 1, 1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 1 << 25};
enum { BINS = sizeof limits / sizeof *limits };

static void put_sizes(const struct nai_node_io *io, const struct call *v, uint32_t n) {
  const struct nai_strings *names = &io->model->tables[NAI_IN_MPI]->strings;
  struct {
    int64_t count, bytes, ns;
  } sums[CLASSES][BINS] = {0};
  for (uint32_t i = 0; i < n; i++) {
    int bin = BINS - 1, class = class_of(nai_strings_get(names, v[i].name));
    if (v[i].sent == NAI_NULL_I64)
      continue;
    while (bin && v[i].sent < limits[bin])
      bin--;
    sums[class][bin].count++;
    sums[class][bin].bytes += v[i].sent;
    sums[class][bin].ns += v[i].end - v[i].start;
  }
  for (int c = 0; c < CLASSES; c++)
    for (int b = 0; b < BINS; b++)
      if (sums[c][b].count)
        NAI_ADD(MPI_SIZES, io->out[1], .pid = nai_model_pid(io->model, v->process), .class = class_words[c],
                .from_bytes = limits[b], .below_bytes = b + 1 < BINS ? limits[b + 1] : NAI_NULL_I64,
                .call_count = sums[c][b].count, .sent_bytes = sums[c][b].bytes, .total_time_ns = sums[c][b].ns);
}

static int put_process(const struct nai_node_io *io, const struct call *v, uint32_t n, int64_t *room,
                       struct nai_err *err) {
  NAI_SCOPED(nai_intervals) idle = {0};
  bool has_gpu;
  int64_t rank = rank_of(io->model, v->process);
  NAI_TRY(find_idle(&idle, &has_gpu, io->model, v->process, err));
  for (uint32_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && v[j].name == v[i].name; j++)
      ;
    NAI_TRY(put_function(io, v + i, j - i, rank, has_gpu ? &idle : NULL, room, err));
  }
  put_sizes(io, v, n);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct call *calls;
  int64_t *room;
  uint32_t n = 0;
  if (!io->model->tables[NAI_IN_MPI]->rows)
    return NAI_OK;
  NAI_TRY(collect(&calls, &n, io, err));
  NAI_TRY(NAI_NEW(room, io->arena, n, err));
  for (uint32_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && calls[j].process == calls[i].process; j++)
      ;
    NAI_TRY(put_process(io, calls + i, j - i, room, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(mpi_calls, .outputs = NAI_SCHEMAS(&nai_mpi_calls_schema, &nai_mpi_sizes_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(ACTIVE) | NAI_PART(PROCESS_GPUS),
             .tables = NAI_IN(MPI) | NAI_IN(MPI_RANKS) | NAI_IN(THREADS) | NAI_IN(PROCESSES), .run = run)
