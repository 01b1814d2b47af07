/* Metric files to a metric set. */
#include "base/text.h"
#include "config/quantity.h"
#include "rules/metrics_internal.h"

#include <math.h>
#include <string.h>

enum { MAX_METRICS = 500, MAX_FAMILY = 1000 };
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

/* SQL that is one call of a function with one argument. */
struct call {
  const char *name, *argument;
  size_t name_len, argument_len;
};

static bool is_call(const struct call *call, const char *name) {
  return call->name_len == strlen(name) && strncmp(call->name, name, call->name_len) == 0;
}

/* False: it is something else. */
static bool read_call(struct call *out, const char *sql) {
  size_t len = strlen(sql);
  char quote = '\0';
  int depth = 0;
  while (len && strchr(" \n", sql[len - 1]))
    len--;
  *out = (struct call){.name = sql, .name_len = strcspn(sql, "( ")};
  out->argument = sql + out->name_len + 1;
  if (!out->name_len || sql[out->name_len] != '(' || sql[len - 1] != ')' ||
      strncmp(out->argument, "distinct", strlen("distinct")) == 0)
    return false;
  out->argument_len = (size_t)(sql + len - 1 - out->argument);
  for (size_t i = 0; i < out->argument_len; i++) {
    char c = out->argument[i];
    quote = quote ? (c == quote ? '\0' : quote) : strchr("'\"`", c) ? c : '\0';
    depth += !quote && c == '(' ? 1 : !quote && c == ')' ? -1 : 0;
    if (depth < 0 || (!quote && !depth && c == ','))
      return false;
  }
  return true;
}

/* --- the form that metrics had before ------------------------------------------------------------ */

static void put_combined(struct nai_buf *out, const char *how, const char *text) {
  if (strcmp(how, "cv") == 0)
    nai_buf_printf(out, "100 * stddev(%s) / avg(%s)", text, text);
  else
    nai_buf_printf(out, "%s(%s)", strcmp(how, "mean") == 0 ? "avg" : how, text);
}

static const char *text_of(const struct nai_yaml_node *node, const char *otherwise) {
  return node && node->kind == NAI_YAML_SCALAR && *node->text ? node->text : otherwise;
}

/* The new form of a source whose value is of one row, or has been converted already. */
static int old_form(const struct nai_yaml *doc, const struct nai_yaml_node *map, const struct nai_yaml_node *at,
                    bool converted, struct nai_err *err) {
  const struct nai_yaml_node *gpus = nai_yaml_get(doc, map, "gpus"), *by = nai_yaml_get(doc, map, "by");
  const char *combine = text_of(nai_yaml_get(doc, map, "combine"), "sum"),
             *value = text_of(nai_yaml_get(doc, map, "value"), "x");
  NAI_SCOPED(nai_buf) form = {0};
  nai_buf_printf(&form, "value: %s", converted ? value : "");
  if (!converted)
    put_combined(&form, combine, value);
  if (gpus) {
    nai_buf_puts(&form, ", gpus: ");
    put_combined(&form, text_of(gpus, "max"), "value");
  }
  if (by) {
    nai_buf_puts(&form, ", order: ");
    put_combined(&form, "sum", text_of(by, "x"));
    nai_buf_puts(&form, " desc");
  }
  NAI_TRY(nai_buf_check(&form, err));
  return nai_yaml_error(doc, at, err, "values are SQL over the rows: write \"%s\"%s", nai_buf_str(&form),
                        strcmp(combine, "cv") == 0 ? " and \"unit: percent\"" : "");
}

static int refuse_old_form(const struct nai_yaml *doc, const struct nai_yaml_node *map, struct nai_err *err) {
  static const char *const gone[] = {"combine", "by"};
  const struct nai_yaml_node *with = nai_yaml_get(doc, map, "with"), *gpus = nai_yaml_get(doc, map, "gpus");
  struct call call;
  if (with)
    return nai_yaml_error(doc, with, err, "rows of other tables are a SELECT in \"value\": (select sum(x) from t)");
  for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
    if (nai_yaml_get(doc, map, gone[i]))
      return old_form(doc, map, nai_yaml_get(doc, map, gone[i]), false, err);
  if (!gpus || strchr(gpus->text, '('))
    return NAI_OK;
  return old_form(doc, map, gpus, read_call(&call, text_of(nai_yaml_get(doc, map, "value"), "")), err);
}

