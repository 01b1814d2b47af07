/* Findings and evidence from the rows that speak. */
#include "rules/evaluation.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HITS = 4096 }; /* of one rule whose advice is looked at */

static void finding_free(struct finding *finding) {
  free(finding->hits);
  nai_buf_free(&finding->subject);
  nai_buf_free(&finding->title);
  nai_buf_free(&finding->place);
  nai_buf_free(&finding->gpus);
  nai_buf_free(&finding->why);
  nai_buf_free(&finding->recommendation);
  nai_buf_free(&finding->verify);
}

/* --- From hits to findings -------------------------------------------------------------------- */

int nai_enter_hit(struct env *env, const struct evaluation *e, const struct hit *hit, const char *subject) {
  int rc = nai_env_open(env, e->set, hit->rule, e->input, e->err);
  env->rows[0] = hit->row;
  env->device_id = hit->device_id;
  nai_env_set_stake(env, hit);
  env->subject = *subject ? subject : "this run";
  if (!rc)
    nai_env_look_up(env, hit->rule, true);
  return rc;
}

static int render_advice(struct finding *finding, const struct evaluation *e, const struct hit *hit) {
  struct env env;
  int rc = nai_subject_describe(&finding->subject, e->input, &hit, 1, e->err);
  if (!rc)
    rc = nai_enter_hit(&env, e, hit, nai_buf_str(&finding->subject));
  if (rc)
    return rc;
  nai_variants_render(&finding->why, &env, hit->rule->why, TEXT_PROSE, "\n\n");
  nai_variants_render(&finding->recommendation, &env, hit->rule->recommendation, TEXT_PROSE, "\n\n");
  nai_variants_render(&finding->verify, &env, hit->rule->verify, TEXT_SHELL, "\n");
  return 0;
}

static struct finding *find_same(const struct evaluation *e, uint32_t first, const struct finding *advice) {
  for (uint32_t i = first; i < e->count; i++) {
    struct finding *it = &e->findings[i];
    if (strcmp(nai_buf_str(&it->why), nai_buf_str(&advice->why)) == 0 &&
        strcmp(nai_buf_str(&it->recommendation), nai_buf_str(&advice->recommendation)) == 0)
      return it;
  }
  return NULL;
}

static bool has_line(const char *lines, const char *line, size_t length) {
  for (size_t n; *lines; lines += n + (lines[n] == '\n')) {
    n = strcspn(lines, "\n");
    if (n == length && memcmp(lines, line, n) == 0)
      return true;
  }
  return false;
}

/* Commands of a further hit that the finding does not have: they name another GPU or time. */
static void add_commands(struct nai_buf *into, const char *more) {
  for (size_t n; *more; more += n + (more[n] == '\n')) {
    n = strcspn(more, "\n");
    if (!n || has_line(nai_buf_str(into), more, n))
      continue;
    nai_buf_puts(into, "\n");
    nai_buf_put(into, more, n);
  }
}

/* `left_out` counts the hit instead when it would open one finding more than the rule may have. */
static int add_hit(struct evaluation *e, uint32_t first, const struct hit *hit, uint32_t *left_out) {
  struct finding advice = {.rule = hit->rule};
  int rc = render_advice(&advice, e, hit);
  struct finding *finding = rc ? NULL : find_same(e, first, &advice);
  bool full = !finding && e->count - first == (uint32_t)hit->rule->rows.limit;
  if (finding && finding->hit_count < SHOWN_HITS)
    add_commands(&finding->verify, nai_buf_str(&advice.verify));
  if (finding || rc || full) {
    finding_free(&advice);
  } else {
    finding = &e->findings[e->count++];
    *finding = advice;
  }
  *left_out += full;
  if (rc || full)
    return rc;
  if (!nai_array_room(&finding->hits, &finding->hit_capacity, finding->hit_count, sizeof(struct hit *)))
    return nai_err_nomem(e->err);
  finding->hits[finding->hit_count++] = hit;
  return 0;
}

static int add_rule(struct evaluation *e, uint32_t number) {
  const struct rule_hits *mine = &e->hits.by_rule[number];
  uint32_t first = e->count, limit = (uint32_t)e->set->rules[number]->rows.limit;
  uint32_t looked_at = mine->count < MAX_HITS ? mine->count : MAX_HITS, left_out = mine->count - looked_at;
  if (!mine->count)
    return 0;
  if (!nai_array_room(&e->findings, &e->capacity, e->count + limit, sizeof *e->findings))
    return nai_err_nomem(e->err);
  int rc = 0;
  for (uint32_t i = 0; !rc && i < looked_at; i++)
    rc = add_hit(e, first, POOL_AT(e->hits.hits, struct hit, mine->first + i), &left_out);
  if (!rc)
    e->findings[e->count - 1].left_out = left_out;
  return rc;
}

static int render_title(struct finding *finding, const struct evaluation *e) {
  struct env env;
  nai_buf_clear(&finding->subject);
  int rc = nai_subject_describe(&finding->subject, e->input, finding->hits, finding->hit_count, e->err);
  if (!rc)
    rc = nai_enter_hit(&env, e, finding->hits[0], nai_buf_str(&finding->subject));
  if (rc)
    return rc;
  const struct rule *rule = finding->rule;
  bool many = finding->hit_count > 1 && rule->title_many.count;
  nai_variants_render(&finding->title, &env, many ? rule->title_many : rule->title, TEXT_PLAIN, " ");
  if (!finding->title.len && !finding->title.oom) /* none of its variants holds */
    nai_buf_puts(&finding->title, rule->id);
  nai_variants_render(&finding->place, &env, rule->place, TEXT_PLAIN, " ");
  return nai_finding_sum_up(finding, e->err);
}

