/* Shared by the files behind compare.h. Internal to src/features/compare. */
#pragma once

#include "features/compare/compare.h"

/* side.c */
/* A table of a capture, NULL when the run has none of that name. Borrowed. */
const struct nai_table *nai_capture_table(const struct nai_capture *capture, const char *name);
/* A number of its first row; 0 when there is none. */
int64_t nai_capture_cell(const struct nai_capture *capture, const char *table, const char *column);
/* Sum over the rows of a table, over all captures of a side; a row counts where `where` has the text `is` (NULL: all).
 */
int64_t nai_side_sum(const struct nai_side *side, const char *table, const char *column, const char *where,
                     const char *is);
int64_t nai_side_rows(const struct nai_side *side, const char *table, const char *where, const char *is);

/* checks.c: reasons that tables give; after the kernels were matched those that matching gives. */
NAI_MUST_CHECK int nai_checks_find(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_checks_of_kernels(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_checks_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err);
/* Adds a reason; base and fresh may be NULL. A hard one that the user allows becomes soft. */
NAI_MUST_CHECK int nai_check_add(struct nai_comparison *c, const struct nai_check *check, struct nai_err *err);
/* The same with what the sides say; nothing is said of a side whose text is empty. The texts stay the caller's. */
NAI_MUST_CHECK int nai_check_add_with(struct nai_comparison *c, struct nai_buf texts[NAI_SIDES], struct nai_check check,
                                      struct nai_err *err);
void nai_check_free_texts(struct nai_buf texts[NAI_SIDES]);
/* checks_equal.c: reasons for captures that differ in what has to be equal. */
NAI_MUST_CHECK int nai_checks_of_equality(struct nai_comparison *c, struct nai_err *err);
/* checks_capture.c: caveats about how captures were made. */
NAI_MUST_CHECK int nai_check_profiler_options(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_check_clock(struct nai_comparison *c, struct nai_err *err);
/* What the captures of a side say: the one text they share, or each by name. *agrees: there is one text. */
typedef void capture_describe_fn(struct nai_buf *out, const struct nai_capture *capture);
void nai_side_describe(struct nai_buf *out, bool *agrees, const struct nai_side *side, capture_describe_fn *describe);

/* results.c */
NAI_MUST_CHECK int nai_results_find(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_results_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_values_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err);

/* Of a check, for people: "no", "not per step", "not by what needs it", "caveat". */
const char *nai_check_word(const struct nai_check *check);

/* kernels.c: uses of both sides and their match. */
NAI_MUST_CHECK int nai_kernels_match(struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_kernels_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err);
/* parts.c: the closed tree of times. */
NAI_MUST_CHECK int nai_parts_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err);
/* others.c */
NAI_MUST_CHECK int nai_ranges_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_phases_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_copies_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err);
NAI_MUST_CHECK int nai_findings_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err);
/* tree.c */
NAI_MUST_CHECK int nai_tree_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err);
