/* NVTX in every shape: nested, recursive, start/end, across threads, open, crossing, in domains. */
#include <stdio.h>

#include "gen/scenario.h"

enum { APP_DOMAIN = 5 };

struct annotated {
  struct nai_gen_plan *plan;
  int main, worker, io;
  int stream;
  int small, big;
};

static void launch(struct annotated *a, int thread, int kernel, int64_t duration_ns) {
  nai_gen_launch(a->plan, thread, a->stream, kernel, nai_gen_rng_vary(nai_gen_rng(a->plan), duration_ns, 10));
}

static void open_program(struct annotated *a, struct nai_gen_plan *plan, int pid, int gpu, const char *domain) {
  a->plan = plan;
  int process = nai_gen_process(plan, pid, "trainer");
  a->main = nai_gen_thread(plan, process, pid, "trainer");
  a->worker = nai_gen_thread(plan, process, pid + 1, "worker");
  a->io = nai_gen_thread(plan, process, pid + 2, "io");
  a->stream = nai_gen_stream(plan, nai_gen_context(plan, process, gpu, 1 + gpu, nai_gen_gpu(plan, gpu)), 7 + 8 * gpu);
  a->small = nai_gen_kernel(plan, "void small_step<float>(T1 *)", "small_step");
  a->big = nai_gen_kernel(plan, "void big_step<float>(T1 *)", "big_step");
  nai_gen_domain(plan, a->main, APP_DOMAIN, domain);
}

/* step > layer > layer: the inner instance adds nothing to the outermost total. */
static void run_recursion(struct annotated *a) {
  int step = nai_gen_name(a->plan, "step");
  int layer = nai_gen_name(a->plan, "layer");
  nai_gen_push(a->plan, a->main, step, NULL);
  nai_gen_push(a->plan, a->main, layer, NULL);
  launch(a, a->main, a->big, 60000);
  nai_gen_push(a->plan, a->main, layer, NULL);
  launch(a, a->main, a->small, 20000);
  nai_gen_pop(a->plan, a->main);
  nai_gen_pop(a->plan, a->main);
  launch(a, a->main, a->small, 15000);
  nai_gen_pop(a->plan, a->main);
}

static void run_operators(struct annotated *a, int round) {
  static const char *const operators[] = {"aten::mm", "aten::add_", "aten::relu"};
  char suffix[96];
  for (int i = 0; i < 3; i++) {
    int number = 10 * round + i;
    if (i == 0) {
      snprintf(suffix, sizeof suffix, ", op_id = %d", number);
    } else if (i == 1) {
      snprintf(suffix, sizeof suffix, ", seq = %d, op_id = 77", number);
    } else {
      snprintf(suffix, sizeof suffix, ", sizes = [[%d, 64], []]", number);
    }
    nai_gen_push(a->plan, a->main, nai_gen_name(a->plan, operators[i]), suffix);
    launch(a, a->main, a->small, 12000);
    nai_gen_pop(a->plan, a->main);
  }
}

/* The same name inline in the default domain and through StringIds in another one. */
static void run_domains(struct annotated *a) {
  int name = nai_gen_name(a->plan, "evaluate");
  nai_gen_push(a->plan, a->main, name, NULL);
  launch(a, a->main, a->big, 50000);
  nai_gen_pop(a->plan, a->main);
  nai_gen_push_id(a->plan, a->main, name, APP_DOMAIN);
  launch(a, a->main, a->big, 40000);
  nai_gen_pop(a->plan, a->main);
}

/* Start/end ranges: around push/pop, overlapping each other, ended by another thread. Where two
 * would claim a launch without one enclosing the other, nothing is launched. */
static void run_start_end(struct annotated *a) {
  int request = nai_gen_name(a->plan, "request");
  int transfer = nai_gen_name(a->plan, "async_transfer");
  int evaluate = nai_gen_name(a->plan, "async_evaluate");
  int chunk = nai_gen_name(a->plan, "chunk");
  int outer = nai_gen_range_start(a->plan, a->worker, request);
  launch(a, a->worker, a->small, 9000);
  nai_gen_push(a->plan, a->worker, chunk, NULL);
  launch(a, a->worker, a->big, 45000);
  nai_gen_pop(a->plan, a->worker);
  nai_gen_wait_until(a->plan, a->main, nai_gen_now(a->plan, a->worker) + 5000);
  nai_gen_range_end(a->plan, outer, a->main);
  nai_gen_wait_until(a->plan, a->worker, nai_gen_now(a->plan, a->main) + 2000);

  int first = nai_gen_range_start(a->plan, a->io, transfer);
  launch(a, a->io, a->small, 11000);
  int second = nai_gen_range_start(a->plan, a->io, evaluate);
  nai_gen_work(a->plan, a->io, 7000);
  nai_gen_range_end(a->plan, first, a->io);
  launch(a, a->io, a->small, 13000);
  nai_gen_range_end(a->plan, second, a->io);
  launch(a, a->io, a->small, 8000); /* inside no range */
}

static void add_raw(struct annotated *a, int type, const char *text) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "NVTX_EVENTS");
  nai_gen_row_int(&row, "start", 950000000);
  nai_gen_row_int(&row, "eventType", type);
  nai_gen_row_int(&row, "category", 2);
  nai_gen_row_text(&row, "text", text);
  nai_gen_row_int(&row, "globalTid", (INT64_C(1) << 48) | (INT64_C(3001) << 24) | 3001);
  nai_gen_row_int(&row, "domainId", 0);
  nai_gen_raw_row(a->plan, &row, NULL);
}

void nai_gen_plan_nvtx_mix(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct annotated programs[2];
  open_program(&programs[0], plan, 3001, 0, "app.training");
  open_program(&programs[1], plan, 3101, 1, "app.evaluation");
  for (int round = 0; round < nai_gen_scaled(plan, 10); round++) {
    for (int i = 0; i < 2; i++) {
      struct annotated *a = &programs[i];
      run_recursion(a);
      run_operators(a, round);
      run_domains(a);
      nai_gen_mark(plan, a->main, nai_gen_name(plan, "checkpoint"));
      run_start_end(a);
      nai_gen_wait_until(plan, a->main, nai_gen_ready(plan, a->stream));
      nai_gen_wait_until(plan, a->worker, nai_gen_now(plan, a->main));
      nai_gen_wait_until(plan, a->io, nai_gen_now(plan, a->main));
    }
  }
  struct annotated *a = &programs[0];
  nai_gen_push(plan, a->main, nai_gen_name(plan, ""), NULL);
  launch(a, a->main, a->small, 10000);
  nai_gen_pop(plan, a->main);
  nai_gen_crossing(plan, a->io, nai_gen_name(plan, "crossing_a"), nai_gen_name(plan, "crossing_b"), 40000);
  /* Left open at the end of the capture. */
  nai_gen_push(plan, a->worker, nai_gen_name(plan, "shutdown"), NULL);
  launch(a, a->worker, a->big, 55000);
  nai_gen_range_start(plan, a->io, nai_gen_name(plan, "session"));
  add_raw(a, 33, "a category");
  add_raw(a, 39, "named thread");
  nai_gen_expect_no_findings(plan, "no-nvtx exposed-copy low-nvtx-coverage");
  nai_gen_caveat(plan, "open-ranges");
  nai_gen_caveat(plan, "crossing-ranges");
}
