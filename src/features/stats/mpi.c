/* MPI: sizes of messages, and every event. Times by name: programming.c. */
#include "features/stats/stats.h"

#include "base/keyset.h"
#include "base/sort.h"

/* --- sizes of messages ----------------------------------------------------------------------------------- */

enum { P2P, SENT, RECEIVED };

/* The messages of a table: a column of bytes, by name. */
static int add_sizes(struct nai_stats_groups *groups, struct nai_stats_source *source,
                     const struct nai_stats_events *events, int column, int64_t what, struct nai_err *err) {
  for (uint32_t i = 0; i < events->count; i++) {
    int64_t key[2] = {0, what}, bytes = events->at[column][i];
    if (bytes == NAI_STATS_NULL)
      continue;
    NAI_TRY(nai_stats_name(&key[0], source, events->at[0][i], err));
    NAI_TRY(nai_stats_groups_add(groups, key, bytes, err));
  }
  return NAI_OK;
}

NAI_ORDER(by_count, struct nai_stats_group, {b->stats->count, a->stats->count}, {b->stats->total, a->stats->total},
          {a->key[1], b->key[1]}, {a->id, b->id})

int nai_stats_make_mpi_sizes(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                             struct nai_err *err) {
  static const char *const columns[] = {"textId", "size", "recvSize", NULL};
  static const char *const sources[] = {[P2P] = "p2p", [SENT] = "coll_send", [RECEIVED] = "coll_recv"};
  struct nai_stats_events p2p, collectives;
  struct nai_stats_groups *groups = NULL;
  (void)options;
  NAI_TRY(nai_stats_load(&p2p, rows->source, "MPI_P2P_EVENTS", columns, err));
  NAI_TRY(nai_stats_load(&collectives, rows->source, "MPI_COLLECTIVES_EVENTS", columns, err));
  NAI_TRY(NAI_NEW(groups, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_groups_begin(groups, rows->source, 2, (uint64_t)p2p.count + 2 * (uint64_t)collectives.count, err));
  NAI_TRY(add_sizes(groups, rows->source, &p2p, 1, P2P, err));
  NAI_TRY(add_sizes(groups, rows->source, &collectives, 1, SENT, err));
  NAI_TRY(add_sizes(groups, rows->source, &collectives, 2, RECEIVED, err));
  NAI_TRY(nai_stats_show_groups(rows, groups, 0, NAI_STATS_UNORDERED, err));
  if (rows->count)
    qsort(groups->sorted, rows->count, sizeof *groups->sorted, by_count);
  return nai_stats_name_keys(groups, rows->source, 1, sources, err);
}

const struct nai_stats_column nai_stats_mpi_size_columns[] = {{"Total Message Volume", NAI_STATS_MEMORY,
                                                               NAI_STATS_TOTAL},
                                                              {"Instances", 0, NAI_STATS_COUNT},
                                                              NAI_STATS_SIZE_SPREAD,
                                                              {"Source", 0, NAI_STATS_KEY_WORDS(1)},
                                                              {"Name", 0, NAI_STATS_KEY_NAME(0)},
                                                              {0}};

/* --- every event ------------------------------------------------------------------------------------------ */

enum { START, END, TEXT, THREAD, TAG, PEER, ROOT, SIZE, RECEIVED_SIZE, COLUMNS };
static const char *const tables[] = {NAI_STATS_MPI};
enum { TABLES = sizeof tables / sizeof *tables, COLLECTIVES = TABLES - 1 };

struct event {
  int64_t at[COLUMNS];
  int64_t rank, ns, process, thread, size, sent; /* size: of what is no collective */
  int table;
};
struct trace {
  struct event *events;
  struct nai_keyset processes; /* with a rank */
  int64_t *ranks;
};

static int read_ranks(struct trace *trace, struct nai_stats_source *source, struct nai_err *err) {
  static const char *const columns[] = {"globalTid", "rank", NULL};
  struct nai_stats_events ranks;
  NAI_TRY(nai_stats_load(&ranks, source, "MPI_RANKS", columns, err));
  trace->processes.arena = &source->arena;
  NAI_TRY(NAI_NEW(trace->ranks, &source->arena, ranks.count, err));
  for (uint32_t i = 0; i < ranks.count; i++) {
    bool added;
    uint32_t slot = nai_keyset_add(&trace->processes, ranks.at[0][i] >> NAI_STATS_PROCESS_SHIFT, &added);
    NAI_TRY(nai_memory_check(!trace->processes.oom, err));
    if (added)
      trace->ranks[slot] = ranks.at[1][i];
  }
  return NAI_OK;
}

static int by_start(const void *left, const void *right) {
  const struct event *a = left, *b = right;
  for (int c = 0; c < COLUMNS; c++)
    if (a->at[c] != b->at[c])
      return a->at[c] < b->at[c] ? -1 : 1;
  return a->table - b->table;
}

static uint32_t take_events(struct trace *trace, uint32_t count, const struct nai_stats_events *events, int table) {
  for (uint32_t i = 0; i < events->count; i++) {
    struct event *event = &trace->events[count];
    if (!nai_stats_has_times(events->at[START][i], events->at[END][i]))
      continue;
    for (int c = 0; c < COLUMNS; c++)
      event->at[c] = events->at[c][i];
    uint32_t slot = nai_keyset_find(&trace->processes, event->at[THREAD] >> NAI_STATS_PROCESS_SHIFT);
    event->rank = slot == UINT32_MAX ? NAI_STATS_NULL : trace->ranks[slot];
    event->size = event->sent = NAI_STATS_NULL;
    event->table = table;
    count++;
  }
  return count;
}

/* Both halves of a call that sends and receives have a row: those that agree are one. */
static int keep_different(struct nai_stats_rows *rows, struct event *events, uint32_t count, struct nai_err *err) {
  struct event last = {.table = TABLES};
  for (uint32_t i = 0; i < count; i++) {
    struct event event = events[i];
    if (by_start(&event, &last) == 0)
      continue;
    last = event;
    NAI_TRY(nai_stats_name(&event.at[TEXT], rows->source, event.at[TEXT], err));
    event.ns = event.at[END] - event.at[START];
    event.process = nai_stats_pid(event.at[THREAD]);
    event.thread = nai_stats_tid(event.at[THREAD]);
    *(event.table == COLLECTIVES ? &event.sent : &event.size) = event.at[SIZE];
    events[rows->count++] = event;
  }
  return NAI_OK;
}

int nai_stats_make_mpi_trace(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                             struct nai_err *err) {
  static const char *const columns[] = {"start",      "end",      "textId", "globalTid", "tag",
                                        "remoteRank", "rootRank", "size",   "recvSize",  NULL};
  struct nai_stats_events events[TABLES];
  struct trace *trace = NULL;
  uint64_t total = 0;
  uint32_t count = 0;
  (void)options;
  NAI_TRY(NAI_NEW(trace, &rows->source->arena, 1, err));
  NAI_TRY(read_ranks(trace, rows->source, err));
  for (int t = 0; t < TABLES; t++) {
    NAI_TRY(nai_stats_load(&events[t], rows->source, tables[t], columns, err));
    total += events[t].count;
  }
  NAI_TRY(NAI_NEW(trace->events, &rows->source->arena, total, err));
  for (int t = 0; t < TABLES; t++)
    count = take_events(trace, count, &events[t], t);
  if (count)
    qsort(trace->events, count, sizeof *trace->events, by_start);
  NAI_TRY(keep_different(rows, trace->events, count, err));
  nai_stats_show_records(rows, trace->events, sizeof *trace->events, rows->count, -1);
  return NAI_OK;
}

/* --- columns ---------------------------------------------------------------------------------------------- */

#define CELL(member) NAI_STATS_NUMBER(event, member)
const struct nai_stats_column nai_stats_mpi_trace_columns[] = {{"Start", NAI_STATS_STAMP, CELL(at[START])},
                                                               {"End", NAI_STATS_STAMP, CELL(at[END])},
                                                               {"Duration", NAI_STATS_TIME, CELL(ns)},
                                                               {"Event", 0, NAI_STATS_WORDS(event, at[TEXT])},
                                                               {"Pid", 0, CELL(process)},
                                                               {"Tid", 0, CELL(thread)},
                                                               {"Tag", 0, CELL(at[TAG])},
                                                               {"Rank", 0, CELL(rank)},
                                                               {"PeerRank", 0, CELL(at[PEER])},
                                                               {"RootRank", 0, CELL(at[ROOT])},
                                                               {"Size", NAI_STATS_MEMORY, CELL(size)},
                                                               {"CollSendSize", NAI_STATS_MEMORY, CELL(sent)},
                                                               {"CollRecvSize", NAI_STATS_MEMORY,
                                                                CELL(at[RECEIVED_SIZE])},
                                                               {0}};
