/* Sampled metrics: means over parts of a GPU's time, against samples laid out by hand. */
#include "model_fixture.h"
#include "tables/gpu_metric_names.h"
#include "tables/gpus.h"
#include "tables/nic_metric_names.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { PERIOD = 100, TYPE = 0x1000 };

static void begin(struct fixture *f) {
  fixture_init(f);
  fixture_process(f, 7);
  fixture_gpu(f, 0);
  nai_set_i64(f->in.tables[NAI_IN_GPUS], 0, GPUS_gpu_id, 3);
}

static int64_t metric(struct fixture *f, int gpu, int64_t id, const char *name) {
  struct nai_table *t = f->in.tables[NAI_IN_GPU_METRICS];
  CELLS(t, TYPE | gpu, id, gpu, 1);
  nai_set_str(t, t->rows - 1, GPU_METRIC_NAMES_metric_name, name);
  return t->rows - 1;
}

static void sample(struct fixture *f, int64_t time, int64_t of, int64_t value) {
  CELLS(f->in.tables[NAI_IN_GPU_METRIC_SAMPLES], time, of, value);
}

static int64_t find(const struct nai_table *t, const char *name, const char *during) {
  for (int64_t i = 0; i < t->rows; i++)
    if (strcmp(cell_text(t, i, "metric"), name) == 0 && strcmp(cell_text(t, i, "during"), during) == 0)
      return i;
  fail_msg("no row %s, %s", name, during);
  return -1;
}

static const char sms[] = "SMs Active [Throughput %]";

/* Busy from 0 to 10,000 and from 20,000 to 30,000; 80 % then, 2 % else. */
static void work(struct fixture *f) {
  fixture_kernel(f, 0, 10000, "ampere_sgemm_128x64_nn", 0, 0, 7, 1);
  fixture_kernel(f, 20000, 30000, "other", 0, 0, 7, 2);
}

TEST(means_are_weighted_by_time) {
  struct fixture f;
  begin(&f);
  work(&f);
  int64_t m = metric(&f, 3, 20, sms), decoy = metric(&f, 3, 21, "SMs Active [Avg]"), other_gpu = metric(&f, 4, 20, sms),
          clock = metric(&f, 3, 22, "GPC Clock Frequency [MHz]");
  for (int64_t t = 30000 - PERIOD; t >= -300; t -= PERIOD) { /* in any order; some before the session */
    sample(&f, t, m, t < 10000 || t >= 20000 ? 80 : 2);
    sample(&f, t, decoy, -1000);
    sample(&f, t, other_gpu, 7);
    sample(&f, t, clock, t < 10000 ? 1980000000 : 1410000000); /* Hz, whatever the name says */
  }
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "gpu_metrics", 0);
  assert_true(cell_real(t, find(t, sms, "busy"), "mean") == 80);
  assert_true(cell_real(t, find(t, sms, "idle"), "mean") == 2);
  assert_true(cell_real(t, find(t, sms, "gemm_only"), "mean") == 80);
  assert_int_equal(cell_int(t, find(t, sms, "gemm_only"), "time_ns"), 10000);
  assert_true(cell_real(t, find(t, sms, "window"), "mean") == (80 * 2 + 2) / 3.0);
  assert_true(cell_real(t, find(t, sms, "window"), "coverage_pct") == 100);
  assert_int_equal(cell_int(t, find(t, sms, "window"), "sample_count"), 300);
  assert_true(cell_real(t, find(t, "GPC Clock Frequency [MHz]", "busy"), "max") == 1980);
  assert_int_equal(row_where(t, "metric", "SMs Active [Avg]"), -1);
  for (int64_t i = 0; i < t->rows; i++)
    assert_int_equal(cell_int(t, i, "device_id"), 0);
  nai_table_free(t);
  fixture_free(&f);
}

TEST(lost_samples_are_told) {
  struct fixture f;
  begin(&f);
  work(&f);
  int64_t m = metric(&f, 3, 20, sms), i = 0;
  for (int64_t t = 0; t < 30000; t += PERIOD)
    if (i++ % 10 < 7) /* three of ten are lost */
      sample(&f, t, m, 50);
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "gpu_metrics", 0);
  int64_t row = find(t, sms, "window");
  assert_true(cell_real(t, row, "coverage_pct") == 70);
  assert_true(cell_real(t, row, "period_ns") == PERIOD);
  assert_int_equal(cell_int(t, row, "max_gap_ns"), 4 * PERIOD);
  assert_true(cell_real(t, row, "mean") == 50);
  nai_table_free(t);
  fixture_free(&f);
}

