/* Findings and evidence from the rows that speak. */
#include "rules/internal.h"

#include <stdlib.h>
#include <string.h>

enum { /* columns of nai_findings_schema */
       F_FINDING,
       F_ID,
       F_TITLE,
       F_SEVERITY,
       F_SCOPE,
       F_DEVICE,
       F_PID,
       F_IMPACT,
       F_WHY,
       F_RECOMMENDATION,
       F_VERIFY,
       F_LINKS
};
enum { E_FINDING, E_TEXT, E_TABLE, E_ROW, E_START, E_END, E_DEVICE, E_PID, E_TID, E_NAME };

/* Hits of one rule and severity that get the same advice become one finding; its texts are those of the first hit. */
struct finding {
  const struct rule *rule;
  const struct hit **hits;
  uint32_t hit_count;
  uint32_t left_out; /* further hits of the rule that its limit cut off */
  struct nai_buf subject, title, why, recommendation, verify;
};

struct evaluation {
  const struct nai_rule_set *set;
  const struct nai_rules_input *input;
  struct hits hits;
  struct finding *findings;
  uint32_t count;
  struct nai_table *findings_table, *evidence_table;
  struct nai_err *err;
};

static void finding_free(struct finding *finding) {
  free(finding->hits);
  nai_buf_free(&finding->subject);
  nai_buf_free(&finding->title);
  nai_buf_free(&finding->why);
  nai_buf_free(&finding->recommendation);
  nai_buf_free(&finding->verify);
}

/* --- From hits to findings -------------------------------------------------------------------- */

static int enter_hit(struct env *env, const struct evaluation *e, const struct hit *hit, const char *subject) {
  int rc = env_open(env, e->set, hit->rule, e->input, e->err);
  env->rows[0] = hit->row;
  env->subject = *subject ? subject : "this run";
  if (!rc)
    env_look_up(env, hit->rule, true);
  return rc;
}

static int render_advice(struct finding *finding, const struct evaluation *e, const struct hit *hit) {
  struct env env;
  int rc = subject_describe(&finding->subject, e->input, &hit, 1, e->err);
  if (!rc)
    rc = enter_hit(&env, e, hit, nai_buf_str(&finding->subject));
  if (rc)
    return rc;
  variants_render(&finding->why, &env, hit->rule->why, TEXT_PROSE, "\n\n");
  variants_render(&finding->recommendation, &env, hit->rule->recommendation, TEXT_PROSE, "\n\n");
  variants_render(&finding->verify, &env, hit->rule->verify, TEXT_SHELL, "\n");
  return 0;
}

static struct finding *find_same(const struct evaluation *e, uint32_t first, const struct hit *hit,
                                 const struct finding *advice) {
  for (uint32_t i = first; i < e->count; i++) {
    struct finding *it = &e->findings[i];
    if (it->hits[0]->severity == hit->severity && strcmp(nai_buf_str(&it->why), nai_buf_str(&advice->why)) == 0 &&
        strcmp(nai_buf_str(&it->recommendation), nai_buf_str(&advice->recommendation)) == 0)
      return it;
  }
  return NULL;
}

static int add_hit(struct evaluation *e, uint32_t first, const struct hit *hit) {
  struct finding advice = {.rule = hit->rule};
  int rc = render_advice(&advice, e, hit);
  struct finding *finding = rc ? NULL : find_same(e, first, hit, &advice);
  if (finding || rc) {
    finding_free(&advice);
  } else {
    finding = &e->findings[e->count++];
    *finding = advice;
  }
  if (rc)
    return rc;
  const struct hit **hits = realloc(finding->hits, (finding->hit_count + 1) * sizeof *hits);
  if (!hits)
    return nai_err_nomem(e->err);
  finding->hits = hits;
  hits[finding->hit_count++] = hit;
  return 0;
}

