/* What threads did in gaps: layers of evidence against times laid out by hand. */
#include "model_fixture.h"

#include "model/cpu/activity.h"
#include "model/cpu/cpu.h"
#include "model/cpu/wakers.h"
#include "model/cpu/workers.h"
#include "tables/callchain_frames.h"
#include "tables/cpu_threads.h"

enum { US = 1000, MS = 1000000 };

struct cpu {
  struct fixture f;
  int32_t process, thread;
  int64_t tid;
};

static void begin(struct cpu *c) {
  fixture_init(&c->f);
  c->process = fixture_process(&c->f, 7);
  c->thread = fixture_thread(&c->f, c->process, 70);
  c->tid = 7 << 24 | 70;
  fixture_gpu(&c->f, 0);
}

static void sched(struct cpu *c, int64_t time, int64_t cpu, int in, int64_t state) {
  CELLS(c->f.in.tables[NAI_IN_SCHED], time, c->thread, c->tid, cpu, in, state, NAI_NULL_I64);
}

static void sample(struct cpu *c, int64_t time, int64_t chain, int64_t cycles) {
  CELLS(c->f.in.tables[NAI_IN_SAMPLES], time, c->thread, c->tid, 0, 1, cycles, chain);
}

static void frame(struct cpu *c, int kind, int64_t chain, int depth, const char *symbol, const char *module,
                  int unresolved) {
  struct nai_table *t = c->f.in.tables[NAI_IN_CALLCHAINS];
  CELLS(t, kind, chain, depth, 0, 0, NAI_NULL_I64, unresolved);
  nai_set_str(t, t->rows - 1, CALLCHAIN_FRAMES_symbol, symbol);
  nai_set_str(t, t->rows - 1, CALLCHAIN_FRAMES_module, module);
}

/* A launch that ends at 10 ms, and its kernel; another before the gap that begins at 1 ms. */
static void one_gap(struct cpu *c) {
  fixture_api(&c->f, 0, 10 * US, c->thread, "cudaLaunchKernel", 1);
  fixture_kernel(&c->f, 20 * US, 1 * MS, "first", 0, c->process, 7, 1);
  fixture_api(&c->f, 10 * MS - 10 * US, 10 * MS, c->thread, "cudaLaunchKernel", 2);
  fixture_kernel(&c->f, 10 * MS, 11 * MS, "second", 0, c->process, 7, 2);
}

static int64_t find(const struct nai_table *t, const char *layer, const char *class, const char *function) {
  for (int64_t i = 0; i < t->rows; i++)
    if (strcmp(cell_text(t, i, "layer"), layer) == 0 && strcmp(cell_text(t, i, "class"), class) == 0 &&
        strcmp(cell_text(t, i, "function"), function) == 0)
      return i;
  return -1;
}

static void expect(const struct nai_table *t, const char *layer, const char *class, const char *function, int64_t ns) {
  int64_t row = find(t, layer, class, function);
  if (row < 0)
    fail_msg("no row %s/%s/%s", layer, class, function);
  assert_int_equal(cell_int(t, row, "time_ns"), ns);
}

/* --- time on a CPU ---------------------------------------------------------------------------- */

static void time_of(struct cpu *c, int64_t start, int64_t end, struct nai_cpu_time *time) {
  *time = (struct nai_cpu_time){0};
  nai_cpu_time_add(time, &c->f.m, c->tid, start, end);
  assert_int_equal(time->on_ns + time->off_ns + time->unknown_ns, end - start);
}

