/* Data-parallel training on two GPUs, one process each: forward on the main thread, backward on
 * PyTorch's autograd thread, gradients reduced by NCCL behind the backward pass. */
#include <stdio.h>

#include "gen/scenario.h"

enum { RANKS = 2, LAYERS = 12, NCCL_DOMAIN = 3 };

enum kernel {
  K_GEMM,
  K_GEMM_BACKWARD,
  K_NORM,
  K_NORM_BACKWARD,
  K_ATTENTION,
  K_ATTENTION_BACKWARD,
  K_GELU,
  K_GELU_BACKWARD,
  K_LOSS,
  K_ADAM,
  K_REDUCE,
  KERNELS
};

static const struct nai_gen_kernel_spec kernel_specs[KERNELS] = {
    [K_GEMM] = {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", NULL, NAI_GEN_COMPUTE, API_LAUNCH_DRIVER},
    [K_GEMM_BACKWARD] = {"nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NTN", NULL, NAI_GEN_COMPUTE, API_LAUNCH_DRIVER},
    [K_NORM] = {"void at::native::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float, "
                "(bool)0>(int, T2, const T1 *, const T1 *, const T1 *, T2 *, T2 *, T1 *)",
                "vectorized_layer_norm_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_NORM_BACKWARD] = {"void at::native::<unnamed>::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, "
                         "float, (bool)0>(const T1 *, const T1 *, T1 *, int)",
                         "layer_norm_grad_input_kernel_vectorized", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_ATTENTION] = {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)64, (int)128, "
                     "(int)128, (int)4>, (bool)0, (bool)1>(pytorch_flash::Flash_fwd_params)",
                     "flash_fwd_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_ATTENTION_BACKWARD] =
        {"void "
         "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<(int)"
         "64, (int)128, (int)128, (int)8>, (bool)0>(pytorch_flash::Flash_bwd_params)",
         "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_GELU] = {"void at::native::vectorized_elementwise_kernel<(int)8, "
                "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase &)::[lambda(c10::BFloat16) "
                "(instance 1)]>(int, T2, T3)",
                "vectorized_elementwise_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_GELU_BACKWARD] = {"void at::native::vectorized_elementwise_kernel<(int)4, "
                         "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase "
                         "&)::[lambda(c10::BFloat16) (instance 1)]>(int, T2, T3)",
                         "vectorized_elementwise_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_LOSS] = {"void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, "
                "at::native::MeanOps<float, float>, unsigned int, float, (int)4, (int)4>>(T3)",
                "reduce_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_ADAM] = {"void "
                "at::native::<unnamed>::multi_tensor_apply_kernel<at::native::<unnamed>::"
                "FusedOptimizerTensorListMetadata<(int)4>, "
                "at::native::<unnamed>::FusedAdamMathFunctor<float, (int)4>>(T1, T2)",
                "multi_tensor_apply_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [K_REDUCE] = {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", NAI_GEN_COMM, API_LAUNCH_EX},
};

/* Hand-written ranges, forward operators, autograd nodes, optimizer, NCCL. */
enum name {
  N_ZERO_GRAD,
  N_FORWARD,
  N_BACKWARD,
  N_OPTIMIZER,
  N_LINEAR,
  N_ADDMM,
  N_LAYER_NORM,
  N_ATTENTION,
  N_GELU,
  N_MSE,
  N_COPY,
  N_ADDMM_BACKWARD,
  N_NORM_BACKWARD,
  N_ATTENTION_BACKWARD,
  N_GELU_BACKWARD,
  N_ADAM,
  N_ALLREDUCE,
  N_GROUP_START,
  NAMES
};

static const struct nai_gen_name_spec name_specs[NAMES] = {
    [N_ZERO_GRAD] = {"zero_grad", NULL},
    [N_FORWARD] = {"forward", "forward"},
    [N_BACKWARD] = {"backward", "backward"},
    [N_OPTIMIZER] = {"optimizer_step", "optimizer"},
    [N_LINEAR] = {"aten::linear", NULL},
    [N_ADDMM] = {"aten::addmm", NULL},
    [N_LAYER_NORM] = {"aten::native_layer_norm", NULL},
    [N_ATTENTION] = {"aten::_scaled_dot_product_flash_attention", NULL},
    [N_GELU] = {"aten::gelu", NULL},
    [N_MSE] = {"aten::mse_loss", NULL},
    [N_COPY] = {"aten::copy_", NULL},
    [N_ADDMM_BACKWARD] = {"AddmmBackward0", "backward"},
    [N_NORM_BACKWARD] = {"NativeLayerNormBackward0", "backward"},
    [N_ATTENTION_BACKWARD] = {"ScaledDotProductFlashAttentionBackward0", "backward"},
    [N_GELU_BACKWARD] = {"GeluBackward0", "backward"},
    [N_ADAM] = {"Optimizer.step#AdamW.step", NULL},
    [N_ALLREDUCE] = {"ncclAllReduce", NULL},
    [N_GROUP_START] = {"ncclGroupStart", NULL},
};

struct rank {
  struct nai_gen_plan *plan;
  const int *kernels; /* by enum kernel */
  const int *names;   /* by enum name */
  int main, autograd, watchdog;
  int compute, nccl;
  int64_t op_id, sequence;
};

static void launch(struct rank *r, int thread, enum kernel kernel, int64_t duration_ns) {
  nai_gen_launch(r->plan, thread, r->compute, r->kernels[kernel],
                 nai_gen_rng_vary(nai_gen_rng(r->plan), duration_ns, 8));
}

/* emit_nvtx gives forward operators that have a gradient a sequence number and lists shapes. */
static void push_op(struct rank *r, int thread, enum name name, bool with_gradient) {
  char suffix[96];
  if (with_gradient) {
    snprintf(suffix, sizeof suffix, ", seq = %lld, op_id = %lld, sizes = [[8, 1024], [1024, 4096]]",
             (long long)r->sequence++, (long long)r->op_id++);
  } else {
    snprintf(suffix, sizeof suffix, ", op_id = %lld", (long long)r->op_id++);
  }
  nai_gen_push(r->plan, thread, r->names[name], suffix);
}

static void run_op(struct rank *r, int thread, enum name name, enum kernel kernel, int64_t duration_ns) {
  push_op(r, thread, name, true);
  nai_gen_work(r->plan, thread, nai_gen_rng_between(nai_gen_rng(r->plan), 1500, 4000));
  launch(r, thread, kernel, duration_ns);
  nai_gen_pop(r->plan, thread);
}

static void run_linear(struct rank *r, int thread, int64_t duration_ns) {
  push_op(r, thread, N_LINEAR, false);
  run_op(r, thread, N_ADDMM, K_GEMM, duration_ns);
  nai_gen_pop(r->plan, thread);
}

static void forward(struct rank *r) {
  nai_gen_push(r->plan, r->main, r->names[N_FORWARD], NULL);
  for (int layer = 0; layer < LAYERS; layer++) {
    run_op(r, r->main, N_LAYER_NORM, K_NORM, 18000);
    run_linear(r, r->main, 95000);
    run_op(r, r->main, N_ATTENTION, K_ATTENTION, 110000);
    run_linear(r, r->main, 70000);
    run_op(r, r->main, N_GELU, K_GELU, 24000);
    run_linear(r, r->main, 95000);
  }
  run_op(r, r->main, N_MSE, K_LOSS, 14000);
  nai_gen_pop(r->plan, r->main);
}

static void all_reduce(struct rank *r, int64_t duration_ns) {
  nai_gen_stream_wait(r->plan, r->autograd, r->nccl, r->compute);
  nai_gen_push_id(r->plan, r->autograd, r->names[N_GROUP_START], NCCL_DOMAIN);
  nai_gen_call(r->plan, r->autograd, API_CAPTURE_INFO, 500);
  nai_gen_pop(r->plan, r->autograd);
  nai_gen_push_id(r->plan, r->autograd, r->names[N_ALLREDUCE], NCCL_DOMAIN);
  nai_gen_launch(r->plan, r->autograd, r->nccl, r->kernels[K_REDUCE],
                 nai_gen_rng_vary(nai_gen_rng(r->plan), duration_ns, 15));
  nai_gen_pop(r->plan, r->autograd);
}

static void backward(struct rank *r) {
  nai_gen_push(r->plan, r->main, r->names[N_BACKWARD], NULL);
  nai_gen_wait_until(r->plan, r->autograd, nai_gen_now(r->plan, r->main) + 9000);
  for (int layer = 0; layer < LAYERS; layer++) {
    run_op(r, r->autograd, N_ADDMM_BACKWARD, K_GEMM_BACKWARD, 180000);
    run_op(r, r->autograd, N_GELU_BACKWARD, K_GELU_BACKWARD, 30000);
    run_op(r, r->autograd, N_ADDMM_BACKWARD, K_GEMM_BACKWARD, 140000);
    run_op(r, r->autograd, N_ATTENTION_BACKWARD, K_ATTENTION_BACKWARD, 210000);
    run_op(r, r->autograd, N_ADDMM_BACKWARD, K_GEMM_BACKWARD, 180000);
    run_op(r, r->autograd, N_NORM_BACKWARD, K_NORM_BACKWARD, 32000);
    if (layer % 3 == 2) {
      all_reduce(r, 2300000); /* one bucket of gradients; the last one has nothing to hide behind */
    }
  }
  nai_gen_wait_until(r->plan, r->main, nai_gen_now(r->plan, r->autograd) + 12000);
  nai_gen_pop(r->plan, r->main);
}

static void optimize(struct rank *r) {
  nai_gen_push(r->plan, r->main, r->names[N_OPTIMIZER], NULL);
  nai_gen_stream_wait(r->plan, r->main, r->compute, r->nccl);
  push_op(r, r->main, N_ADAM, false);
  for (int group = 0; group < 8; group++) {
    launch(r, r->main, K_ADAM, 42000);
  }
  nai_gen_pop(r->plan, r->main);
  nai_gen_pop(r->plan, r->main);
}

static void load_batch(struct rank *r) {
  const struct nai_gen_copy batch = {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, INT64_C(8) << 20, 340000, false};
  push_op(r, r->main, N_COPY, false);
  nai_gen_copy(r->plan, r->main, r->compute, &batch);
  nai_gen_pop(r->plan, r->main);
  nai_gen_push(r->plan, r->main, r->names[N_ZERO_GRAD], NULL);
  nai_gen_set(r->plan, r->main, r->compute, INT64_C(64) << 20, 26000);
  nai_gen_pop(r->plan, r->main);
}

static void train_step(struct rank *r) {
  load_batch(r);
  forward(r);
  backward(r);
  optimize(r);
  nai_gen_synchronize(r->plan, r->main, r->compute, API_STREAM_SYNC, 0); /* loss.item() */
  nai_gen_profiler_overhead(r->plan, r->watchdog, 25000);
  /* The NCCL watchdog polls from a thread that has no ranges. */
  nai_gen_wait_until(r->plan, r->watchdog, nai_gen_now(r->plan, r->main));
  nai_gen_call(r->plan, r->watchdog, API_EVENT_QUERY, 1200);
}

static void open_rank(struct nai_gen_plan *plan, struct rank *r, int index) {
  int pid = 6001 + index;
  int process = nai_gen_process(plan, pid, "python3");
  r->plan = plan;
  r->main = nai_gen_thread(plan, process, pid, "python3");
  r->autograd = nai_gen_thread(plan, process, pid + 200, "pt_autograd_0");
  r->watchdog = nai_gen_thread(plan, process, pid + 300, "pt_nccl_watchdg");
  int context = nai_gen_context(plan, process, index, 1 + index, nai_gen_gpu(plan, index));
  r->compute = nai_gen_stream(plan, context, 7 + 8 * index);
  r->nccl = nai_gen_stream(plan, context, 20 + 8 * index);
  r->op_id = 1000;
  r->sequence = 500;
  /* Ranks count correlation ids alike, so the id alone identifies nothing. */
  nai_gen_correlation_base(plan, process, 20000);
  nai_gen_domain(plan, r->main, NCCL_DOMAIN, "NCCL");
}

void nai_gen_plan_training(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  int kernels[KERNELS];
  int names[NAMES];
  struct rank ranks[RANKS];
  nai_gen_kernels(plan, kernels, kernel_specs, KERNELS);
  nai_gen_names(plan, names, name_specs, NAMES);
  for (int i = 0; i < RANKS; i++) {
    open_rank(plan, &ranks[i], i);
    ranks[i].names = names;
    ranks[i].kernels = kernels;
  }
  for (int step = 0; step < nai_gen_scaled(plan, 4); step++) {
    for (int i = 0; i < RANKS; i++) {
      train_step(&ranks[i]);
    }
  }
  nai_gen_expect_findings(plan, "exposed-communication");
  nai_gen_expect_no_findings(plan, "launch-bound idle-host-code pageable-copies "
                                   "gpu-imbalance low-nvtx-coverage no-nvtx "
                                   "graph-envelope-only profiler-overhead");
}
