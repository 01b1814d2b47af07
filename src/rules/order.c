/* In which order rules are evaluated: those in `unless` and `part_of` of a rule come before it. */
#include "rules/internal.h"

static int add_rule(struct rules *out, struct nai_rule_set *set, const struct rule *rule,
                    const struct nai_yaml_node *node, struct nai_err *err) {
  const char *id;
  NAI_TRY(nai_yaml_text(&id, rule->doc, node, err));
  struct rule *named = nai_names_rule(set, id);
  if (!named)
    return nai_names_unknown_rule(set, rule->doc, node, err);
  NAI_TRY(LIST_ROOM(*out, &set->arena, err));
  out->at[out->count++] = named;
  return NAI_OK;
}

/* The rules that `unless` or `part_of` names: one or a list. */
static int resolve(struct rules *out, struct nai_rule_set *set, const struct rule *rule, const char *key,
                   struct nai_err *err) {
  const struct nai_yaml_node *names = nai_yaml_get(rule->doc, rule->node, key);
  if (!names)
    return NAI_OK;
  if (names->kind != NAI_YAML_LIST)
    return add_rule(out, set, rule, names, err);
  for (const struct nai_yaml_node *n = nai_yaml_first(rule->doc, names); n; n = nai_yaml_next(rule->doc, n))
    NAI_TRY(add_rule(out, set, rule, n, err));
  return NAI_OK;
}

static bool all_taken(const bool *taken, const struct rules *rules) {
  for (uint32_t i = 0; i < rules->count; i++)
    if (!taken[rules->at[i]->number])
      return false;
  return true;
}

/* Repeatedly takes the rules whose `unless` and `part_of` rules have all been taken, in file order. What is left is a
 * cycle. */
static int order(struct nai_rule_set *set, struct nai_err *err) {
  bool taken[MAX_RULES] = {false};
  uint32_t count = 0;
  NAI_TRY(NAI_NEW(set->order, &set->arena, set->rules.count, err));
  for (bool progress = true; progress && count < set->rules.count;) {
    progress = false;
    for (uint32_t i = 0; i < set->rules.count; i++) {
      struct rule *rule = set->rules.at[i];
      if (!taken[i] && all_taken(taken, &rule->unless) && all_taken(taken, &rule->part_of)) {
        taken[i] = progress = true;
        set->order[count++] = rule;
      }
    }
  }
  for (uint32_t i = 0; i < set->rules.count; i++)
    if (!taken[i])
      return nai_yaml_error(set->rules.at[i]->doc, set->rules.at[i]->node, err,
                            "rule \"%s\" is part of or depends on a cycle of \"unless\" or \"part_of\"",
                            set->rules.at[i]->id);
  return NAI_OK;
}

int nai_rules_order(struct nai_rule_set *set, struct nai_err *err) {
  for (uint32_t i = 0; i < set->rules.count; i++)
    if (!set->rules.at[i]->disabled)
      NAI_TRY(resolve(&set->rules.at[i]->unless, set, set->rules.at[i], "unless", err));
  for (uint32_t i = 0; i < set->rules.count; i++)
    if (!set->rules.at[i]->disabled)
      NAI_TRY(resolve(&set->rules.at[i]->part_of, set, set->rules.at[i], "part_of", err));
  return order(set, err);
}
