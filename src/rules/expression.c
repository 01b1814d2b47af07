/* Expressions: SQL whose names of rows, parameters and facts are found here, so that a mistake is told with its place,
 * and bound when it runs. SQLite reads the rest. */
#include "rules/internal.h"

#include <strings.h>

enum { MAX_NESTING = 64 };

struct reader {
  const struct names *names;
  const struct nai_yaml_node *node;
  const char *text, *at;
  int own;                  /* the source whose columns SQLite reads itself; -1: all names are bound */
  bool select[MAX_NESTING]; /* per open parenthesis: it holds a SELECT, whose names are its own */
  int depth, selects;
  struct nai_buf *sql;
  struct refs refs; /* bound */
  uint32_t sources; /* of them */
  struct nai_err *err;
};

/* Bytes of a word. */
static size_t span(const char *text) {
  size_t len = 0;
  while (nai_is_of_word(text[len]))
    len++;
  return len;
}

static int fail_at(const struct reader *r, const char *at, const char *message) {
  return nai_yaml_error_in(r->names->doc, r->node, (size_t)(at - r->text), r->err, "%s", message);
}

/* --- the form that conditions had before --------------------------------------------------------- */

static void put_operator(struct nai_buf *out, const char *text) {
  const char *word = strstr(text, " contains '"), *end = word ? strchr(word + strlen(" contains '"), '\'') : NULL;
  const char *left = word;
  while (left && left > text && !strchr(" (", left[-1]))
    left--;
  if (!end) {
    nai_buf_puts(out, text);
    return;
  }
  const char *part = word + strlen(" contains ");
  nai_buf_printf(out, "%.*scontains(%.*s, %.*s)", (int)(left - text), text, (int)(word - left), left,
                 (int)(end + 1 - part), part);
  put_operator(out, end + 1);
}

static void put_condition(struct nai_buf *out, const struct nai_yaml *doc, const struct nai_yaml_node *node) {
  const struct nai_yaml_node *first = nai_yaml_first(doc, node);
  const char *joint = " and ";
  if (node->kind == NAI_YAML_SCALAR) {
    put_operator(out, node->text);
    return;
  }
  bool negated = node->kind == NAI_YAML_MAP && first && strcmp(first->key, "not") == 0;
  if (node->kind == NAI_YAML_MAP && first && !negated) {
    joint = strcmp(first->key, "any") == 0 ? " or " : joint;
    node = first;
    first = nai_yaml_first(doc, node);
  }
  nai_buf_putc(out, '(');
  for (const struct nai_yaml_node *n = first; n; n = negated ? NULL : nai_yaml_next(doc, n)) {
    if (n != first)
      nai_buf_puts(out, joint);
    put_condition(out, doc, n);
  }
  nai_buf_puts(out, negated ? ") is not true" : ")");
}

static int old_form(const struct names *names, const struct nai_yaml_node *node, struct nai_err *err) {
  NAI_SCOPED(nai_buf) form = {0};
  put_condition(&form, names->doc, node);
  NAI_TRY(nai_buf_check(&form, err));
  return nai_yaml_error(names->doc, node, err, "conditions are SQL: write \"%s\"", nai_buf_str(&form));
}

/* --- words ---------------------------------------------------------------------------------------- */

static bool is_word(const char *start, size_t len, const char *word) {
  return strncasecmp(start, word, len) == 0 && !word[len];
}

static bool is_keyword(const char *word, size_t len) {
  static const char keywords[] =
      "and or not is null notnull isnull in like glob case when then else end between exists "
      "cast as escape asc desc nulls first last true false regexp match distinct from collate "
      "integer real text select nocase ";
  for (const char *at = keywords; *at; at = strchr(at, ' ') + 1)
    if ((*word | 0x20) == *at && strncasecmp(at, word, len) == 0 && at[len] == ' ')
      return true;
  return false;
}

