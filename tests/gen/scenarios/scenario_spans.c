/* Captures that are not one steady run: pauses, failure, a single cold pass, and what was not recorded at all. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

#include <string.h>

static const struct nai_gen_part spacing[] = {{.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 1000}};
static const struct nai_gen_copy upload = {NAI_GEN_HTOD,     NAI_GEN_PAGEABLE, NAI_GEN_DEVICE,
                                           INT64_C(8) << 20, 900000,           false};

static void fill(const struct nai_gen_program *p, int kernel, int count, int64_t duration_ns) {
  for (int i = 0; i < count; i++) {
    nai_gen_program_gap(p, spacing, kernel, duration_ns);
  }
}

static void health(struct nai_gen_plan *plan, const char *check, const char *state) {
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "capture_health", .key = check, .value = state});
}

/* --- pause ------------------------------------------------------------------------------------ */

/* A gap in which the host waits in an OS function and then launches. */
static void pause_in(const struct nai_gen_program *p, const char *function, int64_t duration_ns, int kernel) {
  const struct nai_gen_part parts[] = {
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 20000},
      {.doing = DOING_OS_CALL, .cause = IDLE_HOST_CODE, .ns = duration_ns, .name = function},
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 30000},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2500}};
  int64_t start = nai_gen_gpu_ready(p->plan, p->stream);
  int64_t end = nai_gen_program_gap(p, parts, kernel, 150000) - 150000;
  nai_gen_span(p->plan, p->gpu, "pause", start, end);
}

void nai_gen_plan_pause(struct nai_gen_plan *plan, int64_t target_bytes) {
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 6101, "query_engine");
  int scan = nai_gen_kernel(plan, "void scan_column<int>(const T1 *, T1 *, int)", "scan_column");
  int join = nai_gen_kernel(plan, "void hash_join<int>(const T1 *, T1 *, int)", "hash_join");
  nai_gen_call(plan, p.thread, API_MALLOC, 120000000); /* creates the context */
  int64_t start = nai_gen_gap(plan, &(struct nai_gen_gap){.thread = p.thread, .stream = p.stream, .copy = &upload});
  start -= upload.duration_ns;
  for (int i = 0; i < 30; i++) {
    nai_gen_gap(plan, &(struct nai_gen_gap){
                          .thread = p.thread, .stream = p.stream, .parts = spacing, .count = 1, .copy = &upload});
  }
  nai_gen_span(plan, p.gpu, "set_up", start, nai_gen_gpu_ready(plan, p.stream));
  /* 40 ms, then half a minute, each far longer than any other gap. */
  static const struct {
    const char *function;
    int64_t ns;
  } pauses[] = {{"read", INT64_C(40000000)}, {"fgets", INT64_C(30000000000)}};
  for (int i = 0; i < 2; i++) {
    pause_in(&p, pauses[i].function, pauses[i].ns, i ? join : scan);
    start = nai_gen_gpu_ready(plan, p.stream) - 150000;
    for (int k = 0; k < 100; k++) {
      fill(&p, k % 2 ? scan : join, 1, 150000 + 10 * k);
    }
    nai_gen_span(plan, p.gpu, "active", start, nai_gen_gpu_ready(plan, p.stream));
  }
  nai_gen_synchronize(plan, p.thread, p.stream, API_DEVICE_SYNC, 0);
  for (int i = 0; i < 20; i++) { /* tear-down */
    nai_gen_call(plan, p.thread, API_FREE, 400000);
    nai_gen_call(plan, p.thread, API_MODULE_UNLOAD, 900000);
  }
  health(plan, "pauses", "note");
  health(plan, "tear_down", NULL);
  health(plan, "set_up", NULL);
}

/* --- failed ----------------------------------------------------------------------------------- */

