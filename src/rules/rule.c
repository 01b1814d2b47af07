/* One entry of `rules:` or `facts:` from YAML to its compiled form. */
#include "base/text.h"
#include "config/change.h"
#include "rules/internal.h"

enum { DEFAULT_FINDINGS = 32, MAX_FINDINGS = 1000, DEFAULT_EVIDENCE_ROWS = 3 };

static const char *const rule_keys[] = {
    "id",       "title",          "title_many", "table",    "where",          "with",
    "when",     "unless",         "severity",   "saving",   "saving_low",     "base",
    "explains", "part_of",        "lower",      "first",    "place",          "scope",
    "device",   "evidence",       "why",        "verify",   "links",          "limit",
    "disabled", "recommendation", "share_of",   "simulate", "simulates_part", "saving_is",
    "price",    "price_low",      "impact",     NULL}; /* the last three: former names */

/* What the parts of a rule share while they are compiled. */
struct builder {
  struct rule *rule;
  const struct nai_yaml *doc;
  struct names names;
  struct nai_err *err;
};

static const struct nai_yaml_node *get(const struct builder *b, const struct nai_yaml_node *map, const char *key) {
  return nai_yaml_get(b->doc, map, key);
}

static struct nai_arena *arena_of(const struct builder *b) { return &b->names.set->arena; }

static int condition(struct expression **out, const struct builder *b, const struct nai_yaml_node *map,
                     const char *key) {
  const struct nai_yaml_node *node = get(b, map, key);
  return node ? nai_condition_compile(out, &b->names, node, b->err) : NAI_OK;
}

/* --- rows of tables -------------------------------------------------------------------------------- */

/* The table that `key` names, or a rule's own by the file that it stands in. */
static int table_compile(const struct nai_schema **out, const struct builder *b, const struct nai_yaml_node *node,
                         const char *key, bool own) {
  const struct nai_yaml_node *table = get(b, node, key);
  *out = own && !table ? nai_names_implied_table(b->names.set, b->doc) : NULL;
  if (*out)
    return NAI_OK;
  NAI_TRY(nai_yaml_require(&table, b->doc, node, key, b->err));
  return nai_names_table(out, b->names.set, b->doc, table, b->err);
}

/* table, order, limit of a map, and `where` unless the rows are a rule's own, which are looked at one by one; adds the
 * table as a source called `name`. `table_key` is the key that names the table. */
static int selection_compile(struct selection *out, struct builder *b, const struct nai_yaml_node *node,
                             const char *table_key, const char *name, int64_t limit, int64_t max_limit) {
  const struct nai_yaml_node *count = get(b, node, "limit");
  bool own = name && strcmp(name, "this") == 0;
  NAI_TRY(table_compile(&out->schema, b, node, table_key, own));
  if (count)
    NAI_TRY(nai_yaml_int(&limit, b->doc, count, 1, max_limit, b->err));
  out->limit = (int)limit;
  out->source = b->names.count++;
  b->names.sources[out->source].name = name;
  b->names.sources[out->source].schema = out->schema;
  if (own)
    return NAI_OK;
  int outer = b->names.current, column = nai_schema_role(out->schema, NAI_ROLE_DEVICE);
  b->names.current = out->source;
  const char *device = b->names.fact && column >= 0 ? out->schema->columns[column].name : NULL;
  NAI_TRY(nai_rows_compile(out, &b->names, get(b, node, "where"), get(b, node, "order"), device, b->err));
  b->names.current = outer;
  return NAI_OK;
}

int nai_fact_compile(struct fact *fact, struct nai_rule_set *set, struct nai_err *err) {
  struct builder b = {.doc = fact->doc, .names = {.set = set, .doc = fact->doc, .fact = true}, .err = err};
  NAI_TRY(nai_yaml_expect_keys(fact->doc, fact->node, NAI_WORDS("table", "where"), err));
  return selection_compile(&fact->rows, &b, fact->node, "table", NULL, 1, 1);
}

