/* Answering: the parts of an answer in their order. */
#include "features/ask/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of an intent's facts; the rest is for findings and what they stand on. */
enum { MAX_OF_INTENTS = 5 };

/* --- parts of an answer ----------------------------------------------------------------------------------- */

char *nai_answer_copy(struct nai_answer *answer, const char *text) {
  char *copy = strdup(text);
  answer->failed |= !copy;
  return copy;
}

char *nai_answer_take(struct nai_answer *answer, struct nai_buf *text) {
  char *copy = nai_answer_copy(answer, nai_buf_str(text));
  answer->failed |= text->oom;
  nai_buf_free(text);
  *text = (struct nai_buf){0};
  return copy;
}

struct nai_fact *nai_answer_fact(bool *fresh, struct nai_answer *answer, const char *table, int64_t row) {
  *fresh = false;
  for (size_t i = 0; i < answer->fact_count; i++)
    if (answer->facts[i].row == row && answer->facts[i].table && strcmp(answer->facts[i].table, table) == 0)
      return &answer->facts[i];
  if (answer->fact_count == NAI_QUESTION_MAX_FACTS)
    return NULL;
  struct nai_fact *fact = &answer->facts[answer->fact_count++];
  *fact = (struct nai_fact){.table = nai_answer_copy(answer, table), .row = row};
  *fresh = true;
  return fact;
}

void nai_answer_say(struct nai_answer *answer, struct nai_sentences *where, int fact, const char *text) {
  for (size_t i = 0; i < where->count; i++)
    if (!text || !where->items[i].text || strcmp(where->items[i].text, text) == 0)
      return;
  if (where->count < NAI_QUESTION_MAX_LINES && text)
    where->items[where->count++] = (struct nai_sentence){nai_answer_copy(answer, text), fact};
}

static void free_sentences(struct nai_sentences *s) {
  for (size_t i = 0; i < s->count; i++)
    free(s->items[i].text);
}

void nai_answer_free(struct nai_answer *answer) {
  for (size_t i = 0; i < answer->fact_count; i++) {
    struct nai_fact *fact = &answer->facts[i];
    for (size_t v = 0; v < fact->value_count; v++) {
      free(fact->values[v].column);
      if (fact->values[v].value.type == NAI_STR && !fact->values[v].value.null)
        free((char *)fact->values[v].value.s); /* a copy (fill) */
    }
    free(fact->table);
    free(fact->text);
  }
  free_sentences(&answer->said);
  free_sentences(&answer->limits);
  free_sentences(&answer->next);
  free(answer->advice);
  *answer = (struct nai_answer){0};
}

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

static void say(struct nai_answer *answer, struct nai_sentences *where, struct nai_buf *text) {
  NAI_FREED char *line = nai_answer_take(answer, text);
  nai_answer_say(answer, where, -1, line);
}

/* The first need that the trace does not meet, said where `where` is; false: there is none. */
static bool say_lack(const struct nai_asking *asking, const struct nai_query_rows *caps, const struct nai_yaml *doc,
                     const struct nai_yaml_node *map, const char *begin, struct nai_sentences *where) {
  const struct nai_yaml_node *need = nai_intent_items(doc, map, "needs");
  const char *detail = "", *label = "";
  while (need && !is_lacking(&detail, &label, caps, need->text))
    need = nai_yaml_next(doc, need);
  if (!need)
    return false;
  const char *missing = strstr(detail, "not available: "), *record = nai_intents_recording(asking->intents, need->text);
  struct nai_buf text = {0};
  nai_buf_printf(&text, "%s: the trace has no %s%s%s.", begin, label, missing ? ", and so not " : "",
                 missing ? missing + strlen("not available: ") : "");
  say(asking->answer, where, &text);
  if (record) {
    nai_buf_printf(&text, "To have it in the next trace: %s", record);
    say(asking->answer, &asking->answer->limits, &text);
  }
  return true;
}

/* --- names ------------------------------------------------------------------------------------------------- */

/* What has a name that the question may mean: kind of names, and the statement that counts them. `?` is the word. */
static const struct {
  const char *kind, *count;
} named[] = {
    {"kernel", "(select count(*) from kernels where instr(lower(substr(short_name, 1, instr(short_name || '<', '<'))), "
               "'%s'))"},
    {"range", "(select count(*) from nvtx_ranges where instr(lower(range_name), '%s'))"},
    {"call",
     "(select count(*) from (select distinct name from api_events) where lower(name) = '%s' or lower(name) glob "
     "'%s_v[0-9]*')"},
    {"cause", "(select cause_meaning('%s') is not null)"},
};
enum { KINDS = sizeof named / sizeof *named };