static int add_rule(struct evaluation *e, uint32_t number) {
  const struct rule_hits *mine = &e->hits.by_rule[number];
  uint32_t first = e->count, limit = (uint32_t)e->set->rules[number]->rows.limit;
  uint32_t kept = mine->count < limit ? mine->count : limit;
  if (!kept)
    return 0;
  struct finding *findings = realloc(e->findings, (e->count + kept) * sizeof *findings);
  if (!findings)
    return nai_err_nomem(e->err);
  e->findings = findings;
  int rc = 0;
  for (uint32_t i = 0; !rc && i < kept; i++)
    rc = add_hit(e, first, POOL_AT(e->hits.hits, struct hit, mine->first + i));
  if (!rc)
    e->findings[e->count - 1].left_out = mine->count - kept;
  return rc;
}

static int render_title(struct finding *finding, const struct evaluation *e) {
  struct env env;
  nai_buf_clear(&finding->subject);
  int rc = subject_describe(&finding->subject, e->input, finding->hits, finding->hit_count, e->err);
  if (!rc)
    rc = enter_hit(&env, e, finding->hits[0], nai_buf_str(&finding->subject));
  if (rc)
    return rc;
  const struct rule *rule = finding->rule;
  bool many = finding->hit_count > 1 && rule->title_many.count;
  variants_render(&finding->title, &env, many ? rule->title_many : rule->title, TEXT_PLAIN, " ");
  return 0;
}

static int by_importance(const void *a, const void *b) {
  const struct finding *x = a, *y = b;
  const struct hit *p = x->hits[0], *q = y->hits[0];
  if (p->severity != q->severity)
    return q->severity - p->severity;
  if (p->impact_ns != q->impact_ns)
    return p->impact_ns < q->impact_ns ? 1 : -1;
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
  nai_set_i64(t, row, F_FINDING, number);
  nai_set_str(t, row, F_ID, finding->rule->id);
  nai_set_str(t, row, F_TITLE, nai_buf_str(&finding->title));
  nai_set_str(t, row, F_SEVERITY, nai_severity_name(lead->severity));
  nai_set_str(t, row, F_SCOPE, finding->subject.len ? finding->subject.data : "run");
  nai_set_i64(t, row, F_DEVICE, lead->device_id);
  nai_set_i64(t, row, F_PID, lead->pid);
  nai_set_i64(t, row, F_IMPACT, lead->impact_ns < 0 ? NAI_NULL_I64 : lead->impact_ns);
  nai_set_str(t, row, F_WHY, nai_buf_str(&finding->why));
  nai_set_str(t, row, F_RECOMMENDATION, nai_buf_str(&finding->recommendation));
  nai_set_str(t, row, F_VERIFY, nai_buf_str(&finding->verify));
  nai_set_str(t, row, F_LINKS, nai_buf_str(&finding->rule->links));
}

/* The row's GPU, process or thread, or `otherwise` when the table has none. */
static int64_t row_id(const struct nai_table *table, int64_t row, enum nai_role role, int64_t otherwise) {
  int column = nai_schema_role(table->schema, role);
  return column >= 0 ? nai_get_i64(table, row, column) : otherwise;
}

static void write_evidence(struct evaluation *e, uint32_t number, const struct hit *hit, const struct nai_table *source,
                           int64_t source_row, const char *text) {
  struct nai_table *t = e->evidence_table;
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, E_FINDING, number);
  nai_set_str(t, row, E_TEXT, text);
  nai_set_str(t, row, E_TABLE, source->schema->name);
  nai_set_i64(t, row, E_ROW, source_row);
  int start, end;
  if (nai_schema_place(&start, &end, source->schema)) {
    nai_set_i64(t, row, E_START, nai_get_i64(source, source_row, start));
    nai_set_i64(t, row, E_END, nai_get_i64(source, source_row, end));
  }
  nai_set_i64(t, row, E_DEVICE, row_id(source, source_row, NAI_ROLE_DEVICE, hit->device_id));
  nai_set_i64(t, row, E_PID, row_id(source, source_row, NAI_ROLE_PROCESS, hit->pid));
  nai_set_i64(t, row, E_TID, row_id(source, source_row, NAI_ROLE_THREAD, NAI_NULL_I64));
  int name = nai_schema_name(source->schema);
  if (name >= 0) {
    struct nai_value cell = nai_table_value(source, source_row, name);
    nai_set_str(t, row, E_NAME, cell.null ? NULL : cell.s);
  }
}

