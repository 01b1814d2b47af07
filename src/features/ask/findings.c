/* Findings that answer a question, what stands behind them, and those that limit any answer. */
#include "features/ask/internal.h"

#include "table/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FINDINGS = 3, MAX_EVIDENCE = 2 };

/* "id glob 'idle-*' or id glob 'launch-bound'"; ids of rules need no quoting (intents.c). */
static size_t put_patterns(struct nai_buf *out, const struct nai_yaml *doc, const struct nai_yaml_node *rule,
                           size_t before) {
  for (; rule; rule = nai_yaml_next(doc, rule))
    nai_buf_printf(out, "%sid glob '%s'", before++ ? " or " : "", rule->text);
  return before;
}

enum { F_ROW, F_NUMBER, F_ID, F_TITLE, F_SEVERITY, F_SCOPE, F_STAKE, F_PCT, F_PLACE, F_ADVICE, F_PART_OF, F_SHARE_OF };
static const char findings[] = "select rowid, finding, id, title, severity, scope, at_stake_ns, pct_of_active, place, "
                               "recommendation, part_of, share_of from findings where (";
static const char on_gpu[] =
    ") and (:gpu is null or gpus is null or instr(' ' || gpus || ' ', ' ' || :gpu || ' ')) order by ";
static const char losses_first[] = "severity = 'info', finding"; /* before notes on how to read them */

/* First what stands on the very row that the answer ends with, such as the largest cause of idle time; of findings of
 * any rule that row is about all of them. */
static void put_order(struct nai_buf *out, const struct nai_answer *answer, bool any_rule) {
  const struct nai_sentences *said = &answer->said;
  int fact = said->count ? said->items[said->count - 1].fact : -1;
  if (fact >= 0 && answer->facts[fact].table && !any_rule)
    nai_buf_printf(out, "finding not in (select finding from evidence where table_name = '%s' and row = %" PRId64 "), ",
                   answer->facts[fact].table, answer->facts[fact].row);
  nai_buf_puts(out, losses_first);
}

/* "Casts and layout conversions (medium, GPU 0; cast_kernel): at most 42.0 ms, 14.1 % of the active time". */
static void describe(struct nai_buf *out, const struct nai_query_rows *found, int64_t row) {
  const char *place = nai_query_cell_text(found, row, F_PLACE), *severity = nai_query_cell_text(found, row, F_SEVERITY);
  nai_buf_printf(out, "%s (%s, %s%s%s)", nai_query_cell_text(found, row, F_TITLE),
                 strcmp(severity, "info") == 0 ? "a note" : severity, nai_query_cell_text(found, row, F_SCOPE),
                 *place ? "; " : "", place);
  if (nai_query_cell(found, row, F_STAKE)->null)
    return;
  nai_buf_puts(out, ": at most ");
  nai_value_print_human(out, NAI_NS, nai_query_cell(found, row, F_STAKE));
  if (!nai_query_cell(found, row, F_PCT)->null && strcmp(severity, "info") != 0) {
    nai_buf_puts(out, ", ");
    nai_value_print_human(out, NAI_PCT, nai_query_cell(found, row, F_PCT));
    if (!nai_query_cell(found, row, F_SHARE_OF)->null)
      nai_buf_printf(out, " of the %s", nai_query_cell_text(found, row, F_SHARE_OF));
  }
  if (!nai_query_cell(found, row, F_PART_OF)->null)
    nai_buf_printf(out, ", contained in %s", nai_query_cell_text(found, row, F_PART_OF));
}

static void add_value(struct nai_answer *answer, struct nai_fact *fact, const char *name, enum nai_unit unit,
                      const struct nai_value *value) {
  struct nai_fact_value *v = &fact->values[fact->value_count++];
  *v = (struct nai_fact_value){nai_answer_copy(answer, name), unit, *value};
  if (value->type == NAI_STR && !value->null)
    v->value.s = nai_answer_copy(answer, value->s);
}

static void add_finding(const struct nai_asking *asking, const struct nai_query_rows *found, int64_t row) {
  struct nai_answer *answer = asking->answer;
  int64_t finding = nai_query_cell_int(found, row, F_ROW);
  bool fresh;
  struct nai_fact *fact = nai_answer_fact(&fresh, answer, "findings", finding);
  struct nai_buf text = {0};
  if (!fresh)
    return;
  describe(&text, found, row);
  fact->text = nai_answer_take(answer, &text);
  add_value(answer, fact, "id", NAI_TEXT, nai_query_cell(found, row, F_ID));
  add_value(answer, fact, "severity", NAI_TEXT, nai_query_cell(found, row, F_SEVERITY));
  add_value(answer, fact, "at_stake_ns", NAI_NS, nai_query_cell(found, row, F_STAKE));
  add_value(answer, fact, "pct_of_active", NAI_PCT, nai_query_cell(found, row, F_PCT));
  if (row)
    return;
  nai_buf_printf(&text, "%s: %s.", found->rows > 1 ? "The first finding about it" : "The finding about it", fact->text);
  char *said = nai_answer_take(answer, &text);
  nai_answer_say(answer, &answer->said, (int)(fact - answer->facts), said);
  free(said);
  answer->advice = nai_answer_copy(answer, nai_query_cell_text(found, row, F_ADVICE));
  nai_buf_printf(&text, "nsys-ai explain %s %" PRId64, asking->source, nai_query_cell_int(found, row, F_NUMBER));
  said = nai_answer_take(answer, &text);
  nai_answer_say(answer, &answer->next, -1, said);
  free(said);
}

