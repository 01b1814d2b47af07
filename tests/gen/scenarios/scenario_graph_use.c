/* How CUDA graphs are made and used, with known prices: captured under ranges, made anew every time, too small, not
 * used. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

struct program {
  struct nai_gen_plan *plan;
  int thread, stream;
};

/* The first work is a kernel outside of graphs. */
static struct program open_program(struct nai_gen_plan *plan, int pid) {
  nai_gen_even_shapes(plan);
  int process = nai_gen_process(plan, pid, "server"), thread = nai_gen_thread(plan, process, pid, "server");
  int context = nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0));
  int stream = nai_gen_stream(plan, context, 7);
  nai_gen_launch_at(plan, thread, stream, nai_gen_kernel(plan, "void first(float *)", NULL),
                    nai_gen_now(plan, thread) + 9000, 50000);
  nai_gen_wait_until(plan, thread, nai_gen_ready(plan, stream) + 1000);
  return (struct program){plan, thread, stream};
}

/* --- graph-capture ------------------------------------------------------------------------------- */

enum { CAPTURED = 5, EXECUTABLE = 9, NODES = 6, REPLAYS = 40, NODE_NS = 20000, GAP_NS = 5000 };

static void capture_in(const struct program *p, const char *range, int first, int count) {
  nai_gen_push(p->plan, p->thread, nai_gen_name(p->plan, range), NULL);
  for (int i = 0; i < count; i++) {
    nai_gen_graph_capture(p->plan, p->thread, CAPTURED, first + i);
  }
  nai_gen_pop(p->plan, p->thread);
}

/* Nodes 0 and 1 are captured in one range, 2 in another, 3 in none; of 4 nothing is recorded, of 5 two creations. */
void nai_gen_plan_graph_capture(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct program p = open_program(plan, 8101);
  struct nai_gen_node nodes[NODES];
  for (int i = 0; i < NODES; i++) {
    nodes[i] = (struct nai_gen_node){nai_gen_kernel(plan, i % 2 ? "void scale(float *)" : "void shift(float *)", NULL),
                                     NODE_NS};
  }
  capture_in(&p, "attention", 0, 2);
  capture_in(&p, "mlp", 2, 1);
  nai_gen_graph_capture(plan, p.thread, CAPTURED, 3);
  nai_gen_graph_capture(plan, p.thread, CAPTURED, 5);
  nai_gen_graph_capture(plan, p.thread, CAPTURED, 5);
  nai_gen_call(plan, p.thread, API_GRAPH_INSTANTIATE, 300000);
  for (int i = 0; i < NODES; i++) {
    if (i != 4) {
      nai_gen_graph_clone(plan, p.thread, CAPTURED, EXECUTABLE, i);
    }
  }
  int64_t at = nai_gen_now(plan, p.thread) + 100000;
  for (int i = 0; i < REPLAYS; i++) {
    nai_gen_wait_until(plan, p.thread, at - 30000);
    at = nai_gen_graph_replay(plan, &(struct nai_gen_replay){.thread = p.thread,
                                                             .stream = p.stream,
                                                             .graph_id = EXECUTABLE,
                                                             .nodes = nodes,
                                                             .count = NODES,
                                                             .api_ns = 9000,
                                                             .start_ns = at,
                                                             .gap_ns = GAP_NS}) +
         2000;
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "graph_ranges",
                                            .key = "attention",
                                            .value = "range",
                                            .count = 2 * REPLAYS,
                                            .exact_ns = INT64_C(2) * REPLAYS * NODE_NS});
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "graph_ranges",
                                            .key = "mlp",
                                            .value = "range",
                                            .count = REPLAYS,
                                            .exact_ns = INT64_C(1) * REPLAYS * NODE_NS});
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "graphs",
                                            .key = "node",
                                            .count = REPLAYS,
                                            .exact_ns = INT64_C(1) * REPLAYS * (NODES - 1) * GAP_NS});
  nai_gen_expect_findings(plan, "graph-gaps");
  nai_gen_expect_no_findings(plan, "graph-reinstantiated graph-too-small");
}

/* --- graph-churn --------------------------------------------------------------------------------- */

enum { ROUNDS = 60, INSTANTIATE_NS = 400000 };

