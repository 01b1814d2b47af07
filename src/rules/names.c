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

int nai_names_table(const struct nai_schema **out, const struct nai_rule_set *set, const struct nai_yaml *doc,
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

const struct nai_schema *nai_names_implied_table(const struct nai_rule_set *set, const struct nai_yaml *doc) {
  for (size_t d = 0; d < set->doc_count; d++)
    for (size_t i = 0; set->docs[d] == doc && set->tables[d] && i < set->schema_count; i++)
      if (strcmp(set->schemas[i]->name, set->tables[d]) == 0)
        return set->schemas[i];
  return NULL;
}

int nai_names_column(struct nai_display_column *out, const struct nai_schema *schema, const struct nai_yaml *doc,
                     const struct nai_yaml_node *node, size_t offset, const char *name, size_t len,
                     struct nai_err *err) {
  char copy[MAX_NAME], place[MAX_NAME + 16];
  char shown[MAX_CANDIDATES][NAI_COLUMN_NAME_MAX];
  const char *candidates[MAX_CANDIDATES];
  snprintf(copy, sizeof copy, "%.*s", (int)len, name);
  if (len < sizeof copy && nai_display_column_find(out, schema, copy))
    return 0;
  size_t count = 0;
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN;
       count < MAX_CANDIDATES && nai_display_column_next(&p, schema); count++)
    candidates[count] = nai_display_column_name(shown[count], schema, &p);
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

static int resolve_fact(struct ref *out, const struct names *names, const struct nai_yaml_node *node, size_t offset,
                        const char *name, size_t len, struct nai_err *err) {
  char copy[MAX_NAME];
  const char *candidates[MAX_CANDIDATES];
  size_t count = 0;
  snprintf(copy, sizeof copy, "%.*s", (int)len, name);
  for (uint32_t i = 0; i < names->set->facts.count; i++) {
    const struct fact *fact = POOL_AT(names->set->facts, struct fact, i);
    if (strcmp(fact->name, copy) == 0) {
      *out = (struct ref){.kind = REF_FACT, .fact = i, .unit = NAI_UNIT_COUNT};
      return 0;
    }
    if (count < MAX_CANDIDATES)
      candidates[count++] = fact->name;
  }
  return unknown(names->doc, node, offset, "fact", copy, "", candidates, count, err);
}

/* at_stake, at_stake_ns, at_stake_ms, at_stake_pct, at_stake_low, ...: what a finding knows of its price. */
static bool resolve_stake(struct ref *out, const char *name, size_t len) {
  static const struct {
    const char *name;
    enum stake stake;
    enum nai_unit unit;
  } stakes[] = {{"at_stake", STAKE_NS, NAI_NS},           {"at_stake_ns", STAKE_NS, NAI_NS},
                {"at_stake_us", STAKE_NS, NAI_US},        {"at_stake_ms", STAKE_NS, NAI_MS},
                {"at_stake_pct", STAKE_PCT, NAI_PCT},     {"at_stake_low", STAKE_LOW_NS, NAI_NS},
                {"at_stake_low_ms", STAKE_LOW_NS, NAI_MS}};
  for (size_t i = 0; i < sizeof stakes / sizeof *stakes; i++) {
    if (strlen(stakes[i].name) != len || strncmp(stakes[i].name, name, len) != 0)
      continue;
    *out = (struct ref){.kind = REF_STAKE, .stake = stakes[i].stake, .unit = stakes[i].unit};
    return true;
  }
  return false;
}

int nai_names_resolve(struct ref *out, const struct names *names, const struct nai_yaml_node *node, size_t offset,
                      const char *name, size_t len, struct nai_err *err) {
  const char *dot = memchr(name, '.', len);
  size_t head = dot ? (size_t)(dot - name) : 0, skip = dot ? head + 1 : 0;
  int source = names->current;
  if (!dot && len == strlen("subject") && strncmp(name, "subject", len) == 0) {
    *out = (struct ref){.kind = REF_SUBJECT, .unit = NAI_TEXT, .is_text = true};
    return 0;
  }
  if (!dot && names->priced && resolve_stake(out, name, len))
    return 0;
  if (dot && head == strlen("fact") && strncmp(name, "fact", head) == 0)
    return resolve_fact(out, names, node, offset + skip, name + skip, len - skip, err);
  if (dot && head == strlen("param") && strncmp(name, "param", head) == 0)
    return resolve_parameter(out, names, node, offset + skip, name + skip, len - skip, err);
  if (dot) {
    char copy[MAX_NAME];
    const char *candidates[MAX_SOURCES + 2];
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
    candidates[count++] = "fact";
    if (source < 0)
      return unknown(names->doc, node, offset, "row", copy, "", candidates, count, err);
  }
  const struct nai_schema *schema = names->sources[source].schema;
  struct nai_display_column column = {0};
  int rc = nai_names_column(&column, schema, names->doc, node, offset + skip, name + skip, len - skip, err);
  if (rc)
    return rc;
  if (names->sources[source].sum && schema->columns[column.column].type == NAI_STR)
    return nai_yaml_error_in(names->doc, node, offset + skip, err, "a sum has numbers only");
  *out = (struct ref){.kind = REF_COLUMN,
                      .source = source,
                      .column = column.column,
                      .unit = column.unit,
                      .is_text = schema->columns[column.column].type == NAI_STR,
                      .whole = schema->columns[column.column].type <= NAI_I32};
  return 0;
}
