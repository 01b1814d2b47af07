/* rules/intents.yaml and files of the user's: what can be asked. */
#include "features/ask/internal.h"

#include "base/array.h"

const char *nai_intent_text(const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, map, key);
  return node ? node->text : NULL;
}

const struct nai_yaml_node *nai_intent_items(const struct nai_yaml *doc, const struct nai_yaml_node *map,
                                             const char *key) {
  const struct nai_yaml_node *list = nai_yaml_get(doc, map, key);
  return list ? nai_yaml_first(doc, list) : NULL;
}

/* A member that is text, or, with `many`, a list of texts. */
static int check_text(const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key, bool many,
                      bool required, struct nai_err *err) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, map, key);
  const char *text;
  if (!node)
    return required ? nai_yaml_error(doc, map, err, "\"%s\" is missing", key) : NAI_OK;
  if (!many)
    return nai_yaml_text(&text, doc, node, err);
  NAI_TRY(nai_yaml_expect(doc, node, NAI_YAML_LIST, err));
  for (node = nai_yaml_first(doc, node); node; node = nai_yaml_next(doc, node))
    NAI_TRY(nai_yaml_text(&text, doc, node, err));
  return NAI_OK;
}

struct member {
  const char *key;
  bool many, required;
};

static int check_members(const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *const *keys,
                         const struct member *members, struct nai_err *err) {
  NAI_TRY(nai_yaml_expect_keys(doc, map, keys, err));
  for (; members->key; members++)
    NAI_TRY(check_text(doc, map, members->key, members->many, members->required, err));
  return NAI_OK;
}

static bool is_name(const char *text) {
  return *text && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(text);
}

/* Names for expressions or statements of SQL. */
static int check_sql(const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key,
                     struct nai_err *err) {
  const struct nai_yaml_node *node;
  NAI_TRY(nai_yaml_items(&node, doc, map, key, NAI_YAML_MAP, err));
  for (; node; node = nai_yaml_next(doc, node)) {
    NAI_TRY(nai_yaml_expect(doc, node, NAI_YAML_SCALAR, err));
    if (!is_name(node->key))
      return nai_yaml_error_key(doc, node, err, "a name of a-z, 0-9 and _ is expected");
  }
  return NAI_OK;
}

static int check_fact(const struct nai_yaml *doc, const struct nai_yaml_node *fact, struct nai_err *err) {
  static const char *const keys[] = {"table",  "where", "order", "limit", "with", "text",
                                     "answer", "none",  "needs", "time",  NULL};
  static const struct member members[] = {{"table", false, true},  {"text", false, true},   {"where", false, false},
                                          {"order", false, false}, {"limit", false, false}, {"answer", false, false},
                                          {"none", false, false},  {"needs", true, false},  {"time", true, false},
                                          {NULL, false, false}};
  int64_t limit;
  NAI_TRY(check_members(doc, fact, keys, members, err));
  const struct nai_yaml_node *node = nai_yaml_get(doc, fact, "table");
  if (!is_name(node->text))
    return nai_yaml_error(doc, node, err, "\"%.60s\" is no table", node->text);
  if ((node = nai_yaml_get(doc, fact, "limit")))
    NAI_TRY(nai_yaml_int(&limit, doc, node, 1, NAI_QUESTION_MAX_FACTS, err));
  if ((node = nai_yaml_get(doc, fact, "time")) && node->count != 2)
    return nai_yaml_error(doc, node, err, "two columns are expected, the start and the end");
  return check_sql(doc, fact, "with", err);
}

/* Ids of rules; they are put into statements. */
static int check_rules(const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key,
                       struct nai_err *err) {
  NAI_TRY(check_text(doc, map, key, true, false, err));
  for (const struct nai_yaml_node *rule = nai_intent_items(doc, map, key); rule; rule = nai_yaml_next(doc, rule))
    if (strspn(rule->text, "abcdefghijklmnopqrstuvwxyz0123456789-*") != strlen(rule->text))
      return nai_yaml_error(doc, rule, err, "\"%.60s\": expected the id of a rule, with * for any ending", rule->text);
  return NAI_OK;
}

static int check_intent(const struct nai_yaml *doc, const struct nai_yaml_node *node, struct nai_err *err) {
  static const char *const keys[] = {"intent", "about", "words",  "weak",  "takes", "rules",  "needs", "facts",
                                     "say",    "next",  "cannot", "names", "when",  "tables", NULL};
  static const struct member members[] = {{"intent", false, true}, {"about", false, true},  {"words", true, false},
                                          {"weak", true, false},   {"takes", true, false},  {"rules", true, false},
                                          {"needs", true, false},  {"say", true, false},    {"next", true, false},
                                          {"cannot", true, false}, {"names", false, false}, {"when", false, false},
                                          {NULL, false, false}};
  NAI_TRY(check_members(doc, node, keys, members, err));
  NAI_TRY(check_rules(doc, node, "rules", err));
  const struct nai_yaml_node *tables = nai_yaml_get(doc, node, "tables"), *fact;
  if (tables && tables->count > NAI_QUERY_MAX_TABLES)
    return nai_yaml_error(doc, tables, err, "more than %d tables", NAI_QUERY_MAX_TABLES);
  NAI_TRY(nai_yaml_items(&fact, doc, node, "facts", NAI_YAML_LIST, err));
  for (; fact; fact = nai_yaml_next(doc, fact))
    NAI_TRY(check_fact(doc, fact, err));
  return check_sql(doc, node, "tables", err);
}

const struct nai_intent *nai_intents_find(const struct nai_intents *intents, const char *name) {
  for (size_t i = 0; i < intents->count; i++)
    if (strcmp(intents->list[i].name, name) == 0)
      return &intents->list[i];
  return NULL;
}

