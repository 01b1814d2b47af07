#include "features/compare/stats.h"

#include "base/arena.h"
#include "base/sort.h"
#include "table/stats.h"

/* Trends sort the few neighbours of each value. */
static void sort_values(double *values, size_t n) {
  enum { FEW = 24 };
  if (n > FEW)
    qsort(values, n, sizeof *values, nai_by_f64);
  for (size_t i = 1; i < n && n <= FEW; i++) {
    double value = values[i];
    size_t at = i;
    for (; at && nai_by_f64(&values[at - 1], &value) > 0; at--)
      values[at] = values[at - 1];
    values[at] = value;
  }
}

/* The newest values where there are too many. */
static size_t sort_into(double room[NAI_VALUES_MAX], const double *values, size_t n) {
  size_t kept = n > NAI_VALUES_MAX ? NAI_VALUES_MAX : n;
  if (kept)
    memcpy(room, values + n - kept, kept * sizeof *room);
  sort_values(room, kept);
  return kept;
}

double nai_median(const double *values, size_t n) {
  double sorted[NAI_VALUES_MAX];
  n = sort_into(sorted, values, n);
  return n ? nai_quantile(sorted, n, 0.5) : NAN;
}

/* --- distribution of rank sums ---------------------------------------------------------------- */

/* ways[s]: how many choices of `take` of the items have doubled ranks that add up to s. Items are `count` doubled
 * ranks; counts stay below 2^53 for count <= NAI_EXACT_MAX, so they are exact. */
enum { MAX_SUM = NAI_EXACT_MAX * (NAI_EXACT_MAX + 1) };

static int count_sums(double **out, const int *doubled, size_t count, size_t take, struct nai_arena *arena,
                      struct nai_err *err) {
  double *ways;
  NAI_TRY(NAI_NEW(ways, arena, (take + 1) * (MAX_SUM + 1), err));
  *out = ways;
  ways[0] = 1;
  for (size_t item = 0; item < count; item++)
    for (size_t k = item + 1 < take ? item + 1 : take; k >= 1; k--)
      for (int s = MAX_SUM; s >= doubled[item]; s--)
        ways[k * (MAX_SUM + 1) + (size_t)s] += ways[(k - 1) * (MAX_SUM + 1) + (size_t)(s - doubled[item])];
  memmove(ways, ways + take * (MAX_SUM + 1), (MAX_SUM + 1) * sizeof *ways);
  return NAI_OK;
}

/* Share of choices whose sum is at most, and at least, `sum`. */
static void tails(double *low, double *high, const double *ways, int sum) {
  double below = 0, above = 0, all = 0;
  for (int s = 0; s <= MAX_SUM; s++) {
    all += ways[s];
    below += s <= sum ? ways[s] : 0;
    above += s >= sum ? ways[s] : 0;
  }
  *low = below / all;
  *high = above / all;
}

/* --- Mann-Whitney ----------------------------------------------------------------------------- */

struct ranked {
  double value;
  bool is_b;
};

NAI_ORDER_BY(by_ranked, struct ranked, nai_by_f64(&a->value, &b->value))

/* Normal with correction for ties and continuity; `twice` = twice the rank sum of b, `ties` = sum of t^3 - t. */
static double normal_p(double twice, double ties, double m, double n) {
  double all = m + n, mean = n * (all + 1) / 2, variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
  double distance = fabs(twice / 2 - mean) - 0.5;
  return variance > 0 && distance > 0 ? erfc(distance / sqrt(2 * variance)) : 1;
}

int nai_mann_whitney(double *p, const double *a, size_t m, const double *b, size_t n, struct nai_err *err) {
  size_t count = m + n;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct ranked *all;
  int *doubled;
  double *ways, twice = 0, ties = 0, low, high;
  NAI_TRY(NAI_NEW(all, &arena, count, err));
  NAI_TRY(NAI_NEW(doubled, &arena, count, err));
  for (size_t i = 0; i < count; i++)
    all[i] = (struct ranked){i < m ? a[i] : b[i - m], i >= m};
  qsort(all, count, sizeof *all, by_ranked);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && by_ranked(&all[i], &all[end]) == 0;)
      end++;
    double t = (double)(end - i);
    ties += t * t * t - t;
    for (size_t j = i; j < end; j++) {
      doubled[j] = (int)(i + 1 + end); /* twice the mean of ranks i + 1 .. end */
      twice += all[j].is_b ? (double)(i + 1 + end) : 0;
    }
  }
  if (count > NAI_EXACT_MAX) {
    *p = normal_p(twice, ties, (double)m, (double)n);
    return NAI_OK;
  }
  NAI_TRY(count_sums(&ways, doubled, count, n, &arena, err));
  tails(&low, &high, ways, (int)twice);
  *p = fmin(1, 2 * fmin(low, high));
  return NAI_OK;
}