TEST(few_samples_say_nothing) {
  struct fixture f;
  begin(&f);
  fixture_kernel(&f, 0, 1000, "k", 0, 0, 7, 1);
  fixture_kernel(&f, 2000, 3000, "k", 0, 0, 7, 2);
  int64_t m = metric(&f, 3, 20, sms);
  for (int64_t t = 0; t < 3000; t += PERIOD)
    sample(&f, t, m, 50);
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "gpu_metrics", 0);
  assert_int_equal(cell_int(t, find(t, sms, "idle"), "sample_count"), 10);
  assert_true(cell_real(t, find(t, sms, "idle"), "mean") != cell_real(t, find(t, sms, "idle"), "mean")); /* NULL */
  assert_true(cell_real(t, find(t, sms, "busy"), "mean") == 50);
  nai_table_free(t);
  fixture_free(&f);
}

TEST(reading_and_writing_add_up) {
  struct fixture f;
  begin(&f);
  work(&f);
  int64_t r = metric(&f, 3, 1, "DRAM Read Bandwidth [Throughput %]"),
          w = metric(&f, 3, 2, "DRAM Write Bandwidth [Throughput %]");
  for (int64_t t = 0; t < 30000; t += PERIOD) {
    sample(&f, t, r, 50);
    sample(&f, t, w, 25);
  }
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "gpu_metrics", 0);
  int64_t row = find(t, "DRAM Read + Write Bandwidth [Throughput %]", "compute");
  assert_true(cell_real(t, row, "mean") == 75);
  assert_true(cell_real(t, row, "coverage_pct") == 100);
  nai_table_free(t);
  fixture_free(&f);
}

/* Values are rates per ms; cards that no table names keep their number. */
TEST(network_cards_send_at_a_rate) {
  struct fixture f;
  begin(&f);
  fixture_kernel(&f, 0, 10000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 0, 7, 1);
  fixture_kernel(&f, 20000, 30000, "other", 0, 0, 7, 2);
  CELLS(f.in.tables[NAI_IN_NIC_METRICS], 5, 1);
  nai_set_str(f.in.tables[NAI_IN_NIC_METRICS], 0, NIC_METRIC_NAMES_metric_name, "IB: Bytes sent");
  nai_set_str(f.in.tables[NAI_IN_NIC_METRICS], 0, NIC_METRIC_NAMES_metric_unit, "bytes/ms");
  for (int64_t t = 0; t < 30000; t += PERIOD) {
    CELLS(f.in.tables[NAI_IN_NIC_SAMPLES], t, t + PERIOD, 77, 1, 5, 1, t < 10000 ? 25000000 : 1000000);
    CELLS(f.in.tables[NAI_IN_NIC_SAMPLES], t, t + PERIOD, 77, 1, 5, 2, 7); /* a metric without a name */
  }
  fixture_build(&f);
  struct nai_table *t = fixture_analyze(&f, "nic_metrics", 0);
  assert_int_equal(t->rows, 2);
  assert_string_equal(cell_text(t, 0, "nic"), "77");
  assert_string_equal(cell_text(t, 0, "during"), "capture");
  assert_int_equal(cell_int(t, 0, "total_bytes"), 25 * 10000 + 1 * 20000);
  assert_true(cell_real(t, 0, "mean") > 8.99 && cell_real(t, 0, "mean") < 9.01);
  assert_string_equal(cell_text(t, 1, "during"), "exposed_comm");
  assert_int_equal(cell_int(t, 1, "time_ns"), 10000);
  assert_true(cell_real(t, 1, "mean") > 24.99 && cell_real(t, 1, "mean") < 25.01);
  assert_int_equal(cell_int(t, 1, "sample_count"), 100);
  nai_table_free(t);
  fixture_free(&f);
}

/* Five steps of 10,000 ns, each a kernel of 4,000 ns launched in a phase, another of 4,000 ns, and nothing for 2,000.
 * The i-th step's samples are 10 i, in the phase one more, and when nothing runs 100. */