static int check_lookup_name(const struct builder *b, const struct nai_yaml_node *node) {
  if (strspn(node->key, "abcdefghijklmnopqrstuvwxyz_0123456789") != strlen(node->key))
    return nai_yaml_error_key(b->doc, node, b->err, "\"%s\" is no name: use a-z, 0-9 and _", node->key);
  return nai_text_is_one(node->key, strlen(node->key), NAI_WORDS("this", "param", "subject", "fact"))
           ? nai_yaml_error_key(b->doc, node, b->err, "\"%s\" has a meaning of its own", node->key)
           : NAI_OK;
}

static int lookup_compile(struct lookup *out, struct builder *b, const struct nai_yaml_node *node) {
  static const char *const keys[] = {"table", "where", "order", NULL}, *const sum_keys[] = {"sum", "where", NULL};
  NAI_TRY(check_lookup_name(b, node));
  out->name = node->key;
  out->sum = node->kind == NAI_YAML_MAP && get(b, node, "sum");
  NAI_TRY(nai_yaml_expect_keys(b->doc, node, out->sum ? sum_keys : keys, b->err));
  NAI_TRY(selection_compile(&out->rows, b, node, out->sum ? "sum" : "table", node->key, 1, 1));
  b->names.sources[out->rows.source].sum = out->sum;
  return NAI_OK;
}

static int lookups_compile(struct builder *b, const struct nai_yaml_node *with) {
  if (!with)
    return NAI_OK;
  NAI_TRY(nai_yaml_expect(b->doc, with, NAI_YAML_MAP, b->err));
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, with); n; n = nai_yaml_next(b->doc, n)) {
    if (b->rule->lookup_count == MAX_LOOKUPS)
      return nai_yaml_error_key(b->doc, n, b->err, "more than %d rows to look up", MAX_LOOKUPS);
    NAI_TRY(lookup_compile(&b->rule->lookups[b->rule->lookup_count++], b, n));
  }
  return NAI_OK;
}

/* --- saving ---------------------------------------------------------------------------------------- */

static int explains_compile(struct builder *b, const struct nai_yaml_node *node) {
  static const char *const names[] = {"idle", "exposed_comm", "exposed_copy", "compute"};
  enum { NAMES = sizeof names / sizeof *names };
  const char *name;
  NAI_TRY(nai_yaml_text(&name, b->doc, node, b->err));
  for (int i = 0; i < NAMES; i++) {
    if (strcmp(names[i], name) == 0) {
      b->rule->explains = (enum loss)(LOSS_IDLE + i);
      return NAI_OK;
    }
  }
  const char *guess = nai_text_suggest(name, names, NAMES);
  return guess ? nai_yaml_error(b->doc, node, b->err, "unknown loss \"%s\"; did you mean \"%s\"?", name, guess)
               : nai_yaml_error(b->doc, node, b->err, "expected one of idle, exposed_comm, exposed_copy, compute");
}

/* The member that `key` names, or else, as it was called before, `was`. */
static const struct nai_yaml_node *get_renamed(const struct builder *b, const struct nai_yaml_node *node,
                                               const char *key, const char *was, const char *now) {
  const struct nai_yaml_node *found = get(b, node, key), *former = found ? NULL : get(b, node, was);
  if (former)
    nai_former_tell(b->doc->file, former->key_line, former->key_column, &(struct nai_former){"key", was, now});
  return former ? former : found;
}

static const struct nai_yaml_node *get_saving(const struct builder *b, const struct nai_yaml_node *node) {
  return get_renamed(b, node, "saving", "price", "saving");
}

/* A saving that decides no severity and is not lowered; today: `saving` with `severity` and `lower: []`. */
static const struct nai_yaml_node *get_impact(const struct builder *b, const struct nai_yaml_node *node) {
  return get_renamed(b, node, "", "impact", "saving, with lower: []");
}

