/* Answering: the parts of an answer in their order. */
#include "features/ask/relation.h"

#include "base/fmt.h"

#include <strings.h>

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
  nai_answer_say(asking, where, NULL,
                 nai_arena_printf(asking->arena, "%s: the trace has no %s%s%s.", begin, label,
                                  missing ? ", and so nothing on " : "",
                                  missing ? missing + strlen("not available: ") : ""));
  if (record)
    nai_answer_say(asking, &asking->answer->limits, NULL,
                   nai_arena_printf(asking->arena, "To have it in the next trace: %s", record));
  return true;
}

/* --- answering --------------------------------------------------------------------------------------------- */

static void say_list(const struct nai_asking *asking, const struct nai_intent *intent, const char *key,
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
  say_list(asking, intent, "say", &answer->said);
  bool answered = answer->fact_count > 0; /* by what the question names, or is about first */
  if (say_lack(asking, caps, intent->doc, intent->node,
               answered ? "Not all of it is recorded" : "Nothing recorded answers that",
               answered ? &answer->limits : &answer->said))
    return NAI_OK;
  const struct nai_yaml_node *first = nai_intent_items(intent->doc, intent->node, "facts");
  for (const struct nai_yaml_node *entry = first; entry; entry = nai_yaml_next(intent->doc, entry)) {
    size_t room = answer->fact_count < MAX_OF_INTENTS ? MAX_OF_INTENTS - answer->fact_count : 1;
    if (!say_lack(asking, caps, intent->doc, entry, "Not all of it is recorded", &answer->limits))
      NAI_TRY(nai_facts_add(asking, intent, entry, room, err));
    *known |= entry == first && answer->fact_count > before;
  }
  say_list(asking, intent, "cannot", &answer->limits);
  return NAI_OK;
}