/* Whether `head.` of a name inside of a SELECT is a row of the rule rather than one of its tables. */
static bool is_row(const struct names *names, const char *name, size_t head) {
  static const char *const own[] = {"param", "fact"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (strncmp(own[i], name, head) == 0 && !own[i][head])
      return true;
  for (int i = 0; i < names->count; i++)
    if (names->sources[i].name && strncmp(names->sources[i].name, name, head) == 0 && !names->sources[i].name[head])
      return true;
  return false;
}

static int bind_ref(struct reader *r, const struct ref *ref) {
  NAI_TRY(LIST_ROOM(r->refs, &r->names->set->arena, r->err));
  r->refs.at[r->refs.count++] = *ref;
  nai_buf_putc(r->sql, '?'); /* the next number */
  return NAI_OK;
}

/* Puts what a name stands for: a column that SQLite reads, or a variable. */
static int put_name(struct reader *r, const char *start, size_t len, size_t skip) {
  struct ref ref = {0};
  NAI_TRY(nai_names_resolve(&ref, r->names, r->node, (size_t)(start - r->text), start, len, r->err));
  ref.offset = (uint32_t)(start - r->text);
  if (ref.kind == REF_COLUMN && ref.source == r->own) { /* some columns are called like a word of SQL */
    nai_buf_printf(r->sql, "%.*s\"%.*s\"", (int)skip, start, (int)(len - skip), start + skip);
    return NAI_OK;
  }
  if (ref.kind == REF_SUBJECT)
    return fail_at(r, start, "\"subject\" is for texts only");
  if (ref.kind == REF_FACT && r->names->fact)
    return fail_at(r, start, "a fact names no other fact");
  if (ref.kind == REF_SAVING && ref.unit == NAI_NS && strncmp(start + len - 3, "_ns", 3) != 0)
    return fail_at(r, start, "a time that is compared says its unit: saving_ms");
  if (ref.kind == REF_COLUMN)
    r->sources |= 1u << ref.source;
  return bind_ref(r, &ref);
}

static int read_name(struct reader *r) {
  const char *start = r->at;
  size_t len = span(start), head = 0;
  if (start[len] == '.' && nai_is_of_word(start[len + 1])) {
    head = len;
    len += 1 + span(start + len + 1);
  }
  r->at += len;
  bool calls = !head && *(r->at + strspn(r->at, " \t\n")) == '(';
  if (!head && !calls && is_word(start, len, "contains"))
    return old_form(r->names, r->node, r->err);
  if (!head && is_word(start, len, "select") && r->depth && !r->select[r->depth - 1]) {
    r->select[r->depth - 1] = true;
    r->selects++;
  }
  if (!calls && (head ? !r->selects || is_row(r->names, start, head) : !r->selects && !is_keyword(start, len)))
    return put_name(r, start, len, head ? head + 1 : 0);
  nai_buf_put(r->sql, start, len);
  return NAI_OK;
}

static int read_quoted(struct reader *r) {
  const char quote = *r->at == '[' ? ']' : *r->at, *end = strchr(r->at + 1, quote);
  if (!end)
    return fail_at(r, r->at, quote == '\'' ? "missing closing '" : "missing closing quote");
  nai_buf_put(r->sql, r->at, (size_t)(end + 1 - r->at));
  r->at = end + 1; /* a doubled quote begins the rest of the text */
  return 0;
}

static int read_sign(struct reader *r) {
  if (*r->at == '(') {
    if (r->depth == MAX_NESTING)
      return fail_at(r, r->at, "too many parentheses");
    r->select[r->depth++] = false;
  } else if (*r->at == ')') {
    if (!r->depth)
      return fail_at(r, r->at, "\")\" without \"(\"");
    r->selects -= r->select[--r->depth];
  } else if (strchr(";?$@:", *r->at)) {
    return fail_at(r, r->at, "unexpected sign");
  } else if (strncmp(r->at, "--", 2) == 0 || strncmp(r->at, "/*", 2) == 0) {
    return fail_at(r, r->at, "comments belong to YAML");
  }
  nai_buf_putc(r->sql, *r->at++);
  return 0;
}

static void read_number(struct reader *r) {
  const char *start = r->at;
  r->at += span(r->at);
  if (*r->at == '.')
    r->at += 1 + span(r->at + 1);
  if ((*r->at == '+' || *r->at == '-') && (r->at[-1] == 'e' || r->at[-1] == 'E'))
    r->at += 1 + span(r->at + 1);
  nai_buf_put(r->sql, start, (size_t)(r->at - start));
}

/* Appends one text of the rule to the expression. */
static int read_text(struct reader *r, const struct nai_yaml_node *node) {
  if (node->kind != NAI_YAML_SCALAR)
    return old_form(r->names, node, r->err);
  NAI_TRY(nai_yaml_text(&r->text, r->names->doc, node, r->err));
  r->node = node;
  r->at = r->text;
  while (*r->at) {
    if (*r->at >= '0' && *r->at <= '9')
      read_number(r);
    else if (nai_is_of_word(*r->at))
      NAI_TRY(read_name(r));
    else if (strchr("'\"`[", *r->at))
      NAI_TRY(read_quoted(r));
    else
      NAI_TRY(read_sign(r));
  }
  return r->depth ? fail_at(r, r->at, "missing closing )") : NAI_OK;
}

/* --- compiling ------------------------------------------------------------------------------------ */

static int keep(struct expression **out, const struct names *names, struct expression e, struct nai_err *err) {
  struct nai_rule_set *set = names->set;
  NAI_TRY(NAI_NEW(*out, &set->arena, 1, err));
  e.doc = names->doc;
  e.unit = NAI_UNIT_COUNT;
  e.next = set->expressions;
  **out = e;
  set->expressions = *out;
  return nai_arena_check(&set->arena, err);
}

/* What was read. */
static struct expression expression_of(const struct reader *r, const struct nai_yaml_node *node) {
  const char *sql = nai_text_keep(&r->names->set->arena, r->sql);
  return (struct expression){.sql = sql, .node = node, .refs = r->refs, .sources = r->sources};
}

/* A value: all names are bound. */
static int value_compile(struct expression **out, bool needs_unit, const struct names *names,
                         const struct nai_yaml_node *node, struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  struct reader r = {.names = names, .own = -1, .sql = &sql, .err = err};
  nai_buf_puts(&sql, "SELECT (");
  NAI_TRY(read_text(&r, node));
  nai_buf_putc(&sql, ')');
  NAI_TRY(keep(out, names, expression_of(&r, node), err));
  return needs_unit || names->doc != names->set->builtin ? nai_units_check(*out, names->set, err) : NAI_OK;
}

int nai_condition_compile(struct expression **out, const struct names *names, const struct nai_yaml_node *node,
                          struct nai_err *err) {
  *out = NULL;
  bool always = node->kind == NAI_YAML_SCALAR && node->plain && strcmp(node->text, "true") == 0;
  return always ? NAI_OK : value_compile(out, false, names, node, err);
}

int nai_number_compile(struct expression **out, const struct names *names, const struct nai_yaml_node *node,
                       struct nai_err *err) {
  NAI_TRY(value_compile(out, true, names, node, err));
  return (*out)->unit == NAI_TEXT ? nai_yaml_error(names->doc, node, err, "\"%s\" needs a number", node->key) : NAI_OK;
}

double nai_unit_scale(enum nai_unit unit) {
  return unit == NAI_US ? 1e3 : unit == NAI_MS ? 1e6 : unit == NAI_S ? 1e9 : 1;
}

int nai_duration_compile(struct expression **out, const struct names *names, const struct nai_yaml_node *node,
                         struct nai_err *err) {
  NAI_TRY(nai_number_compile(out, names, node, err));
  bool duration = (*out)->unit >= NAI_NS && (*out)->unit <= NAI_S;
  return duration ? NAI_OK : nai_yaml_error(names->doc, node, err, "\"%s\" needs a duration", node->key);
}

static int put_order(struct reader *r, const struct nai_yaml_node *order) {
  if (order->kind != NAI_YAML_LIST)
    return read_text(r, order);
  const struct nai_yaml_node *first = nai_yaml_first(r->names->doc, order);
  for (const struct nai_yaml_node *n = first; n; n = nai_yaml_next(r->names->doc, n)) {
    nai_buf_puts(r->sql, n == first ? "" : ", ");
    NAI_TRY(read_text(r, n));
  }
  return NAI_OK;
}

/* Rows of the finding's GPU, and those of none; all where the finding has none. */
static int put_device(struct reader *r, const char *column) {
  const struct ref device = {.kind = REF_DEVICE, .unit = NAI_ID};
  nai_buf_printf(r->sql, " AND (\"%s\" IS NULL OR ", column);
  NAI_TRY(bind_ref(r, &device));
  nai_buf_printf(r->sql, " IS NULL OR \"%s\" = ", column);
  NAI_TRY(bind_ref(r, &device));
  nai_buf_putc(r->sql, ')');
  return NAI_OK;
}

int nai_rows_compile(struct selection *out, const struct names *names, const struct nai_yaml_node *where,
                     const struct nai_yaml_node *order, const char *device, struct nai_err *err) {
  const char *name = names->sources[out->source].name;
  bool checked = names->doc != names->set->builtin && (where || order);
  struct expression *condition;
  if (where && checked)
    NAI_TRY(nai_condition_compile(&condition, names, where, err));
  NAI_SCOPED(nai_buf) sql = {0};
  struct reader r = {.names = names, .own = out->source, .sql = &sql, .err = err};
  nai_buf_printf(&sql, "SELECT rowid FROM \"%s\"", out->schema->name);
  if (name)
    nai_buf_printf(&sql, " AS \"%s\"", name);
  nai_buf_puts(&sql, " WHERE (");
  if (where)
    NAI_TRY(read_text(&r, where));
  nai_buf_puts(&sql, where ? ")" : "1)");
  if (device)
    NAI_TRY(put_device(&r, device));
  nai_buf_puts(&sql, " ORDER BY ");
  if (order)
    NAI_TRY(put_order(&r, order));
  nai_buf_puts(&sql, order ? ", rowid" : "rowid");
  NAI_TRY(keep(&out->rows, names, expression_of(&r, where ? where : order), err));
  return checked ? nai_expression_check(out->rows, names->set, err) : NAI_OK;
}

int nai_columns_put(struct nai_buf *sql, const struct names *names, const struct nai_yaml_node *node,
                    struct nai_err *err) {
  struct reader r = {.names = names, .sql = sql, .err = err};
  return read_text(&r, node);
}

int nai_statement_keep(struct expression **out, const struct names *names, const struct nai_yaml_node *node,
                       const char *sql, struct nai_err *err) {
  NAI_TRY(keep(out, names, (struct expression){.node = node, .sql = sql}, err));
  return names->doc != names->set->builtin ? nai_expression_check(*out, names->set, err) : NAI_OK;
}