/* One saving, by one name. */
static int check_savings(const struct builder *b, const struct nai_yaml_node *node) {
  static const char *const pairs[][2] = {
      {"price", "saving"}, {"impact", "saving"}, {"impact", "price"}, {"price_low", "saving_low"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const struct nai_yaml_node *former = get(b, node, pairs[i][0]);
    if (former && get(b, node, pairs[i][1]))
      return nai_yaml_error_key(b->doc, former, b->err, "\"%s\" and \"%s\" exclude each other", pairs[i][0],
                                pairs[i][1]);
  }
  return NAI_OK;
}

/* Whether the saving is a bound, the time of a cause, or an estimate that a change may exceed. */
static int saving_is_compile(struct builder *b, const struct nai_yaml_node *node) {
  const char *name;
  if (!node)
    return NAI_OK;
  NAI_TRY(nai_yaml_text(&name, b->doc, node, b->err));
  b->rule->estimated = strcmp(name, "estimate") == 0;
  return b->rule->estimated || strcmp(name, "bound") == 0
           ? NAI_OK
           : nai_yaml_error(b->doc, node, b->err, "expected one of bound, estimate");
}

static int saving_compile(struct builder *b, const struct nai_yaml_node *node) {
  struct rule *rule = b->rule;
  NAI_TRY(check_savings(b, node));
  const struct nai_yaml_node *impact = get_impact(b, node), *saving = get_saving(b, node),
                             *explains = get(b, node, "explains"),
                             *low = get_renamed(b, node, "saving_low", "price_low", "saving_low"),
                             *base = get(b, node, "base"), *share_of = get(b, node, "share_of"),
                             *is = get(b, node, "saving_is");
  const struct nai_yaml_node *orphan = explains ? explains : low ? low : base ? base : is;
  if (orphan && !saving)
    return nai_yaml_error_key(b->doc, orphan, b->err, "\"%s\" needs a \"saving\"", orphan->key);
  if (share_of && !base)
    return nai_yaml_error_key(b->doc, share_of, b->err, "\"share_of\" needs a \"base\"");
  if (share_of)
    NAI_TRY(nai_yaml_text(&rule->share_of, b->doc, share_of, b->err));
  if (saving || impact)
    NAI_TRY(nai_duration_compile(&rule->saving, &b->names, saving ? saving : impact, b->err));
  if (low)
    NAI_TRY(nai_duration_compile(&rule->saving_low, &b->names, low, b->err));
  if (base)
    NAI_TRY(nai_duration_compile(&rule->base, &b->names, base, b->err));
  NAI_TRY(saving_is_compile(b, is));
  return explains ? explains_compile(b, explains) : NAI_OK;
}

static int read_severity(int *severity, const struct builder *b, const struct nai_yaml_node *node) {
  *severity = node->kind == NAI_YAML_SCALAR ? nai_severity_from_name(node->text) : -1;
  return *severity >= 0 ? NAI_OK : nai_yaml_error(b->doc, node, b->err, "expected one of info, low, medium, high");
}

/* One item: {when: condition, to: severity, reason: text}. */
static int lowering_compile(struct lowering *out, struct builder *b, const struct nai_yaml_node *node) {
  const struct nai_yaml_node *reason, *to;
  out->to = -1;
  NAI_TRY(nai_yaml_expect_keys(b->doc, node, NAI_WORDS("when", "to", "reason"), b->err));
  NAI_TRY(nai_yaml_require(&reason, b->doc, node, "reason", b->err));
  NAI_TRY(condition(&out->when, b, node, "when"));
  if ((to = get(b, node, "to")))
    NAI_TRY(read_severity(&out->to, b, to));
  return nai_variants_compile(&out->reason, &b->names, reason, b->err);
}

static int add_lowering(struct builder *b, const struct nai_yaml_node *node) {
  struct lowerings *list = &b->rule->lowerings;
  NAI_TRY(LIST_ROOM(*list, arena_of(b), b->err));
  return lowering_compile(&list->at[list->count++], b, node);
}

/* Those of the rule files' own `lower`, compiled for this rule. */
static int add_default_lowerings(struct builder *b) {
  const struct nai_rule_set *set = b->names.set;
  const struct nai_yaml *doc = b->doc;
  if (!set->lower)
    return NAI_OK;
  b->doc = b->names.doc = set->lower_doc;
  NAI_TRY(nai_yaml_expect(b->doc, set->lower, NAI_YAML_LIST, b->err));
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, set->lower); n; n = nai_yaml_next(b->doc, n))
    NAI_TRY(add_lowering(b, n));
  b->doc = b->names.doc = doc;
  return NAI_OK;
}

