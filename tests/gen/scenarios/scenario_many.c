/* Several processes: on one GPU, and one for each of 8 and of 72 GPUs that communicate and wait for the slowest. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

#include <stdlib.h>

static const struct nai_gen_part spacing[] = {{.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 1000}};

/* --- two-processes ---------------------------------------------------------------------------- */

/* Two ranks share the machine's only GPU, each as its device 0; no table maps ordinals, one lists the GPU. */
void nai_gen_plan_two_processes(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct nai_gen_part late[] = {{.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 40000},
                                             {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4000},
                                             {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2500}};
  int gpu = nai_gen_gpu(plan, 0);
  int threads[2], streams[2];
  (void)target_bytes;
  nai_gen_even_shapes(plan);
  nai_gen_hide_device_map(plan);
  for (int i = 0; i < 2; i++) {
    int process = nai_gen_process(plan, 7101 + i, "selected_inversion");
    nai_gen_correlation_base(plan, process, 3000);
    threads[i] = nai_gen_thread(plan, process, 7101 + i, "selected_inversion");
    streams[i] = nai_gen_stream(plan, nai_gen_context(plan, process, 0, 1, gpu), 7);
  }
  int kernel = nai_gen_kernel(plan, "void factorize<double>(T1 *, int)", "factorize");
  nai_gen_follow(plan, threads[0], streams[0], kernel, 200000);
  for (int i = 1; i < 120; i++) {
    int rank = i % 3 == 1; /* one of them has twice as much to do */
    bool waits = i % 4 == 0;
    nai_gen_gap(plan, &(struct nai_gen_gap){.thread = threads[rank],
                                            .stream = streams[rank],
                                            .parts = waits ? late : spacing,
                                            .count = waits ? 3 : 1,
                                            .kernel = kernel,
                                            .duration_ns = rank ? 90000 : 200000});
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "capture_health", .key = "gpus_shared", .value = "note"});
}

/* --- eight-gpus, many-gpus -------------------------------------------------------------------- */

struct rank {
  int thread, compute, communicate, gpu;
};

enum { MAX_RANKS = 72, KERNELS_PER_STEP = 10, TRANSFER_NS = 250000 };

struct job {
  struct nai_gen_plan *plan;
  struct rank ranks[MAX_RANKS];
  int count, straggler;
  int gemm, reduce, step;
};

static void open_rank(struct job *job, int i) {
  struct rank *rank = &job->ranks[i];
  int process = nai_gen_process(job->plan, 8100 + i, "python3");
  nai_gen_correlation_base(job->plan, process, 1000);
  rank->thread = nai_gen_thread(job->plan, process, 8100 + i, "python3");
  nai_gen_work(job->plan, rank->thread, 700 * (int64_t)i);
  rank->gpu = nai_gen_gpu(job->plan, i);
  int context = nai_gen_context(job->plan, process, i, 1, rank->gpu);
  rank->compute = nai_gen_stream(job->plan, context, 7);
  rank->communicate = nai_gen_stream(job->plan, context, 15);
}

/* Kernels of one step; the straggler's take a quarter longer. Returns the end of the last one. */
static int64_t compute(const struct job *job, const struct rank *rank) {
  int64_t end = 0;
  int64_t duration_ns = rank == &job->ranks[job->straggler] ? 100000 : 80000;
  for (int k = 0; k < KERNELS_PER_STEP; k++) {
    end = nai_gen_gap(job->plan, &(struct nai_gen_gap){.thread = rank->thread,
                                                       .stream = rank->compute,
                                                       .parts = spacing,
                                                       .count = nai_gen_gpu_ready(job->plan, rank->compute) ? 1 : 0,
                                                       .kernel = job->gemm,
                                                       .duration_ns = duration_ns});
  }
  return end;
}

static void train_step(const struct job *job) {
  int64_t last = 0;
  for (int i = 0; i < job->count; i++) {
    nai_gen_push(job->plan, job->ranks[i].thread, job->step, NULL);
    int64_t end = compute(job, &job->ranks[i]);
    last = end > last ? end : last;
  }
  /* The collective begins when a rank is ready and ends, for all of them, when the last one was. */
  for (int i = 0; i < job->count; i++) {
    const struct rank *rank = &job->ranks[i];
    int64_t start = nai_gen_gpu_ready(job->plan, rank->compute) + 1000;
    nai_gen_gap(job->plan, &(struct nai_gen_gap){.thread = rank->thread,
                                                 .stream = rank->communicate,
                                                 .parts = spacing,
                                                 .count = 1,
                                                 .kernel = job->reduce,
                                                 .duration_ns = last + 1000 + TRANSFER_NS - start});
    nai_gen_pop(job->plan, rank->thread);
  }
}

static void train(struct nai_gen_plan *plan, int count, int straggler, int steps) {
  static const struct nai_gen_kernel_spec reduce = {
      "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)",
      "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", NAI_GEN_COMM, API_LAUNCH_EX};
  struct job *job = calloc(1, sizeof *job);
  if (!job) {
    return;
  }
  nai_gen_even_shapes(plan);
  job->plan = plan;
  job->count = count;
  job->straggler = straggler;
  for (int i = 0; i < count; i++) {
    open_rank(job, i);
  }
  job->gemm = nai_gen_kernel(plan, "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_TNN", NULL);
  job->reduce = nai_gen_kernel_from(plan, &reduce);
  job->step = nai_gen_name(plan, "train_step");
  for (int s = 0; s < steps; s++) {
    train_step(job);
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "workload_evidence", .key = "collective", .value = "nccl"});
  free(job);
}

void nai_gen_plan_eight_gpus(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  train(plan, 8, 5, 20);
}

void nai_gen_plan_many_gpus(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  train(plan, MAX_RANKS, 41, 20);
}
