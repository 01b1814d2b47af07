/* active_spans, gpu_active and losses against definitions written down the slow way. */
#include "model_fixture.h"

#include "model/idle/active.h"
#include "model/kernels/modes.h"
#include "tables/gpus.h"
#include "tables/kernel_events.h"
#include "tables/memop_events.h"
#include "tables/osrt_events.h"
#include "tables/overhead_events.h"

#include <stdio.h>

enum { MS = 1000000, LINE = 4000 };
#define assert_near(a, b) assert_true((a) - (b) < 1e-9 && (b) - (a) < 1e-9)

/* Runs a node that reads tables of another: those are made first. */
static struct nai_table *analyze_after(struct fixture *f, const struct nai_node *node, struct nai_table *active) {
  struct nai_table *out[4] = {0};
  const struct nai_table *in[] = {active, NULL};
  ok(nai_table_new(&out[0], node->outputs[0], err));
  ok(nai_node_run(node, (struct nai_node_io){.out = out, .in = in, .model = &f->m}, err));
  ok(nai_table_check(out[0], err));
  return out[0];
}

static const struct nai_node *node_named(const char *name) {
  for (int i = 0; nai_analyses[i]; i++)
    if (strcmp(nai_analyses[i]->name, name) == 0)
      return nai_analyses[i];
  fail_msg("no analysis %s", name);
  return NULL;
}

static struct nai_table *losses_of(struct fixture *f) {
  struct nai_table *spans = fixture_analyze(f, "active_spans", 0), *active = fixture_analyze(f, "active_spans", 1);
  struct nai_table *losses = analyze_after(f, node_named("losses"), active);
  nai_table_free(spans);
  nai_table_free(active);
  return losses;
}

static int64_t loss_row(const struct nai_table *t, const char *what) { return row_where(t, "what", what); }

/* --- pauses, the slow way --------------------------------------------------------------------- */

static int descending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

/* Number of pauses of a list of gaps in a window. */
static int slow_pauses(int64_t *gaps, int n, int64_t window) {
  int pauses = 0;
  qsort(gaps, (size_t)n, sizeof *gaps, descending);
  for (; pauses + 1 < n; pauses++) {
    int others = n - pauses - 1;
    double position = 0.99 * (others - 1); /* of the ascending others: gaps[n - 1] is the first of them */
    int below = (int)position;
    double low = (double)gaps[n - 1 - below], high = below + 1 < others ? (double)gaps[n - 2 - below] : low;
    double p99 = low + (position - below) * (high - low);
    if (gaps[pauses] < MS || gaps[pauses] * 10 < window || (double)gaps[pauses] < 10 * p99)
      break;
    window -= gaps[pauses];
  }
  return pauses;
}

TEST(test_pauses_agree_with_the_slow_way) {
  int met = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    struct fixture f;
    int64_t gaps[64], t = 1000, start;
    int n = 0;
    fixture_init(&f);
    f.seed = seed * 7919;
    fixture_process(&f, 1);
    fixture_gpu(&f, 0);
    int kernels = 2 + (int)fixture_random(&f, 40);
    start = t;
    for (int k = 0; k < kernels; k++) {
      int64_t d = 1 + fixture_random(&f, 50000);
      fixture_kernel(&f, t, t + d, "k", 0, 0, 7, 0);
      t += d;
      if (k + 1 == kernels)
        break;
      int64_t gap = fixture_random(&f, 6) ? fixture_random(&f, 20000) : fixture_random(&f, 30 * MS);
      if (gap)
        gaps[n++] = gap;
      t += gap;
    }
    fixture_build(&f);
    struct nai_span *spans;
    uint32_t count;
    ok(nai_spans_find(&spans, &count, &f.m.gpus[0], &f.m.arena, err));
    int expected = slow_pauses(gaps, n, t - start);
    assert_int_equal(count, 2 * expected + 1);
    met += expected > 0;
    assert_int_equal(spans[0].start, start);
    assert_int_equal(spans[count - 1].end, t);
    for (uint32_t i = 0; i + 1 < count; i++)
      assert_int_equal(spans[i].end, spans[i + 1].start);
    fixture_free(&f);
  }
  assert_true(met > 20); /* the test would be void otherwise */
}

