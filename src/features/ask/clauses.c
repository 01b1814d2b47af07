/* Two questions in one: "how many addmm calls and which kernels do they launch"; and what is only told beside one. */
#include "features/ask/numbers.h"
#include "features/ask/relation_reading.h"

#include <strings.h>

static const char openers[] = "how which what whats when where who why is are was were does do did has have can should";
static const char wh[] = "how which what when where who why"; /* these begin a question behind anything */
static const char asks[] =
    "would could will any compare show list tell give top"; /* begin a question, too, but no second */
/* Words of what somebody tells: "it should take 60 ms", "looks like a small CNN". */
static const char tells[] =
    "afaik imho i im ive we it its they that there theres looks look seems seem should supposed";
const char nai_verdict_words[] =
    "bad ok okay fine sane normal enough hurt hurts matter matters problem worth worthwhile "
    "odd weird starved reasonable acceptable healthy";
static const char pronouns[] = "they it them those these that";

/* Whether a text begins with a word of a list; *len: of that word. */
static bool begins_with(size_t *len, const char *text, const char *list) {
  *len = strcspn(text, " ,?'");
  return *len && nai_word_place(list, text, *len);
}

/* "launch bound?" */
static bool is_bound(const char *text) {
  const size_t len = strcspn(text, " "), rest = strlen("bound");
  return text[len] == ' ' && strncasecmp(text + len + 1, "bound", rest) == 0 && text[len + 1 + rest] == '?';
}

/* Whether what follows the first `len` bytes is a question of its own: behind one, or behind as much as may be asked.
 */
static bool is_second(const char *text, size_t len, const char *second) {
  enum { ENOUGH_BLANKS = 2 };
  size_t word, blanks = 0;
  for (size_t i = 0; i < len; i++)
    blanks += text[i] == ' ';
  return begins_with(&word, text, openers) ||
         (blanks >= ENOUGH_BLANKS && (begins_with(&word, second, wh) || is_bound(second)));
}

/* Where the second question begins, outside of quotes, and the first ends; NULL: there is one only. */
static const char *find_second(size_t *first_len, const char *text) {
  static const char *const between[] = {", and ", " and ", ", n ", " n ", " & ", " + ", ", ", "? "};
  bool quoted = false;
  size_t len;
  for (const char *at = text; *at; at++) {
    quoted ^= *at == '"' || *at == '`';
    for (size_t i = 0; i < sizeof between / sizeof *between && !quoted; i++) {
      const char *second = at + strlen(between[i]);
      if (strncasecmp(at, between[i], strlen(between[i])) != 0)
        continue;
      const bool opens = begins_with(&len, second, openers) && second[len];
      if (!opens && !is_bound(second))
        continue;
      *first_len = (size_t)(at - text);
      return second;
    }
  }
  return NULL;
}

/* Whether a word of a list stands before `end`. */
static bool has_word_of(const char *list, const char *text, const char *end) {
  static const char between[] = " ,?'.!;";
  for (size_t len; text < end; text += len + strspn(text + len, between)) {
    len = strcspn(text, between);
    if (len && nai_word_place(list, text, len))
      return true;
  }
  return false;
}

static bool says_it(const char *text) { return has_word_of("it", text, text + strlen(text)); }

/* Of several things the one that has a name. */
static void keep_named(struct nai_thing *things, size_t *count) {
  size_t named = 0, at = 0;
  for (size_t t = 0; t < *count; t++)
    if (things[t].names) {
      at = t;
      named++;
    }
  if (named != 1)
    return;
  things[0] = things[at];
  *count = 1;
}

/* What the first question is about, with all that it says of that: "addmm calls on GPU 0"; NULL: it is about several
 * things, none, or one of many ("the longest copy"), and then it cannot be said again. */
