/* Which messages were waited for before they were sent? Sends and receives of one communicator, source, destination and
 * tag are matched in their order, which MPI keeps. What may take another order takes its process out of the
 * communicator. */
#include "analyses/comm/mpi_list.h"
#include "base/sort.h"
#include "tables/mpi_communicators.h"
#include "tables/mpi_pairs.h"

#include <stdlib.h>
#include <string.h>

enum doing { OTHER, SEND, BLOCKING_SEND, RECEIVE, BLOCKING_RECEIVE };

struct message {
  int64_t communicator, tag, source, destination; /* world ranks */
  bool is_receive;
  enum doing doing;
  int64_t start, end, request;
};

/* A member of a communicator, and its world rank. */
struct member {
  int64_t communicator, local, handle, world;
};

struct wait {
  int64_t process, request, start, end;
};

/* What a rank sends or receives in a communicator, where messages do not match by their order. */
struct untold {
  int64_t communicator, world;
  bool receives;
};

struct work {
  const struct nai_node_io *io;
  const int32_t *process_of; /* by world rank, -1 none */
  int64_t rank_count;
  struct member *members; /* by communicator, local rank */
  uint32_t member_count;
  struct message *messages;
  uint32_t message_count;
  struct wait *waits; /* by process, request, start */
  uint32_t wait_count;
  struct untold *untold;
  uint32_t untold_count, untold_capacity;
};

static int by_member(const void *pa, const void *pb) {
  const struct member *a = pa, *b = pb;
  return NAI_COMPARE({a->communicator, b->communicator}, {a->local, b->local}, {a->world, b->world});
}

static int by_wait(const void *pa, const void *pb) {
  const struct wait *a = pa, *b = pb;
  return NAI_COMPARE({a->process, b->process}, {a->request, b->request}, {a->start, b->start}, {a->end, b->end});
}

static int by_message(const void *pa, const void *pb) {
  const struct message *a = pa, *b = pb;
  return NAI_COMPARE({a->source, b->source}, {a->destination, b->destination}, {a->communicator, b->communicator},
                     {a->tag, b->tag}, {a->is_receive, b->is_receive}, {a->start, b->start}, {a->end, b->end});
}

static enum doing doing_of(const char *name) {
  static const char *const sends[] = {"Isend", "Ibsend", "Issend", "Irsend", "Bsend"}, *const blocking[] = {
                                                                                           "Send", "Ssend", "Rsend"};
  name += strncmp(name, "MPI_", 4) == 0 ? 4 : 0;
  for (size_t i = 0; i < sizeof sends / sizeof *sends; i++)
    if (strcmp(name, sends[i]) == 0)
      return SEND;
  for (size_t i = 0; i < sizeof blocking / sizeof *blocking; i++)
    if (strcmp(name, blocking[i]) == 0)
      return BLOCKING_SEND;
  return strcmp(name, "Irecv") == 0 ? RECEIVE : strcmp(name, "Recv") == 0 ? BLOCKING_RECEIVE : OTHER;
}

/* Of a communicator that the call itself does not tell. */
static int64_t communicator_of(const struct work *w, int64_t world, int64_t handle) {
  for (uint32_t i = 0; i < w->member_count; i++)
    if (w->members[i].world == world && w->members[i].handle == handle)
      return w->members[i].communicator;
  return NAI_NULL_I64;
}

/* -1 where it is not told, or contradicts itself. */
static int64_t world_rank(const struct work *w, int64_t communicator, int64_t local) {
  const struct member key = {.communicator = communicator, .local = local};
  uint32_t low = 0, high = w->member_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const struct member *m = &w->members[middle];
    if (m->communicator < key.communicator || (m->communicator == key.communicator && m->local < key.local))
      low = middle + 1;
    else
      high = middle;
  }
  const struct member *found = &w->members[low];
  bool is = low < w->member_count && found->communicator == communicator && found->local == local;
  for (uint32_t i = low + 1;
       is && i < w->member_count && w->members[i].communicator == communicator && w->members[i].local == local; i++)
    if (w->members[i].world != found->world)
      return -1;
  return is ? found->world : -1;
}

