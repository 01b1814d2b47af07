/* Rounds of CUDA calls where kernels were not recorded, against times laid out by hand. */
#include "model_fixture.h"

enum { US = 1000 };

struct host {
  struct fixture f;
  int32_t process, thread;
  int64_t now;
};

static void begin(struct host *h) {
  *h = (struct host){0};
  fixture_init(&h->f);
  h->process = fixture_process(&h->f, 7);
  h->thread = fixture_thread(&h->f, h->process, 70);
}

/* A call of so many us, 1 us behind the one before. */
static void call(struct host *h, const char *name, int64_t us) {
  h->now += 1 * US;
  fixture_api(&h->f, h->now, h->now + us * US, h->thread, name, 0);
  h->now += us * US;
}

static struct nai_table *rounds_of(struct host *h) {
  fixture_build(&h->f);
  return fixture_analyze(&h->f, "call_rounds", 0);
}

/* 25 rounds of two launches, an inner call, a copy that waits; what comes before the first launch is in none. */
TEST(rounds_divide_into_calls) {
  struct host h;
  begin(&h);
  call(&h, "cudaMalloc", 1000);
  for (int i = 0; i < 25; i++) {
    call(&h, "cudaLaunchKernel", 5);
    fixture_api(&h.f, h.now - 2 * US, h.now - 1 * US, h.thread, "cuLaunchKernel", 0); /* inside of the former */
    call(&h, "cudaLaunchKernel", 7);
    call(&h, "cudaMemcpy", 20);
  }
  struct nai_table *t = rounds_of(&h);
  assert_int_equal(t->rows, 1);
  assert_string_equal(cell_text(t, 0, "round_calls"), "cudaLaunchKernel, cudaMemcpy");
  assert_string_equal(cell_text(t, 0, "kind"), "wait");
  assert_int_equal(cell_int(t, 0, "round_count"), 25);
  assert_int_equal(cell_int(t, 0, "launch_count"), 50);
  assert_int_equal(cell_int(t, 0, "launch_ns"), 25 * 12 * US);
  assert_int_equal(cell_int(t, 0, "copy_ns"), 25 * 20 * US);
  assert_int_equal(cell_int(t, 0, "host_ns"), (25 * 3 - 1) * US); /* nothing follows the last */
  assert_int_equal(cell_int(t, 0, "total_time_ns"), 25 * 35 * US - 1 * US);
  assert_int_equal(cell_int(t, 0, "start_ns"), 1002 * US);
  assert_int_equal(cell_int(t, 0, "end_ns"), h.now);
  nai_table_free(t);
  fixture_free(&h.f);
}

/* Record, launch, record, wait: trials. Nineteen are too few. */
TEST(trials_are_timed) {
  for (int count = 20; count <= 21; count++) {
    struct host h;
    begin(&h);
    for (int i = 0; i < count; i++) {
      call(&h, "cudaEventRecord", 2);
      call(&h, "cuLaunchKernel", 4);
      call(&h, "cudaEventRecord", 2);
      call(&h, "cudaEventSynchronize", 50);
    }
    struct nai_table *t = rounds_of(&h);
    assert_int_equal(t->rows, count - 20); /* the last round lacks the record of the next one */
    if (t->rows) {
      assert_string_equal(cell_text(t, 0, "kind"), "timed");
      assert_int_equal(cell_int(t, 0, "round_count"), 20);
      assert_int_equal(cell_int(t, 0, "wait_ns"), 20 * 50 * US);
      assert_int_equal(cell_int(t, 0, "other_calls_ns"), 20 * 4 * US);
    }
    nai_table_free(t);
    fixture_free(&h.f);
  }
}

/* Launches without a wait are one round, which repeats nothing; where kernels are recorded, launch_waits speaks. */
TEST(no_rounds) {
  for (int recorded = 0; recorded < 2; recorded++) {
    struct host h;
    begin(&h);
    for (int i = 0; i < 40; i++) {
      call(&h, "cudaLaunchKernel", 5);
      if (recorded)
        call(&h, "cudaDeviceSynchronize", 5);
    }
    if (recorded) {
      fixture_gpu(&h.f, 0);
      fixture_kernel(&h.f, 10 * US, 20 * US, "k", 0, h.process, 7, 1);
    }
    struct nai_table *t = rounds_of(&h);
    assert_int_equal(t->rows, 0);
    nai_table_free(t);
    fixture_free(&h.f);
  }
}
