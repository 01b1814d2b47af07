/* Engines that serve a language model: prompts, tokens and pauses whose steps, requests and times are planned. */
#include "gen/scenario.h"
#include "gen/steps.h"

#include <stdio.h>

enum { MAX_RANKS = 2, NODES = 8, PREFILL_KERNELS = 24 };
enum names { VLLM, TENSORRT_LLM, SGLANG };

struct variant {
  enum names names;
  int ranks;
  bool graphs;       /* decode steps replay one */
  bool envelopes;    /* which is traced as a whole */
  bool delayed;      /* prompts lie between decode steps */
  int64_t host_ns;   /* own code between two steps */
  int draft_tokens;  /* that each request guesses */
  bool other_thread; /* another process that schedules, without GPU work */
};

struct server {
  struct nai_gen_plan *plan;
  const struct variant *v;
  int threads[MAX_RANKS], streams[MAX_RANKS], processes[MAX_RANKS], scheduler;
  int gemm, attention, norm, sample, schedule_name, iteration, last_iteration;
};

/* What one step computes. */
struct batch {
  const char *kind;
  int64_t cr, ct, gr, gt;
};

/* Graphs are captured for batches of powers of two; the largest number of requests that a graph is seen with is then
 * the size that it was captured for, if that many ever come. */
static int64_t captured(int64_t requests) {
  int64_t size = 1;
  while (size < requests) {
    size *= 2;
  }
  return size;
}

static int64_t decode_ns(const struct server *s, int64_t requests) {
  return 400000 + 10000 * (s->v->graphs ? captured(requests) : requests);
}

static void step_name(char *text, size_t size, const struct server *s, const struct batch *b) {
  long long cr = b->cr, ct = b->ct, gr = b->gr, gt = b->gt;
  switch (s->v->names) {
  case VLLM:
    snprintf(text, size, "execute_context_%lld(%lld)_generation_%lld(%lld)", cr, ct, gr, gt);
    break;
  case TENSORRT_LLM:
    snprintf(text, size, "[Executor] _forward_step %d: %lld ctx reqs, %lld ctx tokens, %lld gen reqs", s->iteration, cr,
             ct, gr);
    break;
  case SGLANG:
    snprintf(text, size, "scheduler.run_batch");
  }
}

static void forward(struct server *s, int rank, const struct batch *b) {
  bool replays = s->v->graphs && !b->cr && b->gr;
  if (replays && s->v->envelopes) {
    nai_gen_graph(s->plan, s->threads[rank], s->streams[rank], (int)captured(b->gr), decode_ns(s, b->gr));
    return;
  }
  if (replays) {
    struct nai_gen_node nodes[NODES];
    for (int i = 0; i < NODES; i++) {
      nodes[i] = (struct nai_gen_node){i % 2 ? s->attention : s->gemm, decode_ns(s, b->gr) / NODES};
    }
    nai_gen_graph_nodes(s->plan, s->threads[rank], s->streams[rank], (int)captured(b->gr), nodes, NODES);
    return;
  }
  int kernels = b->cr ? PREFILL_KERNELS : NODES;
  int64_t ns = b->gr ? decode_ns(s, b->gr) : 0;
  ns += b->cr ? 200000 + 4000 * b->ct : 0;
  ns += !b->cr && !b->gr ? 240000 : 0; /* a rank without requests works along */
  for (int i = 0; i < kernels; i++) {
    nai_gen_launch(s->plan, s->threads[rank], s->streams[rank],
                   i % 3 == 2 ? s->norm
                   : i % 2    ? s->attention
                              : s->gemm,
                   ns / kernels);
  }
}

/* Sampling comes behind the step's range. */
static void sample(struct server *s, int rank) {
  const struct nai_gen_copy ids = {
      .direction = NAI_GEN_DTOH, .source = NAI_GEN_DEVICE, .target = NAI_GEN_PINNED, .bytes = 256, .duration_ns = 1400};
  nai_gen_launch(s->plan, s->threads[rank], s->streams[rank], s->sample, 9000);
  nai_gen_copy(s->plan, s->threads[rank], s->streams[rank], &ids);
  nai_gen_synchronize(s->plan, s->threads[rank], s->streams[rank], API_STREAM_SYNC, 0);
}

static void step(struct server *s, const struct batch *b) {
  char text[160];
  step_name(text, sizeof text, s, b);
  int name = nai_gen_name(s->plan, text);
  s->iteration++;
  for (int rank = 0; rank < s->v->ranks; rank++) {
    int thread = s->threads[rank];
    nai_gen_step(s->plan, &(struct nai_gen_step){.process = s->processes[rank],
                                                 .state = "steady",
                                                 .kind = b->kind,
                                                 .context_requests = b->cr,
                                                 .context_tokens = b->ct,
                                                 .generation_requests = b->gr,
                                                 .generation_tokens = b->gt});
    nai_gen_push(s->plan, thread, name, NULL);
    nai_gen_work(s->plan, thread, 8000);
    forward(s, rank, b);
    nai_gen_pop(s->plan, thread);
    if (s->iteration == s->last_iteration) { /* nothing tells that what comes behind its range is its own */
      nai_gen_steps_end(s->plan, s->processes[rank]);
    }
    if (b->cr || b->gr) {
      sample(s, rank);
    }
    nai_gen_work(s->plan, thread, s->v->host_ns);
  }
  if (s->v->other_thread) {
    nai_gen_push(s->plan, s->scheduler, s->schedule_name, NULL);
    nai_gen_work(s->plan, s->scheduler, 30000);
    nai_gen_pop(s->plan, s->scheduler);
  }
}

static void decode(struct server *s, int64_t requests) {
  step(s, &(struct batch){"decode", 0, 0, requests, requests * (s->v->draft_tokens + 1)});
}

