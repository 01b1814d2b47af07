/* Why a rule speaks of a run or does not: its rows one by one, and which of its conditions each fails. */
#include "rules/evaluation.h"
#include "table/schema.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

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
  const struct nai_value ns = {.type = NAI_I64, .i = hit->stake_ns, .null = hit->stake_ns == NAI_NULL_I64};
  const struct nai_value pct = {.type = NAI_F64, .f = env->stake_pct, .null = isnan(env->stake_pct)};
  const char *whole = hit->rule->share_of ? hit->rule->share_of : "active time";
  nai_buf_puts(out, "saving ");
  nai_value_print_human(out, NAI_NS, &ns);
  if (pct.null)
    return;
  nai_buf_puts(out, ", ");
  nai_value_print_human(out, NAI_PCT, &pct);
  nai_buf_printf(out, " of the %s", hit->rule->base.number && !hit->rule->share_of ? "rule's base" : whole);
}

static bool is_name(const char *c) { return *c && (*c == '_' || *c == '.' || isalnum((unsigned char)*c)); }

static bool has_name(const struct expression *e, const struct env *env, uint32_t before, const char *name, size_t len) {
  for (uint32_t i = 0; i < before; i++) {
    const char *other = e->node->text + POOL_AT(env->set->pieces, struct ref, e->refs.first + i)->offset;
    if (strncmp(other, name, len) == 0 && !is_name(other + len))
      return true;
  }
  return false;
}

/* A condition with what its names stand for: "100.0 * lost_ns / active_ns >= param.pct (lost_ns 1.2 ms, ...)". */
static void put_condition(struct nai_buf *out, const struct env *env, struct formula condition) {
  const struct expression *e = POOL_AT(env->set->expressions, struct expression, condition.number - 1);
  const char *before = " (";
  nai_buf_puts(out, e->node->text);
  for (uint32_t i = 0; i < e->refs.count; i++) {
    const struct ref *ref = POOL_AT(env->set->pieces, struct ref, e->refs.first + i);
    const char *name = e->node->text + ref->offset;
    size_t len = 0;
    while (is_name(name + len))
      len++;
    if (has_name(e, env, i, name, len))
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

static const struct hit *spoken(const struct hits *hits, uint32_t number, int64_t row) {
  const struct rule_hits *mine = &hits->by_rule[number];
  for (uint32_t i = 0; i < mine->count; i++)
    if (POOL_AT(hits->hits, struct hit, mine->first + i)->row == row)
      return POOL_AT(hits->hits, struct hit, mine->first + i);
  return NULL;
}

static void put_parameter(struct nai_buf *out, const struct nai_rule_set *set, const char *name, const char *unit) {
  for (uint32_t i = 0; i < set->parameters.count; i++) {
    const struct parameter *parameter = POOL_AT(set->parameters, struct parameter, i);
    if (strcmp(parameter->name, name) != 0)
      continue;
    nai_buf_printf(out, "%s = ", name);
    nai_number_print(out, parameter->value);
    nai_buf_printf(out, " %s", unit);
  }
}

static void put_reason(struct nai_buf *out, const struct env *env, const struct hits *hits, uint32_t number,
                       const struct hit *hit, enum outcome outcome) {
  const struct hit *found = spoken(hits, number, hit->row);
  if (found) {
    nai_buf_printf(out, "speaks, %s%s", nai_severity_name(found->severity),
                   found->stake_ns == NAI_NULL_I64 ? "" : "; ");
    if (found->stake_ns != NAI_NULL_I64)
      put_saving(out, env, found);
  } else if (outcome == OUTCOME_WHEN) {
    nai_buf_puts(out, "does not meet `when`: ");
    put_condition(out, env, hit->rule->when);
  } else if (outcome == OUTCOME_SEVERITY && hit->rule->has_ladder) {
    put_saving(out, env, hit);
    nai_buf_puts(out, ": below ");
    bool small = hit->stake_ns == NAI_NULL_I64 || isnan(nai_price_share(hit)) || nai_price_is_small(env->set, hit);
    put_parameter(out, env->set, small ? "severity_min_ms" : "severity_low_pct", small ? "ms" : "%");
  } else if (outcome == OUTCOME_SEVERITY) {
    nai_buf_puts(out, "meets no condition of `severity`:");
    for (int severity = NAI_SEVERITY_HIGH; severity >= NAI_SEVERITY_INFO; severity--)
      if (hit->rule->has_severity[severity]) {
        nai_buf_printf(out, "\n    %s: ", nai_severity_name(severity));
        put_condition(out, env, hit->rule->severity[severity]);
      }
  } else {
    const struct hit *by = nai_hits_silencer(hits, env->set, hit);
    if (by) {
      nai_buf_printf(out, "silent, because %s speaks", by->rule->id);
    } else {
      put_saving(out, env, hit);
      nai_buf_puts(out, " at first, of which other findings about the same loss leave too little");
    }
  }
  nai_buf_putc(out, '\n');
}

static int tell_rows(struct nai_buf *out, const struct hits *hits, const struct nai_rule_set *set, uint32_t number,
                     const struct nai_rules_input *input, struct nai_err *err) {
  const struct rule *rule = set->rules[number];
  struct nai_buf rows = {0};
  struct env env;
  int64_t met = 0;
  int rc = nai_env_open(&env, set, rule, input, err);
  if (rc)
    return rc;
  nai_env_look_up(&env, rule, true);
  int64_t count = env.tables[0] ? env.tables[0]->rows : 0;
  for (int64_t row = 0; row < count; row++) {
    struct hit hit = nai_hit_at(&env, rule, row);
    enum outcome outcome = nai_hit_examine(&hit, &env);
    if (outcome == OUTCOME_WHERE || met++ >= MAX_TOLD)
      continue;
    put_row(&rows, &env, &hit);
    put_reason(&rows, &env, hits, number, &hit, outcome);
  }
  nai_buf_printf(out, "%s: table %s has %" PRId64 " rows, %" PRId64 " meet `where`: %s\n", rule->id,
                 rule->rows.schema->name, count, met, text_of(rule, "where"));
  nai_buf_puts(out, nai_buf_str(&rows));
  if (met > MAX_TOLD)
    nai_buf_printf(out, "  and %" PRId64 " more\n", met - MAX_TOLD);
  rc = nai_buf_check(&rows, err);
  nai_buf_free(&rows);
  return rc;
}

int nai_rules_why(struct nai_buf *out, const struct nai_rule_set *set, const char *id,
                  const struct nai_rules_input *input, struct nai_err *err) {
  uint32_t number;
  struct hits hits = {0};
  const struct rule *rule = nai_rule_find(set, id, &number);
  if (!rule)
    return nai_err_set(err, NAI_EUSAGE, "unknown rule \"%s\"", id);
  if (rule->disabled) {
    nai_buf_printf(out, "%s: disabled\n", id);
    return NAI_OK;
  }
  int rc = nai_rules_enter(set, input, err);
  if (!rc)
    rc = nai_hits_find(&hits, set, input, err);
  if (!rc)
    rc = tell_rows(out, &hits, set, number, input, err);
  rc = nai_rules_leave(set, rc, err);
  nai_hits_free(&hits);
  return rc ? rc : nai_buf_check(out, err);
}
