/* CUDA calls with call stacks: lines of a Python program in three forms, native functions, frames of frameworks, cut
 * and unresolved ones. A line that waits and one that allocates in every step, and the same program without both. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

#include <string.h>

enum { PID = 6901, STEPS = 50, US = 1000, CHAIN_WAIT = 1, CHAIN_ALLOCATE = 2, CHAIN_FIRST = 1000 };
enum { GEMM_NS = 200 * US, RELU_NS = 100 * US, SHORT_NS = 30 * US, NODE_NS = 20 * US };
enum { WAIT_NS = 60 * US, LATE_NS = 30 * US, ALLOCATE_NS = 70 * US };

struct frame {
  const char *symbol, *module; /* a symbol that begins with 0x is unresolved */
};

#define RUNTIME \
  { "cudaLaunchKernel", "/usr/local/cuda/lib64/libcudart.so.12" }
#define TORCH \
  { "at::native::launch(int)", "/opt/venv/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so" }
#define INTERPRETER \
  { "_PyEval_EvalFrameDefault", "/usr/lib/libpython3.11.so.1.0" }
#define CUT \
  { "[Max depth]", "[Max depth]" }
#define PYTHON "/usr/bin/python3.11"

enum stack {
  GEMM,
  RELU,
  FORWARD,
  INFER,
  ADAM,
  CAPTURE,
  REPLAY,
  STRIPPED,
  STACKS,
  MOVED_GEMM = STACKS,
  MOVED_RELU,
  ALL_STACKS
};
enum change { NONE, MENDED, RENAMED /* and lines moved */ };
static const struct frame stacks[ALL_STACKS][6] = {
    [GEMM] = {RUNTIME,
              TORCH,
              INTERPRETER,
              {"step (/home/ada/train/loop.py:42)", PYTHON},
              {"main (/home/ada/train/main.py:7)", PYTHON},
              CUT},
    [RELU] = {RUNTIME, {"relu:88", "/home/ada/layers.py"}, {"step (/home/ada/train/loop.py:43)", PYTHON}},
    [FORWARD] = {RUNTIME,
                 {"File \"/opt/venv/lib/python3.11/site-packages/mynet/attn.py\", line 12, in forward", PYTHON},
                 {"step (/home/ada/train/loop.py:44)", PYTHON}},
    [INFER] = {RUNTIME,
               {"cublasGemmEx", "/usr/lib/libcublas.so.12"},
               {"void infer<float>(float *)", "/opt/app/engine"},
               {"main", "/opt/app/engine"}},
    [ADAM] = {RUNTIME,
              TORCH,
              {"/opt/venv/lib/python3.11/site-packages/torch/optim/adam.py:33 step", PYTHON},
              INTERPRETER},
    [CAPTURE] = {RUNTIME,
                 {"float std::invoke<float>(int)", "/opt/app/engine"},
                 {"decode_layer(int)", "/opt/app/engine"}},
    [REPLAY] = {RUNTIME, {"/home/ada/train/loop.py:91 replay", PYTHON}},
    [MOVED_GEMM] = {RUNTIME, INTERPRETER, {"step (/home/ada/train/loop.py:49)", PYTHON}},
    [MOVED_RELU] = {RUNTIME, {"relu:90", "/home/ada/layers.py"}, {"step (/home/ada/train/loop.py:50)", PYTHON}},
    [STRIPPED] = {{"0x7f3a10", "/usr/lib/libmystery.so"}, {"0x7f3b20", "/usr/lib/libmystery.so"}},
};

struct calls {
  struct nai_gen_program p;
  int64_t chain;
  int kernels[STACKS];
  bool mended, renamed;
};

static int64_t string(struct nai_gen_plan *plan, const char *text) { return nai_gen_string(plan, text, strlen(text)); }

