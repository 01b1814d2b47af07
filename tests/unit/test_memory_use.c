/* Memory held at most, against allocations laid out by hand. */
#include "model_fixture.h"
#include "tables/gpus.h"

enum { DEVICE = 2, PINNED = 1, ALLOC = 0, FREE = 1, MIB = 1 << 20 };

static int32_t thread;

static void begin(struct fixture *f) {
  fixture_init(f);
  thread = fixture_thread(f, fixture_process(f, 7), 70);
  fixture_gpu(f, 0);
  nai_set_i64(f->in.tables[NAI_IN_GPUS], 0, GPUS_memory_bytes, INT64_C(100) * MIB);
}

static void use(struct fixture *f, int64_t time, int operation, int kind, int64_t address, int64_t bytes,
                int64_t correlation) {
  CELLS(f->in.tables[NAI_IN_MEMORY_USAGE], time, kind == PINNED ? -1 : 0, 0, 1, NAI_NULL_I64, correlation, operation,
        kind, address, bytes, 0, 0, NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64);
}

static void use_pool(struct fixture *f, int64_t time, int operation, int64_t address, int64_t bytes, int64_t size,
                     int64_t used) {
  CELLS(f->in.tables[NAI_IN_MEMORY_USAGE], time, 0, 0, 1, NAI_NULL_I64, 0, operation, DEVICE, address, bytes, 0, 0,
        0x99, NAI_NULL_I64, size, used, NAI_NULL_I64);
}

TEST(peak_is_of_one_moment) {
  struct fixture f;
  begin(&f);
  fixture_nvtx(&f, 0, 100, thread, "load weights", NAI_NVTX_PUSH_POP);
  fixture_api(&f, 10, 20, thread, "cudaMalloc", 5);
  use(&f, 15, ALLOC, DEVICE, 0x1000, 40 * MIB, 5);
  use(&f, 30, ALLOC, DEVICE, 0x2000, 50 * MIB, 0); /* 90 MiB */
  use(&f, 40, FREE, DEVICE, 0x2000, 50 * MIB, 0);
  use(&f, 50, ALLOC, DEVICE, 0x2000, 10 * MIB, 0); /* at the same address */
  use(&f, 60, ALLOC, PINNED, 0x9000, 1 * MIB, 0);
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "memory_use", 0), *top = fixture_analyze(&f, "memory_use", 1);
  assert_int_equal(t->rows, 2);
  assert_string_equal(cell_text(t, 0, "memory_kind"), "Device");
  assert_int_equal(cell_int(t, 0, "peak_bytes"), 90 * MIB);
  assert_int_equal(cell_int(t, 0, "peak_ns"), 30);
  assert_true(cell_real(t, 0, "peak_pct_of_capacity") == 90);
  assert_int_equal(cell_int(t, 0, "end_bytes"), 50 * MIB);
  assert_int_equal(cell_int(t, 0, "end_count"), 2);
  assert_int_equal(cell_int(t, 1, "device_id"), NAI_NULL_I64);
  assert_int_equal(cell_int(t, 1, "capacity_bytes"), NAI_NULL_I64);
  assert_int_equal(top->rows, 3);
  int64_t largest = cell_int(top, 0, "memory_kind_id") == DEVICE ? 0 : 1;
  assert_int_equal(cell_int(top, largest, "bytes"), 50 * MIB);
  assert_int_equal(cell_int(top, largest, "released_ns"), 40);
  assert_int_equal(cell_int(top, largest + 1, "bytes"), 40 * MIB);
  assert_int_equal(cell_int(top, largest + 1, "released_ns"), NAI_NULL_I64);
  assert_string_equal(cell_text(top, largest + 1, "nvtx_range"), "load weights");
  assert_string_equal(cell_text(top, largest + 1, "api_name"), "cudaMalloc");
  nai_table_free(t);
  nai_table_free(top);
  fixture_free(&f);
}

TEST(what_is_lost_is_counted) {
  struct fixture f;
  begin(&f);
  use(&f, 10, FREE, DEVICE, 0x5000, 30 * MIB, 0); /* allocated before the capture */
  use(&f, 20, ALLOC, DEVICE, 0x1000, 10 * MIB, 0);
  use(&f, 30, ALLOC, DEVICE, 0x1000, 20 * MIB, 0); /* the release between is lost */
  use(&f, 40, FREE, DEVICE, 0x1000, 5 * MIB, 0);   /* tells another size */
  use(&f, 50, FREE, DEVICE, 0x1000, 5 * MIB, 0);
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "memory_use", 0);
  assert_int_equal(t->rows, 1);
  assert_int_equal(cell_int(t, 0, "peak_bytes"), 20 * MIB);
  assert_int_equal(cell_int(t, 0, "end_bytes"), 0);
  assert_int_equal(cell_int(t, 0, "unknown_frees"), 2);
  assert_int_equal(cell_int(t, 0, "reused_addresses"), 1);
  assert_int_equal(cell_int(t, 0, "mismatched_frees"), 1);
  nai_table_free(t);
  fixture_free(&f);
}

