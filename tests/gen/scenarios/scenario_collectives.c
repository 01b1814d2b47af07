/* Two ranks whose every collective has a known wait and transfer: one comes a millisecond late to each all-reduce, the
 * other to each exchange; an all-gather is hidden behind compute that it slows down. NCCL's ranges carry payloads. */
#include "gen/scenario.h"

#include "gen/collective.h"
#include "gen/truth/answers.h"

#include <inttypes.h>
#include <stdio.h>

enum { RANKS = 2, STEPS = 12, DOMAIN = 1, CATEGORY = 3, US = 1000 };
static const uint64_t communicator = UINT64_C(0xabcdef0123456789);

enum { K_GEMM, K_SOFTMAX, K_ALL_REDUCE, K_SEND_RECV, K_ALL_GATHER, KERNELS };
static const struct nai_gen_kernel_spec kernel_specs[KERNELS] = {
    [K_GEMM] = {"nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN", NULL, NAI_GEN_COMPUTE, API_LAUNCH_EX},
    [K_SOFTMAX] = {"void softmax_warp_forward<float, float, float, (int)10>(T2 *, const T1 *, int)",
                   "softmax_warp_forward", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_ALL_REDUCE] = {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                      "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", NAI_GEN_COMM, API_LAUNCH_EX},
    [K_SEND_RECV] = {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", "ncclDevKernel_SendRecv",
                     NAI_GEN_COMM, API_LAUNCH_EX},
    [K_ALL_GATHER] = {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                      "ncclDevKernel_AllGather_RING_LL", NAI_GEN_COMM, API_LAUNCH_EX},
};

enum { N_INIT, N_ALL_REDUCE, N_ALL_GATHER, N_SEND, N_RECV, N_GROUP_START, N_GROUP_END, FUNCTIONS };
enum { N_API_GROUP = FUNCTIONS, N_GROUP_LAUNCH, N_KERNEL_LAUNCH, N_ADVANCED, NAMES = N_ADVANCED + N_GROUP_START };
enum { GRAPH_STEPS = 10, CAPTURED = 4, EXECUTABLE = 8 };
static const struct nai_gen_name_spec name_specs[NAMES] = {
    [N_INIT] = {"ncclCommInitRankConfig", NULL},
    [N_ALL_REDUCE] = {"ncclAllReduce", NULL},
    [N_ALL_GATHER] = {"ncclAllGather", NULL},
    [N_SEND] = {"ncclSend", NULL},
    [N_RECV] = {"ncclRecv", NULL},
    [N_GROUP_START] = {"ncclGroupStart", NULL},
    [N_GROUP_END] = {"ncclGroupEnd", NULL},
    /* of nsys -t nccl */
    [N_API_GROUP] = {"API Group", NULL},
    [N_GROUP_LAUNCH] = {"GroupLaunch", NULL},
    [N_KERNEL_LAUNCH] = {"KernelLaunch", NULL},
    [N_ADVANCED + N_INIT] = {"CommInit", NULL},
    [N_ADVANCED + N_ALL_REDUCE] = {"AllReduce", NULL},
    [N_ADVANCED + N_ALL_GATHER] = {"AllGather", NULL},
    [N_ADVANCED + N_SEND] = {"Send", NULL},
    [N_ADVANCED + N_RECV] = {"Recv", NULL},
};

struct job {
  struct nai_gen_plan *plan;
  int kernels[KERNELS], names[NAMES];
  int thread[RANKS], compute[RANKS], nccl[RANKS];
  int64_t shift[RANKS]; /* of the GPU's clock */
  bool advanced;        /* as nsys -t nccl has it */
  int launcher[RANKS], progress[RANKS], group[RANKS], calls[RANKS];
  int seq[RANKS][FUNCTIONS]; /* of each function, from 0 */
};

/* The ranks write their payloads with different headers. */
static enum nai_gen_header header(int rank) { return rank ? NAI_GEN_HEADER_TOTAL : NAI_GEN_HEADER_OFFSET; }

static void open_range(struct job *j, int rank, int name, const struct nai_gen_payload *payload) {
  nai_gen_push_id(j->plan, j->thread[rank], j->names[name], DOMAIN);
  if (payload) {
    struct nai_gen_payload full = *payload;
    full.header = header(rank);
    full.communicator = communicator;
    nai_gen_attach(j->plan, j->thread[rank], DOMAIN, &full);
  }
}

