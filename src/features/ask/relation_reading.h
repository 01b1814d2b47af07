/* What the words of a question say, for which relation it asks for. Internal to src/features/ask. */
#pragma once

#include "features/ask/relation.h"

/* What a word says. */
enum nai_says {
  SAYS_AVERAGE,
  SAYS_MEDIAN,
  SAYS_P90,
  SAYS_P95,
  SAYS_P99,
  SAYS_SHORTEST,
  SAYS_LONGEST,
  SAYS_SPREAD,
  SAYS_TOTAL,
  SAYS_COUNT,
  SAYS_TIME,
  SAYS_BYTES,
  SAYS_RATE,
  SAYS_SHARE,
  SAYS_RATIO,
  SAYS_OR,
  SAYS_AND,
  SAYS_SLOWER,
  SAYS_FASTER,
  SAYS_MORE,
  SAYS_FEWER,
  SAYS_PER,
  SAYS_FROM,
  SAYS_AFTER,
  SAYS_ADJACENT, /* "right after", "directly before" */
  SAYS_END,
  SAYS_BEGIN,
  SAYS_FIRST,
  SAYS_NTH,
  SAYS_LAST,
  SAYS_NEXT,
  SAYS_REST,
  SAYS_OVER,
  SAYS_OUTLIER,
  SAYS_WITHOUT,
  SAYS_WHICH,
  SAYS_GAP,
  SAYS_CONSECUTIVE,
  SAYS_BALANCED,
  SAYS_LATENCY,
  SAYS_GPU,
  SAYS_PROCESS,
  SAYS_STREAM,
  SAYS_THREAD,
  SAYS_BUSY,
  SAYS_WHILE,
  SAYS_COVERED,
  SAYS_WHY,
  SAYS_HOST,
  SAYS_ALWAYS,
  SAYS_LAUNCH,    /* of what is named: "the first X launch" */
  SAYS_ON_GPU,    /* "on the GPU" */
  SAYS_SOMEWHERE, /* "in the main thread": where, which is not looked for */
  SAYS_NOTHING,   /* beside words to ignore */
  SAYS
};

/* What is said at each word, and anywhere. */
struct nai_reading {
  const struct nai_question *q;
  bool says[SAYS];
  bool at[NAI_QUESTION_MAX_WORDS][SAYS];
  bool of_thing[NAI_QUESTION_MAX_WORDS];
};

/* relation_words.c: whether a word says how things are related, or what of them is asked. */
bool nai_says_something(const char *word);
/* "second", "2nd": 2; 0: no such number. And the word for it, "last" for -1. */
int nai_ordinal_of(const char *word);
void nai_put_ordinal(struct nai_buf *out, int number);
/* Whether "after" or "before" at word i means the next one. */
bool nai_is_adjacent(const struct nai_question *question, size_t i);
/* Reads all words but those of the things. False: one is not understood. */
bool nai_take_words(struct nai_relation *out, struct nai_reading *reading);
/* Whether something is said by a word from `first` on, before `behind`. */
bool nai_is_said(const struct nai_reading *reading, enum nai_says says, size_t first, size_t behind);
/* Whether things are compared: slower, faster, more, fewer. */
bool nai_says_compared(const struct nai_reading *reading);
/* Whether a share is asked for: "how much of", and not "how much time" or "the compute part". */
bool nai_says_share(const struct nai_reading *reading);

/* relation_meant.c: whether a relation takes up all that is said, and its answer would be about what is asked. */
bool nai_relation_is_meant(const struct nai_relation *relation, const struct nai_reading *reading);