static void steps_of_the_host(struct fixture *f, int32_t thread) {
  for (int i = 0; i < 5; i++) {
    char name[24];
    int64_t t = i * INT64_C(10000);
    snprintf(name, sizeof name, "step %d", i);
    fixture_nvtx(f, t, t + 9900, thread, name, NAI_NVTX_PUSH_POP);
    fixture_nvtx(f, t + 5, t + 50, thread, "forward", NAI_NVTX_PUSH_POP);
    fixture_api(f, t + 10, t + 20, thread, "cudaLaunchKernel", 2 * i + 1);
    fixture_api(f, t + 60, t + 70, thread, "cudaLaunchKernel", 2 * i + 2);
    fixture_kernel(f, t + 100, t + 4100, "k", 0, 0, 7, 2 * i + 1);
    fixture_kernel(f, t + 4100, t + 8100, "l", 0, 0, 7, 2 * i + 2);
  }
}

static struct nai_patterns *load_phases(void) {
  char path[] = "/tmp/nai-phases-XXXXXX";
  static const char text[] = "fwd: [\"re:^forward$\"]\nnever: [\"re:^backward$\"]\n";
  struct nai_patterns *map = NULL;
  int fd = mkstemp(path);
  assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
  close(fd);
  ok(nai_phase_map_load(&map, NULL, path, err));
  unlink(path);
  return map;
}

static int64_t row_of(const struct nai_table *t, const char *metric, int64_t step) {
  for (int64_t i = 0; i < t->rows; i++)
    if (strcmp(cell_text(t, i, "metric"), metric) == 0 && (step < 0 || cell_int(t, i, "step") == step))
      return i;
  fail_msg("no row %s, %d", metric, (int)step);
  return -1;
}

TEST(steps_and_phases_have_their_own) {
  struct fixture f;
  struct nai_patterns *map = load_phases();
  begin(&f);
  f.m.phases = map;
  steps_of_the_host(&f, fixture_thread(&f, 0, 70));
  CELLS(f.in.tables[NAI_IN_NIC_METRICS], 5, 1);
  nai_set_str(f.in.tables[NAI_IN_NIC_METRICS], 0, NIC_METRIC_NAMES_metric_name, "IB: Bytes sent");
  int64_t m = metric(&f, 3, 20, sms);
  for (int64_t t = 100; t < 48100; t += PERIOD) {
    int64_t step = (t - 100) / 10000, in = (t - 100) % 10000;
    sample(&f, t, m, in >= 8000 ? 100 : 10 * step + (in < 4000));
    CELLS(f.in.tables[NAI_IN_NIC_SAMPLES], t, t + PERIOD, 77, 1, 5, 1, 1000000 * (step + 1));
  }
  fixture_build(&f);
  struct nai_table *steps = fixture_analyze(&f, "metric_parts", 1), *phases = fixture_analyze(&f, "metric_parts", 0);
  assert_int_equal(steps->rows, 10);
  for (int i = 0; i < 5; i++) {
    int64_t row = row_of(steps, sms, i), card = row_of(steps, "IB: Bytes sent", i);
    /* a step lasts until the next one's first kernel, the last one until its last kernel ends */
    double idle = i < 4 ? 20 * 100 : 0, samples = i < 4 ? 100 : 80;
    assert_int_equal(cell_int(steps, row, "sample_count"), (int)samples);
    assert_true(cell_real(steps, row, "coverage_pct") == 100);
    assert_true(fabs(cell_real(steps, row, "mean") - (10 * i * 80 + 40 + idle) / samples) < 1e-9);
    assert_int_equal(cell_int(steps, card, "device_id"), NAI_NULL_I64);
    assert_string_equal(cell_text(steps, card, "nic"), "77");
    assert_true(fabs(cell_real(steps, card, "mean") - (i + 1)) < 1e-9);
  }
  assert_int_equal(phases->rows, 2);
  assert_string_equal(cell_text(phases, row_of(phases, sms, -1), "phase"), "fwd");
  assert_true(fabs(cell_real(phases, row_of(phases, sms, -1), "mean") - 21) < 1e-9);
  assert_int_equal(cell_int(phases, row_of(phases, sms, -1), "time_ns"), 5 * 4000);
  assert_true(fabs(cell_real(phases, row_of(phases, "IB: Bytes sent", -1), "mean") - 3) < 1e-9);
  nai_table_free(steps);
  nai_table_free(phases);
  fixture_free(&f);
  nai_patterns_free(map);
}

/* A GPU's time by the ns: which kernels and what else runs. */
enum { SPAN = 2000, NAMES = 3 };
struct clock {
  int kernels[NAMES][SPAN], others[SPAN];
};

static int64_t alone_ns(const struct clock *c, int name) {
  int64_t ns = 0;
  for (int t = 0; t < SPAN; t++) {
    int others = c->others[t];
    for (int n = 0; n < NAMES; n++)
      others += n != name ? c->kernels[n][t] : 0;
    ns += c->kernels[name][t] && !others;
  }
  return ns;
}