/* --- where a metric comes from ---------------------------------------------------------------- */

/* What is selected of the rows of a GPU, or of all: the value, its quartiles, how many have one. */
static int put_value(struct nai_buf *sql, const struct names *names, const struct nai_yaml_node *value,
                     struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  struct call call;
  NAI_TRY(nai_columns_put(&text, names, value, err));
  NAI_TRY(nai_buf_check(&text, err));
  bool plain = read_call(&call, nai_buf_str(&text));
  bool quartiles = plain && (is_call(&call, "median") || is_call(&call, "avg"));
  nai_buf_printf(sql, ", %s AS value", nai_buf_str(&text));
  for (int q = 25; q <= 75; q += 50)
    if (quartiles)
      nai_buf_printf(sql, ", percentile(%.*s, %d) AS q%d", (int)call.argument_len, call.argument, q, q);
    else
      nai_buf_printf(sql, ", NULL AS q%d", q);
  nai_buf_printf(sql, ", count(%.*s) AS n", plain ? (int)call.argument_len : 1, plain ? call.argument : "*");
  return NAI_OK;
}

/* The same of the values of several GPUs: the quartiles are those of the one whose value is taken. Not min(n): beside
 * one max() or min() SQLite takes other columns from the row that has it. */
static int put_gpus(struct nai_buf *sql, const struct names *names, const struct nai_yaml_node *gpus,
                    struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  struct call call;
  NAI_TRY(nai_columns_put(&text, names, gpus, err));
  NAI_TRY(nai_buf_check(&text, err));
  bool takes = read_call(&call, nai_buf_str(&text)) && (is_call(&call, "max") || is_call(&call, "min"));
  nai_buf_printf(sql, ", %s, %s, percentile(n, 0)", nai_buf_str(&text),
                 takes ? "q25, q75" : "iif(count(*) = 1, q25, NULL), iif(count(*) = 1, q75, NULL)");
  return NAI_OK;
}

/* A number over several rows. */
static int aggregate_compile(enum nai_unit *unit, const struct names *names, const struct nai_yaml_node *map,
                             const struct nai_yaml_node *node, struct nai_err *err) {
  struct expression *number;
  NAI_TRY(nai_number_compile(&number, names, node, err));
  *unit = number->unit;
  return number->aggregate ? NAI_OK : old_form(names->doc, map, node, false, err);
}

/* SELECT member, value, q25, q75, n of the rows that meet `where`: one per member, or with `gpus` per member, GPU and
 * process. */
static int put_rows(struct nai_buf *sql, const struct names *names, const struct nai_yaml_node *map, const char *each,
                    bool gpus, struct nai_err *err) {
  static const enum nai_role roles[] = {NAI_ROLE_DEVICE, NAI_ROLE_PROCESS};
  const struct nai_schema *schema = names->sources[0].schema;
  const struct nai_yaml_node *where = nai_yaml_get(names->doc, map, "where");
  const char *by = " GROUP BY ";
  if (each)
    nai_buf_printf(sql, "SELECT coalesce(\"%s\", '') AS member", each);
  else
    nai_buf_puts(sql, "SELECT '' AS member");
  NAI_TRY(put_value(sql, names, nai_yaml_get(names->doc, map, "value"), err));
  nai_buf_printf(sql, " FROM \"%s\" AS this", schema->name);
  if (where) {
    nai_buf_puts(sql, " WHERE ");
    NAI_TRY(nai_columns_put(sql, names, where, err));
  }
  if (each) {
    nai_buf_printf(sql, "%s1", by);
    by = ", ";
  }
  for (size_t i = 0; gpus && i < sizeof roles / sizeof *roles; i++)
    if (nai_schema_role(schema, roles[i]) >= 0) {
      nai_buf_printf(sql, "%s\"%s\"", by, schema->columns[nai_schema_role(schema, roles[i])].name);
      by = ", ";
    }
  return NAI_OK;
}

