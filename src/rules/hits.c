/* Which rows of which rules speak. */
#include "rules/evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct nai_table *nai_env_table(const struct env *env, const struct nai_schema *schema) {
  for (size_t i = 0; i < env->input->table_count; i++) {
    const struct nai_table *table = env->input->tables[i];
    if (table && strcmp(table->schema->name, schema->name) == 0)
      return table;
  }
  return NULL;
}

static int open_table(struct env *env, const struct selection *rows, struct nai_err *err) {
  const struct nai_table *table = nai_env_table(env, rows->schema);
  env->tables[rows->source] = table;
  env->rows[rows->source] = -1;
  if (!table || table->schema == rows->schema || nai_schema_equal(table->schema, rows->schema))
    return 0;
  return nai_err_set(err, NAI_ESTALE, "table \"%s\" differs from the schema its rules were checked against",
                     rows->schema->name);
}

int nai_env_open(struct env *env, const struct nai_rule_set *set, const struct rule *rule,
                 const struct nai_rules_input *input, struct nai_err *err) {
  *env = (struct env){.set = set,
                      .input = input,
                      .subject = "",
                      .device_id = NAI_NULL_I64,
                      .stake_ns = NAI_NULL_I64,
                      .stake_low_ns = NAI_NULL_I64,
                      .stake_pct = NAN};
  for (int i = 0; i < MAX_SOURCES; i++)
    env->rows[i] = -1;
  int rc = open_table(env, &rule->rows, err);
  for (int i = 0; !rc && i < rule->lookup_count; i++) {
    const struct selection *rows = &rule->lookups[i].rows;
    rc = open_table(env, rows, err);
    if (rule->lookups[i].sum)
      env->sums[rows->source] = rows;
  }
  for (uint32_t i = 0; !rc && i < rule->evidence.count; i++) {
    const struct evidence_item *item = POOL_AT(set->evidence, struct evidence_item, rule->evidence.first + i);
    if (item->each)
      rc = open_table(env, &item->rows, err);
  }
  return rc;
}

void nai_env_look_up(struct env *env, const struct rule *rule, bool all) {
  for (int i = 0; i < rule->lookup_count; i++) {
    const struct selection *rows = &rule->lookups[i].rows;
    bool constant = rows->rows.sources == 0;
    int64_t found;
    if (!rule->lookups[i].sum && (all || !constant))
      env->rows[rows->source] = nai_selection_rows(&found, 1, env, rows) ? found : -1;
  }
}

static int severity_of(const struct env *env, const struct hit *hit) {
  if (hit->rule->has_ladder)
    return nai_price_severity(env->set, hit);
  for (int s = 3; s >= 0; s--)
    if (hit->rule->has_severity[s] && nai_formula_holds(env, hit->rule->severity[s]))
      return s;
  return -1;
}

static int64_t duration_of(const struct env *env, struct formula duration, double ns) {
  double value = nai_formula_value(env, duration) * ns;
  return value >= 0 && value < 9e18 ? (int64_t)value : NAI_NULL_I64;
}

static void price(struct hit *hit, struct env *env) {
  const struct rule *rule = hit->rule;
  hit->stake_ns = nai_price_capped(env->input, hit, duration_of(env, rule->price, rule->price_ns));
  hit->stake_low_ns = duration_of(env, rule->price_low, rule->price_low_ns);
  if (hit->stake_low_ns > hit->stake_ns)
    hit->stake_low_ns = hit->stake_ns;
  hit->base_ns = rule->base.number ? duration_of(env, rule->base, rule->base_ns) : nai_price_base_ns(env->input, hit);
  nai_env_set_stake(env, hit);
}

/* Lookups cost a pass over their table: they wait until the row's own conditions hold. */
enum outcome nai_hit_examine(struct hit *hit, struct env *env) {
  const struct rule *rule = hit->rule;
  bool early = !rule->ladder_needs_lookups && !rule->price.number;
  if (!nai_formula_holds(env, rule->where))
    return OUTCOME_WHERE;
  if (early && severity_of(env, hit) < 0)
    return OUTCOME_SEVERITY;
  nai_env_look_up(env, rule, false);
  if (!nai_formula_holds(env, rule->when))
    return OUTCOME_WHEN;
  price(hit, env);
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
                      .pid = rule->scope == SCOPE_RUN ? NAI_NULL_I64 : id_of(env, rule->pid_column)};
}

