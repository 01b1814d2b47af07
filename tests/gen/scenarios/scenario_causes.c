/* Idle gaps whose parts have one cause each, in exact ns: loading, profiler, launches in flight, waits for events. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

/* The usual distance between two kernels of a stream that was filled in time. */
static const struct nai_gen_part spacing[] = {{.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 1200}};

/* A launch that comes late because of the program's own code. */
static const struct nai_gen_part late[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 30000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 3500},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};

/* Kernels that the host launches in time. */
static void fill(const struct nai_gen_program *p, int kernel, int count) {
  for (int i = 0; i < count; i++) {
    nai_gen_program_gap(p, spacing, kernel, 60000);
  }
}

static const struct nai_gen_copy upload = {NAI_GEN_HTOD,     NAI_GEN_PINNED, NAI_GEN_DEVICE,
                                           INT64_C(4) << 20, 180000,         false};

/* --- launch-load ------------------------------------------------------------------------------ */

static const struct nai_gen_part first_launch[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 6000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 2000},
    {.doing = DOING_LOAD, .cause = IDLE_MODULE_LOAD, .ns = 16000000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 1000},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2500},
};

static const struct nai_gen_part lazy_launch[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 2000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 1500},
    {.doing = DOING_LAZY_LOAD, .cause = IDLE_MODULE_LOAD, .ns = 180000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 700},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 1800},
};

static const struct nai_gen_part load_call[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_MODULE_LOAD, .ns = 4000}, /* compiles what is loaded */
    {.doing = DOING_CALL, .cause = IDLE_MODULE_LOAD, .ns = 900000, .api = API_MODULE_LOAD},
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 3000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 3500},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};

void nai_gen_plan_launch_load(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const char *const names[] = {"void prepare<float>(T1 *, int)", "void smooth<float>(T1 *, int)",
                                      "void restrict_grid<float>(T1 *, int)", "void prolong<float>(T1 *, int)",
                                      "void norm<float>(T1 *, int)"};
  enum { KERNELS = sizeof names / sizeof names[0] };
  struct nai_gen_program p;
  int kernels[KERNELS];
  (void)target_bytes;
  nai_gen_program(&p, plan, 5101, "multigrid");
  for (int i = 0; i < KERNELS; i++) {
    kernels[i] = nai_gen_kernel(plan, names[i], NULL);
  }
  int64_t uploaded = nai_gen_gap(plan, &(struct nai_gen_gap){.thread = p.thread, .stream = p.stream, .copy = &upload});
  int64_t begun = nai_gen_program_gap(&p, first_launch, kernels[0], 80000) - 80000;
  nai_gen_span(plan, p.gpu, "set_up", uploaded - upload.duration_ns, uploaded);
  nai_gen_span(plan, p.gpu, "pause", uploaded, begun);
  for (int i = 1; i < KERNELS; i++) {
    fill(&p, kernels[i - 1], 40);
    nai_gen_program_gap(&p, lazy_launch, kernels[i], 80000);
  }
  for (int i = 0; i < 3; i++) {
    fill(&p, kernels[i], 20);
    nai_gen_program_gap(&p, load_call, kernels[4], 80000);
  }
  fill(&p, kernels[4], 20);
  nai_gen_span(plan, p.gpu, "active", begun, nai_gen_gpu_ready(plan, p.stream));
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "capture_health", .key = "first_use", .value = "note"});
}

/* --- profiler-flush --------------------------------------------------------------------------- */

static const struct nai_gen_part flush_here[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 2000},
    {.doing = DOING_FLUSH, .cause = IDLE_PROFILER, .ns = 600000},
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 1000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 3000},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};

/* The launch call takes so long because the profiler's thread flushes. */
static const struct nai_gen_part flush_in_launch[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 5000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
    {.doing = DOING_FLUSH_BESIDE, .cause = IDLE_PROFILER, .ns = 1500000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 10000},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};

static const struct nai_gen_part flush_beside_code[] = {
    {.doing = DOING_FLUSH_BESIDE, .cause = IDLE_PROFILER, .ns = 250000},
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 40000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 3000},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};

/* Bookkeeping that goes on all the time and stops nobody. */
static const struct nai_gen_part bookkeeping[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 4000},
    {.doing = DOING_FLUSH, .cause = IDLE_HOST_CODE, .ns = 20000, .name = "TLS allocation"},
    {.doing = DOING_FLUSH, .cause = IDLE_HOST_CODE, .ns = 9000, .name = "Chunk Allocation"},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 3000},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};

void nai_gen_plan_profiler_flush(struct nai_gen_plan *plan, int64_t target_bytes) {
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 5201, "solver");
  int worker = nai_gen_thread(plan, p.process, 5210, "CUPTI worker");
  int kernel = nai_gen_kernel(plan, "void solve<double>(T1 *, const T1 *, int)", "solve");
