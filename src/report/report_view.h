/* Parts of what templates see. Internal to src/report. */
#pragma once

#include "report/report.h"
#include "report/view.h"

/* A cell, printed for people. */
void nai_report_put_value(struct nai_view *view, const char *key, enum nai_unit unit, const struct nai_value *value);
/* "High" */
const char *nai_report_severity_label(enum nai_severity severity);
/* All in "findings"; those to act on in "major", the rest in "minor". */
void nai_report_put_findings(struct nai_view *root, const struct nai_report *report);
