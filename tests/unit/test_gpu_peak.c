/* Peaks of GPUs, of parts of them, and of what is not known. */
#include "model_fixture.h"

#include "model/kernels/gpu_peak.h"
#include "tables/gpus.h"

static struct nai_gpu_peak peak_of(const char *name, int64_t sms) {
  struct fixture f;
  fixture_init(&f);
  fixture_gpu(&f, 0);
  nai_set_str(f.in.tables[NAI_IN_GPUS], 0, GPUS_gpu_name, name);
  nai_set_i64(f.in.tables[NAI_IN_GPUS], 0, GPUS_sm_count, sms);
  fixture_build(&f);
  struct nai_gpu_peak peak = nai_gpu_peak_of(&f.m, 0);
  double tflops = nai_gpu_peak_tflops(&peak, NAI_DTYPE_BF16);
  peak.share = tflops; /* what is asked for; the product goes with the fixture */
  fixture_free(&f);
  return peak;
}

TEST(peaks_follow_the_multiprocessors) {
  assert_true(peak_of("NVIDIA A30", 56).share == 165);
  assert_true(peak_of("NVIDIA A30", NAI_NULL_I64).share == 165);
  assert_true(peak_of("NVIDIA A30", 28).share == 82.5);
  assert_false(peak_of("NVIDIA A30", 28).partition);
}

/* A part of a GPU has its share, and nothing where its size is not told; similar names are other products. */
TEST(parts_are_no_whole_gpus) {
  assert_true(peak_of("NVIDIA A30 MIG 2g.12gb", 28).share == 82.5);
  assert_true(peak_of("NVIDIA A30 MIG 2g.12gb", 28).partition);
  assert_true(peak_of("NVIDIA A30 MIG 2g.12gb", NAI_NULL_I64).share == 0);
  assert_true(peak_of("NVIDIA A30 MIG 2g.12gb", 56).share == 0);
  assert_true(peak_of("NVIDIA RTX A3000 MIG 1g", 4).share == 0);
  assert_true(peak_of("NVIDIA A300", 56).share == 0);
  assert_true(peak_of("", 56).share == 0);
}
