/* Data-parallel training on two GPUs, one process each: forward on the main thread, backward on
 * PyTorch's autograd thread, gradients reduced by NCCL behind the backward pass. */
#include <stdio.h>

#include "scenario.h"

enum { RANKS = 2, LAYERS = 12, NCCL_DOMAIN = 3 };

struct names {
    int zero_grad, forward, backward, optimizer;                       /* hand-written ranges */
    int linear, addmm, layer_norm, attention, gelu, mse, copy;         /* forward operators */
    int addmm_backward, norm_backward, attention_backward, gelu_backward; /* autograd nodes */
    int adam, allreduce, group_start;
};

struct kernels {
    int gemm, gemm_backward, norm, norm_backward, attention, attention_backward, gelu, gelu_backward,
        loss, adam, reduce;
};

struct rank {
    struct nai_gen_plan *plan;
    const struct names *names;
    const struct kernels *kernels;
    int main, autograd, watchdog;
    int compute, nccl;
    int64_t op_id, sequence;
};

static void declare_names(struct nai_gen_plan *plan, struct names *n)
{
    n->zero_grad = nai_gen_name(plan, "zero_grad");
    n->forward = nai_gen_name(plan, "forward");
    n->backward = nai_gen_name(plan, "backward");
    n->optimizer = nai_gen_name(plan, "optimizer_step");
    n->linear = nai_gen_name(plan, "aten::linear");
    n->addmm = nai_gen_name(plan, "aten::addmm");
    n->layer_norm = nai_gen_name(plan, "aten::native_layer_norm");
    n->attention = nai_gen_name(plan, "aten::_scaled_dot_product_flash_attention");
    n->gelu = nai_gen_name(plan, "aten::gelu");
    n->mse = nai_gen_name(plan, "aten::mse_loss");
    n->copy = nai_gen_name(plan, "aten::copy_");
    n->addmm_backward = nai_gen_name(plan, "AddmmBackward0");
    n->norm_backward = nai_gen_name(plan, "NativeLayerNormBackward0");
    n->attention_backward = nai_gen_name(plan, "ScaledDotProductFlashAttentionBackward0");
    n->gelu_backward = nai_gen_name(plan, "GeluBackward0");
    n->adam = nai_gen_name(plan, "Optimizer.step#AdamW.step");
    n->allreduce = nai_gen_name(plan, "ncclAllReduce");
    n->group_start = nai_gen_name(plan, "ncclGroupStart");
    nai_gen_name_phase(plan, n->forward, "forward");
    nai_gen_name_phase(plan, n->backward, "backward");
    nai_gen_name_phase(plan, n->addmm_backward, "backward");
    nai_gen_name_phase(plan, n->norm_backward, "backward");
    nai_gen_name_phase(plan, n->attention_backward, "backward");
    nai_gen_name_phase(plan, n->gelu_backward, "backward");
    nai_gen_name_phase(plan, n->optimizer, "optimizer");
}