static void add_chain(struct nai_gen_plan *plan, int64_t id, const struct frame *frames, int count) {
  struct nai_gen_row row;
  for (int i = 0; i < count && frames[i].symbol; i++) {
    nai_gen_row_start(&row, "CUDA_CALLCHAINS");
    nai_gen_row_int(&row, "id", id);
    nai_gen_row_int(&row, "symbol", string(plan, frames[i].symbol));
    nai_gen_row_int(&row, "module", string(plan, frames[i].module));
    if (frames[i].symbol[0] == '0') /* others leave it out, as exports do */
      nai_gen_row_int(&row, "unresolved", 1);
    nai_gen_row_int(&row, "stackDepth", i);
    nai_gen_raw_row(plan, &row, NULL);
  }
}

/* Calls from now on have that stack, under an id that no other call has. */
static void at(struct calls *c, enum stack stack) {
  bool moved = c->renamed && (stack == GEMM || stack == RELU);
  add_chain(c->p.plan, ++c->chain, stacks[moved ? MOVED_GEMM + (stack == RELU) : stack], 6);
  nai_gen_callchain(c->p.plan, c->p.thread, c->chain);
}

static void follow(struct calls *c, enum stack stack, int64_t ns) {
  at(c, stack);
  nai_gen_follow(c->p.plan, c->p.thread, c->p.stream, c->kernels[stack], ns);
}

static void replay(struct calls *c, int graph) {
  struct nai_gen_node nodes[] = {{c->kernels[CAPTURE], NODE_NS}, {c->kernels[REPLAY], NODE_NS}};
  at(c, REPLAY);
  nai_gen_graph_replay(c->p.plan, &(struct nai_gen_replay){.thread = c->p.thread,
                                                           .stream = c->p.stream,
                                                           .graph_id = graph,
                                                           .nodes = nodes,
                                                           .count = 2,
                                                           .api_ns = 5000,
                                                           .start_ns = nai_gen_gpu_ready(c->p.plan, c->p.stream)});
}

static void capture(struct calls *c) {
  at(c, CAPTURE);
  for (int node = 0; node < 2; node++)
    nai_gen_graph_capture(c->p.plan, c->p.thread, 11, node);
}

static void begin(struct calls *c, struct nai_gen_plan *plan) {
  static const char *const other_names[STACKS] = {
      [GEMM] = "nvjet_tst_128x256", [RELU] = "activation", [INFER] = "engine_v2", [CAPTURE] = "layer_front"};
  static const char *const names[STACKS] = {
      [GEMM] = "gemm_tn",   [RELU] = "relu_kernel", [FORWARD] = "attn_fwd", [INFER] = "infer_kernel",
      [ADAM] = "adam_step", [CAPTURE] = "decode_a", [REPLAY] = "decode_b",  [STRIPPED] = "mystery"};
  static const struct frame wait[] = {{"cudaStreamSynchronize", "/usr/local/cuda/lib64/libcudart.so.12"},
                                      {"log_loss (/home/ada/train/loop.py:57)", PYTHON}};
  static const struct frame allocate[] = {{"cudaMalloc", "/usr/local/cuda/lib64/libcudart.so.12"},
                                          {"grow(Buffer &)", "/opt/app/engine"}};
  nai_gen_program(&c->p, plan, PID, "python3");
  c->chain = CHAIN_FIRST;
  for (int i = 0; i < STACKS; i++)
    c->kernels[i] = nai_gen_kernel(plan, c->renamed && other_names[i] ? other_names[i] : names[i], NULL);
  if (c->mended)
    return;
  add_chain(plan, CHAIN_WAIT, wait, 2);
  add_chain(plan, CHAIN_ALLOCATE, allocate, 2);
}

/* The queue runs empty: a wait and what the host does after it, then memory is allocated. */
static void waits(struct calls *c) {
  static const struct nai_gen_part wait[] = {{.doing = DOING_CALL,
                                              .cause = IDLE_BLOCKING_CALL,
                                              .ns = WAIT_NS,
                                              .api = API_STREAM_SYNC,
                                              .callchain = CHAIN_WAIT},
                                             {.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = LATE_NS},
                                             {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4 * US},
                                             {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2 * US}};
  static const struct nai_gen_part allocate[] = {
      {.doing = DOING_CALL,
       .cause = IDLE_ALLOCATION,
       .ns = ALLOCATE_NS,
       .api = API_MALLOC,
       .callchain = CHAIN_ALLOCATE},
      {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4 * US},
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2 * US}};
  at(c, GEMM);
  nai_gen_gap(c->p.plan, &(struct nai_gen_gap){.thread = c->p.thread,
                                               .stream = c->p.stream,
                                               .parts = wait,
                                               .count = 4,
                                               .lead_ns = 50 * US,
                                               .kernel = c->kernels[GEMM],
                                               .duration_ns = GEMM_NS});
  at(c, RELU);
  nai_gen_program_gap(&c->p, allocate, c->kernels[RELU], RELU_NS);
}

