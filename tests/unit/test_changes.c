/* Changes of series whose answers are known, Welch's test against tables. */
#include "unit.h"

#include "features/nights/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct nai_trend_rule noisy = {.noise_pct = NAN, .noise = NAN, .history_noise = NAN};
static const struct nai_trend_rule exact = {.exact = true, .noise_pct = NAN, .noise = NAN, .history_noise = NAN};

static struct nai_arena arena = NAI_ARENA(NULL); /* of what a test finds */

static int free_found(void **state) {
  (void)state;
  nai_arena_free(&arena);
  arena = (struct nai_arena)NAI_ARENA(NULL);
  return 0;
}

/* A small, even noise, the same on every machine: -1 ... 1. */
static double wobble(uint32_t i) { return (double)((i * 7919u + 13u) % 101u) / 50.0 - 1.0; }

static struct nai_trend_found find(const double *v, uint32_t n, const struct nai_trend_rule *rule) {
  struct nai_trend_found found;
  struct nai_err err;
  assert_int_equal(nai_trend_changes(&found, v, n, rule, &arena, &err), 0);
  return found;
}

static void expect_changes(const double *v, uint32_t n, const struct nai_trend_rule *rule, const uint32_t *at,
                           uint32_t count) {
  struct nai_trend_found found = find(v, n, rule);
  assert_int_equal(found.count, count);
  for (uint32_t i = 0; i < count; i++)
    assert_int_equal(found.changes[i].at, at[i]);
}

TEST_WITH(test_step, NULL, free_found) {
  double v[60];
  for (uint32_t i = 0; i < 60; i++)
    v[i] = (i < 37 ? 100 : 105) + wobble(i);
  expect_changes(v, 60, &noisy, (const uint32_t[]){37}, 1);
  struct nai_trend_found found = find(v, 60, &noisy);
  assert_true(found.changes[0].before > 99 && found.changes[0].before < 101);
  assert_true(found.changes[0].after > 104 && found.changes[0].after < 106);
  assert_true(found.changes[0].p < 1e-9);
}

TEST_WITH(test_two_steps, NULL, free_found) {
  double v[120];
  for (uint32_t i = 0; i < 120; i++)
    v[i] = (i < 40 ? 100 : i < 75 ? 106 : 97) + wobble(i);
  expect_changes(v, 120, &noisy, (const uint32_t[]){40, 75}, 2);
}

TEST_WITH(test_spike_is_no_change, NULL, free_found) {
  double v[60];
  for (uint32_t i = 0; i < 60; i++)
    v[i] = 100 + wobble(i);
  v[30] = 180;
  struct nai_trend_found found = find(v, 60, &noisy);
  assert_int_equal(found.count, 0);
  for (uint32_t i = 0; i < 60; i++)
    assert_int_equal(found.spikes[i], i == 30);
}

/* A spike beside a step hides nothing. */
TEST_WITH(test_spike_and_step, NULL, free_found) {
  double v[60];
  for (uint32_t i = 0; i < 60; i++)
    v[i] = (i < 30 ? 100 : 104) + wobble(i);
  v[12] = 300;
  v[45] = 20;
  expect_changes(v, 60, &noisy, (const uint32_t[]){30}, 1);
}

TEST_WITH(test_ends, NULL, free_found) {
  double v[40];
  for (uint32_t i = 0; i < 40; i++)
    v[i] = 100 + wobble(i);
  v[39] = 120; /* the newest value alone cannot be told from a spike */
  expect_changes(v, 40, &noisy, NULL, 0);
  for (uint32_t i = 36; i < 40; i++) /* the fewest that can */
    v[i] = 120 + wobble(i);
  expect_changes(v, 40, &noisy, (const uint32_t[]){36}, 1);
  for (uint32_t i = 0; i < 40; i++) /* three values are no level: the change is seen where four are */
    v[i] = (i < 3 ? 100 : 120) + wobble(i);
  struct nai_trend_found found = find(v, 40, &noisy);
  assert_true(found.count <= 1);
}

