/* Why a rule speaks of a run or does not: its rows one by one, and which of its conditions each fails. */
#include "rules/evaluation.h"
#include "table/schema.h"

enum { MAX_TOLD = 10 };

static const char *text_of(const struct rule *rule, const char *key) {
  const struct nai_yaml_node *node = nai_yaml_get(rule->doc, rule->node, key);
  return node && node->text ? node->text : "true";
}

/* "row 3 (GPU 0, sgemm)": as far as its table has such columns. */
static void put_row(struct nai_buf *out, const struct env *env, const struct hit *hit) {
  const struct nai_table *table = env->tables[0];
  int name = nai_schema_name(table->schema);
  struct nai_value cell = {.null = true};
  const char *before = " (";
  if (name >= 0)
    cell = nai_table_value(table, hit->row, name);
  nai_buf_printf(out, "  row %" PRId64, hit->row);
  if (hit->device_id != NAI_NULL_I64) {
    nai_buf_printf(out, "%sGPU %" PRId64, before, hit->device_id);
    before = ", ";
  }
  if (!cell.null && cell.type == NAI_STR) {
    nai_buf_printf(out, "%s%.60s", before, cell.s);
    before = ", ";
  }
  nai_buf_puts(out, strcmp(before, ", ") == 0 ? "): " : ": ");
}

static void put_saving(struct nai_buf *out, const struct env *env, const struct hit *hit) {
  double share = nai_saving_pct(&env->saving);
  const struct nai_value ns = {.type = NAI_I64, .i = hit->saving.ns, .null = hit->saving.ns == NAI_NULL_I64};
  const struct nai_value pct = {.type = NAI_F64, .f = share, .null = isnan(share)};
  const char *whole = hit->rule->share_of ? hit->rule->share_of : "active time";
  nai_buf_puts(out, "saving ");
  nai_value_print_human(out, NAI_NS, &ns);
  if (pct.null)
    return;
  nai_buf_puts(out, ", ");
  nai_value_print_human(out, NAI_PCT, &pct);
  nai_buf_printf(out, " of the %s", hit->rule->base && !hit->rule->share_of ? "rule's base" : whole);
}

static bool is_name(const char *c) { return *c && (*c == '_' || *c == '.' || isalnum((unsigned char)*c)); }

/* Whether one of the first names is that one. */
static bool has_name(const struct expression *e, uint32_t before, const char *name, size_t len) {
  for (uint32_t i = 0; i < before; i++) {
    const char *other = e->node->text + e->refs.at[i].offset;
    if (strncmp(other, name, len) == 0 && !is_name(other + len))
      return true;
  }
  return false;
}

/* A condition with what its names stand for: "100.0 * lost_ns / active_ns >= param.pct (lost_ns 1.2 ms, ...)". */
static void put_condition(struct nai_buf *out, const struct env *env, const struct expression *e) {
  const char *before = " (";
  nai_buf_puts(out, e->node->text);
  for (uint32_t i = 0; i < e->refs.count; i++) {
    const struct ref *ref = &e->refs.at[i];
    const char *name = e->node->text + ref->offset;
    size_t len = 0;
    while (is_name(name + len))
      len++;
    if (has_name(e, i, name, len))
      continue;
    struct nai_value value = nai_env_value(env, ref);
    nai_buf_printf(out, "%s%.*s ", before, (int)len, name);
    if (ref->kind == REF_PARAMETER || ref->kind == REF_FACT)
      nai_number_print(out, value.f);
    else
      nai_value_print_human(out, ref->unit, &value);
    before = ", ";
  }
  nai_buf_puts(out, e->refs.count ? ")" : "");
}

static void put_severities(struct nai_buf *out, const struct env *env, const struct rule *rule) {
  nai_buf_puts(out, "meets no condition of `severity`:");
  for (int severity = NAI_SEVERITY_HIGH; severity >= NAI_SEVERITY_INFO; severity--)
    if (rule->has_severity[severity]) {
      nai_buf_printf(out, "\n    %s: ", nai_severity_name(severity));
      put_condition(out, env, rule->severity[severity]);
    }
}