/* What is allocated from a pool is in the pool. */
TEST(pools_are_held_as_a_whole) {
  struct fixture f;
  begin(&f);
  use(&f, 5, ALLOC, DEVICE, 0x1000, 10 * MIB, 0);
  use_pool(&f, 10, ALLOC, 0xa000, 3 * MIB, 32 * MIB, 3 * MIB);
  use_pool(&f, 20, ALLOC, 0xb000, 4 * MIB, 32 * MIB, 7 * MIB);
  use_pool(&f, 30, FREE, 0xa000, 3 * MIB, 32 * MIB, 4 * MIB);
  CELLS(f.in.tables[NAI_IN_MEMORY_POOLS], 40, 0, 0, 0, 3, 1, 0x99, 0, 0, 8 * MIB, 4 * MIB); /* trimmed */
  CELLS(f.in.tables[NAI_IN_MEMORY_POOLS], 41, 0, 0, 0, 3, 1, 0x77, 0, 0, 8 * MIB, 4 * MIB); /* another, unused pool */
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "memory_use", 0);
  assert_int_equal(t->rows, 1);
  assert_int_equal(cell_int(t, 0, "peak_bytes"), 42 * MIB);
  assert_int_equal(cell_int(t, 0, "peak_used_bytes"), 17 * MIB);
  assert_int_equal(cell_int(t, 0, "end_bytes"), 18 * MIB);
  assert_int_equal(cell_int(t, 0, "end_count"), 2);
  assert_int_equal(cell_int(t, 0, "pool_trims"), 1);
  assert_int_equal(cell_int(t, 0, "pool_trimmed_bytes"), 24 * MIB);
  nai_table_free(t);
  fixture_free(&f);
}

/* A trim is a point as well, and its pool's size can be the peak. */
TEST(pools_are_drawn_as_a_whole) {
  struct fixture f;
  begin(&f);
  use_pool(&f, 10, ALLOC, 0xa000, 3 * MIB, 32 * MIB, 3 * MIB);
  CELLS(f.in.tables[NAI_IN_MEMORY_POOLS], 40, 0, 0, 0, 1, 1, 0x99, 0, 0, 48 * MIB, 3 * MIB); /* grown */
  CELLS(f.in.tables[NAI_IN_MEMORY_POOLS], 60, 0, 0, 0, 3, 1, 0x99, 0, 0, 8 * MIB, 4 * MIB);  /* trimmed */
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "memory_timeline", 0), *use = fixture_analyze(&f, "memory_use", 0);
  const int64_t points[][3] = {{10, 3, 32}, {40, 3, 48}, {60, 4, 8}};
  assert_int_equal(t->rows, 3);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(cell_int(t, i, "point"), i + 1);
    assert_int_equal(cell_int(t, i, "time_ns"), points[i][0]);
    assert_int_equal(cell_int(t, i, "live_bytes"), points[i][1] * MIB);
    assert_int_equal(cell_int(t, i, "reserved_bytes"), points[i][2] * MIB);
  }
  assert_int_equal(cell_int(use, 0, "peak_bytes"), 48 * MIB);
  assert_int_equal(cell_int(use, 0, "peak_ns"), 40);
  nai_table_free(t);
  nai_table_free(use);
  fixture_free(&f);
}

/* Of 200,000 events a bounded number of points is kept, and of every stretch of time the extremes. */
TEST(few_points_stand_for_many) {
  enum { EVENTS = 200000, SPIKE = 77777 };
  struct fixture f;
  begin(&f);
  for (int i = 0; i < EVENTS; i++)
    use(&f, 1000 + i * 10, i % 2 ? FREE : ALLOC, DEVICE, 0x1000, i == SPIKE - 1 ? 99 * MIB : 4096 + i, 0);
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "memory_timeline", 0);
  int64_t spikes = 0;
  assert_in_range(t->rows, 512, 6 * 256);
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t time = cell_int(t, i, "time_ns"), event = (time - 1000) / 10, bytes = cell_int(t, i, "live_bytes");
    assert_int_equal(bytes, event % 2 ? 0 : event == SPIKE - 1 ? 99 * MIB : 4096 + event);
    assert_true(i == 0 || time > cell_int(t, i - 1, "time_ns"));
    spikes += bytes == 99 * MIB;
  }
  assert_int_equal(spikes, 1);
  assert_int_equal(cell_int(t, 0, "time_ns"), 1000);
  assert_int_equal(cell_int(t, t->rows - 1, "time_ns"), 1000 + (EVENTS - 1) * 10);
  nai_table_free(t);
  fixture_free(&f);
}

TEST(nothing_recorded_makes_no_rows) {
  struct fixture f;
  begin(&f);
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "memory_use", 0);
  assert_int_equal(t->rows, 0);
  nai_table_free(t);
  fixture_free(&f);
}