static void declare_kernels(struct nai_gen_plan *plan, struct kernels *k)
{
    k->gemm = nai_gen_kernel(plan, "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", NULL,
                             NAI_GEN_COMPUTE, API_LAUNCH_DRIVER);
    k->gemm_backward = nai_gen_kernel(plan, "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NTN", NULL,
                                      NAI_GEN_COMPUTE, API_LAUNCH_DRIVER);
    k->norm = nai_gen_kernel(plan,
                             "void at::native::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float, "
                             "(bool)0>(int, T2, const T1 *, const T1 *, const T1 *, T2 *, T2 *, T1 *)",
                             "vectorized_layer_norm_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    k->norm_backward = nai_gen_kernel(plan,
                                      "void at::native::<unnamed>::layer_norm_grad_input_kernel_vectorized<"
                                      "c10::BFloat16, float, (bool)0>(const T1 *, const T1 *, T1 *, int)",
                                      "layer_norm_grad_input_kernel_vectorized", NAI_GEN_COMPUTE, API_LAUNCH);
    k->attention = nai_gen_kernel(plan,
                                  "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)64, (int)128, "
                                  "(int)128, (int)4>, (bool)0, (bool)1>(pytorch_flash::Flash_fwd_params)",
                                  "flash_fwd_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    k->attention_backward =
        nai_gen_kernel(plan,
                       "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<"
                       "Flash_bwd_kernel_traits<(int)64, (int)128, (int)128, (int)8>, (bool)0>"
                       "(pytorch_flash::Flash_bwd_params)",
                       "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    k->gelu = nai_gen_kernel(plan,
                             "void at::native::vectorized_elementwise_kernel<(int)8, at::native::"
                             "GeluCUDAKernelImpl(at::TensorIteratorBase &)::[lambda(c10::BFloat16) (instance 1)]>"
                             "(int, T2, T3)",
                             "vectorized_elementwise_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    k->gelu_backward = nai_gen_kernel(plan,
                                      "void at::native::vectorized_elementwise_kernel<(int)4, at::native::"
                                      "GeluBackwardCUDAKernelImpl(at::TensorIteratorBase &)::[lambda(c10::BFloat16) "
                                      "(instance 1)]>(int, T2, T3)",
                                      "vectorized_elementwise_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    k->loss = nai_gen_kernel(plan,
                             "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, "
                             "at::native::MeanOps<float, float>, unsigned int, float, (int)4, (int)4>>(T3)",
                             "reduce_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    k->adam = nai_gen_kernel(plan,
                             "void at::native::<unnamed>::multi_tensor_apply_kernel<at::native::<unnamed>::"
                             "FusedOptimizerTensorListMetadata<(int)4>, at::native::<unnamed>::FusedAdamMathFunctor"
                             "<float, (int)4>>(T1, T2)",
                             "multi_tensor_apply_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    k->reduce = nai_gen_kernel(plan, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                               "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", NAI_GEN_COMM, API_LAUNCH_EX);
}

static void launch(struct rank *r, int thread, int kernel, int64_t duration_ns)
{
    nai_gen_launch(r->plan, thread, r->compute, kernel,
                   nai_gen_rng_vary(nai_gen_rng(r->plan), duration_ns, 8));
}

/* emit_nvtx gives forward operators that have a gradient a sequence number and lists shapes. */
static void push_op(struct rank *r, int thread, int name, bool with_gradient)
{
    char suffix[96];
    if (with_gradient) {
        snprintf(suffix, sizeof suffix, ", seq = %lld, op_id = %lld, sizes = [[8, 1024], [1024, 4096]]",
                 (long long)r->sequence++, (long long)r->op_id++);
    } else {
        snprintf(suffix, sizeof suffix, ", op_id = %lld", (long long)r->op_id++);
    }
    nai_gen_push(r->plan, thread, name, suffix);
}

static void run_op(struct rank *r, int thread, int name, int kernel, int64_t duration_ns)
{
    push_op(r, thread, name, true);
    nai_gen_work(r->plan, thread, nai_gen_rng_between(nai_gen_rng(r->plan), 1500, 4000));
    launch(r, thread, kernel, duration_ns);
    nai_gen_pop(r->plan, thread);
}

static void run_linear(struct rank *r, int thread, int64_t duration_ns)
{
    push_op(r, thread, r->names->linear, false);
    run_op(r, thread, r->names->addmm, r->kernels->gemm, duration_ns);
    nai_gen_pop(r->plan, thread);
}

static void forward(struct rank *r)
{
    const struct names *n = r->names;
    const struct kernels *k = r->kernels;
    nai_gen_push(r->plan, r->main, n->forward, NULL);
    for (int layer = 0; layer < LAYERS; layer++) {
        run_op(r, r->main, n->layer_norm, k->norm, 18000);
        run_linear(r, r->main, 95000);
        run_op(r, r->main, n->attention, k->attention, 110000);
        run_linear(r, r->main, 70000);
        run_op(r, r->main, n->gelu, k->gelu, 24000);
        run_linear(r, r->main, 95000);
    }
    run_op(r, r->main, n->mse, k->loss, 14000);
    nai_gen_pop(r->plan, r->main);
}

static void all_reduce(struct rank *r, int64_t duration_ns)
{
    nai_gen_stream_wait(r->plan, r->autograd, r->nccl, r->compute);
    nai_gen_push_id(r->plan, r->autograd, r->names->group_start, NCCL_DOMAIN);
    nai_gen_pop(r->plan, r->autograd);
    nai_gen_push_id(r->plan, r->autograd, r->names->allreduce, NCCL_DOMAIN);
    nai_gen_launch(r->plan, r->autograd, r->nccl, r->kernels->reduce,
                   nai_gen_rng_vary(nai_gen_rng(r->plan), duration_ns, 15));
    nai_gen_pop(r->plan, r->autograd);
}

static void backward(struct rank *r)
{
    const struct names *n = r->names;
    const struct kernels *k = r->kernels;
    nai_gen_push(r->plan, r->main, n->backward, NULL);
    nai_gen_wait_until(r->plan, r->autograd, nai_gen_now(r->plan, r->main) + 9000);
    for (int layer = 0; layer < LAYERS; layer++) {
        run_op(r, r->autograd, n->addmm_backward, k->gemm_backward, 180000);
        run_op(r, r->autograd, n->gelu_backward, k->gelu_backward, 30000);
        run_op(r, r->autograd, n->addmm_backward, k->gemm_backward, 140000);
        run_op(r, r->autograd, n->attention_backward, k->attention_backward, 210000);
        run_op(r, r->autograd, n->addmm_backward, k->gemm_backward, 180000);
        run_op(r, r->autograd, n->norm_backward, k->norm_backward, 32000);
        if (layer % 3 == 2) {
            all_reduce(r, 2300000); /* one bucket of gradients; the last one has nothing to hide behind */
        }
    }
    nai_gen_wait_until(r->plan, r->main, nai_gen_now(r->plan, r->autograd) + 12000);
    nai_gen_pop(r->plan, r->main);
}

static void optimize(struct rank *r)
{
    nai_gen_push(r->plan, r->main, r->names->optimizer, NULL);
    nai_gen_stream_wait(r->plan, r->main, r->compute, r->nccl);
    push_op(r, r->main, r->names->adam, false);
    for (int group = 0; group < 8; group++) {
        launch(r, r->main, r->kernels->adam, 42000);
    }
    nai_gen_pop(r->plan, r->main);
    nai_gen_pop(r->plan, r->main);
}

static void load_batch(struct rank *r)
{
    const struct nai_gen_copy batch = {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE,
                                       INT64_C(8) << 20, 340000, false};
    push_op(r, r->main, r->names->copy, false);
    nai_gen_copy(r->plan, r->main, r->compute, &batch);
    nai_gen_pop(r->plan, r->main);
    nai_gen_push(r->plan, r->main, r->names->zero_grad, NULL);
    nai_gen_set(r->plan, r->main, r->compute, INT64_C(64) << 20, 26000);
    nai_gen_pop(r->plan, r->main);
}

static void train_step(struct rank *r)
{
    load_batch(r);
    forward(r);
    backward(r);
    optimize(r);
    nai_gen_synchronize(r->plan, r->main, r->compute, API_STREAM_SYNC, 0); /* loss.item() */
    /* The NCCL watchdog polls from a thread that has no ranges. */
    nai_gen_wait_until(r->plan, r->watchdog, nai_gen_now(r->plan, r->main));
    nai_gen_call(r->plan, r->watchdog, API_EVENT_QUERY, 1200);
}

static void open_rank(struct nai_gen_plan *plan, struct rank *r, int index)
{
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

void nai_gen_plan_training(struct nai_gen_plan *plan, int64_t target_bytes)
{
    (void)target_bytes;
    struct names names;
    struct kernels kernels;
    struct rank ranks[RANKS];
    declare_names(plan, &names);
    declare_kernels(plan, &kernels);
    for (int i = 0; i < RANKS; i++) {
        open_rank(plan, &ranks[i], i);
        ranks[i].names = &names;
        ranks[i].kernels = &kernels;
    }
    for (int step = 0; step < nai_gen_scaled(plan, 4); step++) {
        for (int i = 0; i < RANKS; i++) {
            train_step(&ranks[i]);
        }
    }
    nai_gen_expect(plan, "exposed-communication", true);
    nai_gen_expect(plan, "launch-storm", false);
    nai_gen_expect(plan, "copy-bound", false);
    nai_gen_expect(plan, "gpu-idle", false);
    nai_gen_expect(plan, "pageable-copies", false);
    nai_gen_expect(plan, "gpu-imbalance", false);
    nai_gen_expect(plan, "low-nvtx-coverage", false);
    nai_gen_expect(plan, "no-nvtx", false);
    nai_gen_expect(plan, "graph-envelope-only", false);
    nai_gen_expect(plan, "profiler-overhead", false);
}
