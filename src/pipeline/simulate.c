#include "pipeline/simulate.h"

#include "table/stats.h"
#include "tables/findings.h"
#include "tables/what_if.h"
#include "tables/what_if_plan.h"

void nai_simulation_free(struct nai_simulation *s) {
  for (uint32_t i = 0; i < s->count; i++)
    nai_change_free(&s->v[i].change);
}

/* --- each change alone ------------------------------------------------------------------------ */

/* Findings of several GPUs may name the same change. */
static const struct nai_simulated_change *find(const struct nai_simulation *s, const char *text) {
  for (uint32_t i = 0; i < s->count; i++)
    if (strcmp(s->v[i].change.text, text) == 0)
      return &s->v[i];
  return NULL;
}

static int read_change(struct nai_simulation *s, const char *text, struct nai_err *err) {
  struct nai_simulated_change *next = &s->v[s->count];
  if (!*text || s->count == NAI_SIMULATED_CHANGES)
    return NAI_OK;
  *next = (struct nai_simulated_change){0};
  int rc = nai_change_parse(&next->change, text, s->arena, err);
  if (rc || find(s, next->change.text))
    nai_change_free(&next->change);
  else
    s->count++;
  return rc == NAI_EUSAGE ? NAI_OK : rc; /* a rule that puts text of the trace into a pattern: that is none */
}

static int simulate(struct nai_simulation *s, struct nai_err *err) {
  NAI_TRY(nai_whatif_begin(&s->whatif, s->model, NULL, NAI_SIMULATED_EVENTS, s->path_summary, s->arena, err));
  for (uint32_t i = 0; i < s->count; i++) {
    struct nai_simulated_change *c = &s->v[i];
    const struct nai_change *change = &c->change;
    c->refused = nai_whatif_refuses(&s->whatif, change);
    int rc = c->refused ? NAI_OK : nai_change_count(&c->edited, &s->whatif, change, err);
    if (rc && rc != NAI_EUSAGE)
      return rc;
    if (rc)
      c->refused = "its regular expression takes too long on a name of this trace";
    else if (!c->refused && !c->edited)
      c->refused = "nothing in the graph is what the change is about";
    if (!c->refused)
      NAI_TRY(nai_whatif_try(&c->result, &s->whatif, &change, 1, err));
  }
  return NAI_OK;
}

/* Of a change that was simulated. */
static const char *state_of(const struct nai_simulation *s, const struct nai_simulated_change *c) {
  double now = s->whatif.now_ns;
  return nai_whatif_bound(&s->whatif, &c->change)                    ? "bound_only"
       : now - c->result.ns[NAI_CASE_LIKELY] < NAI_MODEL_ERROR * now ? "within_error"
                                                                     : "ok";
}

static int64_t saving(const struct nai_simulation *s, const struct nai_simulated_change *c, enum nai_case which) {
  return llround(s->whatif.now_ns - c->result.ns[which]);
}

int nai_simulate_findings(void *ctx, struct nai_rules_simulated *out, const char *const *changes, uint32_t count,
                          struct nai_err *err) {
  struct nai_simulation *s = ctx;
  for (uint32_t i = 0; i < count; i++)
    NAI_TRY(read_change(s, changes[i], err));
  if (!s->count)
    return NAI_OK;
  NAI_TRY(simulate(s, err));
  for (uint32_t i = 0; i < count; i++) {
    const struct nai_simulated_change *c = find(s, changes[i]);
    if (c && !c->refused)
      out[i] =
          (struct nai_rules_simulated){.now_ns = llround(s->whatif.now_ns),
                                       .covered_ns = s->whatif.covered_ns,
                                       .low_ns = saving(s, c, NAI_CASE_LOW),
                                       .ns = saving(s, c, NAI_CASE_LIKELY),
                                       .high_ns = saving(s, c, NAI_CASE_HIGH),
                                       .most_ns = llround(s->whatif.now_ns - fmin(c->result.case_ns[NAI_CASE_HIGH],
                                                                                  c->result.case_ns[NAI_CASE_LIKELY])),
                                       .of = nai_path_scope_name(s->whatif.kind),
                                       .state = state_of(s, c)};
  }
  return NAI_OK;
}

/* --- tables ----------------------------------------------------------------------------------- */

static void put_result(struct WHAT_IF_row *row, const struct nai_simulation *s, const struct nai_simulated_change *c) {
  double likely = c->result.ns[NAI_CASE_LIKELY];
  row->after_ns = llround(likely);
  row->saving_low_ns = saving(s, c, NAI_CASE_LOW);
  row->saving_ns = saving(s, c, NAI_CASE_LIKELY);
  row->saving_high_ns = saving(s, c, NAI_CASE_HIGH);
  row->saving_pct = nai_percent(s->whatif.now_ns - likely, s->whatif.now_ns);
  row->limited_by = nai_path_cause_name(c->result.limit);
  row->limited_by_pct = c->result.limit_pct;
  row->cautious = nai_whatif_choice(&s->whatif, &c->change, &c->result, NULL, NAI_CASE_LOW);
  row->favorable = nai_whatif_choice(&s->whatif, &c->change, &c->result, NULL, NAI_CASE_HIGH);
  row->state = state_of(s, c);
  row->reason = strcmp(row->state, "ok") == 0         ? NULL
              : strcmp(row->state, "bound_only") == 0 ? nai_whatif_bound(&s->whatif, &c->change)
                                                      : "the saving is below the model's error";
}

