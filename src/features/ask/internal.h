/* The parts of answering. Internal to src/features/ask. */
#pragma once

#include "query/query_rows.h"
#include "features/ask/question.h"

/* One kind of question; its members are read where they are needed. */
struct nai_intent {
  const struct nai_yaml *doc;
  const struct nai_yaml_node *node;
  const char *name;
  bool replaced; /* by one of the user's */
};

enum { NAI_INTENTS_MAX_FILES = 17 };
struct nai_intents {
  struct nai_yaml *docs[NAI_INTENTS_MAX_FILES]; /* the built-in one is the last */
  size_t doc_count;
  struct nai_intent *list;
  uint32_t count, capacity;
  uint32_t choice_count; /* of all documents */
};
/* A text member of a map; NULL when it is not there. Checked on loading. */
const char *nai_intent_text(const struct nai_yaml *doc, const struct nai_yaml_node *map, const char *key);
/* The items of a list member, first one; NULL: none. */
const struct nai_yaml_node *nai_intent_items(const struct nai_yaml *doc, const struct nai_yaml_node *map,
                                             const char *key);
/* The intent of a name; NULL: none. */
const struct nai_intent *nai_intents_find(const struct nai_intents *intents, const char *name);
/* How a capability is recorded; NULL: nobody says. */
const char *nai_intents_recording(const struct nai_intents *intents, const char *capability);

/* --- words.c --------------------------------------------------------------------------------------------------- */

enum { NAI_QUESTION_MAX_WORDS = 128, NAI_QUESTION_MAX_NAMES = 8, NAI_QUESTION_WORD = 64, NAI_QUESTION_SQUEEZED = 256 };
enum {
  NAI_QUESTION_MAX_MATCHES = 16,
  NAI_QUESTION_MAX_GPUS = 2,
  NAI_QUESTION_MAX_CHOICES = 32
}; /* of all files together; more are refused */

struct nai_question_word {
  char text[NAI_QUESTION_WORD]; /* lower case */
  char typed[NAI_QUESTION_WORD];
  bool quoted, known;            /* known: a word of some intent, or one to ignore */
  bool ignored, answered;        /* it cannot change what is asked; what is answered takes it up */
  bool of_gpu;                   /* the number of a GPU */
  bool names;                    /* the whole name of something in the trace, and so no word of an intent */
  char meant[NAI_QUESTION_WORD]; /* the known word that it looks like, "" none */
  size_t meant_distance;         /* letters that differ */
};
/* Of the values that a question may choose between (`choices` of the file) the first it has a word of: `:key` is that.
 */
struct nai_question_choice {
  const char *key, *value; /* value: NULL, none */
};
/* A question, taken apart. */
struct nai_question {
  struct nai_question_word words[NAI_QUESTION_MAX_WORDS];
  size_t count;
  int64_t gpus[NAI_QUESTION_MAX_GPUS]; /* "GPU 1"; of several the first two */
  size_t gpu_count;
  /* "longer than 5 ms", "between 10 and 20 us", "below 4 KB"; INT64_MIN: there is none. */
  int64_t least_ns, most_ns, least_bytes, most_bytes;
  int64_t number, other; /* "the top 5", "step 3 and step 4"; INT64_MIN: there is none */
  int64_t time_ns[2];
  size_t time_count;         /* "the 5 ms gap", "between 0.2 and 0.3 s" */
  bool either;               /* "bf16 or fp32" */
  bool from_start, from_end; /* of the capture: "the first 100 ms", "the last 2 s" */
  bool to_end;               /* "after 60.3 s" */
  bool around;               /* the stretch is that before, after or during something */
  int64_t part;              /* 2, "the first half": the stretch is that part of the capture */
  struct nai_question_choice choices[NAI_QUESTION_MAX_CHOICES];
  size_t choice_count;
  const char *named;                    /* of what kind the thing is that it names: "kernel"; NULL: it names none */
  const char *within;                   /* the NVTX range that it names beside that: "gemms in forward" */
  char text[NAI_QUESTION_MAX_BYTES];    /* lower case */
  char squeezed[NAI_QUESTION_SQUEEZED]; /* its letters and digits, lower case */
};
/* quantities.c: what it fills of a question. */
void nai_question_read_gpus(struct nai_question *question);
void nai_question_read_numbers(struct nai_question *question, const char *text);
/* Of which sides a word makes a number behind it a limit: "over", "shorter"; both, "exactly". 0: it does not. */
enum { NAI_LIMIT_LEAST = 1, NAI_LIMIT_MOST = 2 };
int nai_question_limit_of(const char *word, size_t len);
/* spelling.c: how many letters of a word differ from another one of `len` bytes; more than `most`: most + 1. */
size_t nai_word_distance(const char *word, const char *other, size_t len, size_t most);
/* Looks in a word of a pattern for what a word may have meant. */
void nai_question_try_word(struct nai_question_word *word, const char *pattern, size_t len);
void nai_question_read(struct nai_question *question, const struct nai_intents *intents, const char *text);
/* What it chooses between, by words that are no names. */
void nai_question_choose_values(struct nai_question *question, const struct nai_intents *intents);
/* The best intents, at most NAI_QUESTION_MAX_MATCHES. Returns how many. Without `weak` a word that is used for much
 * else is not enough. */
