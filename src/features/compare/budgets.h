/* budgets.yaml: how much worse each metric may get, and what a gate does about what it cannot decide (docs/gating.md).
 */
#pragma once

#include "base/err.h"
#include "config/quantity.h"

enum nai_policy { NAI_POLICY_PASS, NAI_POLICY_WARN, NAI_POLICY_FAIL };

/* One metric; NaN: not given. */
struct nai_budget {
  const char *id;
  const struct nai_yaml_node *node;
  double relative_pct, absolute, of_step_pct, limit;
  enum nai_unit unit, limit_unit; /* of absolute and limit; NAI_UNIT_COUNT: a plain number */
  enum nai_policy missing, severity;
};

struct nai_budgets {
  struct nai_yaml *doc; /* NULL: the defaults */
  struct nai_budget *list;
  uint32_t count;
  uint32_t minimum;             /* captures of each side for "regressed" */
  enum nai_policy unreplicated; /* suspect for want of captures */
  enum nai_policy suspect, error, improved;
};

/* What holds without a file. */
void nai_budgets_default(struct nai_budgets *out);
/* Reads a file; NAI_EUSAGE with file:line:column. */
NAI_MUST_CHECK int nai_budgets_load(struct nai_budgets *out, const char *path, struct nai_err *err);
NAI_MUST_CHECK int nai_budgets_parse(struct nai_budgets *out, const char *file, const char *text, size_t len,
                                     struct nai_err *err);
void nai_budgets_free(struct nai_budgets *budgets);
/* The entry of a metric, NULL for none. */
const struct nai_budget *nai_budget_of(const struct nai_budgets *budgets, const char *id);
/* Checks entries against a metric of that name once it is known: its unit fits. */
NAI_MUST_CHECK int nai_budget_check(const struct nai_budgets *budgets, const struct nai_budget *budget,
                                    const char *unit, struct nai_err *err);
/* Whether an id is that of a built-in metric, or of one of a family: "nvtx.{}.median". */
NAI_MUST_CHECK int nai_budget_is_builtin(bool *is, const char *id, struct nai_err *err);
/* The unit that an entry's amounts have, "count" where they say none. */
const char *nai_budget_unit(const struct nai_budget *budget);
/* Complains about an entry whose metric no run has, with the nearest of `ids`. */
int nai_budget_unknown(const struct nai_budgets *budgets, const struct nai_budget *budget, const char *const *ids,
                       size_t count, struct nai_err *err);
