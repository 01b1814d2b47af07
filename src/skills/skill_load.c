/* A file of a skill or a page. */
#include "base/text.h"
#include "skills/internal.h"

static const char *const types[] = {"integer", "number", "text", "gpu", "time", NULL};
/* A member that must be there, as text. */
static int get_text(const char **out, const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key,
                    struct nai_err *err) {
  const struct nai_yaml_node *node;
  NAI_TRY(nai_yaml_require(&node, doc, map, key, err));
  return nai_yaml_text(out, doc, node, err);
}

/* Members that need not be there: else the value stays. */
static int get_text_if(const char **out, const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key,
                       struct nai_err *err) {
  return nai_yaml_get(doc, map, key) ? get_text(out, doc, map, key, err) : NAI_OK;
}

static int get_bool_if(bool *out, const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key,
                       struct nai_err *err) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, map, key);
  return node ? nai_yaml_bool(out, doc, node, err) : NAI_OK;
}

static int check_name(const struct nai_yaml *doc, const struct nai_yaml_node *node, const char *name,
                      struct nai_err *err) {
  enum { LONGEST = 41 };
  size_t len = strlen(name);
  bool good = len && len <= LONGEST && name[0] >= 'a' && name[0] <= 'z' &&
              strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
  return good ? NAI_OK
              : nai_yaml_error(doc, node, err,
                               "\"%.60s\" is no name: use a-z, 0-9 and _, at most 41 of them, a letter first", name);
}

/* --- where the statement stands ------------------------------------------------------------------- */

static const char *line_of(const char *file, uint32_t line) {
  while (file && --line > 0)
    if ((file = strchr(file, '\n')))
      file++;
  return file ? file : "";
}

/* A block scalar begins on the line below its indicator, each line indented alike. */
static struct nai_query_text statement_at(const struct nai_yaml_node *node, const struct nai_buf *file,
                                          const char *label) {
  struct nai_query_text text = {
      .sql = node->text, .label = label, .line = (int)node->line, .column = (int)node->column};
  const char *line = line_of(nai_buf_str(file), node->line), *indicator = line;
  for (uint32_t i = 1; i < node->column && *indicator; i++)
    indicator++;
  if (*indicator == '|' || *indicator == '>') {
    text.line++;
    text.indent = (int)strspn(line_of(nai_buf_str(file), node->line + 1), " ");
    text.column = 1 + text.indent;
  } else if (*indicator == '"' || *indicator == '\'') {
    text.column++;
  }
  return text;
}

/* --- skill ----------------------------------------------------------------------------------------- */

static int read_needs(struct nai_skill *s, const struct nai_yaml_node *root, struct nai_err *err) {
  const struct nai_yaml_node *n;
  NAI_TRY(nai_yaml_items(&n, s->doc, root, "needs", NAI_YAML_LIST, err));
  for (; n; n = nai_yaml_next(s->doc, n)) {
    if (s->need_count == NAI_SKILL_MAX_NEEDS)
      return nai_yaml_error(s->doc, n, err, "more than %d needs", NAI_SKILL_MAX_NEEDS);
    NAI_TRY(nai_yaml_text(&s->needs[s->need_count++], s->doc, n, err));
  }
  return NAI_OK;
}

static int type_of(enum nai_skill_type *out, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                   struct nai_err *err) {
  for (int i = 0; node && types[i]; i++)
    if (strcmp(types[i], node->text) == 0) {
      *out = (enum nai_skill_type)i;
      return NAI_OK;
    }
  return nai_yaml_error(doc, node, err, "\"type\" is integer, number, text, gpu or time");
}

static int read_bound(bool *has, double *out, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                      const char *key, struct nai_err *err) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, map, key);
  *has = node != NULL;
  return node ? nai_yaml_number(out, doc, node, err) : NAI_OK;
}

