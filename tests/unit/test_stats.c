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
  const double expected[][2] = {{s.p50, quantile(sorted, n, 50)},
                                {s.p90, quantile(sorted, n, 90)},
                                {s.p99, quantile(sorted, n, 99)},
                                {s.mean, (double)mean},
                                {s.stddev, n > 1 ? (double)sqrtl(squares / (n - 1)) : 0}};
  for (int i = 0; i < 5; i++)
    if (fabs(expected[i][0] - expected[i][1]) > 1e-9 * (1 + fabs(expected[i][1])))
      fail_msg("statistic %d of %u values: %.12g, not %.12g", i, n, expected[i][0], expected[i][1]);
  assert_int_equal(s.count, n);
  assert_int_equal(s.min, sorted[0]);
  assert_int_equal(s.max, sorted[n - 1]);
  free(sorted);
}

TEST(test_random) {
  struct fixture f = {.seed = 5};
  for (int round = 0; round < 2000; round++) {
    int64_t values[400], range = round % 3 == 0 ? 3 : round % 3 == 1 ? 1000 : (int64_t)1 << 31;
    uint32_t n = 1 + (uint32_t)fixture_random(&f, 399);
    for (uint32_t i = 0; i < n; i++)
      values[i] = fixture_random(&f, range) * (round % 5 == 4 ? (int64_t)1 << 18 : 1);
    check(values, n);
  }
}

TEST(test_edges) {
  struct nai_stats s = nai_stats_of(NULL, 0);
  assert_int_equal(s.count, 0);
  assert_true(isnan(s.p50) && isnan(s.p99));
  /* Large and nearly equal: a sum of squares in floating point would cancel. */
  int64_t values[] = {((int64_t)1 << 50) + 1, ((int64_t)1 << 50) + 2, ((int64_t)1 << 50) + 3};
  s = nai_stats_of(values, 3);
  assert_true(fabs(s.stddev - 1) < 1e-9);
  assert_true(nai_percent(1, 0) == 0 && nai_percent(1, 4) == 25);
}

/* Tells in which order values came. */
static double told_by_order(const int64_t *values, uint32_t count) {
  double told = 0;
  for (uint32_t i = 0; i < count; i++)
    told = told / 3 + (double)values[i];
  return told;
}

/* Groups of very different sizes, shapes and signs at once, each against its values held together; on several threads,
 * too. */
TEST(test_groups) {
  enum { N = 60000, GROUPS = 9 };
  struct fixture f = {.seed = 8};
  uint32_t *group = malloc((N + 1) * sizeof *group);
  int64_t *start = malloc(N * sizeof *start), *end = malloc(N * sizeof *end), *own = malloc(N * sizeof *own);
  for (int round = 0; round < 12; round++) {
    for (int i = 0; i < N; i++) {
      uint32_t g = (uint32_t)fixture_random(&f, 8);
      group[i] = g == 8 ? NAI_NO_GROUP : g == 7 && fixture_random(&f, 50) ? 0 : g; /* group 7 stays small, 8 empty */
      int64_t spread = (int64_t)1 << (1 + g * 6);
      int64_t length = g == 1                            ? 5
                     : g == 2                            ? fixture_random(&f, 3)
                     : g == 3 && fixture_random(&f, 100) ? 77
                                                         : fixture_random(&f, spread);
      start[i] = fixture_random(&f, 1000) - 500;
      end[i] = start[i] + (g == 4 && round % 2 ? length - spread / 2 : length);
    }
    struct nai_stats stats[GROUPS];
    struct nai_durations durations = {nai_column_of_u32(group), nai_column_of(NAI_I64, start, 8, 0),
                                      nai_column_of(NAI_I64, end, 8, 0)};
    struct nai_values values = {N, nai_duration_block, &durations, .threads = round % 4};
    values.deviation = round % 3 ? told_by_order : NULL;
    ok(nai_group_stats(stats, GROUPS, &values, err));
    for (uint32_t g = 0; g < GROUPS; g++) {
      uint32_t n = 0;
      for (int i = 0; i < N; i++)
        if (group[i] == g)
          own[n++] = end[i] - start[i];
      const double deviation = told_by_order(own, n);
      struct nai_stats expected = nai_stats_of(own, n), found = stats[g];
      expected.stddev = values.deviation ? deviation : expected.stddev;
      if (!n) {
        assert_true(found.count == 0 && isnan(found.p50));
        continue;
      }
      assert_true(found.count == expected.count && found.total == expected.total && found.min == expected.min &&
                  found.max == expected.max && found.mean == expected.mean && found.p50 == expected.p50 &&
                  found.p90 == expected.p90 && found.p99 == expected.p99);
      assert_true(found.stddev == expected.stddev || (isnan(found.stddev) && expected.min < 0));
    }
  }
  free(group);
  free(start);
  free(end);
  free(own);
}

/* The largest differences two times can have. */
TEST(test_extremes) {
  enum { N = 5000 };
  int64_t start[N], end[N];
  uint32_t group[N + 1] = {0};
  struct nai_stats s;
  for (int i = 0; i < N; i++) {
    start[i] = i % 2 ? (int64_t)1 << 61 : 0;
    end[i] = i % 2 ? -((int64_t)1 << 61) : (int64_t)1 << 61;
  }
  struct nai_durations durations = {nai_column_of_u32(group), nai_column_of(NAI_I64, start, 8, 0),
                                    nai_column_of(NAI_I64, end, 8, 0)};
  ok(nai_group_stats(&s, 1, &(struct nai_values){N, nai_duration_block, &durations}, err));
  assert_true(s.min == -((int64_t)1 << 62) && s.max == (int64_t)1 << 61 && s.total == INT64_MIN && isnan(s.stddev));
  assert_true(s.p90 == 0x1p61 && s.mean < 0);
}