static void pause_all(struct server *s, int64_t ns) {
  for (int rank = 0; rank < s->v->ranks; rank++) {
    nai_gen_work(s->plan, s->threads[rank], ns);
  }
}

static void prefill(struct server *s, int64_t tokens) { step(s, &(struct batch){"prefill", 2, tokens, 0, 0}); }

static void mixed(struct server *s, int64_t requests, int64_t tokens) {
  step(s, &(struct batch){"mixed", 1, tokens, requests, requests * (s->v->draft_tokens + 1)});
}

/* Ten rounds of each number of requests, with and without prompts between them. */
static void serve(struct server *s) {
  enum { ROUNDS = 10, DECODES = 20, WITH_PROMPTS = 7 };
  bool preempts = s->v->names == VLLM && !s->v->draft_tokens;
  s->last_iteration = ROUNDS * (DECODES + (s->v->delayed ? WITH_PROMPTS : 0)) + (preempts ? 2 : 0);
  static const int64_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < DECODES / 2; i++) {
      decode(s, sizes[i]);
      decode(s, sizes[i]);
    }
    if (s->v->delayed) {
      prefill(s, 512);
      decode(s, 16);
      prefill(s, 256);
      prefill(s, 256);
      decode(s, 16);
      mixed(s, 16, 256);
      mixed(s, 15, 512);
    }
    if (round == 3 && preempts) {
      step(s, &(struct batch){"mixed", 0, 0, 8, 8 + 300}); /* one was preempted, and is computed again */
      step(s, &(struct batch){"empty", 0, 0, 0, 0});
    }
    if (round == 4 || round == 6) {
      pause_all(s, 60000000);
    }
  }
}

static void declare(struct server *s, int rank) {
  int process = nai_gen_process(s->plan, 7101 + rank, s->v->ranks > 1 ? "VLLM::Worker_TP" : "python3");
  int context = nai_gen_context(s->plan, process, rank, 1, nai_gen_gpu(s->plan, rank));
  s->processes[rank] = process;
  s->threads[rank] = nai_gen_thread(s->plan, process, 7101 + rank, "worker");
  s->streams[rank] = nai_gen_stream(s->plan, context, 7);
  nai_gen_call(s->plan, s->threads[rank], API_MALLOC, 400000);
  nai_gen_work(s->plan, s->threads[rank], 30000000 + rank * 3000);
}

static void plan_serving(struct nai_gen_plan *plan, const struct variant *v) {
  struct server s = {.plan = plan, .v = v};
  s.gemm = nai_gen_kernel(plan, "nvjet_tst_64x32_64x12_1x2_h_bz_splitK_TNT", NULL);
  s.attention = nai_gen_kernel(plan, "void flash::flash_fwd_splitkv_kernel<float>(T1 *)", "flash_fwd_splitkv_kernel");
  s.norm = nai_gen_kernel(plan, "void fused_add_rms_norm_kernel<float>(T1 *)", "fused_add_rms_norm_kernel");
  s.sample = nai_gen_kernel(plan, "void argmax_kernel<float>(T1 *)", "argmax_kernel");
  for (int rank = 0; rank < v->ranks; rank++) {
    declare(&s, rank);
  }
  if (v->other_thread) {
    int process = nai_gen_process(plan, 7100, "VLLM::EngineCore");
    s.scheduler = nai_gen_thread(plan, process, 7100, "VLLM::EngineCore");
    s.schedule_name = nai_gen_name(plan, "schedule: allocate_slots");
    nai_gen_work(plan, s.scheduler, 31000000);
  }
  /* Names that are none: a number that no count has, and one cut off. */
  if (v->names == VLLM) {
    nai_gen_mark(plan, s.threads[0], nai_gen_name(plan, "execute_context_0(0)_generation_12345678901234567890(4)"));
    nai_gen_mark(plan, s.threads[0], nai_gen_name(plan, "execute_context_0(0)_generation_4(4"));
  }
  serve(&s);
}

void nai_gen_plan_serving(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_serving(plan,
               &(struct variant){
                   .names = VLLM, .ranks = 2, .graphs = true, .delayed = true, .host_ns = 20000, .other_thread = true});
  nai_gen_expect_findings(plan, "serving-prefill-delays-decode");
  nai_gen_expect_no_findings(plan, "serving-decode-without-graphs serving-host-between-steps serving-no-counts");
}

void nai_gen_plan_serving_eager(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_serving(plan, &(struct variant){.names = TENSORRT_LLM, .ranks = 1, .host_ns = 250000});
  nai_gen_expect_findings(plan, "serving-decode-without-graphs serving-host-between-steps");
  nai_gen_expect_no_findings(plan, "serving-prefill-delays-decode serving-graph-padding serving-no-counts");
}

void nai_gen_plan_serving_uncounted(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_serving(plan, &(struct variant){.names = SGLANG, .ranks = 1, .graphs = true, .delayed = true, .host_ns = 20000});
  nai_gen_expect_findings(plan, "serving-no-counts");
  nai_gen_expect_no_findings(plan, "serving-prefill-delays-decode serving-small-batch serving-graph-padding");
}

void nai_gen_plan_serving_guessing(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_serving(plan, &(struct variant){.names = VLLM,
                                       .ranks = 1,
                                       .graphs = true,
                                       .envelopes = true,
                                       .delayed = true,
                                       .host_ns = 20000,
                                       .draft_tokens = 3});
  nai_gen_expect_findings(plan, "serving-prefill-delays-decode graph-envelope-only");
  nai_gen_expect_no_findings(plan, "serving-recompute serving-decode-without-graphs serving-no-counts");
}
