#include "features/compare/verdict.h"

#include "base/scope.h"

const char *nai_verdict_name(enum nai_verdict verdict) {
  static const char *const names[NAI_VERDICT_COUNT] = {"error",    "changed",       "regressed",  "suspect",
                                                       "improved", "within budget", "not proven", "same",
                                                       "noted",    "skipped"};
  return names[verdict];
}

const char *nai_verdict_code(enum nai_verdict verdict) {
  return verdict == NAI_VERDICT_WITHIN_BUDGET ? "within_budget"
       : verdict == NAI_VERDICT_NOT_PROVEN    ? "not_proven"
                                              : nai_verdict_name(verdict);
}

/* Equal to the last bit, or to what dividing sums in another order may change. */
static bool equal(double a, double b) { return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b)); }

static bool all_equal(const double *values, size_t n, double to) {
  for (size_t i = 0; i < n; i++)
    if (!equal(values[i], to))
      return false;
  return true;
}

/* The larger of a share of `of` and an absolute amount; 0 when neither is given. */
static double either(double pct, double absolute, double of) {
  double share = isnan(pct) ? 0 : pct / 100 * fabs(of);
  return fmax(share, isnan(absolute) ? 0 : absolute);
}

/* An exact metric: values repeat, so one capture is enough and any spread is a mistake. */
static void judge_exact(struct nai_judgement *out, const struct nai_limits *l, const double *base, size_t m,
                        const double *candidate, size_t n) {
  double worse = l->sign * (candidate[0] - base[0]);
  if (!all_equal(base, m, base[0]) || !all_equal(candidate, n, candidate[0])) {
    out->verdict = NAI_VERDICT_ERROR;
    out->compared = false;
    snprintf(out->reason, sizeof out->reason,
             "an exact metric differs between captures of the %s side: these captures are not repetitions of one "
             "program",
             all_equal(base, m, base[0]) ? "new" : "base");
  } else if (equal(base[0], candidate[0])) {
    out->verdict = NAI_VERDICT_SAME;
  } else if (l->sign > 0 || l->sign < 0) {
    out->verdict = worse > out->budget ? NAI_VERDICT_CHANGED
                 : worse < 0           ? NAI_VERDICT_IMPROVED
                                       : NAI_VERDICT_WITHIN_BUDGET;
  } else {
    out->verdict = NAI_VERDICT_NOTED;
  }
}

/* One to three captures against at least NAI_HISTORY_MIN: each has to be above what the history allows. */
static void judge_by_history(struct nai_judgement *out, const struct nai_limits *l, const double *base, size_t m,
                             const double *candidate, size_t n) {
  double allowed = nai_history_limit(base, m, out->budget), least = INFINITY;
  for (size_t i = 0; i < n; i++)
    least = fmin(least, l->sign * (candidate[i] - out->base));
  out->by_history = true;
  if (least > allowed) {
    out->verdict = NAI_VERDICT_REGRESSED;
    snprintf(out->reason, sizeof out->reason, "above what a history of %zu runs allows", m);
  } else if (l->sign * (out->candidate - out->base) > out->budget) {
    out->verdict = NAI_VERDICT_SUSPECT;
    snprintf(out->reason, sizeof out->reason, "over budget, but within the spread of a history of %zu runs", m);
  } else {
    out->verdict = NAI_VERDICT_NOT_PROVEN;
    snprintf(out->reason, sizeof out->reason, "within what a history of %zu runs allows", m);
  }
}

static void say_few(struct nai_judgement *out, const struct nai_limits *l) {
  snprintf(out->reason, sizeof out->reason, "not significant: take %zu captures of each side",
           l->minimum > 5 ? l->minimum : (size_t)5);
}

