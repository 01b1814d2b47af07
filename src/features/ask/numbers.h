/* Numbers with units in prose. */
#pragma once

#include "base/std.h"

enum nai_number_kind { NAI_NUMBER_PLAIN, NAI_NUMBER_TIME, NAI_NUMBER_BYTES, NAI_NUMBER_PERCENT, NAI_NUMBER_RATE };

struct nai_number {
  enum nai_number_kind kind;
  double value, slack; /* ns, bytes, percent, bytes per second; half of the last digit that is written */
  const char *text;    /* where it stands */
  size_t len;
};
/* The place of a word in a list of words with a space between them, from 1; letters in either case. 0: none. */
size_t nai_word_place(const char *list, const char *word, size_t len);
static inline bool nai_word_is_of(const char *list, const char *word) {
  return nai_word_place(list, word, strlen(word)) > 0;
}
/* Whether a word is a unit of time, bytes or percent. */
bool nai_number_is_unit(const char *word);
/* The next number of a text from *at on, which is moved behind it; false: there is none. Digits in names (fp16, H100)
 * are none. */
bool nai_number_next(struct nai_number *out, const char *text, const char **at, const char *end);
/* Whether one may stand for the other. */
bool nai_number_same(const struct nai_number *a, const struct nai_number *b);
