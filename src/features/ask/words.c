/* The words of a question, and what they ask for. */
#include "features/ask/internal.h"
#include "features/ask/numbers.h"

/* A word of a question or of a phrase: letters, digits, and what stands inside names. */
static bool in_word(char c) { return isalnum((unsigned char)c) || (c & 0x80) || c == '_' || c == ':' || c == '.'; }

static void lower(struct nai_question_word *word) {
  for (size_t i = 0; i < sizeof word->text; i++)
    word->text[i] = (char)tolower((unsigned char)word->typed[i]);
}

/* The word that a sign stands for: "idle > 10 %"; NULL, none. */
static const char *sign_of(const char *text, const char *at) {
  bool arrow = at > text && strchr("-=", at[-1]);
  const char *next = at + 1 + strspn(at + 1, "= ");
  if (*at == '%' && !in_word(at[1]))
    return "percent";
  return arrow || !isdigit((unsigned char)*next) ? NULL : *at == '>' ? "above" : *at == '<' ? "below" : NULL;
}

/* Takes the next word off a text; false at its end. */
static bool next_word(struct nai_question_word *word, const char **text) {
  const char *at = *text, *sign = NULL;
  size_t len = 0;
  while (*at && !sign && (!in_word(*at) || *at == '.' || *at == ':')) {
    const bool either = strncmp(at, "(s)", strlen("(s)")) == 0; /* "which one(s)" */
    at += either ? strlen("(s)") : 0;
    sign = either ? NULL : sign_of(*text, at++);
  }
  if (sign) {
    *text = at;
    snprintf(word->typed, sizeof word->typed, "%s", sign);
    lower(word);
    return true;
  }
  while (in_word(at[len]))
    len++;
  *text = at + len;
  while (len && (at[len - 1] == '.' || at[len - 1] == ':')) /* the end of a sentence */
    len--;
  if (!len)
    return *at && next_word(word, text);
  len = len < NAI_QUESTION_WORD ? len : NAI_QUESTION_WORD - 1;
  memcpy(word->typed, at, len);
  word->typed[len] = '\0';
  lower(word);
  return true;
}

/* "blocks.7", "layers.3.mlp" */
static bool is_numbered(const char *word) {
  const char *point = isalpha((unsigned char)*word) ? strchr(word, '.') : NULL;
  return point && isdigit((unsigned char)point[1]);
}

/* Whether a word is what a pattern means; one that ends in * means all that begin so, but "blocks.7" and "flash_bwd"
 * are names. */
static bool is_meant(const char *pattern, size_t len, const char *word) {
  bool open = len && pattern[len - 1] == '*';
  return strncmp(pattern, word, open ? len - 1 : len) == 0 &&
         (open ? !is_numbered(word) && !strpbrk(word + len - 1, "_:") : !word[len]);
}

/* How many words of the question from `at` on are a phrase of `size` bytes; 0: they are not. "$" is its end. */
static size_t phrase_at(const struct nai_question *q, size_t at, const char *phrase, size_t size) {
  const char *end = phrase + size;
  size_t n = 0;
  while (phrase < end) {
    size_t len = strcspn(phrase, " ");
    len = len < (size_t)(end - phrase) ? len : (size_t)(end - phrase);
    bool ends = len == 1 && *phrase == '$';
    if (ends ? at + n != q->count
             : at + n >= q->count || q->words[at + n].names || !is_meant(phrase, len, q->words[at + n].text))
      return 0;
    n += !ends;
    for (phrase += len; phrase < end && *phrase == ' ';)
      phrase++;
  }
  return n;
}

/* Marks where the phrase stands. Returns its words; 0: it is not there. */
static size_t mark_phrase(struct nai_question_marks *marks, const struct nai_question *q, const char *phrase,
                          size_t size) {
  size_t most = 0;
  for (size_t at = 0, len; at < q->count; at++) {
    bool begins =
        *phrase == *q->words[at].text || *phrase == '*' || *phrase == '$'; /* of most the first letter differs */
    for (size_t i = len = begins ? phrase_at(q, at, phrase, size) : 0; i; i--, most = len)
      marks->at[at + i - 1] = true;
  }
  return most;
}