static const char *action_of(const struct nai_simulation *s, const struct nai_change *change) {
  NAI_SCOPED(nai_buf) words = {0};
  nai_change_put_words(&words, change);
  s->arena->oom |= words.oom;
  return nai_arena_printf(s->arena, "%s", nai_buf_str(&words));
}

static void put_change(struct nai_table *what_if, const struct nai_simulation *s, uint32_t i,
                       const struct nai_table *findings) {
  const struct nai_simulated_change *c = &s->v[i];
  int64_t finding = nai_find_str(findings, FINDINGS_change, c->change.text);
  struct WHAT_IF_row row =
      NAI_ROW(WHAT_IF, .what_if = i + 1, .finding = finding + 1,
              .rule = finding < 0 ? NULL : nai_get_str(findings, finding, FINDINGS_id), .change = c->change.text,
              .action = action_of(s, &c->change), .edited_count = c->edited,
              .scope = nai_path_scope_name(s->whatif.kind), .repetition_count = s->whatif.repetitions,
              .now_ns = llround(s->whatif.now_ns), .state = "refused", .reason = c->refused);
  if (!c->refused)
    put_result(&row, s, c);
  WHAT_IF_add(what_if, &row);
}

static void put_step(struct nai_table *plan, const struct nai_simulation *s, const struct nai_plan_step *step,
                     uint32_t number, const struct nai_table *findings) {
  const struct nai_simulated_change *c = &s->v[number];
  double now = s->whatif.now_ns;
  int64_t finding = nai_find_str(findings, FINDINGS_change, c->change.text);
  struct WHAT_IF_PLAN_row row =
      NAI_ROW(WHAT_IF_PLAN, .rank = plan->rows + 1, .what_if = number + 1, .finding = finding + 1,
              .title = finding < 0 ? NULL : nai_get_str(findings, finding, FINDINGS_title), .change = c->change.text,
              .action = action_of(s, &c->change), .scope = nai_path_scope_name(s->whatif.kind),
              .alone_ns = llround(now - step->alone_ns));
  if (step->chosen) {
    row.before_ns = llround(step->before_ns);
    row.after_ns = llround(step->after_ns);
    row.after_low_ns = llround(step->after.ns[NAI_CASE_LOW]);
    row.after_high_ns = llround(step->after.ns[NAI_CASE_HIGH]);
    row.saving_ns = row.before_ns - row.after_ns;
    row.cumulative_pct = nai_percent(now - step->after_ns, now);
    row.bound = nai_whatif_bound(&s->whatif, &c->change);
    row.limited_by = nai_path_cause_name(step->after.limit);
    row.limited_by_pct = step->after.limit_pct;
  } else {
    row.note = "adds less than 1 % to the plan";
  }
  WHAT_IF_PLAN_add(plan, &row);
}

static int put_plan(struct nai_table *plan, const struct nai_simulation *s, const struct nai_table *findings,
                    struct nai_err *err) {
  struct nai_change changes[NAI_SIMULATED_CHANGES] = {0};
  struct nai_plan_step steps[NAI_SIMULATED_CHANGES];
  struct nai_whatif_result alone[NAI_SIMULATED_CHANGES];
  uint32_t numbers[NAI_SIMULATED_CHANGES], count = 0, chosen;
  for (uint32_t i = 0; i < s->count; i++) {
    int64_t finding = nai_find_str(findings, FINDINGS_change, s->v[i].change.text);
    bool doubted = finding >= 0 && !*nai_get_str(findings, finding, FINDINGS_simulated_state);
    if (s->v[i].refused || doubted) /* the finding says nothing of a simulation, nor does the plan */
      continue;
    numbers[count] = i;
    alone[count] = s->v[i].result;
    changes[count++] = s->v[i].change;
  }
  if (!count)
    return NAI_OK;
  NAI_TRY(nai_whatif_plan(steps, &chosen, &s->whatif, changes, alone, count, count, err));
  for (uint32_t i = 0; i < count && chosen; i++) /* without one chosen what_if says it of each */
    put_step(plan, s, &steps[i], numbers[steps[i].change], findings);
  return NAI_OK;
}

int nai_simulation_write(struct nai_table *what_if, struct nai_table *plan, const struct nai_simulation *s,
                         const struct nai_table *findings, struct nai_err *err) {
  for (uint32_t i = 0; i < s->count; i++)
    put_change(what_if, s, i, findings);
  NAI_TRY(s->count ? put_plan(plan, s, findings, err) : NAI_OK);
  return nai_arena_check(s->arena, err);
}
