/* Student's t distribution and Welch's test. */
#include "features/nights/changes.h"

/* Continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x) {
  enum { MOST = 500 };
  const double tiny = 1e-300, enough = 1e-15;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs(d) < tiny ? tiny : d);
  double h = d;
  for (int m = 1; m <= MOST; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + even * d;
    c = 1 + even / c;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    c = fabs(c) < tiny ? tiny : c;
    h *= d * c;
    d = 1 + odd * d;
    c = 1 + odd / c;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    c = fabs(c) < tiny ? tiny : c;
    h *= d * c;
    if (fabs(d * c - 1) < enough)
      break;
  }
  return h;
}

/* Regularised incomplete beta function. */
static double beta_i(double a, double b, double x) {
  if (x <= 0)
    return 0;
  if (x >= 1)
    return 1;
  int sign;
  double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log1p(-x));
  if (x < (a + 1) / (a + b + 2))
    return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

static double mean_of(const double *v, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += v[i];
  return sum / (double)n;
}

/* Variance of the mean: of the sample, n - 1, divided by n. */
static double error_of(const double *v, size_t n, double mean) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += (v[i] - mean) * (v[i] - mean);
  return sum / (double)(n - 1) / (double)n;
}

static bool is_constant(const double *v, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (v[i] != v[0])
      return false;
  return true;
}

double nai_welch_p(const double *a, size_t m, const double *b, size_t n) {
  if (m < 2 || n < 2)
    return 1;
  if (is_constant(a, m) && is_constant(b, n))
    return a[0] == b[0] ? 1 : 0;
  double ma = mean_of(a, m), mb = mean_of(b, n), ea = error_of(a, m, ma), eb = error_of(b, n, mb), e = ea + eb;
  double t2 = (ma - mb) * (ma - mb) / e;
  double df = e * e / (ea * ea / (double)(m - 1) + eb * eb / (double)(n - 1));
  return beta_i(df / 2, 0.5, df / (df + t2));
}
