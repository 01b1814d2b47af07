#include "features/compare/budgets.h"

#include "base/text.h"
#include "features/compare/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void nai_budgets_default(struct nai_budgets *out) {
  *out = (struct nai_budgets){.minimum = NAI_MIN_CAPTURES,
                              .unreplicated = NAI_POLICY_FAIL,
                              .suspect = NAI_POLICY_WARN,
                              .error = NAI_POLICY_FAIL,
                              .improved = NAI_POLICY_PASS};
}

void nai_budgets_free(struct nai_budgets *budgets) {
  free(budgets->list);
  nai_yaml_free(budgets->doc);
  *budgets = (struct nai_budgets){0};
}

/* `fail`, `warn`, and one of two words for the third. */
static int read_policy(enum nai_policy *out, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                       const char *third, struct nai_err *err) {
  const char *text;
  int rc = nai_yaml_text(&text, doc, node, err);
  if (rc)
    return rc;
  if (strcmp(text, "fail") == 0)
    *out = NAI_POLICY_FAIL;
  else if (strcmp(text, "warn") == 0)
    *out = NAI_POLICY_WARN;
  else if (strcmp(text, third) == 0)
    *out = NAI_POLICY_PASS;
  else
    return nai_yaml_error(doc, node, err, "\"%s\": expected one of fail, warn, %s", node->key, third);
  return NAI_OK;
}

static int read_captures(struct nai_budgets *b, const struct nai_yaml_node *map, struct nai_err *err) {
  static const char *const keys[] = {"minimum", "unreplicated", NULL};
  const struct nai_yaml_node *node;
  int64_t minimum = NAI_MIN_CAPTURES;
  int rc = nai_yaml_expect_keys(b->doc, map, keys, err);
  if (!rc && (node = nai_yaml_get(b->doc, map, "minimum")))
    rc = nai_yaml_int(&minimum, b->doc, node, NAI_MIN_CAPTURES, 100, err);
  if (!rc && (node = nai_yaml_get(b->doc, map, "unreplicated")))
    rc = read_policy(&b->unreplicated, b->doc, node, "ignore", err);
  b->minimum = (uint32_t)minimum;
  return rc;
}

static int read_defaults(struct nai_budgets *b, const struct nai_yaml_node *map, struct nai_err *err) {
  static const char *const keys[] = {"confidence", NULL};
  const struct nai_yaml_node *node;
  double confidence = 0.95;
  int rc = nai_yaml_expect_keys(b->doc, map, keys, err);
  if (!rc && (node = nai_yaml_get(b->doc, map, "confidence"))) {
    rc = nai_yaml_number(&confidence, b->doc, node, err);
    if (!rc && fabs(confidence - 0.95) > 1e-9)
      rc = nai_yaml_error(b->doc, node, err, "the only confidence there is is 0.95");
  }
  return rc;
}

static int read_on(struct nai_budgets *b, const struct nai_yaml_node *map, struct nai_err *err) {
  static const char *const keys[] = {"suspect", "error", "improved", NULL};
  const struct nai_yaml_node *node;
  int rc = nai_yaml_expect_keys(b->doc, map, keys, err);
  if (!rc && (node = nai_yaml_get(b->doc, map, "suspect")))
    rc = read_policy(&b->suspect, b->doc, node, "pass", err);
  if (!rc && (node = nai_yaml_get(b->doc, map, "error")))
    rc = read_policy(&b->error, b->doc, node, "pass", err);
  if (!rc && (node = nai_yaml_get(b->doc, map, "improved")))
    rc = read_policy(&b->improved, b->doc, node, "pass", err);
  return rc;
}

static int read_relative(struct nai_budget *m, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                         struct nai_err *err) {
  struct nai_quantity q;
  int rc = nai_quantity_read(&q, doc, node, err);
  if (!rc && q.kind != NAI_QUANTITY_PERCENT)
    rc = nai_yaml_error(doc, node, err, "\"relative\" needs a percentage, for example 3%%");
  m->relative_pct = q.number;
  return rc;
}

static int read_absolute(struct nai_budget *m, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                         struct nai_err *err) {
  struct nai_quantity q;
  int rc = nai_quantity_read(&q, doc, node, err);
  if (!rc && q.kind == NAI_QUANTITY_PERCENT)
    rc = nai_yaml_error(doc, node, err, "\"absolute\" needs an amount, for example 0.05ms or 2pt");
  if (q.kind == NAI_QUANTITY_OF_STEP) {
    m->of_step_pct = q.number;
  } else {
    m->absolute = q.number;
    m->unit = q.kind == NAI_QUANTITY_NUMBER ? NAI_UNIT_COUNT : q.unit;
  }
  return rc;
}

static int read_limit(struct nai_budget *m, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                      struct nai_err *err) {
  struct nai_quantity q;
  int rc = nai_quantity_read(&q, doc, node, err);
  if (!rc && q.kind == NAI_QUANTITY_OF_STEP)
    rc = nai_yaml_error(doc, node, err, "\"limit\" needs an amount that stands by itself");
  m->limit = q.number;
  m->limit_unit = q.kind == NAI_QUANTITY_NUMBER ? NAI_UNIT_COUNT : q.unit;
  return rc;
}

