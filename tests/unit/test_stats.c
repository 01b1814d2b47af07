/* Statistics of durations against sorted copies and sums in long double. */
#include "model_fixture.h"

#include "table/stats.h"

#include <math.h>

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Linear interpolation between closest ranks, position q * (n - 1). */
static double quantile(const int64_t *sorted, size_t n, int percent) {
  size_t scaled = (size_t)percent * (n - 1), below = scaled / 100;
  double low = (double)sorted[below], high = (double)sorted[below + 1 < n ? below + 1 : below];
  return low + (high - low) * (double)(scaled % 100) / 100;
}

static void check(int64_t *values, uint32_t n) {
  int64_t *sorted = malloc(n * sizeof *sorted);
  long double mean = 0, squares = 0;
  memcpy(sorted, values, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, ascending);
  for (uint32_t i = 0; i < n; i++)
    mean += (long double)values[i] / n;
  for (uint32_t i = 0; i < n; i++)
    squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
  struct nai_stats s = nai_stats_of(values, n);
  const double expected[][2] = {{s.p50, quantile(sorted, n, 50)}, {s.p90, quantile(sorted, n, 90)}, {s.p99, quantile(sorted, n, 99)},
                                {s.mean, (double)mean}, {s.stddev, n > 1 ? (double)sqrtl(squares / (n - 1)) : 0}};
  for (int i = 0; i < 5; i++)
    if (fabs(expected[i][0] - expected[i][1]) > 1e-9 * (1 + fabs(expected[i][1])))
      fail_msg("statistic %d of %u values: %.12g, not %.12g", i, n, expected[i][0], expected[i][1]);
  assert_int_equal(s.count, n);
  assert_int_equal(s.min, sorted[0]);
  assert_int_equal(s.max, sorted[n - 1]);
  free(sorted);
}

static void test_random(void **state) {
  (void)state;
  struct fixture f = {.seed = 5};
  for (int round = 0; round < 2000; round++) {
    int64_t values[400], range = round % 3 == 0 ? 3 : round % 3 == 1 ? 1000 : (int64_t)1 << 31;
    uint32_t n = 1 + (uint32_t)fixture_random(&f, 399);
    for (uint32_t i = 0; i < n; i++)
      values[i] = fixture_random(&f, range) * (round % 5 == 4 ? (int64_t)1 << 18 : 1);
    check(values, n);
  }
}

static void test_edges(void **state) {
  (void)state;
  struct nai_stats s = nai_stats_of(NULL, 0);
  assert_int_equal(s.count, 0);
  assert_true(isnan(s.p50) && isnan(s.p99));
  /* Large and nearly equal: a sum of squares in floating point would cancel. */
  int64_t values[] = {((int64_t)1 << 50) + 1, ((int64_t)1 << 50) + 2, ((int64_t)1 << 50) + 3};
  s = nai_stats_of(values, 3);
  assert_true(fabs(s.stddev - 1) < 1e-9);
  assert_true(nai_percent(1, 0) == 0 && nai_percent(1, 4) == 25);
}

static void test_buckets(void **state) {
  (void)state;
  struct fixture f = {.seed = 8};
  enum { N = 500, GROUPS = 7 };
  uint32_t group[N];
  int64_t start[N], end[N], total[GROUPS] = {0}, count[GROUPS] = {0};
  for (int i = 0; i < N; i++) {
    group[i] = fixture_random(&f, 9) == 0 ? NAI_NO_GROUP : (uint32_t)fixture_random(&f, GROUPS - 1);
    start[i] = fixture_random(&f, 100) - 50;
    end[i] = start[i] + fixture_random(&f, 100);
    if (group[i] != NAI_NO_GROUP) {
      total[group[i]] += end[i] - start[i];
      count[group[i]]++;
    }
  }
  struct nai_buckets buckets = {0};
  ok(nai_buckets_build(&buckets, N, group, GROUPS, start, end, NULL, err));
  for (uint32_t g = 0; g < GROUPS; g++) {
    struct nai_stats s = nai_bucket_stats(&buckets, g);
    assert_int_equal(s.count, count[g]);
    assert_int_equal(s.total, total[g]);
  }
  nai_buckets_free(&buckets);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_edges), cmocka_unit_test(test_buckets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
