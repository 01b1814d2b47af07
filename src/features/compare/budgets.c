#include "features/compare/budgets.h"

#include "base/scope.h"
#include "base/text.h"
#include "features/compare/verdict.h"
#include "tables/metrics.h"

void nai_budgets_default(struct nai_budgets *out) {
  *out = (struct nai_budgets){.minimum = NAI_MIN_CAPTURES,
                              .unreplicated = NAI_POLICY_WARN,
                              .suspect = NAI_POLICY_WARN,
                              .error = NAI_POLICY_FAIL,
                              .improved = NAI_POLICY_PASS};
}

void nai_budgets_free(struct nai_budgets *budgets) {
  free(budgets->list);
  nai_yaml_free(budgets->doc);
  *budgets = (struct nai_budgets){0};
}

/* A member that is `fail`, `warn`, or `third`, if the map has it. */
static int read_policy(enum nai_policy *out, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                       const char *key, const char *third, struct nai_err *err) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, map, key);
  const char *text;
  if (!node)
    return NAI_OK;
  NAI_TRY(nai_yaml_text(&text, doc, node, err));
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
  const struct nai_yaml_node *node;
  int64_t minimum = NAI_MIN_CAPTURES;
  NAI_TRY(nai_yaml_expect_keys(b->doc, map, NAI_WORDS("minimum", "unreplicated"), err));
  if ((node = nai_yaml_get(b->doc, map, "minimum")))
    NAI_TRY(nai_yaml_int(&minimum, b->doc, node, NAI_MIN_CAPTURES, 100, err));
  b->minimum = (uint32_t)minimum;
  return read_policy(&b->unreplicated, b->doc, map, "unreplicated", "ignore", err);
}

static int read_defaults(struct nai_budgets *b, const struct nai_yaml_node *map, struct nai_err *err) {
  const struct nai_yaml_node *node;
  double confidence = 0.95;
  NAI_TRY(nai_yaml_expect_keys(b->doc, map, NAI_WORDS("confidence"), err));
  if ((node = nai_yaml_get(b->doc, map, "confidence")))
    NAI_TRY(nai_yaml_number(&confidence, b->doc, node, err));
  return fabs(confidence - 0.95) > 1e-9 ? nai_yaml_error(b->doc, node, err, "the only confidence there is is 0.95")
                                        : NAI_OK;
}

static int read_on(struct nai_budgets *b, const struct nai_yaml_node *map, struct nai_err *err) {
  NAI_TRY(nai_yaml_expect_keys(b->doc, map, NAI_WORDS("suspect", "error", "improved"), err));
  NAI_TRY(read_policy(&b->suspect, b->doc, map, "suspect", "pass", err));
  NAI_TRY(read_policy(&b->error, b->doc, map, "error", "pass", err));
  return read_policy(&b->improved, b->doc, map, "improved", "pass", err);
}

static int read_relative(struct nai_budget *m, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                         struct nai_err *err) {
  struct nai_quantity q;
  NAI_TRY(nai_quantity_read(&q, doc, node, err));
  if (q.kind != NAI_QUANTITY_PERCENT)
    return nai_yaml_error(doc, node, err, "\"relative\" needs a percentage, for example 3%%");
  m->relative_pct = q.number;
  return NAI_OK;
}

static enum nai_unit unit_of(const struct nai_quantity *q) {
  return q->kind == NAI_QUANTITY_NUMBER ? NAI_UNIT_COUNT : q->unit;
}

static int read_absolute(struct nai_budget *m, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                         struct nai_err *err) {
  struct nai_quantity q;
  NAI_TRY(nai_quantity_read(&q, doc, node, err));
  if (q.kind == NAI_QUANTITY_PERCENT)
    return nai_yaml_error(doc, node, err, "\"absolute\" needs an amount, for example 0.05ms or 2pt");
  if (q.kind == NAI_QUANTITY_OF_STEP) {
    m->of_step_pct = q.number;
  } else {
    m->absolute = q.number;
    m->unit = unit_of(&q);
  }
  return NAI_OK;
}

static int read_limit(struct nai_budget *m, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                      struct nai_err *err) {
  struct nai_quantity q;
  NAI_TRY(nai_quantity_read(&q, doc, node, err));
  if (q.kind == NAI_QUANTITY_OF_STEP)
    return nai_yaml_error(doc, node, err, "\"limit\" needs an amount that stands by itself");
  m->limit = q.number;
  m->limit_unit = unit_of(&q);
  return NAI_OK;
}

