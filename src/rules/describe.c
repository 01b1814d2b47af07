/* Rule sets as text: `rules list` and `rules explain ID`. */
#include "rules/evaluation.h"
#include "table/json.h"

/* The part of a rule that its title always says: a title may be a list of variants. */
static const char *first_text(const struct nai_yaml *doc, const struct nai_yaml_node *node) {
  while (node && node->kind != NAI_YAML_SCALAR) {
    const struct nai_yaml_node *text = nai_yaml_get(doc, node, "text");
    node = text ? text : nai_yaml_first(doc, node);
  }
  return node ? node->text : "";
}

static void put_severities(struct nai_buf *out, const struct rule *rule) {
  size_t start = out->len;
  if (rule->has_ladder)
    nai_buf_puts(out, "by saving");
  for (int s = 3; s >= 0; s--)
    if (rule->has_severity[s])
      nai_buf_printf(out, "%s%s", out->len > start ? "/" : "", nai_severity_name(s));
}

/* A title, with what a finding fills in left open: "N launch calls" for {{count|launch calls}}. */
static void put_title(struct nai_buf *out, const char *title) {
  for (const char *at; (at = strstr(title, "{{")); title = at) {
    size_t len = strcspn(at, "}");
    const char *noun = memchr(at, '|', len);
    nai_buf_put(out, title, (size_t)(at - title));
    nai_buf_puts(out, noun ? "N " : "...");
    if (noun)
      nai_buf_put(out, noun + 1, len - (size_t)(noun + 1 - at));
    at += len + strspn(at + len, "}");
  }
  nai_buf_puts(out, title);
}

void nai_rules_list(struct nai_buf *out, const struct nai_rule_set *set) {
  size_t id_width = 0, table_width = 0;
  NAI_SCOPED(nai_buf) severities = {0};
  for (uint32_t i = 0; i < set->rules.count; i++) {
    const struct rule *rule = set->rules.at[i];
    size_t id = strlen(rule->id), table = rule->disabled ? 0 : strlen(rule->rows.schema->name);
    id_width = id > id_width ? id : id_width;
    table_width = table > table_width ? table : table_width;
  }
  for (uint32_t i = 0; i < set->rules.count; i++) {
    const struct rule *rule = set->rules.at[i];
    nai_buf_clear(&severities);
    if (rule->disabled)
      nai_buf_puts(&severities, "disabled");
    else
      put_severities(&severities, rule);
    nai_buf_printf(out, "%-*s  %-*s  %-*s  ", (int)id_width, rule->id, (int)strlen("high/medium/low"),
                   nai_buf_str(&severities), (int)table_width, rule->disabled ? "" : rule->rows.schema->name);
    put_title(out, first_text(rule->doc, nai_yaml_get(rule->doc, rule->node, "title")));
    nai_buf_putc(out, '\n');
  }
  out->oom |= severities.oom;
}

void nai_rules_list_json(struct nai_buf *out, const struct nai_rule_set *set) {
  struct nai_json json;
  NAI_SCOPED(nai_buf) severities = {0};
  nai_json_open(&json, out, NAI_JSON_INLINE);
  nai_json_put_array(&json, "rules", NAI_JSON_LINES);
  for (uint32_t i = 0; i < set->rules.count; i++) {
    const struct rule *rule = set->rules.at[i];
    nai_buf_clear(&severities);
    put_severities(&severities, rule);
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    nai_json_put_text(&json, "id", rule->id);
    nai_json_put_text(&json, "severities", rule->disabled ? NULL : nai_buf_str(&severities));
    nai_json_put_text(&json, "table", rule->disabled ? NULL : rule->rows.schema->name);
    nai_json_put_text(&json, "title", first_text(rule->doc, nai_yaml_get(rule->doc, rule->node, "title")));
    nai_json_end(&json);
  }
  nai_json_close(&json);
  out->oom |= severities.oom;
}