/* Only the first `limit` members in `order`, or those with the largest values. */
static int put_limit(struct nai_buf *sql, const struct names *names, const struct nai_yaml_node *map,
                     const struct nai_yaml_node *limit, struct nai_err *err) {
  const struct nai_yaml_node *order = nai_yaml_get(names->doc, map, "order");
  int64_t most;
  NAI_TRY(nai_yaml_int(&most, names->doc, limit, 1, MAX_FAMILY, err));
  nai_buf_puts(sql, " ORDER BY ");
  if (order)
    NAI_TRY(nai_columns_put(sql, names, order, err));
  nai_buf_printf(sql, "%s, 1 LIMIT %d", order ? "" : "2 DESC", (int)most);
  return NAI_OK;
}

/* The whole statement; `*unit` is that of one row's value. */
static int put_statement(struct nai_buf *sql, enum nai_unit *unit, const struct names *rows,
                         const struct nai_yaml_node *map, const char *each, struct nai_err *err) {
  const struct nai_yaml_node *gpus = nai_yaml_get(rows->doc, map, "gpus"),
                             *limit = nai_yaml_get(rows->doc, map, "limit");
  const struct nai_column_def columns[] = {{.name = "value", .type = NAI_F64, .unit = *unit},
                                           {.name = "n", .type = NAI_I64, .unit = NAI_COUNT}};
  const struct nai_schema of_gpus = {"gpus", "", "", columns, 2};
  struct names values = {.set = rows->set, .doc = rows->doc, .count = 1, .sources = {{.schema = &of_gpus}}};
  nai_buf_puts(sql, limit ? "SELECT * FROM (" : "");
  if (gpus) {
    NAI_TRY(aggregate_compile(unit, &values, map, gpus, err));
    nai_buf_puts(sql, "SELECT member");
    NAI_TRY(put_gpus(sql, &values, gpus, err));
    nai_buf_puts(sql, " FROM (");
  }
  NAI_TRY(put_rows(sql, rows, map, each, gpus != NULL, err));
  nai_buf_puts(sql, gpus ? ") WHERE value IS NOT NULL" : "");
  nai_buf_puts(sql, gpus && each ? " GROUP BY 1" : "");
  if (limit)
    NAI_TRY(put_limit(sql, gpus ? &values : rows, map, limit, err));
  nai_buf_puts(sql, limit ? ")" : "");
  nai_buf_puts(sql, each ? " ORDER BY 1" : "");
  return NAI_OK;
}

static int member_column(const char **out, const struct nai_schema *schema, const struct nai_yaml *doc,
                         const struct nai_yaml_node *each, struct nai_err *err) {
  struct nai_display_column member = {0};
  NAI_TRY(nai_names_column(&member, schema, doc, each, err));
  *out = schema->columns[member.column].name;
  return schema->columns[member.column].type == NAI_STR
           ? NAI_OK
           : nai_yaml_error(doc, each, err, "\"each\" needs a column that holds text");
}

/* {table, where, value, gpus, each, order, limit} */
static int source_compile(struct metric_source *out, struct nai_rule_set *set, const struct metric *m,
                          const struct nai_yaml_node *map, struct nai_err *err) {
  static const char *const keys[] = {"table", "where", "value", "gpus", "each", "order", "limit", NULL};
  const struct nai_yaml_node *table, *value, *each = nai_yaml_get(m->doc, map, "each"),
                                             *where = nai_yaml_get(m->doc, map, "where");
  const char *member = NULL;
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_TRY(refuse_old_form(m->doc, map, err));
  NAI_TRY(nai_yaml_expect_keys(m->doc, map, keys, err));
  NAI_TRY(nai_yaml_require(&table, m->doc, map, "table", err));
  NAI_TRY(nai_names_table(&out->schema, set, m->doc, table, err));
  NAI_TRY(nai_yaml_require(&value, m->doc, map, "value", err));
  struct names rows = {.set = set, .doc = m->doc, .count = 1, .sources = {{.name = "this", .schema = out->schema}}};
  if (where && m->doc != set->builtin)
    NAI_TRY(nai_condition_compile(&out->statement, &rows, where, err));
  NAI_TRY(aggregate_compile(&out->unit, &rows, map, value, err));
  if (each)
    NAI_TRY(member_column(&member, out->schema, m->doc, each, err));
  out->each = each != NULL;
  NAI_TRY(put_statement(&sql, &out->unit, &rows, map, member, err));
  out->scale = nai_unit_scale(out->unit);
  out->unit = out->scale > 1 ? NAI_NS : out->unit;
  return nai_statement_keep(&out->statement, &rows, value, &sql, err);
}

