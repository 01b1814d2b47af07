/* Metric files to a metric set. */
#include "base/text.h"
#include "config/quantity.h"
#include "rules/metrics_internal.h"

enum { MAX_METRICS = 500 };
static const char *const betters[] = {"lower", "higher", "either", NULL};
static const char *const kinds[] = {"exact", "noisy", NULL};
static const char *const gates[] = {"gate", "guard", "context", "none", NULL};
static const char *const absents[] = {"error", "zero", "ignore", NULL};

void nai_metrics_free(struct nai_metric_set *set) {
  if (set)
    nai_rules_free(set->rules);
}

/* One of `words` (ends with NULL); `otherwise` when the map has no such key, which must be there where that is NULL. */
static int read_word(const char **out, const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key,
                     const char *const *words, const char *otherwise, struct nai_err *err) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, map, key);
  size_t count = 0;
  *out = otherwise;
  if (!node && otherwise)
    return NAI_OK;
  NAI_TRY(nai_yaml_require(&node, doc, map, key, err));
  NAI_TRY(nai_yaml_text(out, doc, node, err));
  for (; words[count]; count++)
    if (strcmp(words[count], *out) == 0) {
      *out = words[count];
      return NAI_OK;
    }
  const char *guess = nai_text_suggest(*out, words, count);
  NAI_SCOPED(nai_buf) list = {0};
  for (size_t i = 0; i < count; i++)
    nai_buf_printf(&list, "%s%s", i ? ", " : "", words[i]);
  return nai_yaml_error(doc, node, err, "\"%s\": expected one of %s%s%s%s", key, nai_buf_str(&list),
                        guess ? "; did you mean \"" : "", guess ? guess : "", guess ? "\"?" : "");
}

/* --- a metric --------------------------------------------------------------------------------- */

/* Files an amount under what it is a share of; only a budget may be one of the step time. */
static int read_amount(struct amounts *out, const struct metric *m, const struct nai_yaml_node *node,
                       struct nai_err *err) {
  struct nai_quantity q;
  NAI_TRY(nai_quantity_read(&q, m->doc, node, err));
  if (q.kind == NAI_QUANTITY_PERCENT)
    out->pct = q.number;
  else if (q.kind == NAI_QUANTITY_OF_STEP && out == &m->budget && m->unit == NAI_NS)
    out->step_pct = q.number;
  else if (q.kind == NAI_QUANTITY_NUMBER || (q.kind == NAI_QUANTITY_UNIT && q.unit == m->unit))
    out->absolute = q.number;
  else
    return nai_yaml_error(m->doc, node, err, "\"%s\" does not fit a metric in %s", node->text, nai_unit_name(m->unit));
  return NAI_OK;
}

/* `5%`, or {relative: 5%, absolute: 1ms}. */
static int read_amounts(struct amounts *out, const struct metric *m, const char *key, struct nai_err *err) {
  const struct nai_yaml_node *node = nai_yaml_get(m->doc, m->node, key);
  *out = (struct amounts){NAN, NAN, NAN};
  if (!node)
    return NAI_OK;
  if (node->kind == NAI_YAML_SCALAR)
    return read_amount(out, m, node, err);
  NAI_TRY(nai_yaml_expect_keys(m->doc, node, NAI_WORDS("relative", "absolute"), err));
  for (const struct nai_yaml_node *n = nai_yaml_first(m->doc, node); n; n = nai_yaml_next(m->doc, n))
    NAI_TRY(read_amount(out, m, n, err));
  return NAI_OK;
}

/* The unit of the metric: that of its values, which have to agree; `unit` names that of plain numbers. */
static int settle_unit(struct metric *m, struct nai_err *err) {
  static const char *const units[] = {"percent", "count", "ns", "bytes", "gb_per_s", NULL};
  static const enum nai_unit values[] = {NAI_PCT, NAI_COUNT, NAI_NS, NAI_BYTES, NAI_GB_PER_S};
  const char *given;
  NAI_TRY(read_word(&given, m->doc, m->node, "unit", units, "count", err));
  m->unit = NAI_UNIT_COUNT;
  for (int i = 0; i < BASES; i++) {
    enum nai_unit unit = m->sources[i].schema ? m->sources[i].unit : NAI_UNIT_COUNT;
    if (unit == NAI_UNIT_COUNT)
      continue;
    if (m->unit != NAI_UNIT_COUNT && m->unit != unit)
      return nai_yaml_error(m->doc, m->node, err, "\"%s\": %s and %s do not go together", m->id, nai_unit_name(m->unit),
                            nai_unit_name(unit));
    m->unit = unit;
  }
  for (int i = 0; m->unit == NAI_UNIT_COUNT; i++)
    if (strcmp(units[i], given) == 0)
      m->unit = values[i];
  return NAI_OK;
}

static int sources_compile(struct metric *m, struct nai_rule_set *set, struct nai_err *err) {
  static const char *const keys[BASES] = {"step", "rate", "total"};
  bool any = false;
  for (int i = 0; i < BASES; i++) {
    const struct nai_yaml_node *node = nai_yaml_get(m->doc, m->node, keys[i]);
    if (!node)
      continue;
    any = true;
    NAI_TRY(nai_metric_source_compile(&m->sources[i], set, m->doc, node, err));
    if (m->sources[i].each != (strstr(m->id, "{}") != NULL))
      return nai_yaml_error(m->doc, node, err, "an id with {} and \"each\" need each other");
  }
  return any ? NAI_OK : nai_yaml_error(m->doc, m->node, err, "one of step, rate, total is missing");
}

