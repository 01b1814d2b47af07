/* Managed memory: how much of kernels it covers and how often it moves, against times and addresses laid out by hand.
 */
#include "model_fixture.h"

enum { PAGE = 4096, TO_GPU = 11, TO_HOST = 12, FAULT = 2, PREFETCH = 1 };
static const int64_t base = INT64_C(0x7f0000000000);

static void migrate(struct fixture *f, int64_t start, int64_t end, int kind, int64_t page, int64_t pages, int cause) {
  CELLS(f->in.tables[NAI_IN_MEMOPS], start, end, NAI_MEMOP_COPY, 0, 0, 1, NAI_NULL_I64, NAI_NULL_I64, pages * PAGE,
        kind, NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64, base + page * PAGE, 1, cause);
}

static void begin(struct fixture *f) {
  fixture_init(f);
  fixture_process(f, 7);
  fixture_gpu(f, 0);
}

TEST(kernels_are_covered) {
  struct fixture f;
  begin(&f);
  fixture_kernel(&f, 1000, 2000, "k", 0, 0, 7, 1);
  fixture_kernel(&f, 3000, 4000, "k", 0, 0, 7, 2);
  fixture_kernel(&f, 5000, 6000, "other", 0, 0, 7, 3);
  migrate(&f, 900, 1100, TO_GPU, 0, 1, FAULT);  /* 100 inside */
  migrate(&f, 1050, 1300, TO_GPU, 1, 1, FAULT); /* overlaps the former */
  migrate(&f, 3900, 4500, TO_GPU, 2, 1, FAULT); /* 100 inside */
  CELLS(f.in.tables[NAI_IN_UM_FAULTS], 3000, 3050, NAI_FAULT_GPU, 0, 0, base, 12);
  CELLS(f.in.tables[NAI_IN_UM_FAULTS], 2500, 2500, NAI_FAULT_CPU, -1, 0, base, NAI_NULL_I64);
  fixture_build(&f);
  struct nai_table *gpus = fixture_analyze(&f, "unified_memory", 0),
                   *kernels = fixture_analyze(&f, "unified_memory", 1);
  assert_int_equal(gpus->rows, 1);
  assert_int_equal(cell_int(gpus, 0, "covered_ns"), 300 + 100 + 50);
  assert_int_equal(cell_int(gpus, 0, "kernel_time_ns"), 3000);
  assert_int_equal(cell_int(gpus, 0, "migrating_ns"), 400 + 600 + 50);
  assert_int_equal(cell_int(gpus, 0, "gpu_faults"), 12);
  assert_int_equal(cell_int(gpus, 0, "cpu_faults"), 1);
  assert_int_equal(kernels->rows, 2);
  assert_string_equal(cell_text(kernels, 0, "kernel_name"), "k");
  assert_int_equal(cell_int(kernels, 0, "covered_ns"), 450);
  assert_int_equal(cell_int(kernels, 0, "covered_count"), 2);
  assert_int_equal(cell_int(kernels, 0, "most_covered_start_ns"), 1000);
  assert_int_equal(cell_int(kernels, 1, "covered_ns"), 0);
  nai_table_free(gpus);
  nai_table_free(kernels);
  fixture_free(&f);
}

/* Only what leaves because the GPU is full counts, and only while kernels run. */
TEST(evictions_are_told_apart) {
  enum { EVICTION = 4 };
  struct fixture f;
  begin(&f);
  fixture_kernel(&f, 1000, 2000, "k", 0, 0, 7, 1);
  fixture_kernel(&f, 1500, 2500, "k", 0, 0, 8, 2);
  migrate(&f, 900, 1100, TO_HOST, 0, 1, EVICTION);  /* 100 inside */
  migrate(&f, 1600, 1800, TO_HOST, 1, 1, EVICTION); /* inside of both */
  migrate(&f, 1700, 1900, TO_HOST, 2, 1, EVICTION); /* 100 more */
  migrate(&f, 2000, 2400, TO_HOST, 3, 1, FAULT);
  migrate(&f, 2600, 2700, TO_HOST, 4, 1, EVICTION); /* nobody waits */
  fixture_build(&f);
  struct nai_table *gpus = fixture_analyze(&f, "unified_memory", 0);
  assert_int_equal(cell_int(gpus, 0, "evicting_ns"), 100 + 2 * 300);
  assert_int_equal(cell_int(gpus, 0, "eviction_bytes"), 4 * PAGE);
  nai_table_free(gpus);
  fixture_free(&f);
}