static bool is_plain(const char *word) { return !strpbrk(word, "'*?["); }

/* Of the words that may be names the first that is one; *kind is of what. `plain`: ordinary words may be, too. */
static int find_name(const char **word, const char **kind, const struct nai_asking *asking,
                     const struct nai_question *q, bool plain, struct nai_err *err) {
  const char *words[NAI_QUESTION_MAX_NAMES];
  size_t count = nai_question_names(words, q, plain);
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  *word = NULL;
  for (size_t i = 0; i < count; i++) {
    nai_buf_printf(&sql, "%sselect %zu", sql.len ? " union all " : "", i);
    for (size_t k = 0; k < KINDS; k++) {
      const char *at = is_plain(words[i]) ? named[k].count : "0";
      nai_buf_puts(&sql, ", ");
      for (; *at; at++)
        if (strncmp(at, "%s", 2) == 0)
          nai_buf_puts(&sql, words[i]), at++;
        else
          nai_buf_putc(&sql, *at);
    }
  }
  if (count)
    nai_buf_puts(&sql, " order by 1");
  NAI_TRY(nai_buf_check(&sql, err));
  if (count)
    NAI_TRY(nai_found_ask(&found, asking, nai_buf_str(&sql), "names", err));
  for (int64_t row = 0; row < found.rows && !*word; row++)
    for (uint32_t k = 0; k < KINDS && !*word; k++)
      if (nai_query_cell_int(&found, row, k + 1)) {
        *word = words[row];
        *kind = named[k].kind;
      }
  for (size_t i = 0; i < q->count && !*word; i++)
    if (nai_question_is_name(&q->words[i])) {
      nai_buf_clear(&sql);
      nai_buf_printf(&sql, "Nothing in the trace is called \"%s\": no kernel, NVTX range or CUDA call.",
                     q->words[i].typed);
      nai_answer_say(asking->answer, &asking->answer->said, -1, nai_buf_str(&sql));
    }
  return NAI_OK;
}

/* The intent about things of that kind that the question names. */
static const struct nai_intent *intent_of_names(const struct nai_intents *intents, const char *kind) {
  for (size_t i = 0; i < intents->count; i++) {
    const char *names = nai_intent_text(intents->list[i].doc, intents->list[i].node, "names");
    if (!intents->list[i].replaced && names && strcmp(names, kind) == 0)
      return &intents->list[i];
  }
  return NULL;
}

/* --- answering --------------------------------------------------------------------------------------------- */

static void say_list(const struct nai_asking *asking, const struct nai_intent *intent, const char *key,
                     struct nai_sentences *where) {
  const struct nai_yaml_node *n = nai_intent_items(intent->doc, intent->node, key);
  for (; n; n = nai_yaml_next(intent->doc, n)) {
    const char *text = n->text, *at;
    struct nai_buf line = {0};
    for (; (at = strchr(text, '$')); text = at) {
      bool source = strncmp(at, "$SRC", 4) == 0, name = strncmp(at, "$NAME", 5) == 0;
      nai_buf_put(&line, text, (size_t)(at - text));
      nai_buf_puts(&line, source ? asking->source : name ? asking->name : "$");
      at += source ? 4 : name ? 5 : 1;
    }
    nai_buf_puts(&line, text);
    say(asking->answer, where, &line);
  }
}

/* *known: the first of its facts is there, so that no finding means no loss. */
static int answer_intent(bool *known, const struct nai_asking *asking, const struct nai_intent *intent,
                         const struct nai_query_rows *caps, struct nai_err *err) {
  struct nai_answer *answer = asking->answer;
  size_t before = answer->fact_count;
  int rc = NAI_OK;
  say_list(asking, intent, "say", &answer->said);
  bool answered = answer->fact_count > 0; /* by what the question names, or is about first */
  if (say_lack(asking, caps, intent->doc, intent->node,
               answered ? "Not all of it is recorded" : "Nothing recorded answers that",
               answered ? &answer->limits : &answer->said))
    return rc;
  const struct nai_yaml_node *first = nai_intent_items(intent->doc, intent->node, "facts");
  for (const struct nai_yaml_node *entry = first; entry && !rc; entry = nai_yaml_next(intent->doc, entry)) {
    size_t room = answer->fact_count < MAX_OF_INTENTS ? MAX_OF_INTENTS - answer->fact_count : 1;
    if (!say_lack(asking, caps, intent->doc, entry, "Not all of it is recorded", &answer->limits))
      rc = nai_facts_add(asking, intent, entry, room, err);
    *known |= entry == first && answer->fact_count > before;
  }
  say_list(asking, intent, "cannot", &answer->limits);
  return rc;
}

