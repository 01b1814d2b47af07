/* Which words of a question an answer leaves out: none that takes them up, and its first sentence does not show what
 * they ask for. And how that is said. */
#include "features/ask/numbers.h"
#include "features/ask/relation.h"

#include "base/fmt.h"

/* Whether a name has a word: "3090" of "nvidia geforce rtx 3090". */
bool nai_word_stands_in(const char *name, const char *word, size_t len) {
  for (const char *at = name; *at; at++)
    if (strncmp(at, word, len) == 0 && (at == name || !isalnum((unsigned char)at[-1])) &&
        !isalnum((unsigned char)at[len]))
      return true;
  return false;
}

bool nai_asking_names(const struct nai_asking *asking, const char *word) {
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
    if (is(&q->words[i]) && !nai_asking_names(asking, q->words[i].text))
      nai_buf_printf(out, "%s\"%s\"", count++ ? ", " : "", q->words[i].typed);
  return count;
}

/* A word that is neither known nor the name that the answer is about: "all2all" and "aten::x", too. */
bool nai_question_is_unknown(const struct nai_question_word *w) {
  bool name = (nai_question_is_mixed(w->text) || nai_question_has_mark(w->text)) && !w->of_gpu && !w->known &&
              !w->answered && !w->names && !w->quoted;
  return nai_question_is_strange(w) || name;
}

static bool is_out(const struct nai_question_word *word) {
  return nai_question_is_unknown(word) || nai_question_is_left(word);
}

/* Whether the number that comes first is a share. */
static bool begins_with_share(const char *answer) {
  const char *number = answer + strcspn(answer, "0123456789");
  return strncmp(number + strspn(number, "0123456789.,"), " %", strlen(" %")) == 0;
}

/* "1950": whether an answer has the number, "1,950". */
static bool has_count(const char *answer, const char *digits) {
  NAI_SCOPED(nai_buf) count = {0};
  if (!*digits || strlen(digits) > 9 || digits[strspn(digits, "0123456789")])
    return false;
  nai_fmt_count(&count, atoll(digits));
  return !count.oom && nai_word_stands_in(answer, nai_buf_str(&count), count.len);
}

/* "28ms": whether an answer has the quantity, "28.1 ms". */
static bool has_quantity(const char *answer, const char *word) {
  struct nai_number asked, said;
  const char *at = word, *end = answer + strlen(answer);
  if (!nai_number_next(&asked, word, &at, word + strlen(word)) || asked.kind == NAI_NUMBER_PLAIN || *at)
    return false;
  for (at = answer; nai_number_next(&said, answer, &at, end);)
    if (nai_number_same(&asked, &said))
      return true;
  return false;
}

/* A word itself, or one that is the same without its plural. Those that relate two things are about other ones there.
 */
static bool has_word(const char *answer, const char *word) {
  if (nai_word_is_of("after before during while without", word))
    return false;
  const size_t len = strlen(word), stem = len > 4 && word[len - 1] == 's' ? len - (word[len - 2] == 'e' ? 2 : 1) : len;
  return len > 2 && isalpha((unsigned char)*word) &&
         (nai_word_stands_in(answer, word, len) || nai_word_stands_in(answer, word, stem));
}

/* Whether the first sentence of an answer shows what a word asks for, though nothing takes the word up. */
static bool is_shown(const struct nai_asking *asking, const char *answer, const char *word) {
  static const struct {
    const char *words, *by;
  } shown[] = {{"direction directions", "-to-"}, {"vs versus", " against "},
               {"average avg mean", "average"},  {"median", "median"},
               {"total altogether", "total"},    {"longest slowest", "longest"},
               {"speedup factor", " times"},     {"long", "total"},
               {"tiny small", " below "},        {"many often", " instance"}};
  if (asking->judged && nai_word_is_of(nai_verdict_words, word)) /* findings will say */
    return true;
  if (nai_word_is_of("more longer bigger slower faster much many than x", word) && strstr(answer, " times"))
    return true;
  if (nai_word_is_of("more longer bigger larger", word) && strstr(answer, " against "))
    return true;
  if (has_word(answer, word))
    return true;
  if (nai_word_is_of("percent percents percentage share fraction proportion", word))
    return begins_with_share(answer) || strstr(answer, " %)");
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
    if (nai_word_is_of(shown[i].words, word))
      return strstr(answer, shown[i].by) != NULL;
  const char *at = strcmp(word, "when") == 0 ? strstr(answer, "at ") : NULL;
  while (at && !isdigit((unsigned char)at[strlen("at ")]))
    at = strstr(at + 1, "at ");
  return at || has_count(answer, word) || has_quantity(answer, word);
}

