/* Rule files to a rule set: merging of files, parameters, `unless` and the order of evaluation. */
#include "base/assets.h"
#include "base/hash.h"
#include "base/text.h"
#include "rules/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 1000 };
static const char default_rules[] = "rules/default.yaml";

static void rule_free(struct rule *rule) {
  if (rule)
    nai_buf_free(&rule->links);
  free(rule);
}

void nai_rules_free(struct nai_rule_set *set) {
  if (!set)
    return;
  struct pool *pools[] = {&set->parameters, &set->factors,  &set->tests,  &set->codes, &set->pieces,
                          &set->variants,   &set->evidence, &set->unless, &set->facts, &set->lowerings};
  for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
    free(pools[i]->data);
  for (uint32_t i = 0; i < set->rule_count; i++)
    rule_free(set->rules[i]);
  for (size_t i = 0; i < set->doc_count; i++)
    nai_yaml_free(set->docs[i]);
  free(set->rules);
  free(set->order);
  free(set->table_names);
  free(set);
}

static struct parameter *find_parameter(const struct nai_rule_set *set, const char *name) {
  for (uint32_t i = 0; i < set->parameters.count; i++) {
    struct parameter *parameter = POOL_AT(set->parameters, struct parameter, i);
    if (strcmp(parameter->name, name) == 0)
      return parameter;
  }
  return NULL;
}

static struct rule *find_rule(const struct nai_rule_set *set, const char *id, uint32_t *number) {
  for (uint32_t i = 0; i < set->rule_count; i++) {
    if (strcmp(set->rules[i]->id, id) == 0) {
      if (number)
        *number = i;
      return set->rules[i];
    }
  }
  return NULL;
}

static int read_parameters(struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                           struct nai_err *err) {
  int rc = nai_yaml_expect(doc, map, NAI_YAML_MAP, err);
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, map); !rc && n; n = nai_yaml_next(doc, n)) {
    double value;
    rc = nai_yaml_number(&value, doc, n, err);
    if (rc)
      return rc;
    struct parameter *parameter = find_parameter(set, n->key);
    if (!parameter && set->parameters.count >= MAX_RULES)
      return nai_yaml_error_key(doc, n, err, "more than %d parameters", MAX_RULES);
    if (!parameter)
      parameter = pool_add(&set->parameters, sizeof *parameter);
    if (!parameter)
      return nai_err_nomem(err);
    *parameter = (struct parameter){.name = n->key, .value = value};
  }
  return rc;
}

static int check_id(const struct nai_yaml *doc, const struct nai_yaml_node *id, struct nai_err *err) {
  const char *text;
  int rc = nai_yaml_text(&text, doc, id, err);
  if (!rc && (strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(text) || strlen(text) > 64))
    rc = nai_yaml_error(doc, id, err, "an id is made of a-z, 0-9 and -, 64 characters at most");
  return rc;
}

static int unknown_rule(const struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                        const char *id, struct nai_err *err) {
  const char *candidates[MAX_RULES];
  for (uint32_t i = 0; i < set->rule_count; i++)
    candidates[i] = set->rules[i]->id;
  const char *guess = nai_text_suggest(id, candidates, set->rule_count);
  return guess ? nai_yaml_error(doc, node, err, "unknown rule \"%s\"; did you mean \"%s\"?", id, guess)
               : nai_yaml_error(doc, node, err, "unknown rule \"%s\"", id);
}

/* Files the entry under its id: a new rule, or a replacement for that of an earlier file. */
static int file_rule(struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                     struct nai_err *err) {
  int rc = nai_yaml_expect(doc, node, NAI_YAML_MAP, err);
  const struct nai_yaml_node *id = rc ? NULL : nai_yaml_get(doc, node, "id");
  const struct nai_yaml_node *disabled = rc ? NULL : nai_yaml_get(doc, node, "disabled");
  bool off = false;
  if (!rc && !id)
    rc = nai_yaml_error(doc, node, err, "\"id\" is missing");
  if (!rc)
    rc = check_id(doc, id, err);
  if (!rc && disabled)
    rc = nai_yaml_bool(&off, doc, disabled, err);
  if (rc)
    return rc;
  struct rule *rule = find_rule(set, id->text, NULL);
  if (rule && rule->doc == doc)
    return nai_yaml_error(doc, id, err, "duplicate id \"%s\" (first on line %u)", id->text, rule->node->line);
  if (rule && off) {
    rule->disabled = true;
    return 0;
  }
  if (!rule && off && node->count == 2)
    return unknown_rule(set, doc, id, id->text, err);
  if (!rule) {
    if (set->rule_count == MAX_RULES)
      return nai_yaml_error(doc, node, err, "more than %d rules", MAX_RULES);
    rule = calloc(1, sizeof *rule);
    if (!rule)
      return nai_err_nomem(err);
    set->rules[set->rule_count++] = rule;
  }
  rule->id = id->text;
  rule->doc = doc;
  rule->node = node;
  rule->disabled = off;
  return 0;
}

