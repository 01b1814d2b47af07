#include "base/text.h"
#include "rules/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CANDIDATES = 256, MAX_NAME = 128 };

/* `unknown KIND "name"PLACE`, with the nearest candidate if there is one. */
static int unknown(const struct nai_yaml *doc, const struct nai_yaml_node *node, size_t offset, const char *kind,
                   const char *name, const char *place, const char *const *candidates, size_t count,
                   struct nai_err *err) {
  const char *guess = nai_text_suggest(name, candidates, count);
  if (guess)
    return nai_yaml_error_in(doc, node, offset, err, "unknown %s \"%s\"%s; did you mean \"%s\"?", kind, name, place,
                             guess);
  return nai_yaml_error_in(doc, node, offset, err, "unknown %s \"%s\"%s", kind, name, place);
}

int names_table(const struct nai_schema **out, const struct nai_rule_set *set, const struct nai_yaml *doc,
                const struct nai_yaml_node *node, struct nai_err *err) {
  const char *name, *candidates[MAX_CANDIDATES];
  int rc = nai_yaml_text(&name, doc, node, err);
  if (rc)
    return rc;
  size_t count = 0;
  for (size_t i = 0; i < set->schema_count; i++) {
    if (strcmp(set->schemas[i]->name, name) == 0) {
      *out = set->schemas[i];
      return 0;
    }
    if (count < MAX_CANDIDATES)
      candidates[count++] = set->schemas[i]->name;
  }
  return unknown(doc, node, 0, "table", name, "", candidates, count, err);
}

int names_column(struct nai_print *out, const struct nai_schema *schema, const struct nai_yaml *doc,
                 const struct nai_yaml_node *node, size_t offset, const char *name, size_t len, struct nai_err *err) {
  char copy[MAX_NAME], place[MAX_NAME + 16];
  char shown[MAX_CANDIDATES][NAI_COLUMN_NAME_MAX];
  const char *candidates[MAX_CANDIDATES];
  snprintf(copy, sizeof copy, "%.*s", (int)len, name);
  if (len < sizeof copy && nai_print_find(out, schema, copy))
    return 0;
  size_t count = 0;
  for (struct nai_print p = NAI_FIRST_PRINT; count < MAX_CANDIDATES && nai_print_next(&p, schema); count++)
    candidates[count] = nai_print_name(shown[count], schema, &p);
  snprintf(place, sizeof place, " of table \"%s\"", schema->name);
  return unknown(doc, node, offset, "column", copy, place, candidates, count, err);
}

static int resolve_parameter(struct ref *out, const struct names *names, const struct nai_yaml_node *node,
                             size_t offset, const char *name, size_t len, struct nai_err *err) {
  char copy[MAX_NAME];
  const char *candidates[MAX_CANDIDATES];
  size_t count = 0;
  snprintf(copy, sizeof copy, "%.*s", (int)len, name);
  for (uint32_t i = 0; i < names->set->parameters.count; i++) {
    const struct parameter *parameter = POOL_AT(names->set->parameters, struct parameter, i);
    if (strcmp(parameter->name, copy) == 0) {
      *out = (struct ref){.kind = REF_PARAMETER, .parameter = i, .unit = NAI_UNIT_COUNT};
      return 0;
    }
    if (count < MAX_CANDIDATES)
      candidates[count++] = parameter->name;
  }
  return unknown(names->doc, node, offset, "parameter", copy, "", candidates, count, err);
}

int names_resolve(struct ref *out, const struct names *names, const struct nai_yaml_node *node, size_t offset,
                  const char *name, size_t len, struct nai_err *err) {
  const char *dot = memchr(name, '.', len);
  size_t head = dot ? (size_t)(dot - name) : 0, skip = dot ? head + 1 : 0;
  int source = names->current;
  if (!dot && len == strlen("subject") && strncmp(name, "subject", len) == 0) {
    *out = (struct ref){.kind = REF_SUBJECT, .unit = NAI_TEXT, .is_text = true};
    return 0;
  }
  if (dot && head == strlen("param") && strncmp(name, "param", head) == 0)
    return resolve_parameter(out, names, node, offset + skip, name + skip, len - skip, err);
  if (dot) {
    char copy[MAX_NAME];
    const char *candidates[MAX_SOURCES + 1];
    size_t count = 0;
    snprintf(copy, sizeof copy, "%.*s", (int)head, name);
    source = -1;
    for (int i = 0; i < names->count; i++) {
      if (!names->sources[i].name)
        continue;
      if (strcmp(names->sources[i].name, copy) == 0)
        source = i;
      candidates[count++] = names->sources[i].name;
    }
    candidates[count++] = "param";
    if (source < 0)
      return unknown(names->doc, node, offset, "row", copy, "", candidates, count, err);
  }
  const struct nai_schema *schema = names->sources[source].schema;
  struct nai_print column;
  int rc = names_column(&column, schema, names->doc, node, offset + skip, name + skip, len - skip, err);
  if (rc)
    return rc;
  *out = (struct ref){.kind = REF_COLUMN,
                      .source = source,
                      .column = column.column,
                      .unit = column.unit,
                      .is_text = schema->columns[column.column].type == NAI_STR};
  return 0;
}
