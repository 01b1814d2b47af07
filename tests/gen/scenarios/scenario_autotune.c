/* A library that tries variants of a kernel before it uses one, and two programs' habits that look alike: a series of
 * sizes with a kernel each, and the same kernel with many grids. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

#include <stdio.h>

enum { PID = 7301, VARIANTS = 8, REPEATS = 3, USES = 60, SIZES = 7, US = 1000 };

struct program {
  struct nai_gen_program p;
  int variant[VARIANTS], size[SIZES], grid[SIZES], clear, activate;
};

static void declare(struct program *p, struct nai_gen_plan *plan) {
  char name[96];
  nai_gen_program(&p->p, plan, PID, "server");
  for (int i = 0; i < VARIANTS; i++) {
    snprintf(name, sizeof name, "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize%dx64x32_stage4", 32 * (i + 1));
    p->variant[i] = nai_gen_kernel(plan, name, NULL);
  }
  for (int i = 0; i < SIZES; i++) {
    snprintf(name, sizeof name, "ampere_sgemm_%dx32_sliced1x4_nn", 32 << i);
    p->size[i] = nai_gen_kernel(plan, name, NULL);
    p->grid[i] = nai_gen_kernel(plan, "void smooth<float>(T1 *, int)", NULL);
    nai_gen_kernel_shape(plan, p->grid[i], 8 << i, 128);
  }
  p->clear = nai_gen_kernel(plan, "void vectorized_elementwise_kernel<4, FillFunctor<int>>(int, T1)", NULL);
  p->activate = nai_gen_kernel(plan, "void activate<float>(T1 *, int)", NULL);
}

static void run(struct program *p, int kernel, int64_t ns) {
  nai_gen_launch(p->p.plan, p->p.thread, p->p.stream, kernel, ns);
}

/* The third is the fastest. Memory is cleared before each, so that no cache helps. */
static int64_t length(int variant) { return variant == 2 ? 300 * US : (400 + 50 * variant) * US; }

static int64_t try_variants(struct program *p) {
  int64_t lost = 0;
  for (int i = 0; i < VARIANTS; i++) {
    for (int r = 0; r < REPEATS; r++) {
      run(p, p->clear, 5 * US);
      run(p, p->variant[i], length(i));
      lost += i == 2 ? 0 : length(i);
    }
  }
  return lost;
}

void nai_gen_plan_autotune(struct nai_gen_plan *plan, int64_t target_bytes) {
  struct program p;
  (void)target_bytes;
  declare(&p, plan);
  int64_t lost = try_variants(&p);
  for (int i = 0; i < USES; i++) {
    run(&p, p.variant[2], length(2));
    run(&p, p.activate, 50 * US);
  }
  for (int i = 0; i < SIZES; i++) { /* larger and larger products */
    run(&p, p.size[i], 20 * US << i);
  }
  for (int i = 0; i < USES; i++) {
    run(&p, p.size[SIZES - 1], 20 * US << (SIZES - 1));
    run(&p, p.activate, 50 * US);
  }
  for (int i = 0; i < SIZES; i++) { /* and smaller grids */
    run(&p, p.grid[SIZES - 1 - i], 20 * US << (SIZES - 1 - i));
  }
  for (int i = 0; i < USES; i++) {
    run(&p, p.grid[0], 20 * US);
    run(&p, p.activate, 50 * US);
  }
  nai_gen_synchronize(plan, p.p.thread, p.p.stream, API_STREAM_SYNC, 0);
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "autotuning",
                                            .key = "sm#_xmma_gemm_bf#bf#_bf#f#_f#_tn_n_tilesize#x#x#_stage#",
                                            .count = VARIANTS,
                                            .exact_ns = lost});
  nai_gen_fact(plan,
               &(struct nai_gen_fact){.table = "autotuning", .key = "ampere_sgemm_#x#_sliced#x#_nn", .absent = true});
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "autotuning", .key = "void smooth", .absent = true});
  nai_gen_expect_findings(plan, "autotuning-in-window");
}