/* A part of a pattern: words in a row, "@term" for any of the phrases of that term, "@times" for two points of time,
 * "@duration" for one, "@limit" for times or sizes that something is above or below, "@named" for what the trace has a
 * name for; "!" in front: must not be there. */
struct part {
  const char *text;
  size_t size;
  bool negated, term;
};

static bool next_part(struct part *part, const char **pattern) {
  const char *at = *pattern, *end = strstr(at, " & ");
  *part = (struct part){.size = end ? (size_t)(end - at) : strlen(at)};
  *pattern = end ? end + strlen(" & ") : at + part->size;
  for (part->text = at; part->size && strchr("!@", *part->text); part->text++, part->size--) {
    part->negated |= *part->text == '!';
    part->term |= *part->text == '@';
  }
  return part->size > 0;
}

static bool is_term(const struct part *part, const char *name) {
  return strlen(name) == part->size && strncmp(name, part->text, part->size) == 0;
}

bool nai_question_mark_phrases(struct nai_question_marks *marks, const struct nai_question *q,
                               const struct nai_yaml *doc, const struct nai_yaml_node *list) {
  bool found = false;
  for (const struct nai_yaml_node *n = list ? nai_yaml_first(doc, list) : NULL; n; n = nai_yaml_next(doc, n))
    found |= mark_phrase(marks, q, n->text, strlen(n->text)) > 0;
  return found;
}

/* Whether a value stands for another one, or for it and more: "Host-to-Device, Device-to-Host". */
static bool is_part(const char *whole, const char *part) {
  const char *at = strstr(whole, part);
  return at && (at == whole || at[-1] == ' ') && strchr(",", at[strlen(part)]);
}

bool nai_question_mark_term(struct nai_question_marks *marks, const struct nai_question *q, const struct nai_yaml *doc,
                            const char *name, bool inner) {
  const struct nai_yaml_node *root = nai_yaml_root(doc), *terms = nai_yaml_get(doc, root, "terms"),
                             *choices = nai_yaml_get(doc, root, "choices"),
                             *key = choices ? nai_yaml_first(doc, choices) : NULL, *value,
                             *item = terms ? nai_intent_items(doc, terms, name) : NULL;
  bool found = false;
  for (; item; item = nai_yaml_next(doc, item))
    found |= *item->text != '@'                ? mark_phrase(marks, q, item->text, strlen(item->text)) > 0
           : strcmp(item->text, "@named") == 0 ? q->named != NULL
                                               : !inner && nai_question_mark_term(marks, q, doc, item->text + 1, true);
  for (; key; key = nai_yaml_next(doc, key))
    for (value = nai_yaml_first(doc, key); value; value = nai_yaml_next(doc, value)) {
      bool any = strcmp(key->key, name) == 0; /* the value that is chosen, no other */
      if ((any && !found) || is_part(name, value->key))
        found |= nai_question_mark_phrases(marks, q, doc, value);
    }
  return found;
}

/* As mark_phrase. A term counts as one word, however long its phrases are. */
static size_t mark_part(struct nai_question_marks *marks, const struct nai_question *q,
                        const struct nai_intents *intents, const struct part *part) {
  enum { OF_TIMES = 4 };
  char name[NAI_QUESTION_WORD];
  bool found = false;
  if (!part->term)
    return mark_phrase(marks, q, part->text, part->size);
  if (is_term(part, "duration"))
    return q->time_count == 1;
  if (is_term(part, "limit"))
    return q->least_ns != INT64_MIN || q->most_ns != INT64_MIN || q->least_bytes != INT64_MIN ||
                   q->most_bytes != INT64_MIN
             ? OF_TIMES
             : 0;
  if (is_term(part, "named"))
    return q->named != NULL;
  if (is_term(part, "times"))
    return q->time_count == 2 ? OF_TIMES : 0;
  snprintf(name, sizeof name, "%.*s", (int)part->size, part->text);
  for (size_t i = 0; i < intents->doc_count; i++)
    found |= nai_question_mark_term(marks, q, intents->docs[i], name, false);
  return found;
}

/* Points of the first word of a pattern: of its own, and one that is used for much else, as is each further one of
 * those; and of each further one. */
