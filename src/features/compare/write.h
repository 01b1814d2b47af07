/* What is written of a comparison: one function per format, each appends the whole text. All texts of traces are
 * escaped for the format. */
#pragma once

#include "features/compare/gate.h"

/* A pull request's comment: its first line is the verdict, with number and doubt. Below NAI_MARKDOWN_MAX bytes. */
enum { NAI_MARKDOWN_MAX = 60000 };
NAI_MUST_CHECK int nai_write_markdown(struct nai_buf *out, const struct nai_comparison *c, struct nai_err *err);
/* Its first line alone, as plain text. */
void nai_write_verdict(struct nai_buf *out, const struct nai_comparison *c);
/* The page (template compare.html), with links to the reports of the runs from `directory`, where it will be (NULL:
 * none). Reads event tables of one capture a side. `unread`, which has no code before, gets NAI_EIO where reading them
 * failed: the page is short of a timeline then. */
NAI_MUST_CHECK int nai_write_html(struct nai_buf *out, struct nai_err *unread, const struct nai_comparison *c,
                                  const char *directory, struct nai_err *err);
/* docs/compare.schema.json */
void nai_write_compare_json(struct nai_buf *out, const struct nai_comparison *c);
/* One test case per gated metric; `series` is its class name. */
void nai_write_junit(struct nai_buf *out, const struct nai_comparison *c, const char *series);
/* OpenMetrics text, medians of the candidate, in base units. */
void nai_write_prometheus(struct nai_buf *out, const struct nai_comparison *c, const char *series);
/* The value of a label, without its quotes; and a number with as many digits as doubles hold apart, without a locale.
 */
void nai_put_openmetrics_label(struct nai_buf *out, const char *text);
void nai_put_openmetrics_value(struct nai_buf *out, double value);
/* Bencher's metric format. */
void nai_write_bmf(struct nai_buf *out, const struct nai_comparison *c, const char *series);
/* github-action-benchmark: metrics of which less is better, or more. */
void nai_write_benchmark(struct nai_buf *out, const struct nai_comparison *c, const char *series, bool bigger);
/* GitHub's workflow commands, at most 10. */
void nai_write_annotations(struct nai_buf *out, const struct nai_comparison *c);

/* A value for people, by the name of its unit ("41.2 ms"); with its sign for differences. */
void nai_put_amount(struct nai_buf *out, const char *unit, double value, bool sign);
/* " (+6.6 %)" */
void nai_put_pct(struct nai_buf *out, double pct);
/* The verdict, and what the gate makes of it unless that is a pass: "suspect (gate: fail)". */
void nai_put_decision(struct nai_buf *out, const struct nai_comparison *c, const struct nai_metric_result *r);