static int find_subject(const char **subject, size_t *things_named, const struct nai_asking *asking,
                        struct nai_question *q, bool it, struct nai_err *err) {
  static const char one_of_many[] = "longest slowest biggest largest worst shortest fastest smallest most least best "
                                    "first second third last max maximum min minimum top highest lowest";
  static const char verbs[] = "ran run runs launch launches launched take takes took"; /* "kernels ran" */
  static const char quantities[] = "many much long often per total average number there different distinct unique";
  struct nai_thing things[NAI_RELATION_MAX_THINGS];
  NAI_SCOPED(nai_buf) words = {0};
  size_t count;
  *subject = NULL;
  NAI_TRY(nai_things_find(things, &count, asking, q, nai_says_something, err));
  *things_named = count;
  if (count > 1 && it) /* "how many blocks does X launch with, does it fill the GPU" */
    keep_named(things, &count);
  for (size_t i = 0; i < q->count; i++)
    if (count != 1 || nai_word_is_of(one_of_many, q->words[i].text))
      return NAI_OK;
  size_t from = things[0].first, to = things[0].behind; /* "small kernels" */
  while (from && !q->words[from - 1].ignored && !q->words[from - 1].of_gpu &&
         !nai_word_is_of(quantities, q->words[from - 1].text) && !nai_word_is_of(openers, q->words[from - 1].text))
    from--;
  const bool average =
      to + 1 < q->count && strcmp(q->words[to + 1].text, "average") == 0; /* "bytes per copy on average" */
  if (to < q->count && !average && !nai_word_is_of(verbs, q->words[to].text))
    to = q->count;
  for (size_t i = from; i < to; i++)
    nai_buf_printf(&words, q->words[i].quoted ? "%s\"%s\"" : "%s%s", words.len ? " " : "", q->words[i].typed);
  NAI_TRY(nai_buf_check(&words, err));
  *subject = nai_answer_text(asking, &words);
  return NAI_OK;
}

/* "which kernels do they launch" with what "they" are; *out: NULL, it has no pronoun. */
static int replace_pronoun(const char **out, const struct nai_asking *asking, const char *text, const char *subject,
                           struct nai_err *err) {
  NAI_SCOPED(nai_buf) line = {0};
  bool replaced = false;
  for (const char *at = text; *at;) {
    size_t len = strcspn(at, " ,?"), behind = len + strspn(at + len, " ,?");
    const bool each = len == 4 &&
                      (strncasecmp(at, "each take", strlen("each take")) == 0 || /* "how often does each run" */
                       strncasecmp(at, "each run", strlen("each run")) == 0),
               is = !replaced && len && (each || nai_word_place(pronouns, at, len));
    nai_buf_put(&line, is ? subject : at, is ? strlen(subject) : len);
    nai_buf_puts(&line, " ");
    replaced |= is;
    at += behind;
  }
  NAI_TRY(nai_buf_check(&line, err));
  *out = replaced ? nai_answer_text(asking, &line) : NULL;
  return NAI_OK;
}

int nai_clauses_split(struct nai_clauses *out, const struct nai_asking *asking, const char *question, bool answered,
                      struct nai_err *err) {
  enum { ENOUGH = 4, LONG = 6 }; /* "which GPU is this", but "how much memory" is of what was asked before */
  struct nai_thing things[NAI_RELATION_MAX_THINGS];
  struct nai_question *q;
  const char *subject;
  size_t len, count;
  *out = (struct nai_clauses){.asked = find_second(&len, question)};
  if (!out->asked || (answered && !is_second(question, len, out->asked)))
    return NAI_OK;
  const char *first = nai_arena_printf(asking->arena, "%.*s", (int)len, question);
  NAI_TRY(NAI_NEW(q, asking->arena, 1, err));
  nai_question_read(q, asking->intents, first);
  nai_question_take_spelling(q, asking->intents);
  NAI_TRY(find_subject(&subject, &count, asking, q, !answered && says_it(out->asked), err));
  /* "how long is the capture, is it CPU bound" */
  const bool program = !count && (strncasecmp(out->asked, "is it ", 6) == 0 || (!answered && says_it(out->asked)));
  NAI_TRY(replace_pronoun(&out->second, asking, out->asked, subject ? subject : program ? "it" : "", err));
  subject = program ? "it" : subject;
  if (!out->second) {
    nai_question_read(q, asking->intents, out->asked);
    NAI_TRY(nai_things_find(things, &count, asking, q, nai_says_something, err));
    const bool alone = count || (!subject && q->count >= ENOUGH);
    out->may_be_alone =
        q->count >= LONG || strncasecmp(out->asked, "which ", strlen("which ")) == 0; /* "and which GPU" */
    out->second = alone ? out->asked : nai_arena_printf(asking->arena, "%s of %s", out->asked, subject ? subject : "");
    subject = alone ? "" : subject;
  }
  out->first = first;
  out->second = subject ? out->second : NULL;
  return nai_arena_check(asking->arena, err);
}

