/* One entry of `rules:` from YAML to its compiled form. */
#include "base/text.h"
#include "rules/internal.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_FINDINGS = 32, MAX_FINDINGS = 1000, DEFAULT_EVIDENCE_ROWS = 3 };

static const char *const rule_keys[] = {"id",    "title",    "title_many",     "table",    "where",  "with",
                                        "when",  "unless",   "severity",       "impact",   "price",  "price_low",
                                        "base",  "explains", "part_of",        "lower",    "first",  "place",
                                        "scope", "device",   "evidence",       "why",      "verify", "links",
                                        "limit", "disabled", "recommendation", "share_of", NULL};

/* `severity: medium`, or a map from severity to condition. */
static int severity_compile(struct builder *b, const struct nai_yaml_node *node) {
  static const char *const names[] = {"info", "low", "medium", "high", NULL};
  struct rule *rule = b->rule;
  if (node->kind == NAI_YAML_SCALAR) {
    int severity = nai_severity_from_name(node->text);
    if (severity < 0)
      return nai_yaml_error(b->doc, node, b->err, "expected one of info, low, medium, high");
    rule->has_severity[severity] = true;
    return 0;
  }
  int rc = nai_yaml_expect_keys(b->doc, node, names, b->err);
  if (!rc && !node->count)
    rc = nai_yaml_error(b->doc, node, b->err, "no severities");
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, node); !rc && n; n = nai_yaml_next(b->doc, n)) {
    int severity = nai_severity_from_name(n->key);
    rule->has_severity[severity] = true;
    rc = nai_condition_compile(&rule->severity[severity], &b->names, n, b->err);
    rule->ladder_needs_lookups |= (rule->severity[severity].sources & ~1u) != 0;
  }
  return rc;
}

static int scope_compile(struct builder *b, const struct nai_yaml_node *scope, const struct nai_yaml_node *device) {
  struct rule *rule = b->rule;
  rule->device_column = nai_schema_role(rule->rows.schema, NAI_ROLE_DEVICE);
  rule->pid_column = nai_schema_role(rule->rows.schema, NAI_ROLE_PROCESS);
  if (device) {
    const char *name;
    struct nai_display_column column;
    int rc = nai_yaml_text(&name, b->doc, device, b->err);
    if (!rc)
      rc = nai_names_column(&column, rule->rows.schema, b->doc, device, 0, name, strlen(name), b->err);
    if (rc)
      return rc;
    rule->device_column = column.column;
    if (column.unit != NAI_ID)
      return nai_yaml_error(b->doc, device, b->err, "\"device\" needs a column that holds an id");
  }
  rule->scope = rule->device_column >= 0 ? SCOPE_GPU : rule->pid_column >= 0 ? SCOPE_PROCESS : SCOPE_RUN;
  if (!scope)
    return 0;
  if (scope->kind == NAI_YAML_SCALAR && strcmp(scope->text, "run") == 0)
    rule->scope = SCOPE_RUN;
  else if (scope->kind == NAI_YAML_SCALAR && strcmp(scope->text, "gpu") == 0)
    rule->scope = SCOPE_GPU;
  else if (scope->kind == NAI_YAML_SCALAR && strcmp(scope->text, "process") == 0)
    rule->scope = SCOPE_PROCESS;
  else
    return nai_yaml_error(b->doc, scope, b->err, "expected one of run, gpu, process");
  if (rule->scope == SCOPE_GPU && rule->device_column < 0)
    return nai_yaml_error(b->doc, scope, b->err, "table \"%s\" has no GPU; name the column with \"device\"",
                          rule->rows.schema->name);
  if (rule->scope == SCOPE_PROCESS && rule->pid_column < 0)
    return nai_yaml_error(b->doc, scope, b->err, "table \"%s\" has no process", rule->rows.schema->name);
  return 0;
}

/* The row named by `at`: a lookup of the rule. */
static int anchor_compile(struct evidence_item *out, struct builder *b, const struct nai_yaml_node *at) {
  const char *name, *candidates[MAX_LOOKUPS];
  int rc = nai_yaml_text(&name, b->doc, at, b->err);
  if (rc)
    return rc;
  for (int i = 0; i < b->rule->lookup_count; i++) {
    candidates[i] = b->rule->lookups[i].name;
    if (strcmp(candidates[i], name) == 0) {
      out->source = b->rule->lookups[i].rows.source;
      return 0;
    }
  }
  const char *guess = nai_text_suggest(name, candidates, (size_t)b->rule->lookup_count);
  return guess ? nai_yaml_error(b->doc, at, b->err, "unknown row \"%s\"; did you mean \"%s\"?", name, guess)
               : nai_yaml_error(b->doc, at, b->err, "unknown row \"%s\": \"with\" defines none of that name", name);
}

