#include "features/compare/gate.h"

const char *nai_outcome_name(enum nai_outcome outcome) {
  static const char *const names[] = {"pass", "warn", "fail", "undecided", "skip"};
  return names[outcome];
}

static enum nai_outcome of_policy(enum nai_policy policy, enum nai_outcome worst) {
  return policy == NAI_POLICY_FAIL ? worst : policy == NAI_POLICY_WARN ? NAI_OUTCOME_WARN : NAI_OUTCOME_PASS;
}

enum nai_outcome nai_gate_outcome(const struct nai_comparison *c, const struct nai_metric_result *r) {
  struct nai_budgets defaults;
  const struct nai_budgets *b = c->options.budgets;
  if (!b) {
    nai_budgets_default(&defaults);
    b = &defaults;
  }
  const struct nai_budget *own = nai_budget_of(b, r->def.metric);
  bool missing = !r->count[NAI_BASE] || !r->count[NAI_CANDIDATE];
  bool enough = r->count[NAI_BASE] >= b->minimum && r->count[NAI_CANDIDATE] >= b->minimum;
  switch (r->judgement.verdict) {
  case NAI_VERDICT_CHANGED:
  case NAI_VERDICT_REGRESSED:
    return of_policy(own ? own->severity : NAI_POLICY_FAIL, NAI_OUTCOME_FAIL);
  case NAI_VERDICT_SUSPECT:
    if (r->warn_only)
      return NAI_OUTCOME_WARN;
    return of_policy(enough || r->judgement.by_history ? b->suspect : b->unreplicated, NAI_OUTCOME_FAIL);
  case NAI_VERDICT_IMPROVED:
    return of_policy(b->improved, r->warn_only ? NAI_OUTCOME_WARN : NAI_OUTCOME_FAIL);
  case NAI_VERDICT_ERROR:
    return of_policy(missing && own ? own->missing : b->error, NAI_OUTCOME_UNDECIDED);
  case NAI_VERDICT_SKIPPED:
    return missing && own && c->sides[NAI_BASE].count ? of_policy(own->missing, NAI_OUTCOME_UNDECIDED)
                                                      : NAI_OUTCOME_SKIP;
  default:
    return NAI_OUTCOME_PASS;
  }
}

struct nai_gate nai_gate_of(const struct nai_comparison *c) {
  struct nai_gate gate = {.exit = NAI_EXIT_PASS};
  const struct nai_check *obstacle = nai_comparison_obstacle(c);
  for (uint32_t i = 0; i < c->result_count; i++)
    if (c->results[i].gated)
      gate.counts[nai_gate_outcome(c, &c->results[i])]++;
  uint32_t gated = 0;
  for (size_t outcome = 0; outcome < sizeof gate.counts / sizeof *gate.counts; outcome++)
    gated += gate.counts[outcome];
  uint32_t decided = gate.counts[NAI_OUTCOME_PASS] + gate.counts[NAI_OUTCOME_WARN] + gate.counts[NAI_OUTCOME_FAIL];
  if (obstacle)
    gate.reason = obstacle->reason;
  else if (gate.counts[NAI_OUTCOME_FAIL])
    gate.exit = NAI_EXIT_FAIL;
  else if (!gated)
    gate.reason = "no metric is gated without steps or a repeating unit: name some with --budgets";
  else if (!decided)
    gate.reason = "no gated metric could be decided";
  else if (gate.counts[NAI_OUTCOME_UNDECIDED])
    gate.reason = "gated metrics could not be decided";
  if (gate.reason)
    gate.exit = NAI_EXIT_UNDECIDED;
  return gate;
}

bool nai_gate_caveat(const struct nai_metric_result *r) {
  enum nai_verdict v = r->judgement.verdict;
  return strcmp(r->def.gate, "guard") == 0 &&
         (v == NAI_VERDICT_CHANGED || v == NAI_VERDICT_REGRESSED || v == NAI_VERDICT_SUSPECT);
}

static bool is_on_both(const struct nai_comparison *c, const struct nai_metric_result *r) {
  return r && r->count[NAI_CANDIDATE] && (r->count[NAI_BASE] || !c->sides[NAI_BASE].count);
}

const struct nai_metric_result *nai_headline(const struct nai_comparison *c) {
  char unit[40];
  const struct nai_metric_result *step = nai_comparison_metric(c, "step.time.median");
  if (is_on_both(c, step))
    return step;
  snprintf(unit, sizeof unit, "unit.%" PRId64 ".time", c->unit);
  const struct nai_metric_result *repeated = c->unit ? nai_comparison_metric(c, unit) : NULL;
  return is_on_both(c, repeated) ? repeated : NULL;
}

bool nai_says_why(enum nai_verdict verdict) {
  return verdict == NAI_VERDICT_ERROR || verdict == NAI_VERDICT_SUSPECT || verdict == NAI_VERDICT_NOT_PROVEN;
}

bool nai_headline_gives(const struct nai_comparison *c, const struct nai_metric_result *r) {
  const struct nai_metric_result *head = nai_headline(c);
  return head && nai_says_why(head->judgement.verdict) && strcmp(head->judgement.reason, r->judgement.reason) == 0;
}