/* --- partitions and repetition ---------------------------------------------------------------- */

/* What each nanosecond of a line goes to: the first kind that runs then. */
static void paint(unsigned char *line, int64_t a, int64_t b, unsigned char kind) {
  for (int64_t t = a; t < b; t++)
    line[t] = line[t] == 0 || kind < line[t] ? kind : line[t];
}

TEST(test_spans_partition_the_window) {
  enum { COMPUTE = 1, COMM, COPY };
  for (uint64_t seed = 1; seed <= 60; seed++) {
    struct fixture f;
    unsigned char line[LINE] = {0};
    int64_t first = LINE, last = 0, sums[4] = {0};
    fixture_init(&f);
    f.seed = seed;
    fixture_process(&f, 1);
    fixture_gpu(&f, 0);
    for (int k = 0; k < 25; k++) {
      int64_t a = fixture_random(&f, LINE - 100), b = a + fixture_random(&f, 90);
      int kind = 1 + (int)fixture_random(&f, 3);
      if (kind == COPY)
        fixture_memop(&f, a, b, NAI_MEMOP_COPY, 0, 0, 7, 0, 100, 1, 0, 2);
      else
        fixture_kernel(&f, a, b, kind == COMM ? "ncclKernel_AllReduce" : "k", 0, 0, 7, 0);
      paint(line, a, b, (unsigned char)kind);
      first = a < first ? a : first;
      last = b > last ? b : last;
    }
    for (int64_t t = first; t < last; t++)
      sums[line[t]]++;
    fixture_build(&f);
    struct nai_table *spans = fixture_analyze(&f, "active_spans", 0), *gpu = fixture_analyze(&f, "active_spans", 1);
    assert_int_equal(spans->rows, 1); /* nothing here is as long as a millisecond */
    assert_int_equal(cell_int(spans, 0, "duration_ns"), last - first);
    assert_int_equal(cell_int(spans, 0, "compute_ns"), sums[COMPUTE]);
    assert_int_equal(cell_int(spans, 0, "exposed_comm_ns"), sums[COMM]);
    assert_int_equal(cell_int(spans, 0, "exposed_copy_ns"), sums[COPY]);
    assert_int_equal(cell_int(spans, 0, "idle_ns"), sums[0]);
    assert_int_equal(cell_int(gpu, 0, "active_ns"), last - first);
    assert_int_equal(cell_int(gpu, 0, "idle_ns"), sums[0]);
    nai_table_free(spans);
    nai_table_free(gpu);
    fixture_free(&f);
  }
}

