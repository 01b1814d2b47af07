/* Findings and evidence from the rows that speak. */
#include "rules/evaluation.h"
#include "base/sort.h"
#include "table/stats.h"

enum { MAX_HITS = 4096 }; /* of one rule whose advice is looked at */

/* --- From hits to findings -------------------------------------------------------------------- */

struct advice {
  const char *subject;
  struct nai_buf why, recommendation, verify;
};

static void advice_free(struct advice *advice) {
  nai_buf_free(&advice->why);
  nai_buf_free(&advice->recommendation);
  nai_buf_free(&advice->verify);
}

static int render_advice(struct advice *advice, const struct evaluation *e, const struct hit *hit) {
  struct env env;
  NAI_TRY(nai_subject_describe(&advice->subject, e->input, &hit, 1, e->arena, e->err));
  nai_hit_enter(&env, e->set, e->input, hit, advice->subject);
  nai_variants_render(&advice->why, &env, &hit->rule->why, TEXT_PROSE, "\n\n");
  nai_variants_render(&advice->recommendation, &env, &hit->rule->recommendation, TEXT_PROSE, "\n\n");
  nai_variants_render(&advice->verify, &env, &hit->rule->verify, TEXT_SHELL, "\n");
  NAI_TRY(nai_buf_check(&advice->why, e->err));
  NAI_TRY(nai_buf_check(&advice->recommendation, e->err));
  return nai_buf_check(&advice->verify, e->err);
}

