/* Does a comparison pass? From verdicts and policies to an outcome per metric and an exit status. */
#pragma once

#include "features/compare/compare.h"

enum nai_outcome { NAI_OUTCOME_PASS, NAI_OUTCOME_WARN, NAI_OUTCOME_FAIL, NAI_OUTCOME_UNDECIDED, NAI_OUTCOME_SKIP };
const char *nai_outcome_name(enum nai_outcome outcome); /* "pass", "warn", "fail", "undecided", "skip" */

enum { NAI_EXIT_PASS = 0, NAI_EXIT_FAIL = 1, NAI_EXIT_UNDECIDED = 7 };

struct nai_gate {
  uint32_t counts[NAI_OUTCOME_SKIP + 1]; /* gated metrics per outcome */
  int exit;
  const char *reason; /* why nothing was decided, NULL otherwise; a literal or of the comparison */
};

/* Of a gated metric. */
enum nai_outcome nai_gate_outcome(const struct nai_comparison *c, const struct nai_metric_result *result);
struct nai_gate nai_gate_of(const struct nai_comparison *c);
/* Whether a guard got worse: a caveat. */
bool nai_gate_caveat(const struct nai_metric_result *result);
/* The metric that a report begins with, NULL when nothing is comparable. */
const struct nai_metric_result *nai_headline(const struct nai_comparison *c);
/* Whether a headline of that verdict gives its reason, and whether it gives that of another metric. */
bool nai_says_why(enum nai_verdict verdict);
bool nai_headline_gives(const struct nai_comparison *c, const struct nai_metric_result *result);
