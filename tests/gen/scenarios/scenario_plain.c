/* The ends of the scale: nothing at all, barely something, everything right, everything neglected.
 */
#include <stdio.h>

#include "gen/scenario.h"
#include "gen/truth/answers.h"

void nai_gen_plan_empty(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  nai_gen_bare(plan);
}

void nai_gen_plan_minimal(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  nai_gen_bare(plan);
  int process = nai_gen_process(plan, 2001, "a.out");
  int stream = nai_gen_stream(plan, nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, -1)), 7);
  int kernel = nai_gen_kernel(plan, "void saxpy<float>(int, T1, const T1 *, T1 *)", "saxpy");
  int64_t start = 1000000000;
  for (int i = 0; i < nai_gen_scaled(plan, 100); i++) {
    start = nai_gen_orphan(plan, stream, kernel, start + 2000, 40000);
  }
  nai_gen_caveat(plan, "no-api-calls");
  nai_gen_expect_no_findings(plan, "exposed-copy");
}

struct rank {
  struct nai_gen_plan *plan;
  int thread, compute, copy, comm;
};

static void open_rank(struct rank *r, struct nai_gen_plan *plan, int index) {
  int pid = 2101 + index;
  int process = nai_gen_process(plan, pid, "python3");
  int context = nai_gen_context(plan, process, index, 1 + index, nai_gen_gpu(plan, index));
  r->plan = plan;
  r->thread = nai_gen_thread(plan, process, pid, "python3");
  r->compute = nai_gen_stream(plan, context, 7 + 20 * index);
  r->copy = nai_gen_stream(plan, context, 13 + 20 * index);
  r->comm = nai_gen_stream(plan, context, 17 + 20 * index);
}

enum { HEALTHY_KERNELS = 7 };

static void declare_healthy(struct nai_gen_plan *plan, int *kernels) {
  static const char *const names[HEALTHY_KERNELS][2] = {
      {"void gemm_nn<float, (int)128>(const T1 *, const T1 *, T1 *)", "gemm_nn"},
      {"void gemm_nt<float, (int)128>(const T1 *, const T1 *, T1 *)", "gemm_nt"},
      {"void gemm_tn<float, (int)256>(const T1 *, const T1 *, T1 *)", "gemm_tn"},
      {"void conv2d_fprop<float>(const T1 *, const T1 *, T1 *)", "conv2d_fprop"},
      {"void conv2d_dgrad<float>(const T1 *, const T1 *, T1 *)", "conv2d_dgrad"},
      {"void layer_norm_fused<float>(const T1 *, T1 *, int)", "layer_norm_fused"},
      {"void adam_fused<float>(T1 *, const T1 *, int)", "adam_fused"}};
  for (int i = 0; i < HEALTHY_KERNELS; i++) {
    kernels[i] = nai_gen_kernel(plan, names[i][0], names[i][1]);
  }
}

void nai_gen_plan_healthy(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  nai_gen_even_shapes(plan);
  static const char *const range_names[] = {"forward", "backward", "optimizer"};
  const struct nai_gen_copy input = {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, INT64_C(32) << 20, 1400000, false};
  struct rank ranks[2];
  int kernels[HEALTHY_KERNELS];
  declare_healthy(plan, kernels);
  int reduce = nai_gen_kernel_from(plan, &(struct nai_gen_kernel_spec){"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL",
                                                                       NULL, NAI_GEN_COMM, API_LAUNCH_EX});
  for (int i = 0; i < 2; i++) {
    open_rank(&ranks[i], plan, i);
  }
  for (int step = 0; step < nai_gen_scaled(plan, 15); step++) {
    for (int i = 0; i < 2; i++) {
      struct rank *r = &ranks[i];
      for (int phase = 0; phase < 3; phase++) {
        nai_gen_push(plan, r->thread, nai_gen_name(plan, range_names[phase]), NULL);
        for (int k = 0; k < HEALTHY_KERNELS; k++) {
          nai_gen_launch(plan, r->thread, r->compute, kernels[k], nai_gen_rng_vary(nai_gen_rng(plan), 400000, 5));
          if (phase == 0 && k == 0) {
            nai_gen_copy(plan, r->thread, r->copy, &input);
          }
          if (phase == 1 && k == 0) {
            nai_gen_launch(plan, r->thread, r->comm, reduce, 700000);
          }
        }
        nai_gen_pop(plan, r->thread);
      }
      /* Wait while most of the step is still queued: the GPU never runs dry. */
      nai_gen_wait_until(plan, r->thread, nai_gen_ready(plan, r->compute) - 900000);
    }
  }
  for (int i = 0; i < 2; i++) {
    nai_gen_synchronize(plan, ranks[i].thread, ranks[i].compute, API_DEVICE_SYNC, 0);
  }
  nai_gen_expect_no_findings(plan, "launch-bound idle-blocking-call idle-host-code exposed-copy exposed-communication "
                                   "pageable-copies tiny-copies gpu-imbalance low-nvtx-coverage no-nvtx "
                                   "graph-envelope-only profiler-overhead trace-health");
}

