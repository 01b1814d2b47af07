/* Where a metric comes from: {table, where, value, gpus, each, order, limit} to one statement. */
#include "rules/metrics_internal.h"

enum { MAX_FAMILY = 1000 };

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

/* --- the statement ----------------------------------------------------------------------------- */

/* A number over several rows. */
static int aggregate_compile(enum nai_unit *unit, const struct names *names, const struct nai_yaml_node *map,
                             const struct nai_yaml_node *node, struct nai_err *err) {
  struct expression *number;
  NAI_TRY(nai_number_compile(&number, names, node, err));
  *unit = number->unit;
  return number->aggregate ? NAI_OK : old_form(names->doc, map, node, false, err);
}

/* A text of the file over the columns of source 0; `otherwise` where there is none. */
static int columns_text(const char **out, const struct names *names, const struct nai_yaml_node *node,
                        const char *otherwise, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  *out = otherwise;
  if (!node)
    return NAI_OK;
  NAI_TRY(nai_columns_put(&text, names, node, err));
  *out = nai_text_keep(&names->set->arena, &text);
  return nai_arena_check(&names->set->arena, err);
}

/* The quartiles and number of what a value sums up, as far as it is one call. */
static const char *spread_of(struct nai_arena *arena, const char *value) {
  struct call call;
  bool plain = read_call(&call, value);
  const char *x = plain ? nai_arena_printf(arena, "%.*s", (int)call.argument_len, call.argument) : "*";
  if (plain && (is_call(&call, "median") || is_call(&call, "avg")))
    return nai_arena_printf(arena, "percentile(%s, 25) AS q25, percentile(%s, 75) AS q75, count(%s) AS n", x, x, x);
  return nai_arena_printf(arena, "NULL AS q25, NULL AS q75, count(%s) AS n", x);
}

/* Whether no two rows have the same text in this column. */
static bool is_key(const struct nai_schema *schema, const char *column) {
  int keys = 0;
  for (uint32_t c = 0; c < schema->column_count; c++)
    keys += schema->columns[c].key;
  return keys == 1 && schema->columns[nai_schema_column(schema, column)].key;
}

/* What rows are grouped by: their member, with `gpus` also their GPU and process. Where each row is a member they come
 * in groups of one as they are, and need no sorting. */
static const char *groups_of(struct nai_arena *arena, const struct nai_schema *schema, const char *member, bool gpus) {
  static const enum nai_role roles[] = {NAI_ROLE_DEVICE, NAI_ROLE_PROCESS};
  if (member && is_key(schema, member))
    return " GROUP BY this.rowid";
  const char *by = member ? nai_arena_printf(arena, " GROUP BY \"%s\"", member) : "";
  for (size_t i = 0; gpus && i < sizeof roles / sizeof *roles; i++) {
    int column = nai_schema_role(schema, roles[i]);
    if (column >= 0)
      by = nai_arena_printf(arena, "%s%s\"%s\"", by, *by ? ", " : " GROUP BY ", schema->columns[column].name);
  }
  return by;
}

/* One row per member and, with `gpus`, per GPU and process. */
static int rows_statement(const char **out, const struct names *rows, const struct nai_yaml_node *map,
                          const char *member, bool gpus, struct nai_err *err) {
  struct nai_arena *arena = &rows->set->arena;
  const struct nai_schema *schema = rows->sources[0].schema;
  const char *value, *where;
  NAI_TRY(columns_text(&value, rows, nai_yaml_get(rows->doc, map, "value"), "", err));
  NAI_TRY(columns_text(&where, rows, nai_yaml_get(rows->doc, map, "where"), "1", err));
  *out = nai_arena_printf(arena, "SELECT %s AS member, %s AS value, %s FROM \"%s\" AS this WHERE (%s)%s",
                          member ? nai_arena_printf(arena, "coalesce(\"%s\", '')", member) : "''", value,
                          spread_of(arena, value), schema->name, where, groups_of(arena, schema, member, gpus));
  return NAI_OK;
}

/* Of the GPUs of each member one row; the quartiles are those of the one whose value is taken. Not min(n): beside one
 * max() or min() SQLite takes other columns from the row that has it. */
static int gpus_statement(const char **out, const struct names *values, const struct nai_yaml_node *gpus, bool each,
                          const char *of_gpus, struct nai_err *err) {
  const char *value;
  struct call call;
  NAI_TRY(columns_text(&value, values, gpus, "", err));
  bool takes = read_call(&call, value) && (is_call(&call, "max") || is_call(&call, "min"));
  *out = nai_arena_printf(&values->set->arena,
                          "SELECT member, %s, %s, percentile(n, 0) FROM (%s) WHERE value IS NOT NULL%s", value,
                          takes ? "q25, q75" : "iif(count(*) = 1, q25, NULL), iif(count(*) = 1, q75, NULL)", of_gpus,
                          each ? " GROUP BY 1" : "");
  return NAI_OK;
}