TEST_WITH(test_constant, NULL, free_found) {
  double v[40];
  for (uint32_t i = 0; i < 40; i++)
    v[i] = 7;
  expect_changes(v, 40, &noisy, NULL, 0);
  expect_changes(v, 40, &exact, NULL, 0);
  v[39] = 8; /* then one other value */
  struct nai_trend_found found = find(v, 40, &exact);
  assert_int_equal(found.count, 0);
  assert_true(found.spikes[39]);
  for (uint32_t i = 30; i < 40; i++)
    v[i] = 8;
  expect_changes(v, 40, &exact, (const uint32_t[]){30}, 1);
  for (uint32_t i = 30; i < 40; i++)
    v[i] = 7.1; /* 1.4 %: nothing for a noisy metric, a change of an exact one */
  expect_changes(v, 40, &noisy, NULL, 0);
  expect_changes(v, 40, &exact, (const uint32_t[]){30}, 1);
}

TEST_WITH(test_zero_level, NULL, free_found) {
  double v[30] = {0};
  const struct nai_trend_rule floor = {.noise_pct = NAN, .noise = 5, .history_noise = NAN};
  for (uint32_t i = 15; i < 30; i++)
    v[i] = 3;
  expect_changes(v, 30, &noisy, (const uint32_t[]){15}, 1);
  expect_changes(v, 30, &floor, NULL, 0);
}

TEST_WITH(test_short, NULL, free_found) {
  const double v[] = {1, 2, 1, 2, 1, 2, 1};
  for (uint32_t n = 0; n <= 7; n++)
    expect_changes(v, n, &noisy, NULL, 0);
}

/* One percent a night is a chain of levels: changes are found, all upwards, and the levels rise. */
TEST_WITH(test_ramp, NULL, free_found) {
  double v[60], level = 100;
  for (uint32_t i = 0; i < 60; i++, level *= 1.01)
    v[i] = level + 0.3 * wobble(i);
  struct nai_trend_found found = find(v, 60, &noisy);
  assert_true(found.count >= 2);
  for (uint32_t i = 0; i < found.count; i++)
    assert_true(found.changes[i].after > found.changes[i].before);
}

TEST_WITH(test_windows, NULL, free_found) {
  double v[400];
  const uint32_t at[] = {49, 150, 201, 350};
  for (uint32_t i = 0; i < 400; i++)
    v[i] = (i < 49 ? 100 : i < 150 ? 110 : i < 201 ? 100 : i < 350 ? 90 : 100) + wobble(i);
  expect_changes(v, 400, &noisy, at, 4);
}

/* The first value by numerical integration of the t distribution (tests/integration/oracle_changes.py). */
TEST_WITH(test_welch, NULL, free_found) {
  const double a[] = {1, 2, 3, 4, 5}, b[] = {3, 4, 5, 6, 9}, c[] = {2, 2, 2}, d[] = {2, 2}, e[] = {3, 3, 3};
  assert_true(fabs(nai_welch_p(a, 5, b, 5) - 0.095601734773) < 1e-9);
  assert_true(nai_welch_p(a, 5, a, 5) == 1);
  assert_true(nai_welch_p(c, 3, d, 2) == 1);
  assert_true(nai_welch_p(c, 3, e, 3) == 0);
  assert_true(nai_welch_p(a, 1, b, 5) == 1);
  /* two against two, t distribution with known tail: Welch with equal variances has 2 degrees of freedom, where
   * P(|T| > t) = 1 - t / sqrt(t^2 + 2) */
  const double x[] = {0, 2}, y[] = {10, 12};
  double t = 10 / sqrt(2.0);
  assert_true(fabs(nai_welch_p(x, 2, y, 2) - (1 - t / sqrt(t * t + 2))) < 1e-12);
}

/* By hand: {0, 0, 0, 0} against {1, 1, 1, 1}: all distances between are 1, all inside 0: Q = 16/8 * 2. */
TEST_WITH(test_e_divisive, NULL, free_found) {
  const double v[] = {0, 0, 0, 0, 1, 1, 1, 1};
  uint32_t split;
  double q;
  nai_e_divisive(&split, &q, v, 8);
  assert_int_equal(split, 4);
  assert_true(fabs(q - 4) < 1e-12);
  nai_e_divisive(&split, &q, v, 7);
  assert_int_equal(split, 0);
}