/* Set-up, pause, work, pause, a check: sums are exact and each part has its name. */
TEST(test_kinds_of_spans) {
  struct fixture f;
  fixture_init(&f);
  fixture_process(&f, 1);
  fixture_gpu(&f, 0);
  for (int i = 0; i < 300; i++)
    fixture_memop(&f, i * 1000, i * 1000 + 900, NAI_MEMOP_COPY, 0, 0, 7, 0, 100, 1, 0, 2);
  for (int i = 0; i < 300; i++)
    fixture_kernel(&f, 100 * MS + i * 10000, 100 * MS + i * 10000 + 9000, "work", 0, 0, 7, 0);
  for (int i = 0; i < 10; i++)
    fixture_kernel(&f, 300 * MS + i * 1000, 300 * MS + i * 1000 + 900, "check", 0, 0, 7, 0);
  fixture_build(&f);
  struct nai_table *spans = fixture_analyze(&f, "active_spans", 0), *gpu = fixture_analyze(&f, "active_spans", 1);
  static const char *const kinds[] = {"set_up", "pause", "active", "pause", "check"};
  assert_int_equal(spans->rows, 5);
  int64_t total = 0;
  for (int i = 0; i < 5; i++) {
    assert_string_equal(cell_text(spans, i, "kind"), kinds[i]);
    int64_t parts = cell_int(spans, i, "compute_ns") + cell_int(spans, i, "exposed_comm_ns") +
                    cell_int(spans, i, "exposed_copy_ns") + cell_int(spans, i, "idle_ns");
    assert_int_equal(parts, cell_int(spans, i, "duration_ns"));
    total += parts;
  }
  assert_int_equal(total, cell_int(gpu, 0, "window_ns"));
  assert_string_equal(cell_text(spans, 1, "cause"), "unknown"); /* nothing watched the host */
  assert_int_equal(cell_int(gpu, 0, "active_ns"), 299 * 10000 + 9000);
  assert_int_equal(cell_int(gpu, 0, "kernel_count"), 300);
  assert_int_equal(cell_int(gpu, 0, "steady"), 1);
  assert_near(cell_real(gpu, 0, "repeated_pct"), 100.0);
  nai_table_free(spans);
  nai_table_free(gpu);
  fixture_free(&f);
}

/* Share of kernel time in what occurs five times or more, counted pair by pair. */
TEST(test_repetition) {
  for (uint64_t seed = 1; seed <= 30; seed++) {
    struct fixture f;
    int64_t ns[60], repeated = 0, total = 0;
    int name[60];
    fixture_init(&f);
    f.seed = seed;
    fixture_process(&f, 1);
    fixture_gpu(&f, 0);
    for (int i = 0; i < 60; i++) {
      char text[16];
      name[i] = (int)fixture_random(&f, 14);
      ns[i] = 1 + fixture_random(&f, 900);
      snprintf(text, sizeof text, "kernel%d", name[i]);
      fixture_kernel(&f, i * 1000, i * 1000 + ns[i], text, 0, 0, 7, 0);
    }
    for (int i = 0; i < 60; i++) {
      int times = 0;
      for (int k = 0; k < 60; k++)
        times += name[k] == name[i];
      repeated += times >= 5 ? ns[i] : 0;
      total += ns[i];
    }
    fixture_build(&f);
    struct nai_table *gpu = fixture_analyze(&f, "active_spans", 1);
    assert_near(cell_real(gpu, 0, "repeated_pct"), 100.0 * (double)repeated / (double)total);
    nai_table_free(gpu);
    fixture_free(&f);
  }
}

/* --- causes of pauses ------------------------------------------------------------------------- */

/* Work, a pause before a kernel whose launch is a call of thread 0, work. */
static void begin_pause(struct fixture *f) {
  fixture_init(f);
  int32_t process = fixture_process(f, 1);
  fixture_thread(f, process, 1);
  fixture_gpu(f, 0);
  for (int i = 0; i < 200; i++) {
    fixture_api(f, i * 1000, i * 1000 + 10, 0, "cudaLaunchKernel", i + 1);
    fixture_kernel(f, i * 1000 + 20, i * 1000 + 900, "work", 0, 0, 7, i + 1);
  }
  for (int i = 0; i < 200; i++) {
    fixture_api(f, 100 * MS + i * 1000, 100 * MS + i * 1000 + 10, 0, "cudaLaunchKernel", 1000 + i);
    fixture_kernel(f, 100 * MS + i * 1000 + 20, 100 * MS + i * 1000 + 900, "work", 0, 0, 7, 1000 + i);
  }
}

static void check_pause(struct fixture *f, const char *cause, const char *what, int64_t ns) {
  fixture_build(f);
  struct nai_table *spans = fixture_analyze(f, "active_spans", 0);
  assert_int_equal(spans->rows, 3);
  assert_string_equal(cell_text(spans, 1, "cause"), cause);
  assert_string_equal(cell_text(spans, 1, "what"), what);
  assert_int_equal(cell_int(spans, 1, "cause_ns"), ns);
  nai_table_free(spans);
  fixture_free(f);
}