/* Only the first members in `order`, or those with the largest values. */
static int limited_statement(const char **out, const struct names *names, const struct nai_yaml_node *map,
                             const struct nai_yaml_node *limit, const char *of_all, struct nai_err *err) {
  const char *order;
  int64_t most;
  NAI_TRY(nai_yaml_int(&most, names->doc, limit, 1, MAX_FAMILY, err));
  NAI_TRY(columns_text(&order, names, nai_yaml_get(names->doc, map, "order"), "2 DESC", err));
  *out = nai_arena_printf(&names->set->arena, "SELECT * FROM (%s ORDER BY %s, 1 LIMIT %d)", of_all, order, (int)most);
  return NAI_OK;
}

/* The whole statement; *unit is that of one row's value, and becomes that of the metric's. */
static int statement_compile(const char **out, enum nai_unit *unit, const struct names *rows,
                             const struct nai_yaml_node *map, const char *member, struct nai_err *err) {
  const struct nai_yaml_node *gpus = nai_yaml_get(rows->doc, map, "gpus"),
                             *limit = nai_yaml_get(rows->doc, map, "limit");
  const struct nai_column_def columns[] = {{.name = "value", .type = NAI_F64, .unit = *unit},
                                           {.name = "n", .type = NAI_I64, .unit = NAI_COUNT}};
  const struct nai_schema of_gpus = {"gpus", "", "", columns, 2};
  struct names values = {.set = rows->set, .doc = rows->doc, .count = 1, .sources = {{.schema = &of_gpus}}};
  if (gpus)
    NAI_TRY(aggregate_compile(unit, &values, map, gpus, err));
  NAI_TRY(rows_statement(out, rows, map, member, gpus, err));
  if (gpus)
    NAI_TRY(gpus_statement(out, &values, gpus, member, *out, err));
  if (limit)
    NAI_TRY(limited_statement(out, gpus ? &values : rows, map, limit, *out, err));
  if (member)
    *out = nai_arena_printf(&rows->set->arena, "%s ORDER BY 1", *out);
  return nai_arena_check(&rows->set->arena, err);
}

static int member_column(const char **name, struct metric_source *out, const struct nai_yaml *doc,
                         const struct nai_yaml_node *each, struct nai_err *err) {
  struct nai_display_column member = {0};
  NAI_TRY(nai_names_column(&member, out->schema, doc, each, err));
  *name = out->schema->columns[member.column].name;
  out->of_kernels = out->schema->columns[member.column].role == NAI_ROLE_KERNEL_NAME;
  return out->schema->columns[member.column].type != NAI_F64
           ? NAI_OK
           : nai_yaml_error(doc, each, err, "\"each\" needs a column that holds text or whole numbers");
}

/* {table, where, value, gpus, each, order, limit} */
int nai_metric_source_compile(struct metric_source *out, struct nai_rule_set *set, const struct nai_yaml *doc,
                              const struct nai_yaml_node *map, struct nai_err *err) {
  static const char *const keys[] = {"table", "where", "value", "gpus", "each", "order", "limit", NULL};
  const struct nai_yaml_node *table, *value, *each = nai_yaml_get(doc, map, "each"),
                                             *where = nai_yaml_get(doc, map, "where");
  const char *member = NULL, *sql;
  NAI_TRY(refuse_old_form(doc, map, err));
  NAI_TRY(nai_yaml_expect_keys(doc, map, keys, err));
  NAI_TRY(nai_yaml_require(&table, doc, map, "table", err));
  NAI_TRY(nai_names_table(&out->schema, set, doc, table, err));
  NAI_TRY(nai_yaml_require(&value, doc, map, "value", err));
  struct names rows = {.set = set, .doc = doc, .count = 1, .sources = {{.name = "this", .schema = out->schema}}};
  if (where && doc != set->builtin)
    NAI_TRY(nai_condition_compile(&out->statement, &rows, where, err));
  NAI_TRY(aggregate_compile(&out->unit, &rows, map, value, err));
  if (each)
    NAI_TRY(member_column(&member, out, doc, each, err));
  out->each = each != NULL;
  NAI_TRY(statement_compile(&sql, &out->unit, &rows, map, member, err));
  out->scale = nai_unit_scale(out->unit);
  out->unit = out->scale > 1 ? NAI_NS : out->unit;
  return nai_statement_keep(&out->statement, &rows, value, sql, err);
}