static void step(struct calls *c) {
  if (c->mended) {
    follow(c, GEMM, GEMM_NS);
    follow(c, RELU, RELU_NS);
  } else {
    waits(c);
  }
  for (int stack = FORWARD; stack <= ADAM; stack++)
    follow(c, (enum stack)stack, SHORT_NS);
  follow(c, STRIPPED, SHORT_NS);
  replay(c, 11);
  replay(c, 12);
  nai_gen_callchain(c->p.plan, c->p.thread, NAI_GEN_CHAIN_ZERO);
  for (int i = 0; !c->mended && i < 2; i++) { /* short calls have no stack */
    nai_gen_follow(c->p.plan, c->p.thread, c->p.stream, c->kernels[ADAM], 2 * SHORT_NS);
    nai_gen_callchain(c->p.plan, c->p.thread, 0);
  }
}

static void fact(const struct calls *c, const char *label, const char *kind, int kernels, int64_t ns, int64_t wait_ns) {
  nai_gen_fact(
      c->p.plan,
      &(struct nai_gen_fact){
          .table = "call_sites", .key = label, .value = kind, .count = kernels, .exact_ns = ns, .gain_ns = wait_ns});
}

static void plan_calls(struct nai_gen_plan *plan, enum change change) {
  struct calls c = {.mended = change != NONE, .renamed = change == RENAMED};
  begin(&c, plan);
  capture(&c);
  nai_gen_callchain(plan, c.p.thread, 0);
  nai_gen_follow(plan, c.p.thread, c.p.stream, c.kernels[INFER], 2000 * US);
  for (int i = 0; i < STEPS; i++)
    step(&c);
  fact(&c, c.renamed ? "train/loop.py:49 step" : "train/loop.py:42 step", "python", STEPS, STEPS * (int64_t)GEMM_NS, 0);
  fact(&c, c.renamed ? "~/layers.py:90 relu" : "~/layers.py:88 relu", "python", STEPS, STEPS * (int64_t)RELU_NS, 0);
  fact(&c, "mynet/attn.py:12 forward", "python", STEPS, STEPS * (int64_t)SHORT_NS, 0);
  fact(&c, "void infer<float>(float *) (engine)", "native", STEPS, STEPS * (int64_t)SHORT_NS, 0);
  fact(&c, "torch/optim/adam.py:33 step", "python_framework", STEPS, STEPS * (int64_t)SHORT_NS, 0);
  fact(&c, "libmystery.so", "module", STEPS, STEPS * (int64_t)SHORT_NS, 0);
  fact(&c, "decode_layer(int) (engine)", "native", 2 * STEPS, STEPS * INT64_C(2) * NODE_NS, 0);
  fact(&c, "train/loop.py:91 replay", "python", 2 * STEPS, STEPS * INT64_C(2) * NODE_NS, 0);
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "call_site_kernels",
                                            .key = c.renamed ? "layer_front" : "decode_a",
                                            .count = STEPS,
                                            .exact_ns = STEPS * INT64_C(2) * NODE_NS});
  if (!c.mended) {
    fact(&c, "train/loop.py:57 log_loss", "python", 0, 0, STEPS * (int64_t)(WAIT_NS + LATE_NS));
    nai_gen_expect_findings(plan, "wait-call-site allocation-call-site call-stacks-partial");
    return;
  }
  nai_gen_expect_no_findings(plan, "wait-call-site allocation-call-site call-stacks-partial");
}

void nai_gen_plan_call_sites(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_calls(plan, NONE);
}

void nai_gen_plan_call_sites_mended(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_calls(plan, MENDED);
}

void nai_gen_plan_call_sites_renamed(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_calls(plan, RENAMED);
}