static int evidence_item_compile(struct evidence_item *out, struct builder *b, const struct nai_yaml_node *node) {
  static const char *const keys[] = {"text", "when", "at", "for", NULL};
  static const char *const for_keys[] = {"table", "where", "order", "limit", NULL};
  *out = (struct evidence_item){0};
  if (node->kind == NAI_YAML_SCALAR)
    return nai_variants_compile(&out->text, &b->names, node, b->err);
  const struct nai_yaml_node *text = NULL, *when = NULL, *at = NULL, *each = NULL;
  int rc = nai_yaml_expect_keys(b->doc, node, keys, b->err);
  if (!rc)
    rc = nai_builder_require(&text, b, node, "text");
  if (rc)
    return rc;
  when = nai_builder_get(b, node, "when");
  at = nai_builder_get(b, node, "at");
  each = nai_builder_get(b, node, "for");
  if (at && each)
    return nai_yaml_error_key(b->doc, at, b->err, "\"at\" and \"for\" exclude each other");
  if (when)
    rc = nai_condition_compile(&out->when, &b->names, when, b->err);
  if (!rc && at)
    rc = anchor_compile(out, b, at);
  int sources = b->names.count, outer = b->names.current;
  if (!rc && each) {
    rc = nai_yaml_expect_keys(b->doc, each, for_keys, b->err);
    if (!rc)
      rc = nai_selection_compile(&out->rows, b, each, "table", NULL, DEFAULT_EVIDENCE_ROWS, MAX_EVIDENCE_ROWS);
    out->each = true;
    out->source = b->names.current = out->rows.source;
  }
  if (!rc)
    rc = nai_variants_compile(&out->text, &b->names, text, b->err);
  b->names.count = sources;
  b->names.current = outer;
  return rc;
}

static int evidence_compile(struct builder *b, const struct nai_yaml_node *node) {
  struct nai_rule_set *set = b->names.set;
  int rc = nai_yaml_expect(b->doc, node, NAI_YAML_LIST, b->err);
  b->rule->evidence.first = set->evidence.count;
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, node); !rc && n; n = nai_yaml_next(b->doc, n)) {
    struct evidence_item item;
    rc = evidence_item_compile(&item, b, n);
    if (rc)
      return rc;
    struct evidence_item *slot = nai_pool_add(&set->evidence, sizeof *slot);
    if (!slot)
      return nai_err_nomem(b->err);
    *slot = item;
    b->rule->evidence.count++;
  }
  return rc;
}

static int links_compile(struct builder *b, const struct nai_yaml_node *node) {
  const struct nai_yaml_node *n = node->kind == NAI_YAML_LIST ? nai_yaml_first(b->doc, node) : node;
  for (; n; n = node->kind == NAI_YAML_LIST ? nai_yaml_next(b->doc, n) : NULL) {
    const char *link;
    int rc = nai_yaml_text(&link, b->doc, n, b->err);
    if (rc)
      return rc;
    if (strpbrk(link, " \n\t"))
      return nai_yaml_error(b->doc, n, b->err, "a link holds no spaces");
    nai_buf_printf(&b->rule->links, "%s%s", b->rule->links.len ? " " : "", link);
  }
  return nai_buf_check(&b->rule->links, b->err);
}

/* Texts, after everything they can refer to. */
static int texts_compile(struct builder *b, const struct nai_yaml_node *node) {
  const struct {
    const char *key;
    struct span *out;
    bool required;
  } texts[] = {{"title", &b->rule->title, true},
               {"title_many", &b->rule->title_many, false},
               {"place", &b->rule->place, false},
               {"why", &b->rule->why, true},
               {"recommendation", &b->rule->recommendation, true},
               {"verify", &b->rule->verify, false}};
  int rc = 0;
  for (size_t i = 0; !rc && i < sizeof texts / sizeof *texts; i++) {
    const struct nai_yaml_node *text = nai_builder_get(b, node, texts[i].key);
    if (text)
      rc = nai_variants_compile(texts[i].out, &b->names, text, b->err);
    else if (texts[i].required)
      rc = nai_builder_require(&text, b, node, texts[i].key);
  }
  return rc;
}

int nai_rule_compile(struct rule *rule, struct nai_rule_set *set, const struct nai_yaml *doc,
                     const struct nai_yaml_node *node, struct nai_err *err) {
  struct builder b = {.rule = rule, .doc = doc, .names = {.set = set, .doc = doc}, .err = err};
  const struct nai_yaml_node *severity, *part;
  int rc = nai_yaml_expect_keys(doc, node, rule_keys, err);
  if (!rc)
    rc = nai_selection_compile(&rule->rows, &b, node, "table", "this", DEFAULT_FINDINGS, MAX_FINDINGS);
  if (!rc && (part = nai_builder_get(&b, node, "where")))
    rc = nai_condition_compile(&rule->where, &b.names, part, err);
  if (!rc && (part = nai_builder_get(&b, node, "with")))
    rc = nai_lookups_compile(&b, part);
  if (!rc && (part = nai_builder_get(&b, node, "when")))
    rc = nai_condition_compile(&rule->when, &b.names, part, err);
  if (!rc)
    rc = nai_price_compile(&b, node);
  b.names.priced = rule->price.number > 0;
  severity = nai_builder_get(&b, node, "severity");
  rule->has_ladder = !severity && nai_builder_get(&b, node, "price");
  if (!rc && !severity && !rule->has_ladder)
    rc = nai_yaml_error(doc, node, err, "\"severity\" or \"price\" is missing");
  if (!rc && severity)
    rc = severity_compile(&b, severity);
  if (!rc)
    rc = nai_lower_compile(&b, node);
  if (!rc && (part = nai_builder_get(&b, node, "first")))
    rc = nai_yaml_bool(&rule->first, doc, part, err);
  if (!rc)
    rc = scope_compile(&b, nai_builder_get(&b, node, "scope"), nai_builder_get(&b, node, "device"));
  if (!rc && (part = nai_builder_get(&b, node, "evidence")))
    rc = evidence_compile(&b, part);
  if (!rc)
    rc = texts_compile(&b, node);
  if (!rc && (part = nai_builder_get(&b, node, "links")))
    rc = links_compile(&b, part);
  return rc;
}