static struct finding *find_same(const struct evaluation *e, uint32_t first, const struct advice *advice) {
  for (uint32_t i = first; i < e->findings.count; i++) {
    struct finding *it = &e->findings.at[i];
    if (strcmp(it->why, nai_buf_str(&advice->why)) == 0 &&
        strcmp(it->recommendation, nai_buf_str(&advice->recommendation)) == 0)
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
static void add_commands(struct finding *finding, const char *more, struct nai_arena *arena) {
  for (size_t n; *more; more += n + (more[n] == '\n')) {
    n = strcspn(more, "\n");
    if (n && !has_line(finding->verify, more, n))
      finding->verify = nai_arena_printf(arena, "%s\n%.*s", finding->verify, (int)n, more);
  }
}

static int new_finding(struct finding **out, struct evaluation *e, const struct rule *rule,
                       const struct advice *advice) {
  NAI_TRY(LIST_ROOM(e->findings, e->arena, e->err));
  *out = &e->findings.at[e->findings.count++];
  **out = (struct finding){.rule = rule,
                           .why = nai_text_keep(e->arena, &advice->why),
                           .recommendation = nai_text_keep(e->arena, &advice->recommendation),
                           .verify = nai_text_keep(e->arena, &advice->verify)};
  return NAI_OK;
}

/* `left_out` counts the hit instead when it would open one finding more than the rule may have. */
static int add_hit(struct evaluation *e, uint32_t first, const struct hit *hit, uint32_t *left_out) {
  NAI_SCOPED(advice) advice = {0};
  NAI_TRY(render_advice(&advice, e, hit));
  struct finding *finding = find_same(e, first, &advice);
  if (!finding && e->findings.count - first == (uint32_t)hit->rule->rows.limit) {
    ++*left_out;
    return NAI_OK;
  }
  if (!finding)
    NAI_TRY(new_finding(&finding, e, hit->rule, &advice));
  else if (finding->hit_count < SHOWN_HITS)
    add_commands(finding, nai_buf_str(&advice.verify), e->arena);
  NAI_TRY(NAI_ROOM(finding->hits, finding->hit_capacity, finding->hit_count, e->arena, e->err));
  finding->hits[finding->hit_count++] = hit;
  return NAI_OK;
}

static int add_rule(struct evaluation *e, const struct rule *rule) {
  const struct rule_hits *mine = &e->hits.by_rule[rule->number];
  uint32_t first = e->findings.count;
  uint32_t looked_at = mine->count < MAX_HITS ? mine->count : MAX_HITS, left_out = mine->count - looked_at;
  for (uint32_t i = 0; i < looked_at; i++)
    NAI_TRY(add_hit(e, first, &e->hits.all.at[mine->first + i], &left_out));
  if (mine->count)
    e->findings.at[e->findings.count - 1].left_out = left_out;
  return NAI_OK;
}

/* --- What the hits of a finding say together ----------------------------------------------------- */

static bool known(const struct finding *finding, uint32_t until, int64_t device_id) {
  for (uint32_t i = 0; i < until; i++)
    if (finding->hits[i]->device_id == device_id)
      return true;
  return false;
}

static int64_t add(int64_t sum, int64_t ns) { return ns == NAI_NULL_I64 ? sum : (sum == NAI_NULL_I64 ? 0 : sum) + ns; }

/* Adds a GPU, with what its hits could save together. */
static void add_gpu(struct finding *finding, uint32_t first, struct nai_arena *arena) {
  const struct hit *lead = finding->hits[first];
  struct saving together = {NAI_NULL_I64, NAI_NULL_I64, lead->saving.base_ns};
  for (uint32_t i = first; i < finding->hit_count; i++) {
    const struct hit *hit = finding->hits[i];
    if (hit->device_id != lead->device_id)
      continue;
    together.ns = add(together.ns, hit->saving.ns);
    together.low_ns = add(together.low_ns, hit->saving.low_ns);
  }
  if (lead->device_id != NAI_NULL_I64)
    finding->gpus = nai_arena_printf(arena, "%s%s%" PRId64, finding->gpus ? finding->gpus : "",
                                     finding->gpu_count++ ? " " : "", lead->device_id);
  if (together.ns > finding->saving.ns)
    finding->saving = together;
}

static void sum_up(struct finding *finding, struct nai_arena *arena) {
  finding->saving = NO_SAVING;
  for (uint32_t i = 0; i < finding->hit_count; i++)
    if (!known(finding, i, finding->hits[i]->device_id))
      add_gpu(finding, i, arena);
}

/* Whether another hit is at another place than the worst one. */
static bool has_other_places(const struct finding *finding, const struct evaluation *e) {
  struct env env;
  for (uint32_t i = 1; *finding->place && i < finding->hit_count; i++) {
    nai_hit_enter(&env, e->set, e->input, finding->hits[i], finding->subject);
    if (strcmp(finding->place, nai_variants_text(e->arena, &env, &finding->rule->place, TEXT_PLAIN, " ")) != 0)
      return true;
  }
  return false;
}

static int complete(struct finding *finding, const struct evaluation *e) {
  const struct rule *rule = finding->rule;
  bool many = finding->hit_count > 1 && rule->title_many.count;
  struct env env;
  NAI_TRY(nai_subject_describe(&finding->subject, e->input, finding->hits, finding->hit_count, e->arena, e->err));
  nai_hit_enter(&env, e->set, e->input, finding->hits[0], finding->subject);
  finding->title = nai_variants_text(e->arena, &env, many ? &rule->title_many : &rule->title, TEXT_PLAIN, " ");
  if (!*finding->title) /* none of its variants holds */
    finding->title = rule->id;
  finding->place = nai_variants_text(e->arena, &env, &rule->place, TEXT_PLAIN, " ");
  finding->other_places = has_other_places(finding, e);
  finding->change = nai_variants_text(e->arena, &env, &rule->simulate, TEXT_PLAIN, " ");
  sum_up(finding, e->arena);
  finding->severity = finding->hits[0]->severity;
  finding->reason = finding->hits[0]->reason;
  finding->gain_ns = finding->saving.ns;
  return NAI_OK;
}

/* The place tells findings of one title apart. */
static int tell_apart(struct evaluation *e) {
  struct finding *all = e->findings.at;
  const char **titles;
  NAI_TRY(NAI_NEW(titles, e->arena, e->findings.count, e->err));
  for (uint32_t i = 0; i < e->findings.count; i++)
    titles[i] = all[i].title;
  for (uint32_t i = 0; i < e->findings.count; i++)
    for (uint32_t j = 0; *all[i].place && all[i].title == titles[i] && j < e->findings.count; j++)
      if (i != j && strcmp(titles[i], titles[j]) == 0)
        all[i].title =
            nai_arena_printf(e->arena, "%s: %s%s", titles[i], all[i].place, all[i].other_places ? " and others" : "");
  return NAI_OK;
}

static int by_importance(const void *a, const void *b) {
  const struct finding *x = a, *y = b;
  const struct hit *p = x->hits[0], *q = y->hits[0];
  int order = NAI_COMPARE({y->severity, x->severity}, {y->rule->first, x->rule->first}, {x->rule->last, y->rule->last},
                          {y->gain_ns, x->gain_ns}, {y->saving.ns, x->saving.ns});
  order = order ? order : strcmp(x->rule->id, y->rule->id);
  return order ? order : NAI_COMPARE({p->device_id, q->device_id}, {p->pid, q->pid}, {p->row, q->row});
}

static void put_in_order(struct evaluation *e) {
  if (e->findings.count)
    qsort(e->findings.at, e->findings.count, sizeof *e->findings.at, by_importance);
}

/* Whether a finding is of the GPU of the part's worst hit, too. */
static bool is_beside(const struct finding *whole, const struct finding *part) {
  int64_t device = part->hits[0]->device_id;
  for (uint32_t i = 0; i < whole->hit_count; i++)
    if (device == NAI_NULL_I64 || whole->hits[i]->device_id == NAI_NULL_I64 || whole->hits[i]->device_id == device)
      return true;
  return false;
}

/* A part is worth no more than a whole that was simulated, and less severe. */
static void limit_part(struct finding *part, const struct evaluation *e) {
  for (uint32_t i = 0; i < e->findings.count; i++) {
    const struct finding *whole = &e->findings.at[i];
    if (whole->rule != part->hits[0]->parent || !whole->simulated.of || whole->rule->simulates_part ||
        !is_beside(whole, part))
      continue;
    if (part->gain_ns > whole->gain_ns)
      part->gain_ns = whole->gain_ns;
    int most = whole->severity > NAI_SEVERITY_LOW ? whole->severity - 1 : NAI_SEVERITY_LOW;
    if (part->severity <= most)
      continue;
    part->severity = most;
    if (!part->reason)
      part->reason = nai_arena_printf(e->arena, "part of %s", whole->rule->id);
  }
}

/* What the changes that findings name would save. */
static int simulate(struct evaluation *e) {
  uint32_t count = e->findings.count, named = 0;
  const char **changes;
  struct nai_rules_simulated *simulated;
  NAI_TRY(NAI_NEW(changes, e->arena, count, e->err));
  NAI_TRY(NAI_NEW(simulated, e->arena, count, e->err));
  for (uint32_t i = 0; i < count; i++) {
    changes[i] = e->findings.at[i].change;
    named += *changes[i] != 0;
  }
  if (!named || !e->input->simulate)
    return NAI_OK;
  NAI_TRY(e->input->simulate(e->input->ctx, simulated, changes, count, e->err));
  for (uint32_t i = 0; i < count; i++) {
    e->findings.at[i].simulated = simulated[i];
    if (simulated[i].of && nai_simulation_fails(&e->findings.at[i], e))
      simulated[i] = e->findings.at[i].simulated = (struct nai_rules_simulated){0};
    if (simulated[i].of && !e->findings.at[i].rule->simulates_part)
      nai_severity_simulate(&e->findings.at[i], e);
  }
  for (uint32_t i = 0; i < count; i++)
    if (!simulated[i].of)
      limit_part(&e->findings.at[i], e);
  put_in_order(e);
  return NAI_OK;
}

/* --- Rows of the two tables ------------------------------------------------------------------- */

static void write_finding(struct nai_table *findings, const struct finding *finding, uint32_t number,
                          const struct nai_rules_input *input) {
  const struct rule *rule = finding->rule;
  const struct hit *lead = finding->hits[0];
  double pct = nai_saving_pct(&finding->saving);
  const struct nai_rules_simulated *simulated = &finding->simulated;
  bool known = simulated->of;
  NAI_ADD(FINDINGS, findings, .finding = number + 1, /* as reports count */
          .id = rule->id, .title = finding->title, .severity = nai_severity_name(finding->severity),
          .scope = *finding->subject ? finding->subject : "run", .device_id = lead->device_id, .pid = lead->pid,
          .gpus = finding->gpus, .gpu_count = finding->gpu_count, .saving_ns = finding->saving.ns,
          .saving_low_ns = finding->saving.low_ns, .pct_of_active = pct,
          .pct_of_capture = nai_saving_pct_of_capture(input, &finding->saving),
          .place = *finding->place ? finding->place : NULL, .reason = finding->reason,
          .part_of = lead->parent ? lead->parent->id : NULL, .leads = rule->first, .why = finding->why,
          .recommendation = finding->recommendation, .verify = finding->verify, .links = rule->links,
          .change = *finding->change ? finding->change : NULL,
          .share_of = isnan(pct)  ? NULL
                    : !rule->base ? "active time"
                                  : rule->share_of,
          .simulated_ns = known ? simulated->ns : NAI_NULL_I64,
          .simulated_low_ns = known ? simulated->low_ns : NAI_NULL_I64,
          .simulated_high_ns = known ? simulated->high_ns : NAI_NULL_I64,
          .simulated_pct = known ? nai_percent((double)simulated->ns, (double)simulated->now_ns) : NAN,
          .simulated_of = simulated->of, .simulated_state = simulated->state,
          .simulated_now_ns = known ? simulated->now_ns : NAI_NULL_I64,
          .saving_is = finding->saving.ns == NAI_NULL_I64 ? NULL
                     : rule->estimated                    ? "estimate"
                                                          : "bound");
}

static int evaluate(struct nai_table *findings, struct evaluation *e) {
  NAI_TRY(nai_hits_find(&e->hits, e->set, e->input, e->arena, e->err));
  for (uint32_t i = 0; i < e->set->rules.count; i++)
    NAI_TRY(add_rule(e, e->set->rules.at[i]));
  for (uint32_t i = 0; i < e->findings.count; i++)
    NAI_TRY(complete(&e->findings.at[i], e));
  NAI_TRY(tell_apart(e));
  put_in_order(e);
  NAI_TRY(simulate(e));
  for (uint32_t i = 0; i < e->findings.count; i++) {
    write_finding(findings, &e->findings.at[i], i, e->input);
    NAI_TRY(nai_evidence_write(e, i));
  }
  NAI_TRY(nai_arena_check(e->arena, e->err));
  NAI_TRY(nai_table_check(findings, e->err));
  return nai_table_check(e->evidence, e->err);
}

int nai_rules_evaluate(struct nai_table **findings, struct nai_table **evidence, const struct nai_rule_set *set,
                       const struct nai_rules_input *input, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_OWNED(nai_table) *about = NULL;
  NAI_OWNED(nai_table) *facts = NULL;
  *findings = *evidence = NULL;
  NAI_TRY(nai_table_new(&about, &nai_findings_schema, err));
  NAI_TRY(nai_table_new(&facts, &nai_evidence_schema, err));
  struct evaluation e = {.set = set, .input = input, .arena = &arena, .evidence = facts, .err = err};
  int rc = nai_rules_enter(set, input, err);
  if (!rc)
    rc = evaluate(about, &e);
  NAI_TRY(nai_rules_leave(set, rc, err));
  *findings = about;
  *evidence = facts;
  about = facts = NULL;
  return NAI_OK;
}