static int read_metric(struct nai_budget *m, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                       struct nai_err *err) {
  static const char *const keys[] = {"relative", "absolute", "limit", "missing", "severity", NULL};
  const struct nai_yaml_node *node;
  *m = (struct nai_budget){.id = map->key,
                           .node = map,
                           .relative_pct = NAN,
                           .absolute = NAN,
                           .of_step_pct = NAN,
                           .limit = NAN,
                           .unit = NAI_UNIT_COUNT,
                           .limit_unit = NAI_UNIT_COUNT,
                           .missing = NAI_POLICY_FAIL,
                           .severity = NAI_POLICY_FAIL};
  int rc = nai_yaml_expect_keys(doc, map, keys, err);
  if (!rc && (node = nai_yaml_get(doc, map, "relative")))
    rc = read_relative(m, doc, node, err);
  if (!rc && (node = nai_yaml_get(doc, map, "absolute")))
    rc = read_absolute(m, doc, node, err);
  if (!rc && (node = nai_yaml_get(doc, map, "limit")))
    rc = read_limit(m, doc, node, err);
  if (!rc && (node = nai_yaml_get(doc, map, "missing")))
    rc = read_policy(&m->missing, doc, node, "ignore", err);
  if (!rc && (node = nai_yaml_get(doc, map, "severity")))
    rc = read_policy(&m->severity, doc, node, "ignore", err);
  if (!rc && isnan(m->relative_pct) && isnan(m->absolute) && isnan(m->of_step_pct) && isnan(m->limit))
    rc = nai_yaml_error_key(doc, map, err, "\"%s\": one of relative, absolute, limit is missing", map->key);
  return rc;
}

static int read_document(struct nai_budgets *b, struct nai_err *err) {
  static const char *const keys[] = {"version", "captures", "defaults", "metrics", "on", NULL};
  const struct nai_yaml_node *root = nai_yaml_root(b->doc), *node;
  int64_t version = 1;
  int rc = nai_yaml_expect_keys(b->doc, root, keys, err);
  if (!rc && !(node = nai_yaml_get(b->doc, root, "version")))
    rc = nai_yaml_error(b->doc, root, err, "\"version\" is missing; this program reads version 1");
  else if (!rc)
    rc = nai_yaml_int(&version, b->doc, node, 1, 1, err);
  if (!rc && (node = nai_yaml_get(b->doc, root, "captures")))
    rc = read_captures(b, node, err);
  if (!rc && (node = nai_yaml_get(b->doc, root, "defaults")))
    rc = read_defaults(b, node, err);
  if (!rc && (node = nai_yaml_get(b->doc, root, "on")))
    rc = read_on(b, node, err);
  if (rc || !(node = nai_yaml_get(b->doc, root, "metrics")))
    return rc;
  rc = nai_yaml_expect(b->doc, node, NAI_YAML_MAP, err);
  b->list = rc ? NULL : calloc((size_t)node->count + 1, sizeof *b->list);
  if (!rc && !b->list)
    return nai_err_nomem(err);
  for (const struct nai_yaml_node *n = rc ? NULL : nai_yaml_first(b->doc, node); !rc && n; n = nai_yaml_next(b->doc, n))
    rc = read_metric(&b->list[b->count++], b->doc, n, err);
  return rc;
}

static int finish(struct nai_budgets *out, int rc, struct nai_err *err) {
  if (!rc)
    rc = read_document(out, err);
  if (rc)
    nai_budgets_free(out);
  return rc;
}

int nai_budgets_load(struct nai_budgets *out, const char *path, struct nai_err *err) {
  nai_budgets_default(out);
  return finish(out, nai_yaml_load(&out->doc, path, err), err);
}

int nai_budgets_parse(struct nai_budgets *out, const char *file, const char *text, size_t len, struct nai_err *err) {
  nai_budgets_default(out);
  return finish(out, nai_yaml_parse(&out->doc, file, text, len, err), err);
}

const struct nai_budget *nai_budget_of(const struct nai_budgets *budgets, const char *id) {
  for (uint32_t i = 0; budgets && i < budgets->count; i++)
    if (strcmp(budgets->list[i].id, id) == 0)
      return &budgets->list[i];
  return NULL;
}

int nai_budget_check(const struct nai_budgets *budgets, const struct nai_budget *budget, const char *unit,
                     struct nai_err *err) {
  bool fits = budget->unit == NAI_UNIT_COUNT || strcmp(nai_unit_name(budget->unit), unit) == 0;
  bool limit_fits = budget->limit_unit == NAI_UNIT_COUNT || strcmp(nai_unit_name(budget->limit_unit), unit) == 0;
  if (fits && limit_fits && (isnan(budget->of_step_pct) || strcmp(unit, "ns") == 0))
    return NAI_OK;
  return nai_yaml_error_key(budgets->doc, budget->node, err, "\"%s\" is measured in %s", budget->id, unit);
}

int nai_budget_unknown(const struct nai_budgets *budgets, const struct nai_budget *budget, const char *const *ids,
                       size_t count, struct nai_err *err) {
  const char *guess = nai_text_suggest(budget->id, ids, count);
  return nai_yaml_error_key(budgets->doc, budget->node, err, "unknown metric \"%s\"%s%s%s", budget->id,
                            guess ? "; did you mean \"" : "", guess ? guess : "", guess ? "\"?" : "");
}
