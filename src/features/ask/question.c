/* Questions: what they are about, and the parts of an answer in their order. */
#include "features/ask/numbers.h"
#include "features/ask/relation.h"

#include "base/fmt.h"

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

/* "how busy is the 3080": where all GPUs with work are of that model, it tells nothing. */
static int ignore_own_model(const struct nai_asking *asking, struct nai_question *q, struct nai_err *err) {
  static const char sql[] = "select distinct lower(coalesce(gpu_name, '')) from gpus where device_id in (select "
                            "device_id from gpu_utilization)";
  NAI_SCOPED(nai_query_rows) found = {0};
  NAI_TRY(nai_facts_ask(&found, asking, sql, "gpus", err));
  for (size_t i = 0; i < q->count && found.rows; i++) {
    const char *word = q->words[i].text;
    const size_t len = strlen(word), digits = strspn(word, "0123456789");
    const size_t one = len && word[len - 1] == 's' ? len - 1 : len; /* "3090s" */
    bool model = digits == one ? digits > 3 : strpbrk(word, "0123456789") || nai_word_is_of("orin xavier thor", word);
    for (int64_t row = 0; row < found.rows && model; row++)
      model = nai_word_stands_in(nai_query_cell_text(&found, row, 0), word, one);
    if (model)
      q->words[i].ignored = q->words[i].known = true;
  }
  return NAI_OK;
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

/* Whether an intent is about what the question names. */
static bool knows_name(const struct nai_intent *intent) {
  return nai_intent_text(intent->doc, intent->node, "names") || nai_intent_takes(intent, ":name");
}

/* Whether an intent answers with facts; others say why there is no answer. */
static bool has_facts(const struct nai_intent *intent) {
  return nai_intent_items(intent->doc, intent->node, "facts") ||
         (nai_intent_items(intent->doc, intent->node, "rules") && !nai_intent_items(intent->doc, intent->node, "say"));
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
  nai_question_answered(q, asking->intents, intent);
  return has_facts(intent) ? nai_left_out_count(asking) : 0;
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
 * change more than one that only limits: few of those are left out where a phrase says what the question is about. What
 * is called by its name is worth its numbers whatever else is asked of it. */
static bool is_worth(const struct nai_asking *asking, const struct nai_question *q, const struct choice *c) {
  enum { MOST_LEFT = 3, MOST_BESIDE_NAME = 6, MOST_BESIDE_GUESS = 1, UNKNOWN = 2, STRONG = 2 };
  size_t taken = 0, left = 0, unknown = 0;
  struct nai_question_marks covered = {0};
  if (!c->best.intent || !has_facts(c->best.intent))
    return false;
  const bool strong = nai_question_score(&covered, q, asking->intents, c->best.intent) >= STRONG;
  for (size_t i = 0; i < q->count; i++) {
    const struct nai_question_word *w = &q->words[i];
    const bool named = w->names || nai_asking_names(asking, w->text);
    taken += named || (w->answered && !w->ignored);
    left += named ? 0 : nai_question_is_unknown(w) ? UNKNOWN : nai_question_is_left(w);
    unknown += !named && nai_question_is_unknown(w);
  }
  if (strong && !unknown && !c->guessed && left <= MOST_LEFT)
    return true;
  return c->guessed ? c->best.left <= MOST_BESIDE_GUESS
                    : taken >= left || (c->named && c->best.left <= MOST_BESIDE_NAME);
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
  if (!*chosen)
    nai_left_out_say_all(asking, c->matches > 0);
  return NAI_OK;
}

/* One question, and what answers it. */
struct asked {
  struct nai_asking asking;
  struct choice choice;
  const struct nai_intent *intent; /* NULL: none, or a relation */
  bool known;                      /* the first of its facts is there, so that no finding means no loss */
};

static bool is_answered(const struct asked *a) {
  return a->choice.related || (a->intent && !a->asking.partly && a->asking.answer->intent);
}

static int ask_one(struct asked *a, const char *question, struct nai_err *err) {
  struct nai_asking *asking = &a->asking;
  struct nai_question *q;
  NAI_TRY(NAI_NEW(q, asking->arena, 1, err));
  nai_question_read(q, asking->intents, question);
  asking->question = q;
  NAI_TRY(check_gpus(asking, q, err));
  NAI_TRY(ignore_own_model(asking, q, err));
  NAI_TRY(nai_window_place(asking, q, err));
  NAI_TRY(choose(&a->intent, &a->choice, asking, q, err));
  const size_t first = asking->answer->said.count;
  struct nai_question_marks left; /* answering forgets the names */
  nai_left_out_find(&left, asking);
  if (a->intent)
    NAI_TRY(nai_intent_answer(&a->known, asking, a->intent, err));
  asking->partly = asking->partly && nai_left_out_say(asking, &left, first);
  return NAI_OK;
}

/* Whether some word of a list is asked that the intent neither takes up nor, by rules or a finding, has an answer to.
 */
static bool leaves_asked(const struct asked *a, const char *words, bool looked_for) {
  const struct nai_question *q = a->asking.question;
  const struct nai_answer *answer = a->asking.answer;
  struct nai_question_marks taken = {0};
  bool leaves = false;
  nai_question_score(&taken, q, a->asking.intents, a->intent);
  nai_question_mark_phrases(&taken, q, a->intent->doc, nai_yaml_get(a->intent->doc, a->intent->node, "takes"));
  for (size_t i = 0; i < q->count; i++)
    leaves |= nai_word_is_of(words, q->words[i].text) && !taken.at[i] && !(looked_for && q->words[i].answered);
  for (size_t i = 0; i < answer->fact_count; i++)
    leaves &= strcmp(answer->facts[i].table, "findings") != 0 && strcmp(answer->facts[i].table, "v_calls") != 0;
  return leaves && has_facts(a->intent) && !nai_intent_items(a->intent->doc, a->intent->node, "rules");
}

static bool has_finding(const struct nai_answer *answer) {
  bool has = false;
  for (size_t i = 0; i < answer->fact_count; i++)
    has |= strcmp(answer->facts[i].table, "findings") == 0;
  return has;
}

/* Findings, and commands to go on with. */
static int conclude(struct asked *a, struct nai_err *err) {
  const struct nai_intent *judge = a->asking.judged ? nai_intents_judge(&a->asking) : NULL;
  if (a->intent && a->asking.answer->intent) {
    NAI_TRY(nai_findings_add(&a->asking, a->intent, a->known && !a->asking.partly && !judge, err));
    nai_intent_say(&a->asking, a->intent, "next", &a->asking.answer->next);
    if (leaves_asked(a, "why", false)) /* its statements look for it to say no "yes" */
      nai_answer_say(&a->asking, &a->asking.answer->said, NULL, "Why that is so, no fact here tells.");
    if (leaves_asked(a, "would worth", true) ||
        (a->asking.question->count > 1 && nai_word_is_of("i we one", a->asking.question->words[1].text) &&
         strcmp(a->asking.question->words[0].text, "should") == 0 && leaves_asked(a, "should", true)))
      nai_answer_say(&a->asking, &a->asking.answer->said, NULL, "Whether a change would pay, no fact here tells.");
  }
  if (judge && a->asking.answer->intent && !has_finding(a->asking.answer))
    NAI_TRY(nai_findings_add(&a->asking, judge, true, err));
  say_corrections(&a->asking);
  return NAI_OK;
}

/* Whether the one answer has the other: "5 calls, 2 ms" and "2 ms total: 5 calls, 2 ms". */
static bool is_same(const struct nai_answer *answer, size_t second) {
  if (second == answer->said.count)
    return true;
  const char *a = answer->said.items[0].text, *b = answer->said.items[second].text;
  const size_t one = strlen(a), other = strlen(b);
  return one < other ? strcmp(b + other - one, a) == 0 : strcmp(a + one - other, b) == 0;
}

/* Whether the answer to the first question has what the second asks of its subject: "when did it start", "which process
 * made it". */
static bool is_told(const struct nai_asking *asking, const struct nai_clauses *clauses) {
  const struct nai_answer *answer = asking->answer;
  const char *said = answer->said.count ? answer->said.items[0].text : "";
  const bool when = strncasecmp(clauses->asked, "when did it ", strlen("when did it ")) == 0 ||
                    strncasecmp(clauses->asked, "when does it ", strlen("when does it ")) == 0,
             whose = strncasecmp(clauses->asked, "which process ", strlen("which process ")) == 0;
  return (when && strstr(said, "ends at ")) || nai_answer_shows_all(asking, said, clauses->asked) ||
         (!clauses->second && whose && strstr(said, "pid "));
}

/* Whether an answer to all takes up each word of the second question that can change it: "which one takes most" is said
 * to be of something else by one word alone. */
static int takes_second(bool *out, const struct asked *whole, const struct nai_clauses *clauses, struct nai_err *err) {
  const struct nai_asking *asking = &whole->asking;
  const struct nai_question *q = asking->question;
  struct nai_question *second;
  size_t taken = 0, enough = 1;
  *out = false;
  if (!whole->intent)
    return NAI_OK;
  NAI_TRY(NAI_NEW(second, asking->arena, 1, err));
  nai_question_read(second, asking->intents, clauses->asked);
  for (size_t i = q->count - (second->count < q->count ? second->count : q->count); i < q->count; i++) {
    if (nai_question_is_left(&q->words[i]) || nai_question_is_unknown(&q->words[i]))
      return NAI_OK;
    taken += q->words[i].answered && !q->words[i].ignored;
    enough += nai_word_is_of("most least", q->words[i].text);
  }
  *out = taken >= enough;
  return NAI_OK;
}

/* How many of two questions are answered, each alone and whole: none where that says no more than `answered`, the
 * answer to both as one. */
static int ask_each(size_t *parts, struct asked each[2], struct nai_clauses *clauses, bool answered,
                    struct nai_err *err) {
  struct nai_answer *out = each[0].asking.answer;
  const struct nai_answer before = *out;
  *parts = 0;
  if (!clauses->first)
    return NAI_OK;
  *out = (struct nai_answer){0};
  NAI_TRY(ask_one(&each[0], clauses->first, err));
  const struct nai_answer first = *out;
  *parts = is_answered(&each[0]);
  if (*parts && clauses->second) {
    out->intent = NULL;
    NAI_TRY(ask_one(&each[1], clauses->second, err));
    if (!is_answered(&each[1]) && clauses->may_be_alone) {
      *out = first;
      out->intent = NULL;
      each[1] = (struct asked){.asking = each[0].asking};
      each[1].asking.name = "";
      each[1].asking.other_count = 0;
      each[1].asking.partly = false;
      NAI_TRY(ask_one(&each[1], clauses->asked, err));
    }
    *parts += is_answered(&each[1]);
  }
  if (*parts == 1)
    *out = first;
  if (*parts == 2 && answered && is_same(out, first.said.count)) {
    *parts = 0;
    clauses->asked = NULL;
  }
  if (*parts < 2 && (answered || !*parts)) {
    *parts = 0;
    *out = before;
  }
  return NAI_OK;
}

/* *all: each word of it is answered. */
static int ask_all(bool *all, const struct asked *asks, const char *question, struct nai_err *err) {
  const struct asked fresh = *asks;
  struct nai_answer *out = fresh.asking.answer;
  struct asked whole = fresh, each[2] = {fresh, fresh};
  struct nai_clauses clauses = {0};
  size_t parts = 0;
  *out = (struct nai_answer){0};
  NAI_TRY(ask_one(&whole, question, err));
  bool taken = false;
  if (!whole.choice.related) {
    NAI_TRY(nai_clauses_split(&clauses, &whole.asking, question, is_answered(&whole), err));
    NAI_TRY(ask_each(&parts, each, &clauses, is_answered(&whole), err));
  }
  for (size_t i = 0; i < parts; i++)
    NAI_TRY(conclude(&each[i], err));
  if (!parts)
    NAI_TRY(conclude(&whole, err));
  if (clauses.asked && !parts)
    NAI_TRY(takes_second(&taken, &whole, &clauses, err));
  if (clauses.asked && out->intent && parts < 2 && !taken && !is_told(&whole.asking, &clauses))
    nai_answer_say(&whole.asking, parts ? &out->said : &out->limits, NULL,
                   nai_arena_printf(fresh.asking.arena, "\"%s\" may need a question of its own.", clauses.asked));
  if (out->intent)
    NAI_TRY(nai_caveats_add(&whole.asking, err));
  else if (!whole.choice.nothing)
    nai_left_out_say_examples(&whole.asking);
  *all = parts ? parts == 2 || !clauses.asked : is_answered(&whole);
  return nai_arena_check(fresh.asking.arena, err);
}

/* Without what is only told; if that leaves some word, with it. */
static int ask_told(const struct asked *fresh, const char *question, struct nai_err *err) {
  struct nai_answer *out = fresh->asking.answer;
  struct nai_told told;
  bool all = false;
  nai_clauses_find_told(&told, question, fresh->asking.arena);
  const char *ways[] = {told.is_meant ? question : told.asked, told.is_meant ? told.asked : question};
  for (size_t i = 0; i < 2 && !all && (!i || told.said); i++) {
    NAI_TRY(ask_all(&all, fresh, ways[i], err));
    all |= told.is_meant && out->intent;
    if (all && told.said && ways[i] == told.asked)
      nai_answer_say(&fresh->asking, &out->limits, NULL,
                     nai_arena_printf(fresh->asking.arena, "What \"%s\" says is not looked at.", told.said));
  }
  return NAI_OK;
}

int nai_question_ask(struct nai_answer *out, const struct nai_intents *intents, struct nai_run *run,
                     const char *question, const char *source, struct nai_arena *arena, struct nai_err *err) {
  struct asked fresh = {
      .asking = {.answer = out, .arena = arena, .intents = intents, .run = run, .source = source, .name = ""}};
  size_t before;
  fresh.asking.judged = nai_clauses_ask_verdict(&before, question);
  if (before)
    NAI_TRY(ask_told(&fresh, nai_arena_printf(arena, "%.*s", (int)before, question), err));
  if (!before || !out->intent)
    NAI_TRY(ask_told(&fresh, question, err));
  return nai_arena_check(arena, err);
}
