/* Tiny traces with the names that frameworks leave behind: what a program is, told from what it calls things. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

static const struct nai_gen_part spacing[] = {{.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 1500}};

enum { MAX_KERNELS = 6, MAX_NAMES = 5, ROUNDS = 10 };

struct look {
  int pid;
  const char *process;
  const char *threads[3]; /* besides the main one; NULL: no more */
  const char *kernels[MAX_KERNELS];
  enum nai_gen_api launch_api;
  const char *ranges[MAX_NAMES]; /* around the kernels, outermost first */
  const char *domain;            /* of the ranges; NULL: the default one */
  enum nai_gen_api calls[4];     /* once, before the first kernel */
  int call_count;
  enum nai_gen_api wait;
};

static void run_program(struct nai_gen_plan *plan, const struct look *look) {
  struct nai_gen_program p;
  int kernels[MAX_KERNELS] = {0};
  int kernel_count = 0, range_count = 0;
  nai_gen_program(&p, plan, look->pid, look->process);
  for (int i = 0; i < 3 && look->threads[i]; i++) {
    nai_gen_thread(plan, p.process, look->pid + 1 + i, look->threads[i]);
  }
  for (; kernel_count < MAX_KERNELS && look->kernels[kernel_count]; kernel_count++) {
    const struct nai_gen_kernel_spec spec = {look->kernels[kernel_count], NULL, NAI_GEN_COMPUTE, look->launch_api};
    kernels[kernel_count] = nai_gen_kernel_from(plan, &spec);
  }
  if (look->domain) {
    nai_gen_domain(plan, p.thread, 3, look->domain);
  }
  for (int i = 0; i < look->call_count; i++) {
    nai_gen_call(plan, p.thread, look->calls[i], 400000);
  }
  nai_gen_follow(plan, p.thread, p.stream, kernels[0], 90000);
  for (int round = 0; round < ROUNDS; round++) {
    for (range_count = 0; range_count < MAX_NAMES && look->ranges[range_count]; range_count++) {
      int name = nai_gen_name(plan, look->ranges[range_count]);
      look->domain ? nai_gen_push_id(plan, p.thread, name, 3) : nai_gen_push(plan, p.thread, name, NULL);
    }
    for (int k = 0; k < kernel_count; k++) {
      nai_gen_program_gap(&p, spacing, kernels[k], 90000 + 5000 * k);
    }
    while (range_count-- > 0) {
      nai_gen_pop(plan, p.thread);
    }
  }
  nai_gen_synchronize(plan, p.thread, p.stream, look->wait, 0);
}

static void is_a(struct nai_gen_plan *plan, const char *aspect, const char *value) {
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "workload_evidence", .key = aspect, .value = value});
}

void nai_gen_plan_pytorch_like(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct look look = {
      .pid = 8801,
      .process = "python3.11",
      .threads = {"pt_autograd_0", "pt_nccl_watchdg", "pt_data_pin"},
      .kernels = {"void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>, "
                  "std::array<char *, (unsigned long)3>>(int, T2, T3)",
                  "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float>>(T3)",
                  "void at::native::<unnamed>::CatArrayBatchedCopy<at::native::<unnamed>::OpaqueType<(unsigned int)4>, "
                  "unsigned int, (int)2, (int)128, (int)1>(T1 *, int)",
                  "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT"},
      .launch_api = API_LAUNCH,
      .ranges = {"aten::linear", "aten::addmm"},
      .wait = API_STREAM_SYNC};
  (void)target_bytes;
  run_program(plan, &look);
  is_a(plan, "framework", "pytorch");
  is_a(plan, "language", "python");
}

void nai_gen_plan_tensorrt_like(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct look look = {
      .pid = 8811,
      .process = "python3",
      .kernels = {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_stage4_execute_"
                  "kernel_trt",
                  "trt_ampere_h16816gemm_256x64_ldg8_stages_32x3_tn_v1",
                  "void genericReformat::copyVectorizedKernel<double, float, __half, (bool)1, (int)1>(unsigned int)"},
      .launch_api = API_LAUNCH,
      .ranges = {"ExecutionContext::execute", "Reformatting CopyNode for Input Tensor 0"},
      .domain = "TensorRT",
      .wait = API_STREAM_SYNC};
  (void)target_bytes;
  run_program(plan, &look);
  is_a(plan, "framework", "tensorrt");
  is_a(plan, "language", "python");
  is_a(plan, "role", "inference");
}

void nai_gen_plan_cupy_like(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct look look = {.pid = 8821,
                                   .process = "python3",
                                   .kernels = {"cupy_fill", "cupy_copy__float64_complex128",
                                               "cupy_multiply__float64_float64_float64"},
                                   .launch_api = API_LAUNCH_DRIVER_OLD,
                                   .wait = API_DEVICE_SYNC};
  (void)target_bytes;
  run_program(plan, &look);
  is_a(plan, "framework", "cupy");
  is_a(plan, "language", "python");
}

void nai_gen_plan_openacc_like(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct look look = {.pid = 8831,
                                   .process = "./laplace2d",
                                   .kernels = {"__pgi_uacc_cuda_fill", "main_65_gpu", "main_76_gpu__red"},
                                   .launch_api = API_LAUNCH_DRIVER_OLD,
                                   .calls = {API_MODULE_LOAD, API_DRIVER_HOST_ALLOC, API_DRIVER_ALLOC},
                                   .call_count = 3,
                                   .wait = API_DRIVER_STREAM_SYNC};
  (void)target_bytes;
  run_program(plan, &look);
  is_a(plan, "framework", "openacc");
}

void nai_gen_plan_openmp_like(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct look look = {
      .pid = 8841,
      .process = "./stream_omp",
      .kernels = {"__omp_offloading_fd02_3c0f4e1_main_l42", "__omp_offloading_fd02_3c0f4e1_triad_l57"},
      .launch_api = API_LAUNCH_DRIVER_OLD,
      .calls = {API_MODULE_LOAD, API_DRIVER_STREAM_CREATE, API_DRIVER_STREAM_CREATE, API_DRIVER_ALLOC},
      .call_count = 4,
      .wait = API_DRIVER_STREAM_SYNC};
  (void)target_bytes;
  run_program(plan, &look);
  is_a(plan, "framework", "openmp");
}

void nai_gen_plan_cpp(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct look look = {.pid = 8851,
                                   .process = "./nbody",
                                   .kernels = {"integrate_bodies(float4 *, float4 *, float, int)",
                                               "void tile_forces<(int)256>(float4 *, const float4 *, int)"},
                                   .launch_api = API_LAUNCH,
                                   .wait = API_DEVICE_SYNC};
  (void)target_bytes;
  run_program(plan, &look);
  is_a(plan, "framework", "cuda");
}
