/* What an intent says: its sentences and facts, or what the capture lacks for them. */
#include "features/ask/internal.h"

/* Of an intent's facts; the rest is for findings and what they stand on. */
enum { MAX_OF_INTENTS = 5 };

/* --- what the capture lacks --------------------------------------------------------------------------------- */

enum { C_NAME, C_AVAILABLE, C_DETAIL, C_LABEL };
static const char capabilities[] =
    "select lower(replace(capability, ' ', '-')), max(available), detail, capability from capabilities group by 1";

static bool is_lacking(const char **detail, const char **label, const struct nai_query_rows *caps, const char *need) {
  *label = need;
  *detail = "";
  for (int64_t row = 0; row < caps->rows; row++)
    if (strcmp(nai_query_cell_text(caps, row, C_NAME), need) == 0) {
      *detail = nai_query_cell_text(caps, row, C_DETAIL);
      *label = nai_query_cell_text(caps, row, C_LABEL);
      return nai_query_cell_int(caps, row, C_AVAILABLE) == 0;
    }
  return true;
}

/* The first need that the trace does not meet, said where `where` is, and what to do about it. *lacks: there is one. */
static int say_lack(bool *lacks, const struct nai_asking *asking, const struct nai_query_rows *caps,
                    const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *begin,
                    struct nai_sentences *where, struct nai_err *err) {
  const struct nai_yaml_node *need = nai_intent_items(doc, map, "needs");
  const char *detail = "", *label = "";
  while (need && !is_lacking(&detail, &label, caps, need->text))
    need = nai_yaml_next(doc, need);
  *lacks = need != NULL;
  if (!need)
    return NAI_OK;
  const char *missing = strstr(detail, "not available: "), *record = nai_intents_recording(asking->intents, need->text);
  nai_answer_say(asking, where, NULL,
                 nai_arena_printf(asking->arena, "%s: the trace has no %s%s%s.", begin, label,
                                  missing ? ", and so nothing on " : "",
                                  missing ? missing + strlen("not available: ") : ""));
  bool explained = false; /* then another recording of that kind would lack it, too */
  if (where == &asking->answer->said)
    NAI_TRY(nai_findings_add_missing(&explained, asking, need->text, err));
  if (record && !explained)
    nai_answer_say(asking, &asking->answer->limits, NULL,
                   nai_arena_printf(asking->arena, "To have it in the next trace: %s", record));
  return NAI_OK;
}

/* --- answering --------------------------------------------------------------------------------------------- */

void nai_intent_say(const struct nai_asking *asking, const struct nai_intent *intent, const char *key,
                    struct nai_sentences *where) {
  const struct nai_yaml_node *n = nai_intent_items(intent->doc, intent->node, key);
  for (; n; n = nai_yaml_next(intent->doc, n)) {
    const char *text = n->text, *at;
    NAI_SCOPED(nai_buf) line = {0};
    for (; (at = strchr(text, '$')); text = at) {
      bool source = strncmp(at, "$SRC", 4) == 0, name = strncmp(at, "$NAME", 5) == 0;
      nai_buf_put(&line, text, (size_t)(at - text));
      nai_buf_puts(&line, source ? asking->source : name ? asking->name : "$");
      at += source ? 4 : name ? 5 : 1;
    }
    nai_buf_puts(&line, text);
    nai_answer_say(asking, where, NULL, nai_answer_text(asking, &line));
  }
}

/* *known: the first of its facts is there, so that no finding means no loss. */
static int answer_intent(bool *known, const struct nai_asking *asking, const struct nai_intent *intent,
                         const struct nai_query_rows *caps, struct nai_err *err) {
  struct nai_answer *answer = asking->answer;
  size_t before = answer->fact_count;
  nai_intent_say(asking, intent, "say", &answer->said);
  bool answered = answer->fact_count > 0; /* by what the question names, or is about first */
  bool lacks;
  NAI_TRY(say_lack(&lacks, asking, caps, intent->doc, intent->node,
                   answered ? "Not all of it is recorded" : "Nothing recorded answers that",
                   answered ? &answer->limits : &answer->said, err));
  if (lacks)
    return NAI_OK;
  const struct nai_yaml_node *first = nai_intent_items(intent->doc, intent->node, "facts");
  for (const struct nai_yaml_node *entry = first; entry; entry = nai_yaml_next(intent->doc, entry)) {
    size_t room = answer->fact_count < MAX_OF_INTENTS ? MAX_OF_INTENTS - answer->fact_count : 1;
    NAI_TRY(say_lack(&lacks, asking, caps, intent->doc, entry, "Not all of it is recorded", &answer->limits, err));
    if (!lacks)
      NAI_TRY(nai_facts_add(asking, intent, entry, room, err));
    *known |= entry == first && answer->fact_count > before;
  }
  nai_intent_say(asking, intent, "cannot", &answer->limits);
  return NAI_OK;
}

/* An intent about names: of each. */
static int answer_each(bool *known, struct nai_asking *asking, const struct nai_intent *intent,
                       const struct nai_query_rows *caps, struct nai_err *err) {
  const char *name = asking->name;
  size_t others = asking->other_count;
  NAI_TRY(answer_intent(known, asking, intent, caps, err));
  asking->other_count = 0;
  for (size_t i = nai_intent_takes(intent, ":name_b") ? others : 0; i < others; i++) {
    asking->name = asking->others[i];
    NAI_TRY(answer_intent(known, asking, intent, caps, err));
  }
  asking->name = name;
  return NAI_OK;
}

int nai_intent_answer(bool *known, struct nai_asking *asking, const struct nai_intent *intent, struct nai_err *err) {
  NAI_SCOPED(nai_query_rows) caps = {0};
  struct nai_answer *out = asking->answer;
  size_t before = out->said.count;
  out->repeats = false;
  NAI_TRY(nai_facts_ask(&caps, asking, capabilities, "capabilities", err));
  NAI_TRY(answer_each(known, asking, intent, &caps, err));
  if (out->said.count == before && !out->repeats && (asking->gpu != INT64_MIN || asking->question->time_count == 2)) {
    nai_answer_say(asking, &out->said, NULL, "Not known for one GPU or a stretch of time: ask without it.");
    return NAI_OK;
  }
  out->intent = intent->name;
  if (out->said.count == before && !out->repeats)
    nai_answer_say(asking, &out->said, NULL, "Nothing recorded answers that.");
  return NAI_OK;
}
