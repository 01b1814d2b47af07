#include "model/comm/mpi_messages.h"

#include "base/hash.h"
#include "base/sort.h"
#include "tables/mpi_communicators.h"
#include "tables/mpi_events.h"

/* --- reading ---------------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *list) {
  name += strncmp(name, "MPI_", 4) == 0 ? 4 : 0;
  while (*list && strcmp(name, *list) != 0)
    list++;
  return *list;
}

/* False where messages of such a call need not match in their order. */
static bool find_doing(struct nai_mpi_message *m, const char *name) {
  static const char *const receives[] = {"Recv", "Irecv", NULL},
                           *const blocks[] = {"Send", "Ssend", "Rsend", "Recv", NULL},
                           *const posts[] = {"Isend", "Ibsend", "Issend", "Irsend", "Bsend", NULL};
  m->receives = is_one_of(name, receives);
  m->blocks = is_one_of(name, blocks);
  return m->receives || m->blocks || is_one_of(name, posts);
}

static int64_t key_of(int64_t a, int64_t b, int64_t c) {
  return (int64_t)nai_hash_int(nai_hash_int(nai_hash_int(1, a), b), c);
}

/* Communicators of a capture by rank and handle. */
struct handles {
  struct nai_keyset keys;
  int64_t *communicators; /* NAI_NULL_I64 where a process had several of one handle */
};

static int read_members(struct handles *handles, struct nai_mpi_messages *all, const struct nai_table *t,
                        struct nai_err *err) {
  bool added;
  NAI_TRY(NAI_NEW(handles->communicators, handles->keys.arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_COMMUNICATORS_row row = MPI_COMMUNICATORS_at(t, i);
    if (row.communicator_uid == NAI_NULL_I64 || row.rank < 0 || row.local_rank < 0)
      continue;
    NAI_TRY(NAI_ROOM(all->members, all->member_capacity, all->member_count, all->arena, err));
    all->members[all->member_count++] = (struct nai_mpi_member){row.communicator_uid, row.local_rank, row.rank};
    int64_t *is =
        &handles->communicators[nai_keyset_add(&handles->keys, key_of(row.rank, row.communicator, 0), &added)];
    *is = added || *is == row.communicator_uid ? row.communicator_uid : NAI_NULL_I64;
  }
  return nai_memory_check(!handles->keys.oom, err);
}

static int64_t communicator_of(const struct handles *handles, const struct MPI_EVENTS_row *row, int64_t world) {
  uint32_t at = nai_keyset_find(&handles->keys, key_of(world, row->communicator, 0));
  return row->communicator_uid != NAI_NULL_I64 ? row->communicator_uid
       : at != UINT32_MAX                      ? handles->communicators[at]
                                               : NAI_NULL_I64;
}

static int add_message(struct nai_mpi_messages *all, const struct MPI_EVENTS_row *row, int64_t world,
                       int64_t communicator, struct nai_err *err) {
  bool added;
  struct nai_mpi_message m = {.communicator = communicator,
                              .tag = row->tag,
                              .start = row->start_ns,
                              .end = row->end_ns,
                              .request = row->request};
  bool in_order = find_doing(&m, row->name);
  if (communicator == NAI_NULL_I64 || (in_order && !m.receives && row->remote_rank < 0)) /* to nobody */
    return NAI_OK;
  if (!in_order || row->remote_rank < 0 || row->tag < 0 || row->open == 1) {
    for (int receives = 0; receives < 2; receives++)
      if (!in_order || m.receives == receives)
        nai_keyset_add(&all->untold, key_of(communicator, world, receives), &added);
    return NAI_OK;
  }
  m.source = m.receives ? row->remote_rank : world;
  m.destination = m.receives ? world : row->remote_rank;
  NAI_TRY(NAI_ROOM(all->messages, all->message_capacity, all->message_count, all->arena, err));
  all->messages[all->message_count++] = m;
  return NAI_OK;
}

static int add_wait(struct nai_mpi_messages *all, const struct MPI_EVENTS_row *row, int64_t world,
                    struct nai_err *err) {
  if (row->request == NAI_NULL_I64 || strncmp(row->name, "MPI_Wait", 8) != 0)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(all->waits, all->wait_capacity, all->wait_count, all->arena, err));
  all->waits[all->wait_count++] = (struct nai_mpi_wait){world, row->request, row->start_ns, row->end_ns};
  return NAI_OK;
}

int nai_mpi_add_messages(struct nai_mpi_messages *all, const struct nai_model *m, const int64_t *rank_of,
                         struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct handles handles = {.keys.arena = &arena};
  const struct nai_table *t = m->tables[NAI_IN_MPI];
  all->untold.arena = all->arena;
  NAI_TRY(read_members(&handles, all, m->tables[NAI_IN_MPI_COMMUNICATORS], err));
  for (int64_t i = 0; i < t->rows && all->member_count; i++) {
    struct MPI_EVENTS_row row = MPI_EVENTS_at(t, i);
    int32_t process = row.thread >= 0 && row.thread < m->thread_count ? m->thread_process[row.thread] : -1;
    if (process < 0 || rank_of[process] == NAI_NULL_I64 || !row.name)
      continue;
    if (row.kind == NAI_MPI_P2P)
      NAI_TRY(add_message(all, &row, rank_of[process], communicator_of(&handles, &row, rank_of[process]), err));
    else if (row.kind == NAI_MPI_COLLECTIVE)
      NAI_TRY(
          nai_mpi_add_collective(all, &row, rank_of[process], communicator_of(&handles, &row, rank_of[process]), err));
    else if (row.kind == NAI_MPI_START_WAIT)
      NAI_TRY(add_wait(all, &row, rank_of[process], err));
  }
  return nai_memory_check(!all->untold.oom, err);
}

