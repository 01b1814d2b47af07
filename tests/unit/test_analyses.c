/* Launch behaviour, synchronisation and transfers against their definitions, applied row by row. */
#include "model_fixture.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { SPAN = 200, MAX_CALLS = 30, MAX_KERNELS = 12 };

struct call {
  int64_t start, end;
  int kind; /* 0 other, 1 blocking, 2 poll */
  int thread;
};

struct kernel {
  int64_t start, end;
  int call; /* that launched it, -1 none */
};

static const char *const api_names[] = {"cudaLaunchKernel", "cudaStreamSynchronize", "cudaEventQuery"};

/* Waiting calls by name: counts, busy share. */
static void check_sync(struct fixture *f, const struct call *c, int calls, const struct kernel *k, int kernels) {
  struct nai_table *sync = fixture_analyze(f, "sync", 0);
  for (int kind = 1; kind <= 2; kind++) {
    int64_t total = 0, busy = 0, count = 0, windows = 0;
    for (int thread = 0; thread < 2; thread++) {
      int64_t first = SPAN * 2, last = -1, used = 0;
      for (int i = 0; i < calls; i++) {
        if (c[i].thread != thread)
          continue;
        first = c[i].start < first ? c[i].start : first;
        last = c[i].end > last ? c[i].end : last;
        used |= c[i].kind == kind;
      }
      windows += used ? last - first : 0;
    }
    for (int i = 0; i < calls; i++) {
      if (c[i].kind != kind)
        continue;
      count++;
      total += c[i].end - c[i].start;
      for (int64_t t = c[i].start; t < c[i].end; t++) {
        int any = 0;
        for (int n = 0; n < kernels; n++)
          any |= k[n].start <= t && t < k[n].end;
        busy += any;
      }
    }
    int64_t row = row_where(sync, "api_name", api_names[kind]);
    assert_int_equal(row >= 0, count > 0);
    if (row < 0)
      continue;
    assert_string_equal(cell_text(sync, row, "class"), kind == 1 ? "blocking" : "poll");
    assert_int_equal(cell_int(sync, row, "call_count"), count);
    assert_int_equal(cell_int(sync, row, "total_time_ns"), total);
    assert_int_equal(cell_int(sync, row, "gpu_idle_ns"), total - busy);
    assert_true(fabs(cell_real(sync, row, "gpu_busy_pct") - nai_percent((double)busy, (double)total)) < 1e-9);
    assert_true(fabs(cell_real(sync, row, "pct_of_thread_window") - nai_percent((double)total, (double)windows)) <
                1e-9);
  }
  assert_int_equal(row_where(sync, "api_name", api_names[0]), -1);
  nai_table_free(sync);
}

TEST(test_random) {
  for (int round = 0; round < 500; round++) {
    struct fixture f;
    struct call c[MAX_CALLS];
    struct kernel k[MAX_KERNELS];
    fixture_init(&f);
    f.seed = (uint64_t)round * 13 + 7;
    int32_t process = fixture_process(&f, 10);
    fixture_gpu(&f, 0);
    for (int t = 0; t < 2; t++)
      fixture_thread(&f, process, 10 + t);
    int calls = (int)fixture_random(&f, MAX_CALLS), kernels = (int)fixture_random(&f, MAX_KERNELS);
    for (int i = 0; i < calls; i++) {
      c[i] = (struct call){
          .start = fixture_random(&f, SPAN), .kind = (int)fixture_random(&f, 3), .thread = (int)fixture_random(&f, 2)};
      c[i].end = c[i].start + fixture_random(&f, i == 0 ? SPAN : 25); /* calls may nest and overlap */
      fixture_api(&f, c[i].start, c[i].end, c[i].thread, api_names[c[i].kind], i + 1);
    }
    for (int i = 0; i < kernels; i++) {
      k[i] = (struct kernel){.start = fixture_random(&f, SPAN),
                             .call = calls ? (int)fixture_random(&f, calls + 1) - 1 : -1};
      k[i].end = k[i].start + 1 + fixture_random(&f, 6);
      fixture_kernel(&f, k[i].start, k[i].end, "k", 0, process, 7, k[i].call < 0 ? 0 : k[i].call + 1);
    }
    fixture_build(&f);
    check_sync(&f, c, calls, k, kernels);
    fixture_free(&f);
  }
}