static int read_metric(struct nai_budget *m, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                       struct nai_err *err) {
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
  NAI_TRY(nai_yaml_expect_keys(doc, map, NAI_WORDS("relative", "absolute", "limit", "missing", "severity"), err));
  if ((node = nai_yaml_get(doc, map, "relative")))
    NAI_TRY(read_relative(m, doc, node, err));
  if ((node = nai_yaml_get(doc, map, "absolute")))
    NAI_TRY(read_absolute(m, doc, node, err));
  if ((node = nai_yaml_get(doc, map, "limit")))
    NAI_TRY(read_limit(m, doc, node, err));
  NAI_TRY(read_policy(&m->missing, doc, map, "missing", "ignore", err));
  NAI_TRY(read_policy(&m->severity, doc, map, "severity", "ignore", err));
  return isnan(m->relative_pct) && isnan(m->absolute) && isnan(m->of_step_pct) && isnan(m->limit)
           ? nai_yaml_error_key(doc, map, err, "\"%s\": one of relative, absolute, limit is missing", map->key)
           : NAI_OK;
}

static int read_metrics(struct nai_budgets *b, const struct nai_yaml_node *map, struct nai_err *err) {
  NAI_TRY(nai_yaml_expect(b->doc, map, NAI_YAML_MAP, err));
  b->list = calloc((size_t)map->count + 1, sizeof *b->list);
  NAI_TRY(nai_memory_check(b->list, err));
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, map); n; n = nai_yaml_next(b->doc, n))
    NAI_TRY(read_metric(&b->list[b->count++], b->doc, n, err));
  return NAI_OK;
}

static int read_document(struct nai_budgets *b, struct nai_err *err) {
  static const struct {
    const char *key;
    int (*read)(struct nai_budgets *b, const struct nai_yaml_node *map, struct nai_err *err);
  } parts[] = {{"captures", read_captures}, {"defaults", read_defaults}, {"on", read_on}, {"metrics", read_metrics}};
  const struct nai_yaml_node *root = nai_yaml_root(b->doc), *node;
  int64_t version;
  NAI_TRY(nai_yaml_expect_keys(b->doc, root, NAI_WORDS("version", "captures", "defaults", "metrics", "on"), err));
  if (!(node = nai_yaml_get(b->doc, root, "version")))
    return nai_yaml_error(b->doc, root, err, "\"version\" is missing; this program reads version 1");
  NAI_TRY(nai_yaml_int(&version, b->doc, node, 1, 1, err));
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if ((node = nai_yaml_get(b->doc, root, parts[i].key)))
      NAI_TRY(parts[i].read(b, node, err));
  return NAI_OK;
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

static bool is_of(const char *family, const char *id) {
  const char *hole = strstr(family, "{}");
  if (!hole)
    return strcmp(family, id) == 0;
  size_t len = strlen(id), before = (size_t)(hole - family), after = strlen(hole + 2);
  return len > before + after && strncmp(id, family, before) == 0 && strcmp(id + len - after, hole + 2) == 0;
}

int nai_budget_is_builtin(bool *is, const char *id, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  *is = false;
  NAI_TRY(nai_yaml_load_builtin(&doc, "metrics/default.yaml", err));
  const struct nai_yaml_node *list = nai_yaml_get(doc, nai_yaml_root(doc), "metrics");
  for (const struct nai_yaml_node *n = list ? nai_yaml_first(doc, list) : NULL; n && !*is; n = nai_yaml_next(doc, n)) {
    const struct nai_yaml_node *family = nai_yaml_get(doc, n, "id");
    *is = family && (is_of(family->text, id) || is_of(nai_metric_id(&arena, family->text, "second"), id));
  }
  return nai_arena_check(&arena, err);
}

const char *nai_budget_unit(const struct nai_budget *budget) {
  if (!isnan(budget->of_step_pct))
    return "ns";
  enum nai_unit unit = budget->unit != NAI_UNIT_COUNT ? budget->unit : budget->limit_unit;
  return nai_unit_name(unit != NAI_UNIT_COUNT ? unit : NAI_COUNT);
}

int nai_budget_unknown(const struct nai_budgets *budgets, const struct nai_budget *budget, const char *const *ids,
                       size_t count, struct nai_err *err) {
  const char *guess = nai_text_suggest(budget->id, ids, count);
  return nai_yaml_error_key(budgets->doc, budget->node, err, "unknown metric \"%s\"%s%s%s", budget->id,
                            guess ? "; did you mean \"" : "", guess ? guess : "", guess ? "\"?" : "");
}
