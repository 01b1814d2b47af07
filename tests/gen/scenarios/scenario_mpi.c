/* A rank of an MPI job: halos posted beside a kernel, a wait that outlasts it, a small all-reduce that nothing hides.
 * Four ranks in one export, one of which has more to do; and the same where kernels hide all of MPI. */
#include "gen/scenario.h"
#include "gen/plan_internal.h"
#include "gen/truth/answers.h"

#include <string.h>

enum { ROUNDS = 20, US = 1000 };

enum { WORLD_UID = 101, PAIR_UID = 102, SELF_UID = 103, REQUEST = 11 };
static const int64_t WORLD = 0x44000000, MADE = 0x84000001;

static void communicator(struct nai_gen_plan *plan, int rank, int64_t handle, int uid, int local, int size) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "MPI_COMMUNICATORS");
  nai_gen_row_int(&row, "rank", rank);
  nai_gen_row_int(&row, "timestamp", 1000);
  nai_gen_row_int(&row, "commHandle", handle);
  nai_gen_row_int(&row, "localRank", local);
  nai_gen_row_int(&row, "size", size);
  nai_gen_row_int(&row, "commUid", uid);
  nai_gen_evidence_row(plan, &row);
}

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
  if (strcmp(table, "MPI_COLLECTIVES_EVENTS") == 0) {
    nai_gen_row_int(&row, "commUid", WORLD_UID);
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

enum { FIRST_WORKER = 700, UCX_NS = 400, MESSAGE = 512 };

/* What MPI has UCX do: for a send to the next rank, or (peer below 0) without an end. */
static void ucx(struct nai_gen_plan *plan, const struct rank *rank, const char *name, int64_t start_ns, int peer) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, peer < 0 ? "UCP_EVENTS" : "UCP_SUBMIT_EVENTS");
  nai_gen_row_int(&row, "start", start_ns);
  nai_gen_row_int(&row, "globalTid", plan->threads[rank->thread].global_tid);
  nai_gen_row_int(&row, "textId", nai_gen_string(plan, name, strlen(name)));
  if (peer >= 0) {
    nai_gen_row_int(&row, "end", start_ns + UCX_NS);
    nai_gen_row_int(&row, "packedSize", MESSAGE);
    nai_gen_row_int(&row, "peerWorkerUid", FIRST_WORKER + peer);
  }
  nai_gen_evidence_row(plan, &row);
}

/* A kernel of kernel_us, then a barrier that all leave 850 us into the round, then sends of 512 bytes in 1 us each. */
static void plan_round(struct nai_gen_plan *plan, const struct rank *rank, int kernel, int64_t t, int64_t kernel_us,
                       int64_t barrier_us) {
  nai_gen_wait_until(plan, rank->thread, t - 50 * US);
  nai_gen_launch_at(plan, rank->thread, rank->stream, kernel, t, kernel_us * US);
  call(plan, rank->thread, "MPI_COLLECTIVES_EVENTS", "MPI_Barrier", t + (850 - barrier_us) * US, barrier_us * US, -1);
  for (int i = 0; i < SENDS; i++) {
    call(plan, rank->thread, "MPI_P2P_EVENTS", "MPI_Send", t + (860 + i) * US, US, MESSAGE);
    ucx(plan, rank, "ucp_tag_send_nbx", t + (860 + i) * US + 100, (rank->number + 1) % RANKS);
  }
}

static void ucx_worker(struct nai_gen_plan *plan, const struct rank *rank) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "UCP_WORKERS");
  nai_gen_row_int(&row, "globalTid", plan->threads[rank->thread].global_tid);
  nai_gen_row_int(&row, "workerUid", FIRST_WORKER + rank->number);
  nai_gen_evidence_row(plan, &row);
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
    communicator(plan, r, WORLD, WORLD_UID, r, RANKS);
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
    ucx_worker(plan, &ranks[r]);
    ucx(plan, &ranks[r], "ucp_worker_progress", first + ROUNDS * INT64_C(1000) * US, -1);
    call(plan, ranks[r].thread, "MPI_OTHER_EVENTS", "MPI_Finalize", first + ROUNDS * INT64_C(1000) * US, 9 * US, -1);
    rank_fact(plan, numbers[r], barrier_us + SENDS, hidden);
    /* It waits from the end of its kernel on, where rank 2 comes later; the last kernel ends the GPU's window. */
    int64_t wait_us = slow || hidden ? 0 : 300;
    nai_gen_fact(plan, &(struct nai_gen_fact){.table = "mpi_collectives",
                                              .key = numbers[r],
                                              .value = "MPI_Barrier",
                                              .count = ROUNDS,
                                              .exact_ns = ROUNDS * wait_us * US,
                                              .gain_ns = (ROUNDS - 1) * wait_us * US});
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