/* A wait that holds many polls is still seen from a gap in its middle; its name, not theirs, is the host's activity. */
TEST(test_long_wait) {
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 10);
  fixture_gpu(&f, 0);
  fixture_api(&f, 0, 10000, thread, "cudaDeviceSynchronize", 1);
  for (int i = 0; i < 100; i++)
    fixture_api(&f, 10 * i + 1, 10 * i + 2, thread, "cudaGetLastError", 100 + i);
  fixture_api(&f, 9000, 9001, thread, "cudaLaunchKernel", 2);
  fixture_kernel(&f, 500, 4000, "first", 0, process, 7, 0);
  fixture_kernel(&f, 9010, 9020, "second", 0, process, 7, 2);
  fixture_build(&f);
  struct nai_table *gaps = fixture_analyze(&f, "idle_gaps", 0);
  assert_string_equal(cell_text(gaps, 0, "cause"), "blocking_call");
  assert_string_equal(cell_text(gaps, 0, "host_activity"), "cudaDeviceSynchronize");
  nai_table_free(gaps);
  fixture_free(&f);
}

/* More names than any small table holds: the largest share wins wherever it comes. */
TEST(test_many_names) {
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 10);
  fixture_gpu(&f, 0);
  for (int i = 0; i < 1000; i++) {
    char name[24];
    snprintf(name, sizeof name, "range %d", i);
    fixture_nvtx(&f, 100 + 10 * i, (i >= 900 ? 110 : 105) + 10 * i, thread, i >= 900 ? "often" : name,
                 NAI_NVTX_PUSH_POP);
  }
  fixture_api(&f, 20000, 20001, thread, "cudaLaunchKernel", 1);
  fixture_kernel(&f, 0, 50, "first", 0, process, 7, 0);
  fixture_kernel(&f, 20010, 20020, "second", 0, process, 7, 1);
  fixture_build(&f);
  struct nai_table *gaps = fixture_analyze(&f, "idle_gaps", 0);
  assert_string_equal(cell_text(gaps, 0, "cause"), "host_code");
  assert_string_equal(cell_text(gaps, 0, "host_activity"), "often");
  nai_table_free(gaps);
  fixture_free(&f);
}

/* The range that most waiting time was spent in, not the one with most waits. */
TEST(test_top_range) {
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 10);
  fixture_gpu(&f, 0);
  fixture_nvtx(&f, 0, 100, thread, "long", NAI_NVTX_PUSH_POP);
  fixture_nvtx(&f, 200, 300, thread, "often", NAI_NVTX_PUSH_POP);
  fixture_api(&f, 10, 20, thread, "cudaEventSynchronize", 1);
  for (int i = 0; i < 9; i++)
    fixture_api(&f, 210 + 5 * i, 211 + 5 * i, thread, "cudaEventSynchronize", 2 + i);
  fixture_build(&f);
  struct nai_table *sync = fixture_analyze(&f, "sync", 0);
  assert_string_equal(cell_text(sync, 0, "top_nvtx_range"), "long");
  nai_table_free(sync);
  fixture_free(&f);
}

/* Whether its GPUs were busy is not known of a call whose process is not. */
TEST(test_unknown_process) {
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 10),
          stray = fixture_thread(&f, -1, 11);
  fixture_gpu(&f, 0);
  fixture_kernel(&f, 0, 100, "k", 0, process, 7, 0);
  fixture_api(&f, 50, 150, thread, "cudaEventSynchronize", 1);
  fixture_api(&f, 0, 300, stray, "cudaEventSynchronize", 2);
  fixture_api(&f, 0, 300, stray, "cudaDeviceSynchronize", 3);
  fixture_build(&f);
  struct nai_table *sync = fixture_analyze(&f, "sync", 0);
  int64_t both = row_where(sync, "api_name", "cudaEventSynchronize"),
          unknown = row_where(sync, "api_name", "cudaDeviceSynchronize");
  assert_true(cell_real(sync, both, "gpu_busy_pct") == 50);
  assert_int_equal(cell_int(sync, both, "gpu_idle_ns"), 50);
  assert_true(isnan(cell_real(sync, unknown, "gpu_busy_pct")));
  assert_int_equal(cell_int(sync, unknown, "gpu_idle_ns"), NAI_NULL_I64);
  nai_table_free(sync);
  fixture_free(&f);
}