/* Prints text with every line indented; a text of several lines starts on its own line. */
static void put_text(struct nai_buf *out, const char *text, int indent) {
  bool block = strchr(text, '\n') != NULL;
  for (const char *line = text; *line;) {
    size_t len = strcspn(line, "\n");
    if (block)
      nai_buf_printf(out, "\n%*s", len ? indent : 0, "");
    nai_buf_put(out, line, len);
    line += len + (line[len] == '\n');
  }
  nai_buf_putc(out, '\n');
}

/* The rule as it was written, without quotes and comments. */
static void put_tree(struct nai_buf *out, const struct nai_yaml *doc, const struct nai_yaml_node *root) {
  const struct nai_yaml_node *stack[NAI_YAML_MAX_DEPTH + 1];
  int depth = 0;
  for (const struct nai_yaml_node *node = nai_yaml_first(doc, root); node;) {
    nai_buf_printf(out, "%*s", 2 * depth, "");
    if (node->key)
      nai_buf_printf(out, "%s:%s", node->key, node->kind == NAI_YAML_SCALAR ? " " : "\n");
    else
      nai_buf_puts(out, node->kind == NAI_YAML_SCALAR ? "- " : "-\n");
    if (node->kind == NAI_YAML_SCALAR)
      put_text(out, node->text, 2 * depth + 2);
    const struct nai_yaml_node *child = nai_yaml_first(doc, node);
    if (child) {
      stack[depth++] = node;
      node = child;
      continue;
    }
    const struct nai_yaml_node *next = nai_yaml_next(doc, node);
    while (!next && depth > 0)
      next = nai_yaml_next(doc, stack[--depth]);
    node = next;
  }
}

/* Whether the text names the parameter. */
static bool mentions(const char *text, const char *parameter) {
  size_t len = strlen(parameter);
  for (const char *at = text; (at = strstr(at, "param.")) != NULL;) {
    at += strlen("param.");
    if (strncmp(at, parameter, len) == 0 && (!at[len] || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", at[len])))
      return true;
  }
  return false;
}

/* Parameters the rule's text mentions, with the values in force. */
static void put_parameters(struct nai_buf *out, const struct nai_rule_set *set, const char *rule_text) {
  const char *heading = "\nparameters:\n";
  for (uint32_t i = 0; i < set->parameters.count; i++) {
    const struct parameter *parameter = &set->parameters.at[i];
    if (!mentions(rule_text, parameter->name))
      continue;
    nai_buf_printf(out, "%s  %s = ", heading, parameter->name);
    nai_number_print(out, parameter->value);
    nai_buf_putc(out, '\n');
    heading = "";
  }
}

int nai_rules_explain(struct nai_buf *out, const struct nai_rule_set *set, const char *id, struct nai_err *err) {
  const struct rule *rule = nai_names_rule(set, id);
  const char *guess = rule ? NULL : nai_names_suggest_rule(set, id);
  if (guess)
    return nai_err_set(err, NAI_EUSAGE, "unknown rule \"%s\"; did you mean \"%s\"?", id, guess);
  if (!rule)
    return nai_err_set(err, NAI_EUSAGE, "unknown rule \"%s\"", id);
  nai_buf_printf(out, "%s (%s, line %u)%s\n", rule->id, rule->doc->file, rule->node->line,
                 rule->disabled ? ", disabled" : "");
  if (!rule->disabled) {
    nai_buf_printf(out, "reads table \"%s\": %s\n", rule->rows.schema->name, rule->rows.schema->description);
    nai_buf_puts(out, "severities: ");
    put_severities(out, rule);
    nai_buf_putc(out, '\n');
  }
  NAI_SCOPED(nai_buf) text = {0};
  put_tree(&text, rule->doc, rule->node);
  NAI_TRY(nai_buf_check(&text, err));
  put_parameters(out, set, nai_buf_str(&text));
  nai_buf_printf(out, "\n%s", nai_buf_str(&text));
  return nai_buf_check(out, err);
}