static bool same_or_none(int64_t a, int64_t b) { return a == NAI_NULL_I64 || b == NAI_NULL_I64 || a == b; }

const struct hit *nai_hits_silencer(const struct hits *hits, const struct nai_rule_set *set, const struct hit *hit) {
  for (uint32_t u = 0; u < hit->rule->unless.count; u++) {
    const struct rule_hits *other = &hits->by_rule[*POOL_AT(set->unless, uint32_t, hit->rule->unless.first + u)];
    for (uint32_t i = 0; i < other->count; i++) {
      const struct hit *it = POOL_AT(hits->hits, struct hit, other->first + i);
      if (same_or_none(it->device_id, hit->device_id) && same_or_none(it->pid, hit->pid))
        return it;
    }
  }
  return NULL;
}

static int by_weight(const void *a, const void *b) {
  const struct hit *x = a, *y = b;
  if (x->severity != y->severity)
    return y->severity - x->severity;
  if (x->stake_ns != y->stake_ns)
    return x->stake_ns < y->stake_ns ? 1 : -1;
  return (x->row > y->row) - (x->row < y->row);
}

static int find_rule_hits(struct hits *hits, uint32_t number, const struct nai_rule_set *set,
                          const struct nai_rules_input *input, struct nai_err *err) {
  const struct rule *rule = set->rules[number];
  struct rule_hits *mine = &hits->by_rule[number];
  struct env env;
  int rc = nai_env_open(&env, set, rule, input, err);
  mine->first = hits->hits.count;
  if (rc || !env.tables[0])
    return rc;
  nai_env_look_up(&env, rule, true);
  for (int64_t row = 0; row < env.tables[0]->rows; row++) {
    struct hit hit = nai_hit_at(&env, rule, row);
    if (nai_hit_examine(&hit, &env) != OUTCOME_SPEAKS || nai_hits_silencer(hits, set, &hit))
      continue;
    struct hit *slot = nai_pool_add(&hits->hits, sizeof *slot);
    if (!slot)
      return nai_err_nomem(err);
    *slot = hit;
    mine->count++;
  }
  return 0;
}

/* Severities by the prices that are left after sharing. A hit whose rest is too little falls silent. */
static int judge_rule_hits(struct hits *hits, uint32_t number, const struct nai_rule_set *set,
                           const struct nai_rules_input *input, struct nai_err *err) {
  struct rule_hits *mine = &hits->by_rule[number];
  const struct rule *rule = set->rules[number];
  struct env env;
  int rc = mine->count ? nai_env_open(&env, set, rule, input, err) : 0;
  for (uint32_t i = 0; !rc && i < mine->count; i++) {
    struct hit *hit = POOL_AT(hits->hits, struct hit, mine->first + i);
    env.rows[0] = hit->row;
    env.device_id = hit->device_id;
    nai_env_look_up(&env, rule, true);
    nai_env_set_stake(&env, hit);
    if (rule->price.number)
      hit->severity = severity_of(&env, hit);
    if (hit->severity >= 0)
      rc = nai_price_lower(hit, &env, hits, err);
  }
  if (rc || !mine->count)
    return rc;
  qsort(POOL_AT(hits->hits, struct hit, mine->first), mine->count, sizeof(struct hit), by_weight);
  while (mine->count && POOL_AT(hits->hits, struct hit, mine->first + mine->count - 1)->severity < 0)
    mine->count--;
  return 0;
}

int nai_hits_find(struct hits *hits, const struct nai_rule_set *set, const struct nai_rules_input *input,
                  struct nai_err *err) {
  *hits = (struct hits){.by_rule = calloc(set->rule_count + 1, sizeof *hits->by_rule)};
  int rc = hits->by_rule ? 0 : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < set->rule_count; i++)
    if (!set->rules[set->order[i]]->disabled)
      rc = find_rule_hits(hits, set->order[i], set, input, err);
  if (!rc)
    rc = nai_prices_share(hits, set, input, err);
  for (uint32_t i = 0; !rc && i < set->rule_count; i++)
    if (!set->rules[set->order[i]]->disabled)
      rc = judge_rule_hits(hits, set->order[i], set, input, err);
  return rc;
}

void nai_hits_free(struct hits *hits) {
  for (uint32_t i = 0; i < hits->hits.count; i++)
    free(POOL_AT(hits->hits, struct hit, i)->reason);
  free(hits->hits.data);
  free(hits->by_rule);
}
