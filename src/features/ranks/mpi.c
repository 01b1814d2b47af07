/* What MPI takes of each rank, by function and message size, from the tables of their runs: ranks, rank_mpi,
 * rank_mpi_sizes. Which rank sends late, from messages on one clock: rank_mpi_pairs; and the efficiencies of all. */
#include "features/ranks/timeline.h"
#include "features/ranks/write.h"

#include "model/comm/mpi_messages.h"
#include "model/comm/mpi_process.h"
#include "model/idle/process_gpu.h"
#include "tables/mpi_calls.h"
#include "tables/mpi_processes.h"
#include "tables/mpi_sizes.h"
#include "tables/mpi_communicators.h"
#include "tables/rank_mpi.h"
#include "tables/rank_mpi_collectives.h"
#include "tables/rank_mpi_pairs.h"
#include "tables/rank_mpi_sizes.h"

/* Of a process with several GPUs the first rank stands for it. */
static struct nai_job_rank *rank_of(const struct nai_ranks *r, uint32_t source, int64_t pid) {
  for (uint32_t i = 0; i < r->rank_count; i++)
    if (r->ranks[i].source == source && r->ranks[i].pid == pid)
      return &r->ranks[i];
  return NULL;
}

static int read_table(const struct nai_table **out, const struct nai_ranks *r, uint32_t source,
                      const struct nai_schema *schema, struct nai_err *err) {
  return nai_run_table_if_any(out, r->sources[source].run, schema->name, schema, err);
}

int nai_ranks_read_mpi(struct nai_ranks *r, struct nai_err *err) {
  for (uint32_t s = 0; s < r->source_count; s++) {
    const struct nai_table *t;
    NAI_TRY(read_table(&t, r, s, &nai_mpi_processes_schema, err));
    for (int64_t i = 0; t && i < t->rows; i++) {
      struct MPI_PROCESSES_row row = MPI_PROCESSES_at(t, i);
      struct nai_job_rank *rank = rank_of(r, s, row.pid);
      if (!rank)
        continue;
      rank->mpi_ns = row.mpi_ns;
      rank->mpi_span_ns = row.span_ns;
      rank->mpi_exposed_ns = row.exposed_ns;
    }
  }
  return NAI_OK;
}

static void put_calls(struct nai_table *out, const struct nai_job_rank *rank, const struct nai_table *t) {
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_CALLS_row row = MPI_CALLS_at(t, i);
    if (row.pid == rank->pid)
      NAI_ADD(RANK_MPI, out, .rank = rank->label, .class = row.class, .function = row.function,
              .call_count = row.call_count, .total_ns = row.total_time_ns, .exposed_ns = row.exposed_ns,
              .p50_duration_ns = row.p50_duration_ns, .max_ns = row.max_duration_ns, .sent_bytes = row.sent_bytes);
  }
}

static void put_sizes(struct nai_table *out, const struct nai_job_rank *rank, const struct nai_table *t) {
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_SIZES_row row = MPI_SIZES_at(t, i);
    if (row.pid == rank->pid)
      NAI_ADD(RANK_MPI_SIZES, out, .rank = rank->label, .class = row.class, .from_bytes = row.from_bytes,
              .below_bytes = row.below_bytes, .call_count = row.call_count, .sent_bytes = row.sent_bytes,
              .total_ns = row.total_time_ns);
  }
}

int nai_ranks_put_mpi(struct nai_table *calls, struct nai_table *sizes, const struct nai_ranks *r,
                      struct nai_err *err) {
  for (uint32_t i = 0; i < r->rank_count; i++) {
    const struct nai_job_rank *rank = &r->ranks[i];
    const struct nai_table *t;
    if (rank->mpi_ns == NAI_NULL_I64)
      continue;
    NAI_TRY(read_table(&t, r, rank->source, &nai_mpi_calls_schema, err));
    if (t)
      put_calls(calls, rank, t);
    NAI_TRY(read_table(&t, r, rank->source, &nai_mpi_sizes_schema, err));
    if (t)
      put_sizes(sizes, rank, t);
  }
  return NAI_OK;
}

/* --- messages --------------------------------------------------------------------------------- */

struct process {
  struct nai_export_place place;
  struct nai_mpi_process is; /* rank NAI_NULL_I64: unknown, or another's, too */
  uint32_t source;
  bool any_gpu;
  struct nai_intervals idle; /* by the clock of all */
};

struct job {
  struct nai_ranks *r;
  struct process *processes;
  uint32_t process_count, capacity;
  struct nai_mpi_messages messages;
};