/* nsys -t nccl: the calls of a group, each with its id and the group's. */
static void advanced_call(struct job *j, int rank, int name, int64_t count, const char *type, int peer) {
  char json[256], to[32];
  if (peer >= 0) {
    snprintf(to, sizeof to, ",\"peer\":%d", peer);
  } else { /* only collectives are counted */
    snprintf(to, sizeof to, ",\"seqNumber\":%d", j->seq[rank][name]);
  }
  snprintf(json, sizeof json,
           "{\"commHash\":%" PRIu64 ",\"commRank\":%d,\"count\":%" PRId64
           ",\"dataType\":\"%s\",\"apiId\":%d,\"apiGroupId\":%d%s}",
           communicator, rank, count, type, ++j->calls[rank], j->group[rank], to);
  nai_gen_push_id(j->plan, j->thread[rank], j->names[N_ADVANCED + name], DOMAIN);
  nai_gen_attach_json(j->plan, j->thread[rank], CATEGORY + rank, json);
  nai_gen_pop(j->plan, j->thread[rank]);
}

static void push_group(struct job *j, int thread, int rank, int name) {
  char json[64];
  snprintf(json, sizeof json, "{\"apiGroupId\":%d}", j->group[rank]);
  nai_gen_push_id(j->plan, thread, j->names[name], DOMAIN);
  nai_gen_attach_json(j->plan, thread, CATEGORY + rank, json);
}

/* The launch, on rank 1 by another thread; then the same as two channels of the GPU did it. */
static void advanced_launch(struct job *j, int rank, const struct nai_gen_collective *plain, int name) {
  struct nai_gen_collective c = *plain;
  int launcher = c.thread[rank] = j->launcher[rank], progress = j->progress[rank];
  char json[128];
  nai_gen_wait_until(j->plan, launcher, nai_gen_now(j->plan, j->thread[rank]));
  push_group(j, j->thread[rank], rank, N_GROUP_LAUNCH);
  push_group(j, launcher, rank, N_KERNEL_LAUNCH);
  nai_gen_join_collective(j->plan, &c, rank);
  nai_gen_pop(j->plan, launcher);
  if (launcher != j->thread[rank]) {
    nai_gen_wait_until(j->plan, j->thread[rank], nai_gen_now(j->plan, launcher));
  }
  nai_gen_pop(j->plan, j->thread[rank]);
  snprintf(json, sizeof json, "{\"commHash\":%" PRIu64 ",\"commRank\":%d,\"apiId\":%d,\"seqNumber\":%d}", communicator,
           rank, j->calls[rank] - (name == N_SEND), j->seq[rank][name]++); /* a receive is the last call of a group */
  nai_gen_wait_until(j->plan, progress, c.start[rank] + j->shift[rank]);
  for (int channel = 0; channel < 2; channel++) {
    nai_gen_push_id(j->plan, progress, j->names[N_ADVANCED + name], DOMAIN);
    nai_gen_attach_json(j->plan, progress, CATEGORY + rank, json);
  }
  nai_gen_wait_until(j->plan, progress, c.end + j->shift[rank]);
  nai_gen_pop(j->plan, progress);
  nai_gen_pop(j->plan, progress);
}

static void close_range(struct job *j, int rank) { nai_gen_pop(j->plan, j->thread[rank]); }