#define BESIDE(parts_)                                                                      \
  nai_gen_gap(plan, &(struct nai_gen_gap){.thread = p.thread,                               \
                                          .stream = p.stream,                               \
                                          .beside = worker,                                 \
                                          .parts = parts_,                                  \
                                          .count = (int)(sizeof parts_ / sizeof parts_[0]), \
                                          .kernel = kernel,                                 \
                                          .duration_ns = 300000})
  nai_gen_follow(plan, p.thread, p.stream, kernel, 300000);
  for (int i = 0; i < 6; i++) {
    fill(&p, kernel, 50);
    nai_gen_program_gap(&p, flush_here, kernel, 300000);
    /* While the GPU works, a flush costs nothing. */
    nai_gen_work(plan, p.thread, 50000);
    nai_gen_profiler_overhead(plan, p.thread, 20000);
    fill(&p, kernel, 50);
    BESIDE(flush_in_launch);
    fill(&p, kernel, 50);
    BESIDE(flush_beside_code);
    nai_gen_program_gap(&p, bookkeeping, kernel, 300000);
  }
#undef BESIDE
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "capture_health", .key = "profiler", .value = "note"});
}

/* --- launch-in-flight ------------------------------------------------------------------------- */

static const struct nai_gen_part in_flight[] = {
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 10000},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};

static const struct nai_gen_part begun_in_gap[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 5000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 12000},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};

/* The kernel starts before its launch call returns. */
static const struct nai_gen_part inside_call[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 3000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 9000},
};

/* A pageable copy that waits for the kernels, notices their end late and stages its data. */
static const struct nai_gen_part staging[] = {{.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 25000}};

/* What follows a copy that returns 2 us after its end and left the queue empty. */
static const struct nai_gen_part after_copy[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_BLOCKING_CALL, .ns = 2000},
    {.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = 6000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};

void nai_gen_plan_launch_in_flight(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct nai_gen_copy download = {NAI_GEN_DTOH,     NAI_GEN_DEVICE, NAI_GEN_PAGEABLE,
                                               INT64_C(1) << 20, 330000,         true};
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 5301, "stencil");
  int kernel = nai_gen_kernel(plan, "void stencil<float, (int)5>(T1 *, const T1 *, int)", "stencil");
  nai_gen_follow(plan, p.thread, p.stream, kernel, 80000);
  for (int i = 0; i < 20; i++) {
    nai_gen_gap(plan, &(struct nai_gen_gap){.thread = p.thread,
                                            .stream = p.stream,
                                            .lead_ns = 20000,
                                            .parts = in_flight,
                                            .count = 2,
                                            .kernel = kernel,
                                            .duration_ns = 80000});
    nai_gen_program_gap(&p, begun_in_gap, kernel, 80000);
    nai_gen_program_gap(&p, inside_call, kernel, 4000000);
    fill(&p, kernel, 30);
    nai_gen_gap(plan, &(struct nai_gen_gap){.thread = p.thread,
                                            .stream = p.stream,
                                            .lead_ns = 1200000,
                                            .parts = staging,
                                            .count = 1,
                                            .copy = &download});
    nai_gen_program_gap(&p, after_copy, kernel, 4000000);
    fill(&p, kernel, 30);
  }
}

/* --- dependency ------------------------------------------------------------------------------- */

static const struct nai_gen_part waits_for_event[] = {
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_DEPENDENCY, .ns = 60000}};
static const struct nai_gen_part waits_for_nothing[] = {
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_UNKNOWN, .ns = 45000}};
static const struct nai_gen_part slow_start[] = {
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 15000}};

void nai_gen_plan_dependency(struct nai_gen_plan *plan, int64_t target_bytes) {
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 5401, "pipeline");
  int consumer = nai_gen_stream(plan, 0, 13);
  int produce = nai_gen_kernel(plan, "void produce<float>(T1 *, int)", "produce");
  int consume = nai_gen_kernel(plan, "void consume<float>(const T1 *, int)", "consume");
  nai_gen_follow(plan, p.thread, p.stream, produce, 400000);
  for (int i = 0; i < 25; i++) {
    nai_gen_wait_event(plan, p.thread, consumer, p.stream, 40 + i);
    nai_gen_gap(plan, &(struct nai_gen_gap){.thread = p.thread,
                                            .stream = consumer,
                                            .parts = waits_for_event,
                                            .count = 1,
                                            .kernel = consume,
                                            .duration_ns = 250000});
    nai_gen_program_gap(&p, late, produce, 300000);
    nai_gen_program_gap(&p, waits_for_nothing, produce, 300000);
    nai_gen_program_gap(&p, slow_start, produce, 300000);
    fill(&p, produce, 3);
  }
}
