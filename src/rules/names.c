/* What names in rules stand for: tables, columns, rows, parameters, facts. */
#include "base/text.h"
#include "rules/internal.h"

enum { MAX_CANDIDATES = MAX_RULES, MAX_NAME = 128 };

/* A name in a text of a document. */
struct word {
  const struct nai_yaml *doc;
  const struct nai_yaml_node *node;
  size_t offset;
  char text[MAX_NAME]; /* what is longer names nothing */
};

static struct word word_at(const struct nai_yaml *doc, const struct nai_yaml_node *node, size_t offset,
                           const char *name, size_t len) {
  struct word word = {.doc = doc, .node = node, .offset = offset};
  memcpy(word.text, name, len < MAX_NAME ? len : MAX_NAME - 1);
  return word;
}

static void tell_former(const struct word *word, const char *kind, const char *now) {
  nai_former_tell(word->doc->file, word->node->line, (uint32_t)nai_yaml_column(word->node, word->offset),
                  &(struct nai_former){kind, word->text, now});
}

/* Which candidate the word is; else `unknown KIND "name"PLACE`, with the nearest one if one is near. */
static int pick(uint32_t *number, const struct word *word, const char *kind, const char *place,
                const char *const *candidates, size_t count, struct nai_err *err) {
  *number = 0;
  for (size_t i = 0; i < count; i++)
    if (strcmp(candidates[i], word->text) == 0) {
      *number = (uint32_t)i;
      return NAI_OK;
    }
  const char *guess = nai_text_suggest(word->text, candidates, count);
  if (guess)
    return nai_yaml_error_in(word->doc, word->node, word->offset, err, "unknown %s \"%s\"%s; did you mean \"%s\"?",
                             kind, word->text, place, guess);
  return nai_yaml_error_in(word->doc, word->node, word->offset, err, "unknown %s \"%s\"%s", kind, word->text, place);
}

int nai_names_table(const struct nai_schema **out, const struct nai_rule_set *set, const struct nai_yaml *doc,
                    const struct nai_yaml_node *node, struct nai_err *err) {
  const char *name, *candidates[MAX_CANDIDATES];
  size_t count = 0;
  uint32_t number;
  NAI_TRY(nai_yaml_text(&name, doc, node, err));
  struct word word = word_at(doc, node, 0, name, strlen(name));
  for (; count < set->schema_count && count < MAX_CANDIDATES; count++)
    candidates[count] = set->schemas[count]->name;
  for (size_t i = 0; i < set->schema_count; i++)
    if (set->schemas[i]->was && strcmp(set->schemas[i]->was, name) == 0) {
      tell_former(&word, "table", set->schemas[i]->name);
      *out = set->schemas[i];
      return NAI_OK;
    }
  NAI_TRY(pick(&number, &word, "table", "", candidates, count, err));
  *out = set->schemas[number];
  return NAI_OK;
}

const struct nai_schema *nai_names_implied_table(const struct nai_rule_set *set, const struct nai_yaml *doc) {
  for (size_t d = 0; d < set->doc_count; d++)
    for (size_t i = 0; set->docs[d] == doc && set->tables[d] && i < set->schema_count; i++)
      if (strcmp(set->schemas[i]->name, set->tables[d]) == 0)
        return set->schemas[i];
  return NULL;
}

static int find_column(struct nai_display_column *out, const struct nai_schema *schema, const struct word *word,
                       struct nai_err *err) {
  char place[MAX_NAME + 16], shown[256][NAI_COLUMN_NAME_MAX];
  const char *candidates[256];
  uint32_t number;
  if (nai_display_column_find(out, schema, word->text))
    return NAI_OK;
  if (nai_display_column_find_former(out, schema, word->text)) {
    tell_former(word, "column", nai_display_column_name(shown[0], schema, out));
    return NAI_OK;
  }
  size_t count = 0;
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; count < 256 && nai_display_column_next(&p, schema);
       count++)
    candidates[count] = nai_display_column_name(shown[count], schema, &p);
  snprintf(place, sizeof place, " of table \"%s\"", schema->name);
  return pick(&number, word, "column", place, candidates, count, err);
}

int nai_names_column(struct nai_display_column *out, const struct nai_schema *schema, const struct nai_yaml *doc,
                     const struct nai_yaml_node *node, struct nai_err *err) {
  const char *name;
  NAI_TRY(nai_yaml_text(&name, doc, node, err));
  struct word word = word_at(doc, node, 0, name, strlen(name));
  return find_column(out, schema, &word, err);
}

struct parameter *nai_names_parameter(const struct nai_rule_set *set, const char *name) {
  for (uint32_t i = 0; i < set->parameters.count; i++)
    if (strcmp(set->parameters.at[i].name, name) == 0)
      return &set->parameters.at[i];
  return NULL;
}

struct rule *nai_names_rule(const struct nai_rule_set *set, const char *id) {
  for (uint32_t i = 0; i < set->rules.count; i++)
    if (strcmp(set->rules.at[i]->id, id) == 0)
      return set->rules.at[i];
  return NULL;
}

const char *nai_names_suggest_rule(const struct nai_rule_set *set, const char *id) {
  const char *candidates[MAX_RULES];
  for (uint32_t i = 0; i < set->rules.count; i++)
    candidates[i] = set->rules.at[i]->id;
  return nai_text_suggest(id, candidates, set->rules.count);
}