enum { STRONG = 2, WEAK = 1, FURTHER = 3 };

/* The points of a pattern, more for one of more words, which says more; 0: the question does not have it. */
static int score_pattern(struct nai_question_marks *covered, const struct nai_question *q,
                         const struct nai_intents *intents, const char *pattern, int first) {
  struct nai_question_marks marks = {0};
  struct part part;
  size_t words = 0;
  while (next_part(&part, &pattern)) {
    struct nai_question_marks unwanted = {0};
    size_t n = mark_part(part.negated ? &unwanted : &marks, q, intents, &part);
    if ((n > 0) == part.negated)
      return 0;
    words += n;
  }
  for (size_t i = 0; words && i < q->count; i++)
    covered->at[i] |= marks.at[i];
  return words ? first + ((int)words - 1) * (first == WEAK ? WEAK : FURTHER) : 0;
}

int nai_question_score(struct nai_question_marks *covered, const struct nai_question *q,
                       const struct nai_intents *intents, const struct nai_intent *intent) {
  enum { MAX_OTHERS = 2 };
  static const struct {
    const char *key;
    int first;
  } lists[] = {{"words", STRONG}, {"weak", WEAK}};
  int best = 0, others = -1;
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    const struct nai_yaml_node *n = nai_intent_items(intent->doc, intent->node, lists[l].key);
    for (; n; n = nai_yaml_next(intent->doc, n)) {
      int score = score_pattern(covered, q, intents, n->text, lists[l].first);
      others += score > 0 && l == 0;
      best = score > best ? score : best;
    }
  }
  return best + (others < 0 ? 0 : others < MAX_OTHERS ? others : MAX_OTHERS);
}

size_t nai_question_match(const struct nai_intent **out, const struct nai_question *q,
                          const struct nai_intents *intents, bool weak) {
  int best[NAI_QUESTION_MAX_MATCHES] = {0};
  size_t count = 0;
  for (size_t i = 0; i < intents->count; i++) {
    struct nai_question_marks covered = {0};
    bool asked = !intents->list[i].replaced && !nai_intent_text(intents->list[i].doc, intents->list[i].node, "names");
    int score = asked ? nai_question_score(&covered, q, intents, &intents->list[i]) : 0;
    size_t at = count;
    while (at && score > best[at - 1])
      at--;
    if (score <= (weak ? 0 : WEAK) || at == NAI_QUESTION_MAX_MATCHES)
      continue;
    count += count < NAI_QUESTION_MAX_MATCHES;
    for (size_t j = count - 1; j > at; j--) {
      best[j] = best[j - 1];
      out[j] = out[j - 1];
    }
    best[at] = score;
    out[at] = &intents->list[i];
  }
  return count;
}

bool nai_question_has_mark(const char *word) {
  return strpbrk(word, "_:") != NULL || (strncmp(word, "cuda", 4) == 0 && word[4]) || is_numbered(word);
}

bool nai_question_is_mixed(const char *word) {
  enum { SHORTEST = 4 };
  return isalpha((unsigned char)*word) && strpbrk(word, "0123456789") && strlen(word) >= SHORTEST;
}

/* --- reading -------------------------------------------------------------------------------------------- */

static struct nai_question_marks marks_of(const struct nai_question *q, const struct nai_intents *intents,
                                          const struct nai_yaml *doc, const struct nai_yaml_node *n) {
  struct nai_question_marks marks = {0};
  struct part part;
  for (; n; n = nai_yaml_next(doc, n))
    for (const char *pattern = n->text; next_part(&part, &pattern);)
      if (!part.term)
        mark_part(&marks, q, intents, &part);
  return marks;
}

static void mark_list(struct nai_question *q, const struct nai_intents *intents, const struct nai_yaml *doc,
                      const struct nai_yaml_node *n) {
  struct nai_question_marks marks = marks_of(q, intents, doc, n);
  for (size_t i = 0; i < q->count; i++)
    q->words[i].known |= marks.at[i];
}

/* "39ms", in one word. */
static bool is_measured(const char *word) {
  const size_t digits = strspn(word, "0123456789.");
  return digits && nai_number_is_unit(word + digits);
}