/* A GPU that the run does not have is said to be missing, and the answer is about all. */
static int check_gpu(struct nai_asking *asking, struct nai_err *err) {
  NAI_SCOPED(nai_query_rows) found = {0};
  if (!(asking->gpu == INT64_MIN))
    NAI_TRY(nai_found_ask(&found, asking, "select count(*) from gpus where device_id = :gpu", "gpus", err));
  if (asking->gpu != INT64_MIN && nai_query_cell_int(&found, 0, 0) == 0) {
    struct nai_buf text = {0};
    nai_buf_printf(&text, "The run has no GPU %lld; this is about all it has.", (long long)asking->gpu);
    say(asking->answer, &asking->answer->said, &text);
    asking->gpu = INT64_MIN;
  }
  return NAI_OK;
}

/* Those the question is about, and what stands in for them where no word was understood. */
static int choose(const struct nai_intent **chosen, size_t *count, struct nai_asking *asking,
                  const struct nai_question *q, struct nai_err *err) {
  const struct nai_intent *matched[NAI_QUESTION_MAX_INTENTS], *about = NULL;
  const char *word, *kind = "";
  /* Once a word is understood, ordinary ones are not looked for in names, which have all kinds of them. */
  bool understood = nai_question_match(matched, q, asking->intents, false) > 0;
  NAI_TRY(find_name(&word, &kind, asking, q, !understood, err));
  if (word && (about = intent_of_names(asking->intents, kind))) {
    asking->name = word;
    chosen[(*count)++] = about;
  }
  size_t matches = nai_question_match(matched, q, asking->intents, !about);
  for (size_t i = 0; i < matches && *count < NAI_QUESTION_MAX_INTENTS; i++)
    chosen[(*count)++] = matched[i];
  for (size_t i = 0; i < *count; i++)
    asking->answer->intents[asking->answer->intent_count++] = chosen[i]->name;
  if (!*count && (about = nai_intents_find(asking->intents, "overview"))) {
    nai_answer_say(asking->answer, &asking->answer->said, -1,
                   "No word of the question says what it is about, so this is what stands out in the run.");
    chosen[(*count)++] = about;
  }
  return NAI_OK;
}

int nai_question_ask(struct nai_answer *out, const struct nai_intents *intents, struct nai_run *run,
                     const char *question, const char *source, struct nai_err *err) {
  struct nai_asking asking = {.answer = out, .intents = intents, .run = run, .source = source, .name = ""};
  const struct nai_intent *chosen[NAI_QUESTION_MAX_INTENTS];
  struct nai_question *q = calloc(1, sizeof *q);
  struct nai_query_rows caps = {0};
  size_t count = 0;
  bool known = false;
  int rc = q ? NAI_OK : nai_err_nomem(err);
  *out = (struct nai_answer){0};
  if (!rc) {
    nai_question_read(q, intents, question);
    asking.gpu = q->gpu;
    rc = check_gpu(&asking, err);
  }
  if (!rc)
    rc = choose(chosen, &count, &asking, q, err);
  if (!rc)
    rc = nai_found_ask(&caps, &asking, capabilities, "capabilities", err);
  for (size_t i = 0; i < count && !rc; i++)
    rc = answer_intent(&known, &asking, chosen[i], &caps, err);
  if (!rc)
    rc = nai_findings_add(&asking, chosen, count, known, err);
  if (!rc)
    rc = nai_caveats_add(&asking, err);
  for (size_t i = 0; i < count && !rc; i++)
    say_list(&asking, chosen[i], "next", &out->next);
  if (!rc && out->failed)
    rc = nai_err_nomem(err);
  nai_query_rows_free(&caps);
  free(q);
  if (rc)
    nai_answer_free(out);
  return rc;
}