static bool is_told(const char *text, const char *end) {
  size_t len;
  return *end != '?' && !begins_with(&len, text, openers) && !begins_with(&len, text, asks) &&
         has_word_of(tells, text, end);
}

/* "is that bad", "ok?", "worth fixing", "should i batch". */
static bool asks_verdict(const char *text) {
  enum { MOST_WORDS = 4 };
  static const char fillers[] =
      "is that this it are they these too does do a really any an so thats isnt not or just the "
      "for to me us we should i can could bother fix fixing worry care about here",
                    advice[] = "should can could worth", between[] = " ,?'.!;";
  size_t count = 0, verdicts = 0, others = 0, first;
  const bool advised = begins_with(&first, text, advice);
  for (size_t len; *text; text += len + strspn(text + len, between), count++) {
    len = strcspn(text, between);
    const bool verdict =
        nai_word_place(nai_verdict_words, text, len) || nai_word_place("much big small slow", text, len);
    verdicts += verdict;
    others += !verdict && !nai_word_place(fillers, text, len);
  }
  return count && count <= MOST_WORDS && (advised ? others < 2 : verdicts && !others);
}

bool nai_clauses_ask_verdict(size_t *before, const char *question) {
  static const char *const between[] = {", and ", ", n ", " and ", " - ", ", ", "? ", ". "};
  size_t blanks = 0;
  *before = 0;
  for (const char *at = question; *at && !*before && !strpbrk(question, "\"`"); at++) {
    blanks += *at == ' ';
    for (size_t i = 0; i < sizeof between / sizeof *between && blanks && !*before; i++)
      if (strncasecmp(at, between[i], strlen(between[i])) == 0 && asks_verdict(at + strlen(between[i])))
        *before = (size_t)(at - question);
  }
  return *before || has_word_of(nai_verdict_words, question, question + strlen(question));
}

static const char surprises[] = "if although though even"; /* "why 10 minutes if kernels take 3 s": told, too */

/* "looks hung from 7 to 39 s, what is it waiting for": where to look is asked, too. */
static const char places[] = "from between around near at in after before during since until on";

/* The end of the sentence that begins here: its mark, that of what is told behind a dash, or of what surprises. */
static const char *sentence_end(const char *text) {
  size_t len;
  const bool why = strncasecmp(text, "why", strlen("why")) == 0;
  for (const char *at = text; *at; at++)
    if ((strchr("?.!;", *at) && (at[1] == ' ' || !at[1])) || strncmp(at, " - ", 3) == 0 ||
        (strncmp(at, ", ", 2) == 0 && begins_with(&len, at + 2, openers) && is_told(text, at) &&
         !has_word_of(places, text, at)) ||
        (why && *at == ' ' && begins_with(&len, at + 1, surprises)))
      return at;
  return text + strlen(text);
}

void nai_clauses_find_told(struct nai_told *out, const char *question, struct nai_arena *arena) {
  NAI_SCOPED(nai_buf) rest = {0};
  NAI_SCOPED(nai_buf) dropped = {0};
  size_t len;
  for (const char *at = question, *end; *at; at = end + strspn(end, " -,?.!;")) {
    end = sentence_end(at);
    static const char instead[] = "i mean ";
    if (strncasecmp(at, instead, strlen(instead)) == 0) {
      nai_buf_puts(&dropped, nai_buf_str(&rest));
      nai_buf_clear(&rest);
      at += strlen(instead);
    }
    const bool surprise =
        strncasecmp(nai_buf_str(&rest), "why", strlen("why")) == 0 && begins_with(&len, at, surprises);
    struct nai_buf *into = surprise || is_told(at, end) ? &dropped : &rest;
    nai_buf_printf(into, "%s%.*s", into->len ? "? " : "", (int)(end - at), at);
  }
  const bool both = rest.len && dropped.len && !strpbrk(question, "\"`");
  *out = (struct nai_told){.asked = both ? nai_arena_printf(arena, "%s", nai_buf_str(&rest)) : question,
                           .said = both ? nai_arena_printf(arena, "%s", nai_buf_str(&dropped)) : NULL,
                           .is_meant = both && says_it(nai_buf_str(&rest)) &&
                                       strncasecmp(nai_buf_str(&rest), "how ", strlen("how ")) == 0};
  arena->oom |= rest.oom || dropped.oom;
}