/* --- late senders --------------------------------------------------------------------------------- */

/* `other`: the rank in the communicator; below 0 any source. */
static void message(struct nai_gen_plan *plan, const struct rank *rank, const char *name, int64_t from, int64_t to,
                    int uid, int other) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "MPI_P2P_EVENTS");
  nai_gen_row_int(&row, "start", from);
  nai_gen_row_int(&row, "end", to);
  nai_gen_row_int(&row, "globalTid", plan->threads[rank->thread].global_tid);
  nai_gen_row_int(&row, "textId", nai_gen_string(plan, name, strlen(name)));
  nai_gen_row_int(&row, "commHandle", uid == WORLD_UID ? WORLD : MADE);
  nai_gen_row_int(&row, "commUid", uid);
  nai_gen_row_int(&row, "tag", 5);
  nai_gen_row_int(&row, "remoteRank", other);
  nai_gen_row_int(&row, "size", 65536);
  if (strncmp(name, "MPI_I", 5) == 0) {
    nai_gen_row_int(&row, "requestHandle", REQUEST);
  }
  nai_gen_evidence_row(plan, &row);
}

static void wait_for(struct nai_gen_plan *plan, const struct rank *rank, int64_t from, int64_t to) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "MPI_START_WAIT_EVENTS");
  nai_gen_row_int(&row, "start", from);
  nai_gen_row_int(&row, "end", to);
  nai_gen_row_int(&row, "globalTid", plan->threads[rank->thread].global_tid);
  nai_gen_row_int(&row, "textId", nai_gen_string(plan, "MPI_Wait", 8));
  nai_gen_row_int(&row, "requestHandle", REQUEST);
  nai_gen_evidence_row(plan, &row);
}

/* Rank 0 waits for a message of rank 1, which sends it 300 us later, or before. Then it receives one of rank 2 in a
 * communicator of the two in which rank 2 is the first; rank 2 sends it 300 us before, and cannot go on, or just
 * before. Rank 1 waits 290 us for any source: nobody can tell which send that is. A communicator of rank 1 alone has
 * the handle of the pair's. */
static void plan_late(struct nai_gen_plan *plan, bool late) {
  struct rank ranks[3];
  nai_gen_even_shapes(plan);
  for (int r = 0; r < 3; r++) {
    add_rank(&ranks[r], plan, r);
    communicator(plan, r, WORLD, WORLD_UID, r, 3);
  }
  communicator(plan, 2, MADE, PAIR_UID, 0, 2);
  communicator(plan, 0, MADE, PAIR_UID, 1, 2);
  communicator(plan, 1, MADE, SELF_UID, 0, 1);
  int kernel = nai_gen_kernel(plan, "void stencil(const double *, double *, int)", NULL);
  int64_t first = nai_gen_now(plan, ranks[0].thread) + 1000 * US;
  for (int i = 0; i < ROUNDS; i++) {
    int64_t t = first + (int64_t)i * 2000 * US, sent = t + (late ? 900 : 550) * US;
    for (int r = 0; r < 3; r++) {
      nai_gen_wait_until(plan, ranks[r].thread, t - 50 * US);
      nai_gen_launch_at(plan, ranks[r].thread, ranks[r].stream, kernel, t, 500 * US);
    }
    message(plan, &ranks[0], "MPI_Irecv", t + 520 * US, t + 522 * US, WORLD_UID, 1);
    wait_for(plan, &ranks[0], t + 600 * US, t + 920 * US);
    message(plan, &ranks[1], "MPI_Isend", sent, sent + 2 * US, WORLD_UID, 0);
    wait_for(plan, &ranks[1], sent + 10 * US, sent + 15 * US);
    message(plan, &ranks[2], "MPI_Send", t + (late ? 1000 : 1295) * US, t + (late ? 1400 : 1297) * US, PAIR_UID, 1);
    message(plan, &ranks[0], "MPI_Recv", t + 1300 * US, t + 1401 * US, PAIR_UID, 0);
    message(plan, &ranks[1], "MPI_Recv", t + 1500 * US, t + 1800 * US, WORLD_UID, -2);
    message(plan, &ranks[2], "MPI_Send", t + 1790 * US, t + 1799 * US, WORLD_UID, 1);
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "mpi_pairs",
                                            .key = "1",
                                            .count = ROUNDS,
                                            .exact_ns = late ? ROUNDS * INT64_C(300) * US : 0,
                                            .gain_ns = late ? (ROUNDS - 1) * INT64_C(300) * US : 0});
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "mpi_pairs", .key = "2", .count = ROUNDS, .exact_ns = 0});
  nai_gen_expect_findings(plan, "mpi-exposed");
}

void nai_gen_plan_mpi_late(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_late(plan, true);
}

void nai_gen_plan_mpi_on_time(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_late(plan, false);
}