static void judge_noisy(struct nai_judgement *out, const struct nai_limits *l, size_t m, size_t n) {
  const struct nai_shift *s = &out->shift;
  double shift = l->sign * s->shift, low = l->sign > 0 ? s->low : -s->high, high = l->sign > 0 ? s->high : -s->low;
  bool enough = m >= l->minimum && n >= l->minimum;
  if (shift > out->budget && enough && s->has_ci && low > out->floor) {
    out->verdict = NAI_VERDICT_REGRESSED;
  } else if (shift > out->budget) {
    out->verdict = NAI_VERDICT_SUSPECT;
    if (!enough)
      say_few(out, l);
    else
      snprintf(out->reason, sizeof out->reason,
               "the interval reaches into the noise; take 8 to 10 captures of each side");
  } else if (s->has_ci && high < -out->floor && shift < -out->history) {
    out->verdict = NAI_VERDICT_IMPROVED;
  } else if (s->has_ci && high <= out->budget) {
    out->verdict = NAI_VERDICT_WITHIN_BUDGET;
  } else {
    out->verdict = NAI_VERDICT_NOT_PROVEN;
    if (s->has_ci)
      snprintf(out->reason, sizeof out->reason, "%zu + %zu captures cannot exclude that it is worse by the budget", m,
               n);
    else
      say_few(out, l);
  }
}

void nai_judge_undecided(struct nai_judgement *out, enum nai_verdict verdict, const char *why, const double *base,
                         size_t m, const double *candidate, size_t n) {
  *out = (struct nai_judgement){.verdict = verdict,
                                .base = nai_median(base, m),
                                .candidate = nai_median(candidate, n),
                                .pct = NAN,
                                .budget = NAN,
                                .floor = NAN,
                                .limit = NAN};
  snprintf(out->reason, sizeof out->reason, "%s", why);
}

void nai_judge_limit(struct nai_judgement *out, const struct nai_limits *l) {
  if (isnan(l->limit) || isnan(out->candidate))
    return;
  double sign = l->sign < 0 ? -1 : 1;
  if (sign * out->candidate > sign * l->limit) {
    out->verdict = NAI_VERDICT_REGRESSED;
    out->limit = l->limit;
    snprintf(out->reason, sizeof out->reason, "beyond the fixed limit");
  }
}

/* The noise of history is that of one run against another, of which each side has several. It is asked of the shift
 * alone: the interval has the spread of these captures already, and paying for it twice hides what is there. */
static double noise_of_levels(const double *base, size_t m, size_t n) {
  double noise = nai_history_noise(base, m);
  return isnan(noise) ? 0 : noise * sqrt((1 / (double)m + 1 / (double)n) / 2) * fabs(nai_median(base, m));
}

int nai_judge(struct nai_judgement *out, const struct nai_limits *l, const double *base, size_t m,
              const double *candidate, size_t n, struct nai_err *err) {
  *out = (struct nai_judgement){
      .compared = true, .base = nai_median(base, m), .candidate = nai_median(candidate, n), .pct = NAN, .limit = NAN};
  out->budget = either(l->budget_pct, l->budget, out->base);
  out->floor = either(l->noise_pct, l->noise, out->base);
  if (!l->exact) {
    out->history = noise_of_levels(base, m, n);
    out->budget_below_noise = out->budget < fmax(out->floor, out->history);
    out->budget = fmax(out->budget, fmax(out->floor, out->history));
  }
  NAI_TRY(nai_shift_of(&out->shift, base, m, candidate, n, err));
  if (fabs(out->base) > 0)
    out->pct = 100 * out->shift.shift / fabs(out->base);
  if (l->exact)
    judge_exact(out, l, base, m, candidate, n);
  else if (all_equal(base, m, base[0]) && all_equal(candidate, n, base[0]))
    out->verdict = NAI_VERDICT_SAME;
  else if (!(l->sign > 0 || l->sign < 0))
    out->verdict = NAI_VERDICT_NOTED;
  else if (n < NAI_MIN_CAPTURES && m >= NAI_HISTORY_MIN)
    judge_by_history(out, l, base, m, candidate, n);
  else
    judge_noisy(out, l, m, n);
  nai_judge_limit(out, l);
  return NAI_OK;
}
