/* Metric files to a metric set. */
#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"
#include "rules/metrics_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_METRICS = 500, MAX_FAMILY = 1000 };
static const char default_metrics[] = "metrics/default.yaml";
static const char *const combines[COMBINES + 1] = {"sum", "mean", "median", "p90", "cv", "max", "min", NULL};
static const char *const betters[] = {"lower", "higher", "either", NULL};
static const char *const kinds[] = {"exact", "noisy", NULL};
static const char *const gates[] = {"gate", "guard", "context", "none", NULL};
static const char *const absents[] = {"error", "zero", "ignore", NULL};

void nai_metrics_free(struct nai_metric_set *set) {
  if (!set)
    return;
  nai_rules_free(set->rules);
  free(set->metrics.data);
  free(set);
}

/* One of `words` (ends with NULL), *index its place; `otherwise` when the map has no such key. */
static int read_word(int *index, struct builder *b, const struct nai_yaml_node *map, const char *key,
                     const char *const *words, int otherwise) {
  const struct nai_yaml_node *node = nai_builder_get(b, map, key);
  const char *text;
  size_t count = 0;
  *index = otherwise;
  if (!node)
    return otherwise < 0 ? nai_builder_require(&node, b, map, key) : 0;
  int rc = nai_yaml_text(&text, b->doc, node, b->err);
  if (rc)
    return rc;
  for (; words[count]; count++)
    if (strcmp(words[count], text) == 0) {
      *index = (int)count;
      return 0;
    }
  const char *guess = nai_text_suggest(text, words, count);
  struct nai_buf list = {0};
  for (size_t i = 0; i < count; i++)
    nai_buf_printf(&list, "%s%s", i ? ", " : "", words[i]);
  rc = nai_yaml_error(b->doc, node, b->err, "\"%s\": expected one of %s%s%s%s", key, nai_buf_str(&list),
                      guess ? "; did you mean \"" : "", guess ? guess : "", guess ? "\"?" : "");
  nai_buf_free(&list);
  return rc;
}

/* --- where a metric comes from ---------------------------------------------------------------- */

/* The factor from a unit of expressions to its base unit, which *unit becomes. */
static double base_scale(enum nai_unit *unit) {
  static const double scale[NAI_UNIT_COUNT] = {[NAI_US] = 1e3, [NAI_MS] = 1e6, [NAI_S] = 1e9};
  if (scale[*unit] <= 0)
    return 1;
  double factor = scale[*unit];
  *unit = NAI_NS;
  return factor;
}

static int add_rule(struct rule **out, struct nai_rule_set *set, struct nai_err *err) {
  if (!nai_array_room(&set->rules, &set->rule_capacity, set->rule_count, sizeof(struct rule *)))
    return nai_err_nomem(err);
  *out = set->rules[set->rule_count] = calloc(1, sizeof **out);
  if (!*out)
    return nai_err_nomem(err);
  set->rule_count++;
  return 0;
}

static int each_compile(struct metric_source *out, struct builder *b, const struct nai_yaml_node *node,
                        const struct nai_yaml_node *map) {
  const struct nai_yaml_node *limit = nai_builder_get(b, map, "limit");
  const struct nai_schema *schema = out->rule->rows.schema;
  struct nai_display_column column = {0};
  const char *name;
  int64_t most = 0;
  enum nai_unit unit;
  int rc = nai_yaml_text(&name, b->doc, node, b->err);
  if (!rc)
    rc = nai_names_column(&column, schema, b->doc, node, 0, name, strlen(name), b->err);
  if (!rc && schema->columns[column.column].type != NAI_STR)
    rc = nai_yaml_error(b->doc, node, b->err, "\"each\" needs a column that holds text");
  if (!rc && limit)
    rc = nai_yaml_int(&most, b->doc, limit, 1, MAX_FAMILY, b->err);
  if (!rc && nai_builder_get(b, map, "by"))
    rc = nai_number_compile(&out->by, &unit, &b->names, nai_builder_get(b, map, "by"), b->err);
  out->each = column.column;
  out->limit = (int)most;
  return rc;
}

