#include "base/sort.h"
#include "model/comm/comm.h"
#include "model/comm/mpi_messages.h"
#include "tables/mpi_events.h"

/* What is matched, and where nobody leaves before all are in. */
static const struct {
  const char *name;
  bool waits;
} kinds[] = {{"MPI_Barrier", true},    {"MPI_Allreduce", true},      {"MPI_Allgather", true},
             {"MPI_Allgatherv", true}, {"MPI_Alltoall", true},       {"MPI_Alltoallv", true},
             {"MPI_Alltoallw", true},  {"MPI_Reduce_scatter", true}, {"MPI_Reduce_scatter_block", true},
             {"MPI_Bcast", false},     {"MPI_Reduce", false},        {"MPI_Gather", false},
             {"MPI_Gatherv", false},   {"MPI_Scatter", false},       {"MPI_Scatterv", false},
             {"MPI_Scan", false},      {"MPI_Exscan", false}};
enum { KINDS = sizeof kinds / sizeof *kinds };

int nai_mpi_add_collective(struct nai_mpi_messages *all, const struct MPI_EVENTS_row *row, int64_t world,
                           int64_t communicator, struct nai_err *err) {
  int kind = 0;
  while (kind < KINDS && strcmp(kinds[kind].name, row->name) != 0)
    kind++;
  if (kind == KINDS || communicator == NAI_NULL_I64)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(all->collectives, all->collective_capacity, all->collective_count, all->arena, err));
  all->collectives[all->collective_count++] = (struct nai_mpi_collective){.communicator = communicator,
                                                                          .rank = world,
                                                                          .root = row->remote_rank,
                                                                          .start = row->start_ns,
                                                                          .end = row->end_ns,
                                                                          .kind = row->open == 1 ? KINDS : kind,
                                                                          .transfer = NAI_NULL_I64};
  return NAI_OK;
}

NAI_ORDER(by_order, struct nai_mpi_collective, {a->communicator, b->communicator}, {a->rank, b->rank},
          {a->start, b->start}, {a->end, b->end}, {a->kind, b->kind}, {a->root, b->root})
NAI_ORDER(by_kind, struct nai_mpi_collective, {a->rank, b->rank}, {a->kind, b->kind}, {a->start, b->start},
          {a->end, b->end}, {a->communicator, b->communicator})

static int64_t length(const struct nai_mpi_collective *c) { return c->end - c->start; }

/* The next call of each rank: of the first one at v, of the others at those distances. False where they differ. */
static bool match(struct nai_mpi_collective *v, const uint32_t *first, uint32_t ranks) {
  struct nai_mpi_collective *last = v;
  int64_t second = INT64_MAX, sum = 0;
  for (uint32_t r = 0; r < ranks; r++)
    if (v[first[r]].kind != v->kind || v[first[r]].root != v->root || v->kind == KINDS)
      return false;
  for (uint32_t r = 1; r < ranks; r++)
    last = length(&v[first[r]]) < length(last) ? &v[first[r]] : last;
  for (uint32_t r = 0; r < ranks; r++) {
    struct nai_mpi_collective *c = &v[first[r]];
    c->transfer = length(last);
    sum += length(c) - length(last);
    second = c != last && length(c) < second ? length(c) : second;
  }
  if (kinds[v->kind].waits && nai_comm_is_late(second - length(last), length(last), 0))
    last->caused = sum;
  return true;
}

int nai_mpi_match_collectives(struct nai_mpi_messages *all, struct nai_err *err) {
  struct nai_mpi_collective *v = all->collectives;
  uint32_t *first;
  if (!all->collective_count)
    return NAI_OK;
  qsort(v, all->collective_count, sizeof *v, by_order);
  NAI_TRY(NAI_NEW(first, all->arena, all->collective_count, err));
  for (uint32_t i = 0, end; i < all->collective_count; i = end) {
    uint32_t ranks = 0, least = UINT32_MAX;
    for (end = i; end < all->collective_count && v[end].communicator == v[i].communicator; end++)
      if (end == i || v[end].rank != v[end - 1].rank) {
        uint32_t count = ranks ? end - i - first[ranks - 1] : UINT32_MAX;
        least = count < least ? count : least;
        first[ranks++] = end - i;
      }
    least = end - i - first[ranks - 1] < least ? end - i - first[ranks - 1] : least;
    for (uint32_t k = 0; ranks > 1 && k < least && match(v + i + k, first, ranks); k++)
      ;
  }
  qsort(v, all->collective_count, sizeof *v, by_kind);
  return NAI_OK;
}

uint32_t nai_mpi_collective_end(const struct nai_mpi_messages *all, uint32_t first) {
  const struct nai_mpi_collective *v = all->collectives;
  uint32_t end = first + 1;
  while (end < all->collective_count && v[end].rank == v[first].rank && v[end].kind == v[first].kind)
    end++;
  return end;
}

int nai_mpi_sum_collectives(struct nai_mpi_collectives *sum, const struct nai_mpi_messages *all, uint32_t first,
                            uint32_t end, struct nai_err *err) {
  int kind = all->collectives[first].kind;
  *sum = (struct nai_mpi_collectives){.function = kind < KINDS ? kinds[kind].name : NULL,
                                      .waits = kind < KINDS && kinds[kind].waits,
                                      .waiting.arena = all->arena};
  for (const struct nai_mpi_collective *c = all->collectives + first; c < all->collectives + end; c++) {
    if (c->transfer == NAI_NULL_I64)
      continue;
    struct nai_interval wait = {c->start, c->end - c->transfer};
    sum->count++;
    sum->transfer_ns += c->transfer;
    sum->wait_ns += wait.end - wait.start;
    sum->late_count += c->caused > 0;
    sum->caused_ns += c->caused;
    if (wait.end - wait.start > sum->longest.end - sum->longest.start)
      sum->longest = wait;
    nai_intervals_add(&sum->waiting, wait.start, wait.end);
  }
  return nai_memory_check(!sum->waiting.oom, err);
}
