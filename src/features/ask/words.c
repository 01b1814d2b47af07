/* The words of a question, and what they ask for. */
#include "features/ask/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A word of a question or of a phrase: letters, digits, and what stands inside names. */
static bool in_word(char c) { return isalnum((unsigned char)c) || (c & 0x80) || c == '_' || c == ':' || c == '.'; }

/* Takes the next word off a text; false at its end. */
static bool next_word(struct nai_question_word *word, const char **text) {
  const char *at = *text;
  size_t len = 0;
  while (*at && !in_word(*at))
    at++;
  while (in_word(at[len]))
    len++;
  *text = at + len;
  while (len && (at[len - 1] == '.' || at[len - 1] == ':')) /* the end of a sentence */
    len--;
  if (!len)
    return *at && next_word(word, text);
  len = len < NAI_QUESTION_WORD ? len : NAI_QUESTION_WORD - 1;
  for (size_t i = 0; i < len; i++)
    word->text[i] = (char)tolower((unsigned char)at[i]);
  memcpy(word->typed, at, len);
  word->text[len] = word->typed[len] = '\0';
  return true;
}

/* Whether a word is what a pattern means; one that ends in * means all that begin so. */
static bool is_meant(const char *pattern, size_t len, const char *word) {
  bool open = len && pattern[len - 1] == '*';
  return strncmp(pattern, word, open ? len - 1 : len) == 0 && (open || !word[len]);
}

/* How many words of the question from `at` on are the phrase; 0: they are not. */
static size_t phrase_at(const struct nai_question *q, size_t at, const char *phrase) {
  size_t n = 0;
  while (*phrase) {
    size_t len = strcspn(phrase, " ");
    if (at + n >= q->count || !is_meant(phrase, len, q->words[at + n].text))
      return 0;
    n++;
    phrase += len + strspn(phrase + len, " ");
  }
  return n;
}

/* The points of a list of phrases: more for longer ones, which say more. */
static int score_list(const struct nai_question *q, const struct nai_intent *intent, const char *key, int each) {
  const struct nai_yaml_node *n = nai_intent_items(intent->doc, intent->node, key);
  int score = 0;
  for (; n; n = nai_yaml_next(intent->doc, n))
    for (size_t at = 0, len; at < q->count; at++)
      if ((len = phrase_at(q, at, n->text))) {
        score += each + ((int)len - 1) * 3;
        break;
      }
  return score;
}

/* Points of a word: of its own, and one that is used for much else. */
enum { STRONG = 2, WEAK = 1 };

static int score_of(const struct nai_question *q, const struct nai_intent *intent) {
  return score_list(q, intent, "words", STRONG) + score_list(q, intent, "weak", WEAK);
}

size_t nai_question_match(const struct nai_intent **out, const struct nai_question *q,
                          const struct nai_intents *intents, bool weak) {
  int best[NAI_QUESTION_MAX_INTENTS] = {0};
  size_t count = 0;
  for (size_t i = 0; i < intents->count; i++) {
    int score = intents->list[i].replaced ? 0 : score_of(q, &intents->list[i]);
    size_t at = count;
    while (at && score > best[at - 1])
      at--;
    if (score <= (weak ? 0 : WEAK) || at == NAI_QUESTION_MAX_INTENTS)
      continue;
    count += count < NAI_QUESTION_MAX_INTENTS;
    for (size_t j = count - 1; j > at; j--) {
      best[j] = best[j - 1];
      out[j] = out[j - 1];
    }
    best[at] = score;
    out[at] = &intents->list[i];
  }
  while (count > 1 && best[count - 1] * 3 < best[0] * 2) /* far behind: a word that happened to be there */
    count--;
  return count;
}

/* --- reading -------------------------------------------------------------------------------------------- */

static void mark_list(struct nai_question *q, const struct nai_yaml *doc, const struct nai_yaml_node *n) {
  for (; n; n = nai_yaml_next(doc, n))
    for (size_t at = 0; at < q->count; at++)
      for (size_t len = phrase_at(q, at, n->text); len; len--)
        q->words[at + len - 1].known = true;
}

