/* Expressions: SQL whose names of rows, parameters and facts are found here, so that a mistake is told with its place,
 * and bound when it runs. SQLite reads the rest. */
#include "rules/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_NESTING = 64 };

struct reader {
  const struct names *names;
  const struct nai_yaml_node *node;
  const char *text, *at;
  int own;                  /* the source whose columns SQLite reads itself; -1: all names are bound */
  bool select[MAX_NESTING]; /* per open parenthesis: it holds a SELECT, whose names are its own */
  int depth, selects;
  struct expression *out;
  uint32_t sources;
  struct nai_err *err;
};

static const char name_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

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
  struct nai_buf form = {0};
  put_condition(&form, names->doc, node);
  int rc = nai_buf_check(&form, err);
  if (!rc)
    rc = nai_yaml_error(names->doc, node, err, "conditions are SQL: write \"%s\"", nai_buf_str(&form));
  nai_buf_free(&form);
  return rc;
}

/* --- words ---------------------------------------------------------------------------------------- */

static bool is_keyword(const char *word, size_t len) {
  static const char *const keywords[] = {"and",     "or",   "not",   "is",     "null",  "notnull",  "isnull", "in",
                                         "like",    "glob", "case",  "when",   "then",  "else",     "end",    "between",
                                         "exists",  "cast", "as",    "escape", "asc",   "desc",     "nulls",  "first",
                                         "last",    "true", "false", "regexp", "match", "distinct", "from",   "collate",
                                         "integer", "real", "text",  "select", "nocase"};
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (strlen(keywords[i]) == len && strncasecmp(keywords[i], word, len) == 0)
      return true;
  return false;
}

