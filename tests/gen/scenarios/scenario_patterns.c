/* One step of a PyTorch program, repeated, and the same with one loss that programs are known for: what each leaves in
 * a trace, beside a sibling without it. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

#include <stdio.h>

enum { PID = 9001, STEPS = 8, BLOCKS = 6, US = 1000, MS = 1000 * US, NCCL_DOMAIN = 3, OPTIMIZER_PARTS = 60 };
#define MIB (INT64_C(1) << 20)

enum pattern {
  WITHOUT_LOSS,
  NO_PREFETCH,       /* all-gathers start when the block before is done */
  UNSHARDED,         /* the wrapper's ranges, but gradients are reduced as a whole */
  OFFLOAD,           /* each block's parameters come from pinned memory, on the compute stream */
  SCALAR_READS,      /* .item() after each block */
  TENSOR_CONSTANT,   /* torch.tensor(..., device="cuda") before each block */
  LOADER,            /* the batch is loaded when the step needs it */
  MANY_OPTIMIZER,    /* four kernels per parameter in place of a few for all */
  RECOMPUTE,         /* the backward pass runs each block's forward again */
  COMPILE,           /* torch.compile at work in two steps */
  FIRST_TOUCH,       /* a managed array that a kernel of each step touches first */
  ROUND_TRIPS,       /* activations go to the host and come back at once */
  SMALL_COLLECTIVES, /* an all-reduce per scalar */
  UNEVEN,            /* sequences of three lengths */
  COMMUNICATORS      /* made in every step */
};