size_t nai_question_match(const struct nai_intent **out, const struct nai_question *question,
                          const struct nai_intents *intents, bool weak);
/* Finds for words that are not known the known ones that they look like (`meant`); takes those for what was asked. */
void nai_question_spell(struct nai_question *question, const struct nai_intents *intents);
void nai_question_take_spelling(struct nai_question *question, const struct nai_intents *intents);
/* Words of a question, one flag each. */
struct nai_question_marks {
  bool at[NAI_QUESTION_MAX_WORDS];
};
/* Mark where phrases of a list stand, and those of a term of a file: of a key of its choices, all values, or of one
 * value; those of an `inner` one stand for no others. */
bool nai_question_mark_phrases(struct nai_question_marks *marks, const struct nai_question *q,
                               const struct nai_yaml *doc, const struct nai_yaml_node *list);
bool nai_question_mark_term(struct nai_question_marks *marks, const struct nai_question *q, const struct nai_yaml *doc,
                            const char *name, bool inner);
/* The points of an intent: those of its best pattern, and a few for others, which are mostly other words for the same.
 * Marks the words of all that match. */
int nai_question_score(struct nai_question_marks *covered, const struct nai_question *q,
                       const struct nai_intents *intents, const struct nai_intent *intent);
/* Whether a fact's statement, or what it reads, has a text such as ":gpu". */
bool nai_fact_has(const struct nai_intent *intent, const struct nai_yaml_node *fact, const char *text);
/* Whether a statement of an intent does. */
bool nai_intent_takes(const struct nai_intent *intent, const char *parameter);
/* Says that an intent is answered; and whether a word changes what is asked, and no such intent takes it up. */
void nai_question_answered(struct nai_question *question, const struct nai_intents *intents,
                           const struct nai_intent *intent);
bool nai_question_is_left(const struct nai_question_word *word);
/* Whether a word should have been understood and was not: no name, no number, no word that says little. */
bool nai_question_is_strange(const struct nai_question_word *word);
/* Whether it has what only names have: aten::copy_, cudaMalloc. */
bool nai_question_has_mark(const char *word);
/* Whether it begins with a letter and has digits, as names have: conv1, all2all. "T1" is a part of much. */
bool nai_question_is_mixed(const char *word);

/* --- answer_facts.c -------------------------------------------------------------------------------------------- */

enum { NAI_ASKING_MAX_OTHERS = 2 };
/* What statements are asked with. */
struct nai_asking {
  struct nai_answer *answer;
  struct nai_arena *arena; /* of the answer's texts */
  const struct nai_intents *intents;
  struct nai_run *run;
  const char *source;
  int64_t gpu;                               /* INT64_MIN: all */
  const char *name;                          /* what the question names, lower case; "" nothing */
  const char *others[NAI_ASKING_MAX_OTHERS]; /* further things of that kind */
  size_t other_count;
  const struct nai_question *question;
  bool partly; /* only a part of the question was understood: no yes or no */
  bool judged; /* it asks whether that is a loss: what findings say */
};

/* Runs a statement, with :gpu, :gpu_a and :gpu_b of a pair, :name and :named (its kind), :within, :question (letters
 * and digits), :text, :number and :other, :from and :to, :least_ns, :most_ns, :least_bytes and :most_bytes, and a
 * parameter of each of the file's `choices`, each null where the question has none. `label` stands in messages for
 * where it is from. Freed also on failure. */
NAI_MUST_CHECK int nai_facts_ask(struct nai_query_rows *out, const struct nai_asking *asking, const char *sql,
                                 const char *label, struct nai_err *err);
/* Runs a statement of an intent, which may read its `tables` beside the run's. */
NAI_MUST_CHECK int nai_intent_ask(struct nai_query_rows *out, const struct nai_asking *asking,
                                  const struct nai_intent *intent, const char *sql, const char *label,
                                  struct nai_err *err);
/* Adds the facts of one entry of an intent, at most `room`, and what they say. */
NAI_MUST_CHECK int nai_facts_add(const struct nai_asking *asking, const struct nai_intent *intent,
                                 const struct nai_yaml_node *entry, size_t room, struct nai_err *err);
/* The fact that is table[row] with a text, NULL: with any, or NULL; and a new one to be filled; NULL: there is no room.
 */
struct nai_fact *nai_fact_find(struct nai_answer *answer, const char *table, int64_t row, const char *text);
struct nai_fact *nai_fact_new(const struct nai_asking *asking, const char *table, int64_t row);
void nai_fact_add_value(const struct nai_asking *asking, struct nai_fact *fact, const char *column, enum nai_unit unit,
                        const struct nai_value *value);
/* A copy of a text, and the text that a buffer holds. */
const char *nai_answer_copy(const struct nai_asking *asking, const char *text);
const char *nai_answer_text(const struct nai_asking *asking, const struct nai_buf *text);
/* Adds a sentence that is not there yet; `fact` says so, or NULL. */
void nai_answer_say(const struct nai_asking *asking, struct nai_sentences *where, const struct nai_fact *fact,
                    const char *text);

