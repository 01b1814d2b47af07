/* Rule files to a rule set: merging of files, parameters, facts. */
#include "base/array.h"
#include "base/hash.h"
#include "rules/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char default_rules[] = "rules/default.yaml";

void *nai_pool_add(struct pool *pool, size_t size) {
  if (!nai_array_room(&pool->data, &pool->capacity, pool->count, size))
    return NULL;
  return (char *)pool->data + size * pool->count++;
}

static void rule_free(struct rule *rule) {
  if (rule)
    nai_buf_free(&rule->links);
  free(rule);
}

void nai_rules_free(struct nai_rule_set *set) {
  if (!set)
    return;
  nai_rule_set_close(set);
  struct pool *pools[] = {&set->parameters, &set->expressions, &set->pieces, &set->variants,
                          &set->evidence,   &set->unless,      &set->facts,  &set->lowerings};
  for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
    free(pools[i]->data);
  for (uint32_t i = 0; i < set->rule_count; i++)
    rule_free(set->rules[i]);
  for (size_t i = 0; i < set->doc_count; i++)
    nai_yaml_free(set->docs[i]);
  free(set->rules);
  free(set->order);
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
      parameter = nai_pool_add(&set->parameters, sizeof *parameter);
    if (!parameter)
      return nai_err_nomem(err);
    *parameter = (struct parameter){.name = n->key, .value = value};
  }
  return rc;
}

int nai_entry_read(const struct nai_yaml_node **id, bool *off, const struct nai_yaml *doc,
                   const struct nai_yaml_node *entry, const char *letters, const char *said, struct nai_err *err) {
  const char *text;
  int rc = nai_yaml_expect(doc, entry, NAI_YAML_MAP, err);
  const struct nai_yaml_node *disabled = rc ? NULL : nai_yaml_get(doc, entry, "disabled");
  *id = rc ? NULL : nai_yaml_get(doc, entry, "id");
  *off = false;
  if (!rc && !*id)
    rc = nai_yaml_error(doc, entry, err, "\"id\" is missing");
  if (!rc)
    rc = nai_yaml_text(&text, doc, *id, err);
  if (!rc && (strspn(text, letters) != strlen(text) || strlen(text) > 64))
    rc = nai_yaml_error(doc, *id, err, "an id is made of %s, 64 characters at most", said);
  if (!rc && disabled)
    rc = nai_yaml_bool(off, doc, disabled, err);
  return rc;
}

/* Files the entry under its id: a new rule, or a replacement for that of an earlier file. */
static int file_rule(struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                     struct nai_err *err) {
  const struct nai_yaml_node *id;
  bool off;
  int rc = nai_entry_read(&id, &off, doc, node, "abcdefghijklmnopqrstuvwxyz0123456789-", "a-z, 0-9 and -", err);
  if (rc)
    return rc;
  struct rule *rule = nai_rule_find(set, id->text, NULL);
  if (rule && rule->doc == doc)
    return nai_yaml_error(doc, id, err, "duplicate id \"%s\" (first on line %u)", id->text, rule->node->line);
  if (rule && off) {
    rule->disabled = true;
    return 0;
  }
  if (!rule && off && node->count == 2)
    return nai_rule_unknown(set, doc, id, id->text, err);
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
      fact = nai_pool_add(&set->facts, sizeof *fact);
    if (!fact)
      return nai_err_nomem(err);
    *fact = (struct fact){.name = n->key, .doc = doc, .node = n};
  }
  return rc;
}

/* `rules_only`: of a file that holds other things as well. */
static int read_doc(struct nai_rule_set *set, const struct nai_yaml *doc, bool rules_only, struct nai_err *err) {
  static const char *const keys[] = {"parameters", "facts", "lower", "rules", NULL};
  const struct nai_yaml_node *root = nai_yaml_root(doc), *part;
  int rc = rules_only ? NAI_OK : nai_yaml_expect_keys(doc, root, keys, err);
  if (!rc && !rules_only && (part = nai_yaml_get(doc, root, "parameters")))
    rc = read_parameters(set, doc, part, err);
  if (!rc && !rules_only && (part = nai_yaml_get(doc, root, "facts")))
    rc = read_facts(set, doc, part, err);
  if (!rc && !rules_only && (part = nai_yaml_get(doc, root, "lower"))) {
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

/* All documents are read before any rule is compiled: parameters and ids may be used before they are defined. */
static int compile(struct nai_rule_set *set, struct nai_err *err) {
  int rc = 0;
  set->rules = calloc(MAX_RULES, sizeof *set->rules);
  if (!set->rules)
    return nai_err_nomem(err);
  for (size_t i = 0; !rc && i < set->doc_count; i++)
    rc = read_doc(set, set->docs[i], set->tables[i], err);
  for (uint32_t i = 0; !rc && i < set->facts.count; i++) {
    struct fact fact = *POOL_AT(set->facts, struct fact, i);
    rc = nai_fact_compile(&fact, set, err);
    *POOL_AT(set->facts, struct fact, i) = fact;
  }
  for (uint32_t i = 0; !rc && i < set->rule_count; i++)
    if (!set->rules[i]->disabled)
      rc = nai_rule_compile(set->rules[i], set, set->rules[i]->doc, set->rules[i]->node, err);
  return rc ? rc : nai_rules_order(set, err);
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
  int rc = nai_rule_set_open(set, schemas, schema_count, err);
  if (!rc)
    rc = nai_yaml_parse(&set->docs[set->doc_count++], file, text, len, err);
  return finish(out, set, rc, err);
}

int nai_rules_load(struct nai_rule_set **out, const char *const *paths, size_t path_count,
                   const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  return nai_rules_load_with(out, paths, path_count, NULL, 0, schemas, schema_count, err);
}

int nai_rules_load_with(struct nai_rule_set **out, const char *const *paths, size_t path_count,
                        const struct nai_rules_extra *extra, size_t extra_count,
                        const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  struct nai_rule_set *set = NULL;
  *out = NULL;
  if (path_count + extra_count >= MAX_DOCS)
    return nai_err_set(err, NAI_EUSAGE, "more than %d rule files", MAX_DOCS - 1);
  set = calloc(1, sizeof *set);
  if (!set)
    return nai_err_nomem(err);
  int rc = nai_rule_set_open(set, schemas, schema_count, err);
  if (!rc)
    rc = nai_yaml_load_builtin(&set->docs[set->doc_count++], default_rules, err);
  set->builtin = set->docs[0];
  for (size_t i = 0; !rc && i < extra_count; i++) {
    set->tables[set->doc_count] = extra[i].table;
    rc = nai_yaml_parse(&set->docs[set->doc_count++], extra[i].file, extra[i].text, extra[i].len, err);
  }
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
