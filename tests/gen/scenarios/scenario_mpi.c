/* A rank of an MPI job: halos posted beside a kernel, a wait that outlasts it, a small all-reduce that nothing hides.
 */
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
}
