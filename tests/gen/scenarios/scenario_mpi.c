/* A rank of an MPI job: halos posted beside a kernel, a wait that outlasts it, a small all-reduce that nothing hides.
 * Four ranks in one export, one of which has more to do; and the same where kernels hide all of MPI. */
#include "gen/scenario.h"
#include "gen/plan_internal.h"
#include "gen/truth/answers.h"

#include <string.h>

enum { ROUNDS = 20, US = 1000 };

static void call(struct nai_gen_plan *plan, int thread, const char *table, const char *name, int64_t start_ns,
                 int64_t duration_ns, int64_t bytes) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, table);
  nai_gen_row_int(&row, "start", start_ns);
  if (duration_ns >= 0) {
    nai_gen_row_int(&row, "end", start_ns + duration_ns);
  }
  nai_gen_row_int(&row, "globalTid", plan->threads[thread].global_tid);
  nai_gen_row_int(&row, "textId", nai_gen_string(plan, name, strlen(name)));
  if (bytes >= 0) {
    nai_gen_row_int(&row, "size", bytes);
  }
  nai_gen_evidence_row(plan, &row);
}

static void fact(struct nai_gen_plan *plan, const char *function, const char *class, int calls, int64_t exposed_ns) {
  nai_gen_fact(plan,
               &(struct nai_gen_fact){
                   .table = "mpi_calls", .key = function, .value = class, .count = calls, .exact_ns = exposed_ns});
}

/* Each millisecond: a kernel of 500 us; beside it two halos of 64 KiB are posted. The wait for them begins 400 us after
 * the kernel did and takes 300 us, 200 of which are exposed; it has a row per request. Then an all-reduce of 8 bytes
 * takes 100 us. A sendrecv, one row per direction, runs beside the kernel but for 10 us in the first round. */
void nai_gen_plan_mpi(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct nai_gen_program p;
  nai_gen_program(&p, plan, 5931, "./stencil");
  int kernel = nai_gen_kernel(plan, "void stencil(const double *, double *, int)", NULL);
  int64_t first = nai_gen_now(plan, p.thread) + 1000 * US;
  call(plan, p.thread, "MPI_OTHER_EVENTS", "MPI_Init", first - 800 * US, 500 * US, -1);
  for (int i = 0; i < ROUNDS; i++) {
    int64_t t = first + (int64_t)i * 1000 * US;
    nai_gen_wait_until(plan, p.thread, t - 50 * US);
    nai_gen_launch_at(plan, p.thread, p.stream, kernel, t, 500 * US);
    call(plan, p.thread, "MPI_P2P_EVENTS", "MPI_Irecv", t + 100 * US, 2 * US, 65536);
    call(plan, p.thread, "MPI_P2P_EVENTS", "MPI_Isend", t + 103 * US, 2 * US, 65536);
    for (int request = 0; request < 2; request++) {
      call(plan, p.thread, "MPI_START_WAIT_EVENTS", "MPI_Waitall", t + 400 * US, 300 * US, -1);
    }
    call(plan, p.thread, "MPI_COLLECTIVES_EVENTS", "MPI_Allreduce", t + 800 * US, 100 * US, 8);
  }
  call(plan, p.thread, "MPI_P2P_EVENTS", "MPI_Sendrecv", first + 300 * US, 50 * US, 4096);
  call(plan, p.thread, "MPI_P2P_EVENTS", "MPI_Sendrecv", first + 300 * US, 210 * US, 1024);
  call(plan, p.thread, "MPI_COLLECTIVES_EVENTS", "MPI_Barrier", first + ROUNDS * INT64_C(1000) * US, -1, -1);
  struct nai_gen_row row;
  nai_gen_row_start(&row, "MPI_RANKS");
  nai_gen_row_int(&row, "globalTid", plan->threads[p.thread].global_tid);
  nai_gen_row_int(&row, "rank", 3);
  nai_gen_evidence_row(plan, &row);
  /* The last kernel ends the GPU's window: what comes behind it is exposed in the rounds before only. */
  fact(plan, "MPI_Waitall", "wait", ROUNDS, (ROUNDS - 1) * INT64_C(200) * US);
  fact(plan, "MPI_Allreduce", "collective", ROUNDS, (ROUNDS - 1) * INT64_C(100) * US);
  fact(plan, "MPI_Irecv", "post", ROUNDS, 0);
  fact(plan, "MPI_Sendrecv", "p2p", 1, 10 * US);
  fact(plan, "MPI_Barrier", "sync", 1, 0);
  fact(plan, "MPI_Init", "setup", 1, 0);
  nai_gen_expect_findings(plan, "mpi-exposed");
}

