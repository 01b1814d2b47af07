/* What the parts of a comparison offer to nai_compare, which calls them in this order. Internal to
 * src/features/compare. */
#pragma once

#include "features/compare/compare.h"

/* check.c: adds a reason; its texts stay the caller's for as long as the comparison, or are made by nai_check_text. A
 * hard one that the user allows becomes soft. */
NAI_MUST_CHECK int nai_check_add(struct nai_comparison *c, struct nai_check check, struct nai_err *err);
/* What a side says: the comparison's copy of a text, NULL for an empty one. */
NAI_MUST_CHECK int nai_check_text(const char **out, struct nai_comparison *c, const struct nai_buf *text,
                                  struct nai_err *err);
/* What the captures of a side say: the one text they share, or each by name. *agrees: there is one text. */
typedef void nai_describe_fn(struct nai_buf *out, const struct nai_capture *capture);
NAI_MUST_CHECK int nai_check_describe(const char **out, bool *agrees, struct nai_comparison *c, int side,
                                      nai_describe_fn *describe, struct nai_err *err);
/* What makes times comparable that are not per step: an imperative. */
const char *nai_steps_advice(const struct nai_comparison *c);
/* Of a check, for people: "no", "not per step", "not by what needs it", "caveat". */
const char *nai_check_word(const struct nai_check *check);

/* Reasons that tables give. checks_equal.c: what has to be equal; checks.c: all others. */
NAI_MUST_CHECK int nai_check_captures(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_check_contents(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_check_equality(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_check_conditions(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_check_quality(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_check_definitions(struct nai_comparison *c, struct nai_err *err); /* of results */

/* work.c: sets c->work, of whole comparisons without common steps and units. */
NAI_MUST_CHECK int nai_work_find(struct nai_comparison *c, struct nai_err *err);

/* kernels.c: uses of both sides and their match; what matching says about comparability. */
NAI_MUST_CHECK int nai_kernels_match(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_check_kernels(struct nai_comparison *c, struct nai_err *err);

/* results.c */
NAI_MUST_CHECK int nai_results_find(struct nai_comparison *c, struct nai_err *err);

/* predicted.c: what the plan of the base's first capture says of the findings that are gone, in the row of the last of
 * them in its order. `gone` says it of a rule. */
struct nai_prediction {
  const char *rule, *of; /* NULL: it says nothing */
  int64_t predicted_ns, measured_ns;
};
struct nai_prediction nai_predict(const struct nai_comparison *c, const struct nai_strings *ids, const bool *gone);

/* Each fills a table of its schema. results.c, check.c, parts.c (the closed tree of times), kernels.c, others.c,
 * tree.c. */
typedef int nai_compared_fill_fn(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err);
nai_compared_fill_fn nai_fill_metrics, nai_fill_values, nai_fill_checks, nai_fill_time, nai_fill_kernels,
    nai_fill_ranges, nai_fill_phases, nai_fill_copies, nai_fill_findings, nai_fill_tree;