/* "why does it take 37 seconds when the GPU does nothing a quarter of the time": numbers and the word that binds what
 * is told of them tell what was seen, not what is asked. */
static void ignore_what_is_told(struct nai_question *q) {
  bool told = false, where = false; /* "where do the 3 seconds go" */
  for (size_t i = 0; i < q->count; where |= strcmp(q->words[i++].text, "where") == 0)
    told |= nai_word_is_of("why wtf", q->words[i].text) || (where && strcmp(q->words[i].text, "go") == 0) ||
            (i && strcmp(q->words[i].text, "on") == 0 && nai_word_is_of("going waiting", q->words[i - 1].text));
  for (size_t i = 1; i < q->count && told; i++) {
    const char *word = q->words[i].text, *before = q->words[i - 1].text;
    /* "why does it take more than a second": no limit of what is asked */
    if (nai_word_is_of("take takes took need needs last lasts", before) && i + 2 < q->count &&
        nai_word_is_of("more longer over", word) && strcmp(q->words[i + 1].text, "than") == 0) {
      q->words[i].ignored = q->words[i].known = q->words[i + 1].ignored = q->words[i + 1].known = true;
      q->least_ns = q->most_ns = INT64_MIN;
    }
    const bool part = nai_word_is_of("quarter third half", word) && i + 1 < q->count &&
                      nai_word_is_of("of the a an", q->words[i + 1].text);
    const bool one = nai_word_is_of("second minute", word) && nai_word_is_of("a one", before);
    if (part || one || is_measured(word) || nai_word_is_of("when though although despite", word))
      q->words[i].ignored = q->words[i].known = true;
  }
  for (size_t i = 0; i < q->count && told && q->least_ns == INT64_MIN && q->most_ns == INT64_MIN && q->time_count < 2;
       i++)
    if (isdigit((unsigned char)q->words[i].text[0]) && i + 1 < q->count && nai_number_is_unit(q->words[i + 1].text)) {
      q->words[i].ignored = q->words[i + 1].ignored = true;
      q->words[i].known = q->words[i + 1].known = true;
    }
}

/* "the 7 GPUs", "we have 4 gpus", "which GPU out of the 4", "the 18 streams": the number tells how many there are. */
static void ignore_counts(struct nai_question *q) {
  bool gpu = false;
  for (size_t i = 0; i < q->count; i++) {
    const bool before =
        i + 1 < q->count &&
        nai_word_is_of("gpus devices cards rtx a100 h100 a100s h100s v100 t4 streams ranks processes threads",
                       q->words[i + 1].text);
    const bool out_of = gpu && i > 2 && nai_word_is_of("the", q->words[i - 1].text) &&
                        nai_word_is_of("of", q->words[i - 2].text) && nai_word_is_of("out", q->words[i - 3].text);
    const bool told =
        out_of ||
        (before && (!i || nai_word_is_of("the other all my our of both are have has got", q->words[i - 1].text)));
    if (told && strspn(q->words[i].text, "0123456789") == strlen(q->words[i].text))
      q->words[i].ignored = q->words[i].known = true;
    gpu |= nai_word_is_of("gpu gpus", q->words[i].text);
  }
}

/* Words that cannot change what is asked. */
static void mark_ignored(struct nai_question *q, const struct nai_intents *intents) {
  ignore_what_is_told(q);
  ignore_counts(q);
  for (size_t d = 0; d < intents->doc_count; d++) {
    const struct nai_yaml *doc = intents->docs[d];
    struct nai_question_marks ignored = marks_of(q, intents, doc, nai_intent_items(doc, nai_yaml_root(doc), "ignore"));
    for (size_t i = 0; i < q->count; i++)
      q->words[i].ignored |= ignored.at[i];
  }
}

bool nai_question_is_left(const struct nai_question_word *w) {
  bool says = w->known ? !w->ignored : isdigit((unsigned char)*w->text);
  return says && !w->answered && !w->quoted && !w->names && !w->of_gpu;
}

