/* A GPU that waits for its input: copies dominate, kernels are a sliver. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

void nai_gen_plan_copy_bound(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  int process = nai_gen_process(plan, 5001, "python3");
  int thread = nai_gen_thread(plan, process, 5001, "python3");
  int context = nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0));
  int stream = nai_gen_stream(plan, context, 7);
  int kernel = nai_gen_kernel(plan, "void preprocess<float>(const T1 *, T1 *, int)", "preprocess");
  int second = nai_gen_kernel(plan, "void classify<float, (int)4>(const T1 *, T1 *, int)", "classify");
  int load = nai_gen_name(plan, "load_batch");
  int infer = nai_gen_name(plan, "infer");
  const struct nai_gen_copy pageable = {NAI_GEN_HTOD,      NAI_GEN_PAGEABLE, NAI_GEN_DEVICE,
                                        INT64_C(16) << 20, 4200000,          true};
  const struct nai_gen_copy pinned = {NAI_GEN_HTOD, NAI_GEN_PINNED, NAI_GEN_DEVICE, INT64_C(32) << 20, 1350000, false};
  const struct nai_gen_copy result = {NAI_GEN_DTOH, NAI_GEN_DEVICE, NAI_GEN_PAGEABLE, INT64_C(1) << 20, 310000, true};
  struct nai_gen_rng *rng = nai_gen_rng(plan);
  for (int batch = 0; batch < nai_gen_scaled(plan, 40); batch++) {
    struct nai_gen_copy copy = pageable;
    nai_gen_push(plan, thread, load, NULL);
    copy.duration_ns = nai_gen_rng_vary(rng, pageable.duration_ns, 10);
    nai_gen_copy(plan, thread, stream, &copy);
    copy = pinned;
    copy.duration_ns = nai_gen_rng_vary(rng, pinned.duration_ns, 5);
    nai_gen_copy(plan, thread, stream, &copy);
    nai_gen_pop(plan, thread);
    nai_gen_push(plan, thread, infer, NULL);
    nai_gen_set(plan, thread, stream, 65536, 1800);
    nai_gen_launch(plan, thread, stream, kernel, nai_gen_rng_vary(rng, 90000, 10));
    nai_gen_launch(plan, thread, stream, second, nai_gen_rng_vary(rng, 85000, 10));
    nai_gen_copy(plan, thread, stream, &result);
    nai_gen_pop(plan, thread);
    nai_gen_work(plan, thread, nai_gen_rng_between(rng, 60000, 140000));
  }
  nai_gen_expect_findings(plan, "exposed-copy pageable-copies");
  nai_gen_expect_no_findings(plan, "launch-bound idle-host-code idle-blocking-call tiny-copies "
                                   "exposed-communication low-nvtx-coverage no-nvtx "
                                   "graph-envelope-only profiler-overhead");
}

/* Copies of 16 MiB at 10 GB/s on a link that does 50, while nothing runs; then 3 ms of kernels on another stream before
 * their own stream goes on: each could have run beside them. */
void nai_gen_plan_copy_lag(struct nai_gen_plan *plan, int64_t target_bytes) {
  enum { COPIES = 30, COMPUTE_NS = 3000000, COPY_NS = 1677721 };
  static const struct nai_gen_copy input = {NAI_GEN_HTOD,      NAI_GEN_PINNED, NAI_GEN_DEVICE,
                                            INT64_C(16) << 20, COPY_NS,        false};
  (void)target_bytes;
  nai_gen_even_shapes(plan);
  int process = nai_gen_process(plan, 9301, "loader"), thread = nai_gen_thread(plan, process, 9301, "loader");
  int context = nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0));
  int compute = nai_gen_stream(plan, context, 7), copies = nai_gen_stream(plan, context, 13);
  int work = nai_gen_kernel(plan, "void step<float>(float *, int)", NULL);
  int use = nai_gen_kernel(plan, "void unpack<float>(float *, const float *)", NULL);
  for (int i = 0; i < COPIES; i++) {
    int64_t end = nai_gen_copy(plan, thread, copies, &input);
    end = nai_gen_launch_at(plan, thread, compute, work, end + 20000, COMPUTE_NS);
    end = nai_gen_launch_at(plan, thread, copies, use, end + 1000, 200000);
    nai_gen_wait_until(plan, thread, end + 1000);
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "copy_rates",
                                            .key = "Host-to-Device",
                                            .count = COPIES,
                                            .exact_ns = INT64_C(1) * COPIES * COPY_NS});
  nai_gen_expect_findings(plan, "exposed-copy slow-copies overlappable-copies");
}