/* A later file's fact replaces one of the same name. */
static int read_facts(struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                      struct nai_err *err) {
  int rc = nai_yaml_expect(doc, map, NAI_YAML_MAP, err);
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, map); !rc && n; n = nai_yaml_next(doc, n)) {
    struct fact *fact = NULL;
    for (uint32_t i = 0; i < set->facts.count; i++)
      if (strcmp(POOL_AT(set->facts, struct fact, i)->name, n->key) == 0)
        fact = POOL_AT(set->facts, struct fact, i);
    if (strspn(n->key, "abcdefghijklmnopqrstuvwxyz_0123456789") != strlen(n->key))
      return nai_yaml_error_key(doc, n, err, "\"%s\" is no name: use a-z, 0-9 and _", n->key);
    if (!fact && set->facts.count >= MAX_RULES)
      return nai_yaml_error_key(doc, n, err, "more than %d facts", MAX_RULES);
    if (!fact)
      fact = pool_add(&set->facts, sizeof *fact);
    if (!fact)
      return nai_err_nomem(err);
    *fact = (struct fact){.name = n->key, .doc = doc, .node = n};
  }
  return rc;
}

static int read_doc(struct nai_rule_set *set, const struct nai_yaml *doc, struct nai_err *err) {
  static const char *const keys[] = {"parameters", "facts", "lower", "rules", NULL};
  const struct nai_yaml_node *root = nai_yaml_root(doc), *part;
  int rc = nai_yaml_expect_keys(doc, root, keys, err);
  if (!rc && (part = nai_yaml_get(doc, root, "parameters")))
    rc = read_parameters(set, doc, part, err);
  if (!rc && (part = nai_yaml_get(doc, root, "facts")))
    rc = read_facts(set, doc, part, err);
  if (!rc && (part = nai_yaml_get(doc, root, "lower"))) {
    set->lower_doc = doc;
    set->lower = part;
  }
  if (rc || !(part = nai_yaml_get(doc, root, "rules")))
    return rc;
  rc = nai_yaml_expect(doc, part, NAI_YAML_LIST, err);
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, part); !rc && n; n = nai_yaml_next(doc, n))
    rc = file_rule(set, doc, n, err);
  return rc;
}

