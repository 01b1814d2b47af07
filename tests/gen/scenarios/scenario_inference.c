/* LLM serving in the style of vLLM: one process, one GPU, eager decode with a launch storm. */
#include "gen/scenario.h"

enum { LAYERS = 24, DECODE_STEPS = 16 };

enum kernel {
  NORM,
  QKV,
  ROTARY,
  CACHE,
  ATTENTION_PREFILL,
  ATTENTION_DECODE,
  REDUCE,
  PROJECTION,
  UP,
  ACT,
  DOWN,
  ADD,
  SOFTMAX,
  ARGMAX,
  TOP_K,
  KERNELS
};

static const struct nai_gen_kernel_spec kernel_specs[KERNELS] = {
    [NORM] = {"void vllm::fused_add_rms_norm_kernel<c10::BFloat16, (int)8>(T1 *, T1 *, const T1 *, "
              "float, int, int)",
              "fused_add_rms_norm_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [QKV] = {"nvjet_tst_128x64_64x8_2x1_v_bz_TNT", NULL, NAI_GEN_COMPUTE, API_LAUNCH_DRIVER},
    [ROTARY] = {"void vllm::rotary_embedding_kernel<c10::BFloat16, (bool)1>(const long *, T1 *, T1 "
                "*, const T1 *, int, long, long, int, int, int)",
                "rotary_embedding_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [CACHE] = {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, "
               "(vllm::Fp8KVCacheDataType)0>(const T1 *, const T1 *, T2 *, T2 *, const long *)",
               "reshape_and_cache_flash_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [ATTENTION_PREFILL] = {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128, (int)64, "
                           "(int)4, cutlass::bfloat16_t>, (bool)0, (bool)1>(flash::Flash_fwd_params)",
                           "flash_fwd_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [ATTENTION_DECODE] = {"void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<(int)128, (int)64, "
                          "(int)128, (int)4, cutlass::bfloat16_t>, (bool)0>(flash::Flash_fwd_params)",
                          "flash_fwd_splitkv_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [REDUCE] = {"void flash::flash_fwd_splitkv_combine_kernel<(int)8, (int)2, "
                "(bool)1>(flash::Flash_fwd_params)",
                "flash_fwd_splitkv_combine_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [PROJECTION] = {"nvjet_tst_64x32_64x12_1x2_h_bz_splitK_TNT", NULL, NAI_GEN_COMPUTE, API_LAUNCH_DRIVER},
    [UP] = {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", NULL, NAI_GEN_COMPUTE, API_LAUNCH_DRIVER},
    [ACT] = {"void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16>, "
             "(bool)1>(T1 *, const T1 *, int)",
             "act_and_mul_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [DOWN] = {"nvjet_tst_64x64_64x10_4x1_v_bz_TNT", NULL, NAI_GEN_COMPUTE, API_LAUNCH_DRIVER},
    [ADD] = {"triton_poi_fused_add_mul_0", NULL, NAI_GEN_COMPUTE, API_LAUNCH_DRIVER},
    [SOFTMAX] = {"void at::native::<unnamed>::cunn_SoftMaxForward<(int)4, float, float, float, "
                 "at::native::<unnamed>::SoftMaxForwardEpilogue>(T4 *, const T2 *, int)",
                 "cunn_SoftMaxForward", NAI_GEN_COMPUTE, API_LAUNCH},
    [ARGMAX] = {"void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, "
                "at::native::ArgMaxOps<float>, unsigned int, long, (int)4, (int)4>>(T3)",
                "reduce_kernel", NAI_GEN_COMPUTE, API_LAUNCH},
    [TOP_K] = {"void at::native::radixSortKVInPlace<(int)-2, (int)-1, (int)32, (int)32, float, "
               "long, unsigned int>(at::cuda::detail::TensorInfo<T5, T7>, T7, T7, T7, bool)",
               "radixSortKVInPlace", NAI_GEN_COMPUTE, API_LAUNCH},
};

enum range { RANGE_PREFILL, RANGE_DECODE, RANGE_SAMPLING, RANGE_SCHEDULER, RANGES };

static const struct nai_gen_name_spec range_specs[RANGES] = {
    [RANGE_PREFILL] = {"execute_model: prefill", "prefill"},
    [RANGE_DECODE] = {"execute_model: decode", "decode"},
    [RANGE_SAMPLING] = {"sampling", "sampling"},
    [RANGE_SCHEDULER] = {"scheduler", "scheduler"},
};

struct model {
  struct nai_gen_plan *plan;
  int thread, stream;
  int kernels[KERNELS];
  int ranges[RANGES];
};

static void launch(struct model *m, enum kernel kernel, int64_t duration_ns) {
  nai_gen_launch(m->plan, m->thread, m->stream, m->kernels[kernel],
                 nai_gen_rng_vary(nai_gen_rng(m->plan), duration_ns, 25));
}

static void forward(struct model *m, int64_t matmul_ns, int64_t small_ns, bool decoding) {
  for (int layer = 0; layer < LAYERS; layer++) {
    launch(m, NORM, small_ns);
    launch(m, QKV, matmul_ns);
    launch(m, ROTARY, small_ns);
    launch(m, CACHE, small_ns);
    launch(m, decoding ? ATTENTION_DECODE : ATTENTION_PREFILL, matmul_ns);
    if (decoding) {
      launch(m, REDUCE, small_ns);
    }
    launch(m, PROJECTION, matmul_ns);
    launch(m, NORM, small_ns);
    launch(m, UP, matmul_ns);
    launch(m, ACT, small_ns);
    launch(m, DOWN, matmul_ns);
    launch(m, ADD, small_ns);
  }
}

static void sample(struct model *m) {
  nai_gen_push(m->plan, m->thread, m->ranges[RANGE_SAMPLING], NULL);
  launch(m, SOFTMAX, 9000);
  launch(m, TOP_K, 12000);
  launch(m, ARGMAX, 7000);
  const struct nai_gen_copy tokens = {
      .direction = NAI_GEN_DTOH, .source = NAI_GEN_DEVICE, .target = NAI_GEN_PINNED, .bytes = 256, .duration_ns = 1400};
  nai_gen_copy(m->plan, m->thread, m->stream, &tokens);
  nai_gen_call(m->plan, m->thread, API_EVENT_RECORD, 900);
  nai_gen_synchronize(m->plan, m->thread, m->stream, API_EVENT_SYNC, 0);
  nai_gen_pop(m->plan, m->thread);
}

static void schedule(struct model *m) {
  nai_gen_push(m->plan, m->thread, m->ranges[RANGE_SCHEDULER], NULL);
  nai_gen_work(m->plan, m->thread, nai_gen_rng_between(nai_gen_rng(m->plan), 40000, 70000));
  nai_gen_pop(m->plan, m->thread);
}

static void serve_batch(struct model *m) {
  const struct nai_gen_copy prompt = {.direction = NAI_GEN_HTOD,
                                      .source = NAI_GEN_PINNED,
                                      .target = NAI_GEN_DEVICE,
                                      .bytes = 65536,
                                      .duration_ns = 4200};
  schedule(m);
  nai_gen_push(m->plan, m->thread, m->ranges[RANGE_PREFILL], NULL);
  nai_gen_copy(m->plan, m->thread, m->stream, &prompt);
  nai_gen_set(m->plan, m->thread, m->stream, 4096, 1100);
  forward(m, 24000, 9000, false);
  nai_gen_pop(m->plan, m->thread);
  sample(m);
  for (int step = 0; step < DECODE_STEPS; step++) {
    schedule(m);
    nai_gen_push(m->plan, m->thread, m->ranges[RANGE_DECODE], NULL);
    forward(m, 7400, 3600, true);
    nai_gen_pop(m->plan, m->thread);
    sample(m);
  }
}

void nai_gen_plan_inference(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct model m = {.plan = plan};
  int process = nai_gen_process(plan, 4001, "VLLM::EngineCore");
  int context = nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0));
  m.thread = nai_gen_thread(plan, process, 4001, "VLLM::EngineCore");
  m.stream = nai_gen_stream(plan, context, 7);
  nai_gen_kernels(plan, m.kernels, kernel_specs, KERNELS);
  nai_gen_names(plan, m.ranges, range_specs, RANGES);
  nai_gen_call(plan, m.thread, API_MALLOC, 180000);
  nai_gen_profiler_overhead(plan, m.thread, 60000);
  for (int batch = 0; batch < nai_gen_scaled(plan, 2); batch++) {
    serve_batch(&m);
  }
  nai_gen_expect_findings(plan, "launch-bound");
  nai_gen_expect_no_findings(plan, "exposed-copy exposed-communication pageable-copies "
                                   "gpu-imbalance low-nvtx-coverage no-nvtx "
                                   "graph-envelope-only profiler-overhead");
}