int nai_names_unknown_rule(const struct nai_rule_set *set, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                           struct nai_err *err) {
  const char *guess = nai_names_suggest_rule(set, node->text);
  return guess ? nai_yaml_error(doc, node, err, "unknown rule \"%s\"; did you mean \"%s\"?", node->text, guess)
               : nai_yaml_error(doc, node, err, "unknown rule \"%s\"", node->text);
}

static int resolve_parameter(struct ref *out, const struct nai_rule_set *set, const struct word *word,
                             struct nai_err *err) {
  const char *candidates[MAX_CANDIDATES];
  for (uint32_t i = 0; i < set->parameters.count; i++)
    candidates[i] = set->parameters.at[i].name;
  *out = (struct ref){.kind = REF_PARAMETER, .unit = NAI_UNIT_COUNT};
  return pick(&out->number, word, "parameter", "", candidates, set->parameters.count, err);
}

static int resolve_fact(struct ref *out, const struct nai_rule_set *set, const struct word *word, struct nai_err *err) {
  const char *candidates[MAX_CANDIDATES];
  for (uint32_t i = 0; i < set->facts.count; i++)
    candidates[i] = set->facts.at[i].name;
  *out = (struct ref){.kind = REF_FACT, .unit = NAI_UNIT_COUNT};
  return pick(&out->number, word, "fact", "", candidates, set->facts.count, err);
}

/* saving, saving_ns, saving_ms, saving_pct, saving_low, ...: what a finding knows of its saving. */
static bool resolve_saving(struct ref *out, const struct word *word) {
  static const char now[] = "saving", was[] = "at_stake";
  static const struct {
    const char *end;
    enum saving_part part;
    enum nai_unit unit;
  } savings[] = {{"", SAVING_NS, NAI_NS},
                 {"_ns", SAVING_NS, NAI_NS},
                 {"_us", SAVING_NS, NAI_US},
                 {"_ms", SAVING_NS, NAI_MS},
                 {"_pct", SAVING_PCT, NAI_PCT},
                 {"_low", SAVING_LOW_NS, NAI_NS},
                 {"_low_ms", SAVING_LOW_NS, NAI_MS},
                 {"_pct_of_capture", SAVING_PCT_OF_CAPTURE, NAI_PCT}};
  bool former = strncmp(word->text, was, strlen(was)) == 0;
  const char *begin = former ? was : now;
  if (strncmp(word->text, begin, strlen(begin)) != 0)
    return false;
  for (size_t i = 0; i < sizeof savings / sizeof *savings; i++)
    if (strcmp(savings[i].end, word->text + strlen(begin)) == 0) {
      char name[MAX_NAME];
      snprintf(name, sizeof name, "%s%s", now, savings[i].end);
      if (former)
        tell_former(word, "name", name);
      *out = (struct ref){.kind = REF_SAVING, .saving = savings[i].part, .unit = savings[i].unit};
      return true;
    }
  return false;
}

/* The source that `head` in front of a dot is. */
static int find_source(int *source, const struct names *names, const struct word *head, struct nai_err *err) {
  const char *candidates[MAX_SOURCES + 2];
  int numbers[MAX_SOURCES + 2] = {0};
  uint32_t number, count = 0;
  for (int i = 0; i < names->count; i++)
    if (names->sources[i].name) {
      numbers[count] = i;
      candidates[count++] = names->sources[i].name;
    }
  candidates[count] = "param";
  candidates[count + 1] = "fact";
  NAI_TRY(pick(&number, head, "row", "", candidates, count + 2, err));
  *source = numbers[number];
  return NAI_OK;
}

static int resolve_column(struct ref *out, const struct names *names, int source, const struct word *word,
                          struct nai_err *err) {
  const struct nai_schema *schema = names->sources[source].schema;
  struct nai_display_column column = {0};
  NAI_TRY(find_column(&column, schema, word, err));
  enum nai_type type = schema->columns[column.column].type;
  if (names->sources[source].sum && type == NAI_STR)
    return nai_yaml_error_in(names->doc, word->node, word->offset, err, "a sum has numbers only");
  *out = (struct ref){.kind = REF_COLUMN,
                      .source = source,
                      .column = column.column,
                      .column_def = &schema->columns[column.column],
                      .unit = column.unit,
                      .is_text = type == NAI_STR,
                      .whole = type <= NAI_I32};
  return NAI_OK;
}

int nai_names_resolve(struct ref *out, const struct names *names, const struct nai_yaml_node *node, size_t offset,
                      const char *name, size_t len, struct nai_err *err) {
  const char *dot = memchr(name, '.', len);
  size_t skip = dot ? (size_t)(dot + 1 - name) : 0;
  struct word word = word_at(names->doc, node, offset + skip, name + skip, len - skip);
  int source = names->current;
  struct nai_display_column own; /* which comes first */
  if (!dot && strcmp(word.text, "subject") == 0) {
    *out = (struct ref){.kind = REF_SUBJECT, .unit = NAI_TEXT, .is_text = true};
    return NAI_OK;
  }
  if (!dot && names->saving && !nai_display_column_find(&own, names->sources[source].schema, word.text) &&
      resolve_saving(out, &word))
    return NAI_OK;
  if (dot) {
    struct word head = word_at(names->doc, node, offset, name, skip - 1);
    if (strcmp(head.text, "fact") == 0)
      return resolve_fact(out, names->set, &word, err);
    if (strcmp(head.text, "param") == 0)
      return resolve_parameter(out, names->set, &word, err);
    NAI_TRY(find_source(&source, names, &head, err));
  }
  return resolve_column(out, names, source, &word, err);
}
