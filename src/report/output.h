/* What a report can be written as: one struct nai_output per format, all in output.c. */
#pragma once

#include "report/report.h"

/* What the page needs beside the report; all borrowed. */
struct nai_report_page {
  const char *timeline_json, *events_b64;
  const char *script, *script_sha256_b64, *style, *style_sha256_b64;
};

/* What a format prints from; all borrowed. */
struct nai_output_context {
  const struct nai_report *report;
  const struct nai_table *table;      /* of formats with one file per table */
  struct nai_templates *templates;    /* of formats that have a template: checked, so threads may share them */
  const struct nai_report_page *page; /* of formats that need the timeline */
  bool all_csv;                       /* a CSV file of every table */
};

/* Whether a table has a CSV file. */
bool nai_output_has_csv(const struct nai_output_context *context, const struct nai_table *table);

struct nai_output {
  const char *name;     /* "markdown" */
  const char *path;     /* in the artifacts directory; '*' stands for a table's name: one file per table */
  const char *template; /* the template it is made with, NULL for none */
  /* Appends the text to `out`, which may hand it on while it grows (base/buf.h). Errors of `out` show there, too. */
  int (*print)(struct nai_buf *out, const struct nai_output_context *context, struct nai_err *err);
};

extern const struct nai_output nai_output_html;

/* All formats, those that take longest first; ends with NULL. */
extern const struct nai_output *const nai_outputs[];