/* --- ranks in one export -------------------------------------------------------------------------- */

enum { RANKS = 4, SLOW_RANK = 2, SENDS = 60, FIRST_PID = 5950 };

struct rank {
  int number, thread, stream;
};

static void add_rank(struct rank *rank, struct nai_gen_plan *plan, int number) {
  int process = nai_gen_process(plan, FIRST_PID + number, "./stencil");
  struct nai_gen_row row;
  rank->number = number;
  rank->thread = nai_gen_thread(plan, process, FIRST_PID + number, "./stencil");
  rank->stream = nai_gen_stream(plan, nai_gen_context(plan, process, number, 1, nai_gen_gpu(plan, number)), 7);
  nai_gen_row_start(&row, "MPI_RANKS");
  nai_gen_row_int(&row, "globalTid", plan->threads[rank->thread].global_tid);
  nai_gen_row_int(&row, "rank", number);
  nai_gen_evidence_row(plan, &row);
}

/* A kernel of kernel_us, then a barrier that all leave 850 us into the round, then sends of 512 bytes in 1 us each. */
static void plan_round(struct nai_gen_plan *plan, const struct rank *rank, int kernel, int64_t t, int64_t kernel_us,
                       int64_t barrier_us) {
  nai_gen_wait_until(plan, rank->thread, t - 50 * US);
  nai_gen_launch_at(plan, rank->thread, rank->stream, kernel, t, kernel_us * US);
  call(plan, rank->thread, "MPI_COLLECTIVES_EVENTS", "MPI_Barrier", t + (850 - barrier_us) * US, barrier_us * US, -1);
  for (int i = 0; i < SENDS; i++) {
    call(plan, rank->thread, "MPI_P2P_EVENTS", "MPI_Send", t + (860 + i) * US, US, 512);
  }
}

static void rank_fact(struct nai_gen_plan *plan, const char *rank, int64_t mpi_us, bool hidden) {
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "mpi_processes",
                                            .key = rank,
                                            .count = 2 + ROUNDS * (1 + SENDS),
                                            .exact_ns = INT64_C(300) * US + ROUNDS * (1000 - mpi_us) * US,
                                            .gain_ns = hidden ? 0 : (ROUNDS - 1) * mpi_us * US});
}

static void plan_ranks(struct nai_gen_plan *plan, bool hidden) {
  static const char *const numbers[RANKS] = {"0", "1", "2", "3"};
  struct rank ranks[RANKS];
  nai_gen_even_shapes(plan);
  for (int r = 0; r < RANKS; r++) {
    add_rank(&ranks[r], plan, r);
  }
  int kernel = nai_gen_kernel(plan, "void stencil(const double *, double *, int)", NULL);
  int64_t first = nai_gen_now(plan, ranks[0].thread) + 1000 * US, sum = 0, most = 0;
  for (int r = 0; r < RANKS; r++) {
    bool slow = r == SLOW_RANK && !hidden;
    int64_t barrier_us = slow ? 50 : 350;
    call(plan, ranks[r].thread, "MPI_OTHER_EVENTS", "MPI_Init", first - 800 * US, 500 * US, -1);
    for (int i = 0; i < ROUNDS; i++) {
      plan_round(plan, &ranks[r], kernel, first + (int64_t)i * 1000 * US, hidden ? 980 : slow ? 800 : 500, barrier_us);
    }
    call(plan, ranks[r].thread, "MPI_OTHER_EVENTS", "MPI_Finalize", first + ROUNDS * INT64_C(1000) * US, 9 * US, -1);
    rank_fact(plan, numbers[r], barrier_us + SENDS, hidden);
    int64_t useful = INT64_C(300) * US + ROUNDS * (1000 - barrier_us - SENDS) * US;
    sum += useful;
    most = useful > most ? useful : most;
  }
  nai_gen_fact(plan,
               &(struct nai_gen_fact){.table = "mpi_efficiency", .key = "4", .exact_ns = most, .gain_ns = sum / RANKS});
}

void nai_gen_plan_mpi_ranks(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_ranks(plan, false);
  nai_gen_expect_findings(plan, "mpi-exposed mpi-barriers mpi-small-messages mpi-imbalance");
}

void nai_gen_plan_mpi_hidden(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_ranks(plan, true);
  nai_gen_expect_no_findings(plan, "mpi-exposed mpi-barriers mpi-small-messages mpi-imbalance");
}