static int list_processes(struct job *job, struct nai_table *efficiency, struct nai_arena *arena, struct nai_err *err) {
  struct nai_mpi_process *all;
  int64_t *ranks;
  for (uint32_t s = 0; s < job->r->source_count; s++) {
    const struct nai_table *t;
    NAI_TRY(read_table(&t, job->r, s, &nai_mpi_processes_schema, err));
    for (int64_t i = 0; t && i < t->rows; i++) {
      struct MPI_PROCESSES_row row = MPI_PROCESSES_at(t, i);
      NAI_TRY(NAI_ROOM(job->processes, job->capacity, job->process_count, arena, err));
      job->processes[job->process_count++] =
          (struct process){.source = s, .is = {row.pid, row.rank, row.span_ns, row.useful_ns, row.gpu_busy_ns}};
    }
  }
  NAI_TRY(NAI_NEW(all, arena, job->process_count, err));
  NAI_TRY(NAI_NEW(ranks, arena, job->process_count, err));
  for (uint32_t i = 0; i < job->process_count; i++) {
    all[i] = job->processes[i].is;
    ranks[i] = all[i].rank;
  }
  nai_mpi_put_efficiency(efficiency, all, job->process_count);
  nai_mpi_drop_twice(ranks, job->process_count);
  for (uint32_t i = 0; i < job->process_count; i++)
    job->processes[i].is.rank = ranks[i];
  return NAI_OK;
}

/* When no GPU of a process does anything, by the clock of all. */
static int find_idle(struct process *p, const struct nai_model *m, int32_t process, struct nai_arena *arena,
                     struct nai_err *err) {
  NAI_SCOPED(nai_process_gpu) gpu = {0};
  NAI_TRY(nai_process_gpu_find(&gpu, m, process, err));
  p->any_gpu = gpu.any;
  p->idle.arena = arena;
  for (size_t i = 0; i < gpu.idle.count; i++)
    nai_intervals_add(&p->idle, nai_export_place_time(&p->place, gpu.idle.v[i].start),
                      nai_export_place_time(&p->place, gpu.idle.v[i].end));
  return nai_memory_check(!p->idle.oom, err);
}

static void move(struct job *job, const struct nai_export_place *place, uint32_t message, uint32_t wait,
                 uint32_t collective) {
  struct nai_mpi_messages *all = &job->messages;
  for (; message < all->message_count; message++) {
    all->messages[message].start = nai_export_place_time(place, all->messages[message].start);
    all->messages[message].end = nai_export_place_time(place, all->messages[message].end);
  }
  for (; wait < all->wait_count; wait++) {
    all->waits[wait].start = nai_export_place_time(place, all->waits[wait].start);
    all->waits[wait].end = nai_export_place_time(place, all->waits[wait].end);
  }
  for (; collective < all->collective_count; collective++) {
    all->collectives[collective].start = nai_export_place_time(place, all->collectives[collective].start);
    all->collectives[collective].end = nai_export_place_time(place, all->collectives[collective].end);
  }
}

/* place NULL: no clock is known, and messages tell nothing. */
static int add_messages(struct job *job, uint32_t source, const struct nai_export_place *place, struct nai_err *err) {
  static const struct nai_export_place unmoved = {0};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_model *m;
  int64_t *rank_of;
  uint32_t message = job->messages.message_count, wait = job->messages.wait_count,
           collective = job->messages.collective_count;
  NAI_TRY(nai_ranks_model(&m, job->r, source, NAI_PART(GPUS) | NAI_PART(ACTIVE) | NAI_PART(PROCESS_GPUS),
                          NAI_IN(MPI) | NAI_IN(MPI_COMMUNICATORS) | NAI_IN(THREADS), err));
  NAI_TRY(NAI_NEW(rank_of, &arena, m->process_count, err));
  for (uint32_t p = 0; p < m->process_count; p++)
    rank_of[p] = NAI_NULL_I64;
  for (struct process *p = job->processes; p < job->processes + job->process_count; p++) {
    int32_t of = p->source == source ? nai_model_process(m, p->is.pid) : -1;
    if (of < 0)
      continue;
    p->place = place ? *place : unmoved;
    rank_of[of] = p->is.rank;
    NAI_TRY(find_idle(p, m, of, job->messages.arena, err));
  }
  NAI_TRY(nai_mpi_add_messages(&job->messages, m, rank_of, err));
  if (place) {
    move(job, place, message, wait, collective);
  } else {
    job->messages.message_count = message;
    job->messages.wait_count = wait;
  }
  nai_run_drop_model(job->r->sources[source].run);
  return NAI_OK;
}

