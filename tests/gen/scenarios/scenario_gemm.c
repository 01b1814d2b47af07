/* Matrix products and elementwise operations with the sizes of their inputs in range names, as PyTorch records them: at
 * known parts of what an H100 (989.4 TFLOP/s in BF16, 3352.32 GB/s) allows. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

#include <stdio.h>

enum { PID = 6901, STEPS = 10, REPLAYS = 3, REPLAY_NS = 20000, CAPTURED = 4, EXECUTABLE = 8 };

/* An operation inside another, and what it launches. */
struct product {
  const char *around, *op, *sizes, *kernel, *helper; /* helper: NULL for one kernel */
  int64_t ns, helper_ns;
};

static const struct product products[] = {
    /* 2 x 8192 x 4096 x 4096 operations: 277.8 us at the peak */
    {"aten::linear", "aten::addmm", "[[4096], [8192, 4096], [4096, 4096], [], []]",
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "void splitKreduce_kernel<32, 16>(T1 *)", 400000,
     20000},
    /* 8 rows: 10.1 us for reading the matrix */
    {"aten::matmul", "aten::mm", "[[8, 4096], [4096, 4102]]", "nvjet_tst_64x8_64x16_4x1_v_bz_TNT", NULL, 300000, 0},
    /* 2 x 128 x 2048 x 2048 x 256 operations: 277.8 us */
    {"aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
     "[[4, 32, 2048, 128], [4, 32, 2048, 128], [4, 32, 2048, 128], [], [], [], []]",
     "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, cutlass::bfloat16_t>>(Params)", NULL,
     500000, 0},
    /* 33,554,432 values of 2 bytes, twice read and once written: 60.1 us at the memory's bandwidth */
    {"forward", "aten::mul", "[[8192, 4096], [8192, 4096]]",
     "void at::native::vectorized_elementwise_kernel<(int)8, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, "
     "c10::BFloat16, at::native::binary_internal::MulFunctor<float>>, std::array<char *, (unsigned long)3>>(int, T2, T3)",
     NULL, 75000, 0},
    /* read as it is and written in another type */
    {"forward", "aten::copy_", "[[8192, 4096], [8192, 4096], []]",
     "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda(float) "
     "(instance 1)], std::array<char *, (unsigned long)2>, (int)4, at::native::memory::LoadWithCast<(int)1>>(int, T1, T2)",
     NULL, 70000, 0},
    /* a row of 4,096 values, added to each of 8 */
    {"forward", "aten::add_", "[[8, 4096], [4096], []]",
     "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl_nocast<"
     "at::native::CUDAFunctor_add<c10::Half>>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)",
     NULL, 3000, 0},
};
enum { PRODUCTS = sizeof products / sizeof *products, MATRIX_PRODUCTS = 3 }; /* the others are elementwise */

struct program {
  struct nai_gen_program p;
  int kernel[PRODUCTS], helper[PRODUCTS], around[PRODUCTS], op[PRODUCTS];
  int unsized, batched;
};

static void push_op(struct program *p, int name, const char *sizes) {
  char suffix[256];
  snprintf(suffix, sizeof suffix, ", seq = 7, op_id = 9, sizes = %s, input_op_ids = [(3,0)]", sizes);
  nai_gen_push(p->p.plan, p->p.thread, name, suffix);
}

static void run_product(struct program *p, int i) {
  nai_gen_push(p->p.plan, p->p.thread, p->around[i], NULL);
  push_op(p, p->op[i], products[i].sizes);
  nai_gen_launch(p->p.plan, p->p.thread, p->p.stream, p->kernel[i], products[i].ns);
  if (products[i].helper) {
    nai_gen_launch(p->p.plan, p->p.thread, p->p.stream, p->helper[i], products[i].helper_ns);
  }
  nai_gen_pop(p->p.plan, p->p.thread);
  nai_gen_pop(p->p.plan, p->p.thread);
}

static void declare(struct program *p, struct nai_gen_plan *plan) {
  nai_gen_program(&p->p, plan, PID, "trainer");
  for (int i = 0; i < PRODUCTS; i++) {
    p->kernel[i] = nai_gen_kernel(plan, products[i].kernel, NULL);
    p->helper[i] = products[i].helper ? nai_gen_kernel(plan, products[i].helper, NULL) : -1;
    p->around[i] = nai_gen_name(plan, products[i].around);
    p->op[i] = nai_gen_name(plan, products[i].op);
  }
  p->unsized = nai_gen_kernel(plan, "void fused_gemm_silu<float>(T1 *, int)", NULL);
  p->batched = nai_gen_kernel(plan, "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn", NULL);
}

/* A product of 64 pairs is captured once and replayed. */
static void capture(struct program *p) {
  push_op(p, nai_gen_name(p->p.plan, "aten::bmm"), "[[64, 512, 128], [64, 128, 512]]");
  nai_gen_graph_capture(p->p.plan, p->p.thread, CAPTURED, 0);
  nai_gen_pop(p->p.plan, p->p.thread);
  nai_gen_call(p->p.plan, p->p.thread, API_GRAPH_INSTANTIATE, 300000);
  nai_gen_graph_clone(p->p.plan, p->p.thread, CAPTURED, EXECUTABLE, 0);
}

static void state(struct nai_gen_plan *plan, const char *op, int64_t count, int64_t ns) {
  nai_gen_fact(plan, &(struct nai_gen_fact){
                         .table = "gemm_shapes", .key = op, .value = "bf16", .count = count, .exact_ns = count * ns});
}

void nai_gen_plan_gemm(struct nai_gen_plan *plan, int64_t target_bytes) {
  struct program p;
  (void)target_bytes;
  declare(&p, plan);
  capture(&p);
  for (int s = 0; s < STEPS; s++) {
    char name[32];
    snprintf(name, sizeof name, "step %d", s);
    nai_gen_push(plan, p.p.thread, nai_gen_name(plan, name), NULL);
    for (int i = 0; i < PRODUCTS; i++) {
      run_product(&p, i);
    }
    nai_gen_launch(plan, p.p.thread, p.p.stream, p.unsized, 60000);
    for (int r = 0; r < REPLAYS; r++) {
      nai_gen_graph_nodes(plan, p.p.thread, p.p.stream, EXECUTABLE, &(struct nai_gen_node){p.batched, REPLAY_NS}, 1);
    }
    nai_gen_synchronize(plan, p.p.thread, p.p.stream, API_STREAM_SYNC, 0);
    nai_gen_pop(plan, p.p.thread);
  }
  for (int i = 0; i < MATRIX_PRODUCTS; i++) {
    state(plan, products[i].op, STEPS, products[i].ns + products[i].helper_ns);
  }
  state(plan, "aten::bmm", STEPS * REPLAYS, REPLAY_NS);
  nai_gen_expect_findings(plan, "gemm-below-roofline");
}
