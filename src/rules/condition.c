/* Conditions: a comparison string, `true`, a list (all of it), or {all: [...]}, {any: [...]}, {not: condition}. */
#include "rules/internal.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void *nai_pool_add(struct pool *pool, size_t size) {
  if (!nai_array_room(&pool->data, &pool->capacity, pool->count, size))
    return NULL;
  return (char *)pool->data + size * pool->count++;
}

int nai_condition_emit(struct condition *out, const struct names *names, struct code code, struct nai_err *err) {
  struct code *slot = nai_pool_add(&names->set->codes, sizeof *slot);
  if (!slot)
    return nai_err_nomem(err);
  *slot = code;
  out->codes.count++;
  return 0;
}

/* What a map or list opens, and the first of the conditions in it. */
static int open_group(enum code_kind *kind, const struct nai_yaml_node **first, const struct nai_yaml *doc,
                      const struct nai_yaml_node *node, struct nai_err *err) {
  static const char *const words[] = {"all", "any", "not", NULL};
  static const enum code_kind kinds[] = {CODE_ALL, CODE_ANY, CODE_NOT};
  *kind = CODE_ALL;
  if (node->kind == NAI_YAML_MAP) {
    int rc = nai_yaml_expect_keys(doc, node, words, err);
    if (rc)
      return rc;
    if (node->count != 1)
      return nai_yaml_error(doc, node, err, "expected exactly one of all, any, not");
    node = nai_yaml_first(doc, node);
    size_t i = 0;
    while (strcmp(words[i], node->key) != 0)
      i++;
    *kind = kinds[i];
    if (*kind == CODE_NOT) {
      *first = node;
      return 0;
    }
    rc = nai_yaml_expect(doc, node, NAI_YAML_LIST, err);
    if (rc)
      return rc;
  }
  *first = nai_yaml_first(doc, node);
  return *first ? 0 : nai_yaml_error(doc, node, err, "empty list of conditions");
}

int nai_condition_compile(struct condition *out, const struct names *names, const struct nai_yaml_node *node,
                          struct nai_err *err) {
  struct {
    const struct nai_yaml_node *at; /* the member being compiled */
    bool single;                    /* `not`: its value has siblings that are none of its business */
  } stack[NAI_YAML_MAX_DEPTH + 1];
  int depth = 0;
  *out = (struct condition){.codes.first = names->set->codes.count};
  for (;;) {
    bool literal_true = node->kind == NAI_YAML_SCALAR && node->plain && strcmp(node->text, "true") == 0;
    int rc = 0;
    if (node->kind != NAI_YAML_SCALAR) {
      enum code_kind kind = CODE_ALL;
      const struct nai_yaml_node *first = NULL;
      rc = open_group(&kind, &first, names->doc, node, err);
      if (!rc)
        rc = nai_condition_emit(out, names, (struct code){.kind = kind}, err);
      if (rc)
        return rc;
      stack[depth].at = first;
      stack[depth++].single = kind == CODE_NOT;
      node = first;
      continue;
    }
    if (!literal_true)
      rc = nai_comparison_compile(out, names, node, err);
    if (rc)
      return rc;
    for (node = NULL; depth > 0 && !node;) {
      node = stack[depth - 1].single ? NULL : nai_yaml_next(names->doc, stack[depth - 1].at);
      if (node) {
        stack[depth - 1].at = node;
        break;
      }
      depth--;
      rc = nai_condition_emit(out, names, (struct code){.kind = CODE_END}, err);
      if (rc)
        return rc;
    }
    if (!node)
      return 0;
  }
}