/* {table, where, with, value, combine, gpus, each, limit, by} */
static int source_compile(struct metric_source *out, struct nai_metric_set *set, const struct metric *metric,
                          const struct nai_yaml_node *node, struct nai_err *err) {
  static const char *const keys[] = {"table", "where", "with", "value", "combine", "gpus", "each", "limit", "by", NULL};
  struct builder b = {.doc = metric->doc, .names = {.set = set->rules, .doc = metric->doc}, .err = err};
  const struct nai_yaml_node *value, *part;
  int combine = COMBINE_SUM, gpus = COMBINE_MAX;
  *out = (struct metric_source){.each = -1};
  int rc = nai_yaml_expect_keys(b.doc, node, keys, err);
  if (!rc)
    rc = add_rule(&out->rule, set->rules, err);
  if (rc)
    return rc;
  b.rule = out->rule;
  /* The entry's own where must not hold `limit`, which here is about members of a family. */
  rc = nai_selection_compile(&out->rule->rows, &b, node, "table", "this", MAX_FAMILY, MAX_FAMILY);
  if (!rc && (part = nai_builder_get(&b, node, "where")))
    rc = nai_condition_compile(&out->rule->where, &b.names, part, err);
  if (!rc && (part = nai_builder_get(&b, node, "with")))
    rc = nai_lookups_compile(&b, part);
  if (!rc)
    rc = nai_builder_require(&value, &b, node, "value");
  if (!rc)
    rc = nai_number_compile(&out->value, &out->unit, &b.names, value, err);
  if (!rc)
    rc = read_word(&combine, &b, node, "combine", combines, COMBINE_SUM);
  out->by_gpu = !rc && nai_builder_get(&b, node, "gpus");
  if (!rc)
    rc = read_word(&gpus, &b, node, "gpus", combines, COMBINE_MAX);
  if (!rc && (part = nai_builder_get(&b, node, "each")))
    rc = each_compile(out, &b, part, node);
  out->combine = (enum combine)combine;
  out->gpus = (enum combine)gpus;
  out->scale = rc || out->unit == NAI_UNIT_COUNT ? 1 : base_scale(&out->unit);
  if (!rc && out->combine == COMBINE_CV)
    out->unit = NAI_PCT;
  return rc;
}

/* --- a metric --------------------------------------------------------------------------------- */

/* Files an amount under what it is a share of. */
static int read_amount(double *relative, double *absolute, double *of_step, const struct metric *m,
                       const struct nai_yaml_node *node, struct nai_err *err) {
  struct nai_quantity q;
  int rc = nai_quantity_read(&q, m->doc, node, err);
  if (rc)
    return rc;
  if (q.kind == NAI_QUANTITY_PERCENT)
    *relative = q.number;
  else if (q.kind == NAI_QUANTITY_OF_STEP && of_step && m->unit == NAI_NS)
    *of_step = q.number;
  else if (q.kind == NAI_QUANTITY_NUMBER || (q.kind == NAI_QUANTITY_UNIT && q.unit == m->unit))
    *absolute = q.number;
  else
    return nai_yaml_error(m->doc, node, err, "\"%s\" does not fit a metric in %s", node->text, nai_unit_name(m->unit));
  return 0;
}

/* `5%`, or {relative: 5%, absolute: 1ms}. */
static int read_limits(double *relative, double *absolute, double *of_step, const struct metric *m,
                       const struct nai_yaml_node *node, struct nai_err *err) {
  static const char *const keys[] = {"relative", "absolute", NULL};
  if (!node)
    return 0;
  if (node->kind == NAI_YAML_SCALAR)
    return read_amount(relative, absolute, of_step, m, node, err);
  int rc = nai_yaml_expect_keys(m->doc, node, keys, err);
  for (const struct nai_yaml_node *n = nai_yaml_first(m->doc, node); !rc && n; n = nai_yaml_next(m->doc, n))
    rc = read_amount(relative, absolute, of_step, m, n, err);
  return rc;
}

