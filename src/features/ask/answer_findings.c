/* Findings that answer a question, what stands behind them, and those that limit any answer. */
#include "features/ask/internal.h"

#include "table/schema.h"

enum { MAX_FINDINGS = 3, MAX_EVIDENCE = 2 };

/* "id glob 'idle-*' or id glob 'launch-bound'"; ids of rules need no quoting (intents.c). */
static size_t put_patterns(struct nai_buf *out, const struct nai_yaml *doc, const struct nai_yaml_node *rule,
                           size_t before) {
  for (; rule; rule = nai_yaml_next(doc, rule))
    nai_buf_printf(out, "%sid glob '%s'", before++ ? " or " : "", rule->text);
  return before;
}

enum {
  F_ROW,
  F_NUMBER,
  F_ID,
  F_TITLE,
  F_SEVERITY,
  F_SCOPE,
  F_SAVING,
  F_PCT,
  F_PLACE,
  F_ADVICE,
  F_PART_OF,
  F_SHARE_OF,
  F_SIMULATED,
  F_SIMULATED_OF,
  F_ABOUT
};
static const char findings[] =
    "select findings.rowid, finding, id, title, severity, scope, saving_ns, pct_of_active, place, "
    "recommendation, coalesce((select min(f.title) from findings f where f.id = findings.part_of), part_of), "
    "share_of || iif(share_of = 'capture' and exists (select 1 from capture_time where part = 'input'), "
    "' without waiting for input', ''), iif(simulated_state = 'ok', simulated_ns, null), "
    "coalesce(case when simulated_of in ('step', 'unit') then ' of ' || human(simulated_now_ns, 'ns') end, '') || "
    "case simulated_of when 'step' then ' per step' when 'unit' then ' per repetition' else ' of the window' end || "
    "coalesce(' (' || human(simulated_pct, 'percent') || ')', '') || "
    "iif(simulated_pct > 1.1 * pct_of_active, ', for other GPUs or the host wait less, too', ''), "
    "iif(saving_is = 'estimate', ': about ', ': at most ') from findings where (";
static const char on_gpu[] =
    ") and (:gpu is null or gpus is null or instr(' ' || gpus || ' ', ' ' || :gpu || ' ')) order by ";
static const char losses_first[] = "severity = 'info', finding"; /* before notes on how to read them */

/* First what stands on the very row that the answer ends with, such as the largest cause of idle time; of findings of
 * any rule that row is about all of them, and so is a whole GPU. */
static void put_order(struct nai_buf *out, const struct nai_answer *answer, bool any_rule) {
  const struct nai_sentences *said = &answer->said;
  int fact = said->count ? said->items[said->count - 1].fact : -1;
  if (fact >= 0 && answer->facts[fact].table && !any_rule && strcmp(answer->facts[fact].table, "gpu_active") != 0)
    nai_buf_printf(out, "finding not in (select finding from evidence where table_name = '%s' and row = %" PRId64 "), ",
                   answer->facts[fact].table, answer->facts[fact].row);
  nai_buf_puts(out, losses_first);
}

/* "Casts and layout conversions (medium, GPU 0; cast_kernel): at most 42.0 ms, 14.1 % of the active time". Of several
 * GPUs it is what the worst saves; what they save together, waiting for each other, can be more. */
static void describe(struct nai_buf *out, const struct nai_query_rows *found, int64_t row) {
  const char *place = nai_query_cell_text(found, row, F_PLACE), *severity = nai_query_cell_text(found, row, F_SEVERITY);
  const bool several = strncmp(nai_query_cell_text(found, row, F_SCOPE), "GPUs ", strlen("GPUs ")) == 0;
  nai_buf_printf(out, "%s (%s, %s%s%s)", nai_query_cell_text(found, row, F_TITLE),
                 strcmp(severity, "info") == 0 ? "a note" : severity, nai_query_cell_text(found, row, F_SCOPE),
                 *place ? "; " : "", place);
  if (nai_query_cell(found, row, F_SAVING)->null)
    return;
  nai_buf_puts(out, nai_query_cell_text(found, row, F_ABOUT));
  nai_value_print_human(out, NAI_NS, nai_query_cell(found, row, F_SAVING));
  nai_buf_puts(out, several ? " on the worst of them" : "");
  if (!nai_query_cell(found, row, F_PCT)->null && strcmp(severity, "info") != 0) {
    nai_buf_puts(out, ", ");
    nai_value_print_human(out, NAI_PCT, nai_query_cell(found, row, F_PCT));
    if (!nai_query_cell(found, row, F_SHARE_OF)->null)
      nai_buf_printf(out, " of the %s", nai_query_cell_text(found, row, F_SHARE_OF));
  }
  if (!nai_query_cell(found, row, F_SIMULATED)->null) {
    nai_buf_puts(out, ", simulated ");
    nai_value_print_human(out, NAI_NS, nai_query_cell(found, row, F_SIMULATED));
    nai_buf_puts(out, nai_query_cell_text(found, row, F_SIMULATED_OF));
  }
  if (!nai_query_cell(found, row, F_PART_OF)->null)
    nai_buf_printf(out, ", contained in \"%s\"", nai_query_cell_text(found, row, F_PART_OF));
}