static void open_rank(struct job *j, int rank) {
  struct nai_gen_plan *plan = j->plan;
  int process = nai_gen_process(plan, 7001 + rank, "python3");
  int thread = nai_gen_thread(plan, process, 7001 + rank, "python3");
  int context = nai_gen_context(plan, process, rank, 1 + rank, nai_gen_gpu(plan, rank));
  nai_gen_correlation_base(plan, process, 5000);
  j->thread[rank] = thread;
  j->compute[rank] = nai_gen_stream(plan, context, 7 + 8 * rank);
  j->nccl[rank] = nai_gen_stream(plan, context, 20 + 8 * rank);
  nai_gen_domain(plan, thread, DOMAIN, "NCCL");
  if (j->advanced) {
    char json[96];
    j->launcher[rank] = rank ? nai_gen_thread(plan, process, 7101 + rank, "python3") : thread;
    j->progress[rank] = nai_gen_thread(plan, process, 7201 + rank, "NCCL Progress");
    snprintf(json, sizeof json, "{\"commHash\":%" PRIu64 ",\"commRank\":%d,\"nRanks\":%d}", communicator, rank, RANKS);
    nai_gen_category(plan, thread, DOMAIN, CATEGORY + rank, "CONTEXT_PARALLEL_GROUP");
    nai_gen_category(plan, thread, DOMAIN, CATEGORY + 1 - rank, "DATA_PARALLEL_GROUP"); /* nothing is in it */
    nai_gen_category(plan, thread, 0, CATEGORY + rank, "TENSOR_MODEL_PARALLEL_GROUP");  /* another domain's */
    nai_gen_push_id(plan, thread, j->names[N_ADVANCED + N_INIT], DOMAIN);
    nai_gen_attach_json(plan, thread, CATEGORY + rank, json);
    nai_gen_work(plan, thread, 50 * US);
    nai_gen_pop(plan, thread);
    return;
  }
  open_range(j, rank, N_INIT,
             &(struct nai_gen_payload){.schema = NAI_GEN_NCCL_INIT, .ranks = RANKS, .rank = rank, .device = rank});
  nai_gen_work(plan, thread, 50 * US);
  close_range(j, rank);
  /* Two calls that launch nothing, with payloads that cannot be read: cut off, and of a schema nobody described. */
  open_range(j, rank, N_ALL_REDUCE, &(struct nai_gen_payload){.schema = NAI_GEN_NCCL_ALL_REDUCE, .bytes = 8, .cut = 9});
  close_range(j, rank);
  open_range(j, rank, N_ALL_REDUCE, &(struct nai_gen_payload){.schema = 99});
  close_range(j, rank);
}

static void compute(struct job *j, int rank, int kernel, int64_t start_ns, int64_t duration_ns) {
  nai_gen_launch_at(j->plan, j->thread[rank], j->compute[rank], j->kernels[kernel], start_ns + j->shift[rank],
                    duration_ns);
}

static struct nai_gen_collective collective(const struct job *j, const char *op, int kernel, int64_t bytes) {
  struct nai_gen_collective c = {.op = op, .kernel = j->kernels[kernel], .ranks = RANKS, .bytes = bytes};
  for (int r = 0; r < RANKS; r++) {
    c.thread[r] = j->thread[r];
    c.stream[r] = j->nccl[r];
    c.shift[r] = j->shift[r];
  }
  return c;
}

/* 300 MB in 300 us; rank 1 comes 1,000 us after rank 0. */
static void all_reduce(struct job *j, int rank, int64_t t) {
  struct nai_gen_collective c = collective(j, "AllReduce", K_ALL_REDUCE, 300000000);
  c.start[0] = t;
  c.start[1] = t + 1000 * US;
  c.end = c.start[1] + 300 * US;
  if (j->advanced) {
    j->group[rank]++;
    advanced_call(j, rank, N_ALL_REDUCE, c.bytes / 2, "ncclBfloat16", -1);
    advanced_launch(j, rank, &c, N_ALL_REDUCE);
    return;
  }
  open_range(j, rank, N_ALL_REDUCE, &(struct nai_gen_payload){.schema = NAI_GEN_NCCL_ALL_REDUCE, .bytes = c.bytes});
  nai_gen_join_collective(j->plan, &c, rank);
  close_range(j, rank);
}