static int metric_compile(struct metric *m, struct nai_rule_set *set, struct nai_err *err) {
  static const char *const keys[] = {"id",   "title", "unit",  "better", "kind",   "gate",     "noise",      "budget",
                                     "step", "rate",  "total", "needs",  "absent", "disabled", "definition", NULL};
  const struct nai_yaml_node *title, *needs = nai_yaml_get(m->doc, m->node, "needs");
  const struct nai_yaml_node *definition = nai_yaml_get(m->doc, m->node, "definition");
  NAI_TRY(nai_yaml_expect_keys(m->doc, m->node, keys, err));
  NAI_TRY(nai_yaml_require(&title, m->doc, m->node, "title", err));
  NAI_TRY(nai_yaml_text(&m->title, m->doc, title, err));
  NAI_TRY(read_word(&m->better, m->doc, m->node, "better", betters, NULL, err));
  NAI_TRY(read_word(&m->kind, m->doc, m->node, "kind", kinds, NULL, err));
  NAI_TRY(read_word(&m->gate, m->doc, m->node, "gate", gates, NULL, err));
  NAI_TRY(read_word(&m->absent, m->doc, m->node, "absent", absents, "error", err));
  m->definition = 1;
  if (definition)
    NAI_TRY(nai_yaml_int(&m->definition, m->doc, definition, 1, INT32_MAX, err));
  if (needs)
    NAI_TRY(nai_yaml_text(&m->needs, m->doc, needs, err));
  NAI_TRY(sources_compile(m, set, err));
  NAI_TRY(settle_unit(m, err));
  NAI_TRY(read_amounts(&m->noise, m, "noise", err));
  return read_amounts(&m->budget, m, "budget", err);
}

/* --- a set ------------------------------------------------------------------------------------ */

static struct metric *find(const struct nai_metric_set *set, const char *id) {
  for (uint32_t i = 0; i < set->metrics.count; i++)
    if (strcmp(set->metrics.at[i].id, id) == 0)
      return &set->metrics.at[i];
  return NULL;
}

static int file_metric(struct nai_metric_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                       struct nai_err *err) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-{}";
  const struct nai_yaml_node *id;
  bool off;
  NAI_TRY(nai_entry_read(&id, &off, doc, node, letters, "a-z, 0-9, _ . and -", err));
  struct metric *metric = find(set, id->text);
  if (metric && metric->doc == doc)
    return nai_yaml_error(doc, id, err, "duplicate id \"%s\" (first on line %u)", id->text, metric->node->line);
  if (!metric && off)
    return nai_yaml_error(doc, id, err, "unknown metric \"%s\"", id->text);
  if (!metric && set->metrics.count >= MAX_METRICS)
    return nai_yaml_error(doc, node, err, "more than %d metrics", MAX_METRICS);
  if (metric && off) {
    metric->disabled = true;
    return NAI_OK;
  }
  if (!metric) {
    NAI_TRY(LIST_ROOM(set->metrics, &set->rules->arena, err));
    metric = &set->metrics.at[set->metrics.count++];
  }
  *metric = (struct metric){.id = id->text, .doc = doc, .node = node};
  return NAI_OK;
}

static int read_doc(struct nai_metric_set *set, const struct nai_yaml *doc, struct nai_err *err) {
  const struct nai_yaml_node *root = nai_yaml_root(doc), *list;
  NAI_TRY(nai_yaml_expect_keys(doc, root, NAI_WORDS("metrics"), err));
  NAI_TRY(nai_yaml_require(&list, doc, root, "metrics", err));
  NAI_TRY(nai_yaml_expect(doc, list, NAI_YAML_LIST, err));
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, list); n; n = nai_yaml_next(doc, n))
    NAI_TRY(file_metric(set, doc, n, err));
  return NAI_OK;
}

/* Takes over what has read the documents. */
static int compile(struct nai_metric_set **out, struct nai_rule_set **documents, struct nai_err *err) {
  struct nai_rule_set *rules = *documents;
  struct nai_metric_set *set = NULL;
  NAI_TRY(NAI_NEW(set, &rules->arena, 1, err));
  set->rules = rules;
  for (size_t i = 0; i < rules->doc_count; i++)
    NAI_TRY(read_doc(set, rules->docs[i], err));
  for (uint32_t i = 0; i < set->metrics.count; i++)
    if (!set->metrics.at[i].disabled)
      NAI_TRY(metric_compile(&set->metrics.at[i], rules, err));
  *out = set;
  *documents = NULL;
  return NAI_OK;
}

int nai_metrics_parse(struct nai_metric_set **out, const char *file, const char *text, size_t len,
                      const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  NAI_OWNED(nai_rule_set) *rules = NULL;
  *out = NULL;
  NAI_TRY(nai_rule_set_new(&rules, schemas, schema_count, err));
  NAI_TRY(nai_rule_set_parse(rules, file, text, len, err));
  return compile(out, &rules, err);
}

int nai_metrics_load(struct nai_metric_set **out, const char *const *paths, size_t path_count,
                     const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  NAI_OWNED(nai_rule_set) *rules = NULL;
  *out = NULL;
  if (path_count >= MAX_DOCS)
    return nai_err_set(err, NAI_EUSAGE, "more than %d metric files", MAX_DOCS - 1);
  NAI_TRY(nai_rule_set_new(&rules, schemas, schema_count, err));
  NAI_TRY(nai_rule_set_read_builtin(rules, "metrics/default.yaml", err));
  NAI_TRY(nai_rule_set_read(rules, paths, path_count, err));
  return compile(out, &rules, err);
}

uint64_t nai_metrics_hash(const struct nai_metric_set *set) { return nai_rule_set_texts_hash(set->rules); }