/* --- a metric --------------------------------------------------------------------------------- */

/* Files an amount under what it is a share of. */
static int read_amount(double *relative, double *absolute, double *of_step, const struct metric *m,
                       const struct nai_yaml_node *node, struct nai_err *err) {
  struct nai_quantity q;
  NAI_TRY(nai_quantity_read(&q, m->doc, node, err));
  if (q.kind == NAI_QUANTITY_PERCENT)
    *relative = q.number;
  else if (q.kind == NAI_QUANTITY_OF_STEP && of_step && m->unit == NAI_NS)
    *of_step = q.number;
  else if (q.kind == NAI_QUANTITY_NUMBER || (q.kind == NAI_QUANTITY_UNIT && q.unit == m->unit))
    *absolute = q.number;
  else
    return nai_yaml_error(m->doc, node, err, "\"%s\" does not fit a metric in %s", node->text, nai_unit_name(m->unit));
  return NAI_OK;
}

/* `5%`, or {relative: 5%, absolute: 1ms}. */
static int read_limits(double *relative, double *absolute, double *of_step, const struct metric *m,
                       const struct nai_yaml_node *node, struct nai_err *err) {
  static const char *const keys[] = {"relative", "absolute", NULL};
  if (!node)
    return NAI_OK;
  if (node->kind == NAI_YAML_SCALAR)
    return read_amount(relative, absolute, of_step, m, node, err);
  NAI_TRY(nai_yaml_expect_keys(m->doc, node, keys, err));
  for (const struct nai_yaml_node *n = nai_yaml_first(m->doc, node); n; n = nai_yaml_next(m->doc, n))
    NAI_TRY(read_amount(relative, absolute, of_step, m, n, err));
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
    NAI_TRY(source_compile(&m->sources[i], set, m, node, err));
    if (m->sources[i].each != (strstr(m->id, "{}") != NULL))
      return nai_yaml_error(m->doc, node, err, "an id with {} and \"each\" need each other");
  }
  return any ? NAI_OK : nai_yaml_error(m->doc, m->node, err, "one of step, rate, total is missing");
}

static int metric_compile(struct metric *m, struct nai_rule_set *set, struct nai_err *err) {
  static const char *const keys[] = {"id",   "title", "unit",  "better", "kind",   "gate",     "noise", "budget",
                                     "step", "rate",  "total", "needs",  "absent", "disabled", NULL};
  const struct nai_yaml_node *title, *needs = nai_yaml_get(m->doc, m->node, "needs");
  NAI_TRY(nai_yaml_expect_keys(m->doc, m->node, keys, err));
  NAI_TRY(nai_yaml_require(&title, m->doc, m->node, "title", err));
  NAI_TRY(nai_yaml_text(&m->title, m->doc, title, err));
  NAI_TRY(read_word(&m->better, m->doc, m->node, "better", betters, NULL, err));
  NAI_TRY(read_word(&m->kind, m->doc, m->node, "kind", kinds, NULL, err));
  NAI_TRY(read_word(&m->gate, m->doc, m->node, "gate", gates, NULL, err));
  NAI_TRY(read_word(&m->absent, m->doc, m->node, "absent", absents, "error", err));
  if (needs)
    NAI_TRY(nai_yaml_text(&m->needs, m->doc, needs, err));
  NAI_TRY(sources_compile(m, set, err));
  NAI_TRY(settle_unit(m, err));
  m->noise_pct = m->noise = m->budget_pct = m->budget = m->budget_step_pct = NAN;
  NAI_TRY(read_limits(&m->noise_pct, &m->noise, NULL, m, nai_yaml_get(m->doc, m->node, "noise"), err));
  return read_limits(&m->budget_pct, &m->budget, &m->budget_step_pct, m, nai_yaml_get(m->doc, m->node, "budget"), err);
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
  static const char *const keys[] = {"metrics", NULL};
  const struct nai_yaml_node *root = nai_yaml_root(doc), *list;
  NAI_TRY(nai_yaml_expect_keys(doc, root, keys, err));
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
