/* Rows that say the same of several GPUs, as one. Internal to src/report. */
#pragma once

#include "report/report.h"

struct nai_grouping {
  const char *name;               /* in the view */
  const char *table;              /* with a GPU per row */
  const char *keys[4];            /* columns that rows of one group share; NULL past the last */
  const char *only_column, *only; /* rows in which this column reads so; NULL: all */
};

/* {"rows": [one map per group, in the order of its first row], "any", "more"}. Each has the first row's columns, the
 * least and the largest value of every number as NAME_span ("12.3-14.0 ms"), the GPUs as `gpus`, and the share of the
 * GPUs' windows that total_time_ns or total_ns takes as `window_pct_span`. */
void nai_report_put_groups(struct nai_view *tables, const struct nai_report *report,
                           const struct nai_grouping *grouping, int top);

/* One row: every column under the name and as people read it, and what its GPU is called. Spaces in numbers do not
 * break. */
void nai_report_put_row(struct nai_view *row_view, const struct nai_report *report, const struct nai_table *table,
                        int64_t row);
/* "0-3, 7" */
void nai_report_print_ids(struct nai_buf *out, const int64_t *ids, size_t count);
/* A value as people read it, with spaces that do not break. */
void nai_report_print_value(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value);