/* Work launched by one rank of the neglected run: a stream of tiny copies, a dominant kernel, and
 * most of it outside any range. */
static void neglect(struct rank *r, int dominant, int other, int range, int rounds) {
  const struct nai_gen_copy tiny = {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, 512, 1300, false};
  struct nai_gen_rng *rng = nai_gen_rng(r->plan);
  for (int round = 0; round < rounds; round++) {
    nai_gen_push(r->plan, r->thread, range, NULL);
    nai_gen_launch(r->plan, r->thread, r->compute, other, nai_gen_rng_vary(rng, 60000, 10));
    nai_gen_pop(r->plan, r->thread);
    for (int i = 0; i < 12; i++) {
      nai_gen_copy(r->plan, r->thread, r->compute, &tiny);
    }
    nai_gen_launch(r->plan, r->thread, r->compute, dominant, nai_gen_rng_vary(rng, 300000, 10));
    nai_gen_profiler_overhead(r->plan, r->thread, 30000);
    nai_gen_wait_until(r->plan, r->thread, nai_gen_ready(r->plan, r->compute) - 60000);
  }
}

void nai_gen_plan_neglected(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct rank ranks[2];
  int dominant = nai_gen_kernel(plan, "void naive_attention<float>(const T1 *, T1 *, int)", "naive_attention");
  int other = nai_gen_kernel(plan, "void gather_rows<float>(const T1 *, T1 *, int)", "gather_rows");
  int range = nai_gen_name(plan, "gather");
  int rounds = nai_gen_scaled(plan, 60);
  for (int i = 0; i < 2; i++) {
    open_rank(&ranks[i], plan, i);
  }
  neglect(&ranks[0], dominant, other, range, rounds);
  /* The second GPU does a third of the work in the same time. */
  int64_t share_ns = (nai_gen_now(plan, ranks[0].thread) - nai_gen_now(plan, ranks[1].thread)) / rounds;
  for (int round = 0; round < rounds; round += 3) {
    neglect(&ranks[1], dominant, other, range, 1);
    nai_gen_work(plan, ranks[1].thread, 2 * share_ns);
  }
  nai_gen_diagnostic(plan, 2, "Not all CUDA events were collected: buffer limit reached.");
  nai_gen_diagnostic(plan, 3, "CUDA trace data was dropped.");
  nai_gen_expect_findings(plan, "gpu-imbalance low-nvtx-coverage idle-host-code");
  nai_gen_expect_no_findings(plan, "launch-bound exposed-copy exposed-communication no-nvtx");
}

void nai_gen_plan_no_nvtx(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct rank r;
  int kernels[HEALTHY_KERNELS];
  declare_healthy(plan, kernels);
  open_rank(&r, plan, 0);
  for (int step = 0; step < nai_gen_scaled(plan, 30); step++) {
    for (int k = 0; k < HEALTHY_KERNELS; k++) {
      nai_gen_launch(plan, r.thread, r.compute, kernels[k], nai_gen_rng_vary(nai_gen_rng(plan), 120000, 10));
    }
    nai_gen_synchronize(plan, r.thread, r.compute, API_STREAM_SYNC, 0);
  }
  nai_gen_expect_findings(plan, "no-nvtx");
  nai_gen_expect_no_findings(plan, "low-nvtx-coverage launch-bound exposed-copy idle-host-code");
}