/* --- matching --------------------------------------------------------------------------------- */

NAI_ORDER(by_member, struct nai_mpi_member, {a->communicator, b->communicator}, {a->local, b->local},
          {a->world, b->world})
NAI_ORDER(by_wait, struct nai_mpi_wait, {a->rank, b->rank}, {a->request, b->request}, {a->start, b->start},
          {a->end, b->end})
NAI_ORDER(by_message, struct nai_mpi_message, {a->source, b->source}, {a->destination, b->destination},
          {a->communicator, b->communicator}, {a->tag, b->tag}, {a->receives, b->receives}, {a->start, b->start},
          {a->end, b->end})

/* Index of the first element that is not before the key. */
static uint32_t find(const void *key, const void *v, uint32_t count, size_t size,
                     int (*compare)(const void *, const void *)) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (compare((const char *)v + middle * size, key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* NAI_NULL_I64 where it is not told, or contradicts itself. */
static int64_t world_rank(const struct nai_mpi_messages *all, int64_t communicator, int64_t local) {
  const struct nai_mpi_member first = {communicator, local, INT64_MIN}, last = {communicator, local, INT64_MAX};
  uint32_t from = find(&first, all->members, all->member_count, sizeof first, by_member),
           to = find(&last, all->members, all->member_count, sizeof last, by_member);
  return from < to && all->members[from].world == all->members[to - 1].world ? all->members[from].world : NAI_NULL_I64;
}

void nai_mpi_match_messages(struct nai_mpi_messages *all) {
  uint32_t kept = 0;
  if (!all->message_count)
    return;
  qsort(all->members, all->member_count, sizeof *all->members, by_member);
  for (uint32_t i = 0; i < all->message_count; i++) {
    struct nai_mpi_message *m = &all->messages[i];
    int64_t *other = m->receives ? &m->source : &m->destination;
    *other = world_rank(all, m->communicator, *other);
    if (*other != NAI_NULL_I64)
      all->messages[kept++] = *m;
  }
  all->message_count = kept;
  qsort(all->messages, kept, sizeof *all->messages, by_message);
  if (all->wait_count)
    qsort(all->waits, all->wait_count, sizeof *all->waits, by_wait);
}

/* Where the receiver waits for a message: in the call itself, or the first wait for its request after it. */
static struct nai_interval wait_of(const struct nai_mpi_messages *all, const struct nai_mpi_message *m) {
  const struct nai_mpi_wait least = {m->destination, m->request, m->end, INT64_MIN};
  if (m->blocks)
    return (struct nai_interval){m->start, m->end};
  uint32_t at = find(&least, all->waits, all->wait_count, sizeof least, by_wait);
  const struct nai_mpi_wait *wait = &all->waits[at];
  bool is = at < all->wait_count && wait->rank == m->destination && wait->request == m->request;
  return is ? (struct nai_interval){wait->start, wait->end} : (struct nai_interval){0, 0};
}

/* One communicator and tag: n sends, then as many receives. Where one arrives before it is sent these are no pairs. */
static void add_pairs(struct nai_mpi_pair *pair, struct nai_interval *late, const struct nai_mpi_messages *all,
                      const struct nai_mpi_message *sends, uint32_t n, int64_t doubt) {
  for (uint32_t i = 0; i < n; i++) {
    struct nai_interval wait = wait_of(all, &sends[n + i]);
    if (wait.end > wait.start && wait.end + doubt < sends[i].start)
      return;
  }
  pair->count += n;
  for (uint32_t i = 0; i < n; i++) {
    const struct nai_mpi_message *send = &sends[i], *receive = &sends[n + i];
    struct nai_interval wait = wait_of(all, receive);
    wait.end = send->start < wait.end ? send->start : wait.end;
    if (wait.end - wait.start > doubt) {
      pair->late_send_ns += wait.end - wait.start;
      late[pair->late_send_count++] = wait;
      if (wait.end - wait.start > pair->longest.end - pair->longest.start)
        pair->longest = wait;
    }
    if (send->blocks && receive->start - send->start > doubt && send->end >= receive->start) {
      pair->late_receive_count++;
      pair->late_receive_ns += receive->start - send->start;
    }
  }
}

static bool is_told(const struct nai_mpi_messages *all, const struct nai_mpi_message *m) {
  return nai_keyset_find(&all->untold, key_of(m->communicator, m->source, false)) == UINT32_MAX &&
         nai_keyset_find(&all->untold, key_of(m->communicator, m->destination, true)) == UINT32_MAX;
}

uint32_t nai_mpi_pair_end(const struct nai_mpi_messages *all, uint32_t first) {
  const struct nai_mpi_message *v = all->messages;
  uint32_t end = first + 1;
  while (end < all->message_count && v[end].source == v[first].source && v[end].destination == v[first].destination)
    end++;
  return end;
}

int nai_mpi_sum_pair(struct nai_mpi_pair *pair, const struct nai_mpi_messages *all, uint32_t first, uint32_t end,
                     int64_t doubt, struct nai_err *err) {
  const struct nai_mpi_message *v = all->messages;
  struct nai_interval *late;
  *pair = (struct nai_mpi_pair){.late.arena = all->arena};
  NAI_TRY(NAI_NEW(late, all->arena, end - first, err));
  for (uint32_t i = first, sends, next; i < end; i = next) {
    for (next = i, sends = 0; next < end && v[next].communicator == v[i].communicator && v[next].tag == v[i].tag;
         next++)
      sends += !v[next].receives;
    if (2 * sends == next - i && is_told(all, &v[i]))
      add_pairs(pair, late, all, v + i, sends, doubt);
  }
  nai_intervals_gather(&pair->late, late, (size_t)pair->late_send_count);
  return nai_memory_check(!pair->late.oom, err);
}