/* The unit of the metric: that of its expressions, which have to agree; `unit` names that of plain numbers. */
static int settle_unit(struct metric *m, struct builder *b) {
  static const char *const units[] = {"percent", "count", "ns", "bytes", "gb_per_s", NULL};
  static const enum nai_unit values[] = {NAI_PCT, NAI_COUNT, NAI_NS, NAI_BYTES, NAI_GB_PER_S};
  int given;
  m->unit = NAI_UNIT_COUNT;
  int rc = read_word(&given, b, m->node, "unit", units, 1);
  for (int i = 0; !rc && i < BASES; i++) {
    if (!m->has_source[i] || m->sources[i].unit == NAI_UNIT_COUNT)
      continue;
    if (m->unit != NAI_UNIT_COUNT && m->unit != m->sources[i].unit)
      return nai_yaml_error(b->doc, m->node, b->err, "\"%s\": %s and %s do not go together", m->id,
                            nai_unit_name(m->unit), nai_unit_name(m->sources[i].unit));
    m->unit = m->sources[i].unit;
  }
  if (!rc && m->unit == NAI_UNIT_COUNT)
    m->unit = values[given];
  return rc;
}

static int sources_compile(struct metric *m, struct nai_metric_set *set, struct builder *b) {
  static const char *const keys[BASES] = {"step", "rate", "total"};
  bool any = false;
  int rc = 0;
  for (int i = 0; !rc && i < BASES; i++) {
    const struct nai_yaml_node *node = nai_builder_get(b, m->node, keys[i]);
    if (!node)
      continue;
    rc = source_compile(&m->sources[i], set, m, node, b->err);
    m->has_source[i] = any = true;
    if (!rc && (m->sources[i].each >= 0) != (strstr(m->id, "{}") != NULL))
      rc = nai_yaml_error(b->doc, node, b->err, "an id with {} and \"each\" need each other");
  }
  if (!rc && !any)
    rc = nai_yaml_error(b->doc, m->node, b->err, "one of step, rate, total is missing");
  return rc;
}

static int metric_compile(struct metric *m, struct nai_metric_set *set, struct nai_err *err) {
  static const char *const keys[] = {"id",   "title", "unit",  "better", "kind",   "gate",     "noise", "budget",
                                     "step", "rate",  "total", "needs",  "absent", "disabled", NULL};
  struct builder b = {.doc = m->doc, .names = {.set = set->rules, .doc = m->doc}, .err = err};
  const struct nai_yaml_node *part = NULL;
  int better = 0, kind = 0, gate = 0, absent = 0;
  int rc = nai_yaml_expect_keys(m->doc, m->node, keys, err);
  if (!rc)
    rc = nai_builder_require(&part, &b, m->node, "title");
  if (!rc)
    rc = nai_yaml_text(&m->title, m->doc, part, err);
  if (!rc)
    rc = read_word(&better, &b, m->node, "better", betters, -1);
  if (!rc)
    rc = read_word(&kind, &b, m->node, "kind", kinds, -1);
  if (!rc)
    rc = read_word(&gate, &b, m->node, "gate", gates, -1);
  if (!rc)
    rc = read_word(&absent, &b, m->node, "absent", absents, 0);
  if (!rc && (part = nai_builder_get(&b, m->node, "needs")))
    rc = nai_yaml_text(&m->needs, m->doc, part, err);
  if (!rc)
    rc = sources_compile(m, set, &b);
  if (!rc)
    rc = settle_unit(m, &b);
  m->noise_pct = m->noise = m->budget_pct = m->budget = m->budget_step_pct = NAN;
  if (!rc)
    rc = read_limits(&m->noise_pct, &m->noise, NULL, m, nai_builder_get(&b, m->node, "noise"), err);
  if (!rc)
    rc = read_limits(&m->budget_pct, &m->budget, &m->budget_step_pct, m, nai_builder_get(&b, m->node, "budget"), err);
  if (rc) /* where there is no word, there is no number of one */
    return rc;
  m->better = betters[better];
  m->kind = kinds[kind];
  m->gate = gates[gate];
  m->absent = absents[absent];
  return NAI_OK;
}

/* --- a set ------------------------------------------------------------------------------------ */