TEST(test_launch_rates) {
  enum { N = 300, MS10 = 10000000 };
  struct fixture f;
  int64_t start[N], end[N];
  int gpu[N], call[N];
  fixture_init(&f);
  f.seed = 4;
  int32_t process = fixture_process(&f, 10), thread = fixture_thread(&f, process, 10);
  fixture_gpu(&f, 0), fixture_gpu(&f, 3);
  for (int i = 0; i < N; i++)
    fixture_api(&f, 1000 * i, 1000 * i + 500, thread, "cudaLaunchKernel", i + 1);
  for (int i = 0; i < N; i++) {
    start[i] = 1000000 + fixture_random(&f, 8 * MS10);
    end[i] = start[i] + (int64_t[]){4999, 5000, 5001, 9999, 10000, 20000}[fixture_random(&f, 6)];
    gpu[i] = fixture_random(&f, 2) ? 3 : 0;
    call[i] = (int)fixture_random(&f, N);
    fixture_kernel(&f, start[i], end[i], "k", gpu[i], process, 7, call[i] + 1);
  }
  fixture_build(&f);
  struct nai_table *storm = fixture_analyze(&f, "launches", 0), *tiny = fixture_analyze(&f, "tiny_kernels", 0);
  assert_int_equal(storm->rows, 4);
  for (int64_t row = 0; row < 4; row++) {
    int all = strcmp(cell_text(storm, row, "scope"), "gpu") != 0, owned[N] = {0};
    int64_t peak = 0, count = 0, calls = 0, under5 = 0, under10 = 0, first = INT64_MAX, last = 0,
            id = cell_int(storm, row, strcmp(cell_text(storm, row, "scope"), "gpu") == 0 ? "device_id" : "pid"),
            small = 0;
    for (int i = 0; i < N; i++) {
      if (!all && gpu[i] != id)
        continue;
      int64_t within = 0;
      for (int j = 0; j < N; j++)
        within += (all || gpu[j] == id) && start[j] >= start[i] && start[j] < start[i] + MS10;
      peak = within > peak ? within : peak;
      count++;
      calls += !owned[call[i]];
      owned[call[i]] = 1;
      under5 += end[i] - start[i] < 5000;
      small += end[i] - start[i] <= 5000;
      under10 += end[i] - start[i] < 10000;
      first = start[i] < first ? start[i] : first;
      last = end[i] > last ? end[i] : last;
    }
    assert_int_equal(cell_int(storm, row, "kernel_count"), count);
    assert_int_equal(cell_int(storm, row, "launch_calls"), calls);
    assert_int_equal(cell_int(storm, row, "window_ns"), last - first);
    assert_int_equal(cell_int(storm, row, "peak_kernels_per_10ms"), peak);
    assert_true(fabs(cell_real(storm, row, "pct_under_5us") - nai_percent((double)under5, (double)count)) < 1e-9);
    assert_true(fabs(cell_real(storm, row, "pct_under_10us") - nai_percent((double)under10, (double)count)) < 1e-9);
    assert_true(fabs(cell_real(storm, row, "kernels_per_s") - (double)count * 1e9 / (double)(last - first)) < 1e-6);
    for (int64_t t = 0; t < tiny->rows && !all; t++)
      if (cell_int(tiny, t, "device_id") == id)
        assert_int_equal(cell_int(tiny, t, "call_count"), small);
  }
  nai_table_free(storm);
  nai_table_free(tiny);
  fixture_free(&f);
}

TEST(test_memory) {
  struct fixture f;
  fixture_init(&f);
  int32_t process = fixture_process(&f, 10);
  fixture_gpu(&f, 0);
  fixture_kernel(&f, 100, 200, "k", 0, process, 7, 0);
  fixture_memop(&f, 50, 120, NAI_MEMOP_COPY, 0, process, 8, 0, 1000, 1, 0, 2);
  fixture_memop(&f, 60, 110, NAI_MEMOP_COPY, 0, process, 9, 0, 3000, 1, 0, 2);
  fixture_memop(&f, 190, 230, NAI_MEMOP_COPY, 0, process, 8, 0, 100000, 1, 1, 2);
  fixture_memop(&f, 300, 300, NAI_MEMOP_SET, 0, process, 8, 0, 16, NAI_NULL_I64, NAI_NULL_I64, 2);
  fixture_memop(&f, 310, 311, NAI_MEMOP_COPY, 0, process, 8, 0, 1, 77, -3, 99);
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "memory", 0);
  assert_int_equal(t->rows, 4);
  assert_int_equal(cell_int(t, 0, "count"), 2);
  assert_int_equal(cell_int(t, 0, "total_time_ns"), 120);
  assert_int_equal(cell_int(t, 0, "exposed_ns"), 50);
  assert_int_equal(cell_int(t, 0, "pageable_count"), 2);
  assert_int_equal(cell_int(t, 0, "total_bytes"), 4000);
  assert_true(fabs(cell_real(t, 0, "gb_per_s") - 4000.0 / 120) < 1e-9);
  assert_int_equal(cell_int(t, 1, "exposed_ns"), 30);
  assert_int_equal(cell_int(t, 1, "pageable_count"), 0);
  int64_t set = row_where(t, "direction", "memset"), odd = row_where(t, "direction", "kind 77");
  assert_true(set >= 0 && odd >= 0);
  assert_true(isnan(cell_real(t, set, "gb_per_s")));
  assert_string_equal(cell_text(t, odd, "dst_kind"), "kind 99");
  nai_table_free(t);
  fixture_free(&f);
}

