/* Which known word a misspelt one may be. */
#include "features/ask/internal.h"
#include "features/ask/numbers.h"

/* The number of letters to change, add, drop or swap with the next one, of a word and a pattern whose * ends it: then
 * whatever follows in the word, from *end on, costs nothing. More than `most`: most + 1. */
static size_t distance(size_t *end, const char *word, const char *pattern, size_t len, size_t most) {
  bool open = len && pattern[len - 1] == '*';
  size_t row[3][NAI_QUESTION_WORD + 1], size = strlen(word), best = most + 1;
  len -= open;
  if (!len || len > NAI_QUESTION_WORD)
    return best;
  for (size_t j = 0; j <= len; j++)
    row[0][j] = j;
  for (size_t i = 1; i <= size; i++) {
    size_t *now = row[i % 3], *last = row[(i + 2) % 3], *older = row[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= len; j++) {
      size_t cost = last[j - 1] + (word[i - 1] != pattern[j - 1]);
      cost = last[j] + 1 < cost ? last[j] + 1 : cost;
      cost = now[j - 1] + 1 < cost ? now[j - 1] + 1 : cost;
      if (i > 1 && j > 1 && word[i - 1] == pattern[j - 2] && word[i - 2] == pattern[j - 1] && older[j - 2] + 1 < cost)
        cost = older[j - 2] + 1;
      now[j] = cost;
    }
    if ((open || i == size) && now[len] < best) {
      best = now[len];
      *end = i;
    }
  }
  return best;
}

size_t nai_word_distance(const char *word, const char *other, size_t len, size_t most) {
  size_t end;
  return distance(&end, word, other, len, most);
}

/* Whether two words of one length have the same letters: swapped ones. */
static bool has_same_letters(const char *a, const char *b, size_t len) {
  int count[256] = {0};
  for (size_t i = 0; i < len; i++) {
    count[(unsigned char)a[i]]++;
    count[(unsigned char)b[i]]--;
  }
  for (size_t i = 0; i < len; i++)
    if (count[(unsigned char)a[i]])
      return false;
  return true;
}

/* "served" is no misspelt "server". */
static bool is_inflected(const char *word, const char *pattern, size_t len) {
  size_t same = 0;
  while (same < len && word[same] == pattern[same])
    same++;
  static const char endings[] = "d ed r er or e ing ion";
  return nai_word_is_of(endings, word + same) && nai_word_place(endings, pattern + same, len - same);
}

/* Looks in a word of a pattern for what a word of the question may have meant. Short words that differ by one letter
 * are mostly other words, and so are those that only begin like a short one. */
void nai_question_try_word(struct nai_question_word *w, const char *pattern, size_t len) {
  enum { SHORTEST = 4, SHORT = 5, LONG = 9 };
  bool open = len && pattern[len - 1] == '*';
  size_t letters = len - open, most = letters >= LONG ? 2 : 1, size = strlen(w->text);
  if (letters < SHORTEST || size < SHORTEST || letters >= NAI_QUESTION_WORD || *pattern != *w->text)
    return;
  bool shuffled = size == letters && has_same_letters(w->text, pattern, letters); /* wath */
  size_t end = size;
  size_t d = shuffled ? strncmp(w->text, pattern, letters) != 0
                      : distance(&end, w->text, pattern, letters <= SHORT ? letters : len, most);
  if (d > most || (d && is_inflected(w->text, pattern, letters)) || d >= w->meant_distance ||
      (d && letters <= SHORT && size == letters && !shuffled))
    return;
  w->meant_distance = d;
  snprintf(w->meant, sizeof w->meant, "%.*s%s", d ? (int)letters : 0, pattern,
           d ? w->text + end : ""); /* a word of a phrase is no mistake */
}