static void os_call(struct fixture *f, int64_t start, int64_t end, const char *name, int64_t level) {
  struct nai_table *t = f->in.tables[NAI_IN_OSRT];
  CELLS(t, start, end, 0, 0, level);
  nai_set_str(t, t->rows - 1, OSRT_EVENTS_name, name);
}

TEST(test_causes_of_pauses) {
  struct fixture f;
  begin_pause(&f);
  os_call(&f, 10 * MS, 90 * MS, "getc", 0);
  os_call(&f, 10 * MS, 95 * MS, "read", 1); /* within another: not counted twice */
  check_pause(&f, "input_wait", "getc", 80 * MS);
  begin_pause(&f);
  os_call(&f, 10 * MS, 50 * MS, "read", 0);
  os_call(&f, 50 * MS, 80 * MS, "nanosleep", 0);
  fixture_api(&f, 10 * MS, 30 * MS, 0, "cudaMalloc", 0); /* calls come before what the OS does in them */
  check_pause(&f, "sleep", "nanosleep", 30 * MS);
  begin_pause(&f);
  struct nai_table *t = f.in.tables[NAI_IN_OVERHEAD];
  CELLS(t, 5 * MS, 60 * MS, 0, 0, NAI_OVERHEAD_PROFILER, 3);
  nai_set_str(t, 0, OVERHEAD_EVENTS_name, "CUPTI Buffer flush");
  CELLS(t, 60 * MS, 99 * MS, 0, 0, NAI_OVERHEAD_PROFILER, 0);
  nai_set_str(t, 1, OVERHEAD_EVENTS_name, "TLS allocation"); /* only looked at */
  check_pause(&f, "profiler", "CUPTI Buffer flush", 55 * MS);
  begin_pause(&f); /* nothing but the gap between calls is known */
  check_pause(&f, "host_code", "", 100 * MS - 199900);
  begin_pause(&f); /* what ends it was launched long before: the host is not to blame */
  os_call(&f, 10 * MS, 90 * MS, "getc", 0);
  fixture_api(&f, 1 * MS, 1 * MS + 10, 0, "cudaLaunchKernel", 5000);
  fixture_kernel(&f, 100 * MS - 2000, 100 * MS - 1100, "work", 0, 0, 7, 5000);
  check_pause(&f, "unknown", "", 99 * MS - 2010);
  begin_pause(&f);
  fixture_api(&f, 30 * MS, 100 * MS - 2100, 0, "cudaLaunchKernel", 5000);
  fixture_kernel(&f, 100 * MS - 2000, 100 * MS - 1100, "new", 0, 0, 7, 5000);
  check_pause(&f, "module_load", "cudaLaunchKernel (first launch of the kernel: loading or compiling)", 70 * MS - 2100);
  begin_pause(&f); /* two halves of the host's own time outweigh what takes more than each */
  os_call(&f, 1 * MS, 31 * MS, "getc", 0);
  fixture_api(&f, 65 * MS, 99 * MS, 0, "cudaMalloc", 0);
  check_pause(&f, "host_code", "", 100 * MS - 199900 - 64 * MS);
}

/* --- losses ----------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) { return -descending(a, b); }

TEST(test_modes) {
  struct nai_modes modes;
  int64_t two[40], one[40];
  for (int i = 0; i < 40; i++) {
    two[i] = i < 20 ? 100 + i : 5000 + i;
    one[i] = 1000 + 20 * i;
  }
  assert_true(nai_modes_of(&modes, two, 40));
  assert_int_equal(modes.low_count, 20);
  assert_near(modes.low_median, 109.5);
  assert_near(modes.high_median, 5029.5);
  assert_false(nai_modes_of(&modes, one, 40));
  int64_t outlier[40]; /* one slow call among many with little of the time is no mode */
  for (int i = 0; i < 40; i++)
    outlier[i] = i < 39 ? 1000 : 3500;
  qsort(outlier, 40, sizeof *outlier, ascending);
  assert_false(nai_modes_of(&modes, outlier, 40));
  assert_false(nai_modes_of(&modes, two + 16, 9)); /* too few */
}