static int write_item(struct evaluation *e, uint32_t number, const struct hit *hit, struct env *env,
                      const struct evidence_item *item) {
  int64_t rows[MAX_EVIDENCE_ROWS];
  int count = 1;
  if (!condition_holds(env, &item->when))
    return 0;
  if (item->each) { /* all `for` items of a rule share one source */
    env->tables[item->source] = env_table(env, item->rows.schema);
    count = selection_rows(rows, item->rows.limit, env, &item->rows);
  } else {
    rows[0] = env->rows[item->source];
  }
  struct nai_buf text = {0};
  for (int i = 0; i < count && rows[i] >= 0; i++) {
    env->rows[item->source] = rows[i];
    nai_buf_clear(&text);
    variants_render(&text, env, item->text, TEXT_PLAIN, "; ");
    write_evidence(e, number, hit, env->tables[item->source], rows[i], nai_buf_str(&text));
  }
  int rc = nai_buf_check(&text, e->err);
  nai_buf_free(&text);
  return rc;
}

/* All items for the first hit; for the others, which share its advice, only the first item: the fact itself. */
static int write_hit_evidence(struct evaluation *e, uint32_t number, const struct hit *hit, bool all) {
  const struct finding *finding = &e->findings[number];
  const struct rule *rule = finding->rule;
  struct nai_buf subject = {0};
  struct env env;
  int rc = subject_describe(&subject, e->input, &hit, 1, e->err);
  if (!rc)
    rc = nai_buf_check(&subject, e->err);
  if (!rc)
    rc = enter_hit(&env, e, hit, nai_buf_str(&subject));
  for (uint32_t i = 0; !rc && i < rule->evidence.count && (all || i == 0); i++)
    rc = write_item(e, number, hit, &env, POOL_AT(e->set->evidence, struct evidence_item, rule->evidence.first + i));
  nai_buf_free(&subject);
  return rc;
}

static int write_left_out(struct evaluation *e, uint32_t number) {
  const struct finding *finding = &e->findings[number];
  const struct hit *last = finding->hits[finding->hit_count - 1];
  struct env env;
  int rc = enter_hit(&env, e, last, "");
  if (rc || !finding->left_out)
    return rc;
  struct nai_buf text = {0};
  nai_buf_printf(&text, "%u more rows of table %s meet this rule", finding->left_out, finding->rule->rows.schema->name);
  write_evidence(e, number, last, env.tables[0], last->row, nai_buf_str(&text));
  rc = nai_buf_check(&text, e->err);
  nai_buf_free(&text);
  return rc;
}

static int write_tables(struct evaluation *e) {
  int rc = 0;
  for (uint32_t f = 0; !rc && f < e->count; f++) {
    const struct finding *finding = &e->findings[f];
    const struct nai_buf *texts[] = {&finding->subject, &finding->title, &finding->why, &finding->recommendation,
                                     &finding->verify};
    for (size_t i = 0; !rc && i < sizeof texts / sizeof *texts; i++)
      rc = nai_buf_check(texts[i], e->err);
    if (rc)
      return rc;
    write_finding(e, f);
    for (uint32_t h = 0; !rc && h < finding->hit_count; h++)
      rc = write_hit_evidence(e, f, finding->hits[h], h == 0);
    if (!rc)
      rc = write_left_out(e, f);
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
    rc = hits_find(&e.hits, set, input, err);
  for (uint32_t i = 0; !rc && i < set->rule_count; i++)
    rc = add_rule(&e, i);
  for (uint32_t i = 0; !rc && i < e.count; i++)
    rc = render_title(&e.findings[i], &e);
  if (!rc && e.count)
    qsort(e.findings, e.count, sizeof *e.findings, by_importance);
  if (!rc)
    rc = write_tables(&e);
  for (uint32_t i = 0; i < e.count; i++)
    finding_free(&e.findings[i]);
  free(e.findings);
  hits_free(&e.hits);
  if (rc) {
    nai_table_free(e.findings_table);
    nai_table_free(e.evidence_table);
    return rc;
  }
  *findings = e.findings_table;
  *evidence = e.evidence_table;
  return 0;
}
