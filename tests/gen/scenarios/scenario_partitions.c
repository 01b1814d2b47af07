/* Kernels that cannot use all 132 SMs of their GPU: in green contexts of known and unknown places, and in a MIG slice.
 */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

enum { ROUNDS = 20, US = 1000, PERIOD = 1500 * US };

/* One process with a context on a GPU of its own. */
struct program {
  int process, thread, context;
  int64_t first; /* when its work begins */
};

static struct program start(struct nai_gen_plan *plan, int pid, int device) {
  struct program p = {.process = nai_gen_process(plan, pid, "./parts")};
  p.thread = nai_gen_thread(plan, p.process, pid, "parts");
  p.context = nai_gen_context(plan, p.process, device, 1, nai_gen_gpu(plan, device));
  p.first = nai_gen_now(plan, p.thread) + 1000 * US;
  return p;
}

static int stream_in(struct nai_gen_plan *plan, int parent, int id, int sms, const char *mask) {
  return nai_gen_stream(plan, nai_gen_green_context(plan, parent, id, sms, mask), 10 + id);
}

/* 256 threads of 128 registers: two blocks per SM. */
static int kernel(struct nai_gen_plan *plan, const char *name, int grid) {
  int number = nai_gen_kernel(plan, name, NULL);
  nai_gen_kernel_shape(plan, number, grid, 256);
  nai_gen_kernel_resources(plan, number, 128, 0, 0);
  return number;
}

static void shape_fact(struct nai_gen_plan *plan, const char *name, const char *fill, int64_t tail_ns) {
  nai_gen_fact(plan,
               &(struct nai_gen_fact){
                   .table = "kernel_shape", .key = name, .value = fill, .count = ROUNDS, .exact_ns = ROUNDS * tail_ns});
}

static void use_fact(struct nai_gen_plan *plan, const char *id, const char *overlaps, int kernels, int64_t ns) {
  nai_gen_fact(plan, &(struct nai_gen_fact){
                         .table = "sm_partitions", .key = id, .value = overlaps, .count = kernels, .exact_ns = ns});
}

/* Green contexts 2 (44 SMs) and 3 (88 SMs) have no TPC in common, 4 (44 SMs) is on those of 2. 132 blocks are 1.5 waves
 * on 44 SMs: of a wave, half of the time, half is lost, whatever runs in context 3; beside a kernel in 4 only the 40 us
 * in which that does not run. 66 blocks are too few for 88 SMs, which are two thirds of the GPU: of 300 us a quarter.
 */
static void plan_masks(struct nai_gen_plan *plan) {
  struct program p = start(plan, 5911, 0);
  int a = stream_in(plan, p.context, 2, 44, "0x3fffff,0x0,0x0");
  int b = stream_in(plan, p.context, 3, 88, "0xffc00000,0xffffffff,0x3");
  int c = stream_in(plan, p.context, 4, 44, "0x3fffff,0x0,0x0");
  int tail = kernel(plan, "void tail_alone(float *)", 132), wide = kernel(plan, "void too_wide(float *)", 66);
  int shared = kernel(plan, "void tail_shared(float *)", 132), fits = kernel(plan, "void just_fits(float *)", 44);
  for (int i = 0; i < ROUNDS; i++) {
    int64_t t = p.first + (int64_t)i * PERIOD;
    nai_gen_wait_until(plan, p.thread, t - 50 * US);
    nai_gen_launch_at(plan, p.thread, a, tail, t, 400 * US);
    nai_gen_launch_at(plan, p.thread, b, wide, t, 300 * US);
    nai_gen_launch_at(plan, p.thread, a, shared, t + 500 * US, 400 * US);
    nai_gen_launch_at(plan, p.thread, c, fits, t + 740 * US, 200 * US);
  }
  shape_fact(plan, "void tail_alone(float *)", "waves", 100 * US);
  shape_fact(plan, "void too_wide(float *)", "underfilled", 0);
  shape_fact(plan, "void tail_shared(float *)", "waves", 40 * US);
  shape_fact(plan, "void just_fits(float *)", "one wave", 0);
  use_fact(plan, "2", "4", 2 * ROUNDS, ROUNDS * INT64_C(800) * US);
  use_fact(plan, "3", "", ROUNDS, ROUNDS * INT64_C(300) * US);
  use_fact(plan, "4", "2", ROUNDS, ROUNDS * INT64_C(200) * US);
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "losses",
                                            .key = "underfilled",
                                            .value = "void too_wide(float *)",
                                            .count = ROUNDS,
                                            .exact_ns = ROUNDS * INT64_C(200) * US,
                                            .gain_ns = ROUNDS * INT64_C(50) * US});
}

/* A process that sees 28 SMs: 28 blocks fill them. */
static void plan_slice(struct nai_gen_plan *plan) {
  struct program p = start(plan, 5912, 1);
  nai_gen_visible_sms(plan, p.process, 28);
  int stream = nai_gen_stream(plan, p.context, 7), fills = kernel(plan, "void fills_slice(float *)", 28);
  for (int i = 0; i < ROUNDS; i++) {
    int64_t t = p.first + (int64_t)i * PERIOD;
    nai_gen_wait_until(plan, p.thread, t - 50 * US);
    nai_gen_launch_at(plan, p.thread, stream, fills, t, 900 * US);
  }
  shape_fact(plan, "void fills_slice(float *)", "one wave", 0);
}

/* Green contexts of unknown places, and one of an unknown number of SMs, too: of that nothing is said. */
static void plan_unknown(struct nai_gen_plan *plan) {
  struct program p = start(plan, 5913, 2);
  int e = stream_in(plan, p.context, 5, 66, NULL), f = stream_in(plan, p.context, 6, 0, NULL);
  int fits = kernel(plan, "void fits_66(float *)", 66), unknown = kernel(plan, "void who_knows(float *)", 10);
  for (int i = 0; i < ROUNDS; i++) {
    int64_t t = p.first + (int64_t)i * PERIOD;
    nai_gen_wait_until(plan, p.thread, t - 50 * US);
    nai_gen_launch_at(plan, p.thread, e, fits, t, 500 * US);
    nai_gen_launch_at(plan, p.thread, f, unknown, t + 600 * US, 300 * US);
  }
  shape_fact(plan, "void fits_66(float *)", "one wave", 0);
  shape_fact(plan, "void who_knows(float *)", "", 0);
  use_fact(plan, "5", "6", ROUNDS, ROUNDS * INT64_C(500) * US);
  use_fact(plan, "6", "5", ROUNDS, ROUNDS * INT64_C(300) * US);
}

void nai_gen_plan_partitions(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  nai_gen_even_shapes(plan);
  plan_masks(plan);
  plan_slice(plan);
  plan_unknown(plan);
  nai_gen_expect_findings(plan, "sm-partition");
}