/* Calls something with each list of words: those of intents, of terms, those to ignore and those that qualify. */
static void each_list(struct nai_question *q, const struct nai_intents *intents,
                      void (*visit)(struct nai_question *, const struct nai_intents *, const struct nai_yaml *,
                                    const struct nai_yaml_node *)) {
  for (size_t i = 0; i < intents->count; i++) {
    const struct nai_intent *intent = &intents->list[i];
    visit(q, intents, intent->doc, nai_intent_items(intent->doc, intent->node, "words"));
    visit(q, intents, intent->doc, nai_intent_items(intent->doc, intent->node, "weak"));
    visit(q, intents, intent->doc, nai_intent_items(intent->doc, intent->node, "takes"));
  }
  for (size_t i = 0; i < intents->doc_count; i++) {
    const struct nai_yaml *doc = intents->docs[i];
    const struct nai_yaml_node *root = nai_yaml_root(doc), *term = nai_intent_items(doc, root, "terms"),
                               *choice = nai_intent_items(doc, root, "choices"), *value;
    visit(q, intents, doc, nai_intent_items(doc, root, "ignore"));
    visit(q, intents, doc, nai_intent_items(doc, root, "qualifiers"));
    for (; term; term = nai_yaml_next(doc, term))
      visit(q, intents, doc, nai_yaml_first(doc, term));
    for (; choice; choice = nai_yaml_next(doc, choice))
      for (value = nai_yaml_first(doc, choice); value; value = nai_yaml_next(doc, value))
        visit(q, intents, doc, nai_yaml_first(doc, value));
  }
}

/* The letters and digits of a question, for names that are written in several ways: all-reduce, AllReduce. */
static void squeeze(struct nai_question *q) {
  size_t n = 0;
  for (size_t i = 0; i < q->count; i++)
    for (const char *c = q->words[i].text; *c && n < NAI_QUESTION_SQUEEZED - 1; c++)
      if (isalnum((unsigned char)*c))
        q->squeezed[n++] = *c;
  q->squeezed[n] = '\0';
}

/* Whether the question has a word of a value, or of each of those that it consists of. */
static bool has_value(const struct nai_question *q, const struct nai_yaml *doc, const struct nai_yaml_node *choice,
                      const struct nai_yaml_node *value) {
  struct nai_question_marks marks = {0};
  size_t parts = 0, found = 0;
  for (const struct nai_yaml_node *of = nai_yaml_first(doc, choice); of; of = nai_yaml_next(doc, of))
    if (of != value && !strchr(of->key, ',') && is_part(value->key, of->key)) {
      parts++;
      found += nai_question_mark_phrases(&marks, q, doc, of);
    }
  return nai_question_mark_phrases(&marks, q, doc, value) || (parts > 1 && found == parts);
}

/* What the question chooses; a file of the user's comes first. */
void nai_question_choose_values(struct nai_question *q, const struct nai_intents *intents) {
  q->choice_count = 0;
  for (size_t d = 0; d < intents->doc_count; d++) {
    const struct nai_yaml *doc = intents->docs[d];
    const struct nai_yaml_node *key = nai_intent_items(doc, nai_yaml_root(doc), "choices"), *value;
    for (; key; key = nai_yaml_next(doc, key)) { /* as many as q->choices holds, checked on loading */
      for (value = nai_yaml_first(doc, key); value && !has_value(q, doc, key, value);)
        value = nai_yaml_next(doc, value);
      q->choices[q->choice_count++] = (struct nai_question_choice){key->key, value ? value->key : NULL};
    }
  }
}

/* "mem" is short for memory. */
static void take_abbreviation(struct nai_question_word *word, const struct nai_intents *intents) {
  for (size_t d = 0; d < intents->doc_count; d++) {
    const struct nai_yaml *doc = intents->docs[d];
    const struct nai_yaml_node *map = nai_yaml_get(doc, nai_yaml_root(doc), "abbreviations");
    const char *whole = map ? nai_intent_text(doc, map, word->text) : NULL;
    if (whole) {
      snprintf(word->text, sizeof word->text, "%s", whole);
      return;
    }
  }
}