/* What no memory reaches is counted and gives no rate; a fast cache and a coarse clock are no such thing. */
TEST(test_impossible_rates) {
  static const struct {
    int64_t bytes, ns;
    bool possible;
  } cases[] = {{4000000000, 1120, false}, {6400000, 768, true},      {100000000, 0, true},
               {100100000, 0, false},     {1000000000, 10000, true}, {1000200000, 10000, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct fixture f;
    fixture_init(&f);
    int32_t process = fixture_process(&f, 10);
    fixture_gpu(&f, 0);
    fixture_memop(&f, 0, 2000, NAI_MEMOP_SET, 0, process, 8, 0, 4096, NAI_NULL_I64, NAI_NULL_I64, 2);
    fixture_memop(&f, 5000, 5000 + cases[i].ns, NAI_MEMOP_SET, 0, process, 8, 0, cases[i].bytes, NAI_NULL_I64,
                  NAI_NULL_I64, 2);
    for (int large = 0; large < 3; large++)
      fixture_memop(&f, 200000 + 200000 * large, 300000 + 200000 * large, NAI_MEMOP_COPY, 0, process, 8, 0, 1 << 20, 1,
                    1, 2);
    fixture_memop(&f, 900000, 900000 + cases[i].ns, NAI_MEMOP_COPY, 0, process, 8, 0, cases[i].bytes, 1, 1, 2);
    fixture_build(&f);
    struct nai_table *t = fixture_analyze(&f, "memory", 0), *quality = fixture_analyze(&f, "quality", 0),
                     *rates = fixture_analyze(&f, "copy_rates", 0);
    for (int64_t row = 0; row < t->rows; row++)
      assert_int_equal(isnan(cell_real(t, row, "gb_per_s")), !cases[i].possible);
    int64_t counted = 0;
    for (int64_t row = 0; row < quality->rows; row++)
      counted += strcmp(cell_text(quality, row, "check"), "impossible-rate") == 0 ? cell_int(quality, row, "count") : 0;
    assert_int_equal(counted, cases[i].possible ? 0 : 2);
    assert_int_equal(cell_int(rates, 0, "large_count"), cases[i].possible && cases[i].ns ? 4 : 3);
    nai_table_free(t);
    nai_table_free(quality);
    nai_table_free(rates);
    fixture_free(&f);
  }
}

/* Every analysis on nothing, and on rows without process, GPU or names. */
TEST(test_every_analysis) {
  for (int filled = 0; filled < 2; filled++) {
    struct fixture f;
    fixture_init(&f);
    if (filled) {
      fixture_gpu(&f, -1);
      fixture_thread(&f, -1, 0);
      fixture_kernel(&f, 10, 20, "", -1, -1, NAI_NULL_I64, NAI_NULL_I64);
      fixture_memop(&f, 30, 30, NAI_MEMOP_COPY, -1, -1, NAI_NULL_I64, 0, 0, NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64);
      fixture_graph(&f, 40, 50, -1, -1, 0, 0);
      fixture_api(&f, 5, 6, 0, "cudaStreamSynchronize", 1);
      fixture_nvtx(&f, -9, 70, 0, "", NAI_NVTX_PUSH_POP);
    }
    fixture_build(&f);
    for (int a = 0; nai_analyses[a]; a++)
      for (int t = 0; nai_analyses[a]->outputs[t]; t++)
        nai_table_free(fixture_analyze(&f, nai_analyses[a]->name, t));
    fixture_free(&f);
  }
}

/* As many processes and names as kernels: an analysis that compares each with each takes ten times the seconds that it
 * has. */
TEST(test_many_processes) {
  enum { N = 40000 };
  struct fixture f;
  fixture_init(&f);
  for (int g = 0; g < 8; g++)
    fixture_gpu(&f, g);
  for (int i = 0; i < N; i++) {
    char name[24];
    snprintf(name, sizeof name, "kernel %d", i);
    int32_t process = fixture_process(&f, i + 1), thread = fixture_thread(&f, process, i + 1);
    fixture_api(&f, 10 * i, 10 * i + 2, thread, "cudaLaunchKernel", 1);
    fixture_api(&f, 10 * i + 3, 10 * i + 9, thread, "cudaDeviceSynchronize", 2);
    fixture_nvtx(&f, 10 * i, 10 * i + 9, thread, name, NAI_NVTX_PUSH_POP);
    fixture_kernel(&f, 10 * i + 4, 10 * i + 8, name, i % 8, process, 7, 1);
  }
  fixture_build(&f);
  for (int a = 0; nai_analyses[a]; a++) {
    clock_t begin = clock();
    nai_table_free(fixture_analyze(&f, nai_analyses[a]->name, 0));
    if (clock() - begin > 5 * CLOCKS_PER_SEC)
      fail_msg("%s takes %ld s", nai_analyses[a]->name, (long)((clock() - begin) / CLOCKS_PER_SEC));
  }
  struct nai_table *t = fixture_analyze(&f, "processes", 1);
  assert_int_equal(t->rows, N);
  nai_table_free(t);
  fixture_free(&f);
}