static const struct process *find_process(const struct job *job, int64_t rank) {
  const struct process *p = job->processes;
  while (p->is.rank != rank)
    p++;
  return p;
}

static int put_pair(struct nai_table *out, const struct job *job, uint32_t first, uint32_t end, struct nai_err *err) {
  const struct nai_mpi_message *of = &job->messages.messages[first];
  const struct process *to = find_process(job, of->destination), *from = find_process(job, of->source);
  const struct nai_job_rank *rank = rank_of(job->r, to->source, to->is.pid),
                            *peer = rank_of(job->r, from->source, from->is.pid);
  int64_t doubt = to->source == from->source ? 0 : to->place.doubt + from->place.doubt;
  struct nai_intervals idle = {.arena = job->messages.arena};
  struct nai_mpi_pair pair;
  NAI_TRY(nai_mpi_sum_pair(&pair, &job->messages, first, end, doubt, err));
  if (!pair.count || !rank || !peer)
    return NAI_OK;
  nai_intervals_intersect(&idle, &pair.late, &to->idle);
  NAI_TRY(nai_memory_check(!idle.oom, err));
  NAI_ADD(RANK_MPI_PAIRS, out, .rank = rank->label, .peer = peer->label, .message_count = pair.count,
          .late_send_count = pair.late_send_count, .late_send_ns = pair.late_send_ns,
          .late_send_idle_ns = to->any_gpu ? nai_intervals_total_ns(&idle) : NAI_NULL_I64,
          .longest_ns = pair.late_send_count ? pair.longest.end - pair.longest.start : NAI_NULL_I64,
          .late_receive_count = pair.late_receive_count, .late_receive_ns = pair.late_receive_ns,
          .clock_doubt_ns = doubt);
  return NAI_OK;
}

static int put_collective(struct nai_table *out, const struct job *job, uint32_t first, uint32_t end,
                          struct nai_err *err) {
  const struct process *p = find_process(job, job->messages.collectives[first].rank);
  const struct nai_job_rank *rank = rank_of(job->r, p->source, p->is.pid);
  struct nai_intervals idle = {.arena = job->messages.arena};
  struct nai_mpi_collectives sum;
  NAI_TRY(nai_mpi_sum_collectives(&sum, &job->messages, first, end, err));
  if (!sum.count || !rank)
    return NAI_OK;
  nai_intervals_intersect(&idle, &sum.waiting, &p->idle);
  NAI_TRY(nai_memory_check(!idle.oom, err));
  NAI_ADD(RANK_MPI_COLLECTIVES, out, .rank = rank->label, .function = sum.function, .call_count = sum.count,
          .transfer_ns = sum.transfer_ns, .wait_ns = sum.waits ? sum.wait_ns : NAI_NULL_I64,
          .wait_idle_ns = sum.waits && p->any_gpu ? nai_intervals_total_ns(&idle) : NAI_NULL_I64,
          .late_count = sum.late_count, .caused_wait_ns = sum.caused_ns,
          .longest_ns = sum.waits ? sum.longest.end - sum.longest.start : NAI_NULL_I64);
  return NAI_OK;
}

int nai_ranks_put_messages(struct nai_table *const tables[NAI_RANKS_TABLES], struct nai_ranks *r, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct job job = {.r = r, .messages.arena = &arena};
  NAI_TRY(list_processes(&job, tables[NAI_RANKS_EFFICIENCY], &arena, err));
  for (uint32_t s = 0; s < r->source_count && job.process_count > 1; s++) {
    const struct nai_table *communicators;
    struct nai_export_place place;
    NAI_TRY(read_table(&communicators, r, s, &nai_mpi_communicators_schema, err));
    if (communicators && communicators->rows)
      NAI_TRY(add_messages(&job, s, nai_ranks_place(&place, r, s) ? &place : NULL, err));
  }
  nai_mpi_match_messages(&job.messages);
  NAI_TRY(nai_mpi_match_collectives(&job.messages, err));
  for (uint32_t i = 0, end; i < job.messages.collective_count; i = end) {
    end = nai_mpi_collective_end(&job.messages, i);
    NAI_TRY(put_collective(tables[NAI_RANKS_COLLECTIVES_OF_MPI], &job, i, end, err));
  }
  for (uint32_t i = 0, end; i < job.messages.message_count; i = end) {
    end = nai_mpi_pair_end(&job.messages, i);
    NAI_TRY(put_pair(tables[NAI_RANKS_PAIRS_OF_MPI], &job, i, end, err));
  }
  return NAI_OK;
}
