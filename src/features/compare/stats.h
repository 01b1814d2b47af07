/* Are two groups of captures different, and by how much? Exact where that can be computed; no value is a guess
 * (docs/comparing.md). */
#pragma once

#include "base/err.h"

enum {
  NAI_EXACT_MAX = 40,   /* m + n up to which distributions are exact; beyond they are normal */
  NAI_HISTORY_MIN = 7,  /* runs that make a history */
  NAI_HISTORY_MAX = 20, /* of it the newest count */
  NAI_NOISE_MIN = 10,   /* runs in a row that tell the noise */
  NAI_VALUES_MAX = 1024 /* most captures of a side */
};

/* Of b against a. */
struct nai_shift {
  double p;     /* Mann-Whitney U, two-sided; 1 when all values are equal */
  double shift; /* Hodges-Lehmann: median of all b - a */
  bool has_ci;  /* there are captures enough for 95 % */
  double low, high;
  double coverage; /* true coverage of the interval, 0..1 */
  double cliff;    /* Cliff's delta, -1..1 */
};

/* m and n values, at least one each, finite. The arrays are only read. */
NAI_MUST_CHECK int nai_shift_of(struct nai_shift *out, const double *a, size_t m, const double *b, size_t n,
                                struct nai_err *err);

/* Two-sided p of the Mann-Whitney test; exact with ties for m + n <= NAI_EXACT_MAX. */
NAI_MUST_CHECK int nai_mann_whitney(double *p, const double *a, size_t m, const double *b, size_t n,
                                    struct nai_err *err);
/* How many of the mn sorted differences lie outside the 95 % interval on each side; *cut -1: there is none.
 * *coverage: what it truly covers. */
NAI_MUST_CHECK int nai_interval_cut(long *cut, double *coverage, size_t m, size_t n, struct nai_err *err);

/* Median of at most NAI_VALUES_MAX values; NaN without any. */
double nai_median(const double *values, size_t n);
/* 1.4826 * median absolute deviation; NaN likewise. */
double nai_robust_sd(const double *values, size_t n);
/* Noise from one run to the next: Q3 + 3 * (Q3 - Q1) of relative changes, of the newest 31 values in their order. NaN
 * for fewer than NAI_NOISE_MIN values. */
double nai_history_noise(const double *values, size_t n);
/* How far above the median of a history (n >= NAI_HISTORY_MIN) a single run may lie: max(budget, 3 robust sd). */
double nai_history_limit(const double *values, size_t n, double budget);
