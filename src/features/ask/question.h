/* Questions in plain words (docs/asking.md): words and phrases of rules/intents.yaml say which rules and which rows of
 * which tables answer one. Every sentence of an answer is made of facts, each a row of a table of the run; nothing is
 * guessed, and the same question about the same run has the same answer. */
#pragma once

#include "base/arena.h"
#include "config/yaml.h"
#include "query/query.h"

enum { NAI_QUESTION_MAX_BYTES = 2000, NAI_QUESTION_MAX_FACTS = 8 };
enum { NAI_FACT_MAX_VALUES = 24, NAI_QUESTION_MAX_LINES = 16 };

/* What can be asked: the built-in file and the user's. */
struct nai_intents;
/* Files of the user come first: their intents win ties, and replace built-in ones of the same name. NAI_EUSAGE with
 * file:line:column. */
NAI_MUST_CHECK int nai_intents_load(struct nai_intents **out, const char *const *paths, size_t count,
                                    struct nai_err *err);
void nai_intents_free(struct nai_intents *intents);
NAI_OWNER(nai_intents)

struct nai_fact_value {
  const char *column;
  enum nai_unit unit; /* NAI_UNIT_COUNT: unknown */
  struct nai_value value;
};
/* One row of a table, as a sentence. F1 is the first. */
struct nai_fact {
  const char *table, *text;
  int64_t row;
  bool timed; /* the stretch of time it is about, ns since session start */
  int64_t start_ns, end_ns;
  struct nai_fact_value values[NAI_FACT_MAX_VALUES];
  size_t value_count;
};
/* A sentence of an answer. */
struct nai_sentence {
  const char *text;
  int fact; /* that says so, from 0; -1: none */
};
struct nai_sentences {
  struct nai_sentence items[NAI_QUESTION_MAX_LINES];
  size_t count;
};

/* An answer. Texts are plain but for names from the trace: escape them for where they go. */
struct nai_answer {
  const char *intent; /* what is answered, borrowed from the intents; NULL: nothing takes up the question */
  struct nai_fact facts[NAI_QUESTION_MAX_FACTS];
  size_t fact_count;
  struct nai_sentences said, limits, next; /* the answer; what the run cannot tell; commands to go on with */
  const char *advice;                      /* of the first finding, Markdown; or NULL */
  bool repeats;                            /* something that is said was said before */
};
/* Answers; texts are the arena's. `source` is what commands in `next` name: the run or trace, as it was typed.
 * NAI_EUSAGE: an intent of the user has a mistake. */
NAI_MUST_CHECK int nai_question_ask(struct nai_answer *out, const struct nai_intents *intents, struct nai_run *run,
                                    const char *question, const char *source, struct nai_arena *arena,
                                    struct nai_err *err);
