/* Training and inference steps whose boundaries, states and outliers are planned, and repetitions that are no steps. */
#include "gen/scenario.h"
#include "gen/steps.h"
#include "gen/truth/answers.h"

#include <stdio.h>

enum {
  STEPS = 12,
  LAYERS = 4,
  LAYER_KERNELS = 9,
  STEP_KERNELS = 1 + LAYERS * LAYER_KERNELS + 3, /* embedding; loss, two of the optimizer */
  EXTRA = STEP_KERNELS,                          /* of the first step */
  DISTANCE_NS = 1200,
  STALL_NS = 5000000
};

/* The usual distance between two kernels that the host launched in time. */
static const struct nai_gen_part spacing[] = {
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = DISTANCE_NS}};
/* Between two steps the host does something of its own. */
static const struct nai_gen_part between[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 40000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};
/* Longer than the usual distance by STALL_NS. */
static const struct nai_gen_part stall[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 20000},
    {.doing = DOING_OS_CALL, .cause = IDLE_HOST_CODE, .ns = STALL_NS + DISTANCE_NS - 56000, .name = "read"},
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 30000},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
};

struct trainer {
  struct nai_gen_program p;
  int autograd;
  int embed, layer[LAYER_KERNELS], loss, optimizer[2], probe;
  int64_t *active_from; /* start of the active span, in scenarios with a stall; else NULL */
  bool jitter;          /* durations vary by 5 %, and one kernel in a hundred is lost */
};

static void declare(struct trainer *t, struct nai_gen_plan *plan) {
  static const char *const names[LAYER_KERNELS] = {
      "void norm_input<float>(T1 *, int)", "void gemm_qkv<float>(T1 *, int)", "void rotate<float>(T1 *, int)",
      "void attend<float>(T1 *, int)",     "void gemm_out<float>(T1 *, int)", "void norm_hidden<float>(T1 *, int)",
      "void gemm_up<float>(T1 *, int)",    "void activate<float>(T1 *, int)", "void gemm_down<float>(T1 *, int)"};
  for (int k = 0; k < LAYER_KERNELS; k++) {
    t->layer[k] = nai_gen_kernel(plan, names[k], NULL);
  }
  t->embed = nai_gen_kernel(plan, "void embed_tokens<float>(T1 *, int)", NULL);
  t->loss = nai_gen_kernel(plan, "void cross_entropy<float>(T1 *, int)", NULL);
  t->optimizer[0] = nai_gen_kernel(plan, "void multi_tensor_adam<float, 1>(T1 *, int)", NULL);
  t->optimizer[1] = nai_gen_kernel(plan, "void multi_tensor_adam<float, 2>(T1 *, int)", NULL);
  t->probe = nai_gen_kernel(plan, "void autotune_probe<float>(T1 *, int)", NULL);
}

static void begin(struct trainer *t, struct nai_gen_plan *plan, int pid) {
  nai_gen_program(&t->p, plan, pid, "trainer");
  t->autograd = nai_gen_thread(plan, t->p.process, pid + 9, "pt_autograd_0");
  declare(t, plan);
}

static void run_on(const struct trainer *t, int thread, const struct nai_gen_part *parts, int count, int kernel,
                   int64_t duration_ns) {
  struct nai_gen_plan *plan = t->p.plan;
  if (t->jitter) {
    duration_ns += duration_ns * nai_gen_rng_between(nai_gen_rng(plan), -50, 50) / 1000;
    if (nai_gen_rng_between(nai_gen_rng(plan), 0, 99) == 0) { /* its record was lost */
      nai_gen_call(plan, thread, API_LAUNCH, 4000);
      return;
    }
  }
  nai_gen_gap(plan, &(struct nai_gen_gap){.thread = thread,
                                          .stream = t->p.stream,
                                          .parts = parts,
                                          .count = count,
                                          .kernel = kernel,
                                          .duration_ns = duration_ns});
}

static void follow(const struct trainer *t, int thread, int kernel, int64_t duration_ns) {
  run_on(t, thread, spacing, 1, kernel, duration_ns);
}

static void run_layer(const struct trainer *t, int thread, bool stalls) {
  for (int k = 0; k < LAYER_KERNELS; k++) {
    if (stalls && k == 4) {
      int64_t from = nai_gen_gpu_ready(t->p.plan, t->p.stream);
      run_on(t, thread, stall, 5, t->layer[k], 50000 + 1000 * k);
      int64_t until = nai_gen_gpu_ready(t->p.plan, t->p.stream) - 50000 - 1000 * k;
      nai_gen_span(t->p.plan, t->p.gpu, "active", *t->active_from, from);
      nai_gen_span(t->p.plan, t->p.gpu, "pause", from, until);
      *t->active_from = until;
    } else {
      follow(t, thread, t->layer[k], 50000 + 1000 * k);
    }
  }
}