/* Two messages of 4 MiB each way, in a group, whose end launches one kernel; rank 0 comes 200 us after rank 1. */
static void exchange(struct job *j, int rank, int64_t t) {
  struct nai_gen_collective c = collective(j, "SendRecv", K_SEND_RECV, INT64_C(8) << 20);
  c.start[1] = t;
  c.start[0] = t + 200 * US;
  c.end = c.start[0] + 100 * US;
  if (j->advanced) {
    j->group[rank]++;
    push_group(j, j->thread[rank], rank, N_API_GROUP);
    for (int i = 0; i < 2; i++) {
      advanced_call(j, rank, N_SEND, 4 << 20, "ncclInt8", 1 - rank);
      advanced_call(j, rank, N_RECV, 1 << 20, "float32", 1 - rank);
    }
    advanced_launch(j, rank, &c, N_SEND);
    nai_gen_pop(j->plan, j->thread[rank]);
    return;
  }
  open_range(j, rank, N_GROUP_START, NULL);
  close_range(j, rank);
  for (int i = 0; i < 2; i++) {
    open_range(j, rank, N_SEND,
               &(struct nai_gen_payload){.schema = NAI_GEN_NCCL_SEND, .bytes = 4 << 20, .number = 1 - rank});
    close_range(j, rank);
    open_range(j, rank, N_RECV,
               &(struct nai_gen_payload){.schema = NAI_GEN_NCCL_RECV, .bytes = 4 << 20, .number = 1 - rank});
    close_range(j, rank);
  }
  open_range(j, rank, N_GROUP_END, NULL);
  nai_gen_join_collective(j->plan, &c, rank);
  close_range(j, rank);
}

/* 1 MiB per rank in 580 us, 550 of them beside a kernel that takes 400 without. */
static void all_gather(struct job *j, int rank, int64_t t) {
  struct nai_gen_collective c = collective(j, "AllGather", K_ALL_GATHER, 1 << 20);
  c.start[0] = c.start[1] = t;
  c.end = t + 580 * US;
  if (j->advanced) {
    j->group[rank]++;
    advanced_call(j, rank, N_ALL_GATHER, c.bytes / 4, "7", -1);
    advanced_launch(j, rank, &c, N_ALL_GATHER);
  } else {
    open_range(j, rank, N_ALL_GATHER, &(struct nai_gen_payload){.schema = NAI_GEN_NCCL_ALL_GATHER, .bytes = c.bytes});
    nai_gen_join_collective(j->plan, &c, rank);
    close_range(j, rank);
  }
  compute(j, rank, K_GEMM, t + 5 * US, 550 * US);
}

static void step(struct job *j, int rank, int64_t t) {
  nai_gen_wait_until(j->plan, j->thread[rank], t);
  compute(j, rank, K_GEMM, t + 20 * US, 400 * US);
  if (rank == 1) {
    compute(j, rank, K_SOFTMAX, t + 425 * US, 1000 * US);
  }
  all_reduce(j, rank, t + 430 * US);
  exchange(j, rank, t + 1830 * US);
  all_gather(j, rank, t + 2200 * US);
}

static void begin(struct job *j, struct nai_gen_plan *plan, int64_t shift_ns, bool advanced) {
  *j = (struct job){.plan = plan, .shift = {0, shift_ns}, .advanced = advanced};
  nai_gen_even_shapes(plan);
  nai_gen_kernels(plan, j->kernels, kernel_specs, KERNELS);
  nai_gen_names(plan, j->names, name_specs, advanced ? NAMES : FUNCTIONS);
  nai_gen_nccl_schemas(plan, DOMAIN, RANKS);
  for (int r = 0; r < RANKS; r++) {
    open_rank(j, r);
  }
}

static void run(struct nai_gen_plan *plan, int64_t shift_ns, bool advanced) {
  struct job j;
  begin(&j, plan, shift_ns, advanced);
  int64_t first = nai_gen_now(plan, j.thread[0]) + 1000 * US;
  for (int s = 0; s < nai_gen_scaled(plan, STEPS); s++) {
    for (int r = 0; r < RANKS; r++) {
      step(&j, r, first + s * (int64_t)3000 * US);
    }
  }
  nai_gen_expect_findings(plan, "exposed-communication waiting-not-transferring overlap-costs-compute");
  nai_gen_expect_no_findings(plan, "low-busbw small-collectives serial-comm-stream nccl-init-in-window");
}

/* --- grouped-sends ------------------------------------------------------------------------------ */

/* An all-to-all as frameworks make it: a group with a send to, and a receive from, every rank, the own one too. Of the
 * 16 MiB to each rank 16 MiB leave the GPU, in 256 us. */