static int lowerings_compile(struct builder *b, const struct nai_yaml_node *node) {
  const struct nai_yaml_node *lower = get(b, node, "lower");
  if (!lower)
    return get_saving(b, node) ? add_default_lowerings(b) : NAI_OK;
  NAI_TRY(nai_yaml_expect(b->doc, lower, NAI_YAML_LIST, b->err));
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, lower); n; n = nai_yaml_next(b->doc, n)) {
    bool standard = n->kind == NAI_YAML_SCALAR && strcmp(n->text, "default") == 0;
    NAI_TRY(standard ? add_default_lowerings(b) : add_lowering(b, n));
  }
  return NAI_OK;
}

/* `severity: medium`, or a map from severity to condition; without it the saving decides. */
static int severity_compile(struct builder *b, const struct nai_yaml_node *node) {
  static const char *const names[] = {"info", "low", "medium", "high", NULL};
  struct rule *rule = b->rule;
  const struct nai_yaml_node *map = get(b, node, "severity");
  int severity;
  rule->has_ladder = !map && get_saving(b, node);
  if (rule->has_ladder)
    return NAI_OK;
  if (!map)
    return nai_yaml_error(b->doc, node, b->err, "\"severity\" or \"saving\" is missing");
  if (map->kind == NAI_YAML_SCALAR) {
    NAI_TRY(read_severity(&severity, b, map));
    rule->has_severity[severity] = true;
    return NAI_OK;
  }
  NAI_TRY(nai_yaml_expect_keys(b->doc, map, names, b->err));
  if (!map->count)
    return nai_yaml_error(b->doc, map, b->err, "no severities");
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, map); n; n = nai_yaml_next(b->doc, n)) {
    severity = nai_severity_from_name(n->key);
    struct expression **when = &rule->severity[severity];
    rule->has_severity[severity] = true;
    NAI_TRY(nai_condition_compile(when, &b->names, n, b->err));
    rule->ladder_needs_lookups |= *when && ((*when)->sources & ~1u) != 0;
  }
  return NAI_OK;
}

/* --- what it is about ------------------------------------------------------------------------------- */

static int device_compile(struct builder *b, const struct nai_yaml_node *node) {
  struct nai_display_column column;
  NAI_TRY(nai_names_column(&column, b->rule->rows.schema, b->doc, node, b->err));
  b->rule->device_column = column.column;
  return column.unit == NAI_ID ? NAI_OK
                               : nai_yaml_error(b->doc, node, b->err, "\"device\" needs a column that holds an id");
}

static int scope_compile(struct builder *b, const struct nai_yaml_node *scope, const struct nai_yaml_node *device) {
  static const char *const names[] = {[SCOPE_RUN] = "run", [SCOPE_GPU] = "gpu", [SCOPE_PROCESS] = "process"};
  enum { NAMES = sizeof names / sizeof *names };
  struct rule *rule = b->rule;
  int given = 0;
  rule->device_column = nai_schema_role(rule->rows.schema, NAI_ROLE_DEVICE);
  rule->pid_column = nai_schema_role(rule->rows.schema, NAI_ROLE_PROCESS);
  if (device)
    NAI_TRY(device_compile(b, device));
  rule->scope = rule->device_column >= 0 ? SCOPE_GPU : rule->pid_column >= 0 ? SCOPE_PROCESS : SCOPE_RUN;
  if (!scope)
    return NAI_OK;
  while (given < NAMES && (scope->kind != NAI_YAML_SCALAR || strcmp(scope->text, names[given]) != 0))
    given++;
  if (given == NAMES)
    return nai_yaml_error(b->doc, scope, b->err, "expected one of run, gpu, process");
  rule->scope = (enum scope)given;
  if (rule->scope == SCOPE_GPU && rule->device_column < 0)
    return nai_yaml_error(b->doc, scope, b->err, "table \"%s\" has no GPU; name the column with \"device\"",
                          rule->rows.schema->name);
  if (rule->scope == SCOPE_PROCESS && rule->pid_column < 0)
    return nai_yaml_error(b->doc, scope, b->err, "table \"%s\" has no process", rule->rows.schema->name);
  return NAI_OK;
}