static int read_parameter(struct nai_skill_parameter *p, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                          struct nai_err *err) {
  const struct nai_yaml_node *type = nai_yaml_get(doc, node, "type"), *value;
  p->name = node->key;
  p->value.null = true;
  NAI_TRY(nai_yaml_expect_keys(doc, node, NAI_WORDS("type", "default", "required", "min", "max", "description"), err));
  NAI_TRY(type_of(&p->type, doc, type ? type : node, err));
  NAI_TRY(get_text(&p->description, doc, node, "description", err));
  NAI_TRY(read_bound(&p->has_min, &p->min, doc, node, "min", err));
  NAI_TRY(read_bound(&p->has_max, &p->max, doc, node, "max", err));
  NAI_TRY(get_bool_if(&p->required, doc, node, "required", err));
  value = nai_yaml_get(doc, node, "default");
  if (!value && !p->required && p->type != NAI_SKILL_GPU)
    return nai_yaml_error(doc, node, err, "\"default\" is missing (or \"required: true\")");
  if (!value)
    return NAI_OK;
  NAI_TRY(nai_yaml_expect(doc, value, NAI_YAML_SCALAR, err));
  return nai_skill_value(&p->value, p, value->text, err) ? nai_yaml_error(doc, value, err, "%s", err->msg) : NAI_OK;
}

static int read_parameters(struct nai_skill *s, const struct nai_yaml_node *root, struct nai_err *err) {
  const struct nai_yaml_node *n;
  NAI_TRY(nai_yaml_items(&n, s->doc, root, "parameters", NAI_YAML_MAP, err));
  for (; n; n = nai_yaml_next(s->doc, n)) {
    if (s->parameter_count == NAI_SKILL_MAX_PARAMETERS)
      return nai_yaml_error_key(s->doc, n, err, "more than %d parameters", NAI_SKILL_MAX_PARAMETERS);
    for (int i = 0; i < NAI_SKILL_ALWAYS; i++)
      if (strcmp(n->key, nai_skill_always[i]) == 0)
        return nai_yaml_error_key(s->doc, n, err, "the parameter \"%s\" is always there", n->key);
    NAI_TRY(check_name(s->doc, n, n->key, err));
    NAI_TRY(read_parameter(&s->parameters[s->parameter_count++], s->doc, n, err));
  }
  return NAI_OK;
}

static int unit_of(enum nai_unit *out, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                   struct nai_err *err) {
  for (int unit = 0; unit < NAI_UNIT_COUNT; unit++)
    if (strcmp(nai_unit_name((enum nai_unit)unit), node->text) == 0) {
      *out = (enum nai_unit)unit;
      return NAI_OK;
    }
  return nai_yaml_error(
      doc, node, err,
      "\"%.40s\" is no unit: text, ns, us, ms, s, timestamp_ns, bytes, percent, count, id, per_second or gb_per_s",
      node->text);
}

/* Columns in scaled units are made from ns, and say their unit. */
static int check_scaled(const struct nai_skill_column *c, bool has_from, const struct nai_yaml *doc,
                        const struct nai_yaml_node *node, struct nai_err *err) {
  const char *unit = nai_unit_name(c->unit);
  size_t len = strlen(c->name), suffix = strlen(unit);
  if (c->unit != NAI_US && c->unit != NAI_MS && c->unit != NAI_S)
    return NAI_OK;
  if (len <= suffix + 1 || c->name[len - suffix - 1] != '_' || strcmp(c->name + len - suffix, unit) != 0)
    return nai_yaml_error_key(doc, node, err, "a column in %s is called ..._%s", unit, unit);
  return has_from
           ? NAI_OK
           : nai_yaml_error_key(doc, node, err,
                                "\"from\" is missing: %s are made from a column of the statement that holds ns", unit);
}

