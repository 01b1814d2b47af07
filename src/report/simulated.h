/* What a simulation says of a finding's saving. */
#pragma once

#include "base/buf.h"
#include "tables/findings.h"

/* Whether the saving of a finding is no bound. */
static inline bool nai_is_estimate(const struct FINDINGS_row *finding) { return *finding->saving_is == 'e'; }

/* Whether its change was simulated. */
static inline bool nai_is_simulated(const struct FINDINGS_row *finding) { return *finding->simulated_state; }
/* "3.52 ms of 20.0 ms per step (17.6 %)"; "at most ..." where only a bound is known; "less than 4 % of a step" below
 * the error of the model. */
void nai_report_put_simulated(struct nai_buf *out, const struct FINDINGS_row *finding);
