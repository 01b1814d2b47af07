/* What is said of one metric of two groups of captures. */
#pragma once

#include "features/compare/stats.h"

enum nai_verdict {
  NAI_VERDICT_ERROR,         /* cannot be decided; `reason` says why */
  NAI_VERDICT_CHANGED,       /* an exact metric is worse by more than its budget */
  NAI_VERDICT_REGRESSED,     /* worse by more than budget and noise, with captures enough to say so */
  NAI_VERDICT_SUSPECT,       /* worse by more than the budget, not proven */
  NAI_VERDICT_IMPROVED,      /* better by more than noise */
  NAI_VERDICT_WITHIN_BUDGET, /* no worse than the budget: proven */
  NAI_VERDICT_NOT_PROVEN,    /* no worse than the budget as far as these captures can tell */
  NAI_VERDICT_SAME,          /* every value is equal */
  NAI_VERDICT_NOTED,         /* neither direction is worse: a difference */
  NAI_VERDICT_SKIPPED,       /* on neither side, or nothing is asked of it */
  NAI_VERDICT_COUNT
};
const char *nai_verdict_name(enum nai_verdict verdict); /* "within budget" */
const char *nai_verdict_code(enum nai_verdict verdict); /* "within_budget" */

enum { NAI_MIN_CAPTURES = 4 }; /* of each side, for "regressed" */

/* What a metric is and may do; amounts in its unit, not negative. */
struct nai_limits {
  double sign; /* 1: lower is better, -1: higher, 0: neither */
  bool exact;
  double budget_pct, budget; /* NaN: not given */
  double noise_pct, noise;
  double limit;   /* fixed: worse than this fails whatever the base is; NaN: none */
  size_t minimum; /* captures of each side for "regressed" */
};

struct nai_judgement {
  enum nai_verdict verdict;
  bool compared;          /* with a base: shift and pct hold */
  struct nai_shift shift; /* candidate - base, as values are: not turned to "worse" */
  double base, candidate; /* medians; NaN without values */
  double pct;             /* of |base|; NaN where base is 0 */
  double budget, floor;   /* as they were applied */
  double history;         /* by how much sides of as many captures differ, by the base's own changes; 0: unknown */
  double limit;           /* the fixed one that was exceeded; NaN: none */
  bool budget_below_noise;
  bool by_history;  /* decided by the rule for a single run against a history */
  char reason[240]; /* what it rests on, or what is missing; may be empty */
};

/* base: m values, candidate: n values, in the order of captures. */
NAI_MUST_CHECK int nai_judge(struct nai_judgement *out, const struct nai_limits *limits, const double *base, size_t m,
                             const double *candidate, size_t n, struct nai_err *err);
/* Of what no base decides: `why`, the medians, nothing compared. */
void nai_judge_undecided(struct nai_judgement *out, enum nai_verdict verdict, const char *why, const double *base,
                         size_t m, const double *candidate, size_t n);
/* A candidate beyond the fixed limit fails whatever was said of it before. */
void nai_judge_limit(struct nai_judgement *out, const struct nai_limits *limits);