static int read_column(struct nai_skill_column *c, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                       struct nai_err *err) {
  const struct nai_yaml_node *unit, *description, *from;
  if (node->kind == NAI_YAML_LIST) { /* [unit, description, from] */
    unit = nai_yaml_first(doc, node);
    description = unit ? nai_yaml_next(doc, unit) : NULL;
    from = description ? nai_yaml_next(doc, description) : NULL;
  } else {
    NAI_TRY(nai_yaml_expect_keys(doc, node, NAI_WORDS("unit", "description", "from", "real"), err));
    unit = nai_yaml_get(doc, node, "unit");
    description = nai_yaml_get(doc, node, "description");
    from = nai_yaml_get(doc, node, "from");
  }
  if (!unit || !description)
    return nai_yaml_error(
        doc, node, err,
        "a column has a unit and a description: [unit, description], or [unit, description, column of the statement]");
  c->name = c->from = node->key;
  NAI_TRY(unit_of(&c->unit, doc, unit, err));
  NAI_TRY(nai_yaml_text(&c->description, doc, description, err));
  if (from)
    NAI_TRY(nai_yaml_text(&c->from, doc, from, err));
  NAI_TRY(get_bool_if(&c->real, doc, node, "real", err));
  c->real |= c->unit == NAI_PCT || c->unit == NAI_PER_S || c->unit == NAI_GB_PER_S;
  return check_scaled(c, from != NULL, doc, node, err);
}

static int read_columns(struct nai_skill *s, const struct nai_yaml_node *root, struct nai_err *err) {
  const struct nai_yaml_node *n;
  NAI_TRY(nai_yaml_items(&n, s->doc, root, "columns", NAI_YAML_MAP, err));
  for (; n; n = nai_yaml_next(s->doc, n)) {
    if (s->column_count == NAI_SKILL_MAX_COLUMNS)
      return nai_yaml_error_key(s->doc, n, err, "more than %d columns", NAI_SKILL_MAX_COLUMNS);
    NAI_TRY(check_name(s->doc, n, n->key, err));
    NAI_TRY(read_column(&s->columns[s->column_count++], s->doc, n, err));
  }
  return NAI_OK;
}

/* "column" or "column desc". */
static int read_order(struct nai_skill *s, const struct nai_yaml_node *root, struct nai_err *err) {
  const struct nai_yaml_node *n;
  NAI_TRY(nai_yaml_items(&n, s->doc, root, "order", NAI_YAML_LIST, err));
  for (; n; n = nai_yaml_next(s->doc, n)) {
    struct nai_skill_order *key = &s->order[s->order_count];
    size_t len = strcspn(n->text, " ");
    if (s->order_count++ == NAI_SKILL_MAX_ORDER)
      return nai_yaml_error(s->doc, n, err, "more than %d columns", NAI_SKILL_MAX_ORDER);
    key->descending = strcmp(n->text + len, " desc") == 0;
    key->column = -1;
    for (size_t c = 0; c < s->column_count; c++)
      if (strlen(s->columns[c].name) == len && strncmp(s->columns[c].name, n->text, len) == 0)
        key->column = (int)c;
    if (key->column < 0 || (n->text[len] && !key->descending))
      return nai_yaml_error(s->doc, n, err, "\"%.60s\": expected a column of this skill, or \"COLUMN desc\"", n->text);
  }
  return NAI_OK;
}

