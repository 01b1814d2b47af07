/* Tools that are a statement of SQL. Names are quoted, values are parameters. */
#include "features/mcp/internal.h"

static const char *text_of(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

void nai_agent_put_parameter(struct nai_agent_words *words, const char *name, const json_t *value) {
  struct nai_arena *arena = words->arena;
  nai_agent_put_words(words, "--param",
                      json_is_string(value) ? nai_arena_printf(arena, "%s=%s", name, json_string_value(value))
                      : json_is_integer(value)
                          ? nai_arena_printf(arena, "%s=%" JSON_INTEGER_FORMAT, name, json_integer_value(value))
                          : nai_arena_printf(arena, "%s=%.17g", name, json_real_value(value)),
                      NULL);
}

static void put_name(struct nai_buf *sql, const char *name) {
  nai_buf_putc(sql, '"');
  for (; *name; name++) {
    nai_buf_putc(sql, *name);
    if (*name == '"')
      nai_buf_putc(sql, '"');
  }
  nai_buf_putc(sql, '"');
}

/* A value as parameter :pN. Texts stay texts, also those that read as numbers. */
static void put_value(struct nai_buf *sql, struct nai_agent_words *words, size_t n, const json_t *value) {
  nai_agent_put_parameter(words, nai_arena_printf(words->arena, "p%zu", n), value);
  nai_buf_printf(sql, json_is_string(value) ? "cast(:p%zu as text)" : ":p%zu", n);
}

static int put_condition(struct nai_buf *sql, struct nai_agent_words *words, size_t n, const json_t *condition,
                         struct nai_err *err) {
  const char *column = text_of(condition, "column"), *op = text_of(condition, "op");
  const json_t *value = json_object_get(condition, "value");
  bool null = !value || json_is_null(value);
  nai_buf_puts(sql, n ? " and " : " where ");
  if (strcmp(op, "contains") == 0 && json_is_string(value)) {
    nai_buf_puts(sql, "instr(lower(");
    put_name(sql, column);
    nai_buf_puts(sql, "), lower(");
    put_value(sql, words, n, value);
    nai_buf_puts(sql, ")) > 0");
    return NAI_OK;
  }
  if (strcmp(op, "contains") == 0)
    return nai_err_set(err, NAI_EUSAGE, "where[%zu]: contains takes a text as its value", n);
  if (null && strcmp(op, "is_null") != 0 && strcmp(op, "=") != 0 && strcmp(op, "!=") != 0)
    return nai_err_set(err, NAI_EUSAGE, "where[%zu]: %s takes a value", n, op);
  put_name(sql, column);
  if (null)
    nai_buf_puts(sql, strcmp(op, "!=") == 0 ? " is not null" : " is null");
  else if (strcmp(op, "is_null") == 0)
    return nai_err_set(err, NAI_EUSAGE, "where[%zu]: is_null takes no value", n);
  else
    nai_buf_printf(sql, " %s ", op);
  if (!null)
    put_value(sql, words, n, value);
  return NAI_OK;
}

static void put_order(struct nai_buf *sql, size_t n, const char *order) {
  static const char *const ends[] = {" desc", " asc"};
  size_t len = strlen(order);
  const char *end = "";
  char name[160];
  for (size_t i = 0; i < 2; i++) {
    size_t m = strlen(ends[i]);
    if (len > m && strcmp(order + len - m, ends[i]) == 0) {
      end = ends[i];
      len -= m;
    }
  }
  memcpy(name, order, len); /* the catalogue allows no more than fit */
  name[len] = '\0';
  nai_buf_puts(sql, n ? ", " : " order by ");
  put_name(sql, name);
  nai_buf_puts(sql, end);
}

int nai_agent_table_statement(struct nai_buf *sql, struct nai_agent_words *words, const json_t *arguments,
                              struct nai_err *err) {
  json_t *columns = json_object_get(arguments, "columns"), *where = json_object_get(arguments, "where");
  json_t *order = json_object_get(arguments, "order"), *one;
  size_t i;
  nai_buf_puts(sql, columns ? "select " : "select *");
  json_array_foreach(columns, i, one) {
    nai_buf_puts(sql, i ? ", " : "");
    put_name(sql, json_string_value(one));
  }
  nai_buf_puts(sql, " from ");
  put_name(sql, text_of(arguments, "table"));
  json_array_foreach(where, i, one) NAI_TRY(put_condition(sql, words, i, one, err));
  json_array_foreach(order, i, one) put_order(sql, i, json_string_value(one));
  return nai_buf_check(sql, err);
}

void nai_agent_findings_statement(struct nai_buf *sql, struct nai_agent_words *words, const json_t *arguments) {
  static const char *const severities[] = {"high", "medium", "low", "info"};
  const char *severity = text_of(arguments, "severity"), *rule = text_of(arguments, "rule");
  nai_buf_puts(sql,
               "select f.finding, f.id, f.severity, f.title, f.scope, f.device_id, f.pid, f.saving_ns, "
               "f.pct_of_active, f.why, f.recommendation, f.verify, f.links, (select json_group_array(json_object("
               "'text', e.text, 'start_ns', e.start_ns, 'end_ns', e.end_ns, 'device_id', e.device_id, 'pid', e.pid, "
               "'table', e.table_name, 'row', e.row)) from (select * from evidence where finding = f.finding order by "
               "rowid limit 20) e) as evidence from findings f where 1");
  if (severity) {
    nai_buf_puts(sql, " and f.severity in (''");
    for (size_t i = 0; i < 4; i++) {
      nai_buf_printf(sql, ", '%s'", severities[i]);
      if (strcmp(severities[i], severity) == 0)
        break;
    }
    nai_buf_puts(sql, ")");
  }
  if (rule) {
    nai_agent_put_words(words, "--param", nai_arena_printf(words->arena, "rule=%s", rule), NULL);
    nai_buf_puts(sql, " and f.id = cast(:rule as text)");
  }
  nai_buf_puts(sql, " order by f.finding");
}