/* The rules that `unless` or `part_of` names. */
static int resolve_rules(struct span *out, struct nai_rule_set *set, const struct rule *rule, const char *key,
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
    if (!find_rule(set, id, &number))
      return unknown_rule(set, rule->doc, n, id, err);
    uint32_t *slot = pool_add(&set->unless, sizeof *slot);
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
static int order_rules(struct nai_rule_set *set, struct nai_err *err) {
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

static int add_table_name(struct nai_rule_set *set, size_t *count, const struct nai_schema *schema,
                          struct nai_err *err) {
  for (size_t i = 0; i < *count; i++)
    if (strcmp(set->table_names[i], schema->name) == 0)
      return 0;
  const char **names = realloc(set->table_names, (*count + 2) * sizeof *names);
  if (!names)
    return nai_err_nomem(err);
  names[(*count)++] = schema->name;
  names[*count] = NULL;
  set->table_names = names;
  return 0;
}

static int list_tables(struct nai_rule_set *set, struct nai_err *err) {
  size_t count = 0;
  int rc = 0;
  for (uint32_t i = 0; !rc && i < set->facts.count; i++)
    rc = add_table_name(set, &count, POOL_AT(set->facts, struct fact, i)->rows.schema, err);
  for (uint32_t r = 0; !rc && r < set->rule_count; r++) {
    const struct rule *rule = set->rules[r];
    if (rule->disabled)
      continue;
    rc = add_table_name(set, &count, rule->rows.schema, err);
    for (int i = 0; !rc && i < rule->lookup_count; i++)
      rc = add_table_name(set, &count, rule->lookups[i].rows.schema, err);
    for (uint32_t i = 0; !rc && i < rule->evidence.count; i++) {
      const struct evidence_item *item = POOL_AT(set->evidence, struct evidence_item, rule->evidence.first + i);
      if (item->each)
        rc = add_table_name(set, &count, item->rows.schema, err);
    }
  }
  bool priced = false;
  for (uint32_t r = 0; r < set->rule_count; r++)
    priced |= !set->rules[r]->disabled && set->rules[r]->price.count > 0;
  for (size_t i = 0; !rc && priced && i < set->schema_count; i++) /* what prices are shares of */
    if (strcmp(set->schemas[i]->name, "gpu_active") == 0 || strcmp(set->schemas[i]->name, "gpu_utilization") == 0)
      rc = add_table_name(set, &count, set->schemas[i], err);
  return rc;
}

/* All documents are read before any rule is compiled: parameters and ids may be used before they are defined. */
static int compile(struct nai_rule_set *set, struct nai_err *err) {
  int rc = 0;
  set->rules = calloc(MAX_RULES, sizeof *set->rules);
  if (!set->rules)
    return nai_err_nomem(err);
  for (size_t i = 0; !rc && i < set->doc_count; i++)
    rc = read_doc(set, set->docs[i], err);
  for (uint32_t i = 0; !rc && i < set->facts.count; i++) {
    struct fact fact = *POOL_AT(set->facts, struct fact, i);
    rc = fact_compile(&fact, set, err);
    *POOL_AT(set->facts, struct fact, i) = fact;
  }
  for (uint32_t i = 0; !rc && i < set->rule_count; i++)
    if (!set->rules[i]->disabled)
      rc = rule_compile(set->rules[i], set, set->rules[i]->doc, set->rules[i]->node, err);
  for (uint32_t i = 0; !rc && i < set->rule_count; i++)
    if (!set->rules[i]->disabled)
      rc = resolve_rules(&set->rules[i]->unless, set, set->rules[i], "unless", err);
  for (uint32_t i = 0; !rc && i < set->rule_count; i++)
    if (!set->rules[i]->disabled)
      rc = resolve_rules(&set->rules[i]->part_of, set, set->rules[i], "part_of", err);
  if (!rc)
    rc = order_rules(set, err);
  return rc ? rc : list_tables(set, err);
}

static int finish(struct nai_rule_set **out, struct nai_rule_set *set, int rc, struct nai_err *err) {
  if (!rc)
    rc = compile(set, err);
  if (rc) {
    nai_rules_free(set);
    set = NULL;
  }
  *out = set;
  return rc;
}

int nai_rules_parse(struct nai_rule_set **out, const char *file, const char *text, size_t len,
                    const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  struct nai_rule_set *set = calloc(1, sizeof *set);
  *out = NULL;
  if (!set)
    return nai_err_nomem(err);
  set->schemas = schemas;
  set->schema_count = schema_count;
  set->doc_count = 1;
  return finish(out, set, nai_yaml_parse(&set->docs[0], file, text, len, err), err);
}

int nai_rules_load(struct nai_rule_set **out, const char *const *paths, size_t path_count,
                   const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  const struct nai_asset *asset = nai_asset_find(default_rules);
  struct nai_rule_set *set = NULL;
  *out = NULL;
  if (!asset)
    return nai_err_set(err, NAI_EUSAGE, "%s is not built into this program", default_rules);
  if (path_count >= MAX_DOCS)
    return nai_err_set(err, NAI_EUSAGE, "more than %d rule files", MAX_DOCS - 1);
  set = calloc(1, sizeof *set);
  if (!set)
    return nai_err_nomem(err);
  set->schemas = schemas;
  set->schema_count = schema_count;
  int rc =
      nai_yaml_parse(&set->docs[set->doc_count++], default_rules, asset->data, (size_t)(asset->end - asset->data), err);
  for (size_t i = 0; !rc && i < path_count; i++)
    rc = nai_yaml_load(&set->docs[set->doc_count++], paths[i], err);
  return finish(out, set, rc, err);
}

int nai_rules_set_parameter(struct nai_rule_set *set, const char *name, double value, struct nai_err *err) {
  struct parameter *parameter = find_parameter(set, name);
  if (!parameter)
    return nai_err_set(err, NAI_EUSAGE, "no rule file declares a parameter \"%s\"", name);
  if (!isfinite(value))
    return nai_err_set(err, NAI_EUSAGE, "parameter \"%s\" needs a finite number", name);
  parameter->value = value;
  return 0;
}

const char *nai_rules_table(const struct nai_rule_set *set, size_t index) {
  for (size_t i = 0; set->table_names && set->table_names[i]; i++)
    if (i == index)
      return set->table_names[i];
  return NULL;
}

uint64_t nai_rules_hash(const struct nai_rule_set *set) {
  uint64_t hash = 0;
  for (size_t i = 0; i < set->doc_count; i++)
    hash = nai_hash_int(hash, (int64_t)set->docs[i]->hash);
  for (uint32_t i = 0; i < set->parameters.count; i++)
    hash = nai_hash_bytes(hash, &POOL_AT(set->parameters, struct parameter, i)->value, sizeof(double));
  return hash;
}

size_t nai_rules_count(const struct nai_rule_set *set) {
  size_t count = 0;
  for (uint32_t i = 0; i < set->rule_count; i++)
    count += !set->rules[i]->disabled;
  return count;
}
