/* OpenACC programs. A variable that a directive in the loop moves to the GPU and back each iteration, and one that a
 * directive before the loop moves once; and room for one more, in each iteration; and the same with all before the
 * loop. */
#include "gen/scenario.h"
#include "gen/plan_internal.h"
#include "gen/truth/answers.h"

#include <string.h>

enum { ROUNDS = 20, US = 1000, PID = 5971, LINE_OUTSIDE = 12, LINE_LOOP = 40 };
enum { LAUNCH = 4, UPLOAD = 5, DOWNLOAD = 6, IMPLICIT_WAIT = 8, CONSTRUCT = 9, ALLOCATION = 15 };

struct acc {
  struct nai_gen_program p;
  int kernel;
};

static int64_t text(struct nai_gen_plan *plan, const char *s) { return nai_gen_string(plan, s, strlen(s)); }

static void event(struct acc *a, const char *table, int kind, int line, int64_t start, int64_t end,
                  const char *variable, int64_t bytes) {
  struct nai_gen_plan *plan = a->p.plan;
  struct nai_gen_row row;
  nai_gen_row_start(&row, table);
  nai_gen_row_int(&row, "start", start);
  nai_gen_row_int(&row, "end", end);
  nai_gen_row_int(&row, "nameId", text(plan, kind == LAUNCH ? "Launch" : kind == CONSTRUCT ? "Compute" : "Enqueue"));
  nai_gen_row_int(&row, "globalTid", plan->threads[a->p.thread].global_tid);
  nai_gen_row_int(&row, "eventKind", kind);
  nai_gen_row_int(&row, "lineNo", line);
  nai_gen_row_int(&row, "srcFile", text(plan, "laplace.f90"));
  if (variable) {
    nai_gen_row_int(&row, "varName", text(plan, variable));
    nai_gen_row_int(&row, "bytes", bytes);
  }
  nai_gen_raw_row(plan, &row, NULL);
}

/* A copy that begins and ends within its event. */
static void move(struct acc *a, int kind, int line, const char *variable, int64_t bytes, int64_t ns) {
  struct nai_gen_plan *plan = a->p.plan;
  const struct nai_gen_copy copy = {kind == UPLOAD ? NAI_GEN_HTOD : NAI_GEN_DTOH,
                                    kind == UPLOAD ? NAI_GEN_PINNED : NAI_GEN_DEVICE,
                                    kind == UPLOAD ? NAI_GEN_DEVICE : NAI_GEN_PINNED,
                                    bytes,
                                    ns,
                                    false};
  int64_t start = nai_gen_now(plan, a->p.thread);
  nai_gen_work(plan, a->p.thread, 2 * US);
  int64_t end = nai_gen_copy(plan, a->p.thread, a->p.stream, &copy);
  event(a, "CUPTI_ACTIVITY_KIND_OPENACC_DATA", kind, line, start, end + US, variable, bytes);
  nai_gen_wait_until(plan, a->p.thread, end + 2 * US);
}

/* Room from the runtime's pool: no call of CUDA. */
static void allocate(struct acc *a, int line, int64_t ns) {
  int64_t start = nai_gen_now(a->p.plan, a->p.thread);
  nai_gen_wait_until(a->p.plan, a->p.thread, start + ns);
  event(a, "CUPTI_ACTIVITY_KIND_OPENACC_DATA", ALLOCATION, line, start, start + ns, "work(:)", 1 << 20);
}

static void launch(struct acc *a, int line) {
  struct nai_gen_plan *plan = a->p.plan;
  int64_t start = nai_gen_now(plan, a->p.thread);
  nai_gen_work(plan, a->p.thread, US);
  int64_t end = nai_gen_launch(plan, a->p.thread, a->p.stream, a->kernel, 300 * US);
  event(a, "CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", LAUNCH, line, start, nai_gen_now(plan, a->p.thread), NULL, 0);
  nai_gen_wait_until(plan, a->p.thread, end);
}

static void fact(struct nai_gen_plan *plan, const char *variable, const char *repeated, int64_t count,
                 int64_t copy_ns) {
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "directive_data",
                                            .key = variable,
                                            .value = repeated,
                                            .count = count,
                                            .exact_ns = copy_ns,
                                            .gain_ns = copy_ns});
}

