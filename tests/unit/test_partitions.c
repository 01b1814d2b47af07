/* Parts of a GPU's SMs: which kernels are in which, and which may share some. */
#include "model_fixture.h"

#include "model/kernels/partitions.h"
#include "tables/kernel_events.h"

TEST(test_masks) {
  static const struct {
    const char *a, *b;
    bool meet;
  } cases[] = {{"0xf,0x0", "0xf0,0x0", false},
               {"0xf,0x1", "0xf0,0x1", true},
               {"0xf", "0xf", true},
               {"0xf", "0xf0,0x0", true}, /* of different lengths */
               {"", "0xf0", true},        /* not told */
               {"odd", "0xf0", true},
               {"0xf ", "0xf0", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_partition v[] = {{.mask = ""}, {.mask = cases[i].a}, {.mask = cases[i].b}};
    struct nai_partitions p = {.v = v, .count = 3};
    assert_int_equal(nai_partitions_overlap(&p, 1, 2), cases[i].meet);
    assert_true(nai_partitions_overlap(&p, 1, 1));
    assert_true(nai_partitions_overlap(&p, 0, 2));
  }
}

static void context(struct fixture *f, int64_t pid, int64_t id, int64_t green, int64_t sms) {
  NAI_ADD(CUDA_CONTEXTS, f->in.tables[NAI_IN_CONTEXTS], .pid = pid, .cuda_device = 0, .context_id = id,
          .is_green = green, .sm_count = sms);
}

static void kernel_in(struct fixture *f, int32_t process, int64_t start, int64_t own, int64_t green) {
  struct nai_table *t = f->in.tables[NAI_IN_KERNELS];
  fixture_kernel(f, start, start + 5, "k", 0, process, 7, 0);
  nai_set_i64(t, t->rows - 1, KERNEL_EVENTS_context_id, own);
  nai_set_i64(t, t->rows - 1, KERNEL_EVENTS_green_context, green);
}

TEST(test_kernels) {
  struct fixture f;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_partitions p;
  fixture_init(&f);
  int32_t one = fixture_process(&f, 10), other = fixture_process(&f, 11);
  fixture_gpu(&f, 0);
  nai_set_i64(f.in.tables[NAI_IN_GPUS], 0, GPUS_sm_count, 100);
  context(&f, 10, 1, 0, 0);
  context(&f, 10, 2, 1, 40);
  context(&f, 11, 2, 1, 101); /* more than there are */
  kernel_in(&f, one, 0, 1, NAI_NULL_I64);
  kernel_in(&f, one, 10, 1, 2);
  kernel_in(&f, one, 20, 2, NAI_NULL_I64); /* its own context is green */
  kernel_in(&f, one, 30, 1, 3);            /* which no table lists */
  kernel_in(&f, other, 40, 1, 2);
  fixture_build(&f);
  ok(nai_partitions_new(&p, &f.m, &arena, err));
  static const int64_t sms[] = {100, 40, 40, 0, 0};
  for (uint32_t i = 0; i < 5; i++)
    assert_int_equal(nai_partition_sms(&p, nai_partition_of(&p, i, 0), 100), sms[i]);
  assert_int_equal(nai_partition_of(&p, 1, 0), nai_partition_of(&p, 2, 0));
  fixture_free(&f);
}