TEST(kernels_are_alone_where_nothing_else_runs) {
  static const char *const names[NAMES] = {"a", "b", "c"};
  for (int round = 0; round < 50; round++) {
    struct fixture f;
    struct clock c = {0};
    begin(&f);
    f.seed = (uint64_t)round + 1;
    fixture_kernel(&f, 0, 0, "z", 0, 0, 7, 1);
    for (int i = 0; i < 60; i++) {
      int64_t start = fixture_random(&f, SPAN - 200), end = start + 1 + fixture_random(&f, i % 5 ? 60 : 200);
      int name = (int)fixture_random(&f, NAMES + 1); /* the last one: a copy */
      if (name == NAMES)
        fixture_memop(&f, start, end, NAI_OP_COPY, 0, 0, 8, 100 + i, 1, 1, 1, 2);
      else
        fixture_kernel(&f, start, end, names[name], 0, 0, 7 + i % 4, 100 + i);
      for (int64_t t = start; t < end; t++)
        *(name == NAMES ? &c.others[t] : &c.kernels[name][t]) += 1;
    }
    int64_t m = metric(&f, 3, 20, sms);
    for (int64_t t = 0; t < SPAN; t += PERIOD)
      sample(&f, t, m, 50);
    fixture_build(&f);
    struct nai_table *t = fixture_analyze(&f, "kernel_metrics", 0);
    for (int n = 0; n < NAMES; n++)
      assert_int_equal(cell_int(t, row_where(t, "kernel_name", names[n]), "alone_ns"), alone_ns(&c, n));
    nai_table_free(t);
    fixture_free(&f);
  }
}

/* A link at 100 % also while the GPU idles is down: nothing is bound by it. */
TEST(links_that_are_down_bind_nothing) {
  for (int up = 0; up < 2; up++) {
    struct fixture f;
    begin(&f);
    fixture_kernel(&f, 0, 3000, "alone", 0, 0, 7, 1);
    int64_t m = metric(&f, 3, 20, sms), link = metric(&f, 3, 21, "NVLink TX Responses User Data [Throughput %]");
    for (int64_t t = 0; t < 6000; t += PERIOD) {
      sample(&f, t, m, 60);
      sample(&f, t, link, up && t >= 3000 ? 0 : 100);
    }
    fixture_build(&f);
    struct nai_table *t = fixture_analyze(&f, "kernel_metrics", 1);
    assert_string_equal(cell_text(t, 0, "bound_by"), up ? "NVLink" : "");
    nai_table_free(t);
    fixture_free(&f);
  }
}

/* One kernel of 30 periods, another of 30 with a copy beside it, and others who have the GPU, too. A sample that stands
 * there ten times is one. */
TEST(what_others_did_is_no_kernels) {
  for (int shared = 0; shared < 2; shared++) {
    struct fixture f;
    begin(&f);
    fixture_kernel(&f, 0, 3000, "alone", 0, 0, 7, 1);
    fixture_kernel(&f, 3000, 6000, "beside", 0, 0, 7, 2);
    fixture_memop(&f, 3000, 6000, NAI_OP_COPY, 0, 0, 8, 3, 1, 1, 1, 2);
    int64_t m = metric(&f, 3, 20, sms);
    for (int64_t t = 0; t < 6000; t += PERIOD)
      for (int i = 0; i < (t == 500 ? 10 : 1); i++)
        sample(&f, t, m, 50);
    if (shared) { /* context restored, context saved: of nobody that is known */
      CELLS(f.in.tables[NAI_IN_GPU_SWITCHES], 100, 3, 8, 1, 0, 0);
      CELLS(f.in.tables[NAI_IN_GPU_SWITCHES], 200, 3, 7, 2, 0, 0);
    }
    fixture_build(&f);
    struct nai_table *t = fixture_analyze(&f, "kernel_metrics", 1);
    int64_t alone = row_where(t, "kernel_name", "alone"), beside = row_where(t, "kernel_name", "beside");
    assert_string_equal(cell_text(t, alone, "state"), shared ? "shared" : "measured");
    assert_int_equal(cell_int(t, alone, "sample_count"), shared ? 0 : 30);
    assert_string_equal(cell_text(t, beside, "why"), shared ? "" : "overlapped");
    nai_table_free(t);
    fixture_free(&f);
  }
}
