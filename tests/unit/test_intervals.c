/* Interval algebra against a table of instants. */
#include "model_fixture.h"

#include "table/intervals.h"

enum { SPAN = 80 };

static void draw(struct fixture *f, struct nai_intervals *set, int *covered) {
  int64_t start = 0;
  memset(covered, 0, SPAN * sizeof *covered);
  for (int64_t n = fixture_random(f, 12); n-- > 0 && start < SPAN;) {
    int64_t end = start + fixture_random(f, 12);
    end = end > SPAN ? SPAN : end;
    nai_intervals_add(set, start, end);
    for (int64_t t = start; t < end; t++)
      covered[t] = 1;
    start += fixture_random(f, 9);
  }
}

static void same(const struct nai_intervals *set, const int *covered) {
  int64_t total = 0;
  for (int64_t t = 0; t < SPAN; t++) {
    int in = 0;
    for (size_t i = 0; i < set->count; i++)
      in += set->v[i].start <= t && t < set->v[i].end;
    assert_int_equal(in, covered[t]);
    total += covered[t];
    size_t after = 0;
    while (after < set->count && set->v[after].end <= t)
      after++;
    assert_int_equal(nai_intervals_after(set, t), after);
  }
  for (size_t i = 0; i < set->count; i++) {
    assert_true(set->v[i].start < set->v[i].end);
    assert_true(i == 0 || set->v[i - 1].end < set->v[i].start); /* touching ones are one */
  }
  assert_int_equal(nai_intervals_total_ns(set), total);
}

TEST(test_algebra) {
  struct fixture f = {.seed = 11};
  for (int round = 0; round < 3000; round++) {
    struct nai_intervals a = {0}, b = {0}, u = {0}, d = {0}, x = {0};
    int in_a[SPAN], in_b[SPAN], in_u[SPAN], in_d[SPAN], in_x[SPAN];
    draw(&f, &a, in_a);
    draw(&f, &b, in_b);
    for (int t = 0; t < SPAN; t++) {
      in_u[t] = in_a[t] || in_b[t];
      in_d[t] = in_a[t] && !in_b[t];
      in_x[t] = in_a[t] && in_b[t];
    }
    nai_intervals_union(&u, &a, &b);
    nai_intervals_subtract(&d, &a, &b);
    nai_intervals_intersect(&x, &a, &b);
    same(&a, in_a);
    same(&u, in_u);
    same(&d, in_d);
    same(&x, in_x);
    NAI_SCOPED(nai_arena) arena = {0};
    struct nai_coverage coverage;
    ok(nai_coverage_in(&coverage, &a, &arena, err));
    for (int k = 0; k < 20; k++) {
      int64_t from = fixture_random(&f, SPAN), to = fixture_random(&f, SPAN), expected = 0;
      for (int64_t t = from; t < to; t++)
        expected += in_a[t];
      assert_int_equal(nai_coverage_overlap_ns(&coverage, from, to), expected);
    }
    assert_int_equal(nai_coverage_overlap_ns(&coverage, INT64_MIN, INT64_MAX), nai_intervals_total_ns(&a));
    struct nai_intervals *all[] = {&a, &b, &u, &d, &x};
    for (int i = 0; i < 5; i++)
      nai_intervals_free(all[i]);
  }
}

TEST(test_new_or_merged) {
  struct nai_intervals set = {0};
  assert_false(nai_intervals_add(&set, 5, 5));
  assert_true(nai_intervals_add(&set, 5, 9));
  assert_false(nai_intervals_add(&set, 6, 7));
  assert_false(nai_intervals_add(&set, 9, 12)); /* touches */
  assert_true(nai_intervals_add(&set, 13, 14));
  assert_int_equal(set.count, 2);
  nai_intervals_free(&set);
  nai_intervals_free(NULL);
}
