/* Texts of rules: {{placeholders}}, and lists of texts of which each may have a condition. */
#include "rules/internal.h"

#include <stdlib.h>
#include <string.h>

static int add_piece(struct span *pieces, const struct names *names, const struct ref *ref, struct nai_err *err) {
  struct ref *slot = nai_pool_add(&names->set->pieces, sizeof *slot);
  if (!slot)
    return nai_err_nomem(err);
  *slot = *ref;
  pieces->count++;
  return 0;
}

static int add_literal(struct span *pieces, const struct names *names, const char *text, size_t len,
                       struct nai_err *err) {
  const struct ref literal = {.kind = REF_TEXT, .text = text, .text_len = (uint32_t)len, .is_text = true};
  return len ? add_piece(pieces, names, &literal, err) : 0;
}

/* Cuts `|filter` off the end of a placeholder if it is there. Any other word there is a noun that a count goes with. */
static void take_filter(struct ref *ref, size_t *len, const char *name) {
  static const struct {
    const char *word;
    enum filter filter;
  } filters[] = {{"short", FILTER_SHORT}, {"function", FILTER_FUNCTION}};
  const char *bar = memrchr(name, '|', *len);
  *ref = (struct ref){.filter = FILTER_NONE};
  if (!bar)
    return;
  ref->noun = bar + 1;
  ref->noun_len = (uint32_t)(*len - (size_t)(bar + 1 - name));
  ref->filter = FILTER_NOUN;
  *len = (size_t)(bar - name);
  for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
    if (ref->noun_len == strlen(filters[i].word) && memcmp(ref->noun, filters[i].word, ref->noun_len) == 0)
      ref->filter = filters[i].filter;
}

/* A filter must fit what it is put behind. */
static int check_filter(const struct ref *ref, const struct names *names, const struct nai_yaml_node *node,
                        size_t offset, struct nai_err *err) {
  if (ref->filter == FILTER_NONE)
    return 0;
  if (ref->filter != FILTER_NOUN)
    return ref->is_text ? 0 : nai_yaml_error_in(names->doc, node, offset, err, "a filter needs a text column");
  if (ref->is_text)
    return nai_yaml_error_in(names->doc, node, offset, err, "unknown filter: a text has short and function");
  if (ref->kind != REF_COLUMN || ref->unit != NAI_COUNT)
    return nai_yaml_error_in(names->doc, node, offset, err, "a noun needs a count to go with");
  if (!ref->noun_len || ref->noun[ref->noun_len - 1] != 's')
    return nai_yaml_error_in(names->doc, node, offset, err, "expected a noun in the plural, such as calls");
  return 0;
}

int nai_text_compile(struct span *pieces, const struct names *names, const struct nai_yaml_node *node,
                     struct nai_err *err) {
  const char *text;
  int rc = nai_yaml_text(&text, names->doc, node, err);
  *pieces = (struct span){.first = names->set->pieces.count};
  if (rc)
    return rc;
  size_t len = strlen(text);
  while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
    len--;
  for (const char *at = text, *end = text + len; !rc && at < end;) {
    const char *open = memmem(at, (size_t)(end - at), "{{", 2);
    if (!open)
      return add_literal(pieces, names, at, (size_t)(end - at), err);
    const char *name = open + 2, *close = memmem(name, (size_t)(end - name), "}}", 2);
    if (!close)
      return nai_yaml_error_in(names->doc, node, (size_t)(open - text), err, "\"{{\" without \"}}\"");
    rc = add_literal(pieces, names, at, (size_t)(open - at), err);
    at = close + 2;
    while (name < close && *name == ' ')
      name++;
    while (name < close && close[-1] == ' ')
      close--;
    struct ref ref, filter;
    size_t name_len = (size_t)(close - name);
    take_filter(&filter, &name_len, name);
    if (!rc)
      rc = nai_names_resolve(&ref, names, node, (size_t)(name - text), name, name_len, err);
    ref.filter = filter.filter;
    ref.noun = filter.noun;
    ref.noun_len = filter.noun_len;
    if (!rc)
      rc = check_filter(&ref, names, node, (size_t)(name - text), err);
    if (!rc && ref.kind == REF_FACT)
      rc = nai_yaml_error_in(names->doc, node, (size_t)(name - text), err, "a fact is for conditions only");
    if (!rc)
      rc = add_piece(pieces, names, &ref, err);
  }
  return rc;
}

/* One item of a list of texts: "text", {when: condition, text: "text"} or {else: "text"}. */
static int variant_compile(struct variant *out, const struct names *names, const struct nai_yaml_node *node,
                           struct nai_err *err) {
  static const char *const keys[] = {"when", "text", "else", NULL};
  const struct nai_yaml *doc = names->doc;
  *out = (struct variant){0};
  if (node->kind == NAI_YAML_SCALAR)
    return nai_text_compile(&out->pieces, names, node, err);
  int rc = nai_yaml_expect_keys(doc, node, keys, err);
  if (rc)
    return rc;
  const struct nai_yaml_node *when = nai_yaml_get(doc, node, "when"), *text = nai_yaml_get(doc, node, "text"),
                             *otherwise = nai_yaml_get(doc, node, "else");
  if (otherwise ? when || text : !when || !text)
    return nai_yaml_error(doc, node, err, "expected {when: ..., text: ...} or {else: ...}");
  out->otherwise = otherwise != NULL;
  if (when)
    rc = nai_condition_compile(&out->when, names, when, err);
  return rc ? rc : nai_text_compile(&out->pieces, names, otherwise ? otherwise : text, err);
}

int nai_variants_compile(struct span *out, const struct names *names, const struct nai_yaml_node *node,
                         struct nai_err *err) {
  bool list = node->kind == NAI_YAML_LIST;
  const struct nai_yaml_node *item = list ? nai_yaml_first(names->doc, node) : node;
  *out = (struct span){.first = names->set->variants.count};
  while (item) {
    struct variant variant;
    int rc = variant_compile(&variant, names, item, err);
    if (rc)
      return rc;
    struct variant *slot = nai_pool_add(&names->set->variants, sizeof *slot);
    if (!slot)
      return nai_err_nomem(err);
    *slot = variant;
    out->count++;
    item = list ? nai_yaml_next(names->doc, item) : NULL;
  }
  return 0;
}