/* Blocks of kernels that run, nanosecond by nanosecond. */
/* Blocks of less than a warp leave lanes idle, too. */
TEST(test_underfilled) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    struct fixture f;
    enum { N = 30, SMS = 16 };
    int64_t blocks[LINE] = {0}, lanes[LINE] = {0}, few = 0, idle_lanes = 0;
    fixture_init(&f);
    f.seed = seed;
    fixture_process(&f, 1);
    fixture_gpu(&f, 0);
    nai_set_i64(f.in.tables[NAI_IN_GPUS], 0, GPUS_sm_count, SMS);
    for (int i = 0; i < N; i++) {
      int64_t a = fixture_random(&f, LINE - 400), b = a + 1 + fixture_random(&f, 300),
              grid = 1 + fixture_random(&f, 24), threads = 1 + fixture_random(&f, 256);
      struct nai_table *configs = f.in.tables[NAI_IN_KERNEL_CONFIGS], *kernels = f.in.tables[NAI_IN_KERNELS];
      CELLS(configs, grid, 1, 1, threads, 1, 1, 16, 0, 0);
      CELLS(kernels, a, b, 0, 0, 0, 1, 7 + i, 0, i, NAI_NULL_I64);
      nai_set_str(kernels, i, KERNEL_EVENTS_name, "k");
      for (int64_t t = a; t < b; t++) {
        blocks[t] += grid;
        lanes[t] += grid * (threads > 128 ? 128 : threads);
      }
    }
    for (int t = 0; t < LINE; t++) {
      bool counts = blocks[t] > 0 && blocks[t] < SMS;
      few += counts;
      idle_lanes += counts ? 128 * SMS - lanes[t] : 0;
    }
    fixture_build(&f);
    struct nai_table *losses = losses_of(&f);
    int64_t row = loss_row(losses, "underfilled");
    assert_true(row >= 0 || !few);
    if (row >= 0) {
      assert_int_equal(cell_int(losses, row, "time_ns"), few);
      assert_int_equal(cell_int(losses, row, "gain_ns"), idle_lanes / (128 * SMS));
    }
    nai_table_free(losses);
    fixture_free(&f);
  }
}

/* A block of n threads uses n of the 32 lanes of its warp, or starts for n of 256 threads where a thousand of them take
 * a thousand clocks; and what runs beside other work is not won at all. */