TEST(scheduling_divides_time) {
  struct cpu c;
  struct nai_cpu_time t;
  begin(&c);
  sched(&c, 100, 1, 1, NAI_NULL_I64);
  sched(&c, 300, 1, 0, 1); /* could have gone on */
  sched(&c, 400, 2, 1, NAI_NULL_I64);
  sched(&c, 450, 2, 1, NAI_NULL_I64); /* the row between is lost */
  sched(&c, 500, 2, 0, 2);
  sched(&c, 900, 2, 1, NAI_NULL_I64); /* until the end of the capture, which no row tells */
  fixture_build(&c.f);
  time_of(&c, 0, 1000, &t);
  assert_int_equal(t.on_ns, 200 + 50);
  assert_int_equal(t.off_ns, 100 + 400);
  assert_int_equal(t.preempted_ns, 100);
  assert_int_equal(t.unknown_ns, 100 + 50 + 100);
  assert_int_equal(t.breaks, 1);
  time_of(&c, 150, 350, &t);
  assert_int_equal(t.on_ns, 150);
  assert_int_equal(t.off_ns, 50);
  time_of(&c, 300, 400, &t);
  assert_int_equal(t.off_ns, 100);
  time_of(&c, 950, 1000, &t);
  assert_int_equal(t.unknown_ns, 50);
  time_of(&c, 0, 50, &t);
  assert_int_equal(t.unknown_ns, 50);
  c.tid++;
  time_of(&c, 0, 1000, &t);
  assert_int_equal(t.unknown_ns, 1000);
  fixture_free(&c.f);
}

/* --- who wakes it ------------------------------------------------------------------------------- */

static void run_at(struct cpu *c, int32_t thread, int64_t tid, int64_t from, int64_t until, int64_t state) {
  struct nai_table *t = c->f.in.tables[NAI_IN_SCHED];
  CELLS(t, from, thread, tid, 0, 1, NAI_NULL_I64, NAI_NULL_I64);
  CELLS(t, until, thread, tid, 0, 0, state, NAI_NULL_I64);
}

/* Rounds of 10 ms: the feeder runs for 1 ms and wakes the thread, which runs for 2 ms; another thread runs most of the
 * time, and one runs elsewhere in the round. */
TEST(whom_a_thread_waits_for) {
  enum { ROUNDS = 12, SLEEPING = 2, RUNNING = 1, FEEDER = 71, BUSY = 72, OTHER = 73 };
  for (int missed = 4; missed < 6; missed++) { /* the first, which is not known, and 3 or 4 of 11 others */
    struct nai_arena arena = {0};
    struct nai_wakes wakes = {0};
    struct cpu c;
    struct nai_err err;
    begin(&c);
    int32_t threads[3];
    for (int i = 0; i < 3; i++)
      threads[i] = fixture_thread(&c.f, c.process, FEEDER + i);
    for (int64_t i = 0; i < ROUNDS; i++) {
      const int64_t at = i * 10 * MS;
      run_at(&c, threads[0], c.tid + 1, at + (i < missed ? 3 : 0) * MS, at + (i < missed ? 4 : 1) * MS, SLEEPING);
      run_at(&c, c.thread, c.tid, at + MS + 50 * US, at + 3 * MS, SLEEPING);
      run_at(&c, threads[1], c.tid + 2, at + 100 * US, at + 9 * MS, SLEEPING);
      run_at(&c, threads[2], c.tid + 3, at + 5 * MS, at + 6 * MS, SLEEPING);
    }
    run_at(&c, c.thread, c.tid, 200 * MS, 201 * MS, RUNNING);
    run_at(&c, c.thread, c.tid, 202 * MS, 203 * MS, SLEEPING);            /* behind no sleep */
    run_at(&c, c.thread, c.tid, 203 * MS + 400 * US, 204 * MS, SLEEPING); /* behind a short one */
    fixture_build(&c.f);
    assert_int_equal(nai_wakes_add(&wakes, &c.f.m, c.tid, 0, ROUNDS * 10 * MS, &arena, &err), NAI_OK);
    assert_int_equal(nai_wakes_add(&wakes, &c.f.m, c.tid, 201 * MS, 300 * MS, &arena, &err), NAI_OK);
    assert_int_equal(wakes.count, ROUNDS - 1); /* what precedes the first is not known */
    const struct nai_waker waker = nai_waker_of(&wakes, &c.f.m, c.tid);
    assert_int_equal(waker.thread, missed == 4 ? threads[0] : -1);
    assert_int_equal(waker.count, missed == 4 ? ROUNDS - missed : 0);
    wakes.count = 9; /* too few */
    assert_int_equal(nai_waker_of(&wakes, &c.f.m, c.tid).thread, -1);
    nai_arena_free(&arena);
    fixture_free(&c.f);
  }
}