/* Marks words that nothing takes up. */
void nai_left_out_find(struct nai_question_marks *out, const struct nai_asking *asking) {
  const struct nai_question *q = asking->question;
  *out = (struct nai_question_marks){0};
  for (size_t i = 0; i < q->count; i++)
    out->at[i] = is_out(&q->words[i]) && !nai_asking_names(asking, q->words[i].text);
}

/* Puts in quotes those that an answer, which begins with sentence `first`, does not show either; later sentences may
 * have the word itself. */
static size_t put_left_out(struct nai_buf *words, const struct nai_asking *asking,
                           const struct nai_question_marks *left, size_t first) {
  const struct nai_sentences *said = &asking->answer->said;
  const char *answer = first < said->count ? said->items[first].text : "";
  size_t count = 0;
  for (size_t i = 0; i < asking->question->count; i++) {
    const struct nai_question_word *word = &asking->question->words[i];
    bool shown = is_shown(asking, answer, word->text);
    for (size_t k = first; k < said->count; k++)
      shown |= has_word(said->items[k].text, word->text);
    if (left->at[i] && !shown)
      nai_buf_printf(words, "%s\"%s\"", count++ ? ", " : "", word->typed);
  }
  return count;
}

/* Says which words an answer leaves out, in front of it; false: none. */
bool nai_left_out_say(const struct nai_asking *asking, const struct nai_question_marks *left, size_t first) {
  struct nai_sentences *said = &asking->answer->said;
  const size_t behind = said->count;
  NAI_SCOPED(nai_buf) words = {0};
  if (!put_left_out(&words, asking, left, first))
    return false;
  nai_answer_say(
      asking, said, NULL,
      nai_arena_printf(asking->arena,
                       "No answer accounts for %s: what follows leaves that out, and may be of more than was "
                       "asked.",
                       nai_buf_str(&words)));
  if (said->count > behind) {
    const struct nai_sentence last = said->items[behind];
    memmove(&said->items[first + 1], &said->items[first], (behind - first) * sizeof last);
    said->items[first] = last;
  }
  nai_answer_say(asking, &asking->answer->limits, NULL,
                 nai_arena_printf(asking->arena, "What is asked with %s: the facts leave that out.",
                                  nai_buf_str(&words)));
  asking->arena->oom |= words.oom;
  return true;
}

/* Says which words no answer takes up; `matched`: some word says what the question is about. */
void nai_left_out_say_all(const struct nai_asking *asking, bool matched) {
  static const struct {
    const char *begin;
    bool (*is)(const struct nai_question_word *);
  } kinds[] = {{"Not understood: ", nai_question_is_unknown}, {"No answer accounts for ", nai_question_is_left}};
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
void nai_left_out_say_examples(const struct nai_asking *asking) {
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

/* "when and how long": whether an answer shows all that a question of nothing but such words asks. */
bool nai_answer_shows_all(const struct nai_asking *asking, const char *answer, const char *asked) {
  static const char fillers[] = "n and how is was it that did does take takes took one what whats which who spends "
                                "spend cost costs uses start starts begin begins happen in here",
                    between[] = " ,?'.!";
  size_t shown = 0;
  for (size_t len; *asked; asked += len + strspn(asked + len, between)) {
    char word[NAI_QUESTION_WORD];
    len = strcspn(asked, between);
    snprintf(word, sizeof word, "%.*s", (int)len, asked);
    for (char *c = word; *c; c++)
      *c = (char)tolower((unsigned char)*c);
    const bool is = is_shown(asking, answer, word);
    if (!is && !nai_word_is_of(fillers, word))
      return false;
    shown += is;
  }
  return shown > 0;
}

size_t nai_left_out_count(const struct nai_asking *asking) {
  NAI_SCOPED(nai_buf) left = {0};
  return put_words(&left, asking, nai_question_is_unknown) + put_words(&left, asking, nai_question_is_left);
}