/* Whether `head.` of a name inside of a SELECT is a row of the rule rather than one of its tables. */
static bool is_row(const struct names *names, const char *name, size_t head) {
  static const char *const own[] = {"param", "fact"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (strlen(own[i]) == head && strncmp(own[i], name, head) == 0)
      return true;
  for (int i = 0; i < names->count; i++)
    if (names->sources[i].name && strlen(names->sources[i].name) == head &&
        strncmp(names->sources[i].name, name, head) == 0)
      return true;
  return false;
}

static int bind_ref(struct reader *r, const struct ref *ref) {
  struct ref *slot = nai_pool_add(&r->names->set->pieces, sizeof *slot);
  if (!slot)
    return nai_err_nomem(r->err);
  *slot = *ref;
  nai_buf_printf(&r->out->sql, "?%u", ++r->out->refs.count);
  return 0;
}

static int read_name(struct reader *r) {
  const char *start = r->at;
  size_t len = strspn(start, name_characters), head = 0;
  if (start[len] == '.' && start[len + 1] && strchr(name_characters, start[len + 1])) {
    head = len;
    len += 1 + strspn(start + len + 1, name_characters);
  }
  r->at += len;
  bool calls = !head && *(r->at + strspn(r->at, " \t\n")) == '(';
  if (!head && !calls && len == strlen("contains") && strncasecmp(start, "contains", len) == 0)
    return old_form(r->names, r->node, r->err);
  if (!head && len == strlen("select") && strncasecmp(start, "select", len) == 0 && r->depth &&
      !r->select[r->depth - 1]) {
    r->select[r->depth - 1] = true;
    r->selects++;
  }
  bool bound = !calls && (head ? !r->selects || is_row(r->names, start, head) : !r->selects && !is_keyword(start, len));
  struct ref ref = {0};
  int rc = bound ? nai_names_resolve(&ref, r->names, r->node, (size_t)(start - r->text), start, len, r->err) : 0;
  if (rc)
    return rc;
  ref.offset = (uint32_t)(start - r->text);
  if (bound && ref.kind == REF_COLUMN && ref.source == r->own) { /* some columns are called like a word of SQL */
    size_t skip = head ? head + 1 : 0;
    nai_buf_printf(&r->out->sql, "%.*s\"%.*s\"", (int)skip, start, (int)(len - skip), start + skip);
    return 0;
  }
  if (!bound) {
    nai_buf_put(&r->out->sql, start, len);
    return 0;
  }
  if (ref.kind == REF_SUBJECT)
    return fail_at(r, start, "\"subject\" is for texts only");
  if (ref.kind == REF_FACT && r->names->fact)
    return fail_at(r, start, "a fact names no other fact");
  if (ref.kind == REF_STAKE && ref.unit == NAI_NS && strncmp(start + len - 3, "_ns", 3) != 0)
    return fail_at(r, start, "a time that is compared says its unit: at_stake_ms");
  if (ref.kind == REF_COLUMN)
    r->sources |= 1u << ref.source;
  return bind_ref(r, &ref);
}

static int read_quoted(struct reader *r) {
  const char quote = *r->at == '[' ? ']' : *r->at, *end = strchr(r->at + 1, quote);
  if (!end)
    return fail_at(r, r->at, quote == '\'' ? "missing closing '" : "missing closing quote");
  nai_buf_put(&r->out->sql, r->at, (size_t)(end + 1 - r->at));
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
  nai_buf_putc(&r->out->sql, *r->at++);
  return 0;
}

static void read_number(struct reader *r) {
  const char *start = r->at;
  r->at += strspn(r->at, name_characters);
  if (*r->at == '.')
    r->at += 1 + strspn(r->at + 1, name_characters);
  if ((*r->at == '+' || *r->at == '-') && (r->at[-1] == 'e' || r->at[-1] == 'E'))
    r->at += 1 + strspn(r->at + 1, name_characters);
  nai_buf_put(&r->out->sql, start, (size_t)(r->at - start));
}

/* Appends one text of the rule to the expression. */
static int read_text(struct reader *r, const struct nai_yaml_node *node) {
  int rc = node->kind == NAI_YAML_SCALAR ? nai_yaml_text(&r->text, r->names->doc, node, r->err)
                                         : old_form(r->names, node, r->err);
  r->node = node;
  r->at = r->text;
  while (!rc && *r->at) {
    if (*r->at >= '0' && *r->at <= '9')
      read_number(r);
    else if (strchr(name_characters, *r->at))
      rc = read_name(r);
    else if (strchr("'\"`[", *r->at))
      rc = read_quoted(r);
    else
      rc = read_sign(r);
  }
  if (!rc && r->depth)
    rc = fail_at(r, r->at, "missing closing )");
  return rc;
}

static struct reader begin(struct expression *e, const struct names *names, const struct nai_yaml_node *node, int own,
                           struct nai_err *err) {
  *e = (struct expression){.refs.first = names->set->pieces.count, .doc = names->doc, .node = node};
  return (struct reader){.names = names, .out = e, .own = own, .err = err};
}

/* --- compiling ------------------------------------------------------------------------------------ */

/* Where the word is that a message of SQLite's names: `near "WORD": ...` or `no such thing: WORD`. */
static size_t offset_of(const char *message, const char *text) {
  char word[64];
  const char *near = strstr(message, "near \""), *colon = strstr(message, ": ");
  const char *from = near ? near + strlen("near \"") : colon ? colon + strlen(": ") : "";
  snprintf(word, sizeof word, "%.*s", (int)strcspn(from, near ? "\"" : "("), from);
  size_t len = strlen(word);
  for (const char *at = text; len && (at = strstr(at, word)) != NULL; at++)
    if (!at[len] || !strchr(name_characters, at[len]) || !strchr(name_characters, *word))
      return (size_t)(at - text);
  return 0;
}

int nai_expression_error(const struct nai_rule_set *set, const struct expression *e, struct nai_err *err) {
  const char *message = sqlite3_errmsg(set->sql->sqlite);
  switch (sqlite3_errcode(set->sql->sqlite)) {
  case SQLITE_NOMEM:
    return nai_err_nomem(err);
  case SQLITE_INTERRUPT:
    message = "took too many steps: a rule compares few rows with few";
  }
  return nai_yaml_error_in(e->doc, e->node, e->node->text ? offset_of(message, e->node->text) : 0, err, "%s", message);
}

sqlite3_stmt *nai_expression_prepare(const struct nai_rule_set *set, struct expression *e, struct nai_err *err) {
  if (e->statement || sqlite3_prepare_v3(set->sql->sqlite, nai_buf_str(&e->sql), -1, SQLITE_PREPARE_PERSISTENT,
                                         &e->statement, NULL) == SQLITE_OK)
    return e->statement;
  nai_expression_error(set, e, err);
  return NULL;
}

static int keep(struct formula *out, struct nai_rule_set *set, struct expression *e, uint32_t sources,
                struct nai_err *err) {
  struct expression *slot = nai_pool_add(&set->expressions, sizeof *slot);
  if (!slot)
    return nai_err_nomem(err);
  *slot = *e;
  *out = (struct formula){set->expressions.count, sources};
  return 0;
}

/* A value: all names are bound. */
static int value_compile(struct formula *out, enum nai_unit *unit, bool needs_unit, const struct names *names,
                         const struct nai_yaml_node *node, struct nai_err *err) {
  struct expression e;
  struct reader r = begin(&e, names, node, -1, err);
  nai_buf_puts(&e.sql, "SELECT (");
  int rc = read_text(&r, node);
  nai_buf_putc(&e.sql, ')');
  if (!rc)
    rc = nai_buf_check(&e.sql, err);
  if (!rc && (needs_unit || names->doc != names->set->builtin))
    rc = nai_units_check(unit, names->set, &e, err);
  if (!rc)
    rc = keep(out, names->set, &e, r.sources, err);
  if (rc)
    nai_buf_free(&e.sql);
  return rc;
}

int nai_condition_compile(struct formula *out, const struct names *names, const struct nai_yaml_node *node,
                          struct nai_err *err) {
  enum nai_unit unit;
  *out = (struct formula){0};
  bool always = node->kind == NAI_YAML_SCALAR && node->plain && strcmp(node->text, "true") == 0;
  return always ? 0 : value_compile(out, &unit, false, names, node, err);
}

int nai_number_compile(struct formula *out, enum nai_unit *unit, const struct names *names,
                       const struct nai_yaml_node *node, struct nai_err *err) {
  int rc = value_compile(out, unit, true, names, node, err);
  if (!rc && *unit == NAI_TEXT)
    rc = nai_yaml_error(names->doc, node, err, "\"%s\" needs a number", node->key);
  return rc;
}

int nai_duration_compile(struct formula *out, double *ns, const struct names *names, const struct nai_yaml_node *node,
                         struct nai_err *err) {
  static const double scale[NAI_UNIT_COUNT] = {[NAI_NS] = 1, [NAI_US] = 1e3, [NAI_MS] = 1e6, [NAI_S] = 1e9};
  enum nai_unit unit = NAI_UNIT_COUNT;
  int rc = nai_number_compile(out, &unit, names, node, err);
  if (rc)
    return rc;
  *ns = unit < NAI_UNIT_COUNT ? scale[unit] : 0;
  return *ns > 0 ? 0 : nai_yaml_error(names->doc, node, err, "\"%s\" needs a duration", node->key);
}

static int put_order(struct reader *r, const struct nai_yaml_node *order) {
  if (order->kind != NAI_YAML_LIST)
    return read_text(r, order);
  int rc = 0;
  for (const struct nai_yaml_node *n = nai_yaml_first(r->names->doc, order); !rc && n;
       n = nai_yaml_next(r->names->doc, n)) {
    if (n != nai_yaml_first(r->names->doc, order))
      nai_buf_puts(&r->out->sql, ", ");
    rc = read_text(r, n);
  }
  return rc;
}

int nai_rows_compile(struct selection *out, const struct names *names, const struct nai_yaml_node *where,
                     const struct nai_yaml_node *order, const char *device, struct nai_err *err) {
  struct expression e;
  struct formula checked;
  const char *name = names->sources[out->source].name;
  int rc = where ? nai_condition_compile(&checked, names, where, err) : 0;
  struct reader r = begin(&e, names, where ? where : order, out->source, err);
  nai_buf_printf(&e.sql, "SELECT rowid FROM \"%s\"", out->schema->name);
  if (name)
    nai_buf_printf(&e.sql, " AS \"%s\"", name);
  nai_buf_puts(&e.sql, " WHERE (");
  if (!rc && where)
    rc = read_text(&r, where);
  nai_buf_puts(&e.sql, where ? ")" : "1)");
  for (int i = 0; device && !rc && i < 2; i++) {
    nai_buf_printf(&e.sql, i ? " OR \"%s\" = " : " AND (\"%s\" IS NULL OR ", device);
    if (!i)
      rc = bind_ref(&r, &(struct ref){.kind = REF_DEVICE, .unit = NAI_ID});
    nai_buf_puts(&e.sql, i ? "" : " IS NULL");
    if (!rc && i)
      rc = bind_ref(&r, &(struct ref){.kind = REF_DEVICE, .unit = NAI_ID});
    nai_buf_puts(&e.sql, i ? ")" : "");
  }
  nai_buf_puts(&e.sql, " ORDER BY ");
  if (!rc && order)
    rc = put_order(&r, order);
  nai_buf_puts(&e.sql, order ? ", rowid" : "rowid");
  if (!rc)
    rc = nai_buf_check(&e.sql, err);
  if (!rc && names->doc != names->set->builtin && (where || order) && !nai_expression_prepare(names->set, &e, err))
    rc = err->code;
  sqlite3_finalize(e.statement); /* its plan is that of an empty table */
  e.statement = NULL;
  if (!rc)
    rc = keep(&out->rows, names->set, &e, r.sources, err);
  if (rc)
    nai_buf_free(&e.sql);
  return rc;
}