/* "severity_min_ms = 1 ms": the threshold that the saving does not reach. */
static void put_threshold(struct nai_buf *out, const struct nai_rule_set *set, const struct saving *saving) {
  bool small = saving->ns == NAI_NULL_I64 || isnan(nai_saving_pct(saving)) || nai_saving_is_small(set, saving);
  const char *name = small ? "severity_min_ms" : "severity_low_pct";
  const struct parameter *parameter = nai_names_parameter(set, name);
  if (!parameter)
    return;
  nai_buf_printf(out, "%s = ", name);
  nai_number_print(out, parameter->value);
  nai_buf_puts(out, small ? " ms" : " %");
}

static const struct hit *find_spoken(const struct hits *hits, const struct hit *hit) {
  const struct rule_hits *mine = &hits->by_rule[hit->rule->number];
  for (uint32_t i = 0; i < mine->count; i++)
    if (hits->all.at[mine->first + i].row == hit->row)
      return &hits->all.at[mine->first + i];
  return NULL;
}

static void put_reason(struct nai_buf *out, const struct env *env, const struct hits *hits, const struct hit *hit,
                       enum outcome outcome) {
  const struct hit *found = find_spoken(hits, hit), *silencer;
  if (found) {
    bool saves = found->saving.ns != NAI_NULL_I64;
    nai_buf_printf(out, "speaks, %s%s", nai_severity_name(found->severity), saves ? "; " : "");
    if (saves)
      put_saving(out, env, found);
  } else if (outcome == OUTCOME_WHEN) {
    nai_buf_puts(out, "does not meet `when`: ");
    put_condition(out, env, hit->rule->when);
  } else if (outcome == OUTCOME_SEVERITY && hit->rule->has_ladder) {
    put_saving(out, env, hit);
    nai_buf_puts(out, ": below ");
    put_threshold(out, env->set, &hit->saving);
  } else if (outcome == OUTCOME_SEVERITY) {
    put_severities(out, env, hit->rule);
  } else if ((silencer = nai_hits_silencer(hits, hit))) {
    nai_buf_printf(out, "silent, because %s speaks", silencer->rule->id);
  } else {
    put_saving(out, env, hit);
    nai_buf_puts(out, " at first, of which other findings about the same loss leave too little");
  }
  nai_buf_putc(out, '\n');
}

static int tell_rows(struct nai_buf *out, const struct hits *hits, const struct nai_rule_set *set,
                     const struct rule *rule, const struct nai_rules_input *input, struct nai_err *err) {
  NAI_SCOPED(nai_buf) rows = {0};
  struct env env;
  int64_t met = 0;
  nai_env_open(&env, set, rule, input);
  nai_env_look_up(&env, rule, true);
  int64_t count = env.tables[0] ? env.tables[0]->rows : 0;
  for (int64_t row = 0; row < count; row++) {
    struct hit hit = nai_hit_at(&env, rule, row);
    enum outcome outcome = nai_hit_examine(&hit, &env);
    if (outcome == OUTCOME_WHERE || met++ >= MAX_TOLD)
      continue;
    put_row(&rows, &env, &hit);
    put_reason(&rows, &env, hits, &hit, outcome);
  }
  nai_buf_printf(out, "%s: table %s has %" PRId64 " rows, %" PRId64 " meet `where`: %s\n", rule->id,
                 rule->rows.schema->name, count, met, text_of(rule, "where"));
  nai_buf_puts(out, nai_buf_str(&rows));
  if (met > MAX_TOLD)
    nai_buf_printf(out, "  and %" PRId64 " more\n", met - MAX_TOLD);
  return nai_buf_check(&rows, err);
}

int nai_rules_why(struct nai_buf *out, const struct nai_rule_set *set, const char *id,
                  const struct nai_rules_input *input, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct hits hits;
  const struct rule *rule = nai_names_rule(set, id);
  if (!rule)
    return nai_err_set(err, NAI_EUSAGE, "unknown rule \"%s\"", id);
  if (rule->disabled) {
    nai_buf_printf(out, "%s: disabled\n", id);
    return NAI_OK;
  }
  int rc = nai_rules_enter(set, input, err);
  if (!rc)
    rc = nai_hits_find(&hits, set, input, &arena, err);
  if (!rc)
    rc = tell_rows(out, &hits, set, rule, input, err);
  NAI_TRY(nai_rules_leave(set, rc, err));
  return nai_buf_check(out, err);
}
