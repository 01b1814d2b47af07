/* What the simulation (table what_if) says of a finding's saving. */
#pragma once

#include "base/buf.h"
#include "report/report.h"
#include "tables/findings.h"
#include "tables/what_if.h"

/* The row of the finding's change, also where another finding names the same one; false where none was simulated. Its
 * texts are the table's. */
bool nai_report_simulated(struct WHAT_IF_row *out, const struct nai_report *report, const struct FINDINGS_row *finding);
/* "3.52 ms per step (17.6 %)"; "at most ..." where only a bound is known; "less than 4 % of a step" below the error of
 * the model. */
void nai_report_put_simulated(struct nai_buf *out, const struct WHAT_IF_row *simulated);
