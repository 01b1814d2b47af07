/* Rule files to a rule set: merging of files, parameters, facts. */
#include "base/hash.h"
#include "rules/internal.h"

/* --- a set ----------------------------------------------------------------------------------------- */

int nai_rule_set_new(struct nai_rule_set **out, const struct nai_schema *const *schemas, size_t count,
                     struct nai_err *err) {
  struct nai_rule_set *set = *out = calloc(1, sizeof *set);
  NAI_TRY(nai_memory_check(set, err));
  set->arena = (struct nai_arena)NAI_ARENA(NULL);
  set->schemas = schemas;
  set->schema_count = count;
  return nai_sql_new(&set->sql, schemas, count, err);
}

void nai_rules_free(struct nai_rule_set *set) {
  if (!set)
    return;
  for (struct expression *e = set->expressions; e; e = e->next)
    sqlite3_finalize(e->statement);
  nai_sql_free(set->sql);
  for (size_t i = 0; i < set->doc_count; i++)
    nai_yaml_free(set->docs[i]);
  nai_arena_free(&set->arena);
  free(set);
}

int nai_rule_set_parse(struct nai_rule_set *set, const char *file, const char *text, size_t len, struct nai_err *err) {
  return nai_yaml_parse(&set->docs[set->doc_count++], file, text, len, err);
}

int nai_rule_set_read_builtin(struct nai_rule_set *set, const char *path, struct nai_err *err) {
  NAI_TRY(nai_yaml_load_builtin(&set->docs[set->doc_count++], path, err));
  set->builtin = set->docs[0];
  return NAI_OK;
}

int nai_rule_set_read(struct nai_rule_set *set, const char *const *paths, size_t count, struct nai_err *err) {
  for (size_t i = 0; i < count; i++)
    NAI_TRY(nai_yaml_load(&set->docs[set->doc_count++], paths[i], err));
  return NAI_OK;
}

uint64_t nai_rule_set_texts_hash(const struct nai_rule_set *set) {
  uint64_t hash = 0;
  for (size_t i = 0; i < set->doc_count; i++)
    hash = nai_hash_int(hash, (int64_t)set->docs[i]->hash);
  return hash;
}

/* --- merging --------------------------------------------------------------------------------------- */

static int read_parameters(struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                           struct nai_err *err) {
  NAI_TRY(nai_yaml_expect(doc, map, NAI_YAML_MAP, err));
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, map); n; n = nai_yaml_next(doc, n)) {
    double value;
    NAI_TRY(nai_yaml_number(&value, doc, n, err));
    struct parameter *parameter = nai_names_parameter(set, n->key);
    if (!parameter) {
      if (set->parameters.count >= MAX_RULES)
        return nai_yaml_error_key(doc, n, err, "more than %d parameters", MAX_RULES);
      NAI_TRY(LIST_ROOM(set->parameters, &set->arena, err));
      parameter = &set->parameters.at[set->parameters.count++];
    }
    *parameter = (struct parameter){.name = n->key, .value = value};
  }
  return NAI_OK;
}

static struct fact *find_fact(const struct nai_rule_set *set, const char *name) {
  for (uint32_t i = 0; i < set->facts.count; i++)
    if (strcmp(set->facts.at[i].name, name) == 0)
      return &set->facts.at[i];
  return NULL;
}

/* A later file's fact replaces one of the same name. */
static int read_facts(struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                      struct nai_err *err) {
  NAI_TRY(nai_yaml_expect(doc, map, NAI_YAML_MAP, err));
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, map); n; n = nai_yaml_next(doc, n)) {
    struct fact *fact = find_fact(set, n->key);
    if (strspn(n->key, "abcdefghijklmnopqrstuvwxyz_0123456789") != strlen(n->key))
      return nai_yaml_error_key(doc, n, err, "\"%s\" is no name: use a-z, 0-9 and _", n->key);
    if (!fact) {
      if (set->facts.count >= MAX_RULES)
        return nai_yaml_error_key(doc, n, err, "more than %d facts", MAX_RULES);
      NAI_TRY(LIST_ROOM(set->facts, &set->arena, err));
      fact = &set->facts.at[set->facts.count++];
    }
    *fact = (struct fact){.name = n->key, .doc = doc, .node = n};
  }
  return NAI_OK;
}

int nai_entry_read(const struct nai_yaml_node **id, bool *off, const struct nai_yaml *doc,
                   const struct nai_yaml_node *entry, const char *letters, const char *said, struct nai_err *err) {
  const char *text;
  NAI_TRY(nai_yaml_expect(doc, entry, NAI_YAML_MAP, err));
  NAI_TRY(nai_yaml_require(id, doc, entry, "id", err));
  NAI_TRY(nai_yaml_text(&text, doc, *id, err));
  if (strspn(text, letters) != strlen(text) || strlen(text) > 64)
    return nai_yaml_error(doc, *id, err, "an id is made of %s, 64 characters at most", said);
  const struct nai_yaml_node *disabled = nai_yaml_get(doc, entry, "disabled");
  *off = false;
  return disabled ? nai_yaml_bool(off, doc, disabled, err) : NAI_OK;
}

static int add_rule(struct rule **out, struct nai_rule_set *set, const struct nai_yaml *doc,
                    const struct nai_yaml_node *node, struct nai_err *err) {
  struct rules *rules = &set->rules;
  if (rules->count == MAX_RULES)
    return nai_yaml_error(doc, node, err, "more than %d rules", MAX_RULES);
  NAI_TRY(LIST_ROOM(*rules, &set->arena, err));
  NAI_TRY(NAI_NEW(*out, &set->arena, 1, err));
  (*out)->number = rules->count;
  rules->at[rules->count++] = *out;
  return NAI_OK;
}

