/* Occupancy against points that NVIDIA's calculator gives, and waves against hand-made launches. */
#include "model_fixture.h"

#include "model/kernels/waves.h"
#include "tables/gpus.h"

/* A GPU of which nothing but its capability and multiprocessors is known. */
static struct nai_sm sm_of(struct fixture *f, int major, int minor, int count) {
  struct nai_table *gpus = f->in.tables[NAI_IN_GPUS];
  fixture_gpu(f, gpus->rows);
  nai_set_i64(gpus, gpus->rows - 1, GPUS_compute_major, major);
  nai_set_i64(gpus, gpus->rows - 1, GPUS_compute_minor, minor);
  nai_set_i64(gpus, gpus->rows - 1, GPUS_sm_count, count);
  return nai_sm_of(gpus, gpus->rows - 1, f->gpu_facts);
}

TEST(test_known_points) {
  static const struct {
    int major, minor;
    struct nai_launch_shape shape;
    int64_t blocks;
    const char *limiter;
  } points[] = {
      {8, 0, {256, 32, 0}, 8, "warps"},
      {8, 0, {256, 128, 0}, 2, "registers"},
      {9, 0, {384, 168, 213204}, 1, "registers"}, /* a real nvjet launch: both registers and memory allow one */
      {8, 6, {128, 180, 0}, 2, "registers"},
      {8, 6, {32, 16, 0}, 16, "blocks"},
      {7, 5, {1024, 32, 0}, 1, "warps"},
      {7, 5, {64, 32, 32768}, 2, "shared_memory"},
      {8, 0, {64, 32, 32768}, 4, "shared_memory"}, /* each block costs 1 KiB more there */
      {6, 0, {96, 40, 0}, 16, "registers"},        /* two parts, each with 24 warps of 1,280 registers */
      {7, 0, {96, 40, 0}, 16, "registers"},
      {8, 0, {1024, 255, 0}, 0, "registers"},
      {8, 0, {1024, 64, 0}, 1, "registers"},
      {8, 6, {128, 32, 101377}, 0, "shared_memory"},
      {12, 0, {32, 0, 0}, 24, "blocks"},
      {8, 0, {1025, 32, 0}, 0, NULL},
      {8, 0, {0, 32, 0}, 0, NULL},
      {8, 0, {32, 256, 0}, 0, NULL},
  };
  struct fixture f;
  fixture_init(&f);
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    struct nai_sm sm = sm_of(&f, points[i].major, points[i].minor, 1);
    struct nai_occupancy o = nai_occupancy_of(&sm, &points[i].shape);
    assert_true(sm.known);
    if (o.blocks_per_sm != points[i].blocks)
      fail_msg("point %zu: %lld blocks, not %lld", i, (long long)o.blocks_per_sm, (long long)points[i].blocks);
    if (points[i].limiter)
      assert_string_equal(nai_occupancy_limiter_name(o.limiter), points[i].limiter);
  }
  fixture_free(&f);
}

/* What the export says comes first, a 0 in it (an exporter of 2021 wrote one) is taken for nothing said. */
TEST(test_limits) {
  struct fixture f;
  fixture_init(&f);
  struct nai_table *gpus = f.in.tables[NAI_IN_GPUS];
  struct nai_sm sm = sm_of(&f, 7, 5, 72);
  nai_set_i64(gpus, 0, GPUS_max_blocks_per_sm, 0);
  nai_set_i64(gpus, 0, GPUS_max_warps_per_sm, 16);
  sm = nai_sm_of(gpus, 0, f.gpu_facts);
  assert_int_equal(sm.limits.blocks_per_sm, 16);
  assert_int_equal(sm.limits.warps_per_sm, 16);
  sm = sm_of(&f, 99, 0, 10);
  assert_false(sm.known);
  fixture_gpu(&f, 7);
  sm = nai_sm_of(gpus, gpus->rows - 1, f.gpu_facts);
  assert_false(sm.known);
  assert_int_equal(sm.count, 0);
  fixture_free(&f);
}

static struct nai_fit fit(struct fixture *f, const struct nai_sm *sm, int64_t blocks, int64_t cluster,
                          int64_t max_clusters, int64_t launch_type, bool uneven) {
  struct nai_table *configs = f->in.tables[NAI_IN_KERNEL_CONFIGS];
  CELLS(configs, blocks, 1, 1, 256, 1, 1, 128, 0, 0, 0, 0, cluster, 1, 1, max_clusters, launch_type, 0);
  return nai_fit_of(configs, configs->rows - 1, sm, uneven);
}

TEST(test_waves) {
  struct fixture f;
  NAI_SCOPED(nai_arena) arena = {0};
  struct nai_coverage free_time = {0};
  struct nai_intervals nothing = {0};
  fixture_init(&f);
  struct nai_sm sm = sm_of(&f, 9, 0, 100); /* 2 blocks on each of 100 */
  ok(nai_coverage_in(&free_time, &nothing, &arena, err));
  assert_int_equal(fit(&f, &sm, 99, 0, 0, 1, false).fill, NAI_FILL_UNDERFILLED);
  assert_int_equal(fit(&f, &sm, 100, 0, 0, 1, false).fill, NAI_FILL_ONE_WAVE);
  assert_int_equal(fit(&f, &sm, 200, 0, 0, 1, false).fill, NAI_FILL_ONE_WAVE);
  assert_int_equal(fit(&f, &sm, 201, 0, 0, 2, false).fill, NAI_FILL_UNEVEN); /* cooperative */
  assert_int_equal(fit(&f, &sm, 201, 0, 0, 1, true).fill, NAI_FILL_UNEVEN);
  struct nai_fit waves = fit(&f, &sm, 300, 0, 0, 1, false);
  assert_int_equal(waves.fill, NAI_FILL_WAVES);
  assert_int_equal(waves.slots, 200);
  assert_int_equal(nai_tail_ns(&waves, 1000, 2000, &free_time), 250); /* half of the second half */
  struct nai_fit even = fit(&f, &sm, 400, 0, 0, 1, false);
  assert_int_equal(nai_tail_ns(&even, 1000, 2000, &free_time), 0);
  assert_int_equal(fit(&f, &sm, 600, 3, 0, 1, false).slots, 198);  /* whole clusters only */
  assert_int_equal(fit(&f, &sm, 600, 3, 50, 1, false).slots, 150); /* as CUDA says */
  fixture_free(&f);
}