enum kernel {
  K_NORM,
  K_GEMM,
  K_GEMM_BACKWARD,
  K_ADAM,
  K_ADD,
  K_MUL,
  K_SQRT,
  K_GATHER,
  K_REDUCE,
  K_TINY,
  K_TOUCH,
  KERNELS
};
static const struct nai_gen_kernel_spec kernel_specs[KERNELS] = {
    [K_NORM] = {"void at::native::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)",
                "vectorized_layer_norm_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_GEMM] = {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", NULL, NAI_GEN_COMPUTE, API_LAUNCH_DRIVER},
    [K_GEMM_BACKWARD] = {"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NTN", NULL, NAI_GEN_COMPUTE, API_LAUNCH_DRIVER},
    [K_ADAM] = {"void at::native::<unnamed>::multi_tensor_apply_kernel<at::native::<unnamed>::"
                "FusedOptimizerTensorListMetadata<(int)4>, at::native::<unnamed>::FusedAdamMathFunctor<float, (int)4>>",
                "multi_tensor_apply_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_ADD] = {"void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>>(int)",
               "vectorized_elementwise_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_MUL] = {"void at::native::vectorized_elementwise_kernel<(int)4, at::native::MulFunctor<float>>(int)",
               "vectorized_elementwise_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_SQRT] = {"void at::native::vectorized_elementwise_kernel<(int)4, at::native::sqrt_kernel_cuda>(int)",
                "vectorized_elementwise_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_GATHER] = {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                  "ncclDevKernel_AllGather_RING_LL", NAI_GEN_COMM, API_LAUNCH_EX},
    [K_REDUCE] = {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", NAI_GEN_COMM, API_LAUNCH_EX},
    [K_TINY] = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL", NAI_GEN_COMM, API_LAUNCH_EX},
    [K_TOUCH] = {"void at::native::index_elementwise_kernel<(int)128, (int)4>(long)", "index_elementwise_kernel",
                 NAI_GEN_COMPUTE, API_LAUNCH},
};

struct program {
  struct nai_gen_plan *plan;
  enum pattern pattern;
  int kernels[KERNELS];
  int main, autograd, compute, nccl;
  int step;
  int64_t touched; /* pages */
};

static void push(struct program *p, int thread, const char *name) {
  nai_gen_push(p->plan, thread, nai_gen_name(p->plan, name), NULL);
}

static void pop(struct program *p, int thread) { nai_gen_pop(p->plan, thread); }

static void push_numbered(struct program *p, const char *begin, int number, const char *end) {
  char name[64];
  snprintf(name, sizeof name, "%s%d%s", begin, number, end);
  push(p, p->main, name);
}

static void run(struct program *p, int thread, const char *range, enum kernel kernel, int64_t ns) {
  push(p, thread, range);
  nai_gen_launch(p->plan, thread, p->compute, p->kernels[kernel], ns);
  pop(p, thread);
}

/* --- what blocks need ------------------------------------------------------------------------- */

static void gather(struct program *p, bool behind_compute) {
  if (behind_compute)
    nai_gen_stream_wait(p->plan, p->main, p->nccl, p->compute);
  nai_gen_launch(p->plan, p->main, p->nccl, p->kernels[K_GATHER], 400 * US);
}

static void get_parameters(struct program *p, int block) {
  static const int64_t sizes[] = {16 * MIB, 8 * MIB};
  push_numbered(p, "FSDP::pre_forward (encoder.block.", block, ")");
  if (p->pattern == OFFLOAD)
    for (int i = 0; i < 2; i++)
      nai_gen_copy(p->plan, p->main, p->compute,
                   &(struct nai_gen_copy){NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, sizes[i], sizes[i] / 25,
                                          false});
  else if (p->pattern == NO_PREFETCH || (p->pattern != UNSHARDED && block == 0))
    gather(p, p->pattern == NO_PREFETCH);
  if (p->pattern != UNSHARDED && p->pattern != OFFLOAD)
    nai_gen_stream_wait(p->plan, p->main, p->compute, p->nccl);
  pop(p, p->main);
}

/* A value of 4 or 8 bytes that the host reads or sends, and waits for. */
static void move_scalar(struct program *p, int direction, const char *const ranges[3]) {
  struct nai_gen_copy scalar = {direction, NAI_GEN_PAGEABLE, NAI_GEN_DEVICE, 8, 1500, false};
  if (direction == NAI_GEN_DTOH)
    scalar = (struct nai_gen_copy){direction, NAI_GEN_DEVICE, NAI_GEN_PAGEABLE, 4, 1500, false};
  for (int i = 0; i < 3; i++)
    push(p, p->main, ranges[i]);
  nai_gen_copy(p->plan, p->main, p->compute, &scalar);
  nai_gen_synchronize(p->plan, p->main, p->compute, API_STREAM_SYNC, 0);
  for (int i = 0; i < 3; i++)
    pop(p, p->main);
  nai_gen_work(p->plan, p->main, 150 * US);
}

static void compute_block(struct program *p, int thread) {
  run(p, thread, "aten::native_layer_norm", K_NORM, 60 * US);
  for (int i = 0; i < 2; i++)
    run(p, thread, "aten::addmm", K_GEMM, p->pattern == UNEVEN ? (100 + 200 * (p->step % 3)) * US : 300 * US);
}

static void copy_out_and_back(struct program *p) {
  static const struct nai_gen_copy ways[] = {
      {NAI_GEN_DTOH, NAI_GEN_DEVICE, NAI_GEN_PINNED, 12 * MIB, 12 * MIB / 25, false},
      {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, 12 * MIB, 12 * MIB / 25, false}};
  for (int i = 0; i < 2; i++)
    nai_gen_copy(p->plan, p->main, p->compute, &ways[i]);
}

static void reduce_scalars(struct program *p) {
  for (int i = 0; i < 20; i++)
    nai_gen_launch(p->plan, p->autograd, p->compute, p->kernels[K_TINY], 12 * US);
}

static void make_communicators(struct program *p) {
  for (int i = 0; i < 2; i++) {
    nai_gen_push_id(p->plan, p->main, nai_gen_name(p->plan, "ncclCommInitRankConfig"), NCCL_DOMAIN);
    nai_gen_work(p->plan, p->main, 9 * MS);
    nai_gen_pop(p->plan, p->main);
  }
}

static void forward_block(struct program *p, int block) {
  static const char *const reads[] = {"aten::is_nonzero", "aten::item", "aten::_local_scalar_dense"},
                           *const makes[] = {"aten::to", "aten::_to_copy", "aten::copy_"};
  push_numbered(p, "encoder.block.", block, "");
  get_parameters(p, block);
  if (p->pattern == TENSOR_CONSTANT)
    move_scalar(p, NAI_GEN_HTOD, makes);
  if (p->pattern != UNSHARDED && p->pattern != NO_PREFETCH && p->pattern != OFFLOAD && block + 1 < BLOCKS)
    gather(p, false);
  compute_block(p, p->main);
  if (p->pattern == SCALAR_READS)
    move_scalar(p, NAI_GEN_DTOH, reads);
  if (p->pattern == ROUND_TRIPS)
    copy_out_and_back(p);
  pop(p, p->main);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void backward_block(struct program *p) {
  if (p->pattern == RECOMPUTE) {
    push(p, p->autograd, "CheckpointFunctionBackward");
    compute_block(p, p->autograd);
  }
  for (int i = 0; i < 2; i++)
    run(p, p->autograd, "AddmmBackward0", K_GEMM_BACKWARD, 500 * US);
  run(p, p->autograd, "NativeLayerNormBackward0", K_NORM, 90 * US);
  if (p->pattern == RECOMPUTE)
    pop(p, p->autograd);
  if (p->pattern == SMALL_COLLECTIVES)
    reduce_scalars(p);
}

static void optimize(struct program *p) {
  push(p, p->main, "Optimizer.step#AdamW.step");
  if (p->pattern != MANY_OPTIMIZER)
    for (int i = 0; i < 4; i++)
      run(p, p->main, "aten::_fused_adamw_", K_ADAM, 30 * US);
  for (int i = 0; i < OPTIMIZER_PARTS && p->pattern == MANY_OPTIMIZER; i++) {
    run(p, p->main, "aten::mul_", K_MUL, 2 * US);
    run(p, p->main, "aten::lerp_", K_ADD, 2 * US);
    run(p, p->main, "aten::sqrt", K_SQRT, 2 * US);
    run(p, p->main, "aten::addcdiv_", K_ADD, 2 * US);
    nai_gen_work(p->plan, p->main, 8 * US);
  }
  pop(p, p->main);
}

static void load_batch(struct program *p) {
  static const struct nai_gen_copy batch = {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, 4 * MIB, 160 * US, false};
  push(p, p->main, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
  nai_gen_work(p->plan, p->main, p->pattern == LOADER ? 6 * MS : 20 * US);
  pop(p, p->main);
  nai_gen_copy(p->plan, p->main, p->compute, &batch);
}

static void compile_step(struct program *p) {
  push(p, p->main, "torch._inductor.compile_fx");
  nai_gen_work(p->plan, p->main, 60 * MS);
  nai_gen_call(p->plan, p->main, API_MODULE_LOAD, 2 * MS);
  pop(p, p->main);
}

/* A kernel that waits for the pages of what the host wrote. */
static void touch_pages(struct program *p) {
  enum { PAGES = 40, MIGRATION_NS = 40 * US };
  int64_t end = nai_gen_launch(p->plan, p->main, p->compute, p->kernels[K_TOUCH], 50 * 40 * US);
  for (int i = 0; i < PAGES; i++) {
    struct nai_gen_row row;
    int64_t start = end - (50 - i) * MIGRATION_NS;
    static const char *const columns[] = {"deviceId", "contextId", "streamId", "correlationId", "bytes",
                                          "copyKind", "srcKind",   "dstKind",  "migrationCause"};
    static const int64_t values[] = {0, 1, 0, 0, 65536, 11, 4, 4, 2};
    nai_gen_row_start(&row, "CUPTI_ACTIVITY_KIND_MEMCPY");
    nai_gen_row_int(&row, "start", start);
    nai_gen_row_int(&row, "end", start + MIGRATION_NS - US);
    nai_gen_row_int(&row, "globalPid", (INT64_C(1) << 48) | ((int64_t)PID << 24));
    nai_gen_row_int(&row, "virtualAddress", 0x7000000000 + (p->touched++) * 65536);
    for (size_t c = 0; c < sizeof values / sizeof *values; c++)
      nai_gen_row_int(&row, columns[c], values[c]);
    nai_gen_raw_row(p->plan, &row, NULL);
  }
}

static void train_step(struct program *p, int step) {
  p->step = step;
  push_numbered(p, "train_step ", step, "");
  load_batch(p);
  if (p->pattern == COMPILE && step % 4 == 1)
    compile_step(p);
  if (p->pattern == FIRST_TOUCH)
    touch_pages(p);
  if (p->pattern == COMMUNICATORS && step > 0)
    make_communicators(p);
  for (int block = 0; block < BLOCKS; block++)
    forward_block(p, block);
  nai_gen_wait_until(p->plan, p->autograd, nai_gen_now(p->plan, p->main));
  for (int block = 0; block < BLOCKS; block++)
    backward_block(p);
  nai_gen_wait_until(p->plan, p->main, nai_gen_now(p->plan, p->autograd));
  if (p->pattern == UNSHARDED) {
    nai_gen_stream_wait(p->plan, p->main, p->nccl, p->compute);
    nai_gen_launch(p->plan, p->main, p->nccl, p->kernels[K_REDUCE], 400 * US);
    nai_gen_stream_wait(p->plan, p->main, p->compute, p->nccl);
  }
  optimize(p);
  nai_gen_synchronize(p->plan, p->main, p->compute, API_STREAM_SYNC, 0); /* loss.item() */
  pop(p, p->main);
}

static void train(struct nai_gen_plan *plan, enum pattern pattern) {
  struct program p = {.plan = plan, .pattern = pattern};
  int process = nai_gen_process(plan, PID, "python3");
  int context = nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0));
  p.main = nai_gen_thread(plan, process, PID, "python3");
  p.autograd = nai_gen_thread(plan, process, PID + 9, "pt_autograd_0");
  p.compute = nai_gen_stream(plan, context, 7);
  p.nccl = nai_gen_stream(plan, context, 20);
  nai_gen_even_shapes(plan);
  nai_gen_kernels(plan, p.kernels, kernel_specs, KERNELS);
  nai_gen_kernel_shape(plan, p.kernels[K_TINY], 2, 512);
  nai_gen_domain(plan, p.main, NCCL_DOMAIN, "NCCL");
  for (int step = 0; step < STEPS; step++)
    train_step(&p, step);
}

#define PATTERN(name, pattern)                                                \
  void nai_gen_plan_train_##name(struct nai_gen_plan *plan, int64_t target) { \
    (void)target;                                                             \
    train(plan, pattern);                                                     \
  }
PATTERN(plain, WITHOUT_LOSS)
PATTERN(no_prefetch, NO_PREFETCH)
PATTERN(unsharded, UNSHARDED)
PATTERN(offload, OFFLOAD)
PATTERN(scalar_reads, SCALAR_READS)
PATTERN(constants, TENSOR_CONSTANT)
PATTERN(loader, LOADER)
PATTERN(optimizer, MANY_OPTIMIZER)
PATTERN(recompute, RECOMPUTE)
PATTERN(compile, COMPILE)
PATTERN(first_touch, FIRST_TOUCH)
PATTERN(round_trips, ROUND_TRIPS)
PATTERN(small_collectives, SMALL_COLLECTIVES)
PATTERN(uneven, UNEVEN)
PATTERN(communicators, COMMUNICATORS)