/* Files the entry under its id: a new rule, or a replacement for that of an earlier file. */
static int file_rule(struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                     struct nai_err *err) {
  const struct nai_yaml_node *id;
  bool off = false;
  NAI_TRY(nai_entry_read(&id, &off, doc, node, "abcdefghijklmnopqrstuvwxyz0123456789-", "a-z, 0-9 and -", err));
  struct rule *rule = nai_names_rule(set, id->text);
  if (rule && rule->doc == doc)
    return nai_yaml_error(doc, id, err, "duplicate id \"%s\" (first on line %u)", id->text, rule->node->line);
  if (rule && off) {
    rule->disabled = true;
    return NAI_OK;
  }
  if (!rule && off && node->count == 2)
    return nai_names_unknown_rule(set, doc, id, err);
  if (!rule)
    NAI_TRY(add_rule(&rule, set, doc, node, err));
  rule->id = id->text;
  rule->doc = doc;
  rule->node = node;
  rule->disabled = off;
  return NAI_OK;
}

/* `rules_only`: of a file that holds other things as well. */
static int read_doc(struct nai_rule_set *set, const struct nai_yaml *doc, bool rules_only, struct nai_err *err) {
  static const char *const keys[] = {"parameters", "facts", "lower", "rules", NULL};
  const struct nai_yaml_node *root = nai_yaml_root(doc), *part;
  if (!rules_only) {
    NAI_TRY(nai_yaml_expect_keys(doc, root, keys, err));
    if ((part = nai_yaml_get(doc, root, "parameters")))
      NAI_TRY(read_parameters(set, doc, part, err));
    if ((part = nai_yaml_get(doc, root, "facts")))
      NAI_TRY(read_facts(set, doc, part, err));
    if ((part = nai_yaml_get(doc, root, "lower"))) {
      set->lower_doc = doc;
      set->lower = part;
    }
  }
  if (!(part = nai_yaml_get(doc, root, "rules")))
    return NAI_OK;
  NAI_TRY(nai_yaml_expect(doc, part, NAI_YAML_LIST, err));
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, part); n; n = nai_yaml_next(doc, n))
    NAI_TRY(file_rule(set, doc, n, err));
  return NAI_OK;
}

/* All documents are read before any rule is compiled: parameters and ids may be used before they are defined. */
static int compile(struct nai_rule_set *set, struct nai_err *err) {
  for (size_t i = 0; i < set->doc_count; i++)
    NAI_TRY(read_doc(set, set->docs[i], set->tables[i], err));
  for (uint32_t i = 0; i < set->facts.count; i++)
    NAI_TRY(nai_fact_compile(&set->facts.at[i], set, err));
  for (uint32_t i = 0; i < set->rules.count; i++)
    if (!set->rules.at[i]->disabled)
      NAI_TRY(nai_rule_compile(set->rules.at[i], set, err));
  return nai_rules_order(set, err);
}

/* --- files ----------------------------------------------------------------------------------------- */

int nai_rules_parse(struct nai_rule_set **out, const char *file, const char *text, size_t len,
                    const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  NAI_OWNED(nai_rule_set) *set = NULL;
  *out = NULL;
  NAI_TRY(nai_rule_set_new(&set, schemas, schema_count, err));
  NAI_TRY(nai_rule_set_parse(set, file, text, len, err));
  NAI_TRY(compile(set, err));
  return NAI_GIVE(out, set);
}

int nai_rules_load(struct nai_rule_set **out, const char *const *paths, size_t path_count,
                   const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  return nai_rules_load_with(out, paths, path_count, NULL, 0, schemas, schema_count, err);
}

int nai_rules_load_with(struct nai_rule_set **out, const char *const *paths, size_t path_count,
                        const struct nai_rules_extra *extra, size_t extra_count,
                        const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  NAI_OWNED(nai_rule_set) *set = NULL;
  *out = NULL;
  if (path_count + extra_count >= MAX_DOCS)
    return nai_err_set(err, NAI_EUSAGE, "more than %d rule files", MAX_DOCS - 1);
  NAI_TRY(nai_rule_set_new(&set, schemas, schema_count, err));
  NAI_TRY(nai_rule_set_read_builtin(set, "rules/default.yaml", err));
  for (size_t i = 0; i < extra_count; i++) {
    set->tables[set->doc_count] = extra[i].table;
    NAI_TRY(nai_rule_set_parse(set, extra[i].file, extra[i].text, extra[i].len, err));
  }
  NAI_TRY(nai_rule_set_read(set, paths, path_count, err));
  NAI_TRY(compile(set, err));
  return NAI_GIVE(out, set);
}

int nai_rules_set_parameter(struct nai_rule_set *set, const char *name, double value, struct nai_err *err) {
  struct parameter *parameter = nai_names_parameter(set, name);
  if (!parameter)
    return nai_err_set(err, NAI_EUSAGE, "no rule file declares a parameter \"%s\"", name);
  if (!isfinite(value))
    return nai_err_set(err, NAI_EUSAGE, "parameter \"%s\" needs a finite number", name);
  parameter->value = value;
  return NAI_OK;
}

uint64_t nai_rules_hash(const struct nai_rule_set *set) {
  uint64_t hash = nai_rule_set_texts_hash(set);
  for (uint32_t i = 0; i < set->parameters.count; i++)
    hash = nai_hash_bytes(hash, &set->parameters.at[i].value, sizeof(double));
  return hash;
}

size_t nai_rules_count(const struct nai_rule_set *set) {
  size_t count = 0;
  for (uint32_t i = 0; i < set->rules.count; i++)
    count += !set->rules.at[i]->disabled;
  return count;
}
