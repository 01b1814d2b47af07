/* What a rule says about its price: price, price_low, base, explains, lower. */
#include "base/text.h"
#include "rules/internal.h"

#include <string.h>

static int explains_compile(struct builder *b, const struct nai_yaml_node *node) {
  static const char *const names[] = {"idle", "exposed_comm", "exposed_copy", "compute"};
  enum { NAMES = sizeof names / sizeof *names };
  const char *name;
  int rc = nai_yaml_text(&name, b->doc, node, b->err);
  if (rc)
    return rc;
  for (int i = 0; i < NAMES; i++) {
    if (strcmp(names[i], name) == 0) {
      b->rule->explains = (enum loss)(LOSS_IDLE + i);
      return 0;
    }
  }
  const char *guess = nai_text_suggest(name, names, NAMES);
  return guess ? nai_yaml_error(b->doc, node, b->err, "unknown loss \"%s\"; did you mean \"%s\"?", name, guess)
               : nai_yaml_error(b->doc, node, b->err, "expected one of idle, exposed_comm, exposed_copy, compute");
}

/* `impact` is a price that decides no severity; `severity` has to. */
int nai_price_compile(struct builder *b, const struct nai_yaml_node *node) {
  struct rule *rule = b->rule;
  const struct nai_yaml_node *impact = nai_builder_get(b, node, "impact"), *price = nai_builder_get(b, node, "price");
  const struct nai_yaml_node *explains = nai_builder_get(b, node, "explains"),
                             *low = nai_builder_get(b, node, "price_low"), *base = nai_builder_get(b, node, "base"),
                             *share_of = nai_builder_get(b, node, "share_of");
  if (impact && price)
    return nai_yaml_error_key(b->doc, impact, b->err, "\"impact\" and \"price\" exclude each other");
  const struct nai_yaml_node *orphan = explains ? explains : low ? low : base;
  if (orphan && !price)
    return nai_yaml_error_key(b->doc, orphan, b->err, "\"%s\" needs a \"price\"", orphan->key);
  if (share_of && !base)
    return nai_yaml_error_key(b->doc, share_of, b->err, "\"share_of\" needs a \"base\"");
  int rc = share_of ? nai_yaml_text(&rule->share_of, b->doc, share_of, b->err) : 0;
  if (!rc && (price || impact))
    rc = nai_duration_compile(&rule->price, &rule->price_ns, &b->names, price ? price : impact, b->err);
  if (!rc && low)
    rc = nai_duration_compile(&rule->price_low, &rule->price_low_ns, &b->names, low, b->err);
  if (!rc && base)
    rc = nai_duration_compile(&rule->base, &rule->base_ns, &b->names, base, b->err);
  if (!rc && explains)
    rc = explains_compile(b, explains);
  return rc;
}

/* One item: {when: condition, to: severity, reason: text}. */
static int lowering_compile(struct lowering *out, struct builder *b, const struct nai_yaml_node *node) {
  static const char *const keys[] = {"when", "to", "reason", NULL};
  const struct nai_yaml_node *reason = NULL, *when, *to;
  *out = (struct lowering){.to = -1};
  int rc = nai_yaml_expect_keys(b->doc, node, keys, b->err);
  if (!rc)
    rc = nai_builder_require(&reason, b, node, "reason");
  if (!rc && (when = nai_builder_get(b, node, "when")))
    rc = nai_condition_compile(&out->when, &b->names, when, b->err);
  if (!rc && (to = nai_builder_get(b, node, "to"))) {
    out->to = to->kind == NAI_YAML_SCALAR ? nai_severity_from_name(to->text) : -1;
    if (out->to < 0)
      rc = nai_yaml_error(b->doc, to, b->err, "expected one of info, low, medium, high");
  }
  return rc ? rc : nai_variants_compile(&out->reason, &b->names, reason, b->err);
}

static int add_lowering(struct builder *b, const struct nai_yaml_node *node) {
  struct lowering lowering;
  int rc = lowering_compile(&lowering, b, node);
  if (rc)
    return rc;
  struct lowering *slot = nai_pool_add(&b->names.set->lowerings, sizeof *slot);
  if (!slot)
    return nai_err_nomem(b->err);
  *slot = lowering;
  b->rule->lowerings.count++;
  return 0;
}

/* Those of the rule files' own `lower`, compiled for this rule. */
static int add_default_lowerings(struct builder *b) {
  const struct nai_rule_set *set = b->names.set;
  const struct nai_yaml *doc = b->doc;
  if (!set->lower)
    return 0;
  b->doc = b->names.doc = set->lower_doc;
  int rc = nai_yaml_expect(b->doc, set->lower, NAI_YAML_LIST, b->err);
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, set->lower); !rc && n; n = nai_yaml_next(b->doc, n))
    rc = add_lowering(b, n);
  b->doc = b->names.doc = doc;
  return rc;
}

int nai_lower_compile(struct builder *b, const struct nai_yaml_node *node) {
  const struct nai_yaml_node *lower = nai_builder_get(b, node, "lower");
  b->rule->lowerings.first = b->names.set->lowerings.count;
  if (!lower)
    return nai_builder_get(b, node, "price") ? add_default_lowerings(b) : 0;
  int rc = nai_yaml_expect(b->doc, lower, NAI_YAML_LIST, b->err);
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, lower); !rc && n; n = nai_yaml_next(b->doc, n)) {
    bool standard = n->kind == NAI_YAML_SCALAR && strcmp(n->text, "default") == 0;
    rc = standard ? add_default_lowerings(b) : add_lowering(b, n);
  }
  return rc;
}
