/* Losses in a steady state with a known price: waits that drain the queue, allocations, tiny copies, two modes. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

static const struct nai_gen_part spacing[] = {{.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 1000}};

/* Kernels that the host launches in time. */
static void fill(const struct nai_gen_program *p, int kernel, int count, int64_t duration_ns) {
  for (int i = 0; i < count; i++) {
    nai_gen_program_gap(p, spacing, kernel, duration_ns);
  }
}

/* --- drained-queue ---------------------------------------------------------------------------- */

enum { BLOCKS = 12, LATE_LAUNCHES = 7, SAVED_BLOCK = 5 };

/* The host waits for all that it launched. Four parts: the end of the wait, what follows until the next launch, the
 * launch, and its latency. */
static void wait_for_all(const struct nai_gen_program *p, const struct nai_gen_part *parts, int kernel) {
  int64_t queued_ns = nai_gen_gpu_ready(p->plan, p->stream) - nai_gen_now(p->plan, p->thread) - 1000;
  nai_gen_gap(p->plan, &(struct nai_gen_gap){.thread = p->thread,
                                             .stream = p->stream,
                                             .lead_ns = queued_ns,
                                             .parts = parts,
                                             .count = 4,
                                             .kernel = kernel,
                                             .duration_ns = 6000});
}

/* The host waits, then writes a file for so long that the next launch is late for that, not for the wait. */
static void save(const struct nai_gen_program *p, int kernel) {
  static const struct nai_gen_part writing[] = {
      {.doing = DOING_CALL, .cause = IDLE_BLOCKING_CALL, .ns = 4000, .api = API_STREAM_SYNC},
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 12000000},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2500}};
  wait_for_all(p, writing, kernel);
}

/* Blocks of kernels in which the CPU leads by milliseconds, until a copy of 8 bytes makes it wait for all of them: the
 * launches after the wait come late until a long kernel lets the CPU lead again. */
static void drain(const struct nai_gen_program *p, const int *kernels) {
  static const struct nai_gen_copy scalar = {NAI_GEN_HTOD, NAI_GEN_PAGEABLE, NAI_GEN_DEVICE, 8, 1400, false};
  static const struct nai_gen_part first[] = {
      {.doing = DOING_CALL, .cause = IDLE_BLOCKING_CALL, .ns = 4000, .api = API_STREAM_SYNC},
      {.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = 21000},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2500}};
  static const struct nai_gen_part next[] = {{.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = 9000},
                                             {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 3500},
                                             {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2500}};
  nai_gen_gap(p->plan, &(struct nai_gen_gap){
                           .thread = p->thread, .stream = p->stream, .parts = spacing, .count = 1, .copy = &scalar});
  wait_for_all(p, first, kernels[0]);
  for (int i = 0; i < LATE_LAUNCHES; i++) {
    nai_gen_program_gap(p, next, kernels[i % 2], 6000);
  }
}

void nai_gen_plan_drained_queue(struct nai_gen_plan *plan, int64_t target_bytes) {
  /* Not after a wait: the host was busy with something else, and the queue ran dry. */
  static const struct nai_gen_part busy_host[] = {
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 700000},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2500}};
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 5501, "python3");
  const int kernels[] = {nai_gen_kernel(plan, "void at::native::vectorized_elementwise_kernel<(int)4, scale>(int)",
                                        NULL),
                         nai_gen_kernel(plan, "void at::native::vectorized_layer_norm_kernel<float>(int)", NULL),
                         nai_gen_kernel(plan, "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT", NULL)};
  int block = nai_gen_name(plan, "transformer_block"), to = nai_gen_name(plan, "aten::to");
  nai_gen_follow(plan, p.thread, p.stream, kernels[2], 400000);
  for (int i = 0; i < BLOCKS; i++) {
    nai_gen_push(plan, p.thread, block, NULL);
    fill(&p, kernels[2], 30, 200000);
    nai_gen_program_gap(&p, busy_host, kernels[1], 400000);
    fill(&p, kernels[2], 30, 200000);
    nai_gen_push(plan, p.thread, to, NULL);
    drain(&p, kernels);
    nai_gen_pop(plan, p.thread);
    nai_gen_program_gap(&p, spacing, kernels[2], 5000000);
    if (i == SAVED_BLOCK) {
      save(&p, kernels[0]);
    }
    nai_gen_pop(plan, p.thread);
  }
}

/* --- alloc-churn ------------------------------------------------------------------------------ */

