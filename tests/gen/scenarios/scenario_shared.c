/* Several processes that all call their GPU device 0, with and without the table that tells which.
 */
#include "gen/scenario.h"

struct worker {
  struct nai_gen_plan *plan;
  int thread, stream;
  int gemm, softmax, range;
};

static void open_worker(struct worker *w, struct nai_gen_plan *plan, int pid, int gpu) {
  w->plan = plan;
  int process = nai_gen_process(plan, pid, "python3");
  /* Processes count correlation ids alike: a join on the id alone invents pairs. */
  nai_gen_correlation_base(plan, process, 5000);
  w->thread = nai_gen_thread(plan, process, pid, "python3");
  w->stream = nai_gen_stream(plan, nai_gen_context(plan, process, 0, 1, gpu), 7);
  w->gemm = nai_gen_kernel(plan, "void gemm_tile<float, (int)128>(const T1 *, const T1 *, T1 *)", "gemm_tile");
  w->softmax = nai_gen_kernel(plan, "void softmax_rows<float>(const T1 *, T1 *, int)", "softmax_rows");
  w->range = nai_gen_name(plan, "request");
}

static void serve(struct worker *w) {
  const struct nai_gen_copy input = {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, INT64_C(2) << 20, 90000, false};
  struct nai_gen_rng *rng = nai_gen_rng(w->plan);
  nai_gen_push(w->plan, w->thread, w->range, NULL);
  nai_gen_copy(w->plan, w->thread, w->stream, &input);
  for (int i = 0; i < 5; i++) {
    nai_gen_launch(w->plan, w->thread, w->stream, w->gemm, nai_gen_rng_vary(rng, 210000, 10));
    nai_gen_launch(w->plan, w->thread, w->stream, w->softmax, nai_gen_rng_vary(rng, 160000, 10));
  }
  nai_gen_synchronize(w->plan, w->thread, w->stream, API_STREAM_SYNC, 0);
  nai_gen_pop(w->plan, w->thread);
}

static void serve_all(struct nai_gen_plan *plan, struct worker *workers, int count) {
  for (int round = 0; round < nai_gen_scaled(plan, 15); round++) {
    for (int i = 0; i < count; i++) {
      serve(&workers[i]);
    }
  }
  nai_gen_expect_no_findings(plan, "launch-bound idle-host-code low-nvtx-coverage");
}

void nai_gen_plan_shared_gpu(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct worker workers[2];
  nai_gen_hide_devices(plan);
  for (int i = 0; i < 2; i++) {
    open_worker(&workers[i], plan, 9001 + 10 * i, nai_gen_gpu(plan, -1));
  }
  serve_all(plan, workers, 2);
  nai_gen_expect_no_findings(plan, "gpu-imbalance");
  nai_gen_caveat(plan, "device-shared-by-processes");
}

void nai_gen_plan_shared_gpu_mapped(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct worker workers[3];
  int gpus[2] = {nai_gen_gpu(plan, 3), nai_gen_gpu(plan, 5)};
  const int gpu_of[3] = {gpus[0], gpus[1], gpus[0]};
  for (int i = 0; i < 3; i++) {
    open_worker(&workers[i], plan, 9001 + 10 * i, gpu_of[i]);
  }
  serve_all(plan, workers, 3);
}
