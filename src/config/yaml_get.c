#include "base/text.h"
#include "config/yaml.h"

const struct nai_yaml_node *nai_yaml_root(const struct nai_yaml *doc) { return &doc->nodes[0]; }

const struct nai_yaml_node *nai_yaml_first(const struct nai_yaml *doc, const struct nai_yaml_node *node) {
  return node->first ? &doc->nodes[node->first] : NULL;
}

const struct nai_yaml_node *nai_yaml_next(const struct nai_yaml *doc, const struct nai_yaml_node *node) {
  return node->next ? &doc->nodes[node->next] : NULL;
}

const struct nai_yaml_node *nai_yaml_get(const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key) {
  if (map->kind != NAI_YAML_MAP)
    return NULL;
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, map); n; n = nai_yaml_next(doc, n))
    if (strcmp(n->key, key) == 0)
      return n;
  return NULL;
}

int nai_yaml_error_at(const struct nai_yaml *doc, size_t line, size_t column, struct nai_err *err, const char *fmt,
                      ...) {
  char message[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  return nai_err_set(err, NAI_EUSAGE, "%s:%zu:%zu: %s", doc->file, line, column, message);
}

size_t nai_yaml_column(const struct nai_yaml_node *node, size_t offset) {
  size_t column = node->column;
  if (!node->one_line)
    return column;
  column += node->plain ? 0 : 1; /* the quote */
  for (size_t i = 0; i < offset && node->text[i]; i++)
    column += ((unsigned char)node->text[i] & 0xc0) != 0x80;
  return column;
}

int nai_yaml_require(const struct nai_yaml_node **out, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                     const char *key, struct nai_err *err) {
  *out = nai_yaml_get(doc, map, key);
  return *out ? NAI_OK : nai_yaml_error(doc, map, err, "\"%s\" is missing", key);
}

static bool is_null(const struct nai_yaml_node *node) {
  return node->kind == NAI_YAML_SCALAR && node->plain &&
         (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

static const char *what(const struct nai_yaml_node *node) {
  return node->kind == NAI_YAML_LIST ? "a list"
       : node->kind == NAI_YAML_MAP  ? "a map"
       : is_null(node)               ? "nothing"
       : !*node->text                ? "an empty text"
                                     : "text";
}

static int mismatch(const struct nai_yaml *doc, const struct nai_yaml_node *node, const char *expected,
                    struct nai_err *err) {
  char got[80];
  if (node->kind == NAI_YAML_SCALAR && *node->text && !is_null(node))
    snprintf(got, sizeof got, "\"%.*s\"", (int)nai_text_prefix(node->text, strlen(node->text), 60), node->text);
  else
    snprintf(got, sizeof got, "%s", what(node));
  if (node->key)
    return nai_yaml_error(doc, node, err, "\"%s\": expected %s, got %s", node->key, expected, got);
  return nai_yaml_error(doc, node, err, "expected %s, got %s", expected, got);
}

int nai_yaml_text(const char **out, const struct nai_yaml *doc, const struct nai_yaml_node *node, struct nai_err *err) {
  if (node->kind != NAI_YAML_SCALAR || !*node->text || is_null(node))
    return mismatch(doc, node, "text", err);
  *out = node->text;
  return 0;
}

/* [+-]digits[.digits][e[+-]digits]: what JSON and people write; no hex, no octal, no .nan, no locale. */
static bool is_decimal(const char *s) {
  s += *s == '-' || *s == '+';
  size_t whole = strspn(s, "0123456789"), part = 0;
  s += whole;
  if (*s == '.') {
    part = strspn(s + 1, "0123456789");
    s += 1 + part;
  }
  if (!whole && !part)
    return false;
  if (*s == 'e' || *s == 'E') {
    s += 1 + (s[1] == '-' || s[1] == '+');
    size_t digits = strspn(s, "0123456789");
    if (!digits)
      return false;
    s += digits;
  }
  return !*s;
}

int nai_yaml_number(double *out, const struct nai_yaml *doc, const struct nai_yaml_node *node, struct nai_err *err) {
  if (node->kind != NAI_YAML_SCALAR || !node->plain || !is_decimal(node->text))
    return mismatch(doc, node, "a number", err);
  *out = strtod(node->text, NULL);
  return isfinite(*out) ? 0 : mismatch(doc, node, "a finite number", err);
}

int nai_yaml_int(int64_t *out, const struct nai_yaml *doc, const struct nai_yaml_node *node, int64_t min, int64_t max,
                 struct nai_err *err) {
  char *end = NULL;
  errno = 0;
  if (node->kind == NAI_YAML_SCALAR && node->plain && is_decimal(node->text))
    *out = strtoll(node->text, &end, 10);
  if (!end || *end || errno)
    return mismatch(doc, node, "a whole number", err);
  if (*out < min || *out > max)
    return nai_yaml_error(doc, node, err, "\"%s\": %" PRId64 " is not within %" PRId64 "..%" PRId64,
                          node->key ? node->key : "value", *out, min, max);
  return 0;
}

int nai_yaml_bool(bool *out, const struct nai_yaml *doc, const struct nai_yaml_node *node, struct nai_err *err) {
  bool scalar = node->kind == NAI_YAML_SCALAR && node->plain;
  *out = scalar && strcmp(node->text, "true") == 0;
  if (!*out && !(scalar && strcmp(node->text, "false") == 0))
    return mismatch(doc, node, "true or false", err);
  return 0;
}

int nai_yaml_expect(const struct nai_yaml *doc, const struct nai_yaml_node *node, enum nai_yaml_kind kind,
                    struct nai_err *err) {
  static const char *const names[] = {"text", "a list", "a map"};
  return node->kind == kind ? 0 : mismatch(doc, node, names[kind], err);
}

int nai_yaml_items(const struct nai_yaml_node **first, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                   const char *key, enum nai_yaml_kind kind, struct nai_err *err) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, map, key);
  *first = node ? nai_yaml_first(doc, node) : NULL;
  return node ? nai_yaml_expect(doc, node, kind, err) : NAI_OK;
}

int nai_yaml_expect_keys(const struct nai_yaml *doc, const struct nai_yaml_node *node, const char *const *allowed,
                         struct nai_err *err) {
  NAI_TRY(nai_yaml_expect(doc, node, NAI_YAML_MAP, err));
  size_t count = 0;
  while (allowed[count])
    count++;
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, node); n; n = nai_yaml_next(doc, n)) {
    size_t i = 0;
    while (i < count && strcmp(allowed[i], n->key) != 0)
      i++;
    if (i < count)
      continue;
    const char *guess = nai_text_suggest(n->key, allowed, count);
    return guess ? nai_yaml_error_key(doc, n, err, "unknown key \"%s\"; did you mean \"%s\"?", n->key, guess)
                 : nai_yaml_error_key(doc, n, err, "unknown key \"%s\"", n->key);
  }
  return 0;
}