TEST(test_small_blocks) {
  static const struct {
    int64_t threads, beside, gain; /* of four kernels of 1001 ns each */
    int64_t clock;                 /* 0: unknown */
  } cases[] = {{16, 0, 2002, 0},
               {1, 0, 3878, 0},
               {31, 0, 125, 0},
               {32, 0, -1, 1000000000},
               {16, 3000, 1004, 0},
               {16, 1000, 2002, 0},
               {16, 0, 3753, 1000000000},
               {1, 0, 3988, 1000000000},
               {16, 0, 2002, 1300000000},
               {16, 0, 3753, 1200000000},
               {16, 3000, 1004, 1000000000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fixture f;
    fixture_init(&f);
    fixture_process(&f, 1);
    fixture_gpu(&f, 0);
    nai_set_i64(f.in.tables[NAI_IN_GPUS], 0, GPUS_clock_hz, cases[i].clock ? cases[i].clock : NAI_NULL_I64);
    struct nai_table *configs = f.in.tables[NAI_IN_KERNEL_CONFIGS], *kernels = f.in.tables[NAI_IN_KERNELS];
    CELLS(configs, 1000, 1, 1, cases[i].threads, 1, 1, 16, 0, 0);
    CELLS(configs, 1000, 1, 1, 256, 1, 1, 16, 0, 0);
    for (int k = 0; k < 4; k++)
      CELLS(kernels, 1001 * k, 1001 * (k + 1), 0, 0, 0, 1, 7, 0, 0, NAI_NULL_I64);
    if (cases[i].beside)
      CELLS(kernels, 0, cases[i].beside, 0, 0, 0, 1, 8, 0, 1, NAI_NULL_I64);
    for (int64_t k = 0; k < kernels->rows; k++)
      nai_set_str(kernels, k, KERNEL_EVENTS_name, k < 4 ? "small" : "large");
    fixture_build(&f);
    struct nai_table *losses = losses_of(&f);
    int64_t row = loss_row(losses, "small_blocks");
    assert_int_equal(row >= 0 ? cell_int(losses, row, "gain_ns") : -1, cases[i].gain);
    assert_int_equal(row >= 0 ? cell_int(losses, row, "time_ns") : 4004, 4004);
    nai_table_free(losses);
    fixture_free(&f);
  }
}

/* A lone elementwise kernel has nothing to be fused with; two in a row do; casts count by themselves. */
TEST(test_unfused) {
  struct fixture f;
  fixture_init(&f);
  fixture_process(&f, 1);
  fixture_gpu(&f, 0);
  static const struct {
    const char *name;
    int64_t stream, ns;
  } kernels[] = {{"my_gemm", 7, 100},
                 {"vectorized_elementwise_kernel<add>", 7, 10},
                 {"my_gemm", 7, 100},
                 {"vectorized_elementwise_kernel<mul>", 7, 20},
                 {"reduce_kernel<sum>", 7, 30},
                 {"softmax_warp_forward", 8, 500}, /* another stream */
                 {"direct_copy_kernel_cuda", 7, 40},
                 {"triton_poi_fused_add_mul", 7, 1000}};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    fixture_kernel(&f, (int64_t)i * 2000, (int64_t)i * 2000 + kernels[i].ns, kernels[i].name, 0, 0, kernels[i].stream,
                   0);
  fixture_build(&f);
  struct nai_table *losses = losses_of(&f);
  int64_t row = loss_row(losses, "unfused");
  assert_int_equal(cell_int(losses, row, "time_ns"), 20 + 30 + 40);
  assert_int_equal(cell_int(losses, row, "count"), 3);
  assert_string_equal(cell_text(losses, row, "example"), "direct_copy_kernel_cuda");
  assert_int_equal(cell_int(losses, loss_row(losses, "casts"), "time_ns"), 40);
  nai_table_free(losses);
  fixture_free(&f);
}

/* Copies: same size again and again, on the stream that computes, tiny ones with a wait; migrated pages are none. */
TEST(test_copies) {
  enum { H2D = 1, UM_H2D = 11, PAGEABLE = 0, DEVICE = 2 };
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 1);
  fixture_thread(&f, process, 1);
  fixture_gpu(&f, 0);
  for (int i = 0; i < 6; i++) {
    int64_t t = i * 10000;
    fixture_api(&f, t, t + 100, 0, "cudaMemcpyAsync", 10 * i + 1);
    fixture_memop(&f, t + 200, t + 700, NAI_MEMOP_COPY, 0, 0, 7, 10 * i + 1, 4096, H2D, PAGEABLE, DEVICE);
    fixture_api(&f, t + 100, t + 1000, 0, "cudaStreamSynchronize", 0);
    fixture_memop(&f, t + 2000, t + 2300, NAI_MEMOP_COPY, 0, 0, 9, 0, 1 << 20, H2D, PAGEABLE, DEVICE);
    fixture_memop(&f, t + 2500, t + 2600, NAI_MEMOP_COPY, 0, 0, 0, 0, 4096, UM_H2D, PAGEABLE, DEVICE);
    nai_set_i64(f.in.tables[NAI_IN_MEMOPS], 3 * i + 2, MEMOP_EVENTS_migration, 1);
    fixture_kernel(&f, t + 3000, t + 9000, "my_gemm", 0, 0, 7, 0);
  }
  fixture_build(&f);
  struct nai_table *losses = losses_of(&f);
  int64_t row = loss_row(losses, "repeated_copies");
  assert_int_equal(cell_int(losses, row, "count"), 12);
  assert_int_equal(cell_int(losses, row, "time_ns"), 6 * 500 + 6 * 300);
  assert_near(cell_real(losses, row, "pct_of_kind"), 100.0);
  row = loss_row(losses, "copies_on_compute_stream");
  assert_int_equal(cell_int(losses, row, "time_ns"), 6 * 500);
  row = loss_row(losses, "tiny_copies");
  assert_int_equal(cell_int(losses, row, "count"), 6);
  /* From the copy's call to the end of the wait, 1,000 ns each, nothing else runs; the first 200 lie before the window,
   * and kernels end before each. */
  assert_int_equal(cell_int(losses, row, "time_ns"), 6 * 1000 - 200);
  assert_string_equal(cell_text(losses, row, "example"), "cudaStreamSynchronize");
  nai_table_free(losses);
  fixture_free(&f);
}