/* One step: the second half of its layers is launched by the autograd thread, while the main thread waits for it. */
static void run_step(const struct trainer *t, bool first, int extra, bool stalls) {
  struct nai_gen_plan *plan = t->p.plan;
  nai_gen_wait_until(plan, t->p.thread, nai_gen_gpu_ready(plan, t->p.stream));
  run_on(t, t->p.thread, between, first ? 0 : 3, t->embed, 30000);
  if (first && t->active_from) {
    *t->active_from = nai_gen_gpu_ready(plan, t->p.stream) - 30000;
  }
  for (int k = 0; k < extra; k++) {
    follow(t, t->p.thread, t->probe, 60000);
  }
  for (int layer = 0; layer < LAYERS / 2; layer++) {
    run_layer(t, t->p.thread, stalls && layer == 1);
  }
  follow(t, t->p.thread, t->loss, 40000);
  nai_gen_wait_until(plan, t->autograd, nai_gen_now(plan, t->p.thread));
  for (int layer = LAYERS / 2; layer < LAYERS; layer++) {
    run_layer(t, t->autograd, false);
  }
  nai_gen_wait_until(plan, t->p.thread, nai_gen_now(plan, t->autograd));
  follow(t, t->p.thread, t->optimizer[0], 80000);
  follow(t, t->p.thread, t->optimizer[1], 80000);
}

static int numbered(struct nai_gen_plan *plan, const char *name, int number) {
  char text[64];
  snprintf(text, sizeof text, "%s %d", name, number);
  return nai_gen_name(plan, text);
}

static void train(struct nai_gen_plan *plan, bool ranges) {
  int64_t active_from = 0;
  struct trainer t = {.active_from = &active_from};
  begin(&t, plan, 7101);
  for (int i = 0; i < STEPS; i++) {
    struct nai_gen_step step = {.process = t.p.process, .state = i ? "steady" : "warm-up"};
    if (i == 7) {
      step = (struct nai_gen_step){t.p.process, "steady", STALL_NS, "idle", "read"};
    }
    nai_gen_wait_until(plan, t.p.thread, nai_gen_gpu_ready(plan, t.p.stream));
    nai_gen_step(plan, &step);
    if (ranges) {
      nai_gen_push(plan, t.p.thread, numbered(plan, "step", i), NULL);
    }
    run_step(&t, !i, i ? 0 : EXTRA, i == 7);
    if (ranges) {
      nai_gen_pop(plan, t.p.thread);
    }
  }
  nai_gen_span(plan, t.p.gpu, "active", active_from, nai_gen_gpu_ready(plan, t.p.stream));
  nai_gen_unit(plan, t.p.process, LAYER_KERNELS, STEPS * LAYERS, "layer");
  nai_gen_expect_findings(plan, "slow-step");
  nai_gen_expect_no_findings(plan, "steps-drift data-loader-stall");
}

void nai_gen_plan_steps(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  train(plan, true);
}

void nai_gen_plan_steps_bare(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  train(plan, false);
}

void nai_gen_plan_steps_jitter(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct trainer ranks[2] = {{.jitter = true}, {.jitter = true}};
  begin(&ranks[0], plan, 7201);
  ranks[1] = ranks[0];
  struct nai_gen_program *second = &ranks[1].p;
  second->process = nai_gen_process(plan, 7202, "trainer");
  second->thread = nai_gen_thread(plan, second->process, 7202, "trainer");
  ranks[1].autograd = nai_gen_thread(plan, second->process, 7212, "pt_autograd_1");
  second->gpu = nai_gen_gpu(plan, 1);
  second->stream = nai_gen_stream(plan, nai_gen_context(plan, second->process, 1, 2, second->gpu), 15);
  nai_gen_work(plan, second->thread, 3700000); /* out of step */
  for (int r = 0; r < 2; r++) {
    for (int i = 0; i < 2 * STEPS; i++) {
      nai_gen_wait_until(plan, ranks[r].p.thread, nai_gen_gpu_ready(plan, ranks[r].p.stream));
      nai_gen_step(plan, &(struct nai_gen_step){.process = ranks[r].p.process, .state = "steady"});
      run_step(&ranks[r], !i, 0, false);
    }
  }
  nai_gen_expect_no_findings(plan, "slow-step step-time-variance steps-drift data-loader-stall warm-up-in-window");
}

/* --- input ------------------------------------------------------------------------------------ */

