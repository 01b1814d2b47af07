/* Launches of every shape on an H100: 132 multiprocessors of 64 warps and 65,536 registers. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

enum { ROUNDS = 20 };

struct shape {
  const char *name;
  int grid, block, registers, shared_bytes, local_bytes;
  int64_t duration_ns;
  const char *fill;
  int64_t tail_ns; /* what one launch loses in its last wave, worked out by hand */
};

/* Registers come in units of 256 per warp: 128 per thread are 4,096 per warp, 16 warps per multiprocessor. */
static const struct shape shapes[] = {
    /* 2 blocks of 8 warps per multiprocessor, 264 at once: exactly one wave */
    {"ampere_sgemm_128x128_tn", 264, 256, 128, 0, 0, 300000, "one wave", 0},
    /* 396 are 1.5 waves: of the second, which takes half of the time, half is empty */
    {"void stencil<float>(T1 *, const T1 *, int)", 396, 256, 128, 0, 0, 400000, "waves", 100000},
    /* 100,000 bytes and what the system keeps are 101,120, of which two fit: 660 are 2.5 waves */
    {"void transform<float>(T1 *, int)", 660, 64, 32, 100000, 0, 300000, "waves", 50000},
    {"void solve_rows<double>(T1 *, const T1 *, int)", 1056, 256, 32, 0, 96, 200000, "one wave", 0},
    {"void reduce_all<float>(T1 *, const T1 *, int)", 60, 256, 32, 0, 0, 20000, "underfilled", 0},
    /* 1.5 waves as well, but its blocks fetch work */
    {"persistent_pass<float>", 396, 256, 128, 0, 0, 50000, "uneven", 0},
    /* 32 warps of 8,192 registers are four times what there is */
    {"void impossible<float>(T1 *)", 1000, 1024, 255, 0, 0, 5000, "invalid", 0},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* The stencil again, with another kernel beside all but 40 us of its last wave. */
static int64_t plan_beside(struct nai_gen_plan *plan, int thread, const int *streams, int stencil, int other,
                           int64_t start) {
  nai_gen_launch_at(plan, thread, streams[0], stencil, start, 400000);
  return nai_gen_launch_at(plan, thread, streams[1], other, start + 240000, 200000);
}

/* Half of a warp per block: of a million blocks, 0.93 per clock of 1.98 GHz start, in half of the calls 0.5; a thousand
 * blocks last as long. Blocks of 256 threads need 1/16 of the starts; full warps half of the time. */
static void plan_small(struct nai_gen_plan *plan, int thread, int stream, int64_t at) {
  enum { CALLS = 4, STARTING_NS = 569600, WORKING_NS = 1059200 };
  int starting = nai_gen_kernel(plan, "void start_cells<float>(T1 *, int)", NULL);
  int working = nai_gen_kernel(plan, "void work_cells<float>(T1 *, int)", NULL);
  nai_gen_kernel_shape(plan, starting, 1 << 20, 16);
  nai_gen_kernel_shape(plan, working, 1000, 16);
  for (int i = 0; i < CALLS; i++) {
    at = nai_gen_launch_at(plan, thread, stream, starting, at, STARTING_NS) + 1000;
    at = nai_gen_launch_at(plan, thread, stream, starting, at, WORKING_NS) + 1000;
    at = nai_gen_launch_at(plan, thread, stream, working, at, STARTING_NS) + 1000;
  }
  nai_gen_fact(plan,
               &(struct nai_gen_fact){.table = "losses",
                                      .key = "small_blocks",
                                      .value = "start_cells",
                                      .count = 3 * CALLS,
                                      .exact_ns = CALLS * (2 * STARTING_NS + WORKING_NS),
                                      .gain_ns = CALLS * (STARTING_NS / 16 * 15 + WORKING_NS / 2 + STARTING_NS / 2)});
}

void nai_gen_plan_shapes(struct nai_gen_plan *plan, int64_t target_bytes) {
  int kernels[SHAPES], streams[2];
  (void)target_bytes;
  nai_gen_even_shapes(plan);
  int process = nai_gen_process(plan, 5901, "solver"), thread = nai_gen_thread(plan, process, 5901, "solver");
  int context = nai_gen_context(plan, process, 0, 1, nai_gen_gpu(plan, 0));
  streams[0] = nai_gen_stream(plan, context, 7);
  streams[1] = nai_gen_stream(plan, context, 13);
  for (int i = 0; i < SHAPES; i++) {
    kernels[i] = nai_gen_kernel(plan, shapes[i].name, NULL);
    nai_gen_kernel_shape(plan, kernels[i], shapes[i].grid, shapes[i].block);
    nai_gen_kernel_resources(plan, kernels[i], shapes[i].registers, shapes[i].shared_bytes, shapes[i].local_bytes);
  }
  int beside = nai_gen_kernel(plan, "void copy_rows<float>(T1 *, const T1 *)", NULL);
  int shared = nai_gen_kernel(plan, "void stencil_beside<float>(T1 *, const T1 *, int)", NULL);
  nai_gen_kernel_shape(plan, shared, 396, 256);
  nai_gen_kernel_resources(plan, shared, 128, 0, 0);
  int64_t at = 1000000;
  for (int round = 0; round < ROUNDS; round++) {
    nai_gen_wait_until(plan, thread, at - 50000);
    for (int i = 0; i < SHAPES; i++) {
      at = nai_gen_launch_at(plan, thread, streams[0], kernels[i], at, shapes[i].duration_ns) + 1000;
    }
    at = plan_beside(plan, thread, streams, shared, beside, at) + 1000;
  }
  nai_gen_wait_until(plan, thread, at - 50000);
  plan_small(plan, thread, streams[0], at);
  nai_gen_synchronize(plan, thread, streams[0], API_STREAM_SYNC, 2000);
  for (int i = 0; i < SHAPES; i++) {
    nai_gen_fact(plan, &(struct nai_gen_fact){.table = "kernel_shape",
                                              .key = shapes[i].name,
                                              .value = shapes[i].fill,
                                              .count = ROUNDS,
                                              .exact_ns = ROUNDS * shapes[i].tail_ns});
  }
  /* Half of the last wave is empty, as above, but only for 40 us of it nothing else runs. */
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "kernel_shape",
                                            .key = "void stencil_beside<float>(T1 *, const T1 *, int)",
                                            .value = "waves",
                                            .count = ROUNDS,
                                            .exact_ns = ROUNDS * INT64_C(40000)});
  nai_gen_expect_findings(plan, "fp32-gemm tail-effect register-spill small-blocks");
}
