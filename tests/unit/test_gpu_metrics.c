/* Sampled metrics: means over parts of a GPU's time, against samples laid out by hand. */
#include "model_fixture.h"

enum { PERIOD = 100, TYPE = 0x1000 };

static void begin(struct fixture *f) {
  fixture_init(f);
  fixture_process(f, 7);
  fixture_gpu(f, 0);
  nai_set_i64(f->in.tables[NAI_IN_GPUS], 0, GP_GPU_ID, 3);
}

static int64_t metric(struct fixture *f, int gpu, int64_t id, const char *name) {
  struct nai_table *t = f->in.tables[NAI_IN_GPU_METRICS];
  CELLS(t, TYPE | gpu, id, gpu, 1);
  nai_set_str(t, t->rows - 1, GM_NAME, name);
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

static void means_are_weighted_by_time(void **state) {
  (void)state;
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

static void lost_samples_are_told(void **state) {
  (void)state;
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

static void few_samples_say_nothing(void **state) {
  (void)state;
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

static void reading_and_writing_add_up(void **state) {
  (void)state;
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
static void network_cards_send_at_a_rate(void **state) {
  (void)state;
  struct fixture f;
  begin(&f);
  fixture_kernel(&f, 0, 10000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 0, 7, 1);
  fixture_kernel(&f, 20000, 30000, "other", 0, 0, 7, 2);
  CELLS(f.in.tables[NAI_IN_NIC_METRICS], 5, 1);
  nai_set_str(f.in.tables[NAI_IN_NIC_METRICS], 0, NM_NAME, "IB: Bytes sent");
  nai_set_str(f.in.tables[NAI_IN_NIC_METRICS], 0, NM_UNIT, "bytes/ms");
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(means_are_weighted_by_time),
                                     cmocka_unit_test(lost_samples_are_told), cmocka_unit_test(few_samples_say_nothing),
                                     cmocka_unit_test(reading_and_writing_add_up),
                                     cmocka_unit_test(network_cards_send_at_a_rate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