int nai_interval_cut(long *cut, double *coverage, size_t m, size_t n, struct nai_err *err) {
  double all = (double)(m + n), mn = (double)m * (double)n;
  *coverage = 0;
  *cut = -1;
  if (m + n > NAI_EXACT_MAX) {
    double c = floor(mn / 2 - 1.959963984540054 * sqrt(mn * (all + 1) / 12) - 0.5);
    *coverage = c >= 0 ? 0.95 : 0;
    *cut = c >= 0 ? (long)c : -1;
    return NAI_OK;
  }
  int doubled[NAI_EXACT_MAX];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  double *ways, choices = 0, below = 0;
  for (size_t i = 0; i < m + n; i++)
    doubled[i] = 2 * (int)(i + 1);
  NAI_TRY(count_sums(&ways, doubled, m + n, n, &arena, err));
  for (int s = 0; s <= MAX_SUM; s++)
    choices += ways[s];
  int least = (int)(n * (n + 1)); /* twice the smallest rank sum, where U is 0 */
  for (int u = 0; u <= (int)(m * n); u++) {
    below += ways[least + 2 * u];
    if (2 * below / choices > 0.05)
      break;
    *cut = u;
    *coverage = 1 - 2 * below / choices;
  }
  return NAI_OK;
}

/* --- shift ------------------------------------------------------------------------------------ */

int nai_shift_of(struct nai_shift *out, const double *a, size_t m, const double *b, size_t n, struct nai_err *err) {
  size_t count = m * n;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  double *differences, above = 0;
  long cut = -1;
  *out = (struct nai_shift){.p = 1};
  NAI_TRY(NAI_NEW(differences, &arena, count, err));
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      double d = b[j] - a[i];
      differences[i * n + j] = d;
      above += d > 0 ? 1 : d < 0 ? 0 : 0.5;
    }
  qsort(differences, count, sizeof *differences, nai_by_f64);
  out->shift = nai_quantile(differences, count, 0.5);
  out->cliff = 2 * above / (double)count - 1;
  NAI_TRY(nai_interval_cut(&cut, &out->coverage, m, n, err));
  out->has_ci = cut >= 0;
  if (out->has_ci) {
    out->low = differences[cut];
    out->high = differences[count - 1 - (size_t)cut];
  }
  return nai_mann_whitney(&out->p, a, m, b, n, err);
}

/* --- history ---------------------------------------------------------------------------------- */

double nai_robust_sd(const double *values, size_t n) {
  double sorted[NAI_VALUES_MAX];
  n = sort_into(sorted, values, n);
  if (!n)
    return NAN;
  double median = nai_quantile(sorted, n, 0.5);
  for (size_t i = 0; i < n; i++)
    sorted[i] = fabs(sorted[i] - median);
  sort_values(sorted, n);
  return 1.4826 * nai_quantile(sorted, n, 0.5);
}

double nai_history_noise(const double *values, size_t n) {
  enum { NEWEST = 31 };
  double changes[NEWEST];
  size_t count = 0, first = n > NEWEST ? n - NEWEST : 0;
  if (n < NAI_NOISE_MIN)
    return NAN;
  for (size_t i = first + 1; i < n; i++)
    if (values[i - 1] > 0 || values[i - 1] < 0)
      changes[count++] = fabs(values[i] / values[i - 1] - 1);
  if (count < NAI_NOISE_MIN - 1)
    return NAN;
  qsort(changes, count, sizeof *changes, nai_by_f64);
  double q1 = nai_quantile(changes, count, 0.25), q3 = nai_quantile(changes, count, 0.75);
  return q3 + 3 * (q3 - q1);
}

double nai_history_limit(const double *values, size_t n, double budget) {
  size_t first = n > NAI_HISTORY_MAX ? n - NAI_HISTORY_MAX : 0;
  return fmax(budget, 3 * nai_robust_sd(values + first, n - first));
}
