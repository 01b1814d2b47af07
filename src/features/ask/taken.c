/* Which words of a question an answer takes up. */
#include "features/ask/internal.h"
#include "features/ask/numbers.h"

/* Whether a text looks for a word in the question and finds it: a literal behind ":question" has it, alone or in words
 * without space that the question has ("lessthan"). */
static bool looks_for(const struct nai_question *q, const char *text, const char *word) {
  for (const char *at = text; (at = strstr(at, ":question")); at++) {
    const char *from = strchr(at, '\''), *end = from ? strchr(from + 1, '\'') : NULL;
    for (size_t len; end && from < end; from += len + 1) {
      char token[NAI_QUESTION_WORD];
      for (len = 0; isalnum((unsigned char)from[len]);)
        len++;
      snprintf(token, sizeof token, "%.*s", (int)len, from);
      if (strstr(token, word) && strstr(q->squeezed, token))
        return true;
    }
  }
  return false;
}

/* Whether a statement has a text; or, with a question, looks for that word in it. */
static bool has(const struct nai_yaml *doc, const struct nai_yaml_node *node, const char *text,
                const struct nai_question *q) {
  const struct nai_yaml_node *n = node ? nai_yaml_first(doc, node) : NULL;
  while (n && !(q ? looks_for(q, n->text, text) : strstr(n->text, text) != NULL) && !has(doc, n, text, q))
    n = nai_yaml_next(doc, n);
  return n != NULL;
}

static bool any_has(const struct nai_intent *intent, const struct nai_yaml_node *facts, const char *text,
                    const struct nai_question *q) {
  return has(intent->doc, facts, text, q) ||
         has(intent->doc, nai_yaml_get(intent->doc, intent->node, "tables"), text, q);
}

bool nai_fact_has(const struct nai_intent *intent, const struct nai_yaml_node *fact, const char *text) {
  return any_has(intent, fact, text, NULL);
}

bool nai_intent_takes(const struct nai_intent *intent, const char *parameter) {
  return nai_fact_has(intent, nai_yaml_get(intent->doc, intent->node, "facts"), parameter);
}

/* Values that its statements choose by; not one that they do not tell from none, where they do so of others. Words of
 * other values are none of theirs, unless they tell these: "why is the download slower than the upload" is not about
 * one of them. */
static void mark_choices(struct nai_question_marks *covered, const struct nai_question *q,
                         const struct nai_intents *intents, const struct nai_intent *intent) {
  enum { OF_CASES = 2 };
  char parameter[NAI_QUESTION_WORD], literal[NAI_QUESTION_WORD];
  for (size_t i = 0; i < q->choice_count; i++) {
    const char *key = q->choices[i].key, *value = q->choices[i].value;
    snprintf(parameter, sizeof parameter, ":%s", key);
    if (!value || !nai_intent_takes(intent, parameter))
      continue;
    snprintf(literal, sizeof literal, "'%s'", value);
    const bool told = nai_intent_takes(intent, literal);
    for (size_t d = 0; d < intents->doc_count; d++) {
      const struct nai_yaml *doc = intents->docs[d];
      const struct nai_yaml_node *choices = nai_yaml_get(doc, nai_yaml_root(doc), "choices"),
                                 *of = choices ? nai_yaml_get(doc, choices, key) : NULL,
                                 *node = of ? nai_yaml_first(doc, of) : NULL;
      struct nai_question_marks own = {0};
      int others = 0;
      nai_question_mark_term(&own, q, doc, value, false);
      for (; node; node = nai_yaml_next(doc, node)) {
        struct nai_question_marks other = {0};
        snprintf(literal, sizeof literal, "'%s'", node->key);
        const bool is_told = nai_intent_takes(intent, literal);
        others += is_told;
        if (is_told || strcmp(node->key, value) == 0)
          continue;
        nai_question_mark_term(&other, q, doc, node->key, false);
        for (size_t w = 0; w < q->count; w++)
          covered->at[w] &= !other.at[w];
      }
      for (size_t w = 0; w < q->count; w++)
        covered->at[w] = own.at[w] ? told || others < OF_CASES : covered->at[w];
    }
  }
}

/* Words that its statements look for in the question. */
static void mark_looked_for(struct nai_question_marks *covered, const struct nai_question *q,
                            const struct nai_intent *intent) {
  enum { SHORTEST = 3 };
  const struct nai_yaml_node *facts = nai_yaml_get(intent->doc, intent->node, "facts");
  for (size_t i = 0; i < q->count; i++)
    covered->at[i] |= strlen(q->words[i].text) >= SHORTEST && any_has(intent, facts, q->words[i].text, q);
}

static bool is_unit(const char *word) { return nai_number_is_unit(word) || nai_word_is_of("half third quarter", word); }

/* A number with its unit, and the words that bind it: "between 1 and 2 s", "the first 100 ms". */
static void mark_numbers(struct nai_question_marks *covered, const struct nai_question *q,
                         const struct nai_intent *intent) {
  bool limits = nai_intent_takes(intent, ":least_ns"), /* and so no length that is none */
      time = q->time_count && nai_intent_takes(intent, ":from") && (q->time_count == 2 || !limits),
       lengths = q->least_ns != INT64_MIN || q->most_ns != INT64_MIN,
       limit = lengths || q->least_bytes != INT64_MIN || q->most_bytes != INT64_MIN, limited = limit && limits,
       plain = nai_intent_takes(intent, ":number") || nai_intent_takes(intent, "[0-9]");
  for (size_t i = 0; i < q->count; i++) {
    bool unit = (time || limited) && i && is_unit(q->words[i].text) &&
                nai_word_is_of("first last a one second", q->words[i - 1].text);
    if (!(isdigit((unsigned char)*q->words[i].text) || unit) || !(time || limited || plain) || (limit && !limited) ||
        (q->time_count && !time))
      continue;
    covered->at[i] = true;
    if (i + 1 < q->count && is_unit(q->words[i + 1].text))
      covered->at[i + 1] = true;
    for (size_t j = i; j; j--) {
      const char *word = q->words[j - 1].text;
      if (!nai_word_is_of("between and from to than at before until after first second last top in a one", word) &&
          !(limited && nai_question_limit_of(word, strlen(word))))
        break;
      covered->at[j - 1] = true;
    }
  }
}

void nai_question_answered(struct nai_question *q, const struct nai_intents *intents, const struct nai_intent *intent) {
  struct nai_question_marks covered = {0};
  nai_question_score(&covered, q, intents, intent);
  mark_choices(&covered, q, intents, intent);
  mark_looked_for(&covered, q, intent);
  mark_numbers(&covered, q, intent);
  nai_question_mark_phrases(&covered, q, intent->doc, nai_yaml_get(intent->doc, intent->node, "takes"));
  for (size_t i = 0; i < q->count; i++)
    q->words[i].answered = covered.at[i];
}
