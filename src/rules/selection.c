/* Which rows of which tables: the table of a rule, `with`, the `for` of evidence. */
#include "rules/internal.h"

#include <string.h>

const struct nai_yaml_node *nai_builder_get(const struct builder *b, const struct nai_yaml_node *map, const char *key) {
  return nai_yaml_get(b->doc, map, key);
}

int nai_builder_require(const struct nai_yaml_node **out, const struct builder *b, const struct nai_yaml_node *map,
                        const char *key) {
  *out = nai_builder_get(b, map, key);
  return *out ? 0 : nai_yaml_error(b->doc, map, b->err, "\"%s\" is missing", key);
}

static int add_source(struct builder *b, const char *name, const struct nai_schema *schema) {
  b->names.sources[b->names.count].name = name;
  b->names.sources[b->names.count].schema = schema;
  return b->names.count++;
}

int nai_selection_compile(struct selection *out, struct builder *b, const struct nai_yaml_node *node,
                          const char *table_key, const char *name, int64_t limit, int64_t max_limit) {
  const struct nai_yaml_node *table, *where = nai_builder_get(b, node, "where"),
                                     *order = nai_builder_get(b, node, "order"),
                                     *count = nai_builder_get(b, node, "limit");
  *out = (struct selection){0};
  bool implied = name && strcmp(name, "this") == 0 && !nai_builder_get(b, node, table_key);
  int rc = NAI_OK;
  if (implied)
    out->schema = nai_names_implied_table(b->names.set, b->doc);
  if (!out->schema)
    rc = nai_builder_require(&table, b, node, table_key);
  if (!rc && !out->schema)
    rc = nai_names_table(&out->schema, b->names.set, b->doc, table, b->err);
  if (rc)
    return rc;
  if (count)
    rc = nai_yaml_int(&limit, b->doc, count, 1, max_limit, b->err);
  out->limit = (int)limit;
  out->source = add_source(b, name, out->schema);
  if (rc || (name && strcmp(name, "this") == 0)) /* a rule's own rows are looked at one by one */
    return rc;
  int outer = b->names.current, column = nai_schema_role(out->schema, NAI_ROLE_DEVICE);
  b->names.current = out->source;
  const char *device = b->names.fact && column >= 0 ? out->schema->columns[column].name : NULL;
  rc = nai_rows_compile(out, &b->names, where, order, device, b->err);
  b->names.current = outer;
  return rc;
}

static int check_lookup_name(const struct builder *b, const struct nai_yaml_node *node) {
  static const char *const taken[] = {"this", "param", "subject", "fact"};
  if (strspn(node->key, "abcdefghijklmnopqrstuvwxyz_0123456789") != strlen(node->key))
    return nai_yaml_error_key(b->doc, node, b->err, "\"%s\" is no name: use a-z, 0-9 and _", node->key);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (strcmp(node->key, taken[i]) == 0)
      return nai_yaml_error_key(b->doc, node, b->err, "\"%s\" has a meaning of its own", node->key);
  return 0;
}

int nai_lookups_compile(struct builder *b, const struct nai_yaml_node *with) {
  static const char *const keys[] = {"table", "where", "order", NULL}, *const sum_keys[] = {"sum", "where", NULL};
  int rc = nai_yaml_expect(b->doc, with, NAI_YAML_MAP, b->err);
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, with); !rc && n; n = nai_yaml_next(b->doc, n)) {
    if (b->rule->lookup_count == MAX_LOOKUPS)
      return nai_yaml_error_key(b->doc, n, b->err, "more than %d rows to look up", MAX_LOOKUPS);
    struct lookup *lookup = &b->rule->lookups[b->rule->lookup_count];
    rc = check_lookup_name(b, n);
    if (!rc)
      lookup->sum = n->kind == NAI_YAML_MAP && nai_builder_get(b, n, "sum");
    if (!rc)
      rc = nai_yaml_expect_keys(b->doc, n, lookup->sum ? sum_keys : keys, b->err);
    if (!rc)
      rc = nai_selection_compile(&lookup->rows, b, n, lookup->sum ? "sum" : "table", n->key, 1, 1);
    if (!rc)
      b->names.sources[lookup->rows.source].sum = lookup->sum;
    lookup->name = n->key;
    b->rule->lookup_count++;
  }
  return rc;
}