/* "the first two seconds" in digits. */
static void put_digits(char out[NAI_QUESTION_MAX_BYTES], const char *text) {
  static const char numbers[] = "two three four five six seven eight nine ten";
  size_t at = 0;
  for (size_t len; *text && at < NAI_QUESTION_MAX_BYTES - 4; text += len) {
    char unit[NAI_QUESTION_WORD];
    for (len = 0; isalpha((unsigned char)text[len]);)
      len++;
    const size_t number = len && text[len] == ' ' ? nai_word_place(numbers, text, len) : 0;
    snprintf(unit, sizeof unit, "%.*s", (int)strcspn(text + len + (number > 0), " ,.?"), text + len + (number > 0));
    if (number && nai_number_is_unit(unit)) {
      at += (size_t)snprintf(out + at, NAI_QUESTION_MAX_BYTES - at, "%zu", number + 1);
      continue;
    }
    len += !len;
    const size_t kept = len < NAI_QUESTION_MAX_BYTES - 1 - at ? len : NAI_QUESTION_MAX_BYTES - 1 - at;
    memcpy(out + at, text, kept);
    at += kept;
  }
  out[at] = '\0';
}

void nai_question_read(struct nai_question *q, const struct nai_intents *intents, const char *asked) {
  bool quoted = false;
  char digits[NAI_QUESTION_MAX_BYTES];
  const char *text = digits;
  put_digits(digits, asked);
  const char *from = text, *question = text;
  *q = (struct nai_question){0};
  for (size_t i = 0; text[i] && i < sizeof q->text - 1; i++)
    q->text[i] = (char)tolower((unsigned char)text[i]);
  while (q->count < NAI_QUESTION_MAX_WORDS && next_word(&q->words[q->count], &text)) {
    for (; from < text; from++)
      quoted ^= *from == '"' || *from == '`';
    if (!(q->words[q->count].quoted = quoted))
      take_abbreviation(&q->words[q->count], intents);
    q->count++;
  }
  for (size_t i = 1; i + 1 < q->count; i++)
    q->either |= strcmp(q->words[i].text, "or") == 0 && strcmp(q->words[i + 1].text, "not") != 0;
  nai_question_read_gpus(q);
  nai_question_read_numbers(q, question);
  squeeze(q);
  each_list(q, intents, mark_list);
  nai_question_choose_values(q, intents);
}

/* --- spelling --------------------------------------------------------------------------------------------- */

static void spell_list(struct nai_question *q, const struct nai_intents *intents, const struct nai_yaml *doc,
                       const struct nai_yaml_node *n) {
  struct part part;
  (void)intents;
  for (; n; n = nai_yaml_next(doc, n))
    for (const char *pattern = n->text; next_part(&part, &pattern);)
      for (size_t at = 0, len; !part.term && at < part.size; at += len + 1) {
        len = strcspn(part.text + at, " ");
        len = len < part.size - at ? len : part.size - at;
        for (size_t i = 0; i < q->count; i++)
          if (nai_question_is_strange(&q->words[i]))
            nai_question_try_word(&q->words[i], part.text + at, len);
      }
}

void nai_question_spell(struct nai_question *q, const struct nai_intents *intents) {
  for (size_t i = 0; i < q->count; i++)
    q->words[i].meant_distance = SIZE_MAX;
  each_list(q, intents, spell_list);
}

void nai_question_take_spelling(struct nai_question *q, const struct nai_intents *intents) {
  for (size_t i = 0; i < q->count; i++)
    if (q->words[i].meant[0])
      memcpy(q->words[i].text, q->words[i].meant, sizeof q->words[i].text);
  each_list(q, intents, mark_list);
  for (size_t i = 0; i < q->count; i++) /* only in a phrase that the question does not have */
    if (q->words[i].meant[0] && !q->words[i].known)
      q->words[i].meant[0] = '\0', lower(&q->words[i]);
  squeeze(q);
  mark_ignored(q, intents);
  nai_question_choose_values(q, intents);
}

bool nai_question_is_strange(const struct nai_question_word *w) {
  enum { SHORTEST = 3 };
  return !w->known && !w->answered && !w->names && !w->quoted && !nai_question_has_mark(w->text) &&
         strlen(w->text) >= SHORTEST && !strpbrk(w->text, "0123456789.");
}
