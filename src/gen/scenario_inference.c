/* LLM serving in the style of vLLM: one process, one GPU, eager decode with a launch storm. */
#include "scenario.h"

enum { LAYERS = 24, DECODE_STEPS = 16 };

struct model {
    struct nai_gen_plan *plan;
    int thread, stream;
    int norm, qkv, rotary, cache, attention_prefill, attention_decode, reduce, projection, up, act,
        down, add, softmax, argmax, top_k;
    int prefill, decode, sampling, scheduler;
};

static void declare_kernels(struct model *m)
{
    struct nai_gen_plan *plan = m->plan;
    m->norm = nai_gen_kernel(plan,
                             "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, (int)8>(T1 *, T1 *, "
                             "const T1 *, float, int, int)",
                             "fused_add_rms_norm_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    m->qkv = nai_gen_kernel(plan, "nvjet_tst_128x64_64x8_2x1_v_bz_TNT", NULL, NAI_GEN_COMPUTE,
                            API_LAUNCH_DRIVER);
    m->rotary = nai_gen_kernel(plan,
                               "void vllm::rotary_embedding_kernel<c10::BFloat16, (bool)1>(const long *, "
                               "T1 *, T1 *, const T1 *, int, long, long, int, int, int)",
                               "rotary_embedding_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    m->cache = nai_gen_kernel(plan,
                              "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, "
                              "(vllm::Fp8KVCacheDataType)0>(const T1 *, const T1 *, T2 *, T2 *, const long *)",
                              "reshape_and_cache_flash_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    m->attention_prefill =
        nai_gen_kernel(plan,
                       "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128, (int)64, "
                       "(int)4, cutlass::bfloat16_t>, (bool)0, (bool)1>(flash::Flash_fwd_params)",
                       "flash_fwd_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    m->attention_decode =
        nai_gen_kernel(plan,
                       "void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<(int)128, (int)64, "
                       "(int)128, (int)4, cutlass::bfloat16_t>, (bool)0>(flash::Flash_fwd_params)",
                       "flash_fwd_splitkv_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    m->reduce = nai_gen_kernel(plan,
                               "void flash::flash_fwd_splitkv_combine_kernel<(int)8, (int)2, (bool)1>"
                               "(flash::Flash_fwd_params)",
                               "flash_fwd_splitkv_combine_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    m->projection = nai_gen_kernel(plan, "nvjet_tst_64x32_64x12_1x2_h_bz_splitK_TNT", NULL,
                                   NAI_GEN_COMPUTE, API_LAUNCH_DRIVER);
    m->up = nai_gen_kernel(plan, "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", NULL, NAI_GEN_COMPUTE,
                           API_LAUNCH_DRIVER);
    m->act = nai_gen_kernel(plan,
                            "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>, "
                            "(bool)1>(T1 *, const T1 *, int)",
                            "act_and_mul_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    m->down = nai_gen_kernel(plan, "nvjet_tst_64x64_64x10_4x1_v_bz_TNT", NULL, NAI_GEN_COMPUTE,
                             API_LAUNCH_DRIVER);
    m->add = nai_gen_kernel(plan, "triton_poi_fused_add_mul_0", NULL, NAI_GEN_COMPUTE,
                            API_LAUNCH_DRIVER);
    m->softmax = nai_gen_kernel(plan,
                                "void at::native::<unnamed>::cunn_SoftMaxForward<(int)4, float, float, float, "
                                "at::native::<unnamed>::SoftMaxForwardEpilogue>(T4 *, const T2 *, int)",
                                "cunn_SoftMaxForward", NAI_GEN_COMPUTE, API_LAUNCH);
    m->argmax = nai_gen_kernel(plan,
                               "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, "
                               "at::native::ArgMaxOps<float>, unsigned int, long, (int)4, (int)4>>(T3)",
                               "reduce_kernel", NAI_GEN_COMPUTE, API_LAUNCH);
    m->top_k = nai_gen_kernel(plan,
                              "void at::native::radixSortKVInPlace<(int)-2, (int)-1, (int)32, (int)32, float, "
                              "long, unsigned int>(at::cuda::detail::TensorInfo<T5, T7>, T7, T7, T7, bool)",
                              "radixSortKVInPlace", NAI_GEN_COMPUTE, API_LAUNCH);
}

static void declare_ranges(struct model *m)
{
    m->prefill = nai_gen_name(m->plan, "execute_model: prefill");
    m->decode = nai_gen_name(m->plan, "execute_model: decode");
    m->sampling = nai_gen_name(m->plan, "sampling");
    m->scheduler = nai_gen_name(m->plan, "scheduler");
    nai_gen_name_phase(m->plan, m->prefill, "prefill");
    nai_gen_name_phase(m->plan, m->decode, "decode");
    nai_gen_name_phase(m->plan, m->sampling, "sampling");
    nai_gen_name_phase(m->plan, m->scheduler, "scheduler");
}

static void launch(struct model *m, int kernel, int64_t duration_ns)
{
    nai_gen_launch(m->plan, m->thread, m->stream, kernel,
                   nai_gen_rng_vary(nai_gen_rng(m->plan), duration_ns, 25));
}

static void forward(struct model *m, int64_t matmul_ns, int64_t small_ns, bool decoding)
{
    for (int layer = 0; layer < LAYERS; layer++) {
        launch(m, m->norm, small_ns);
        launch(m, m->qkv, matmul_ns);
        launch(m, m->rotary, small_ns);
        launch(m, m->cache, small_ns);
        launch(m, decoding ? m->attention_decode : m->attention_prefill, matmul_ns);
        if (decoding) {
            launch(m, m->reduce, small_ns);
        }
        launch(m, m->projection, matmul_ns);
        launch(m, m->norm, small_ns);
        launch(m, m->up, matmul_ns);
        launch(m, m->act, small_ns);
        launch(m, m->down, matmul_ns);
        launch(m, m->add, small_ns);
    }
}

static void sample(struct model *m)
{
    nai_gen_push(m->plan, m->thread, m->sampling, NULL);
    launch(m, m->softmax, 9000);
    launch(m, m->top_k, 12000);
    launch(m, m->argmax, 7000);
    const struct nai_gen_copy tokens = {.direction = NAI_GEN_DTOH,
                                        .source = NAI_GEN_DEVICE,
                                        .target = NAI_GEN_PINNED,
                                        .bytes = 256,
                                        .duration_ns = 1400};
    nai_gen_copy(m->plan, m->thread, m->stream, &tokens);
    nai_gen_synchronize(m->plan, m->thread, m->stream, API_STREAM_SYNC, 0);
    nai_gen_pop(m->plan, m->thread);
}

static void schedule(struct model *m)
{
    nai_gen_push(m->plan, m->thread, m->scheduler, NULL);
    nai_gen_work(m->plan, m->thread, nai_gen_rng_between(nai_gen_rng(m->plan), 40000, 70000));
    nai_gen_pop(m->plan, m->thread);
}

static void serve_batch(struct model *m)
{
    const struct nai_gen_copy prompt = {.direction = NAI_GEN_HTOD,
                                        .source = NAI_GEN_PINNED,
                                        .target = NAI_GEN_DEVICE,
                                        .bytes = 65536,
                                        .duration_ns = 4200};
    schedule(m);
    nai_gen_push(m->plan, m->thread, m->prefill, NULL);
    nai_gen_copy(m->plan, m->thread, m->stream, &prompt);
    nai_gen_set(m->plan, m->thread, m->stream, 4096, 1100);
    forward(m, 24000, 9000, false);
    nai_gen_pop(m->plan, m->thread);
    sample(m);
    for (int step = 0; step < DECODE_STEPS; step++) {
        schedule(m);
        nai_gen_push(m->plan, m->thread, m->decode, NULL);
        forward(m, 7400, 3600, true);
        nai_gen_pop(m->plan, m->thread);
        sample(m);
    }
}

void nai_gen_plan_inference(struct nai_gen_plan *plan, int64_t target_bytes)
{
    (void)target_bytes;
    struct model m = {.plan = plan};
    int process = nai_gen_process(plan, 4001, "VLLM::EngineCore");
    int context = nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0));
    m.thread = nai_gen_thread(plan, process, 4001, "VLLM::EngineCore");
    m.stream = nai_gen_stream(plan, context, 7);
    declare_kernels(&m);
    declare_ranges(&m);
    for (int batch = 0; batch < nai_gen_scaled(plan, 2); batch++) {
        serve_batch(&m);
    }
    nai_gen_expect(plan, "launch-storm", true);
    nai_gen_expect(plan, "copy-bound", false);
    nai_gen_expect(plan, "exposed-communication", false);
    nai_gen_expect(plan, "pageable-copies", false);
    nai_gen_expect(plan, "gpu-imbalance", false);
    nai_gen_expect(plan, "low-nvtx-coverage", false);
    nai_gen_expect(plan, "no-nvtx", false);
    nai_gen_expect(plan, "graph-envelope-only", false);
    nai_gen_expect(plan, "profiler-overhead", false);
}
