/* Statistics and verdicts of comparisons, against tables that were computed by enumeration of all arrangements. */
#include "unit.h"

#include "features/compare/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

static bool near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance; }

/* --- Mann-Whitney ----------------------------------------------------------------------------- */

/* p by enumerating which of all values are b's (itertools.combinations over midranks). */
TEST(p_values) {
  static const struct {
    double a[6], b[11];
    size_t m, n;
    double p;
  } cases[] = {
      {{1, 2, 3}, {4, 5, 6}, 3, 3, 0.1},
      {{1, 2, 3, 4}, {5, 6, 7, 8}, 4, 4, 0.02857142857142857},
      {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, 5, 5, 0.007936507936507936},
      {{1, 1, 2, 2}, {1, 2, 2, 3}, 4, 4, 0.6571428571428571},
      {{5, 5, 5, 5, 5}, {5, 5, 5, 5, 5}, 5, 5, 1},
      {{1, 1, 1, 1}, {2, 2, 2, 2}, 4, 4, 0.02857142857142857},
      {{1, 2, 3, 4, 5}, {3, 3, 3}, 5, 3, 1},
      {{10, 20, 30}, {15, 25, 35, 45, 20}, 3, 5, 0.4642857142857143},
      {{1, 3, 5, 7, 9}, {2, 4, 6, 8, 10}, 5, 5, 0.6904761904761905},
      {{22.5, 22.5, 25.5, 25.5, 25.5}, {22.5, 22.5, 22.5, 25.5, 25.5}, 5, 5, 1},
      {{1}, {2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1, 10, 0.18181818181818182},
      {{0, 0, 0, 0}, {0, 0, 0, 1}, 4, 4, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double p = 0, mirrored = 0;
    assert_int_equal(nai_mann_whitney(&p, cases[i].a, cases[i].m, cases[i].b, cases[i].n, NULL), 0);
    assert_int_equal(nai_mann_whitney(&mirrored, cases[i].b, cases[i].n, cases[i].a, cases[i].m, NULL), 0);
    if (!near(p, cases[i].p, 1e-12) || !near(p, mirrored, 1e-12))
      fail_msg("case %zu: %.17g and mirrored %.17g, not %.17g", i, p, mirrored, cases[i].p);
  }
}

/* Least p, the interval of the Hodges-Lehmann shift (1-based), its true coverage: enumerated. */
TEST(intervals) {
  static const struct {
    size_t m, n;
    double least_p;
    long first, last; /* 0: no interval */
    double coverage;
  } cases[] = {
      {1, 10, 0.182, 0, 0, 0},      {1, 20, 0.095, 0, 0, 0},        {1, 39, 0.050, 1, 39, 0.950},
      {2, 7, 0.056, 0, 0, 0},       {2, 8, 0.044, 1, 16, 0.956},    {3, 3, 0.100, 0, 0, 0},
      {3, 5, 0.036, 1, 15, 0.964},  {4, 4, 0.0286, 1, 16, 0.971},   {5, 5, 0.0079, 3, 23, 0.968},
      {6, 6, 0.0022, 6, 31, 0.959}, {8, 8, 0.00016, 14, 51, 0.950}, {10, 10, 0.00001, 24, 77, 0.957},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t m = cases[i].m, n = cases[i].n;
    double coverage, p, apart[2][NAI_EXACT_MAX]; /* sides without anything in common: the least p there is */
    long cut;
    for (size_t v = 0; v < NAI_EXACT_MAX; v++) {
      apart[0][v] = (double)v;
      apart[1][v] = 1000 + (double)v;
    }
    assert_int_equal(nai_mann_whitney(&p, apart[0], m, apart[1], n, NULL), 0);
    assert_int_equal(nai_interval_cut(&cut, &coverage, m, n, NULL), 0);
    if (!near(p, cases[i].least_p, 0.0006) || cut != cases[i].first - 1 ||
        (cut >= 0 && (long)(m * n) - cut != cases[i].last) || !near(coverage, cases[i].coverage, 0.0006))
      fail_msg("%zu, %zu: p %g, cut %ld, coverage %g", m, n, p, cut, coverage);
  }
}

/* Beyond 40 values the normal approximation: near the exact value of 20 + 20 at the border. */
TEST(many_values) {
  double a[30], b[30], p;
  for (int i = 0; i < 30; i++) {
    a[i] = i;
    b[i] = i + 0.5;
  }
  assert_int_equal(nai_mann_whitney(&p, a, 30, b, 30, NULL), 0);
  assert_true(p > 0.75 && p < 0.9);
  for (int i = 0; i < 30; i++)
    b[i] = 100 + i;
  assert_int_equal(nai_mann_whitney(&p, a, 30, b, 30, NULL), 0);
  assert_true(p < 1e-9);
  double coverage;
  long cut;
  assert_int_equal(nai_interval_cut(&cut, &coverage, 30, 30, NULL), 0);
  assert_true(cut > 300 && cut < 330); /* 450 - 1.96 * sqrt(900 * 61 / 12) - 0.5 = 316.9 */
}

TEST(shift) {
  static const double a[] = {10, 11, 12, 13, 14}, b[] = {20, 21, 22, 23, 24};
  struct nai_shift s, mirror;
  assert_int_equal(nai_shift_of(&s, a, 5, b, 5, NULL), 0);
  assert_int_equal(nai_shift_of(&mirror, b, 5, a, 5, NULL), 0);
  assert_true(near(s.shift, 10, 0) && near(s.low, 7, 0) && near(s.high, 13, 0) && near(s.cliff, 1, 0));
  assert_true(near(mirror.shift, -10, 0) && near(mirror.low, -13, 0) && near(mirror.high, -7, 0));
  assert_true(near(mirror.cliff, -1, 0) && near(mirror.p, s.p, 0));
}

TEST(history) {
  double values[12] = {100, 101, 100, 99, 100, 102, 101, 100, 99, 100, 101, 100};
  assert_true(isnan(nai_history_noise(values, 9)));
  double noise = nai_history_noise(values, 12);
  assert_true(noise > 0.01 && noise < 0.03);
  /* MAD of these is 0.5: three robust sd are 2.2; a larger budget decides. */
  assert_true(near(nai_history_limit(values, 12, 1), 3 * 1.4826 * 0.5, 1e-9));
  assert_true(near(nai_history_limit(values, 12, 5), 5, 0));
  double constant[8] = {7, 7, 7, 7, 7, 7, 7, 7};
  assert_true(near(nai_history_limit(constant, 8, 0.2), 0.2, 0)); /* the budget alone decides */
}

/* --- verdicts --------------------------------------------------------------------------------- */

static struct nai_limits limits(double budget_pct, double noise_pct) {
  return (struct nai_limits){.sign = 1,
                             .budget_pct = budget_pct,
                             .budget = NAN,
                             .noise_pct = noise_pct,
                             .noise = NAN,
                             .limit = NAN,
                             .minimum = NAI_MIN_CAPTURES};
}

static struct nai_judgement judge(struct nai_limits l, const double *a, size_t m, const double *b, size_t n) {
  struct nai_judgement out;
  assert_int_equal(nai_judge(&out, &l, a, m, b, n, NULL), 0);
  return out;
}

static void says(struct nai_limits l, const double *a, size_t m, const double *b, size_t n, enum nai_verdict want) {
  struct nai_judgement out = judge(l, a, m, b, n);
  if (out.verdict != want)
    fail_msg("%s (%s), not %s", nai_verdict_name(out.verdict), out.reason, nai_verdict_name(want));
}

TEST(noisy_verdicts) {
  struct nai_limits l = limits(3, 1);
  static const double base[] = {100, 101, 100.5, 99.5, 100.2}, worse[] = {106, 107, 106.5, 105.5, 106.2};
  static const double little[] = {100.1, 101.1, 100.6, 99.6, 100.3}, better[] = {90, 91, 90.5, 89.5, 90.2};
  static const double equal[] = {5, 5, 5, 5, 5}, one_bad[] = {100, 1000, 100.4, 99.7, 100.1};
  says(l, base, 5, worse, 5, NAI_VERDICT_REGRESSED);
  says(l, worse, 5, base, 5, NAI_VERDICT_IMPROVED);
  says(l, base, 5, better, 5, NAI_VERDICT_IMPROVED);
  says(l, base, 5, little, 5, NAI_VERDICT_WITHIN_BUDGET);
  says(l, equal, 5, equal, 5, NAI_VERDICT_SAME);
  says(l, base, 5, one_bad, 5, NAI_VERDICT_NOT_PROVEN); /* one capture ten times slower */
  for (size_t k = 1; k <= 3; k++)
    says(l, base, k, worse, k, NAI_VERDICT_SUSPECT);
  says(l, base, 4, worse, 4, NAI_VERDICT_REGRESSED);
  l.sign = -1; /* higher is better: the same values the other way around */
  says(l, base, 5, worse, 5, NAI_VERDICT_IMPROVED);
  says(l, worse, 5, base, 5, NAI_VERDICT_REGRESSED);
  l.sign = 0;
  says(l, base, 5, worse, 5, NAI_VERDICT_NOTED);
}

TEST(bimodal) {
  static const double a[] = {22.5, 22.5, 25.5, 25.5, 25.5}, b[] = {22.5, 22.5, 22.5, 25.5, 25.5};
  says(limits(3, 1), a, 5, b, 5, NAI_VERDICT_NOT_PROVEN);
  says(limits(3, 1), b, 5, a, 5, NAI_VERDICT_NOT_PROVEN);
}

TEST(budget_below_noise) {
  static const double base[] = {100, 100.1, 100.2, 99.9, 100}, worse[] = {102, 102.1, 102.2, 101.9, 102};
  struct nai_judgement out = judge(limits(1, 5), base, 5, worse, 5);
  assert_true(out.budget_below_noise);
  assert_true(near(out.budget, 5, 0.01));
  assert_int_equal(out.verdict, NAI_VERDICT_WITHIN_BUDGET);
}

TEST(exact_verdicts) {
  struct nai_limits l = limits(NAN, NAN);
  static const double three[] = {3, 3, 3}, two[] = {2, 2}, spread[] = {3, 4, 3}, none[] = {0}, some[] = {5};
  l.exact = true;
  l.budget = 0;
  says(l, three, 3, two, 2, NAI_VERDICT_IMPROVED);
  says(l, two, 2, three, 3, NAI_VERDICT_CHANGED);
  says(l, three, 3, three, 1, NAI_VERDICT_SAME);
  says(l, three, 3, spread, 3, NAI_VERDICT_ERROR);
  says(l, none, 1, some, 1, NAI_VERDICT_CHANGED);
  says(l, none, 1, none, 1, NAI_VERDICT_SAME);
  assert_true(isnan(judge(l, none, 1, some, 1).pct)); /* of 0 there is no percentage */
  l.budget = 1;
  says(l, two, 2, three, 3, NAI_VERDICT_WITHIN_BUDGET);
}

TEST(fixed_limit) {
  struct nai_limits l = limits(NAN, NAN);
  static const double values[] = {41, 43, 42}, base[] = {50, 50, 50};
  struct nai_judgement out;
  nai_judge_undecided(&out, NAI_VERDICT_SKIPPED, "only in the new side", NULL, 0, values, 3);
  l.limit = 42;
  nai_judge_limit(&out, &l);
  assert_int_equal(out.verdict, NAI_VERDICT_SKIPPED);
  assert_true(isnan(out.limit));
  l.limit = 0; /* a limit like any other */
  nai_judge_limit(&out, &l);
  assert_int_equal(out.verdict, NAI_VERDICT_REGRESSED);
  assert_true(near(out.limit, 0, 0));
  assert_false(out.compared);
  l.limit = 41.5;
  says(l, base, 3, values, 3, NAI_VERDICT_REGRESSED); /* better than the base, and yet beyond */
}

TEST(single_against_history) {
  static const double calm[] = {100, 101, 100, 99, 100, 101, 100, 99}, high[] = {106}, near_by[] = {102};
  says(limits(3, 1), calm, 8, high, 1, NAI_VERDICT_REGRESSED);
  says(limits(3, 1), calm, 8, near_by, 1, NAI_VERDICT_NOT_PROVEN);
  says(limits(3, 1), calm, 6, high, 1, NAI_VERDICT_SUSPECT); /* no history */
}

/* --- simulation ------------------------------------------------------------------------------- */

static uint64_t seed;

static double uniform(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()); }

/* How many of `pairs` pairs of k captures at 1 % noise are called regressed. */
static int regressed(int pairs, size_t k, double shifted_by) {
  int found = 0;
  for (int i = 0; i < pairs; i++) {
    double a[MOST], b[MOST];
    for (size_t j = 0; j < k; j++) {
      a[j] = 42 * (1 + 0.01 * normal());
      b[j] = 42 * (1 + shifted_by) * (1 + 0.01 * normal());
    }
    found += judge(limits(3, 1), a, k, b, k).verdict == NAI_VERDICT_REGRESSED;
  }
  return found;
}

TEST(power) {
  seed = 1;
  assert_int_equal(regressed(200, 5, 0), 0);     /* A/A */
  assert_true(regressed(100, 5, 0.05) >= 98);    /* 5 % */
  assert_true(regressed(1000, 4, 0.05) >= 950);  /* 97.3 % in a simulation of 3,000 */
  assert_int_equal(regressed(1000, 3, 0.05), 0); /* never with three */
  /* The noise that ten captures tell of hides nothing that nine show. */
  assert_true(regressed(500, 10, 0.05) >= 495);
  assert_true(regressed(200, 20, 0.05) >= 198);
}
