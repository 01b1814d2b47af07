/* Copies between GPUs, against times laid out by hand. */
#include "model_fixture.h"
#include "tables/gpus.h"

enum { PEER = 10, DEVICE_TO_DEVICE = 8, MIB = 1 << 20 };

static void copy(struct fixture *f, int64_t start, int64_t end, int kind, int64_t bytes, int src, int dst) {
  CELLS(f->in.tables[NAI_IN_MEMOPS], start, end, NAI_MEMOP_COPY, 0, 0, 1, 7, 1, bytes, kind, 2, 2, NAI_NULL_I64,
        NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64, 0, NAI_NULL_I64, src, dst, NAI_NULL_I64);
}

static void begin(struct fixture *f, const char *gpu) {
  fixture_init(f);
  fixture_process(f, 7);
  fixture_gpu(f, 0);
  fixture_gpu(f, 1);
  nai_set_str(f->in.tables[NAI_IN_GPUS], 0, GPUS_gpu_name, gpu);
}

/* 450 GB/s is one direction of an H100's links; data sheets say 900. */
TEST(each_direction_has_its_own_link) {
  struct fixture f;
  begin(&f, "NVIDIA H100 80GB HBM3");
  for (int i = 0; i < 3; i++) { /* 225 GB/s there, half of it beside copies back */
    copy(&f, 10000 * i, 10000 * i + 8000, PEER, 1800000, 0, 1);
    copy(&f, 10000 * i + 4000, 10000 * i + 9000, DEVICE_TO_DEVICE, 2250000, 1, 0);
  }
  copy(&f, 50000, 51000, DEVICE_TO_DEVICE, 8 * MIB, 0, 0); /* on one GPU */
  copy(&f, 60000, 61000, PEER, 4096, 0, 1);                /* small */
  copy(&f, 70000, 71000, PEER, MIB, 0, 1);                 /* two at once share the direction */
  copy(&f, 70500, 72000, PEER, MIB, 0, 1);
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "peer_copies", 0);
  assert_int_equal(t->rows, 2);
  assert_int_equal(cell_int(t, 0, "src_cuda_device"), 0);
  assert_int_equal(cell_int(t, 0, "count"), 6);
  assert_int_equal(cell_int(t, 0, "large_count"), 3);
  assert_int_equal(cell_int(t, 0, "total_time_ns"), 3 * 8000 + 1000 + 1000 + 1500);
  assert_true(cell_real(t, 0, "p50_gb_per_s") == 225);
  assert_true(cell_real(t, 0, "p50_pct_of_link") == 50);
  assert_int_equal(cell_int(t, 0, "excess_ns"), 3 * 4000);
  assert_int_equal(cell_int(t, 0, "opposite_ns"), 3 * 4000);
  assert_true(cell_real(t, 1, "p50_gb_per_s") == 450);
  assert_int_equal(cell_int(t, 1, "excess_ns"), 0);
  nai_table_free(t);
  fixture_free(&f);
}

TEST(an_unknown_link_is_no_limit) {
  struct fixture f;
  begin(&f, "NVIDIA GeForce RTX 4090");
  copy(&f, 0, 8000, PEER, 2 * MIB, 0, 1);
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "peer_copies", 0);
  assert_int_equal(t->rows, 1);
  assert_true(cell_real(t, 0, "p50_gb_per_s") > 262);
  assert_int_equal(cell_int(t, 0, "excess_ns"), NAI_NULL_I64);
  assert_true(cell_real(t, 0, "link_gb_per_s") != cell_real(t, 0, "link_gb_per_s"));
  nai_table_free(t);
  fixture_free(&f);
}