/* A page that comes in two pieces came once. */
TEST(pieces_are_no_repetition) {
  struct fixture f;
  begin(&f);
  fixture_kernel(&f, 0, 10000, "k", 0, 0, 7, 1);
  migrate(&f, 100, 200, TO_GPU, 0, 1, FAULT);
  migrate(&f, 200, 300, TO_GPU, 1, 15, 3);
  migrate(&f, 400, 500, TO_HOST, 0, 1, FAULT);
  migrate(&f, 500, 600, TO_HOST, 1, 15, 3);
  fixture_build(&f);
  struct nai_table *gpus = fixture_analyze(&f, "unified_memory", 0);
  assert_int_equal(cell_int(gpus, 0, "to_gpu_distinct_bytes"), 16 * PAGE);
  assert_true(cell_real(gpus, 0, "moves_to_gpu") == 1);
  assert_int_equal(cell_int(gpus, 0, "again_ns"), 0);
  assert_int_equal(cell_int(gpus, 0, "ping_pong_bytes"), 0);
  assert_int_equal(cell_int(gpus, 0, "fault_bytes"), 2 * PAGE);
  assert_int_equal(cell_int(gpus, 0, "speculative_bytes"), 30 * PAGE);
  nai_table_free(gpus);
  fixture_free(&f);
}

TEST(repetition_is_found) {
  struct fixture f;
  begin(&f);
  fixture_kernel(&f, 0, 100000, "k", 0, 0, 7, 1);
  for (int i = 0; i < 4; i++) {
    migrate(&f, 1000 * i, 1000 * i + 100, TO_GPU, 0, 16, FAULT);
    migrate(&f, 1000 * i + 500, 1000 * i + 600, TO_HOST, 8, 8, FAULT); /* the second half goes back */
  }
  fixture_build(&f);
  struct nai_table *gpus = fixture_analyze(&f, "unified_memory", 0);
  assert_int_equal(cell_int(gpus, 0, "to_gpu_distinct_bytes"), 16 * PAGE);
  assert_int_equal(cell_int(gpus, 0, "to_host_distinct_bytes"), 8 * PAGE);
  assert_true(cell_real(gpus, 0, "moves_to_gpu") == 4);
  assert_int_equal(cell_int(gpus, 0, "covered_ns"), 800);
  assert_int_equal(cell_int(gpus, 0, "again_ns"), 600);
  assert_int_equal(cell_int(gpus, 0, "ping_pong_bytes"), 8 * PAGE);
  nai_table_free(gpus);
  fixture_free(&f);
}

TEST(copies_are_no_migrations) {
  struct fixture f;
  begin(&f);
  fixture_kernel(&f, 1000, 2000, "k", 0, 0, 7, 1);
  fixture_memop(&f, 1100, 1200, NAI_MEMOP_COPY, 0, 0, 7, 2, 4096, 1, 0, 2);
  migrate(&f, 1300, 1400, TO_GPU, 0, 1, PREFETCH);
  fixture_build(&f);
  struct nai_table *gpus = fixture_analyze(&f, "unified_memory", 0), *pids = fixture_analyze(&f, "processes", 0);
  assert_int_equal(cell_int(gpus, 0, "covered_ns"), 100);
  assert_int_equal(cell_int(gpus, 0, "prefetch_bytes"), PAGE);
  assert_int_equal(cell_int(pids, 0, "memcpy_bytes"), 4096); /* the migration is none of the program's copies */
  nai_table_free(gpus);
  nai_table_free(pids);
  fixture_free(&f);
}