/* The facts that a finding stands on; each cites the row it was read from. */
static int add_evidence(const struct nai_asking *asking, int64_t finding, struct nai_err *err) {
  enum { TABLE, ROW, TEXT, START, END };
  struct nai_answer *answer = asking->answer;
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  bool fresh;
  nai_buf_printf(&sql,
                 "select table_name, row, text, start_ns, end_ns from evidence where finding = %" PRId64
                 " and table_name is not null and row is not null order by rowid limit %d",
                 finding, MAX_EVIDENCE);
  NAI_TRY(nai_buf_check(&sql, err));
  NAI_TRY(nai_found_ask(&found, asking, nai_buf_str(&sql), "evidence", err));
  for (int64_t row = 0; row < found.rows; row++) {
    struct nai_fact *fact =
        nai_answer_fact(&fresh, answer, nai_query_cell_text(&found, row, TABLE), nai_query_cell_int(&found, row, ROW));
    if (!fresh)
      continue;
    fact->text = nai_answer_copy(answer, nai_query_cell_text(&found, row, TEXT));
    fact->timed = !nai_query_cell(&found, row, START)->null;
    fact->start_ns = nai_query_cell_int(&found, row, START);
    fact->end_ns = nai_query_cell_int(&found, row, END);
  }
  return NAI_OK;
}

int nai_findings_add(const struct nai_asking *asking, const struct nai_intent *const *intents, size_t count, bool known,
                     struct nai_err *err) {
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  size_t patterns = 0;
  bool any_rule = false;
  nai_buf_puts(&sql, findings);
  for (size_t i = 0; i < count; i++) {
    const struct nai_yaml_node *rule = nai_intent_items(intents[i]->doc, intents[i]->node, "rules");
    any_rule |= rule && strcmp(rule->text, "*") == 0;
    patterns = put_patterns(&sql, intents[i]->doc, rule, patterns);
  }
  known &= patterns > 0;
  if (*asking->name) /* what the question names is where the finding is */
    nai_buf_printf(&sql, "%s(:name <> '' and instr(lower(place), :name))", patterns++ ? " or " : "");
  if (!patterns)
    return NAI_OK;
  nai_buf_puts(&sql, on_gpu);
  put_order(&sql, asking->answer, any_rule);
  nai_buf_printf(&sql, " limit %d", MAX_FINDINGS);
  int rc = nai_buf_check(&sql, err);
  if (!rc)
    rc = nai_found_ask(&found, asking, nai_buf_str(&sql), "findings", err);
  for (int64_t row = 0; row < found.rows && !rc; row++)
    add_finding(asking, &found, row);
  if (!rc && found.rows)
    rc = add_evidence(asking, nai_query_cell_int(&found, 0, F_NUMBER), err);
  else if (!rc && known)
    nai_answer_say(asking->answer, &asking->answer->said, -1,
                   "No finding about it: no rule sees a loss of this kind that is worth a report.");
  return rc;
}

static bool is_cited(const struct nai_answer *answer, int64_t finding) {
  for (size_t i = 0; i < answer->fact_count; i++)
    if (answer->facts[i].row == finding && answer->facts[i].table && strcmp(answer->facts[i].table, "findings") == 0)
      return true;
  return false;
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
    NAI_TRY(nai_found_ask(&found, asking, nai_buf_str(&sql), "findings", err));
  for (int64_t row = 0; row < found.rows; row++) {
    struct nai_buf text = {0};
    if (is_cited(asking->answer, nai_query_cell_int(&found, row, F_ROW)))
      continue;
    nai_buf_printf(&text, "%s (finding %" PRId64 ", %s)", nai_query_cell_text(&found, row, F_TITLE),
                   nai_query_cell_int(&found, row, F_NUMBER), nai_query_cell_text(&found, row, F_SCOPE));
    NAI_FREED char *line = nai_answer_take(asking->answer, &text);
    nai_answer_say(asking->answer, &asking->answer->limits, -1, line);
  }
  return NAI_OK;
}
