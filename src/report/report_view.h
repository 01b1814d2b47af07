/* Parts of what templates see. Internal to src/report. */
#pragma once

#include "report/report.h"
#include "report/view.h"

/* cells.c: a cell for people, with spaces that do not break. */
void nai_report_print_value(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value);
void nai_report_put_value(struct nai_view *view, const char *key, enum nai_unit unit, const struct nai_value *value);
/* "12.3-14.0 ms" under NAME_span: the unit once where both have the same. */
void nai_report_put_span(struct nai_view *view, const char *name, enum nai_unit unit, const struct nai_value *low,
                         const struct nai_value *high);
void nai_report_put_duration(struct nai_view *view, const char *key, double ns);
void nai_report_put_estimate(struct nai_view *view, const char *key, double ns); /* "about 430 ms" */
/* One row: every column under the name and as people read it, and what its GPU is called. */
void nai_report_put_row(struct nai_view *row_view, const struct nai_report *report, const struct nai_table *table,
                        int64_t row);

/* What a GPU is called ("GPU 0"); NULL for one that table gpus lacks. */
const char *nai_report_gpu_label(const struct nai_report *report, int64_t device_id);

/* group.c: rows that say the same of several GPUs, as one. */
struct nai_grouping {
  const char *name;               /* in the view */
  const struct nai_schema *table; /* with a GPU per row */
  int keys[4], key_count;         /* columns of texts that rows of one group share */
  int total;                      /* column of a time, of which the share of the GPUs' active time is shown; -1: none */
  const char *only;               /* rows in which column `only_column` reads so; NULL: all */
  int only_column;
};
/* {"rows": [one map per group, in the order of its first row], "any", "more"}. Each has the first row's columns, the
 * least and the largest value of every number as NAME_span ("12.3-14.0 ms"), the GPUs as `gpus`, and the share of
 * `total` as `active_pct_span`. */
void nai_report_put_groups(struct nai_view *tables, const struct nai_report *report,
                           const struct nai_grouping *grouping, int top);

/* report_findings.c: "High" */
const char *nai_report_severity_label(enum nai_severity severity);
/* All in "findings"; those to act on in "major", the rest in "minor", those to begin with in "top". */
void nai_report_put_findings(struct nai_view *root, const struct nai_report *report);
