/* Which rows of which rules speak. */
#include "rules/evaluation.h"

#include "base/sort.h"

static int severity_of(const struct env *env, const struct hit *hit) {
  if (hit->rule->has_ladder)
    return nai_saving_severity(env->set, &hit->saving);
  for (int s = 3; s >= 0; s--)
    if (hit->rule->has_severity[s] && nai_expression_holds(env, hit->rule->severity[s]))
      return s;
  return -1;
}

static int64_t duration_of(const struct env *env, struct expression *duration) {
  double value = duration ? nai_expression_number(env, duration) * nai_unit_scale(duration->unit) : NAN;
  return value >= 0 && value < 9e18 ? (int64_t)value : NAI_NULL_I64;
}

static void find_saving(struct hit *hit, struct env *env) {
  const struct rule *rule = hit->rule;
  struct saving *saving = &hit->saving;
  saving->ns = nai_saving_capped(env->input, hit, duration_of(env, rule->saving));
  saving->low_ns = duration_of(env, rule->saving_low);
  if (saving->low_ns > saving->ns)
    saving->low_ns = saving->ns;
  saving->base_ns = rule->base ? duration_of(env, rule->base) : nai_saving_base_ns(env->input, hit);
  env->saving = *saving;
}

/* Lookups cost a pass over their table: they wait until the row's own conditions hold. */
enum outcome nai_hit_examine(struct hit *hit, struct env *env) {
  const struct rule *rule = hit->rule;
  bool early = !rule->ladder_needs_lookups && !rule->saving;
  if (!nai_expression_holds(env, rule->where))
    return OUTCOME_WHERE;
  if (early && severity_of(env, hit) < 0)
    return OUTCOME_SEVERITY;
  nai_env_look_up(env, rule, false);
  if (!nai_expression_holds(env, rule->when))
    return OUTCOME_WHEN;
  find_saving(hit, env);
  hit->severity = severity_of(env, hit);
  return hit->severity >= 0 ? OUTCOME_SPEAKS : OUTCOME_SEVERITY;
}

static int64_t id_of(const struct env *env, int column) {
  return column < 0 ? NAI_NULL_I64 : nai_get_i64(env->tables[0], env->rows[0], column);
}

struct hit nai_hit_at(struct env *env, const struct rule *rule, int64_t row) {
  env->rows[0] = row;
  env->device_id = rule->scope == SCOPE_GPU ? id_of(env, rule->device_column) : NAI_NULL_I64;
  return (struct hit){.rule = rule,
                      .row = row,
                      .device_id = env->device_id,
                      .pid = rule->scope == SCOPE_RUN ? NAI_NULL_I64 : id_of(env, rule->pid_column),
                      .saving = NO_SAVING};
}

static void enter(struct env *env, const struct hit *hit) {
  env->rows[0] = hit->row;
  env->device_id = hit->device_id;
  env->saving = hit->saving;
  nai_env_look_up(env, hit->rule, true);
}

void nai_hit_enter(struct env *env, const struct nai_rule_set *set, const struct nai_rules_input *input,
                   const struct hit *hit, const char *subject) {
  nai_env_open(env, set, hit->rule, input);
  env->subject = *subject ? subject : "this run";
  enter(env, hit);
}

static bool same_or_none(int64_t a, int64_t b) { return a == NAI_NULL_I64 || b == NAI_NULL_I64 || a == b; }

/* What could save more is not hidden. */
static bool saves_more(const struct hit *hit, const struct hit *other) {
  return hit->saving.ns != NAI_NULL_I64 && other->saving.ns != NAI_NULL_I64 && hit->saving.ns > other->saving.ns;
}

const struct hit *nai_hits_silencer(const struct hits *hits, const struct hit *hit) {
  for (uint32_t u = 0; u < hit->rule->unless.count; u++) {
    const struct rule_hits *other = &hits->by_rule[hit->rule->unless.at[u]->number];
    for (uint32_t i = 0; i < other->count; i++) {
      const struct hit *it = &hits->all.at[other->first + i];
      if (same_or_none(it->device_id, hit->device_id) && same_or_none(it->pid, hit->pid) && !saves_more(hit, it))
        return it;
    }
  }
  return NULL;
}

NAI_ORDER(by_weight, struct hit, {b->severity, a->severity}, {b->saving.ns, a->saving.ns}, {a->row, b->row})

/* The rows that speak by themselves, as far as no other rule silences them. */
static int find_rule_hits(struct hits *hits, const struct rule *rule, const struct nai_rule_set *set,
                          const struct nai_rules_input *input, struct nai_arena *arena, struct nai_err *err) {
  struct rule_hits *mine = &hits->by_rule[rule->number];
  struct env env;
  nai_env_open(&env, set, rule, input);
  mine->first = hits->all.count;
  if (!env.tables[0] || !env.tables[0]->rows) /* nothing is looked up for nobody */
    return NAI_OK;
  nai_env_look_up(&env, rule, true);
  for (int64_t row = 0; row < env.tables[0]->rows; row++) {
    struct hit hit = nai_hit_at(&env, rule, row);
    if (nai_hit_examine(&hit, &env) != OUTCOME_SPEAKS || nai_hits_silencer(hits, &hit))
      continue;
    NAI_TRY(LIST_ROOM(hits->all, arena, err));
    hits->all.at[hits->all.count++] = hit;
    mine->count++;
  }
  return NAI_OK;
}

/* Severities by the savings that are left after sharing. A hit whose rest is too little falls silent. */
static int judge_rule_hits(struct hits *hits, const struct rule *rule, const struct nai_rule_set *set,
                           const struct nai_rules_input *input, struct nai_arena *arena, struct nai_err *err) {
  struct rule_hits *mine = &hits->by_rule[rule->number];
  struct env env;
  if (!mine->count) /* there may be no hits at all */
    return NAI_OK;
  struct hit *list = hits->all.at + mine->first;
  nai_env_open(&env, set, rule, input);
  for (uint32_t i = 0; i < mine->count; i++) {
    enter(&env, &list[i]);
    if (rule->saving)
      list[i].severity = severity_of(&env, &list[i]);
    if (list[i].severity >= 0)
      NAI_TRY(nai_severity_lower(&list[i], &env, hits, arena, err));
  }
  qsort(list, mine->count, sizeof *list, by_weight);
  while (mine->count && list[mine->count - 1].severity < 0)
    mine->count--;
  return NAI_OK;
}

int nai_hits_find(struct hits *hits, const struct nai_rule_set *set, const struct nai_rules_input *input,
                  struct nai_arena *arena, struct nai_err *err) {
  *hits = (struct hits){0};
  NAI_TRY(NAI_NEW(hits->by_rule, arena, set->rules.count, err));
  for (uint32_t i = 0; i < set->rules.count; i++)
    if (!set->order[i]->disabled)
      NAI_TRY(find_rule_hits(hits, set->order[i], set, input, arena, err));
  NAI_TRY(nai_savings_share(hits, set, input, err));
  for (uint32_t i = 0; i < set->rules.count; i++)
    if (!set->order[i]->disabled)
      NAI_TRY(judge_rule_hits(hits, set->order[i], set, input, arena, err));
  return NAI_OK;
}