static int add_intent(struct nai_intents *intents, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                      struct nai_err *err) {
  NAI_TRY(check_intent(doc, node, err));
  NAI_TRY(
      nai_memory_check(nai_array_room(&intents->list, &intents->capacity, intents->count, sizeof *intents->list), err));
  const char *name = nai_intent_text(doc, node, "intent");
  const struct nai_intent *before = nai_intents_find(intents, name);
  if (before && before->doc == doc)
    return nai_yaml_error(doc, nai_yaml_get(doc, node, "intent"), err, "\"%.60s\" is there already", name);
  intents->list[intents->count++] =
      (struct nai_intent){.doc = doc, .node = node, .name = name, .replaced = before != NULL};
  return NAI_OK;
}

/* Values and their words. */
static int check_choice(const struct nai_yaml *doc, const struct nai_yaml_node *choice, struct nai_err *err) {
  if (!is_name(choice->key))
    return nai_yaml_error_key(doc, choice, err, "a name of a-z, 0-9 and _ is expected");
  NAI_TRY(nai_yaml_expect(doc, choice, NAI_YAML_MAP, err));
  for (const struct nai_yaml_node *value = nai_yaml_first(doc, choice); value; value = nai_yaml_next(doc, value))
    NAI_TRY(check_text(doc, choice, value->key, true, true, err));
  return NAI_OK;
}

static int read_doc(struct nai_intents *intents, const struct nai_yaml *doc, struct nai_err *err) {
  static const char *const keys[] = {"intents",    "record", "missing", "caveats",       "ignore",  "examples",
                                     "qualifiers", "terms",  "judged",  "abbreviations", "choices", NULL};
  static const struct member members[] = {{"caveats", true, false},
                                          {"ignore", true, false},
                                          {"examples", true, false},
                                          {"qualifiers", true, false},
                                          {NULL, false, false}};
  const struct nai_yaml_node *root = nai_yaml_root(doc), *item;
  NAI_TRY(check_members(doc, root, keys, members, err));
  NAI_TRY(nai_yaml_items(&item, doc, root, "record", NAI_YAML_MAP, err));
  NAI_TRY(nai_yaml_items(&item, doc, root, "missing", NAI_YAML_MAP, err));
  for (; item; item = nai_yaml_next(doc, item))
    NAI_TRY(check_rules(doc, nai_yaml_get(doc, root, "missing"), item->key, err));
  NAI_TRY(nai_yaml_items(&item, doc, root, "terms", NAI_YAML_MAP, err));
  for (; item; item = nai_yaml_next(doc, item))
    NAI_TRY(check_text(doc, nai_yaml_get(doc, root, "terms"), item->key, true, true, err));
  NAI_TRY(nai_yaml_items(&item, doc, root, "judged", NAI_YAML_MAP, err));
  for (; item; item = nai_yaml_next(doc, item))
    NAI_TRY(check_text(doc, nai_yaml_get(doc, root, "judged"), item->key, true, true, err));
  NAI_TRY(nai_yaml_items(&item, doc, root, "abbreviations", NAI_YAML_MAP, err));
  for (; item; item = nai_yaml_next(doc, item))
    NAI_TRY(nai_yaml_expect(doc, item, NAI_YAML_SCALAR, err));
  NAI_TRY(nai_yaml_items(&item, doc, root, "choices", NAI_YAML_MAP, err));
  for (; item; item = nai_yaml_next(doc, item), intents->choice_count++)
    NAI_TRY(check_choice(doc, item, err));
  NAI_TRY(nai_yaml_items(&item, doc, root, "intents", NAI_YAML_LIST, err));
  for (; item; item = nai_yaml_next(doc, item))
    NAI_TRY(add_intent(intents, doc, item, err));
  return NAI_OK;
}

int nai_intents_load(struct nai_intents **out, const char *const *paths, size_t count, struct nai_err *err) {
  NAI_OWNED(nai_intents) *intents = calloc(1, sizeof *intents);
  *out = NULL;
  NAI_TRY(nai_memory_check(intents, err));
  if (count > NAI_INTENTS_MAX_FILES - 1)
    return nai_err_set(err, NAI_EUSAGE, "more than %d files of intents", NAI_INTENTS_MAX_FILES - 1);
  for (size_t i = 0; i <= count; i++) {
    struct nai_yaml **doc = &intents->docs[i];
    NAI_TRY(i < count ? nai_yaml_load(doc, paths[i], err) : nai_yaml_load_builtin(doc, "rules/intents.yaml", err));
    intents->doc_count++;
    NAI_TRY(read_doc(intents, *doc, err));
  }
  if (intents->choice_count > NAI_QUESTION_MAX_CHOICES)
    return nai_err_set(err, NAI_EUSAGE, "more than %d choices in all files of intents together",
                       NAI_QUESTION_MAX_CHOICES);
  *out = intents;
  intents = NULL;
  return NAI_OK;
}

void nai_intents_free(struct nai_intents *intents) {
  for (size_t i = 0; intents && i < intents->doc_count; i++)
    nai_yaml_free(intents->docs[i]);
  if (intents)
    free(intents->list);
  free(intents);
}

const char *nai_intents_recording(const struct nai_intents *intents, const char *capability) {
  for (size_t i = 0; i < intents->doc_count; i++) {
    const struct nai_yaml *doc = intents->docs[i];
    const struct nai_yaml_node *map = nai_yaml_get(doc, nai_yaml_root(doc), "record");
    const char *text = map ? nai_intent_text(doc, map, capability) : NULL;
    if (text)
      return text;
  }
  return NULL;
}