static int read_members(struct work *w, struct nai_err *err) {
  const struct nai_table *t = w->io->model->tables[NAI_IN_MPI_COMMUNICATORS];
  NAI_TRY(NAI_NEW(w->members, w->io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_COMMUNICATORS_row row = MPI_COMMUNICATORS_at(t, i);
    if (row.communicator_uid != NAI_NULL_I64 && row.rank >= 0 && row.local_rank >= 0)
      w->members[w->member_count++] = (struct member){row.communicator_uid, row.local_rank, row.communicator, row.rank};
  }
  if (w->member_count)
    qsort(w->members, w->member_count, sizeof *w->members, by_member);
  return NAI_OK;
}

static bool is_untold(const struct work *w, int64_t communicator, int64_t world, bool receives) {
  for (uint32_t i = 0; i < w->untold_count; i++)
    if (w->untold[i].communicator == communicator && w->untold[i].world == world && w->untold[i].receives == receives)
      return true;
  return false;
}

static int add_untold(struct work *w, int64_t communicator, int64_t world, bool receives, struct nai_err *err) {
  if (is_untold(w, communicator, world, receives))
    return NAI_OK;
  NAI_TRY(NAI_ROOM(w->untold, w->untold_capacity, w->untold_count, w->io->arena, err));
  w->untold[w->untold_count++] = (struct untold){communicator, world, receives};
  return NAI_OK;
}

static int add_message(struct work *w, const struct MPI_EVENTS_row *row, int64_t world, struct nai_err *err) {
  enum doing doing = doing_of(row->name);
  bool receives = doing == RECEIVE || doing == BLOCKING_RECEIVE;
  int64_t communicator =
      row->communicator_uid != NAI_NULL_I64 ? row->communicator_uid : communicator_of(w, world, row->communicator);
  if (communicator == NAI_NULL_I64 || (!receives && doing != OTHER && row->remote_rank < 0)) /* to nobody */
    return NAI_OK;
  if (doing == OTHER || row->remote_rank < 0 || row->tag < 0 || row->open == 1) {
    NAI_TRY(receives ? NAI_OK : add_untold(w, communicator, world, false, err));
    return receives || doing == OTHER ? add_untold(w, communicator, world, true, err) : NAI_OK;
  }
  int64_t other = world_rank(w, communicator, row->remote_rank);
  if (other >= 0 && other < w->rank_count && w->process_of[other] >= 0)
    w->messages[w->message_count++] = (struct message){.communicator = communicator,
                                                       .tag = row->tag,
                                                       .source = receives ? other : world,
                                                       .destination = receives ? world : other,
                                                       .is_receive = receives,
                                                       .doing = doing,
                                                       .start = row->start_ns,
                                                       .end = row->end_ns,
                                                       .request = row->request};
  return NAI_OK;
}

static int read_calls(struct work *w, const int64_t *rank_of, struct nai_err *err) {
  const struct nai_model *m = w->io->model;
  const struct nai_table *t = m->tables[NAI_IN_MPI];
  NAI_TRY(NAI_NEW(w->messages, w->io->arena, (size_t)t->rows, err));
  NAI_TRY(NAI_NEW(w->waits, w->io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_EVENTS_row row = MPI_EVENTS_at(t, i);
    int32_t process = row.thread >= 0 && row.thread < m->thread_count ? m->thread_process[row.thread] : -1;
    if (process < 0 || rank_of[process] == NAI_NULL_I64 || !row.name)
      continue;
    if (row.kind == NAI_MPI_P2P)
      NAI_TRY(add_message(w, &row, rank_of[process], err));
    else if (row.kind == NAI_MPI_START_WAIT && row.request != NAI_NULL_I64 && strncmp(row.name, "MPI_Wait", 8) == 0)
      w->waits[w->wait_count++] = (struct wait){rank_of[process], row.request, row.start_ns, row.end_ns};
  }
  if (w->message_count)
    qsort(w->messages, w->message_count, sizeof *w->messages, by_message);
  if (w->wait_count)
    qsort(w->waits, w->wait_count, sizeof *w->waits, by_wait);
  return NAI_OK;
}

/* Where the receiver waits for a message: in the call itself, or the first wait for its request after it. */
static struct nai_interval wait_of(const struct work *w, const struct message *m) {
  const struct wait least = {m->destination, m->request, m->end, INT64_MIN};
  uint32_t low = 0, high = w->wait_count;
  if (m->doing == BLOCKING_RECEIVE)
    return (struct nai_interval){m->start, m->end};
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (by_wait(&w->waits[middle], &least) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  bool is = low < w->wait_count && w->waits[low].process == m->destination && w->waits[low].request == m->request;
  return is ? (struct nai_interval){w->waits[low].start, w->waits[low].end} : (struct nai_interval){0, 0};
}

/* Messages of one communicator, source, destination and tag: all sends, then as many receives. False where one arrives
 * before it is sent: these are no pairs. */
static bool add_pairs(struct MPI_PAIRS_row *row, struct nai_intervals *late, const struct work *w,
                      const struct message *sends, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    struct nai_interval wait = wait_of(w, &sends[n + i]);
    if (wait.end > wait.start && wait.end < sends[i].start)
      return false;
  }
  row->message_count += n;
  for (uint32_t i = 0; i < n; i++) {
    const struct message *send = &sends[i], *receive = &sends[n + i];
    struct nai_interval wait = wait_of(w, receive);
    if (wait.end > wait.start && send->start > wait.start) {
      int64_t ns = send->start - wait.start;
      row->late_send_count++;
      row->late_send_ns += ns;
      nai_intervals_add(late, wait.start, send->start);
      if (row->longest_start_ns == NAI_NULL_I64 || ns > row->longest_end_ns - row->longest_start_ns) {
        row->longest_start_ns = wait.start;
        row->longest_end_ns = send->start;
      }
    }
    if (send->doing == BLOCKING_SEND && receive->start > send->start && send->end >= receive->start) {
      row->late_receive_count++;
      row->late_receive_ns += receive->start - send->start;
    }
  }
  return true;
}

/* Messages of one source to one destination. */
static int put_pair(const struct work *w, const struct message *v, uint32_t n, struct nai_err *err) {
  const struct nai_model *m = w->io->model;
  NAI_SCOPED(nai_intervals) late = {0};
  NAI_SCOPED(nai_intervals) idle = {0};
  NAI_SCOPED(nai_mpi_gpu_time) gpu = {0};
  int32_t process = w->process_of[v->destination];
  struct MPI_PAIRS_row row =
      NAI_ROW(MPI_PAIRS, .pid = nai_model_pid(m, process), .rank = v->destination,
              .peer_pid = nai_model_pid(m, w->process_of[v->source]), .peer_rank = v->source, .message_count = 0,
              .late_send_count = 0, .late_send_ns = 0, .late_receive_count = 0, .late_receive_ns = 0);
  for (uint32_t i = 0, sends, end; i < n; i = end) {
    for (end = i, sends = 0; end < n && v[end].communicator == v[i].communicator && v[end].tag == v[i].tag; end++)
      sends += !v[end].is_receive;
    if (2 * sends == end - i && !is_untold(w, v[i].communicator, v[i].source, false) &&
        !is_untold(w, v[i].communicator, v[i].destination, true))
      add_pairs(&row, &late, w, v + i, sends);
  }
  if (!row.message_count)
    return NAI_OK;
  NAI_TRY(nai_mpi_find_gpu_time(&gpu, m, process, err));
  if (gpu.any)
    nai_intervals_intersect(&idle, &late, &gpu.idle);
  if (late.oom || idle.oom)
    return nai_err_nomem(err);
  row.late_send_idle_ns = gpu.any ? nai_intervals_total_ns(&idle) : NAI_NULL_I64;
  MPI_PAIRS_add(w->io->out[4], &row);
  return NAI_OK;
}

int nai_mpi_put_pairs(const struct nai_node_io *io, const int64_t *rank_of, struct nai_err *err) {
  struct work w = {.io = io};
  int32_t *process_of;
  for (uint32_t p = 0; p < io->model->process_count; p++)
    w.rank_count = rank_of[p] != NAI_NULL_I64 && rank_of[p] >= w.rank_count ? rank_of[p] + 1 : w.rank_count;
  if (!io->model->tables[NAI_IN_MPI_COMMUNICATORS]->rows || w.rank_count > 1 << 20)
    return NAI_OK;
  NAI_TRY(NAI_NEW(process_of, io->arena, (size_t)w.rank_count, err));
  for (int64_t r = 0; r < w.rank_count; r++)
    process_of[r] = -1;
  for (uint32_t p = 0; p < io->model->process_count; p++)
    if (rank_of[p] != NAI_NULL_I64) /* a rank of two processes is none */
      process_of[rank_of[p]] = process_of[rank_of[p]] == -1 ? (int32_t)p : -2;
  w.process_of = process_of;
  NAI_TRY(read_members(&w, err));
  NAI_TRY(read_calls(&w, rank_of, err));
  for (uint32_t i = 0, j; i < w.message_count; i = j) {
    for (j = i + 1; j < w.message_count && w.messages[j].source == w.messages[i].source &&
                    w.messages[j].destination == w.messages[i].destination;
         j++)
      ;
    NAI_TRY(put_pair(&w, w.messages + i, j - i, err));
  }
  return NAI_OK;
}