void nai_gen_plan_alloc_churn(struct nai_gen_plan *plan, int64_t target_bytes) {
  /* cudaFree waits for the kernel and releases its memory; cudaMalloc follows at once. */
  static const struct nai_gen_part blocking[] = {
      {.doing = DOING_CALL, .cause = IDLE_ALLOCATION, .ns = 35000, .api = API_FREE},
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 1500},
      {.doing = DOING_CALL, .cause = IDLE_ALLOCATION, .ns = 80000, .api = API_MALLOC},
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 800},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 3500},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000}};
  /* A pool that grows again every time. */
  static const struct nai_gen_part pool[] = {
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 2000},
      {.doing = DOING_CALL, .cause = IDLE_ALLOCATION, .ns = 310000, .api = API_MALLOC_ASYNC},
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 800},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 3500},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000}};
  enum { ITERATIONS = 60 };
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 5601, "tri_solve");
  int factor = nai_gen_kernel(plan, "void factor_block<double>(T1 *, int)", "factor_block");
  int solve = nai_gen_kernel(plan, "void solve_block<double>(T1 *, const T1 *, int)", "solve_block");
  nai_gen_follow(plan, p.thread, p.stream, factor, 150000);
  for (int i = 0; i < ITERATIONS; i++) {
    nai_gen_gap(plan, &(struct nai_gen_gap){.thread = p.thread,
                                            .stream = p.stream,
                                            .lead_ns = 100000,
                                            .parts = blocking,
                                            .count = 6,
                                            .kernel = solve,
                                            .duration_ns = 220000});
    nai_gen_program_gap(&p, pool, factor, 150000);
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "losses", .key = "allocation"});
}

/* --- row-loop --------------------------------------------------------------------------------- */

void nai_gen_plan_row_loop(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct nai_gen_copy values = {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, 4096, 1300, false};
  /* What a row needs before its values can be copied. */
  static const struct nai_gen_part prepare[] = {
      {.doing = DOING_CALL, .cause = IDLE_BLOCKING_CALL, .ns = 4000, .api = API_STREAM_SYNC},
      {.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = 1500},
      {.doing = DOING_CALL, .cause = IDLE_ALLOCATION, .ns = 7000, .api = API_MALLOC},
      {.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = 700},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 9000},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 1500}};
  static const struct nai_gen_part copy[] = {{.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = 900},
                                             {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 6000},
                                             {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 1500}};
  enum { ROWS = 400 };
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 5651, "assemble");
  int fill_row = nai_gen_kernel(plan, "void fill_row<double>(T1 *, int)", "fill_row");
  int row = nai_gen_name(plan, "row");
  nai_gen_follow(plan, p.thread, p.stream, fill_row, 100000);
  for (int i = 0; i < ROWS; i++) {
    nai_gen_push(plan, p.thread, row, NULL);
    int64_t queued_ns = nai_gen_gpu_ready(plan, p.stream) - nai_gen_now(plan, p.thread) - 200;
    nai_gen_gap(plan, &(struct nai_gen_gap){.thread = p.thread,
                                            .stream = p.stream,
                                            .lead_ns = queued_ns,
                                            .parts = prepare,
                                            .count = 6,
                                            .kernel = fill_row,
                                            .duration_ns = 1200});
    nai_gen_gap(plan, &(struct nai_gen_gap){
                          .thread = p.thread, .stream = p.stream, .parts = copy, .count = 3, .copy = &values});
    nai_gen_pop(plan, p.thread);
  }
}

/* --- tiny-copies ------------------------------------------------------------------------------ */

void nai_gen_plan_tiny_copies(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct nai_gen_copy flag = {NAI_GEN_DTOH, NAI_GEN_DEVICE, NAI_GEN_PAGEABLE, 8, 1300, false};
  static const struct nai_gen_copy matrix = {NAI_GEN_HTOD,     NAI_GEN_PINNED, NAI_GEN_DEVICE,
                                             INT64_C(8) << 20, 350000,         false};
  static const struct nai_gen_part wait[] = {
      {.doing = DOING_CALL, .cause = IDLE_BLOCKING_CALL, .ns = 5000, .api = API_STREAM_SYNC},
      {.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = 12000},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000}};
  enum { ITERATIONS = 50 };
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 5701, "conjugate_gradient");
  int multiply = nai_gen_kernel(plan, "void spmv<double>(T1 *, const T1 *, const int *, int)", "spmv");
  int iteration = nai_gen_name(plan, "iteration");
  nai_gen_follow(plan, p.thread, p.stream, multiply, 200000);
  for (int i = 0; i < ITERATIONS; i++) {
    nai_gen_push(plan, p.thread, iteration, NULL);
    fill(&p, multiply, 20, 100000);
    nai_gen_gap(plan, &(struct nai_gen_gap){
                          .thread = p.thread, .stream = p.stream, .parts = spacing, .count = 1, .copy = &flag});
    int64_t queued_ns = nai_gen_gpu_ready(plan, p.stream) - nai_gen_now(plan, p.thread) - 1000;
    /* The matrix has not changed since the last iteration. */
    nai_gen_gap(
        plan,
        &(struct nai_gen_gap){
            .thread = p.thread, .stream = p.stream, .lead_ns = queued_ns, .parts = wait, .count = 4, .copy = &matrix});
    nai_gen_pop(plan, p.thread);
  }
  /* All idle time and these copies themselves, not the work that the host queued before them. */
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "losses",
                                            .key = "tiny_copies",
                                            .count = ITERATIONS,
                                            .at_most_ns = ITERATIONS * (INT64_C(44000) + 1300)});
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "losses", .key = "copies_on_compute_stream"});
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "losses", .key = "repeated_copies"});
}