static void add_finding(const struct nai_asking *asking, const struct nai_query_rows *found, int64_t row) {
  struct nai_answer *answer = asking->answer;
  int64_t finding = nai_query_cell_int(found, row, F_ROW);
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_fact *fact;
  if (nai_fact_find(answer, "findings", finding, NULL) || !(fact = nai_fact_new(asking, "findings", finding)))
    return;
  describe(&text, found, row);
  fact->text = nai_answer_text(asking, &text);
  nai_fact_add_value(asking, fact, "id", NAI_TEXT, nai_query_cell(found, row, F_ID));
  nai_fact_add_value(asking, fact, "severity", NAI_TEXT, nai_query_cell(found, row, F_SEVERITY));
  nai_fact_add_value(asking, fact, "saving_ns", NAI_NS, nai_query_cell(found, row, F_SAVING));
  nai_fact_add_value(asking, fact, "simulated_saving_ns", NAI_NS, nai_query_cell(found, row, F_SIMULATED));
  nai_fact_add_value(asking, fact, "pct_of_active", NAI_PCT, nai_query_cell(found, row, F_PCT));
  if (row)
    return;
  const char *begin = found->rows > 1 ? "The first finding about it" : "The finding about it";
  nai_answer_say(asking, &answer->said, fact, nai_arena_printf(asking->arena, "%s: %s.", begin, fact->text));
  answer->advice = nai_answer_copy(asking, nai_query_cell_text(found, row, F_ADVICE));
  nai_answer_say(asking, &answer->next, NULL,
                 nai_arena_printf(asking->arena, "nsys-ai explain %s %" PRId64, asking->source,
                                  nai_query_cell_int(found, row, F_NUMBER)));
}

/* The facts that a finding stands on; each cites the row it was read from. */
static int add_evidence(const struct nai_asking *asking, int64_t finding, struct nai_err *err) {
  enum { TABLE, ROW, TEXT, START, END };
  struct nai_answer *answer = asking->answer;
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  nai_buf_printf(&sql,
                 "select table_name, row, text, start_ns, end_ns from evidence where finding = %" PRId64
                 " and table_name is not null and row is not null order by rowid limit %d",
                 finding, MAX_EVIDENCE);
  NAI_TRY(nai_buf_check(&sql, err));
  NAI_TRY(nai_facts_ask(&found, asking, nai_buf_str(&sql), "evidence", err));
  for (int64_t row = 0; row < found.rows; row++) {
    const char *table = nai_query_cell_text(&found, row, TABLE);
    int64_t of = nai_query_cell_int(&found, row, ROW);
    struct nai_fact *fact;
    if (nai_fact_find(answer, table, of, NULL) || !(fact = nai_fact_new(asking, table, of)))
      continue;
    fact->text = nai_answer_copy(asking, nai_query_cell_text(&found, row, TEXT));
    fact->timed = !nai_query_cell(&found, row, START)->null;
    fact->start_ns = nai_query_cell_int(&found, row, START);
    fact->end_ns = nai_query_cell_int(&found, row, END);
  }
  return NAI_OK;
}