static void plan_openacc(struct nai_gen_plan *plan, bool mended) {
  struct acc a;
  nai_gen_program(&a.p, plan, PID, "./laplace");
  a.kernel = nai_gen_kernel(plan, "main_40_gpu", NULL);
  move(&a, UPLOAD, LINE_OUTSIDE, "mask(:,:)", 1 << 20, 40 * US);
  if (mended) {
    allocate(&a, LINE_OUTSIDE, 60 * US);
  }
  if (mended) {
    move(&a, UPLOAD, LINE_OUTSIDE, "field(:,:)", 4 << 20, 160 * US);
  }
  /* A library's, in no directive. */
  nai_gen_wait_until(plan, a.p.thread, nai_gen_launch(plan, a.p.thread, a.p.stream, a.kernel, 10 * US));
  for (int i = 0; i < ROUNDS; i++) {
    int64_t start = nai_gen_now(plan, a.p.thread);
    if (!mended) {
      allocate(&a, LINE_LOOP, 60 * US);
      move(&a, UPLOAD, LINE_LOOP, "field(:,:)", 4 << 20, 160 * US);
    }
    launch(&a, LINE_LOOP);
    if (!mended) {
      move(&a, DOWNLOAD, LINE_LOOP, "residual", 8, 2 * US);
    }
    event(&a, "CUPTI_ACTIVITY_KIND_OPENACC_OTHER", CONSTRUCT, LINE_LOOP, start, nai_gen_now(plan, a.p.thread), NULL, 0);
  }
  fact(plan, "mask(:,:)", "0", 1, 40 * US);
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "directive_kernels",
                                            .key = "40",
                                            .value = "laplace.f90",
                                            .count = ROUNDS,
                                            .exact_ns = INT64_C(300) * US * ROUNDS});
  fact(plan, "field(:,:)", mended ? "0" : "1", mended ? 1 : ROUNDS, INT64_C(160) * US * (mended ? 1 : ROUNDS));
  if (!mended) {
    fact(plan, "residual", "1", ROUNDS, INT64_C(2) * US * ROUNDS);
    nai_gen_expect_findings(plan, "acc-data-each-iteration acc-alloc-each-iteration");
  } else {
    nai_gen_expect_no_findings(plan, "acc-data-each-iteration acc-alloc-each-iteration");
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "directive_data",
                                            .key = "work(:)",
                                            .value = mended ? "0" : "1",
                                            .count = mended ? 1 : ROUNDS,
                                            .gain_ns = INT64_C(60) * US * (mended ? 1 : ROUNDS)});
}

void nai_gen_plan_openacc(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_openacc(plan, false);
}

void nai_gen_plan_openacc_mended(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_openacc(plan, true);
}

/* --- implicit waits ------------------------------------------------------------------------------- */

/* Constructs that begin 10 us before their kernel of 40 us and return 50 us behind it: 60 us in each wait the GPU has
 * nothing to do, 50 of them of the next round. Every other one stands at another line. With async none waits, and
 * kernels follow each other. */
static void plan_waits(struct nai_gen_plan *plan, bool async) {
  struct acc a;
  nai_gen_program(&a.p, plan, PID, "./laplace");
  a.kernel = nai_gen_kernel(plan, "main_40_gpu", NULL);
  int64_t first = nai_gen_now(plan, a.p.thread) + 1000 * US;
  for (int i = 0; i < 5 * ROUNDS; i++) {
    int64_t t = first + (int64_t)i * (async ? 41 : 120) * US;
    int line = i % 4 ? LINE_LOOP : LINE_OUTSIDE;
    nai_gen_wait_until(plan, a.p.thread, t - 20 * US);
    nai_gen_launch_at(plan, a.p.thread, a.p.stream, a.kernel, t, 40 * US);
    if (!async) {
      nai_gen_synchronize(plan, a.p.thread, a.p.stream, API_STREAM_SYNC, 44 * US);
      event(&a, "CUPTI_ACTIVITY_KIND_OPENACC_OTHER", IMPLICIT_WAIT, line, t - 10 * US, t + 90 * US, NULL, 0);
    }
  }
  if (!async) { /* but before the first kernel and behind the last one */
    nai_gen_fact(plan, &(struct nai_gen_fact){.table = "directive_waits",
                                              .key = "laplace.f90",
                                              .value = "40",
                                              .count = 5 * ROUNDS,
                                              .exact_ns = INT64_C(60) * US * (5 * ROUNDS - 1)});
    nai_gen_expect_findings(plan, "acc-implicit-waits");
    return;
  }
  nai_gen_expect_no_findings(plan, "acc-implicit-waits");
}

void nai_gen_plan_openacc_waits(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_waits(plan, false);
}

void nai_gen_plan_openacc_async(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_waits(plan, true);
}