/* --- bimodal ---------------------------------------------------------------------------------- */

void nai_gen_plan_bimodal(struct nai_gen_plan *plan, int64_t target_bytes) {
  enum { PAIRS = 17 };
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 5801, "attention");
  /* Self- and cross-attention: one name and one grid, two lengths. */
  int attention = nai_gen_kernel(
      plan, "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128>>(flash::Flash_fwd_params)",
      "flash_fwd_kernel");
  /* One name, two grids, one length each. */
  int wide = nai_gen_kernel(plan, "void transpose<float>(T1 *, const T1 *, int)", "transpose");
  int narrow = nai_gen_kernel(plan, "void transpose<float>(T1 *, const T1 *, int)", "transpose");
  nai_gen_kernel_shape(plan, attention, 1464, 128);
  nai_gen_kernel_shape(plan, wide, 4096, 256);
  nai_gen_kernel_shape(plan, narrow, 256, 256);
  nai_gen_follow(plan, p.thread, p.stream, wide, 2000000);
  for (int i = 0; i < PAIRS; i++) {
    fill(&p, attention, 1, 7870000 + 1000 * (i % 5));
    fill(&p, narrow, 1, 130000 + 100 * (i % 3));
    fill(&p, attention, 1, 150000 + 200 * (i % 5));
    fill(&p, wide, 1, 2000000 + 500 * (i % 3));
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){
                         .table = "losses", .key = "bimodal", .value = "flash_fwd_kernel", .count = 2 * PAIRS});
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "losses", .key = "bimodal", .value = "transpose", .absent = true});
}

/* --- long-calls ------------------------------------------------------------------------------- */

void nai_gen_plan_long_calls(struct nai_gen_plan *plan, int64_t target_bytes) {
  /* Without a gap between the usual and the long ones that would make two modes. */
  static const int64_t long_ns[] = {1300000,  2600000,  7100000,  7200000, 12000000,
                                    17000000, 26000000, 35000000, 48000000};
  enum { LONG = sizeof long_ns / sizeof *long_ns, SHORTER = 2, USUAL = 400, GROWING = 16 };
  struct nai_gen_program p;
  int64_t all_ns = 0;
  (void)target_bytes;
  nai_gen_program(&p, plan, 5901, "search");
  int search = nai_gen_kernel(plan, "void search_tree<int>(const T1 *, T1 *, int)", "search_tree");
  /* More blocks explain longer calls. */
  int wide = nai_gen_kernel(plan, "void expand<int>(T1 *, const T1 *, int)", "expand");
  int narrow = nai_gen_kernel(plan, "void expand<int>(T1 *, const T1 *, int)", "expand");
  /* Data that grows along the capture explains them, too. */
  int sweep = nai_gen_kernel(plan, "void sweep_sizes<double>(T1 *, const T1 *, int)", "sweep_sizes");
  nai_gen_kernel_shape(plan, search, 1024, 256);
  nai_gen_kernel_shape(plan, sweep, 1024, 256);
  nai_gen_kernel_shape(plan, wide, 8192, 256);
  nai_gen_kernel_shape(plan, narrow, 256, 256);
  nai_gen_follow(plan, p.thread, p.stream, search, 490000);
  for (int i = 0; i < USUAL; i++) {
    fill(&p, search, 1, 490000 + 500 * (i % 7));
    fill(&p, narrow, 1, 100000 + 100 * (i % 3));
    fill(&p, sweep, 1, 200000 + 100 * (i % 5));
    if (i % 40 == 39)
      fill(&p, wide, 1, 2000000);
  }
  for (int i = 0; i < LONG; i++) {
    fill(&p, search, 1, long_ns[i]);
    all_ns += i < SHORTER ? 0 : long_ns[i];
  }
  for (int64_t i = 0, ns = 250000; i < GROWING; i++, ns = ns * 27 / 20)
    fill(&p, sweep, 1, ns);
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "losses",
                                            .key = "long_calls",
                                            .value = "search_tree",
                                            .count = LONG - SHORTER,
                                            .at_most_ns = all_ns});
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "losses", .key = "long_calls", .value = "expand", .absent = true});
  nai_gen_fact(plan,
               &(struct nai_gen_fact){.table = "losses", .key = "long_calls", .value = "sweep_sizes", .absent = true});
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "losses", .key = "bimodal", .absent = true});
}