const struct nai_intent *nai_intents_judge(const struct nai_asking *asking) {
  const struct nai_intents *intents = asking->intents;
  struct nai_question_marks marks = {0};
  for (size_t d = 0; d < intents->doc_count; d++) {
    const struct nai_yaml *doc = intents->docs[d];
    const struct nai_yaml_node *of = nai_intent_items(doc, nai_yaml_root(doc), "judged");
    for (; of; of = nai_yaml_next(doc, of))
      if (nai_question_mark_phrases(&marks, asking->question, doc, of))
        return nai_intents_find(intents, of->key);
  }
  return NULL;
}

int nai_findings_add(const struct nai_asking *asking, const struct nai_intent *intent, bool known,
                     struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  const struct nai_yaml_node *rule = nai_intent_items(intent->doc, intent->node, "rules");
  bool any_rule = rule && strcmp(rule->text, "*") == 0;
  nai_buf_puts(&sql, findings);
  size_t patterns = put_patterns(&sql, intent->doc, rule, 0);
  known &= patterns > 0 || (asking->judged && *asking->name);
  if (*asking->name) /* what the question names is where the finding is */
    nai_buf_printf(&sql, "%s(:name <> '' and instr(lower(place), :name))", patterns++ ? " or " : "");
  if (!patterns)
    return NAI_OK;
  nai_buf_puts(&sql, on_gpu);
  put_order(&sql, asking->answer, any_rule);
  nai_buf_printf(&sql, " limit %d", MAX_FINDINGS);
  NAI_TRY(nai_buf_check(&sql, err));
  NAI_TRY(nai_facts_ask(&found, asking, nai_buf_str(&sql), "findings", err));
  for (int64_t row = 0; row < found.rows; row++)
    add_finding(asking, &found, row);
  if (found.rows)
    return add_evidence(asking, nai_query_cell_int(&found, 0, F_NUMBER), err);
  for (size_t i = 0; i < asking->answer->fact_count; i++) /* of the other half of a question */
    known &= strcmp(asking->answer->facts[i].table, "findings") != 0;
  if (known)
    nai_answer_say(asking, &asking->answer->said, NULL, "No finding is about it.");
  return NAI_OK;
}

int nai_findings_add_missing(bool *any, const struct nai_asking *asking, const char *capability, struct nai_err *err) {
  const struct nai_intents *intents = asking->intents;
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  size_t patterns = 0;
  nai_buf_puts(&sql, findings);
  for (size_t i = 0; i < intents->doc_count; i++) {
    const struct nai_yaml *doc = intents->docs[i];
    const struct nai_yaml_node *map = nai_yaml_get(doc, nai_yaml_root(doc), "missing");
    patterns = put_patterns(&sql, doc, map ? nai_intent_items(doc, map, capability) : NULL, patterns);
  }
  nai_buf_printf(&sql, ") order by %s limit 1", losses_first);
  NAI_TRY(nai_buf_check(&sql, err));
  if (patterns)
    NAI_TRY(nai_facts_ask(&found, asking, nai_buf_str(&sql), "findings", err));
  *any = found.rows > 0;
  if (*any)
    add_finding(asking, &found, 0);
  return NAI_OK;
}

int nai_caveats_add(const struct nai_asking *asking, struct nai_err *err) {
  const struct nai_intents *intents = asking->intents;
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  size_t patterns = 0;
  nai_buf_puts(&sql, findings);
  for (size_t i = 0; i < intents->doc_count; i++)
    patterns = put_patterns(&sql, intents->docs[i],
                            nai_intent_items(intents->docs[i], nai_yaml_root(intents->docs[i]), "caveats"), patterns);
  nai_buf_printf(&sql, "%s%s", on_gpu, losses_first);
  NAI_TRY(nai_buf_check(&sql, err));
  if (patterns)
    NAI_TRY(nai_facts_ask(&found, asking, nai_buf_str(&sql), "findings", err));
  for (int64_t row = 0; row < found.rows; row++)
    if (!nai_fact_find(asking->answer, "findings", nai_query_cell_int(&found, row, F_ROW), NULL))
      nai_answer_say(
          asking, &asking->answer->limits, NULL,
          nai_arena_printf(asking->arena, "%s (finding %" PRId64 ", %s)", nai_query_cell_text(&found, row, F_TITLE),
                           nai_query_cell_int(&found, row, F_NUMBER), nai_query_cell_text(&found, row, F_SCOPE)));
  return NAI_OK;
}