/* Whether an intent is about what the question names. */
static bool knows_name(const struct nai_intent *intent) {
  return nai_intent_text(intent->doc, intent->node, "names") || nai_intent_takes(intent, ":name");
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

/* Facts; findings, what limits whatever is said of the run, and commands, unless no fact is of the GPU or the stretch
 * of time that the question names. */
static int answer(struct nai_asking *asking, const struct nai_intent *intent, struct nai_err *err) {
  NAI_SCOPED(nai_query_rows) caps = {0};
  struct nai_answer *out = asking->answer;
  size_t before = out->said.count;
  bool known = false;
  NAI_TRY(nai_facts_ask(&caps, asking, capabilities, "capabilities", err));
  NAI_TRY(answer_each(&known, asking, intent, &caps, err));
  if (out->said.count == before && (asking->gpu != INT64_MIN || asking->question->time_count == 2)) {
    nai_answer_say(asking, &out->said, NULL, "Not known for one GPU or a stretch of time: ask without it.");
    return NAI_OK;
  }
  out->intent = intent->name;
  NAI_TRY(nai_findings_add(asking, intent, known && !asking->partly, err));
  NAI_TRY(nai_caveats_add(asking, err));
  say_list(asking, intent, "next", &out->next);
  if (out->said.count == before)
    nai_answer_say(asking, &out->said, NULL, "Nothing recorded answers that.");
  return NAI_OK;
}

/* A GPU that the run does not have is said to be missing, and the answer is about all. */
static int check_gpus(struct nai_asking *asking, struct nai_question *q, struct nai_err *err) {
  static const char sql[] = "select count(*) from gpus where device_id = :gpu";
  size_t asked = q->gpu_count, missing = 0;
  for (size_t i = 0; i < asked; i++) {
    NAI_SCOPED(nai_query_rows) found = {0};
    asking->gpu = q->gpus[i];
    NAI_TRY(nai_facts_ask(&found, asking, sql, "gpus", err));
    if (nai_query_cell_int(&found, 0, 0))
      continue;
    missing++;
    nai_answer_say(asking, &asking->answer->said, NULL,
                   nai_arena_printf(asking->arena, "The run has no GPU %lld; this is about all it has.",
                                    (long long)asking->gpu));
  }
  q->gpu_count -= missing;
  asking->gpu = asked == 1 && !missing ? q->gpus[0] : INT64_MIN;
  return NAI_OK;
}

static bool is_named(const struct nai_asking *asking, const char *word) {
  bool named = strcmp(word, asking->name) == 0;
  for (size_t i = 0; i < asking->other_count; i++)
    named |= strcmp(word, asking->others[i]) == 0;
  return named;
}

/* Puts in quotes the words for which `is` holds. Returns how many. */
static size_t put_words(struct nai_buf *out, const struct nai_asking *asking,
                        bool (*is)(const struct nai_question_word *)) {
  const struct nai_question *q = asking->question;
  size_t count = 0;
  for (size_t i = 0; i < q->count; i++)
    if (is(&q->words[i]) && !is_named(asking, q->words[i].text))
      nai_buf_printf(out, "%s\"%s\"", count++ ? ", " : "", q->words[i].typed);
  return count;
}

/* "kernels", "moved": another form of the word needs no notice. */
static bool is_inflected(const struct nai_question_word *word) {
  const char *typed = word->typed, *meant = word->meant;
  for (; *typed && tolower((unsigned char)*typed) == *meant; typed++)
    meant++;
  const char *rest = *typed ? typed : meant;
  return (!*typed || !*meant) && !rest[strspn(rest, "sde")];
}

static void say_corrections(const struct nai_asking *asking) {
  const struct nai_question *q = asking->question;
  for (size_t i = 0; i < q->count; i++)
    if (q->words[i].meant[0] && !is_inflected(&q->words[i]))
      nai_answer_say(asking, &asking->answer->said, NULL,
                     nai_arena_printf(asking->arena, "Read \"%s\" as \"%s\".", q->words[i].typed, q->words[i].meant));
}

/* A word that is neither known nor the name that the answer is about. */
static bool is_unknown(const struct nai_question_word *w) {
  bool name = nai_question_has_mark(w->text) && !w->known && !w->answered && !w->names && !w->quoted;
  return nai_question_is_strange(w) || name;
}

static bool is_out(const struct nai_question_word *word) { return is_unknown(word) || nai_question_is_left(word); }

/* Says which words an answer to a part of the question leaves out. */
static void say_left_out(const struct nai_asking *asking) {
  NAI_SCOPED(nai_buf) words = {0};
  put_words(&words, asking, is_out);
  nai_answer_say(
      asking, &asking->answer->said, NULL,
      nai_arena_printf(asking->arena,
                       "No answer accounts for %s: what follows leaves that out, and may be of more than was "
                       "asked.",
                       nai_buf_str(&words)));
  nai_answer_say(asking, &asking->answer->limits, NULL,
                 nai_arena_printf(asking->arena, "What is asked with %s: the facts leave that out.",
                                  nai_buf_str(&words)));
  asking->arena->oom |= words.oom;
}

/* Says which words no answer takes up; `matched`: some word says what the question is about. */
static void say_left(const struct nai_asking *asking, bool matched) {
  static const struct {
    const char *begin;
    bool (*is)(const struct nai_question_word *);
  } kinds[] = {{"Not understood: ", is_unknown}, {"No answer accounts for ", nai_question_is_left}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    NAI_SCOPED(nai_buf) words = {0};
    if (put_words(&words, asking, kinds[i].is))
      nai_answer_say(asking, &asking->answer->said, NULL,
                     nai_arena_printf(asking->arena, "%s%s.", kinds[i].begin, nai_buf_str(&words)));
    asking->arena->oom |= words.oom;
  }
  if (matched && !asking->answer->said.count)
    nai_answer_say(asking, &asking->answer->said, NULL,
                   "Each word is known, but no answer is about all of them together.");
}

/* What can be asked, where nothing was understood. */
static void say_examples(const struct nai_asking *asking) {
  const struct nai_intents *intents = asking->intents;
  NAI_SCOPED(nai_buf) list = {0};
  for (size_t i = 0; i < intents->doc_count; i++) {
    const struct nai_yaml *doc = intents->docs[i];
    const struct nai_yaml_node *n = nai_intent_items(doc, nai_yaml_root(doc), "examples");
    for (; n; n = nai_yaml_next(doc, n))
      nai_buf_printf(&list, "%s%s", list.len ? "; " : "", n->text);
  }
  if (!asking->answer->said.count)
    nai_answer_say(asking, &asking->answer->said, NULL, "Not understood: no word says what the question is about.");
  nai_answer_say(asking, &asking->answer->said, NULL,
                 nai_arena_printf(asking->arena, "What can be asked, for example: %s.", nai_buf_str(&list)));
  asking->arena->oom |= list.oom;
}

/* Whether an intent answers with facts; others say why there is no answer. */
static bool has_facts(const struct nai_intent *intent) {
  return nai_intent_items(intent->doc, intent->node, "facts") || nai_intent_items(intent->doc, intent->node, "rules");
}

/* Whether what an intent needs of a question (`when`) is there. */
static int applies(bool *out, const struct nai_asking *asking, const struct nai_intent *intent, struct nai_err *err) {
  const char *when = nai_intent_text(intent->doc, intent->node, "when");
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  *out = true;
  if (!when)
    return NAI_OK;
  nai_buf_printf(&sql, "select 1 where %s", when);
  NAI_TRY(nai_buf_check(&sql, err));
  NAI_TRY(nai_intent_ask(&found, asking, intent, nai_buf_str(&sql), intent->name, err));
  *out = found.rows > 0;
  return NAI_OK;
}

/* How many words of the question an intent does not take up; one that says why there is no answer need not. */
static size_t words_left(const struct nai_asking *asking, struct nai_question *q, const struct nai_intent *intent) {
  NAI_SCOPED(nai_buf) left = {0};
  nai_question_answered(q, asking->intents, intent);
  size_t count = put_words(&left, asking, is_unknown) + put_words(&left, asking, nai_question_is_left);
  return has_facts(intent) ? count : 0;
}

/* The intent that leaves fewest words, and how many those are. */
struct nearest {
  const struct nai_intent *intent;
  size_t left;
};

static int consider(struct nearest *best, const struct nai_asking *asking, struct nai_question *q,
                    const struct nai_intent *intent, struct nai_err *err) {
  const size_t left = words_left(asking, q, intent);
  bool fits = (!best->intent || left < best->left) && (!q->within || nai_intent_takes(intent, ":within")) &&
              (!q->around || nai_intent_takes(intent, ":from"));
  if (fits)
    NAI_TRY(applies(&fits, asking, intent, err));
  if (fits)
    *best = (struct nearest){intent, left};
  return NAI_OK;
}

/* The first that leaves fewest words: of those that know what the question names, if it names something, and then the
 * one about such things. */
static int choose_of(struct nearest *best, const struct nai_asking *asking, struct nai_question *q,
                     const struct nai_intent *about, const struct nai_intent *const *matched, size_t matches,
                     struct nai_err *err) {
  bool range = about && strcmp(nai_intent_text(about->doc, about->node, "names"), "range") == 0;
  *best = (struct nearest){0};
  /* What a range takes is all of it, but for what tells kinds. */
  for (size_t i = 0; i < matches && !(best->intent && !best->left); i++) {
    const struct nai_intent *intent = matched[i];
    if (about && has_facts(intent) && !(range ? nai_intent_takes(intent, ":named") : knows_name(intent)))
      continue; /* what no trace tells, none tells of what is named */
    NAI_TRY(consider(best, asking, q, intent, err));
  }
  if (about)
    NAI_TRY(consider(best, asking, q, about, err));
  if (best->intent)
    nai_question_answered(q, asking->intents, best->intent);
  return NAI_OK;
}

/* What is found of a question. */
struct choice {
  struct nearest best;
  size_t matches;
  bool named, guessed; /* it names something; by a part of a name */
  bool nothing;        /* it names what is not there */
  bool related;        /* it was answered by a relation of things */
};

static bool is_whole(const struct choice *c) { return c->nothing || c->related || (c->best.intent && !c->best.left); }

static int find(struct choice *c, struct nai_asking *asking, struct nai_question *q, struct nai_err *err) {
  const struct nai_intent *matched[NAI_QUESTION_MAX_MATCHES], *about;
  *c = (struct choice){0};
  NAI_TRY(nai_names_correct_spelling(asking, q, err));
  NAI_TRY(nai_names_choose(&about, asking, q, err));
  q->named = about ? nai_intent_text(about->doc, about->node, "names") : NULL;
  nai_question_choose_values(q, asking->intents);
  NAI_TRY(nai_names_say_unknown(&c->nothing, asking, q, err));
  c->nothing &= !about;
  if (c->nothing)
    return NAI_OK; /* that is all there is to say */
  NAI_TRY(nai_relation_answer(&c->related, asking, true, err));
  if (c->related)
    return NAI_OK;
  c->matches = nai_question_match(matched, q, asking->intents, !about);
  NAI_TRY(choose_of(&c->best, asking, q, about, matched, c->matches, err));
  if (!is_whole(c) && !about) {
    NAI_TRY(nai_names_choose_by_rest(&about, asking, q, err));
    c->guessed = about != NULL;
    if (about) {
      q->named = nai_intent_text(about->doc, about->node, "names");
      c->matches = nai_question_match(matched, q, asking->intents, false);
      NAI_TRY(choose_of(&c->best, asking, q, about, matched, c->matches, err));
    }
  }
  c->named = about != NULL;
  if (!is_whole(c))
    NAI_TRY(nai_relation_answer(&c->related, asking, false, err));
  return NAI_OK;
}

/* The same with "before the first X" as a stretch of time, if that takes up the rest. */
static int find_around(struct choice *c, struct nai_asking *asking, struct nai_question *q, struct nai_err *err) {
  const struct nai_asking asked = *asking;
  struct nai_question *whole;
  struct choice rest;
  NAI_SCOPED(nai_buf) line = {0};
  const char *said;
  NAI_TRY(NAI_NEW(whole, asking->arena, 1, err));
  *whole = *q;
  NAI_TRY(nai_window_around(&said, asking, q, err));
  if (!said)
    return NAI_OK;
  asking->name = "";
  asking->other_count = 0;
  NAI_TRY(check_gpus(asking, q, err));
  NAI_TRY(find(&rest, asking, q, err));
  if (!is_whole(&rest) || rest.nothing) {
    *asking = asked;
    *q = *whole;
    return NAI_OK;
  }
  nai_buf_printf(&line, "%c%s: from ", toupper((unsigned char)*said), said + 1);
  nai_fmt_scaled(&line, q->time_ns[0] / 1000, 6);
  nai_buf_puts(&line, " s to ");
  nai_fmt_scaled(&line, q->time_ns[1] / 1000, 6);
  nai_buf_puts(&line, " s.");
  nai_answer_say(asking, &asking->answer->said, NULL, nai_answer_text(asking, &line));
  *c = rest;
  return NAI_OK;
}

/* Whether a part of the question can be answered: what it names, or more than is left. A word that nobody knows may
 * change more than one that only limits. */
static bool is_worth(const struct nai_asking *asking, const struct nai_question *q, const struct choice *c) {
  enum { MOST_LEFT = 3, MOST_BESIDE_GUESS = 1, UNKNOWN = 2 };
  size_t taken = 0, left = 0;
  if (!c->best.intent || !has_facts(c->best.intent))
    return false;
  for (size_t i = 0; i < q->count; i++) {
    const struct nai_question_word *w = &q->words[i];
    const bool named = w->names || is_named(asking, w->text);
    taken += named || (w->answered && !w->ignored);
    left += named ? 0 : is_unknown(w) ? UNKNOWN : nai_question_is_left(w);
  }
  return c->guessed ? c->best.left <= MOST_BESIDE_GUESS : taken >= left || (c->named && c->best.left <= MOST_LEFT);
}

/* What the question is about, or most of it (`partly`); NULL: it was not understood. */
static int choose(const struct nai_intent **chosen, struct choice *c, struct nai_asking *asking, struct nai_question *q,
                  struct nai_err *err) {
  *chosen = NULL;
  NAI_TRY(find(c, asking, q, err));
  if (!is_whole(c))
    NAI_TRY(find_around(c, asking, q, err));
  if (c->nothing || c->related)
    return NAI_OK;
  asking->partly = c->best.left && is_worth(asking, q, c);
  if (is_whole(c) || asking->partly)
    *chosen = c->best.intent;
  if (asking->partly)
    say_left_out(asking);
  else if (!*chosen)
    say_left(asking, c->matches > 0);
  return NAI_OK;
}

int nai_question_ask(struct nai_answer *out, const struct nai_intents *intents, struct nai_run *run,
                     const char *question, const char *source, struct nai_arena *arena, struct nai_err *err) {
  struct nai_asking asking = {
      .answer = out, .arena = arena, .intents = intents, .run = run, .source = source, .name = ""};
  const struct nai_intent *chosen;
  struct nai_question *q;
  struct choice choice;
  *out = (struct nai_answer){0};
  NAI_TRY(NAI_NEW(q, arena, 1, err));
  nai_question_read(q, intents, question);
  asking.question = q;
  NAI_TRY(check_gpus(&asking, q, err));
  NAI_TRY(nai_window_place(&asking, q, err));
  NAI_TRY(choose(&chosen, &choice, &asking, q, err));
  if (chosen)
    NAI_TRY(answer(&asking, chosen, err));
  if (choice.related)
    NAI_TRY(nai_caveats_add(&asking, err));
  say_corrections(&asking);
  if (!out->intent && !choice.nothing)
    say_examples(&asking);
  return nai_arena_check(arena, err);
}