/* --- functions of callchains ------------------------------------------------------------------ */

TEST(chains_name_what_one_can_act_on) {
  static const struct {
    const char *frames[4][2]; /* symbol, module; innermost first */
    const char *expected;
    uint8_t flags;
    bool own;
  } cases[] = {
      {{{"__memcpy_avx", "/usr/lib/libc.so.6"}, {"decode(int)", "/home/u/app"}}, "decode(int)", 0, true},
      {{{"0x7f00", "/usr/lib/libcuda.so.550"}, {"cudaLaunchKernel", "/home/u/app"}, {"step()", "/home/u/app"}},
       "step()",
       0,
       true},
      {{{"float std::generate<float>(int)", "/home/u/app"}, {"fill(float*)", "/home/u/app"}}, "fill(float*)", 0, true},
      {{{"float std::generate<float>(int)", "/home/u/app"}}, "float std::generate<float>(int)", NAI_CHAIN_ALONE, true},
      {{{"std::vector<float, std::allocator<float> >::operator[](unsigned long)", "/home/u/app"},
        {"main", "/home/u/app"}},
       "main",
       NAI_CHAIN_NOT_INLINED,
       true},
      {{{"float&& std::forward<float>(std::remove_reference<float>::type&)", "/home/u/app"}, {"main", "/home/u/app"}},
       "main",
       NAI_CHAIN_NOT_INLINED,
       true},
      /* an argument of another template, which optimized code calls */
      {{{"std::__detail::_Map_base<int, std::__detail::_Mod_range_hashing>::operator[](int const&)", "/home/u/app"},
        {"main", "/home/u/app"}},
       "main",
       0,
       true},
      {{{"void sort<__gnu_cxx::__normal_iterator<int*, std::vector<int> > >(int)", "/home/u/app"},
        {"main", "/home/u/app"}},
       "void sort<__gnu_cxx::__normal_iterator<int*, std::vector<int> > >(int)",
       0,
       true},
      {{{"__vfscanf_internal", "/usr/lib/libc.so.6"}, {"[Broken backtraces]", "[Broken backtraces]"}},
       "__vfscanf_internal",
       0,
       false},
      {{{"0x7f00", "/opt/lib/libfoo.so.3"}}, "libfoo.so.3", NAI_CHAIN_ALONE, false},
      {{{"memcpy", "/usr/lib/libc.so.6"}, {"0x1", "/usr/lib/libnvidia-ptxjitcompiler.so.1"}, {"main", "/home/u/app"}},
       "libnvidia-ptxjitcompiler.so.1",
       0,
       false},
      {{{"pthread_cond_timedwait", "/usr/lib/libc.so.6"}, {"take_gil", "/usr/bin/python3.11"}},
       "take_gil",
       NAI_CHAIN_GIL,
       true},
      {{{"deduce_unreachable", "/usr/bin/python3.11"}, {"gc_collect_main", "/usr/bin/python3.11"}},
       "deduce_unreachable",
       NAI_CHAIN_GC,
       true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct cpu c;
    begin(&c);
    frame(&c, NAI_CALLCHAIN_OSRT, 5, 0, "another kind", "/x", 0);
    for (int d = 3; d >= 0; d--) /* in any order */
      if (cases[i].frames[d][0])
        frame(&c, NAI_CALLCHAIN_SAMPLE, 5, d, cases[i].frames[d][0], cases[i].frames[d][1],
              cases[i].frames[d][0][0] == '0');
    fixture_build(&c.f);
    const struct nai_chain *chain = nai_cpu_chain(&c.f.m, NAI_CALLCHAIN_SAMPLE, 5);
    assert_non_null(chain);
    assert_string_equal(nai_chain_name(&c.f.m, chain), cases[i].expected);
    assert_int_equal(chain->flags, cases[i].flags);
    assert_int_equal(chain->is_own, cases[i].own);
    assert_null(nai_cpu_chain(&c.f.m, NAI_CALLCHAIN_SAMPLE, 4));
    assert_null(nai_cpu_chain(&c.f.m, NAI_CALLCHAIN_CUDA, 5));
    fixture_free(&c.f);
  }
}

/* --- gaps ------------------------------------------------------------------------------------- */

TEST(layers_divide_a_gap) {
  struct cpu c;
  begin(&c);
  one_gap(&c);
  fixture_osrt(&c.f, 2 * MS, 5 * MS, c.thread, "read", 0);
  fixture_osrt(&c.f, 3 * MS, 4 * MS, c.thread, "poll", 1); /* inside of read: no time of its own */
  fixture_osrt(&c.f, 6 * MS, 7 * MS, c.thread, "pthread_mutex_lock", 0);
  sched(&c, 0, 3, 1, NAI_NULL_I64);
  sched(&c, 2 * MS, 3, 0, NAI_NULL_I64);
  sched(&c, 5 * MS, 4, 1, NAI_NULL_I64);
  sched(&c, 12 * MS, 4, 0, NAI_NULL_I64);
  frame(&c, NAI_CALLCHAIN_SAMPLE, 1, 0, "decode(int)", "/home/u/app", 0);
  frame(&c, NAI_CALLCHAIN_SAMPLE, 2, 0, "augment(int)", "/home/u/app", 0);
  sample(&c, 1 * MS, 1, 1); /* at its beginning: inside */
  for (int i = 1; i < 5; i++)
    sample(&c, 5 * MS + i * MS / 2, 1, 1);
  sample(&c, 9 * MS, 2, 1);
  sample(&c, 9 * MS + 1, 2, 0); /* taken on a switch: stands for no time */
  sample(&c, 10 * MS, 2, 1);    /* at its end: outside */
  fixture_build(&c.f);
  assert_int_equal(c.f.m.cpu->period_ns, 1 * MS); /* distances: 4.5, three times 0.5, 2 and 1 ms; the median */
  struct nai_table *t = fixture_analyze(&c.f, "gap_activity", 1), *rows = fixture_analyze(&c.f, "gap_activity", 0);
  assert_int_equal(rows->rows, 5); /* the gap, its pattern, the thread's own code in it, before and after GPU work */
  assert_string_equal(cell_text(rows, 0, "scope"), "gap");
  assert_string_equal(cell_text(rows, 1, "scope"), "pattern");
  assert_int_equal(cell_int(rows, 0, "total_ns"), 9 * MS);
  expect(t, "cuda_api", "", "cudaLaunchKernel", 10 * US);
  expect(t, "cuda_api", "rest", "", 9 * MS - 10 * US);
  expect(t, "os_runtime", "io", "read", 3 * MS);
  expect(t, "os_runtime", "lock", "pthread_mutex_lock", 1 * MS);
  expect(t, "os_runtime", "rest", "", 5 * MS);
  assert_int_equal(find(t, "os_runtime", "poll", "poll"), -1);
  expect(t, "scheduling", "on_cpu", "", 6 * MS);
  expect(t, "scheduling", "off_cpu", "", 3 * MS);
  expect(t, "samples", "", "decode(int)", 5 * MS);
  expect(t, "samples", "", "augment(int)", 1 * MS);
  expect(t, "samples", "rest", "", 3 * MS);
  assert_string_equal(
      cell_text(rows, 0, "activity"),
      "33.3 % read; 11.1 % pthread_mutex_lock; about 55.6 % decode; about 11.1 % augment; off-CPU 33.3 %");
  assert_string_equal(cell_text(rows, 0, "function"), "decode(int)");
  assert_string_equal(cell_text(rows, 3, "scope"), "before_work");
  assert_int_equal(cell_int(rows, 3, "total_ns"), 20 * US); /* from the first call to the first kernel */
  assert_string_equal(cell_text(rows, 3, "function"), "cudaLaunchKernel");
  assert_string_equal(cell_text(rows, 4, "scope"), "after_work");
  assert_int_equal(cell_int(rows, 4, "start_ns"), 11 * MS); /* the last kernel's end */
  assert_int_equal(cell_int(rows, 4, "end_ns"), 12 * MS);   /* the thread is heard of last */
  nai_table_free(t);
  nai_table_free(rows);
  fixture_free(&c.f);
}

/* Nsight Systems takes a stack with every fourth sample. Of the others only the innermost function is known, which is
 * seldom the program's: they give no share, but tell a debug build. */
TEST(samples_without_a_stack_make_no_share) {
  for (int stacks = 3; stacks < 5; stacks++) { /* of 8 samples at least one in nine others, more others than these */
    struct cpu c;
    begin(&c);
    one_gap(&c);
    for (int depth = 0; depth < 2; depth++)
      frame(&c, NAI_CALLCHAIN_SAMPLE, 1, depth, depth ? "train(int)" : "std::fabs(float)", "/home/u/app", 0);
    frame(&c, NAI_CALLCHAIN_SAMPLE, 2, 0, "float std::generate<float>(int)", "/home/u/app", 0);
    for (int i = 3; i < 9; i++)
      for (int depth = 0; depth < 1 + (i < stacks); depth++)
        frame(&c, NAI_CALLCHAIN_SAMPLE, i, depth, depth ? "train(int)" : "float std::generate<float>(int)",
              "/home/u/app", 0);
    for (int i = 0; i < 8; i++)
      sample(&c, 2 * MS + i * MS, i % 4 ? 2 : 1, 1);
    fixture_build(&c.f);
    const bool rare = c.f.m.cpu->stacks_are_rare;
    assert_true(rare);
    assert_int_equal(c.f.m.cpu->period_ns, 4 * MS);
    struct nai_table *t = fixture_analyze(&c.f, "gap_activity", 1), *threads = fixture_analyze(&c.f, "cpu_threads", 0);
    expect(t, "samples", "", "train(int)", 8 * MS);
    assert_int_equal(find(t, "samples", "", "float std::generate<float>(int)"), -1);
    assert_int_equal(cell_int(threads, 0, "sample_count"), 8);
    assert_string_equal(cell_text(threads, 0, "function"), "train(int)");
    assert_true(nai_get_f64(threads, 0, CPU_THREADS_function_pct) == 100);
    assert_int_equal(cell_int(threads, 0, "not_inlined_samples"), 2);
    assert_string_equal(cell_text(threads, 0, "not_inlined_function"), "std::fabs(float)");
    nai_table_free(t);
    nai_table_free(threads);
    fixture_free(&c.f);
  }
}

/* Where most have one, all count. */
TEST(a_sample_without_a_stack_among_many_counts) {
  struct cpu c;
  begin(&c);
  one_gap(&c);
  for (int chain = 1; chain < 3; chain++)
    for (int depth = 0; depth < 2; depth++)
      frame(&c, NAI_CALLCHAIN_SAMPLE, chain, depth, depth ? "train(int)" : "sqrt", "/home/u/app", 0);
  frame(&c, NAI_CALLCHAIN_SAMPLE, 3, 0, "load()", "/home/u/app", 0);
  for (int i = 0; i < 6; i++)
    sample(&c, 2 * MS + i * MS, 1 + i % 3, 1);
  fixture_build(&c.f);
  assert_false(c.f.m.cpu->stacks_are_rare);
  struct nai_table *t = fixture_analyze(&c.f, "gap_activity", 1);
  expect(t, "samples", "", "sqrt", 4 * MS);
  expect(t, "samples", "", "load()", 2 * MS);
  nai_table_free(t);
  fixture_free(&c.f);
}

/* Threads that mostly wait in calls, and do not where the launching one is in its own code. */
TEST(workers_that_compute_are_outside_of_calls) {
  enum { WORKERS = 3 };
  struct cpu c;
  begin(&c);
  one_gap(&c);
  for (int i = 0; i < WORKERS; i++) {
    int32_t worker = fixture_thread(&c.f, c.process, 80 + i);
    fixture_osrt(&c.f, 0, 2 * MS, worker, "pthread_cond_wait", 0);
    fixture_osrt(&c.f, 8 * MS, 30 * MS, worker, "pthread_cond_wait", 0);
  }
  int32_t spins = fixture_thread(&c.f, c.process, 90), other = fixture_thread(&c.f, fixture_process(&c.f, 8), 91);
  fixture_osrt(&c.f, 0, 1, spins, "read", 0); /* never in a call for long: that it is in none says nothing */
  fixture_osrt(&c.f, 30 * MS, 30 * MS + 1, spins, "read", 0);
  fixture_osrt(&c.f, 0, 2 * MS, other, "pthread_cond_wait", 0);
  fixture_osrt(&c.f, 8 * MS, 30 * MS, other, "pthread_cond_wait", 0);
  fixture_build(&c.f);
  const struct nai_interval v[] = {{1 * MS, 2 * MS}, {3 * MS, 5 * MS}, {7 * MS, 9 * MS}, {29 * MS, 40 * MS}};
  struct nai_intervals when = {.v = (struct nai_interval *)v, .count = 1};
  struct nai_arena arena = {0};
  struct nai_workers workers;
  struct nai_err err;
  assert_int_equal(nai_workers_find(&workers, &c.f.m, &arena, &err), NAI_OK);
  assert_true(nai_workers_busy(&workers, c.thread, &when) == 0);
  when.count = 2;
  assert_true(nai_workers_busy(&workers, c.thread, &when) == WORKERS * 2.0 / 3);
  when.count = 3;
  assert_true(nai_workers_busy(&workers, c.thread, &when) == WORKERS * 3.0 / 5);
  when.count = 4; /* behind its last call nothing is known of a thread */
  assert_true(nai_workers_busy(&workers, c.thread, &when) == WORKERS * 3.0 / 16);
  when.count = 0;
  assert_true(isnan(nai_workers_busy(&workers, c.thread, &when)));
  nai_arena_free(&arena);
  struct nai_table *t = fixture_analyze(&c.f, "gap_activity", 0);
  for (int64_t row = 0; row < t->rows; row++) /* its code from 1 to 9.99 ms: six of nine, of three workers */
    if (strcmp(cell_text(t, row, "scope"), "host_code") == 0)
      assert_int_equal(cell_int(t, row, "busy_threads"), 2);
    else
      assert_int_equal(cell_int(t, row, "busy_threads"), NAI_NULL_I64);
  nai_table_free(t);
  fixture_free(&c.f);
}

/* Ranges around garbage collection are exact, whoever's samples there are; names that hold the letters are none. */
TEST(collections_are_counted_once) {
  struct cpu c;
  begin(&c);
  one_gap(&c); /* from 1 ms to 10 ms */
  int32_t other = fixture_thread(&c.f, c.process, 71);
  fixture_nvtx(&c.f, 0, 2 * MS, c.thread, "GC", NAI_NVTX_PUSH_POP);
  fixture_nvtx(&c.f, 3 * MS, 5 * MS, c.thread, "gc.collect", NAI_NVTX_PUSH_POP);
  fixture_nvtx(&c.f, 4 * MS, 5 * MS, c.thread, "garbage collection", NAI_NVTX_PUSH_POP);
  fixture_nvtx(&c.f, 6 * MS, 7 * MS, c.thread, "gchw_to_nchw", NAI_NVTX_PUSH_POP);
  fixture_nvtx(&c.f, 6 * MS, 7 * MS, other, "gc.collect", NAI_NVTX_PUSH_POP);
  fixture_build(&c.f);
  struct nai_table *rows = fixture_analyze(&c.f, "gap_activity", 0);
  assert_int_equal(rows->rows, 4);
  assert_int_equal(cell_int(rows, 3, "gc_ns"), 20 * US); /* until the first kernel */
  for (int64_t i = 0; i < 3; i++) {
    assert_int_equal(cell_int(rows, i, "gc_ns"), 3 * MS);
    assert_int_equal(cell_int(rows, i, "gil_ns"), NAI_NULL_I64);
  }
  nai_table_free(rows);
  fixture_free(&c.f);
}

TEST(nothing_recorded_says_nothing) {
  struct cpu c;
  begin(&c);
  one_gap(&c);
  fixture_build(&c.f);
  struct nai_table *rows = fixture_analyze(&c.f, "gap_activity", 0);
  assert_int_equal(rows->rows, 2); /* patterns only where something beside CUDA bears witness */
  assert_string_equal(cell_text(rows, 1, "scope"), "before_work");
  assert_string_equal(cell_text(rows, 0, "scope"), "gap");
  assert_int_equal(cell_int(rows, 0, "cuda_api_ns"), 10 * US);
  assert_string_equal(cell_text(rows, 0, "activity"), ""); /* nothing that takes a tenth of it */
  assert_int_equal(cell_int(rows, 0, "on_cpu_ns"), NAI_NULL_I64);
  assert_int_equal(cell_int(rows, 0, "sample_count"), NAI_NULL_I64);
  assert_int_equal(cell_int(rows, 0, "gc_ns"), NAI_NULL_I64);
  nai_table_free(rows);
  struct nai_table *threads = fixture_analyze(&c.f, "cpu_threads", 0);
  assert_int_equal(threads->rows, 0);
  nai_table_free(threads);
  fixture_free(&c.f);
}

TEST(threads_move_between_cpus) {
  struct cpu c;
  begin(&c);
  one_gap(&c);
  sched(&c, 0, 1, 1, NAI_NULL_I64);
  sched(&c, 10, 1, 0, NAI_NULL_I64);
  sched(&c, 20, 2, 1, NAI_NULL_I64);
  sched(&c, 50, 2, 0, NAI_NULL_I64);
  sched(&c, 60, 1, 1, NAI_NULL_I64);
  sched(&c, 61, 1, 0, NAI_NULL_I64);
  CELLS(c.f.in.tables[NAI_IN_SCHED], 5, -1, 9 << 24 | 99, 0, 1, NAI_NULL_I64, NAI_NULL_I64); /* of another process */
  CELLS(c.f.in.tables[NAI_IN_SCHED], 8, -1, 9 << 24 | 99, 0, 0, NAI_NULL_I64, NAI_NULL_I64);
  fixture_build(&c.f);
  struct nai_table *t = fixture_analyze(&c.f, "cpu_threads", 0);
  assert_int_equal(t->rows, 2);
  assert_int_equal(cell_int(t, 0, "tid"), 70);
  assert_int_equal(cell_int(t, 0, "on_cpu_ns"), 41);
  assert_int_equal(cell_int(t, 0, "off_cpu_ns"), 20);
  assert_int_equal(cell_int(t, 0, "switch_count"), 3);
  assert_int_equal(cell_int(t, 0, "migration_count"), 2);
  assert_int_equal(cell_int(t, 0, "cpu_count"), 2);
  assert_int_equal(cell_int(t, 1, "pid"), 9);
  assert_int_equal(cell_int(t, 1, "on_cpu_ns"), 3);
  nai_table_free(t);
  fixture_free(&c.f);
}

TEST(os_functions_have_classes) {
  assert_int_equal(nai_osrt_class("pthread_cond_timedwait"), NAI_OSRT_LOCK);
  assert_int_equal(nai_osrt_class("pread64"), NAI_OSRT_IO);
  assert_int_equal(nai_osrt_class("epoll_wait"), NAI_OSRT_POLL);
  assert_int_equal(nai_osrt_class("clock_nanosleep"), NAI_OSRT_SLEEP);
  assert_int_equal(nai_osrt_class("waitpid"), NAI_OSRT_PROCESS);
  assert_int_equal(nai_osrt_class("ioctl"), NAI_OSRT_OTHER);
}