int nai_skill_read(struct nai_skill *s, struct nai_err *err) {
  static const char *const keys[] = {"skill",   "title", "description", "category", "needs", "parameters", "sql",
                                     "columns", "order", "text",        "rules",    "tests", NULL};
  const struct nai_yaml_node *root = nai_yaml_root(s->doc);
  const char *ignored;
  NAI_TRY(nai_yaml_expect_keys(s->doc, root, keys, err));
  NAI_TRY(get_text(&s->id, s->doc, root, "skill", err));
  NAI_TRY(check_name(s->doc, nai_yaml_get(s->doc, root, "skill"), s->id, err));
  NAI_TRY(get_text(&s->title, s->doc, root, "title", err));
  NAI_TRY(get_text(&s->description, s->doc, root, "description", err));
  s->category = "other";
  NAI_TRY(get_text_if(&s->category, s->doc, root, "category", err));
  NAI_TRY(get_text_if(&s->line, s->doc, root, "text", err));
  NAI_TRY(get_text(&ignored, s->doc, root, "sql", err));
  if (!nai_yaml_get(s->doc, root, "columns"))
    return nai_yaml_error(s->doc, root, err, "\"columns\" is missing");
  NAI_TRY(read_needs(s, root, err));
  NAI_TRY(read_parameters(s, root, err));
  NAI_TRY(read_columns(s, root, err));
  NAI_TRY(read_order(s, root, err));
  s->text = statement_at(nai_yaml_get(s->doc, root, "sql"), &s->file, s->doc->file);
  s->tests = nai_yaml_get(s->doc, root, "tests");
  s->has_rules = nai_yaml_get(s->doc, root, "rules");
  return s->tests ? nai_yaml_expect(s->doc, s->tests, NAI_YAML_LIST, err) : NAI_OK;
}

/* --- page ------------------------------------------------------------------------------------------ */

static int read_block(struct nai_page_block *b, const struct nai_skill *p, const struct nai_yaml_node *node,
                      struct nai_err *err) {
  const struct nai_yaml_node *sql = nai_yaml_get(p->doc, node, "sql"), *rows = nai_yaml_get(p->doc, node, "rows");
  bool is_verdict = false;
  NAI_TRY(
      nai_yaml_expect_keys(p->doc, node, NAI_WORDS("title", "sql", "text", "skill", "none", "rows", "verdict"), err));
  NAI_TRY(get_text_if(&b->title, p->doc, node, "title", err));
  NAI_TRY(get_text_if(&b->skill, p->doc, node, "skill", err));
  NAI_TRY(get_text_if(&b->line, p->doc, node, "text", err));
  NAI_TRY(get_text_if(&b->none, p->doc, node, "none", err));
  NAI_TRY(get_bool_if(&is_verdict, p->doc, node, "verdict", err));
  if (rows)
    NAI_TRY(nai_yaml_int(&b->rows, p->doc, rows, 1, INT32_MAX, err));
  if (sql) {
    NAI_TRY(nai_yaml_expect(p->doc, sql, NAI_YAML_SCALAR, err));
    b->text = statement_at(sql, &p->file, p->doc->file);
  }
  return (sql != NULL) + (b->skill != NULL) + is_verdict == 1
           ? NAI_OK
           : nai_yaml_error(p->doc, node, err, "a block has one of \"sql\", \"skill\" and \"verdict: true\"");
}

int nai_page_read(struct nai_skill *p, struct nai_err *err) {
  const struct nai_yaml_node *root = nai_yaml_root(p->doc), *n;
  NAI_TRY(nai_yaml_expect_keys(p->doc, root, NAI_WORDS("page", "title", "description", "blocks"), err));
  NAI_TRY(get_text(&p->id, p->doc, root, "page", err));
  NAI_TRY(check_name(p->doc, nai_yaml_get(p->doc, root, "page"), p->id, err));
  NAI_TRY(get_text(&p->title, p->doc, root, "title", err));
  p->description = p->title;
  NAI_TRY(get_text_if(&p->description, p->doc, root, "description", err));
  if (!nai_yaml_get(p->doc, root, "blocks"))
    return nai_yaml_error(p->doc, root, err, "\"blocks\" is missing");
  NAI_TRY(nai_yaml_items(&n, p->doc, root, "blocks", NAI_YAML_LIST, err));
  for (; n; n = nai_yaml_next(p->doc, n)) {
    if (p->block_count == NAI_PAGE_MAX_BLOCKS)
      return nai_yaml_error(p->doc, n, err, "more than %d blocks", NAI_PAGE_MAX_BLOCKS);
    NAI_TRY(read_block(&p->blocks[p->block_count++], p, n, err));
  }
  return NAI_OK;
}