void nai_gen_plan_steps_input(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct nai_gen_copy batch = {NAI_GEN_HTOD,     NAI_GEN_PINNED, NAI_GEN_DEVICE,
                                            INT64_C(8) << 20, 400000,         false};
  static const struct nai_gen_part load[] = {
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 30000},
      {.doing = DOING_OS_CALL, .cause = IDLE_HOST_CODE, .ns = 6000000, .name = "poll"},
      {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 50000},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2000},
  };
  struct trainer t = {0};
  (void)target_bytes;
  begin(&t, plan, 7301);
  for (int i = 0; i < STEPS; i++) {
    nai_gen_wait_until(plan, t.p.thread, nai_gen_gpu_ready(plan, t.p.stream));
    nai_gen_step(plan, &(struct nai_gen_step){.process = t.p.process, .state = "steady"});
    nai_gen_gap(plan,
                &(struct nai_gen_gap){
                    .thread = t.p.thread, .stream = t.p.stream, .parts = load, .count = i ? 5 : 0, .copy = &batch});
    for (int k = 0; k < LAYER_KERNELS; k++) {
      follow(&t, t.p.thread, t.layer[k], 300000 + 1000 * k);
    }
    follow(&t, t.p.thread, t.optimizer[0], 80000);
  }
  nai_gen_expect_findings(plan, "data-loader-stall");
  nai_gen_expect_no_findings(plan, "slow-step step-time-variance steps-drift warm-up-in-window");
}

/* --- drift ------------------------------------------------------------------------------------ */

void nai_gen_plan_steps_drift(struct nai_gen_plan *plan, int64_t target_bytes) {
  enum { WARM_UP = 6, DRIFTING = 24 };
  struct trainer t = {0};
  (void)target_bytes;
  begin(&t, plan, 7401);
  for (int i = 0; i < WARM_UP + DRIFTING; i++) {
    int64_t ns = i < WARM_UP ? 900000 : 200000 + 4000 * (i - WARM_UP);
    nai_gen_wait_until(plan, t.p.thread, nai_gen_gpu_ready(plan, t.p.stream));
    nai_gen_step(plan, &(struct nai_gen_step){.process = t.p.process, .state = i < WARM_UP ? "warm-up" : "steady"});
    nai_gen_push(plan, t.p.thread, numbered(plan, "train_step", i), NULL);
    run_on(&t, t.p.thread, between, i ? 3 : 0, t.embed, ns);
    for (int k = 0; k < LAYER_KERNELS; k++) {
      follow(&t, t.p.thread, t.layer[k], ns);
    }
    nai_gen_pop(plan, t.p.thread);
  }
  nai_gen_expect_findings(plan, "steps-drift warm-up-in-window");
  nai_gen_expect_no_findings(plan, "data-loader-stall");
}

/* --- no steps --------------------------------------------------------------------------------- */

void nai_gen_plan_layers(struct nai_gen_plan *plan, int64_t target_bytes) {
  enum { DEPTH = 24 };
  static const struct nai_gen_copy ids = {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, 65536, 5000, false};
  struct trainer t = {0};
  (void)target_bytes;
  begin(&t, plan, 7501);
  nai_gen_gap(plan, &(struct nai_gen_gap){.thread = t.p.thread, .stream = t.p.stream, .copy = &ids});
  nai_gen_push(plan, t.p.thread, nai_gen_name(plan, "encoder"), NULL);
  follow(&t, t.p.thread, t.embed, 30000);
  for (int layer = 0; layer < DEPTH; layer++) {
    char name[64];
    snprintf(name, sizeof name, "encoder.block.%d", layer);
    nai_gen_push(plan, t.p.thread, nai_gen_name(plan, name), NULL);
    run_layer(&t, t.p.thread, false);
    nai_gen_pop(plan, t.p.thread);
  }
  nai_gen_pop(plan, t.p.thread);
  nai_gen_unit(plan, t.p.process, LAYER_KERNELS, DEPTH, "layer");
  nai_gen_expect_no_findings(plan, "slow-step step-time-variance steps-drift data-loader-stall warm-up-in-window");
}

void nai_gen_plan_phantom_steps(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const char *const ranges[] = {"cub::DeviceReduce::Sum", "cub::DeviceScan::InclusiveSum",
                                       "cub::DeviceSelect::If", "cub::DeviceRadixSort::SortPairs"};
  struct trainer t = {0};
  (void)target_bytes;
  begin(&t, plan, 7601);
  for (int i = 0; i < 325; i++) {
    int work = (int)nai_gen_rng_between(nai_gen_rng(plan), 3, 12);
    run_on(&t, t.p.thread, spacing, i > 0, t.embed, 400000); /* the host stays ahead of the GPU */
    for (int k = 0; k < work; k++) {
      int kernel = (int)nai_gen_rng_between(nai_gen_rng(plan), 0, LAYER_KERNELS - 1);
      follow(&t, t.p.thread, t.layer[kernel], nai_gen_rng_between(nai_gen_rng(plan), 20000, 90000));
    }
    nai_gen_push(plan, t.p.thread, nai_gen_name(plan, ranges[i % 4]), NULL);
    follow(&t, t.p.thread, t.loss, 12000);
    nai_gen_work(plan, t.p.thread, 200000);
    nai_gen_pop(plan, t.p.thread);
    nai_gen_wait_until(plan, t.p.thread, nai_gen_gpu_ready(plan, t.p.stream) - 100000);
  }
  nai_gen_steps_end(plan, t.p.process); /* there are none */
  nai_gen_expect_no_findings(plan, "slow-step step-time-variance steps-drift data-loader-stall warm-up-in-window");
}