/* A graph that is made anew for every launch while the GPU waits. */
void nai_gen_plan_graph_churn(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct program p = open_program(plan, 8201);
  for (int i = 0; i < ROUNDS; i++) {
    nai_gen_call(plan, p.thread, API_GRAPH_INSTANTIATE, INSTANTIATE_NS);
    int64_t start = nai_gen_now(plan, p.thread) + 12000;
    nai_gen_wait_until(plan, p.thread, nai_gen_graph_at(plan, p.thread, p.stream, 30 + i, 9000, start, 200000) + 1000);
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "graph_calls",
                                            .key = "instantiate",
                                            .count = ROUNDS,
                                            .exact_ns = INT64_C(1) * ROUNDS * INSTANTIATE_NS});
  nai_gen_expect_findings(plan, "graph-reinstantiated graph-envelope-only");
  nai_gen_expect_no_findings(plan, "graph-too-small graph-gaps");
}

/* --- graph-small --------------------------------------------------------------------------------- */

enum { SMALL = 21, SMALL_LAUNCHES = 1000 };

/* A graph of three nodes, launched 40,000 times a second: the GPU waits 9 us for each launch. */
void nai_gen_plan_graph_small(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct program p = open_program(plan, 8251);
  for (int node = 0; node < 3; node++) {
    nai_gen_graph_capture(plan, p.thread, SMALL, node);
  }
  int64_t at = nai_gen_now(plan, p.thread) + 100000;
  for (int i = 0; i < SMALL_LAUNCHES; i++, at += 25000) {
    nai_gen_wait_until(plan, p.thread, at - 9000);
    nai_gen_graph_at(plan, p.thread, p.stream, SMALL, 8000, at, 15000);
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "graph_calls",
                                            .key = "launch",
                                            .value = "cudaGraphLaunch",
                                            .count = SMALL_LAUNCHES,
                                            .exact_ns = SMALL_LAUNCHES * INT64_C(8000)});
  nai_gen_expect_findings(plan, "graph-too-small graph-envelope-only");
  nai_gen_expect_no_findings(plan, "graph-reinstantiated graph-gaps");
}

/* --- launch-storm -------------------------------------------------------------------------------- */

enum { PASSES = 20, KERNELS = 50 };

/* 50 kernels of 2 us, each launched 4 us after the one before has ended, behind an allocation; then 50 kernels of 20 us
 * that are launched in time, for which a graph wins nothing. */
void nai_gen_plan_launch_storm(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct nai_gen_part late[] = {{.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 500},
                                             {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 3000},
                                             {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 500}};
  static const struct nai_gen_part first[] = {
      {.doing = DOING_CALL, .cause = IDLE_ALLOCATION, .ns = 5000, .api = API_MALLOC_ASYNC},
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 1000},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 3000},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 500}};
  static const struct nai_gen_part in_time[] = {
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 1000}};
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 8301, "server");
  int small = nai_gen_kernel(plan, "void axpy<float>(float *, const float *, int)", NULL);
  int large = nai_gen_kernel(plan, "void spmv<float>(float *, const float *, int)", NULL);
  nai_gen_follow(plan, p.thread, p.stream, large, 500000);
  for (int pass = 0; pass < PASSES; pass++) {
    nai_gen_program_gap(&p, first, small, 2000);
    for (int i = 1; i < KERNELS; i++) {
      nai_gen_program_gap(&p, late, small, 2000);
    }
  }
  for (int pass = 0; pass < PASSES; pass++) {
    nai_gen_program_gap(&p, first, large, 500000);
    for (int i = 1; i < KERNELS; i++) {
      nai_gen_program_gap(&p, in_time, large, 20000);
    }
  }
  /* Each gap but a pass's first shrinks from 4 us to 1 us; a launch of the graph costs 10 us and 50 ns per node. */
  nai_gen_fact(plan,
               &(struct nai_gen_fact){.table = "graph_savings",
                                      .key = "void axpy<float>(float *, const float *, int)",
                                      .count = PASSES,
                                      .exact_ns = PASSES * ((KERNELS - 1) * INT64_C(3000) - 10000 - KERNELS * 50)});
}
