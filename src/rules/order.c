/* In which order rules are evaluated, by `unless` and `part_of`, and which tables they read. */
#include "base/text.h"
#include "rules/internal.h"

#include <stdlib.h>
#include <string.h>

struct rule *nai_rule_find(const struct nai_rule_set *set, const char *id, uint32_t *number) {
  for (uint32_t i = 0; i < set->rule_count; i++) {
    if (strcmp(set->rules[i]->id, id) == 0) {
      if (number)
        *number = i;
      return set->rules[i];
    }
  }
  return NULL;
}

int nai_rule_unknown(const struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                     const char *id, struct nai_err *err) {
  const char *candidates[MAX_RULES];
  for (uint32_t i = 0; i < set->rule_count; i++)
    candidates[i] = set->rules[i]->id;
  const char *guess = nai_text_suggest(id, candidates, set->rule_count);
  return guess ? nai_yaml_error(doc, node, err, "unknown rule \"%s\"; did you mean \"%s\"?", id, guess)
               : nai_yaml_error(doc, node, err, "unknown rule \"%s\"", id);
}

/* The rules that `unless` or `part_of` names. */
static int resolve(struct span *out, struct nai_rule_set *set, const struct rule *rule, const char *key,
                   struct nai_err *err) {
  const struct nai_yaml_node *names = nai_yaml_get(rule->doc, rule->node, key);
  out->first = set->unless.count;
  if (!names)
    return 0;
  bool list = names->kind == NAI_YAML_LIST;
  for (const struct nai_yaml_node *n = list ? nai_yaml_first(rule->doc, names) : names; n;
       n = list ? nai_yaml_next(rule->doc, n) : NULL) {
    const char *id;
    uint32_t number;
    int rc = nai_yaml_text(&id, rule->doc, n, err);
    if (rc)
      return rc;
    if (!nai_rule_find(set, id, &number))
      return nai_rule_unknown(set, rule->doc, n, id, err);
    uint32_t *slot = nai_pool_add(&set->unless, sizeof *slot);
    if (!slot)
      return nai_err_nomem(err);
    *slot = number;
    out->count++;
  }
  return 0;
}

static bool all_taken(const struct nai_rule_set *set, const bool *taken, struct span rules) {
  for (uint32_t i = 0; i < rules.count; i++)
    if (!taken[*POOL_AT(set->unless, uint32_t, rules.first + i)])
      return false;
  return true;
}

/* Repeatedly takes the rules whose `unless` and `part_of` rules have all been taken, in file order. What is left is a
 * cycle. */
static int order(struct nai_rule_set *set, struct nai_err *err) {
  bool taken[MAX_RULES] = {false};
  uint32_t count = 0;
  set->order = calloc(set->rule_count + 1, sizeof *set->order);
  if (!set->order)
    return nai_err_nomem(err);
  for (bool progress = true; progress && count < set->rule_count;) {
    progress = false;
    for (uint32_t i = 0; i < set->rule_count; i++) {
      const struct rule *rule = set->rules[i];
      if (!taken[i] && all_taken(set, taken, rule->unless) && all_taken(set, taken, rule->part_of)) {
        taken[i] = progress = true;
        set->order[count++] = i;
      }
    }
  }
  for (uint32_t i = 0; i < set->rule_count; i++)
    if (!taken[i])
      return nai_yaml_error(set->rules[i]->doc, set->rules[i]->node, err,
                            "rule \"%s\" is part of or depends on a cycle of \"unless\" or \"part_of\"",
                            set->rules[i]->id);
  return 0;
}

int nai_rules_order(struct nai_rule_set *set, struct nai_err *err) {
  int rc = 0;
  for (uint32_t i = 0; !rc && i < set->rule_count; i++)
    if (!set->rules[i]->disabled)
      rc = resolve(&set->rules[i]->unless, set, set->rules[i], "unless", err);
  for (uint32_t i = 0; !rc && i < set->rule_count; i++)
    if (!set->rules[i]->disabled)
      rc = resolve(&set->rules[i]->part_of, set, set->rules[i], "part_of", err);
  return rc ? rc : order(set, err);
}
