/* One training loop in variants that differ in one known thing each: what comparisons have to find. The seed is the
 * capture: it decides how much longer or shorter everything is this time (sd about 0.5 %), and nothing else. */
#include "gen/scenario.h"

#include <math.h>

enum { STEPS = 12, FEWER_STEPS = 9, WARM_UP = 1, LAYERS = 6 };

/* What differs from the base. */
struct variant {
  int gemm_pct, all_pct; /* by how much kernels are longer */
  bool renumbered;       /* Inductor's indices are others */
  bool retuned;          /* another tile of one GEMM */
  bool fused;            /* three elementwise kernels have become one */
  bool waits;            /* a wait and a copy from pageable memory in every step */
  bool fewer;            /* a shorter capture */
};

enum kernel {
  K_GEMM,
  K_GEMM_OUT,
  K_NORM,
  K_MUL,
  K_ADD,
  K_CAST,
  K_FUSED,
  K_TRITON_A,
  K_TRITON_B,
  K_LOSS,
  K_CLIP,
  K_ADAM,
  K_ZERO,
  KERNELS
};

static const char gemm_out[] = "nvjet_tst_128x128_64x4_2x1_v_bz_bias_TNN";
static const char gemm_out_retuned[] = "nvjet_tst_96x64_64x10_1x2_h_bz_bias_TNN";

static void make_kernels(int *handles, struct nai_gen_plan *plan, const struct variant *v) {
  const char *const names[KERNELS] = {
      [K_GEMM] = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN",
      [K_GEMM_OUT] = v->retuned ? gemm_out_retuned : gemm_out,
      [K_NORM] = "void at::native::<unnamed>::vectorized_layer_norm_kernel<float, float>(int, T2)",
      [K_MUL] = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::MulFunctor<float>>(int, T2, T3)",
      [K_ADD] = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::AddFunctor<float>>(int, T2, T3)",
      [K_CAST] = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::TanhFunctor<float>>(int, T2, T3)",
      [K_FUSED] = "void my::fused_activation_elementwise_kernel<float>(int, T2, T3)",
      [K_TRITON_A] = v->renumbered ? "triton_poi_fused_add_mul_7" : "triton_poi_fused_add_mul_1",
      [K_TRITON_B] = v->renumbered ? "triton_red_fused_sum_9" : "triton_red_fused_sum_2",
      [K_LOSS] = "void at::native::reduce_kernel<(int)512, (int)1>(T3)",
      [K_CLIP] = "void my::clip_gradients_kernel<float>(int, T2)",
      [K_ADAM] = "void my::adam_kernel<float>(int, T2)",
      [K_ZERO] = "void my::zero_gradients_kernel<float>(int, T2)",
  };
  for (int i = 0; i < KERNELS; i++)
    handles[i] = nai_gen_kernel(plan, names[i], names[i]);
}

struct loop {
  struct nai_gen_plan *plan;
  const struct variant *v;
  int thread, stream, kernels[KERNELS];
  int step, forward, act, optimizer;
  double capture; /* factor of everything in this capture */
};

static void launch(struct loop *l, enum kernel kernel, int64_t ns) {
  bool gemm = kernel == K_GEMM || kernel == K_GEMM_OUT;
  double factor = l->capture * (1 + l->v->all_pct / 100.0) * (gemm ? 1 + l->v->gemm_pct / 100.0 : 1);
  nai_gen_launch(l->plan, l->thread, l->stream, l->kernels[kernel], (int64_t)llround((double)ns * factor));
}

static void activation(struct loop *l) {
  nai_gen_push(l->plan, l->thread, l->act, NULL);
  if (l->v->fused) {
    launch(l, K_FUSED, 30000);
  } else {
    launch(l, K_MUL, 22000);
    launch(l, K_ADD, 21000);
    launch(l, K_CAST, 20000);
  }
  nai_gen_pop(l->plan, l->thread);
}

static void run_step(struct loop *l, double warm) {
  double before = l->capture;
  l->capture *= warm;
  nai_gen_push(l->plan, l->thread, l->step, NULL);
  nai_gen_push(l->plan, l->thread, l->forward, NULL);
  for (int layer = 0; layer < LAYERS; layer++) {
    launch(l, K_NORM, 15000);
    launch(l, K_GEMM, 180000);
    activation(l);
    launch(l, K_GEMM_OUT, 140000);
  }
  nai_gen_pop(l->plan, l->thread);
  nai_gen_push(l->plan, l->thread, l->optimizer, NULL);
  launch(l, K_TRITON_A, 60000);
  launch(l, K_TRITON_B, 40000);
  launch(l, K_LOSS, 12000);
  launch(l, K_CLIP, 9000);
  launch(l, K_ADAM, 30000);
  launch(l, K_ZERO, 11000);
  nai_gen_pop(l->plan, l->thread);
  if (l->v->waits) {
    const struct nai_gen_copy copy = {NAI_GEN_DTOH, NAI_GEN_DEVICE, NAI_GEN_PAGEABLE, 4096, 3000, true};
    nai_gen_copy(l->plan, l->thread, l->stream, &copy);
    nai_gen_work(l->plan, l->thread, 150000);
  }
  nai_gen_synchronize(l->plan, l->thread, l->stream, API_STREAM_SYNC, 2000);
  nai_gen_pop(l->plan, l->thread);
  nai_gen_work(l->plan, l->thread, (int64_t)llround(40000 * l->capture));
  l->capture = before;
}

static void plan_variant(struct nai_gen_plan *plan, const struct variant *v) {
  struct loop l = {.plan = plan, .v = v};
  int process = nai_gen_process(plan, 4711, "python3"), steps = v->fewer ? FEWER_STEPS : STEPS;
  l.thread = nai_gen_thread(plan, process, 4711, "python3");
  l.stream = nai_gen_stream(plan, nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0)), 7);
  make_kernels(l.kernels, plan, v);
  l.step = nai_gen_name(plan, "train_step");
  l.forward = nai_gen_name(plan, "forward");
  l.act = nai_gen_name(plan, "activation");
  l.optimizer = nai_gen_name(plan, "optimizer");
  /* Twelve uniform numbers make one that is nearly normal. */
  double sum = 0;
  for (int i = 0; i < 12; i++)
    sum += (double)nai_gen_rng_between(nai_gen_rng(plan), 0, 1000000) / 1e6;
  l.capture = 1 + 0.005 * (sum - 6);
  nai_gen_work(plan, l.thread, 100000);
  for (int step = 0; step < steps; step++)
    run_step(&l, step < WARM_UP ? 2 : 1);
}

#define VARIANT(function, ...)                                     \
  void function(struct nai_gen_plan *plan, int64_t target_bytes) { \
    const struct variant variant = {__VA_ARGS__};                  \
    (void)target_bytes;                                            \
    plan_variant(plan, &variant);                                  \
  }
VARIANT(nai_gen_plan_loop, .all_pct = 0)
VARIANT(nai_gen_plan_loop_slower, .gemm_pct = 8)
VARIANT(nai_gen_plan_loop_renumbered, .renumbered = true)
VARIANT(nai_gen_plan_loop_retuned, .retuned = true)
VARIANT(nai_gen_plan_loop_fused, .fused = true)
VARIANT(nai_gen_plan_loop_drift, .all_pct = 5)
VARIANT(nai_gen_plan_loop_waits, .waits = true)
VARIANT(nai_gen_plan_loop_fewer, .fewer = true)