/* The row named by `at`: a lookup of the rule. */
static int anchor_compile(struct evidence_item *out, struct builder *b, const struct nai_yaml_node *at) {
  const char *name, *candidates[MAX_LOOKUPS];
  NAI_TRY(nai_yaml_text(&name, b->doc, at, b->err));
  for (int i = 0; i < b->rule->lookup_count; i++) {
    candidates[i] = b->rule->lookups[i].name;
    if (strcmp(candidates[i], name) == 0) {
      out->source = b->rule->lookups[i].rows.source;
      return NAI_OK;
    }
  }
  const char *guess = nai_text_suggest(name, candidates, (size_t)b->rule->lookup_count);
  return guess ? nai_yaml_error(b->doc, at, b->err, "unknown row \"%s\"; did you mean \"%s\"?", name, guess)
               : nai_yaml_error(b->doc, at, b->err, "unknown row \"%s\": \"with\" defines none of that name", name);
}

static int evidence_item_compile(struct evidence_item *out, struct builder *b, const struct nai_yaml_node *node) {
  if (node->kind == NAI_YAML_SCALAR)
    return nai_variants_compile(&out->text, &b->names, node, b->err);
  const struct nai_yaml_node *text;
  NAI_TRY(nai_yaml_expect_keys(b->doc, node, NAI_WORDS("text", "when", "at", "for"), b->err));
  NAI_TRY(nai_yaml_require(&text, b->doc, node, "text", b->err));
  const struct nai_yaml_node *at = get(b, node, "at"), *each = get(b, node, "for");
  if (at && each)
    return nai_yaml_error_key(b->doc, at, b->err, "\"at\" and \"for\" exclude each other");
  NAI_TRY(condition(&out->when, b, node, "when"));
  if (at)
    NAI_TRY(anchor_compile(out, b, at));
  int sources = b->names.count, outer = b->names.current;
  if (each) {
    NAI_TRY(nai_yaml_expect_keys(b->doc, each, NAI_WORDS("table", "where", "order", "limit"), b->err));
    NAI_TRY(selection_compile(&out->rows, b, each, "table", NULL, DEFAULT_EVIDENCE_ROWS, MAX_EVIDENCE_ROWS));
    out->each = true;
    out->source = b->names.current = out->rows.source;
  }
  NAI_TRY(nai_variants_compile(&out->text, &b->names, text, b->err));
  b->names.count = sources;
  b->names.current = outer;
  return NAI_OK;
}

static int evidence_compile(struct builder *b, const struct nai_yaml_node *node) {
  struct evidence_items *list = &b->rule->evidence;
  if (!node)
    return NAI_OK;
  NAI_TRY(nai_yaml_expect(b->doc, node, NAI_YAML_LIST, b->err));
  for (const struct nai_yaml_node *n = nai_yaml_first(b->doc, node); n; n = nai_yaml_next(b->doc, n)) {
    NAI_TRY(LIST_ROOM(*list, arena_of(b), b->err));
    NAI_TRY(evidence_item_compile(&list->at[list->count++], b, n));
  }
  return NAI_OK;
}