/* 1 MiB out and back, between kernels that use it: the host has 20 us at most to write other data. */
static void round_trips(struct fixture *f, int pairs, int64_t between_ns) {
  enum { H2D = 1, D2H = 2, PAGEABLE = 0, DEVICE = 2 };
  fixture_init(f);
  int32_t process = fixture_process(f, 1);
  fixture_thread(f, process, 1);
  fixture_gpu(f, 0);
  for (int i = 0; i < pairs; i++) {
    int64_t t = i * (int64_t)1000000;
    fixture_kernel(f, t, t + 300000, "my_gemm", 0, 0, 7, 0);
    fixture_memop(f, t + 310000, t + 360000, NAI_MEMOP_COPY, 0, 0, 7, 0, 1 << 20, D2H, DEVICE, PAGEABLE);
    fixture_memop(f, t + 362000, t + 412000, NAI_MEMOP_COPY, 0, 0, 7, 0, 2 << 20, D2H, DEVICE, PAGEABLE);
    fixture_memop(f, t + 412000 + between_ns, t + 472000 + between_ns, NAI_MEMOP_COPY, 0, 0, 7, 0, 1 << 20, H2D,
                  PAGEABLE, DEVICE);
  }
  fixture_build(f);
}

TEST(test_round_trips) {
  struct fixture f;
  round_trips(&f, 6, 18000); /* 20 us without copies between */
  struct nai_table *losses = losses_of(&f);
  int64_t row = loss_row(losses, "round_trips");
  assert_int_equal(cell_int(losses, row, "count"), 12);
  assert_int_equal(cell_int(losses, row, "time_ns"), 6 * 110000);
  assert_int_equal(cell_int(losses, row, "gain_ns"), 6 * 110000);
  assert_string_equal(cell_text(losses, row, "detail"),
                      "6 times out and back, with no time for the host to write other data");
  row = loss_row(losses, "repeated_copies"); /* the results only */
  assert_int_equal(cell_int(losses, row, "time_ns"), 6 * 50000);
  nai_table_free(losses);
  fixture_free(&f);
  round_trips(&f, 6, 19000); /* new data may come back */
  losses = losses_of(&f);
  assert_int_equal(loss_row(losses, "round_trips"), -1);
  assert_int_equal(cell_int(losses, loss_row(losses, "repeated_copies"), "count"), 18);
  nai_table_free(losses);
  fixture_free(&f);
  round_trips(&f, 4, 0); /* too few */
  losses = losses_of(&f);
  assert_int_equal(loss_row(losses, "round_trips"), -1);
  nai_table_free(losses);
  fixture_free(&f);
}