static int file_metric(struct nai_metric_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                       struct nai_err *err) {
  struct metric *metric = NULL;
  const struct nai_yaml_node *id;
  bool off;
  int rc =
      nai_entry_read(&id, &off, doc, node, "abcdefghijklmnopqrstuvwxyz0123456789_.-{}", "a-z, 0-9, _ . and -", err);
  if (rc)
    return rc;
  for (uint32_t i = 0; i < set->metrics.count; i++)
    if (strcmp(POOL_AT(set->metrics, struct metric, i)->id, id->text) == 0)
      metric = POOL_AT(set->metrics, struct metric, i);
  if (metric && metric->doc == doc)
    return nai_yaml_error(doc, id, err, "duplicate id \"%s\" (first on line %u)", id->text, metric->node->line);
  if (!metric && off)
    return nai_yaml_error(doc, id, err, "unknown metric \"%s\"", id->text);
  if (!metric && set->metrics.count >= MAX_METRICS)
    return nai_yaml_error(doc, node, err, "more than %d metrics", MAX_METRICS);
  if (metric && off) {
    metric->disabled = true;
    return 0;
  }
  if (!metric)
    metric = nai_pool_add(&set->metrics, sizeof *metric);
  if (!metric)
    return nai_err_nomem(err);
  *metric = (struct metric){.id = id->text, .doc = doc, .node = node};
  return 0;
}

static int read_doc(struct nai_metric_set *set, const struct nai_yaml *doc, struct nai_err *err) {
  static const char *const keys[] = {"metrics", NULL};
  const struct nai_yaml_node *root = nai_yaml_root(doc);
  int rc = nai_yaml_expect_keys(doc, root, keys, err);
  const struct nai_yaml_node *list = rc ? NULL : nai_yaml_get(doc, root, "metrics");
  if (!rc && !list)
    rc = nai_yaml_error(doc, root, err, "\"metrics\" is missing");
  if (!rc)
    rc = nai_yaml_expect(doc, list, NAI_YAML_LIST, err);
  for (const struct nai_yaml_node *n = rc ? NULL : nai_yaml_first(doc, list); !rc && n; n = nai_yaml_next(doc, n))
    rc = file_metric(set, doc, n, err);
  return rc;
}

static int begin(struct nai_metric_set **out, const struct nai_schema *const *schemas, size_t schema_count,
                 struct nai_err *err) {
  struct nai_metric_set *set = *out = calloc(1, sizeof *set);
  if (!set)
    return nai_err_nomem(err);
  set->rules = calloc(1, sizeof *set->rules);
  if (!set->rules)
    return nai_err_nomem(err);
  return nai_rule_set_open(set->rules, schemas, schema_count, err);
}

static int finish(struct nai_metric_set **out, int rc, struct nai_err *err) {
  struct nai_metric_set *set = *out;
  for (size_t i = 0; !rc && i < set->rules->doc_count; i++)
    rc = read_doc(set, set->rules->docs[i], err);
  for (uint32_t i = 0; !rc && i < set->metrics.count; i++)
    if (!POOL_AT(set->metrics, struct metric, i)->disabled)
      rc = metric_compile(POOL_AT(set->metrics, struct metric, i), set, err);
  if (rc) {
    nai_metrics_free(set);
    *out = NULL;
  }
  return rc;
}

int nai_metrics_parse(struct nai_metric_set **out, const char *file, const char *text, size_t len,
                      const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  int rc = begin(out, schemas, schema_count, err);
  if (!rc)
    rc = nai_yaml_parse(&(*out)->rules->docs[(*out)->rules->doc_count++], file, text, len, err);
  return finish(out, rc, err);
}

int nai_metrics_load(struct nai_metric_set **out, const char *const *paths, size_t path_count,
                     const struct nai_schema *const *schemas, size_t schema_count, struct nai_err *err) {
  *out = NULL;
  if (path_count >= MAX_DOCS)
    return nai_err_set(err, NAI_EUSAGE, "more than %d metric files", MAX_DOCS - 1);
  int rc = begin(out, schemas, schema_count, err);
  struct nai_rule_set *docs = rc ? NULL : (*out)->rules;
  if (!rc)
    rc = nai_yaml_load_builtin(&docs->docs[docs->doc_count++], default_metrics, err);
  for (size_t i = 0; !rc && i < path_count; i++)
    rc = nai_yaml_load(&docs->docs[docs->doc_count++], paths[i], err);
  return finish(out, rc, err);
}

uint64_t nai_metrics_hash(const struct nai_metric_set *set) {
  uint64_t hash = 0;
  for (size_t i = 0; i < set->rules->doc_count; i++)
    hash = nai_hash_int(hash, (int64_t)set->rules->docs[i]->hash);
  return hash;
}