static void all_to_all(struct job *j, int rank, int64_t t) {
  enum { PART = 16 << 20 };
  struct nai_gen_collective c = collective(j, "SendRecv", K_SEND_RECV, PART);
  nai_gen_wait_until(j->plan, j->thread[rank], t);
  c.start[0] = c.start[1] = t + 100 * US;
  c.end = c.start[0] + 256 * US;
  open_range(j, rank, N_GROUP_START, NULL);
  close_range(j, rank);
  for (int peer = 0; peer < RANKS; peer++) {
    open_range(j, rank, N_SEND, &(struct nai_gen_payload){.schema = NAI_GEN_NCCL_SEND, .bytes = PART, .number = peer});
    close_range(j, rank);
    open_range(j, rank, N_RECV, &(struct nai_gen_payload){.schema = NAI_GEN_NCCL_RECV, .bytes = PART, .number = peer});
    close_range(j, rank);
  }
  open_range(j, rank, N_GROUP_END, NULL);
  nai_gen_join_collective(j->plan, &c, rank);
  close_range(j, rank);
  compute(j, rank, K_GEMM, t + 400 * US, 500 * US);
}

void nai_gen_plan_grouped_sends(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct job j;
  begin(&j, plan, 0, false);
  int64_t first = nai_gen_now(plan, j.thread[0]) + 1000 * US;
  for (int s = 0; s < nai_gen_scaled(plan, STEPS); s++) {
    for (int r = 0; r < RANKS; r++) {
      all_to_all(&j, r, first + s * (int64_t)1000 * US);
    }
  }
}

/* --- collectives-graph ------------------------------------------------------------------------------ */

/* One call, captured and instantiated: what it says of size and communicator holds for every replay. */
static void capture(struct job *j, int rank) {
  open_range(j, rank, N_ALL_REDUCE, &(struct nai_gen_payload){.schema = NAI_GEN_NCCL_ALL_REDUCE, .bytes = 300000000});
  nai_gen_graph_capture(j->plan, j->thread[rank], CAPTURED, 0);
  close_range(j, rank);
  nai_gen_call(j->plan, j->thread[rank], API_GRAPH_INSTANTIATE, 300 * US);
  nai_gen_graph_clone(j->plan, j->thread[rank], CAPTURED, EXECUTABLE + rank, 0);
}

/* Rank 1 comes later to the all-reduce in every step: 100 us, 110, 120, ... */
static void replay_step(struct job *j, int rank, int s, int64_t t) {
  char name[32];
  struct nai_gen_collective c = collective(j, "AllReduce", K_ALL_REDUCE, 300000000);
  nai_gen_wait_until(j->plan, j->thread[rank], t);
  snprintf(name, sizeof name, "step %d", s);
  nai_gen_push(j->plan, j->thread[rank], nai_gen_name(j->plan, name), NULL);
  compute(j, rank, K_GEMM, t + 20 * US, 400 * US);
  c.graph_id = EXECUTABLE + rank;
  c.start[0] = t + 430 * US;
  c.start[1] = c.start[0] + (100 + 10 * s) * US;
  c.end = c.start[1] + 300 * US;
  nai_gen_join_collective(j->plan, &c, rank);
  all_gather(j, rank, t + 1000 * US);
  nai_gen_synchronize(j->plan, j->thread[rank], j->compute[rank], API_STREAM_SYNC, 10 * US);
  nai_gen_pop(j->plan, j->thread[rank]);
}

void nai_gen_plan_collectives_graph(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct job j;
  begin(&j, plan, 0, false);
  for (int r = 0; r < RANKS; r++) {
    capture(&j, r);
  }
  int64_t first = nai_gen_now(plan, j.thread[0]) + 1000 * US;
  for (int s = 0; s < GRAPH_STEPS; s++) {
    for (int r = 0; r < RANKS; r++) {
      replay_step(&j, r, s, first + s * (int64_t)2000 * US);
    }
  }
}

void nai_gen_plan_collectives(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  run(plan, 0, false);
}

/* The same, but one GPU's clock is 37 us ahead. */
void nai_gen_plan_collectives_skewed(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  run(plan, 37 * US, false);
}

/* The same as nsys -t nccl has it, after NVIDIA's description. */
void nai_gen_plan_collectives_advanced(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  run(plan, 0, true);
}
