/* The report in its formats, from tables only. */
#pragma once

#include "report/mustache.h"
#include "report/view.h"
#include "table/severity.h"
#include "table/table.h"

struct nai_report {
  const struct nai_table *const *tables; /* analysis tables, then the probe's, findings and evidence; borrowed */
  size_t table_count;
  const char *version; /* of this program */
  int top;             /* rows a table shows in report.md */
};

/* A table by name, an empty one (never NULL) when the report has none of that name. */
const struct nai_table *nai_report_table(const struct nai_report *report, const char *name);

/* "one line that says what the run is": file, GPUs, processes, window, nsys version. Plain text. */
void nai_report_summary(struct nai_buf *out, const struct nai_report *report);
/* Severity of a finding. */
enum nai_severity nai_report_severity(const struct nai_table *findings, int64_t row);
/* The line a reviewer can act on and the worst severity. Plain text. */
void nai_report_verdict(struct nai_buf *out, enum nai_severity *severity, const struct nai_report *report);

/* report.json (docs/report.schema.json), or, with less than INT64_MAX rows of a table at `most`, what report.html holds
 * (docs/viewer.md, "Long tables"). */
void nai_report_json(struct nai_buf *out, const struct nai_report *report, int64_t most);

/* What report.md and report.html templates see (docs/templates.md). `top` rows per table; without `details` the long
 * parts are left out. The caller frees the view and checks it. */
struct nai_view *nai_report_view(const struct nai_report *report, int top, bool details);

enum { NAI_REPORT_MD_MAX = 60000 }; /* bytes of report.md: GitHub refuses comments of more than 65,536 characters */