static int links_compile(struct builder *b, const struct nai_yaml_node *node) {
  b->rule->links = "";
  for (const struct nai_yaml_node *n = node && node->kind == NAI_YAML_LIST ? nai_yaml_first(b->doc, node) : node; n;
       n = n == node ? NULL : nai_yaml_next(b->doc, n)) {
    const char *link, *before = b->rule->links;
    NAI_TRY(nai_yaml_text(&link, b->doc, n, b->err));
    if (strpbrk(link, " \n\t"))
      return nai_yaml_error(b->doc, n, b->err, "a link holds no spaces");
    b->rule->links = nai_arena_printf(arena_of(b), "%s%s%s", before, *before ? " " : "", link);
  }
  return nai_arena_check(arena_of(b), b->err);
}

/* A change that is the same for all findings is checked now; one that names what a row holds is well-formed then. */
static int simulate_check(const struct builder *b, const struct nai_yaml_node *node) {
  for (uint32_t i = 0; i < b->rule->simulate.count; i++) {
    const struct refs *pieces = &b->rule->simulate.at[i].pieces;
    NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
    struct nai_err wrong = {0};
    struct nai_change change = {0};
    if (pieces->count != 1 || pieces->at[0].kind != REF_TEXT)
      continue;
    int rc =
        nai_change_parse(&change, nai_arena_printf(&arena, "%.*s", (int)pieces->at[0].text_len, pieces->at[0].text),
                         &arena, &wrong);
    nai_change_free(&change);
    if (rc == NAI_EUSAGE)
      return nai_yaml_error(b->doc, node, b->err, "%s", wrong.msg);
    if (rc)
      return nai_err_nomem(b->err);
  }
  return NAI_OK;
}

/* Texts, after everything they can refer to. */
static int texts_compile(struct builder *b, const struct nai_yaml_node *node) {
  const struct {
    const char *key;
    struct variants *out;
    bool required;
  } texts[] = {{"title", &b->rule->title, true},   {"title_many", &b->rule->title_many, false},
               {"place", &b->rule->place, false},  {"simulate", &b->rule->simulate, false},
               {"why", &b->rule->why, true},       {"recommendation", &b->rule->recommendation, true},
               {"verify", &b->rule->verify, false}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const struct nai_yaml_node *text = get(b, node, texts[i].key);
    if (texts[i].required)
      NAI_TRY(nai_yaml_require(&text, b->doc, node, texts[i].key, b->err));
    if (text)
      NAI_TRY(nai_variants_compile(texts[i].out, &b->names, text, b->err));
  }
  return simulate_check(b, get(b, node, "simulate"));
}

int nai_rule_compile(struct rule *rule, struct nai_rule_set *set, struct nai_err *err) {
  const struct nai_yaml *doc = rule->doc;
  const struct nai_yaml_node *node = rule->node, *first = nai_yaml_get(doc, node, "first"),
                             *part = nai_yaml_get(doc, node, "simulates_part");
  struct builder b = {.rule = rule, .doc = doc, .names = {.set = set, .doc = doc}, .err = err};
  NAI_TRY(nai_yaml_expect_keys(doc, node, rule_keys, err));
  NAI_TRY(selection_compile(&rule->rows, &b, node, "table", "this", DEFAULT_FINDINGS, MAX_FINDINGS));
  NAI_TRY(condition(&rule->where, &b, node, "where"));
  NAI_TRY(lookups_compile(&b, get(&b, node, "with")));
  NAI_TRY(condition(&rule->when, &b, node, "when"));
  NAI_TRY(saving_compile(&b, node));
  b.names.saving = rule->saving != NULL;
  NAI_TRY(severity_compile(&b, node));
  NAI_TRY(lowerings_compile(&b, node));
  if (first)
    NAI_TRY(nai_yaml_bool(&rule->first, doc, first, err));
  rule->last = first && !rule->first;
  if (part)
    NAI_TRY(nai_yaml_bool(&rule->simulates_part, doc, part, err));
  NAI_TRY(scope_compile(&b, get(&b, node, "scope"), get(&b, node, "device")));
  NAI_TRY(evidence_compile(&b, get(&b, node, "evidence")));
  NAI_TRY(texts_compile(&b, node));
  return links_compile(&b, get(&b, node, "links"));
}