static void mark_known(struct nai_question *q, const struct nai_intents *intents) {
  for (size_t i = 0; i < intents->count; i++) {
    const struct nai_intent *intent = &intents->list[i];
    mark_list(q, intent->doc, nai_intent_items(intent->doc, intent->node, "words"));
    mark_list(q, intent->doc, nai_intent_items(intent->doc, intent->node, "weak"));
  }
  for (size_t i = 0; i < intents->doc_count; i++)
    mark_list(q, intents->docs[i], nai_intent_items(intents->docs[i], nai_yaml_root(intents->docs[i]), "ignore"));
}

static bool is_number(const char *word) {
  return *word && strlen(word) < 6 && strspn(word, "0123456789") == strlen(word);
}

/* Whether another number follows the one at i: "0 and 1", "0 vs 1". */
static bool goes_on(const struct nai_question *q, size_t i) {
  static const char *const links[] = {"and", "or", "vs", "versus", "with", "to", "than"};
  bool linked = false;
  for (size_t l = 0; i + 2 < q->count && l < sizeof links / sizeof *links; l++)
    linked |= strcmp(q->words[i + 1].text, links[l]) == 0;
  return linked && is_number(q->words[i + 2].text);
}

/* "gpu 1", "device 1", "gpu1"; none where the question names several. */
static int64_t gpu_named(const struct nai_question *q) {
  int64_t named = INT64_MIN;
  for (size_t i = 0; i < q->count; i++) {
    const char *word = q->words[i].text, *digits = NULL;
    if (strcmp(word, "gpu") == 0 || strcmp(word, "device") == 0)
      digits = i + 1 < q->count ? q->words[i + 1].text : NULL;
    else if (strncmp(word, "gpu", 3) == 0)
      digits = word + 3;
    if (!digits || !is_number(digits))
      continue;
    int64_t gpu = strtoll(digits, NULL, 10);
    if ((named != INT64_MIN && named != gpu) || goes_on(q, digits == word + 3 ? i : i + 1))
      return INT64_MIN;
    named = gpu;
  }
  return named;
}

void nai_question_read(struct nai_question *q, const struct nai_intents *intents, const char *text) {
  bool quoted = false;
  const char *from = text;
  *q = (struct nai_question){0};
  while (q->count < NAI_QUESTION_MAX_WORDS && next_word(&q->words[q->count], &text)) {
    for (; from < text; from++)
      quoted ^= *from == '"' || *from == '`';
    q->words[q->count++].quoted = quoted;
  }
  q->gpu = gpu_named(q);
  mark_known(q, intents);
}

/* What only names have: aten::copy_, cudaMalloc. */
static bool has_mark(const char *word) {
  return strpbrk(word, "_:") != NULL || (strncmp(word, "cuda", 4) == 0 && word[4]);
}

bool nai_question_is_name(const struct nai_question_word *word) {
  return word->quoted || (has_mark(word->text) && !word->known);
}

static bool may_name(const struct nai_question_word *w, bool plain) {
  enum { SHORTEST = 4 };
  return w->quoted || has_mark(w->text) ||
         (plain && !w->known && strlen(w->text) >= SHORTEST && w->text[strspn(w->text, "0123456789.")]);
}

static bool before(const struct nai_question_word *a, const struct nai_question_word *b) {
  bool first = a->quoted || has_mark(a->text), second = b->quoted || has_mark(b->text);
  return first != second ? first : strlen(a->text) > strlen(b->text);
}

size_t nai_question_names(const char **out, const struct nai_question *q, bool plain) {
  const struct nai_question_word *sorted[NAI_QUESTION_MAX_WORDS];
  size_t count = 0, at;
  for (size_t i = 0; i < q->count; i++) {
    if (!may_name(&q->words[i], plain))
      continue;
    for (at = count++; at && before(&q->words[i], sorted[at - 1]); at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = &q->words[i];
  }
  count = count < NAI_QUESTION_MAX_NAMES ? count : NAI_QUESTION_MAX_NAMES;
  for (size_t i = 0; i < count; i++)
    out[i] = sorted[i]->text;
  return count;
}