/* The intent whose rules tell whether what is asked about is a loss, by `judged` of the files; or NULL. */
const struct nai_intent *nai_intents_judge(const struct nai_asking *asking);
/* Adds the findings of rules that match the intent's patterns, evidence of the first, and advice. `known`: that there
 * are none can be said. */
NAI_MUST_CHECK int nai_findings_add(const struct nai_asking *asking, const struct nai_intent *intent, bool known,
                                    struct nai_err *err);
/* Adds the finding that says why a capability is missing; *any: there is one. */
NAI_MUST_CHECK int nai_findings_add_missing(bool *any, const struct nai_asking *asking, const char *capability,
                                            struct nai_err *err);
/* Adds findings about the capture as a whole to what the run cannot tell. */
NAI_MUST_CHECK int nai_caveats_add(const struct nai_asking *asking, struct nai_err *err);

/* --- left_out.c ------------------------------------------------------------------------------------------------ */

/* Whether a text has a word: "3090" of "nvidia geforce rtx 3090". */
bool nai_word_stands_in(const char *text, const char *word, size_t len);
/* Whether it is what the question names. */
bool nai_asking_names(const struct nai_asking *asking, const char *word);
/* A word that is neither known nor the name that the answer is about: "all2all" and "aten::x", too. */
bool nai_question_is_unknown(const struct nai_question_word *word);
/* How many words nothing takes up; and marks them. */
size_t nai_left_out_count(const struct nai_asking *asking);
void nai_left_out_find(struct nai_question_marks *out, const struct nai_asking *asking);
/* Says which of these an answer does not show either, in front of it: it begins with sentence `first`. False: none. */
bool nai_left_out_say(const struct nai_asking *asking, const struct nai_question_marks *left, size_t first);
/* Says which words no answer takes up, where there is none; `matched`: some word says what the question is about. And
 * what can be asked. */
void nai_left_out_say_all(const struct nai_asking *asking, bool matched);
void nai_left_out_say_examples(const struct nai_asking *asking);
/* "when and how long": whether an answer shows all that a question of nothing but such words asks. */
bool nai_answer_shows_all(const struct nai_asking *asking, const char *answer, const char *asked);

/* --- answer_intent.c ------------------------------------------------------------------------------------------- */

/* Its facts, unless none is of the GPU or the stretch of time that the question names. *known: its first is there. */
NAI_MUST_CHECK int nai_intent_answer(bool *known, struct nai_asking *asking, const struct nai_intent *intent,
                                     struct nai_err *err);
/* The sentences of a list of an intent, with what is asked of in them. */
void nai_intent_say(const struct nai_asking *asking, const struct nai_intent *intent, const char *key,
                    struct nai_sentences *where);

/* --- window.c -------------------------------------------------------------------------------------------------- */

/* Of two points of time the first is put first. Those that lie before all that is recorded count from the start of the
 * work on GPUs. */
NAI_MUST_CHECK int nai_window_place(const struct nai_asking *asking, struct nai_question *q, struct nai_err *err);
/* "before the first cuda call", "during the longest X", "after X is done": takes these words out of the question and
 * makes them its stretch of time. *said: they are these; NULL: there are none. */
NAI_MUST_CHECK int nai_window_around(const char **said, const struct nai_asking *asking, struct nai_question *q,
                                     struct nai_err *err);

/* --- question_names.c ------------------------------------------------------------------------------------------ */

/* Words that may be the whole name of something, whatever else begins like them: "Fan2", "sampling". Borrowed. */
size_t nai_question_whole_names(const char **out, const struct nai_question *question);
/* Says which names of the question nothing has, and takes them as answered; *any: there are such. */
NAI_MUST_CHECK int nai_names_say_unknown(bool *any, const struct nai_asking *asking, struct nai_question *q,
                                         struct nai_err *err);
/* Takes misspelt words for the known ones that they look like, but for those that something in the trace is called. */
NAI_MUST_CHECK int nai_names_correct_spelling(const struct nai_asking *asking, struct nai_question *q,
                                              struct nai_err *err);
/* The intent about what the question names, or NULL. A whole name comes before all words of intents. */
NAI_MUST_CHECK int nai_names_choose(const struct nai_intent **about, struct nai_asking *asking, struct nai_question *q,
                                    struct nai_err *err);
/* Words that nothing so far takes up may be part of a kernel's name: "is softmax slower", "grayscale" of
 * GrayscaleKernel. */
NAI_MUST_CHECK int nai_names_choose_by_rest(const struct nai_intent **about, struct nai_asking *asking,
                                            const struct nai_question *q, struct nai_err *err);

/* --- llm_cache.c ----------------------------------------------------------------------------------------------- */

enum { NAI_LLM_PATH = 4096 };
/* Where the text that answers a request is kept, $XDG_CACHE_HOME/nsys-ai/llm; false: there is no place. */
bool nai_llm_cache_path(char out[NAI_LLM_PATH], const char *url, const char *body);
bool nai_llm_cache_read(struct nai_buf *text, const char *path);
void nai_llm_cache_write(const char *path, const struct nai_buf *text);