static int by_importance(const void *a, const void *b) {
  const struct finding *x = a, *y = b;
  const struct hit *p = x->hits[0], *q = y->hits[0];
  if (x->rule->first != y->rule->first)
    return y->rule->first - x->rule->first;
  if (p->severity != q->severity)
    return q->severity - p->severity;
  if (x->stake_ns != y->stake_ns)
    return x->stake_ns < y->stake_ns ? 1 : -1;
  int order = strcmp(x->rule->id, y->rule->id);
  if (order)
    return order;
  const int64_t keys[][2] = {{p->device_id, q->device_id}, {p->pid, q->pid}, {p->row, q->row}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

/* --- Rows of the two tables ------------------------------------------------------------------- */

static void write_finding(struct evaluation *e, uint32_t number) {
  const struct finding *finding = &e->findings[number];
  const struct hit *lead = finding->hits[0];
  struct nai_table *t = e->findings_table;
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, FINDINGS_finding, number + 1); /* as reports count */
  nai_set_str(t, row, FINDINGS_id, finding->rule->id);
  nai_set_str(t, row, FINDINGS_title, nai_buf_str(&finding->title));
  nai_set_str(t, row, FINDINGS_severity, nai_severity_name(lead->severity));
  nai_set_str(t, row, FINDINGS_scope, finding->subject.len ? finding->subject.data : "run");
  nai_set_i64(t, row, FINDINGS_device_id, lead->device_id);
  nai_set_i64(t, row, FINDINGS_pid, lead->pid);
  nai_set_str(t, row, FINDINGS_gpus, finding->gpu_count ? nai_buf_str(&finding->gpus) : NULL);
  nai_set_i64(t, row, FINDINGS_gpu_count, finding->gpu_count);
  nai_set_i64(t, row, FINDINGS_at_stake_ns, finding->stake_ns);
  nai_set_i64(t, row, FINDINGS_at_stake_low_ns, finding->stake_low_ns);
  nai_set_f64(t, row, FINDINGS_pct_of_active, finding->pct);
  nai_set_str(t, row, FINDINGS_place, finding->place.len ? finding->place.data : NULL);
  nai_set_str(t, row, FINDINGS_reason, lead->reason);
  nai_set_str(t, row, FINDINGS_part_of, lead->parent ? lead->parent->id : NULL);
  nai_set_i64(t, row, FINDINGS_leads, finding->rule->first);
  nai_set_str(t, row, FINDINGS_why, nai_buf_str(&finding->why));
  nai_set_str(t, row, FINDINGS_recommendation, nai_buf_str(&finding->recommendation));
  nai_set_str(t, row, FINDINGS_verify, nai_buf_str(&finding->verify));
  nai_set_str(t, row, FINDINGS_links, nai_buf_str(&finding->rule->links));
  nai_set_str(t, row, FINDINGS_share_of,
              isnan(finding->pct)               ? NULL
              : finding->rule->base.number == 0 ? "active time"
                                                : finding->rule->share_of);
}

static int write_tables(struct evaluation *e) {
  int rc = 0;
  for (uint32_t f = 0; !rc && f < e->count; f++) {
    const struct finding *finding = &e->findings[f];
    const struct nai_buf *texts[] = {&finding->subject, &finding->title,          &finding->place, &finding->gpus,
                                     &finding->why,     &finding->recommendation, &finding->verify};
    for (size_t i = 0; !rc && i < sizeof texts / sizeof *texts; i++)
      rc = nai_buf_check(texts[i], e->err);
    if (rc)
      return rc;
    write_finding(e, f);
    rc = nai_evidence_write(e, f);
  }
  if (!rc)
    rc = nai_table_check(e->findings_table, e->err);
  return rc ? rc : nai_table_check(e->evidence_table, e->err);
}

int nai_rules_evaluate(struct nai_table **findings, struct nai_table **evidence, const struct nai_rule_set *set,
                       const struct nai_rules_input *input, struct nai_err *err) {
  struct evaluation e = {.set = set, .input = input, .err = err};
  *findings = *evidence = NULL;
  int rc = nai_table_new(&e.findings_table, &nai_findings_schema, err);
  if (!rc)
    rc = nai_table_new(&e.evidence_table, &nai_evidence_schema, err);
  if (!rc)
    rc = nai_rules_enter(set, input, err);
  if (!rc)
    rc = nai_hits_find(&e.hits, set, input, err);
  for (uint32_t i = 0; !rc && i < set->rule_count; i++)
    rc = add_rule(&e, i);
  for (uint32_t i = 0; !rc && i < e.count; i++)
    rc = render_title(&e.findings[i], &e);
  if (!rc && e.count)
    qsort(e.findings, e.count, sizeof *e.findings, by_importance);
  if (!rc)
    rc = write_tables(&e);
  rc = nai_rules_leave(set, rc, err);
  for (uint32_t i = 0; i < e.count; i++)
    finding_free(&e.findings[i]);
  free(e.findings);
  nai_hits_free(&e.hits);
  if (rc) {
    nai_table_free(e.findings_table);
    nai_table_free(e.evidence_table);
    return rc;
  }
  *findings = e.findings_table;
  *evidence = e.evidence_table;
  return 0;
}