/* Results to host memory that is used for the first time: of copies of 16 MiB the first two, which take 9 and 6 ms
 * longer than those behind them, and one of 64 MiB that takes 20 ms longer than one to the GPU does. Another takes less
 * than twice as long as that, and of one of 32 MiB nothing tells what it should take. */
void nai_gen_plan_first_touch(struct nai_gen_plan *plan, int64_t target_bytes) {
  enum { USUAL_NS = 3000000, TO_GPU_NS = 8388608 };
  static const int64_t longer_ns[] = {9000000, 6000000, 0, 0, 1000000, 0, 0, 3000000};
  static const struct {
    int64_t bytes, ns;
  } lone[] = {{INT64_C(64) << 20, TO_GPU_NS + 20000000}, {INT64_C(64) << 20, 16000000}, {INT64_C(32) << 20, 40000000}};
  enum { EQUAL = sizeof longer_ns / sizeof *longer_ns, LONE = sizeof lone / sizeof *lone };
  static const struct nai_gen_copy input = {NAI_GEN_HTOD,      NAI_GEN_PAGEABLE, NAI_GEN_DEVICE,
                                            INT64_C(64) << 20, TO_GPU_NS,        true};
  struct nai_gen_copy result = {NAI_GEN_DTOH, NAI_GEN_DEVICE, NAI_GEN_PAGEABLE, INT64_C(16) << 20, 0, true};
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, 9401, "simulate");
  int work = nai_gen_kernel(plan, "void step<float>(float *, int)", NULL);
  nai_gen_copy(plan, p.thread, p.stream, &input);
  for (int i = 0; i < EQUAL + LONE; i++) {
    nai_gen_launch(plan, p.thread, p.stream, work, 2000000);
    result.bytes = i < EQUAL ? result.bytes : lone[i - EQUAL].bytes;
    result.duration_ns = i < EQUAL ? USUAL_NS + longer_ns[i] : lone[i - EQUAL].ns;
    nai_gen_copy(plan, p.thread, p.stream, &result);
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){
                         .table = "copy_rates", .key = "Device-to-Host", .count = EQUAL + LONE, .gain_ns = 35000000});
  nai_gen_expect_findings(plan, "exposed-copy pageable-copies");
}

/* Data that the decompression engine unpacks, half of the time beside a kernel: 64 MiB in 400 us. */
void nai_gen_plan_decompression(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  int process = nai_gen_process(plan, 5921, "./unpack"), thread = nai_gen_thread(plan, process, 5921, "unpack");
  int context = nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0));
  int stream = nai_gen_stream(plan, context, 7), engine = nai_gen_stream(plan, context, 21);
  int use = nai_gen_kernel(plan, "void use_columns(const int *, int)", NULL);
  int64_t first = nai_gen_now(plan, thread) + 1000000;
  for (int i = 0; i < 30; i++) {
    int64_t t = first + i * INT64_C(1000000);
    nai_gen_wait_until(plan, thread, t);
    nai_gen_hold(plan, engine, t + 20000);
    nai_gen_copy(plan, thread, engine,
                 &(struct nai_gen_copy){.direction = NAI_GEN_DECOMPRESSION,
                                        .source = NAI_GEN_UNKNOWN,
                                        .target = NAI_GEN_UNKNOWN,
                                        .bytes = 64 << 20,
                                        .duration_ns = 400000});
    nai_gen_launch_at(plan, thread, stream, use, t + 220000, 500000);
  }
}