/* The same size for each of six ranges: layers have data of their own, steps get the same again. */
static void check_ranges(const char *name, const char *what) {
  enum { H2D = 1, PINNED = 1, DEVICE = 2 };
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 1);
  fixture_thread(&f, process, 1);
  fixture_gpu(&f, 0);
  for (int i = 0; i < 6; i++) {
    int64_t t = i * 100000;
    char text[32];
    snprintf(text, sizeof text, "%s%d", name, i);
    fixture_nvtx(&f, t, t + 50000, 0, text, NAI_NVTX_PUSH_POP);
    fixture_api(&f, t + 100, t + 1000, 0, "cudaMemcpyAsync", i + 1);
    fixture_memop(&f, t + 2000, t + 42000, NAI_MEMOP_COPY, 0, 0, 7, i + 1, 1 << 20, H2D, PINNED, DEVICE);
    fixture_kernel(&f, t + 50000, t + 90000, "my_gemm", 0, 0, 7, 0);
  }
  fixture_build(&f);
  struct nai_table *losses = losses_of(&f);
  int64_t row = loss_row(losses, what);
  assert_int_equal(cell_int(losses, row, "count"), 6);
  assert_int_equal(cell_int(losses, row, "time_ns"), 6 * 40000);
  bool layers = strcmp(what, "streamed_copies") == 0;
  assert_int_equal(loss_row(losses, layers ? "repeated_copies" : "streamed_copies"), -1);
  assert_string_equal(cell_text(losses, row, "detail"),
                      layers ? "6 copies of 1,048,576 bytes each under blocks.#" : "6 copies of 1,048,576 bytes each");
  nai_table_free(losses);
  fixture_free(&f);
}

TEST(test_copies_by_layer) {
  check_ranges("blocks.", "streamed_copies");
  check_ranges("train_step ", "repeated_copies");
}

/* Calls in the first fifth, and the first of each function, do not count; time is that in which the GPU is idle. */
TEST(test_allocation) {
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 1);
  fixture_thread(&f, process, 1);
  fixture_gpu(&f, 0);
  for (int i = 0; i < 100; i++) {
    int64_t t = i * 1000;
    fixture_api(&f, t, t + 400, 0, "cudaMalloc", 0);
    fixture_kernel(&f, t + 300, t + 1000, "k", 0, 0, 7, 0); /* idle [t, t + 300) */
  }
  fixture_build(&f);
  struct nai_table *losses = losses_of(&f);
  int64_t row = loss_row(losses, "allocation"), from = 300 + (99 * 1000 + 1000 - 300) / 5, count = 0;
  for (int i = 1; i < 100; i++)
    count += i * 1000 >= from;
  assert_int_equal(cell_int(losses, row, "count"), count);
  assert_int_equal(cell_int(losses, row, "time_ns"), count * 300);
  nai_table_free(losses);
  fixture_free(&f);
}

/* Pages that move under a kernel, and what lies between them as far as a fault may take. */
TEST(test_page_migration) {
  struct fixture f;
  fixture_init(&f);
  fixture_process(&f, 1);
  fixture_gpu(&f, 0);
  fixture_kernel(&f, 1000000, 2000000, "k", 0, 0, 7, 0);
  static const int64_t moves[][2] = {{500000, 1100000}, {1050000, 1200000}, {1300000, 1310000}, {1900000, 2500000}};
  for (int i = 0; i < 4; i++) {
    fixture_memop(&f, moves[i][0], moves[i][1], NAI_MEMOP_COPY, 0, 0, 0, 0, 4096, 11, 4, 2);
    nai_set_i64(f.in.tables[NAI_IN_MEMOPS], i, MEMOP_EVENTS_migration, 1);
  }
  fixture_build(&f);
  struct nai_table *losses = losses_of(&f);
  int64_t row = loss_row(losses, "page_migration");
  assert_int_equal(cell_int(losses, row, "time_ns"), 310000 + 100000);
  assert_string_equal(cell_text(losses, row, "detail"), "in 310.0 µs of it pages move or the GPU handles a fault");
  assert_int_equal(loss_row(losses, "repeated_copies"), -1);
  nai_table_free(losses);
  fixture_free(&f);
}
