/* What was simulated before a change, beside what was measured behind it. */
#include "features/compare/internal.h"

#include "tables/critical_path_summary.h"
#include "tables/what_if.h"
#include "tables/what_if_plan.h"

struct gone {
  const struct nai_strings *ids;
  const bool *rules; /* per id */
};

static bool is_gone(const struct gone *g, const char *rule) {
  uint32_t at = nai_strings_find(g->ids, rule, strlen(rule));
  return at != NAI_NO_STRING && g->rules[at];
}

/* The row of what_if that a row of the plan is about; of a refused or missing one there is none. */
static bool change_of(struct WHAT_IF_row *out, const struct nai_table *changes, int64_t number) {
  for (int64_t i = 0; i < changes->rows; i++) {
    *out = WHAT_IF_at(changes, i);
    if (out->what_if == number)
      return out->after_ns != NAI_NULL_I64;
  }
  return false;
}

/* A time that the base predicts: of one change alone, or of those at the head of the plan together. */
static struct nai_prediction find(const struct nai_table *changes, const struct nai_table *plan, const struct gone *g) {
  struct nai_prediction none = {0}, last = {0};
  struct WHAT_IF_row change;
  uint32_t all = 0, ahead = 0;
  for (int64_t i = 0; i < changes->rows; i++) {
    change = WHAT_IF_at(changes, i);
    if (!is_gone(g, change.rule) || change.after_ns == NAI_NULL_I64)
      continue;
    all++;
    last = (struct nai_prediction){change.rule, change.scope, change.after_ns, 0};
  }
  if (all <= 1)
    return last;
  for (; ahead < plan->rows; ahead++) {
    struct WHAT_IF_PLAN_row step = WHAT_IF_PLAN_at(plan, ahead);
    if (step.after_ns == NAI_NULL_I64 || !change_of(&change, changes, step.what_if) || !is_gone(g, change.rule))
      break;
    last = (struct nai_prediction){change.rule, step.scope, step.after_ns, 0};
  }
  return ahead == all ? last : none;
}

/* Of the slowest GPU; NaN where the capture has no such scope. */
static double measured(const struct nai_capture *capture, const char *of) {
  const struct nai_table *scopes = nai_capture_table(capture, &nai_critical_path_summary_schema);
  double most = NAN;
  for (int64_t i = 0; i < scopes->rows; i++) {
    struct CRITICAL_PATH_SUMMARY_row scope = CRITICAL_PATH_SUMMARY_at(scopes, i);
    if (strcmp(scope.scope, of) == 0)
      most = fmax(most, scope.per_repetition_ns);
  }
  return most;
}

struct nai_prediction nai_predict(const struct nai_comparison *c, const struct nai_strings *ids, const bool *gone) {
  const struct nai_side *base = &c->sides[NAI_BASE], *candidate = &c->sides[NAI_CANDIDATE];
  struct nai_prediction p = {0};
  double values[NAI_VALUES_MAX];
  uint32_t known = 0;
  if (!base->count || !candidate->count)
    return p;
  p = find(nai_capture_table(base->captures, &nai_what_if_schema),
           nai_capture_table(base->captures, &nai_what_if_plan_schema), &(struct gone){ids, gone});
  for (uint32_t i = 0; p.rule && i < candidate->count; i++) {
    values[i] = measured(&candidate->captures[i], p.of);
    known += !isnan(values[i]);
  }
  if (!p.rule || known < candidate->count)
    return (struct nai_prediction){0};
  p.measured_ns = llround(nai_median(values, known));
  return p;
}