void nai_gen_plan_failed(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const char message[] = "CANARY_SECRET_failed\nFATAL ERROR: data in PRESENT clause was not found on device 1\n";
  static const struct nai_gen_part allocate[] = {
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 3000},
      {.doing = DOING_CALL, .cause = IDLE_ALLOCATION, .ns = 12000, .api = API_DRIVER_ALLOC},
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 2000},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 5000},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 3000}};
  static const struct nai_gen_kernel_spec runtime = {"__pgi_uacc_cuda_fill", NULL, NAI_GEN_COMPUTE,
                                                     API_LAUNCH_DRIVER_OLD};
  struct nai_gen_program p;
  struct nai_gen_row row;
  (void)target_bytes;
  nai_gen_program(&p, plan, 6201, "laplace");
  int fill_kernel = nai_gen_kernel_from(plan, &runtime);
  nai_gen_kernel_shape(plan, fill_kernel, 1, 128); /* that it fills no GPU is not the program's fault */
  nai_gen_call(plan, p.thread, API_MODULE_LOAD, 2500000);
  nai_gen_call(plan, p.thread, API_DRIVER_HOST_ALLOC, 900000);
  nai_gen_follow(plan, p.thread, p.stream, fill_kernel, 2000);
  for (int i = 0; i < 60; i++) {
    nai_gen_program_gap(&p, allocate, fill_kernel, 2000);
  }
  nai_gen_diagnostic(plan, 3, "Target application terminated with signal 6 (SIGABRT)");
  nai_gen_diagnostic(plan, 2, "Not all CUDA events might have been collected.");
  nai_gen_row_start(&row, "ProcessStreams");
  nai_gen_row_int(&row, "globalPid", (INT64_C(1) << 48) | (INT64_C(6201) << 24));
  nai_gen_row_int(&row, "filenameId", nai_gen_string(plan, "CANARY_SECRET/stderr.log", 24));
  nai_gen_row_int(&row, "contentId", nai_gen_string(plan, message, strlen(message)));
  nai_gen_raw_row(plan, &row, NULL);
  health(plan, "kernels_of_the_program", "problem");
  health(plan, "did_its_work", "problem");
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "workload_evidence", .key = "framework", .value = "openacc"});
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "losses", .key = "underfilled", .absent = true});
}

/* --- cold ------------------------------------------------------------------------------------- */

void nai_gen_plan_cold(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct nai_gen_part first_use[] = {
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 40000},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 2000},
      {.doing = DOING_LAZY_LOAD, .cause = IDLE_MODULE_LOAD, .ns = 1300000},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 1000},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2500}};
  static const char *const names[] = {
      "void convolve<float, (int)3>(T1 *)", "void bias_relu<float>(T1 *)", "void max_pool<float>(T1 *)",
      "void convolve<float, (int)5>(T1 *)", "void flatten<float>(T1 *)",   "void dense<float>(T1 *)",
      "void dropout<float>(T1 *)",          "void softmax<float>(T1 *)",   "void loss<float>(T1 *)"};
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 6301, "one_pass");
  nai_gen_call(plan, p.thread, API_MALLOC, 170000000);
  nai_gen_gap(plan, &(struct nai_gen_gap){.thread = p.thread, .stream = p.stream, .copy = &upload});
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    nai_gen_program_gap(&p, first_use, nai_gen_kernel(plan, names[i], NULL), 30000 + 1000 * (int64_t)i);
  }
  nai_gen_synchronize(plan, p.thread, p.stream, API_DEVICE_SYNC, 0);
  health(plan, "steady_state", "note");
  health(plan, "first_use", "note");
  nai_gen_expect_no_findings(plan, "launch-bound");
}

/* --- nothing recorded on the GPU -------------------------------------------------------------- */

/* WSL2 without permission to read the GPU's counters: calls, but nothing they started. */
void nai_gen_plan_api_only(struct nai_gen_plan *plan, int64_t target_bytes) {
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 6401, "python3");
  nai_gen_call(plan, p.thread, API_MALLOC, 90000000);
  for (int i = 0; i < 200; i++) {
    nai_gen_call(plan, p.thread, i % 2 ? API_LAUNCH : API_LAUNCH_DRIVER_OLD, 9000);
    nai_gen_work(plan, p.thread, 30000);
    if (i % 10 == 9) {
      nai_gen_call(plan, p.thread, API_MEMCPY, 700000);
      nai_gen_call(plan, p.thread, API_DEVICE_SYNC, 1500000);
    }
  }
  nai_gen_diagnostic(plan, 2, "CUDA device activity was not collected.");
  health(plan, "gpu_activity_recorded", "problem");
}

void nai_gen_plan_nvtx_only(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  int process = nai_gen_process(plan, 6501, "detector");
  int thread = nai_gen_thread(plan, process, 6501, "detector");
  int frame = nai_gen_name(plan, "frame"), backbone = nai_gen_name(plan, "backbone");
  int centers = nai_gen_name(plan, "find_centers");
  for (int i = 0; i < 60; i++) {
    nai_gen_push(plan, thread, frame, NULL);
    nai_gen_push(plan, thread, backbone, NULL);
    nai_gen_work(plan, thread, 18000000 + 100000 * (i % 7));
    nai_gen_pop(plan, thread);
    nai_gen_push(plan, thread, centers, NULL);
    nai_gen_work(plan, thread, 32000000);
    nai_gen_pop(plan, thread);
    nai_gen_pop(plan, thread);
  }
  health(plan, "cuda_traced", "problem");
}
